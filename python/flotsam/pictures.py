"""Pictures that show in notebooks: PNG files in memory, and simple drawings of a world's particles."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

# Colours of a field from its lowest to its highest value: dark blue, blue, light blue, white.
RAMP = np.array([(22, 48, 110), (34, 104, 178), (112, 180, 224), (244, 250, 255)], float)
SOLID_COLOURS = {"boundary": (206, 204, 198), "rigid": (198, 116, 52), "soft": (170, 74, 110)}
PAPER = 252


def png_bytes(pixels: np.ndarray) -> bytes:
    """A PNG file of rows of RGB pixels with 8 bits each."""
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b"")


class Picture:
    """A PNG file in memory. A notebook shows it; `save` writes it."""

    def __init__(self, png: bytes):
        self.png = png

    @property
    def size(self) -> tuple[int, int]:
        """Width and height [pixels]."""
        return struct.unpack(">II", self.png[16:24])

    def save(self, path: str | Path) -> Path:
        Path(path).write_bytes(self.png)
        return Path(path)

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return "<Picture {} x {}>".format(*self.size)


# ---- Particles of a world ----


def field_values(fields: Any, name: str) -> np.ndarray:
    if name == "speed":
        return np.sqrt(fields["vx"] ** 2 + fields["vy"] ** 2 + fields["vz"] ** 2)
    return np.asarray(fields[name], float)


def colours_of(values: np.ndarray) -> np.ndarray:
    low, high = (np.percentile(values, (1, 99)) if len(values) else (0, 1))
    place = np.clip((values - low) / max(high - low, 1e-12), 0, 1) * (len(RAMP) - 1)
    return np.column_stack([np.interp(place, range(len(RAMP)), RAMP[:, channel]) for channel in range(3)])


def gather(world: Any, colour_by: str) -> tuple[np.ndarray, np.ndarray]:
    """Positions and colours of all particles; walls of three-dimensional worlds would hide the others."""
    points, colours = [np.empty((0, 3))], [np.empty((0, 3))]
    for name in ("boundary", "rigid", "soft", "fluid"):
        fields = getattr(world, name)
        if not len(fields) or (name == "boundary" and world.dim == 3):
            continue
        points.append(fields.positions)
        is_fluid = name == "fluid"
        colours.append(colours_of(field_values(fields, colour_by)) if is_fluid
                       else np.tile(np.array(SOLID_COLOURS[name], float), (len(points[-1]), 1)))
    return np.concatenate(points), np.concatenate(colours)


VIEWS = {"x": (1, 2, 0, 1), "y": (0, 2, 1, -1), "z": (0, 1, 2, 1)}  # right, up, depth, and which side is near


def splat(pixels: np.ndarray, places: np.ndarray, depth: np.ndarray, colours: np.ndarray, radius: int) -> None:
    """Draws discs; the nearest ones last, so that they stay."""
    height, width, _ = pixels.shape
    order = np.argsort(depth, kind="stable")
    places, colours = places[order], colours[order]
    steps = range(-radius, radius + 1)
    offsets = [(dx, dy) for dx in steps for dy in steps if dx * dx + dy * dy <= radius * radius + 1]
    target = np.full((height, width), -1)
    ranks = np.arange(len(places))
    for dx, dy in offsets:
        x, y = places[:, 0] + dx, places[:, 1] + dy
        is_in = (x >= 0) & (x < width) & (y >= 0) & (y < height)
        np.maximum.at(target, (y[is_in], x[is_in]), ranks[is_in])
    is_hit = target >= 0
    shade = (0.75 + 0.25 * ranks / max(len(ranks) - 1, 1))[:, None]
    pixels[is_hit] = (colours * shade)[target[is_hit]].astype(np.uint8)


def draw_points(world: Any, width: int, height: int, colour_by: str, view: str | None) -> Picture:
    pixels = np.full((height, width, 3), PAPER, np.uint8)
    points, colours = gather(world, colour_by)
    if len(points) == 0:
        return Picture(png_bytes(pixels))
    right, up, deep, side = VIEWS[view or ("z" if world.dim == 2 else "y")]
    low, high = np.percentile(points[:, (right, up)], (0.2, 99.8), axis=0)
    scale = 0.92 * min(width / max(high[0] - low[0], 1e-9), height / max(high[1] - low[1], 1e-9))
    middle = (low + high) / 2
    places = np.column_stack([width / 2 + scale * (points[:, right] - middle[0]),
                              height / 2 - scale * (points[:, up] - middle[1])])
    radius = int(np.clip(round(0.55 * scale * world.spacing), 0, 30))
    splat(pixels, np.clip(places, -1e6, 1e6).astype(int), side * points[:, deep], colours, radius)
    return Picture(png_bytes(pixels))
