"""The repository: nothing of one machine in it, nothing built in it, and what must agree agrees."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
OURS = ("tensorlab/", "widgets/", "extension/")
MOST_LINES, MOST_LINES_OF_A_FUNCTION = 600, 60


def tracked() -> list[str]:
    """Every file under version control, by its path from the top."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True)
    if listing.returncode != 0:
        pytest.skip("not a git checkout")
    return [name for name in listing.stdout.split("\0") if name and (REPOSITORY / name).is_file()]


def text(name: str) -> str:
    """The text of a tracked file; pictures and the like are empty."""
    try:
        return (REPOSITORY / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def test_no_file_names_a_registry_or_a_path_of_a_machine() -> None:
    hosts = [
        "pypi" + ".org",
        "python" + "hosted.org",
        "registry." + "npmjs",
        "registry." + "yarnpkg",
        "deb." + "debian.org",
    ]
    paths = ["/ro" + "ot/", "/ho" + "me/", "/Us" + "ers/", "C:" + r"\\Users"]
    pattern = re.compile("|".join(map(re.escape, hosts)) + "|" + "|".join(rf"(?<![\w.]){path}" for path in paths))
    found = {name: match[0] for name in tracked() if (match := pattern.search(text(name)))}
    assert found == {}


def test_the_lock_file_holds_no_address_of_a_package() -> None:
    packages = json.loads(text("package-lock.json"))["packages"]
    fetched = {
        name: entry["resolved"] for name, entry in packages.items() if "resolved" in entry and not entry.get("link")
    }
    assert fetched == {}
    assert all(
        "integrity" in entry
        for name, entry in packages.items()
        if name.startswith("node_modules/") and "link" not in entry
    )


def test_constraints_are_plain_pins() -> None:
    lines = [line for line in text("constraints.txt").splitlines() if line and not line.startswith("#")]
    assert len(lines) > 50
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+( ; .+)?", line)] == []


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads(text("pyproject.toml"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["lab"], *extras["dev"], *extras["graphviz-pure"]]
    pinned = {line.split("==")[0] for line in text("constraints.txt").splitlines()}
    names = {re.match(r"[\w-]+", requirement)[0].replace("_", "-").lower() for requirement in wanted}
    assert names - pinned == {"jupyter-tensorlab"}


def test_nothing_that_is_built_is_under_version_control() -> None:
    built = re.compile(
        r"(^|/)(node_modules|__pycache__|static|labextension|lib|dist|build|artifacts|\.venv)/|(^|/)uv\.lock$"
    )
    assert [name for name in tracked() if built.search(name)] == []


def test_all_packages_carry_one_version() -> None:
    manifests = ["package.json", "widgets/package.json", "extension/package.json"]
    versions = {name: json.loads(text(name))["version"] for name in manifests}
    versions["pyproject.toml"] = tomllib.loads(text("pyproject.toml"))["project"]["version"]
    assert len(set(versions.values())) == 1, versions


def test_the_lesson_that_make_lab_opens_exists() -> None:
    lesson = re.search(r"^LESSON := (.+)$", text("Makefile"), re.MULTILINE)[1]
    assert lesson in tracked()


def test_no_source_file_is_longer_than_a_person_reads() -> None:
    ours = [name for name in tracked() if name.startswith((*OURS, "tests/")) and name.endswith((".py", ".ts", ".mjs"))]
    assert {name: lines for name in ours if (lines := text(name).count("\n")) > MOST_LINES} == {}


def own_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many lines a function has, without its docstring and without the functions made in it."""
    inner = [part for part in ast.walk(function) if part is not function and isinstance(part, ast.FunctionDef)]
    covered = {line for part in inner for line in range(part.lineno, part.end_lineno + 1)}
    if ast.get_docstring(function) is not None:
        covered |= set(range(function.body[0].lineno, function.body[0].end_lineno + 1))
    return len(set(range(function.lineno, function.end_lineno + 1)) - covered)


def test_no_function_is_longer_than_a_screen() -> None:
    long = {}
    for name in tracked():
        if name.startswith(OURS) and name.endswith(".py"):
            for part in ast.walk(ast.parse(text(name))):
                if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    if (lines := own_lines(part)) > MOST_LINES_OF_A_FUNCTION:
                        long[f"{name}: {part.name}"] = lines
    assert long == {}


def test_no_promise_stands_in_for_code() -> None:
    promise = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
    ours = [name for name in tracked() if name.startswith(OURS)]
    assert [name for name in ours if promise.search(text(name))] == []


def test_binder_installs_this_tree_with_what_a_notebook_needs() -> None:
    assert sorted(path.name for path in (REPOSITORY / "binder").iterdir()) == [
        "postBuild",
        "requirements.txt",
        "runtime.txt",
    ]
    assert text("binder/runtime.txt").strip() == "python-3.11"
    assert text("binder/requirements.txt").split() == [".[lab]", "notebook>=7.6"]
    post_build = REPOSITORY / "binder" / "postBuild"
    assert post_build.stat().st_mode & 0o111, "postBuild is a program"
    assert "jupyter labextension list" in post_build.read_text()


def test_continuous_integration_is_a_program_that_stops_at_the_first_failure() -> None:
    script = REPOSITORY / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert "set -euo pipefail" in script.read_text()
