"""Reads the folder of a run: measurements, particles, bodies, surface and pictures. Writes max_speed.svg and frame.png.

    python3 reading_a_run.py [DIR]

Without DIR a small scene is run first.
"""

import sys
from pathlib import Path

import numpy as np

import flotsam as fl

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
run = fl.Run(folder) if folder else fl.run("dam-break", out="dam", size="draft", until=0.2, threads=1)
print(run)

# Measurements: columns of series.csv.
series = run.series
print(f"{len(series)} rows of {len(series.keys())} measurements; fastest {series['max_speed'].max():.2f} m/s")
series.plot("max_speed", y_label="largest speed [m/s]").save("max_speed.svg")

# Particles of the last frame.
frame = run.frames[-1]
fluid = frame.fluid
print(f"{frame}: {len(fluid)} of fluid, mean height {fluid.points[:, 2].mean():.3f} m")
print(f"kinetic energy per kilogram {0.5 * np.mean(np.sum(fluid['velocity'] ** 2, axis=1)):.3f} J/kg")

# Solids: triangles of their own, and where they are over time.
for name, mesh in run.meshes.items():
    poses = run.bodies[name]
    print(f"{name}: {mesh}, moved by {np.linalg.norm(poses['locations'][-1] - poses['locations'][0]):.3f} m")

# The fluid's surface, which is made if it is missing, and a picture.
surface = frame.surface()
print(f"{surface}: {1000 * surface.volume:.1f} litres, {surface.area:.2f} m2")
print("wrote", frame.picture(width=640, height=360).save("frame.png"))
