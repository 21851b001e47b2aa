"""What starting costs: the command on one template beside the bare imports of its libraries, in processes of their own.

``python -m tests.benchmarks.startup`` prints milliseconds and ratios. One and a half times is the aim for the command.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

from .timing import print_table, race

ROOT = Path(__file__).parents[2]
AIM = 1.5
COMMAND = "import sys; from transpiler.cli import main; sys.argv[1:] = ['convert', sys.argv[1]]; main()"
WAYS = {
    "import parsimonious, jinja2, click": ("-c", "import parsimonious, jinja2, click"),
    "nothing": ("-c", ""),
    "import transpiler": ("-c", "import transpiler"),
    "convert mimo.gotmpl": ("-c", COMMAND, str(ROOT / "go_templates" / "mimo.gotmpl")),
}


def run(arguments: tuple[str, ...]) -> None:
    """Run Python to its end; it may keep its bytecode, as it does for whoever has installed the command."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, capture_output=True, env=environment)


def main() -> None:
    """Measure and print."""
    times = race(*(partial(run, arguments) for arguments in WAYS.values()), rounds=20)
    rows = [(name, f"{times.best(n) * 1e3:.0f}", f"{times.ratio(n):.2f}") for n, name in enumerate(WAYS)]
    verdict = "within" if times.ratio(len(WAYS) - 1) <= AIM else "over"
    print_table(f"Starting: {verdict} the aim of {AIM:g} times", ("process", "ms", "times"), rows)


if __name__ == "__main__":
    main()
