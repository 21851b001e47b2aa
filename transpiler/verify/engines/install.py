"""``python -m transpiler.verify.engines.install``: fetch the npm packages, then say which engines can run."""

from __future__ import annotations

import subprocess
import sys

from transpiler.verify.engines import ENGINES
from transpiler.verify.engines.node_engines import install_node_packages

__all__ = ["main"]


def main() -> int:
    """Install what npm provides and report on every engine; return 3 when npm is missing or fails."""
    try:
        install_node_packages()
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 3
    for name, make in ENGINES.items():
        print(f"{name:<18} {make().available() or 'ready'}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
