"""The program `flotsam`: it runs scenes, draws pictures and makes surfaces."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from ._abi import Status
from ._library import HERE
from .errors import BY_STATUS, Error

EXPECTATION_FAILED = 3


def find_program() -> str:
    """The program that FLOTSAM_PROGRAM names, else the one in this package, else the one in PATH."""
    inside = HERE / "bin" / "flotsam"
    found = os.environ.get("FLOTSAM_PROGRAM") or (str(inside) if inside.exists() else shutil.which("flotsam"))
    if not found:
        raise Error("the program flotsam was not found; let FLOTSAM_PROGRAM name it")
    return found


def failure(text: str, code: int) -> Error:
    """Exit code 2 is bad input; what else failed, the text tells."""
    status = Status.BAD_INPUT if code == 2 else Status.DIVERGED if "diverged" in text else None
    return BY_STATUS.get(status, Error)(text or f"flotsam ended with exit code {code}")


def execute(*arguments: Any, is_shown: bool = False) -> tuple[str, int]:
    """Runs the program; returns what it printed and its exit code, 0 or 3 (an expectation of the scene failed)."""
    command = [find_program(), *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=None if is_shown else subprocess.PIPE, text=True)
    if done.returncode not in (0, EXPECTATION_FAILED):
        lines = [line.removeprefix("flotsam: ") for line in (done.stderr or "").strip().splitlines()]
        raise failure("\n".join(lines), done.returncode)
    return done.stdout, done.returncode


def option_words(options: dict[str, Any]) -> list[str]:
    """colour_by='speed', force=True, size='draft' become --colour-by speed --force --size draft."""
    words = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            words.append(option)
        elif isinstance(value, (list, tuple)) and all(isinstance(v, (int, float)) for v in value):
            words += [option, ",".join(f"{v:.9g}" for v in value)]
        elif value not in (None, False):
            words += [option, str(value)]
    return words


def value_text(value: Any) -> str:
    """A value of a scene as --set takes it: text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def setting_words(settings: dict[str, Any]) -> list[str]:
    """Values to change in the scene: {'constants.s': 0.01} becomes --set constants.s=0.01."""
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value_text(value)}")]


def scenes() -> list[str]:
    """Names of the scenes that come with Flotsam."""
    return json.loads(execute("info", "scenes", "--json")[0])


def run(scene: str | Path | dict[str, Any], out: str | Path | None = None, set: dict[str, Any] | None = None,
        force: bool = True, picture: bool = False, progress: bool = False, **options: Any) -> Any:
    """Simulates a scene, which is a name, a file or a dictionary, and returns its run folder.

    `set` changes values of the scene. Options are those of `flotsam run`: until=0.5, frames=10, size='draft', threads=1.
    An expectation of the scene that fails raises nothing: see Run.expectations.
    """
    from .runs import Run

    with tempfile.TemporaryDirectory() as folder:
        if isinstance(scene, dict):
            path = Path(folder) / "scene.json"
            path.write_text(json.dumps(scene), encoding="utf-8")
            scene, out = path, out or Path("runs") / "scene"
        name = Path(scene).stem
        out = Path(out or Path("runs") / name)
        words = [*option_words({"out": out, "force": force, "no_picture": not picture, "quiet": not progress, **options}),
                 *setting_words(set or {})]
        execute("run", scene, *words, is_shown=progress)
    return Run(out)
