"""Meshes of triangles."""

from __future__ import annotations

import numpy as np


class Mesh:
    """Triangles: `vertices` (n x 3), `triangles` (m x 3), and arrays of the vertices by name."""

    def __init__(self, vertices: np.ndarray, triangles: np.ndarray, arrays: dict[str, np.ndarray] | None = None):
        self.vertices, self.triangles, self.arrays = vertices, triangles, arrays or {}

    def __getitem__(self, name: str) -> np.ndarray:
        return self.arrays[name]

    def __repr__(self) -> str:
        return f"<Mesh of {len(self.vertices)} vertices, {len(self.triangles)} triangles>"

    @property
    def area(self) -> float:
        a, b, c = (self.vertices[self.triangles[:, k]].astype(float) for k in range(3))
        return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)

    @property
    def volume(self) -> float:
        """Of a closed mesh."""
        a, b, c = (self.vertices[self.triangles[:, k]].astype(float) for k in range(3))
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)
