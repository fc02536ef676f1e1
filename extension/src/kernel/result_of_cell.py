"""Finds the value that a notebook cell ended with. The extension sends this text to the kernel, where it leaves no name."""


def result_of_cell(number, source, shell):
    """The value that run `number` of the cell `source` showed, or else the one that its last statement is about.

    `loss` and `model(x)` end with a shown value; `loss = model(x)` and `loss.backward()` end with none, and are about
    `loss`. Raises LookupError with a sentence for people where there is no such value.
    """
    import ast

    history = shell.history_manager
    runs = history.input_hist_raw
    if number >= len(runs) or runs[number].strip() != source.strip():
        raise LookupError("This kernel has not run the cell as it now stands. Run the cell and ask again.")
    shown = history.output_hist.get(number)
    if shown is not None:
        return shown
    try:
        statements = ast.parse(history.input_hist_parsed[number]).body
    except SyntaxError:
        statements = []
    part = statements[-1] if statements else None
    if isinstance(part, ast.Assign):
        part = part.targets[-1]
    elif isinstance(part, (ast.AugAssign, ast.AnnAssign)):
        part = part.target
    elif isinstance(part, ast.Expr):
        part = part.value
    while isinstance(part, (ast.Call, ast.Attribute, ast.Subscript)):
        part = part.func if isinstance(part, ast.Call) else part.value
    names = shell.user_ns.keys() - shell.user_ns_hidden.keys()  # a magic, for one, is a call of a hidden name
    if not isinstance(part, ast.Name) or part.id not in names:
        raise LookupError(f"Cell [{number}] ended without a value. Put the tensor on its last line and run it again.")
    return shell.user_ns[part.id]
