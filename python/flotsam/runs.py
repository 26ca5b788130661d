"""Run folders: what `flotsam run` wrote, as objects; a run that is still going on grows while one reads it."""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path
from typing import Any, Iterator, Sequence

import numpy as np

from .blender import Damaged, Run as RunFiles, read_ply, read_vtp
from .errors import BadInput
from .meshes import Mesh
from .pictures import Picture
from .plots import Plot
from .program import execute, option_words, setting_words

SETS = "fluid", "boundary", "rigid"  # numbers of the array `type`


class Particles:
    """Particles of a frame: `points`, and arrays by name such as frame['velocity']."""

    def __init__(self, points: np.ndarray, arrays: dict[str, np.ndarray]):
        self.points, self.arrays = points, arrays

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.arrays:
            raise KeyError(f"there is no array '{name}'; there are {', '.join(self.arrays)}")
        return self.arrays[name]

    def keys(self) -> list[str]:
        return list(self.arrays)

    def where(self, is_in: np.ndarray) -> Particles:
        return Particles(self.points[is_in], {name: values[is_in] for name, values in self.arrays.items()})


class Frame(Particles):
    """All particles at one moment; `fluid`, `boundary` and `rigid` are parts of them."""

    def __init__(self, run: Run, number: int):
        data = read_vtp(run.files.frame_path(number))
        super().__init__(data["points"], data["arrays"])
        self.run, self.number, self.time = run, number, data["time"]

    @property
    def fluid(self) -> Particles:
        return self.of("fluid")

    @property
    def boundary(self) -> Particles:
        return self.of("boundary")

    @property
    def rigid(self) -> Particles:
        return self.of("rigid")

    def of(self, name: str) -> Particles:
        return self.where(self["type"] == SETS.index(name))

    def soft(self) -> dict[str, Mesh]:
        """Surfaces of cloth and elastic bodies by name, with `stretch`, `rest` and `normal`."""
        path = self.run.folder / f"soft_{self.number:04d}.vtp"
        if not path.exists():
            return {}
        data = read_vtp(path)
        return {self.run.body_names[int(b)]: part_of_mesh(data, b) for b in np.unique(data["arrays"]["body"])}

    def surface(self) -> Mesh:
        """The fluid's surface; `flotsam surface` makes it if it is missing."""
        return self.run.surface(self.number)

    def picture(self, **options: Any) -> Picture:
        return self.run.picture(frame=self.number, **options)

    def _repr_png_(self) -> bytes:
        return self.picture().png

    def __repr__(self) -> str:
        return f"<Frame {self.number} at {self.time:g} s: {len(self)} particles>"


def part_of_mesh(data: dict[str, Any], body: int) -> Mesh:
    """The vertices and triangles of one body."""
    is_in = data["arrays"]["body"] == body
    places = np.cumsum(is_in) - 1
    triangles = data["polygons"]
    triangles = places[triangles[is_in[triangles[:, 0]]]] if len(triangles) else triangles
    return Mesh(data["points"][is_in], triangles, {name: values[is_in] for name, values in data["arrays"].items()})


class Frames(Sequence):
    """The frames of a run, read when they are asked for; the folder is looked at anew each time."""

    def __init__(self, run: Run):
        self.run = run

    @property
    def numbers(self) -> list[int]:
        return self.run.files.find_frames()

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, at: Any) -> Any:
        numbers = self.numbers[at]
        return [Frame(self.run, n) for n in numbers] if isinstance(at, slice) else Frame(self.run, numbers)

    def __iter__(self) -> Iterator[Frame]:
        return (Frame(self.run, number) for number in self.numbers)


class Series:
    """Measurements over time: run.series['max_speed'] is a column of series.csv."""

    def __init__(self, path: Path):
        with open(path, newline="", encoding="utf-8") as stream:
            rows = list(csv.reader(stream))
        names = rows[0]
        whole = [row for row in rows[1:] if len(row) == len(names)]  # the last line may still be written
        table = np.array([[float(cell or "nan") for cell in row] for row in whole]).reshape(-1, len(names))
        self.columns = dict(zip(names, table.T))

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.columns:
            raise KeyError(f"there is no measurement '{name}'; keys() lists all {len(self.columns)}")
        return self.columns[name]

    def keys(self) -> list[str]:
        return list(self.columns)

    def plot(self, *names: str, y_label: str | None = None, title: str = "") -> Plot:
        plot = Plot("time [s]", y_label or ", ".join(names), title)
        for name in names:
            plot.line(self["time"], self[name], name if len(names) > 1 or y_label else "")
        return plot


class Run:
    """The folder of a run: scene, measurements, frames, bodies, meshes, surfaces, pictures."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        try:
            self.files = RunFiles(str(folder))
        except Damaged as error:
            raise BadInput(str(error)) from error
        self.frames = Frames(self)

    def __repr__(self) -> str:
        return f"<Run {str(self.folder)!r}: {self.title}, {len(self.frames)} frames>"

    def json(self, name: str) -> dict[str, Any]:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    # ---- What ran ----

    @property
    def title(self) -> str:
        return self.files.title

    @property
    def scene(self) -> dict[str, Any]:
        """The scene as it was run, with every constant and default."""
        return self.json("scene.json")

    @property
    def summary(self) -> dict[str, Any]:
        """What ran, on what, how long, and the last measurements; only once the run has ended."""
        return self.json("summary.json")

    @property
    def info(self) -> dict[str, Any]:
        """How the run ended, its problems, and how to continue it: `flotsam info DIR --json`."""
        return json.loads(execute("info", self.folder, "--json")[0])

    @property
    def expectations(self) -> list[dict[str, Any]]:
        """What the scene expects of its measurements, with `pass`."""
        return self.summary.get("expect", [])

    def resume(self, **options: Any) -> Run:
        """Continues it: resume(until=2)."""
        execute("resume", self.folder, *option_words({"quiet": True, "no_picture": True, **options}))
        return Run(self.folder)

    # ---- Measurements, bodies, meshes ----

    @property
    def series(self) -> Series:
        return Series(self.folder / "series.csv")

    @property
    def times(self) -> np.ndarray:
        return self.series["time"]

    @property
    def bodies(self) -> dict[str, dict[str, np.ndarray]]:
        """By name: frames, times, locations (n x 3) and rotations (n x 4, the scalar first)."""
        return self.files.bodies()

    @property
    def body_names(self) -> list[str]:
        """In the order of their numbers."""
        return list(self.bodies)

    @property
    def meshes(self) -> dict[str, Mesh]:
        """Triangles of solids that keep their shape, in coordinates of their own."""
        return {name: mesh_of_ply(mesh) for name, mesh in self.files.meshes().items()}

    def surface(self, frame: int) -> Mesh:
        """The fluid's surface; `flotsam surface` makes it if it is missing or older than the frame."""
        path = self.folder / "surface" / f"surface_{frame:06d}.ply"
        execute("surface", self.folder, "--frames", frame, "--format", "ply", "--quiet")
        return mesh_of_ply(read_ply(path))

    # ---- Pictures ----

    def picture(self, frame: int | str = "last", set: dict[str, Any] | None = None, **options: Any) -> Picture:
        """A picture as `flotsam render` draws it: picture(12, colour_by='pressure', width=640, quality='good')."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "picture.png"
            words = [*option_words({"frame": frame, "out": path, "quiet": True, **options}), *setting_words(set or {})]
            execute("render", self.folder, *words)
            return Picture(path.read_bytes())

    def movie(self, path: str | Path, **options: Any) -> Path:
        """A movie by ffmpeg: movie('dam.mp4', quality='good')."""
        execute("render", self.folder, *option_words({"movie": path, "force": True, "quiet": True, **options}))
        return Path(path)

    def _repr_png_(self) -> bytes:
        return self.picture().png


def mesh_of_ply(data: dict[str, Any]) -> Mesh:
    vertices = data["vertices"]
    names = vertices.dtype.names
    arrays = {name: vertices[name] for name in names if name not in "xyz"}
    return Mesh(np.column_stack([vertices[axis] for axis in "xyz"]), data["triangles"], arrays)


__all__ = ["Frame", "Frames", "Mesh", "Particles", "Run", "Series"]
