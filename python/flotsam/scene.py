"""Scene files in memory: load one, build its world, draw it."""

from __future__ import annotations

import ctypes
import json
import tempfile
import weakref
from pathlib import Path
from typing import Any

from . import _abi
from ._library import HERE, Answer, call, fill, lib
from .parts import locked
from .pictures import Picture
from .program import value_text
from .world import Handle, World


def scene_path(name: str | Path) -> Path:
    """The file of a scene that comes with Flotsam, or a file by its path."""
    known = HERE / "share" / "flotsam" / "scenes" / f"{name}.json"
    return known if known.exists() else Path(name)


class Scene:
    """A scene by name, by path, or as a dictionary: Scene('dam-break', size='draft', set={'constants.s': 0.03}).build()."""

    def __init__(self, source: str | Path | dict[str, Any], set: dict[str, Any] | None = None, **options: Any):
        sets = [f"{path}={value_text(value)}".encode() for path, value in (set or {}).items()]
        keep = [(ctypes.c_char_p * max(len(sets), 1))(*sets)]
        given = fill(_abi.SceneOptions(), options, keep)
        given.sets, given.n_sets = ctypes.cast(keep[0], type(given.sets)), len(sets)
        pointer = ctypes.c_void_p()
        if isinstance(source, dict):
            text = json.dumps(source).encode()
            call("flo_scene_load_text", b"scene.json", text, len(text), ctypes.byref(given), ctypes.byref(pointer))
        else:
            call("flo_scene_load", str(scene_path(source)).encode(), ctypes.byref(given), ctypes.byref(pointer))
        self.pointer = pointer.value
        weakref.finalize(self, lib.flo_scene_destroy, self.pointer)

    @property
    def info(self) -> Answer:
        """Name, title, duration, frames per second, dimension, spacing, method."""
        info = _abi.SceneInfo()
        call("flo_scene_info", self.pointer, ctypes.byref(info))
        return Answer(info)

    def build(self) -> SceneWorld:
        """The world that the scene describes; find its bodies by their names."""
        pointer = ctypes.c_void_p()
        call("flo_scene_build", self.pointer, ctypes.byref(pointer))
        return SceneWorld(self, pointer.value)


class SceneWorld(World):
    """A world that a scene has built: it advances with the scene's events, and is drawn with its looks and camera."""

    def __init__(self, scene: Scene, pointer: Any):
        info = scene.info
        self.scene = scene
        self._begin(Handle(pointer, [scene]), info.dim, info.spacing)

    @locked
    def advance(self, time: float) -> Answer:
        return self._step("flo_scene_advance", time, owner=self.scene.pointer)

    @locked
    def picture(self, water: bool = True, **members: Any) -> Picture:
        """As `flotsam render` draws it: width, height, quality 0 to 2; water, or particles in the colours of speed."""
        definition = fill(_abi.PictureDef(), {"water": water and self.dim == 3, **members}, [])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "picture.png"
            call("flo_scene_draw", self.scene.pointer, self.pointer, ctypes.byref(definition), str(path).encode())
            return Picture(path.read_bytes())


__all__ = ["Scene", "SceneWorld"]
