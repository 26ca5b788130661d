"""Plots with labelled axes as SVG, drawn without other packages; a notebook shows them."""

from __future__ import annotations

import math
from html import escape
from pathlib import Path
from typing import Any, Sequence

import numpy as np

COLOURS = "#1f6fb4", "#d1495b", "#2e933c", "#edae49", "#7d4e9e", "#00798c"
LEFT, RIGHT, TOP, BOTTOM = 84, 20, 44, 58


def ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Round numbers from low to high."""
    step = 10 ** math.floor(math.log10(max(high - low, 1e-300)))
    step = next(step * f for f in (0.1, 0.2, 0.5, 1, 2, 5) if (high - low) / (step * f) <= most)
    return [step * k for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


class Plot:
    """Lines and points over two axes: Plot('time [s]', 'height [m]').line(x, y, 'water').save('height.svg')."""

    def __init__(self, x_label: str, y_label: str, title: str = "", width: int = 720, height: int = 440):
        self.x_label, self.y_label, self.title, self.width, self.height = x_label, y_label, title, width, height
        self.series: list[tuple[np.ndarray, np.ndarray, str, bool]] = []

    def line(self, x: Sequence[float], y: Sequence[float], label: str = "", markers: bool = False) -> Plot:
        self.series.append((np.asarray(x, float), np.asarray(y, float), label, markers))
        return self

    def limits(self, axis: int) -> tuple[float, float]:
        values = np.concatenate([series[axis][np.isfinite(series[axis])] for series in self.series] or [np.zeros(1)])
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        margin = 0.05 * (high - low) or 0.5 * abs(high) or 0.5
        return low - margin, high + margin

    def to_pixels(self, axis: int, values: Any) -> Any:
        low, high = self.limits(axis)
        share = (np.asarray(values) - low) / (high - low)
        if axis == 0:
            return LEFT + share * (self.width - LEFT - RIGHT)
        return self.height - BOTTOM - share * (self.height - TOP - BOTTOM)

    def axis_marks(self) -> list[str]:
        right, bottom, marks = self.width - RIGHT, self.height - BOTTOM, []
        for value in ticks(*self.limits(0)):
            x = float(self.to_pixels(0, value))
            marks.append(f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#e4e4e0"/>'
                         f'<text x="{x:.1f}" y="{bottom + 20}" text-anchor="middle">{value:.6g}</text>')
        for value in ticks(*self.limits(1)):
            y = float(self.to_pixels(1, value))
            marks.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#e4e4e0"/>'
                         f'<text x="{LEFT - 8}" y="{y + 5:.1f}" text-anchor="end">{value:.6g}</text>')
        marks.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" stroke="#444" fill="none"/>')
        return marks

    def labels(self) -> list[str]:
        """The label of the vertical axis stands above it, so that it is read without turning the head."""
        marks = [f'<text x="{self.width - RIGHT}" y="{self.height - 14}" text-anchor="end">{escape(self.x_label)}</text>',
                 f'<text x="12" y="{TOP - 16}">{escape(self.y_label)}</text>']
        if self.title:
            marks.append(f'<text x="{self.width - RIGHT}" y="{TOP - 16}" text-anchor="end" font-weight="bold">'
                         f'{escape(self.title)}</text>')
        named = [(k, series[2]) for k, series in enumerate(self.series) if series[2]]
        for row, (k, label) in enumerate(named):
            y = TOP + 16 + 20 * row
            marks.append(f'<text x="{self.width - RIGHT - 10}" y="{y}" text-anchor="end" fill="{COLOURS[k % len(COLOURS)]}" '
                         f'font-weight="bold">{escape(label)}</text>')
        return marks

    def curves(self) -> list[str]:
        marks = []
        for k, (x, y, _, has_markers) in enumerate(self.series):
            is_there = np.isfinite(x) & np.isfinite(y)
            places = list(zip(self.to_pixels(0, x[is_there]), self.to_pixels(1, y[is_there])))
            colour = COLOURS[k % len(COLOURS)]
            path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
            marks.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
            if has_markers:
                marks += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="{colour}"/>' for a, b in places]
        return marks

    @property
    def svg(self) -> str:
        parts = [*self.axis_marks(), *self.curves(), *self.labels()]
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
                f'viewBox="0 0 {self.width} {self.height}" font-family="sans-serif" font-size="14">'
                f'<rect width="100%" height="100%" fill="#fdfdfb"/>{"".join(parts)}</svg>\n')

    def save(self, path: str | Path) -> Path:
        Path(path).write_text(self.svg, encoding="utf-8")
        return Path(path)

    def _repr_svg_(self) -> str:
        return self.svg
