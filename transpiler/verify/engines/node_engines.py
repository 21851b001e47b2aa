"""Engines that run under node: @huggingface/jinja, and minijinja compiled to wasm."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import platformdirs

from transpiler.verify.engines.child_engine import ChildEngine

__all__ = ["HuggingfaceJinjaEngine", "MinijinjaJsEngine", "install_node_packages", "node_folder"]

_INSTALL = "python -m transpiler.verify.engines.install"


def _package_data(name: str) -> Path:
    return Path(str(files("transpiler.verify.engines").joinpath("node", name)))


def node_folder() -> Path:
    """Return the folder in the user's cache directory whose ``node_modules`` holds the engines."""
    return Path(platformdirs.user_cache_dir("gotmpl2jinja", appauthor=False)) / "node"


def install_node_packages() -> Path:
    """Install the pinned npm packages into `node_folder` and return it.

    Raises:
        FileNotFoundError: npm is not on the path.
        subprocess.CalledProcessError: npm failed; what it said is on stderr.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm is not on the path: install Node.js 20 or later")
    folder = node_folder()
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(_package_data("package.json"), folder / "package.json")
    subprocess.run([npm, "install", "--no-audit", "--no-fund", "--no-package-lock"], cwd=folder, check=True)
    return folder


def _installed_version(package: str) -> str | None:
    try:
        text = (node_folder() / "node_modules" / package / "package.json").read_text(encoding="utf-8")
    except OSError:
        return None
    return str(json.loads(text).get("version"))


class _NodeEngine(ChildEngine):
    """A driver script of this package, run by node on the packages in the cache folder."""

    package = ""
    script = ""

    def available(self) -> str | None:
        """Return None when node and the npm package are there, in the pinned version."""
        if shutil.which("node") is None:
            return f"node is not on the path: install Node.js 20 or later, then {_INSTALL}"
        pinned = json.loads(_package_data("package.json").read_text(encoding="utf-8"))["dependencies"][self.package]
        found = _installed_version(self.package)
        if found != pinned:
            return f"npm package {self.package} {pinned} is {'not installed' if found is None else found}: {_INSTALL}"
        return None

    def command(self) -> Sequence[str]:
        """Return the call of node."""
        return (shutil.which("node") or "node", str(_package_data(self.script)), str(node_folder()))


class HuggingfaceJinjaEngine(_NodeEngine):
    """@huggingface/jinja: transformers.js and LM Studio."""

    name = "huggingface-jinja"
    package = "@huggingface/jinja"
    script = "huggingface.mjs"


class MinijinjaJsEngine(_NodeEngine):
    """minijinja-js: the nearest thing to the Rust servers that sort maps and have no loop controls."""

    name = "minijinja-js"
    package = "minijinja-js"
    script = "minijinja.mjs"
