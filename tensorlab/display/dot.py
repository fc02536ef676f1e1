"""Graphs in the DOT language, as torchviz draws them.

The text needs the ``graphviz`` Python package and nothing else. Rendering needs a program: the ``dot`` of a Graphviz
installation, or the one in the ``graphviz-pure`` package. Without either, a notebook shows our own picture of the
same graph.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tensorlab.display.bundle import MOST_SHOWN, bundle
from tensorlab.engine.node import AccumulateGrad, Bound, Node
from tensorlab.observe.names import Names, caller_namespace
from tensorlab.observe.snapshot import reachable, snapshot

NO_PROGRAM = (
    "rendering DOT needs a program, and neither a 'dot' (Graphviz) nor graphviz-pure was found. Install one, for example "
    'with: pip install "jupyter-tensorlab[graphviz-pure]". The DOT text is in .source, and tensorlab.show.graph(...) needs '
    "no program."
)


def make_dot(
    var: Any,
    params: Mapping[str, Any] | None = None,
    show_attrs: bool = False,
    show_saved: bool = False,
    max_attr_chars: int = 50,
) -> Any:
    """The graph that made ``var`` (a tensor or a tuple of tensors) as a ``graphviz.Digraph``, in torchviz's colours.

    Blue: leaves that require grad, named by ``params`` (such as ``dict(model.named_parameters())``) or by your
    variables. Green: the results. Orange, with ``show_saved``: values kept for backward. ``show_attrs`` lists what a
    node keeps, each value cut after ``max_attr_chars``. Raises ``ImportError`` when the ``graphviz`` package is
    missing.
    """
    results = list(var) if isinstance(var, list | tuple) else [var]
    names = _Labels(params, caller_namespace())
    return _DotWriter(results, names, show_attrs, show_saved, max_attr_chars).written()


class _Labels:
    """Names for leaves: those given, then those in the caller's variables."""

    def __init__(self, params: Mapping[str, Any] | None, namespace: Mapping[str, Any]) -> None:
        if params is not None and not (
            isinstance(params, Mapping) and all(hasattr(tensor, "_a") for tensor in params.values())
        ):
            raise TypeError("make_dot(params=...) needs a mapping from names to tensors")
        self.given = {id(tensor): name for name, tensor in (params or {}).items()}
        self.names = Names(namespace)

    def of(self, tensor: Any) -> str:
        return self.given.get(id(tensor)) or self.names.of_tensor(tensor)


class _DotWriter:
    def __init__(self, results: list[Any], labels: _Labels, attrs: bool, saved: bool, most: int) -> None:
        self.results, self.labels, self.attrs, self.saved, self.most = results, labels, attrs, saved, most
        graph = bundle(snapshot(results, labels.names, limit=MOST_SHOWN))
        node_attributes = {
            "style": "filled",
            "shape": "box",
            "align": "left",
            "fontsize": "10",
            "ranksep": "0.1",
            "height": "0.2",
            "fontname": "monospace",
        }
        self.dot = _digraph_class()(node_attr=node_attributes, graph_attr={"size": "12,12"})
        self.dot.fallback = graph

    def written(self) -> Any:
        roots = []
        for result in self.results:
            if not result.requires_grad:
                self.dot.node(f"value{id(result)}", self._tensor(result, self.labels.of(result)), fillcolor="white")
                continue
            node = Bound.edge(result)[0]
            roots.append(node)
            if type(node) is not AccumulateGrad:
                name = self.labels.names.of_value(node, result.output_nr)
                self.dot.node(f"value{id(result)}", self._tensor(result, name), fillcolor="darkolivegreen1")
                self.dot.edge(str(node.seq), f"value{id(result)}")
        for node in sorted(reachable(roots), key=lambda node: node.seq):
            self._node(node)
        count = len(self.dot.body)
        if count > 12 / 0.15:
            size = str(count * 0.15)
            self.dot.graph_attr["size"] = f"{size},{size}"
        return self.dot

    def _node(self, node: Node) -> None:
        self.dot.node(str(node.seq), self._label(node), fillcolor="lightgrey")
        if type(node) is AccumulateGrad and node.variable is not None:
            leaf = f"leaf{node.seq}"
            self.dot.node(leaf, self._tensor(node.variable, self.labels.of(node.variable)), fillcolor="lightblue")
            self.dot.edge(leaf, str(node.seq))
        for edge in node.edges:
            if edge is not None:
                self.dot.edge(str(edge[0].seq), str(node.seq))
        if self.saved:
            for name, array, *_ in node.saved_facts():
                saved = f"saved{node.seq}.{name}"
                self.dot.node(saved, f"{_plain(name)}\n {_shape(array.shape)}", fillcolor="orange")
                self.dot.edge(str(node.seq), saved, dir="none")

    def _label(self, node: Node) -> str:
        name = node.name()
        if not self.attrs:
            return name
        lines = [(key, str(value)) for key, value in (node.attrs or {}).items()]
        lines += [(key, f"[saved tensor] {_shape(array.shape)}") for key, array, *_ in node.saved_facts()]
        if not lines:
            return name
        width = max(len(key) for key, _ in lines)
        shown = [f"{key:<{width}}: {_cut(value, self.most)}" for key, value in lines]
        rule = "-" * max(map(len, [name, *shown]))
        return "\n".join([name, rule, *map(_plain, shown)])

    def _tensor(self, tensor: Any, name: str) -> str:
        return f"{_plain(name)}\n {_shape(tensor.shape)}"


def _shape(shape: Iterable[int]) -> str:
    return str(tuple(shape))


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else words[: max(0, most - 3)] + "..."


def _plain(words: str) -> str:
    """Words that DOT takes as they are: no HTML label, no escapes of its own."""
    printable = "".join(letter if letter.isprintable() else " " for letter in words)
    return printable.replace("\\", "\\\\").replace("<", "‹").replace(">", "›")


def find_program() -> tuple[str, ...] | None:
    """The command that lays out DOT: ``dot`` if there is one, else that of ``graphviz-pure``, else ``None``."""
    if shutil.which("dot"):
        return ("dot",)
    for folder in (None, sysconfig.get_path("scripts"), str(Path(sys.executable).parent)):
        program = shutil.which("graphviz-pure", path=folder)
        if program:
            return (program,)
    return None


@cache
def _digraph_class() -> Any:
    """``graphviz.Digraph`` that also finds ``graphviz-pure``, and says what to install when it finds nothing."""
    try:
        import graphviz
    except ImportError as error:
        raise ImportError(
            "make_dot returns a graphviz.Digraph, which needs the graphviz package: pip install graphviz"
        ) from error

    class Digraph(graphviz.Digraph):
        fallback: dict[str, Any]

        def pipe(self, format: str | None = None, *, encoding: str | None = None, **options: Any) -> Any:
            """The rendered graph, as bytes, or as text when ``encoding`` is given."""
            program = _program()
            if program == ("dot",):
                return super().pipe(format, encoding=encoding, **options)
            command = [*program, f"-K{options.get('engine') or self.engine}", f"-T{format or self.format}"]
            done = subprocess.run(command, input=self.source.encode(), capture_output=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.decode(errors='replace').strip()}")
            return done.stdout.decode(encoding) if encoding else done.stdout

        def render(self, filename: Any = None, *, directory: Any = None, **options: Any) -> str:
            """Write the DOT text and the rendered file beside it; returns the path of the latter."""
            if _program() == ("dot",):
                return super().render(filename, directory=directory, **options)
            kind = options.get("format") or self.format
            source = Path(self.save(filename, directory=directory))
            rendered = Path(options["outfile"]) if options.get("outfile") else Path(f"{source}.{kind}")
            rendered.write_bytes(self.pipe(kind))
            if options.get("cleanup"):
                source.unlink()
            return str(rendered)

        def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **options: Any) -> dict[str, Any]:
            if find_program() is None:
                return self.fallback
            return {"image/svg+xml": self.pipe("svg", encoding="utf-8"), "text/plain": self.source}

    return Digraph


def _program() -> tuple[str, ...]:
    found = find_program()
    if found is None:
        raise RuntimeError(NO_PROGRAM)
    return found
