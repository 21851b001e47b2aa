"""Imports run one way, files stay small, and importing the library costs little."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "transpiler"
FILES = sorted(ROOT.rglob("*.py"))

# Who may import whom: a room imports from itself and from rooms with a smaller number.
LEVELS = {
    "source": 0,
    "nodes": 0,
    "diagnostics": 1,
    "codes": 1,
    "reading": 2,
    "gotmpl": 3,
    "jinja": 3,
    "ollama": 4,
    "passes": 5,
    "lowering": 6,
    "api": 7,
    "packaging": 8,
    "verify": 8,
    "rendering": 2,
    "files": 3,
    "inputs": 5,
    "examples": 0,
    "explain": 8,
    "cli": 9,
}


# Before the lowering nothing knows of Jinja.
GO_ONLY = {"ollama", "passes"}


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The rooms that a file imports from, type checking's imports included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("transpiler.")}
    return found


@pytest.mark.parametrize(
    "path", [f for f in FILES if f != ROOT / "__init__.py"], ids=lambda p: str(p.relative_to(ROOT))
)
def test_imports_run_one_way(path: Path) -> None:
    own = room(path)
    wrong = {name for name in imported(path) - {own} if LEVELS[name] >= LEVELS[own]}
    wrong |= {"jinja"} & imported(path) if own in GO_ONLY else set()
    assert not wrong, f"{own} may not import from {sorted(wrong)}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_file_grows_too_long(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 450


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_stack_is_left_alone_and_errors_are_named(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            assert node.attr != "setrecursionlimit"
        if isinstance(node, ast.ExceptHandler):
            caught = node.type.id if isinstance(node.type, ast.Name) else "" if node.type else "everything"
            reraised = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
            assert reraised or caught not in ("everything", "Exception", "BaseException"), f"line {node.lineno}"


def modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_library_imports_no_other_package() -> None:
    assert not modules_after("import transpiler") & {"jinja2", "click", "rich", "platformdirs", "parsimonious", "regex"}


def test_converting_needs_the_grammar_alone() -> None:
    found = modules_after("import transpiler; transpiler.transpile('{{ range .Messages }}{{ .Content }}{{ end }}')")
    assert "parsimonious" in found
    assert not found & {"jinja2", "click", "rich", "platformdirs"}


def test_the_command_imports_no_jinja2() -> None:
    assert not modules_after("import transpiler.cli") & {"jinja2", "platformdirs", "rich"}
