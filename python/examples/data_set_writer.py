"""Writes a data set for machine learning: many short splashes of random blocks of water, as compressed NumPy files.

    python3 data_set_writer.py [COUNT] [FOLDER]

Each file holds positions and velocities (moments x particles x 2, sorted by the particles' ids) and times of one splash.
The seed makes the same files every time.
"""

import sys
from pathlib import Path

import numpy as np

import flotsam as fl

SPACING, MOMENTS, INTERVAL = 0.03, 16, 0.02


def splash(random):
    """One world of two blocks of water, with a velocity each, in a tank."""
    world = fl.World(dim=2, spacing=SPACING, gravity=(0, -9.81, 0), threads=1)
    water = world.add_material(density=1000)
    world.add_body(fl.tank(1, 1, up="y"), position=(0.5, 0.5, 0))
    for x in (0.25, 0.75):
        size, height = random.uniform(0.15, 0.35, 2), random.uniform(0.25, 0.6)
        velocity = (*random.uniform(-1, 1, 2), 0)
        world.add_fluid(water, fl.box(*size), position=(x, height, 0), velocity=velocity)
    return world


def record(world):
    times, positions, velocities = [], [], []
    for k in range(MOMENTS):
        world.advance(k * INTERVAL)
        order = np.argsort(world.fluid.id)  # particles are kept in the order of their cells
        times.append(world.time)
        positions.append(world.fluid.positions[order, :2].astype(np.float32))
        velocities.append(world.fluid.velocities[order, :2])
    return {"times": np.array(times), "positions": np.array(positions), "velocities": np.array(velocities)}


count = int(sys.argv[1]) if len(sys.argv) > 1 else 3
folder = Path(sys.argv[2] if len(sys.argv) > 2 else "splashes")
folder.mkdir(exist_ok=True)
random = np.random.default_rng(1)
for k in range(count):
    data = record(splash(random))
    path = folder / f"splash_{k:04d}.npz"
    np.savez_compressed(path, **data)
    print(f"{path}: {data['positions'].shape[1]} particles at {MOMENTS} moments, {path.stat().st_size / 1e3:.0f} kB")
