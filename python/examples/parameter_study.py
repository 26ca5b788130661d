"""How fast does the front of a broken dam travel in fluids of other viscosity? Writes front.svg.

    python3 parameter_study.py
"""

import numpy as np

import flotsam as fl

SPACING, DEPTH, UNTIL = 0.02, 0.2, 0.35


def front_over_time(viscosity):
    """The place of the front [m], in two dimensions, at even times."""
    world = fl.World(dim=2, spacing=SPACING, gravity=(0, -9.81, 0), threads=1)
    fluid = world.add_material(density=1000, viscosity=viscosity)
    world.add_body(fl.tank(1.2, 0.5, up="y"), position=(0.6, 0.25, 0), friction=0)
    world.add_fluid(fluid, fl.box(DEPTH, DEPTH), position=(DEPTH / 2, DEPTH / 2, 0))
    times = np.linspace(0, UNTIL, 15)
    front = []
    for time in times:
        world.advance(time)
        front.append(np.percentile(world.fluid.x, 99.5))
    return times, np.array(front)


plot = fl.Plot("time [s]", "front [m]", "A dam breaks")
for viscosity in (1e-6, 0.005, 0.05, 0.5):
    times, front = front_over_time(viscosity)
    plot.line(times, front, f"{viscosity:g} m²/s")
    print(f"viscosity {viscosity:8g} m2/s: the front is at {front[-1]:.3f} m after {UNTIL} s")
print("wrote", plot.save("front.svg"))
