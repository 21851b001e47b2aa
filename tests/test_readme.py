"""What README.md shows is true: help texts, the library's example, the commands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from transpiler.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for found, text in BLOCKS if found == language]


@pytest.mark.parametrize("command", [[], ["convert"], ["explain"], ["list"]], ids=" ".join)
def test_help_texts(command: list[str], update: bool) -> None:
    result = CliRunner().invoke(main, [*command, "--help"], prog_name="gotmpl2jinja", terminal_width=100)
    asked = " ".join(["gotmpl2jinja", *command, "--help"])
    block = f"```text\n$ {asked}\n{result.output}```"
    if update:
        path = ROOT / "README.md"
        pattern = rf"```text\n\$ {re.escape(asked)}\n.*?```"
        path.write_text(re.sub(pattern, lambda _: block, path.read_text(encoding="utf-8"), flags=re.DOTALL), "utf-8")
    assert block in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("example", blocks("python"), ids=["transpile", "package"])
def test_the_library_examples_run_and_print_what_they_say(example: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stderr == ""
    assert not done.stdout or f"It prints\n\n```text\n{done.stdout}```" in README


def test_there_are_two_blocks_to_copy() -> None:
    install, test = blocks("sh")
    assert install.endswith("gotmpl2jinja convert go_templates/mimo.gotmpl\n")
    assert test.endswith("python -m pytest -q -n auto\n")


def test_continuous_integration_runs_the_test_command_of_the_readme() -> None:
    command = blocks("sh")[1].splitlines()[-1].removeprefix(".venv/bin/")
    last = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]
    assert command in last


def test_files_that_are_named_are_there() -> None:
    named = re.findall(r"`((?:tests|\.ci|go_templates|jinja_out|\w+\.py|\w+/)[\w./]*)`", README)
    missing = [name for name in named if not any((base / name).exists() for base in (ROOT, ROOT / "transpiler"))]
    assert len(named) > 10
    assert missing == []


def test_the_main_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(main, blocks("sh")[0].splitlines()[-1].split()[1:])
    assert result.exit_code == 0
    assert result.stdout.startswith("{#- Converted from mimo.gotmpl")
    (picture,) = (text for text in blocks("") if text.startswith("warning"))
    assert picture in result.stderr
