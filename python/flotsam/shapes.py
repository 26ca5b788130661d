"""Shapes of bodies and fluids, each centred on the origin of its own frame."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np


class Shape:
    """A shape of any kind, with the members of FloShape: Shape('cone', radius=0.1, size=[0.3])."""

    def __init__(self, kind: str, **members: Any):
        self.kind, self.given = kind, members

    def members(self) -> dict[str, Any]:
        return {"kind": self.kind, **self.given}

    def __repr__(self) -> str:
        return f"Shape({self.kind!r}, " + ", ".join(f"{k}={v!r}" for k, v in self.given.items()) + ")"


def box(x: float, y: float | None = None, z: float | None = None, rounding: float = 0) -> Shape:
    """A box with these edge lengths [m]; with one length a cube."""
    return Shape("box", size=(x, x if y is None else y, x if y is None and z is None else z or 0), radius=rounding)


def sphere(radius: float) -> Shape:
    return Shape("sphere", radius=radius)


def cylinder(radius: float, length: float) -> Shape:
    """Its axis is z."""
    return Shape("cylinder", radius=radius, size=(length,))


def capsule(radius: float, length: float) -> Shape:
    """`length` is the distance between the centres of its caps, along z."""
    return Shape("capsule", radius=radius, size=(length,))


def tank(x: float, y: float, z: float = 0, up: str = "z", closed: bool = False) -> Shape:
    """Inner edge lengths [m]; solid outside, open along its axis `up` unless closed."""
    return Shape("tank", size=(x, y, z), up=up, closed=closed)


def plane(x: float, y: float, thickness: float) -> Shape:
    """Its top is at z = 0."""
    return Shape("plane", size=(x, y, thickness))


def sheet(x: float, y: float = 0, cell: float = 0) -> Shape:
    """A cloth in the x-y plane; in two dimensions a line along x."""
    return Shape("sheet", size=(x, y), cell=cell)


def outline(points: Sequence[Sequence[float]], depth: float = 0) -> Shape:
    """A polygon in the x-y plane."""
    return Shape("outline", points=np.asarray(points, float), size=(depth,))


def mesh(vertices: Any, triangles: Any) -> Shape:
    """A closed mesh of triangles, counter-clockwise seen from outside."""
    return Shape("mesh", mesh={"vertices": np.asarray(vertices, float), "triangles": np.asarray(triangles)})


def heightfield(heights: Any, x: float, y: float, depth: float) -> Shape:
    """heights[row along y][column along x] over an area of x times y [m]."""
    return Shape("heightfield", heights=np.asarray(heights, float), size=(x, y, depth))
