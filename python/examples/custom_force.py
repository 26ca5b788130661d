"""A force that the library does not have: a wind that pushes floating crates, more where they stand higher out of water.

    python3 custom_force.py

The function is called after each step; forces act for the whole next step.
"""

import numpy as np

import flotsam as fl

WIND = np.array([6.0, 0.0, 0.0])  # [m/s]
DRAG, AIR = 1.05, 1.2  # coefficient of a cube; density of air [kg/m3]
LEVEL, SIDE = 0.24, 0.16  # [m]

world = fl.World(spacing=0.04, threads=1)
water = world.add_material("water", density=1000)
world.add_body(fl.tank(1.6, 0.64, 0.6), position=(0, 0, 0.3), friction=0.2)
crates = [world.add_body(fl.box(SIDE), name=f"crate {density}", kind="dynamic", density=density,
                         position=(-0.6, y, LEVEL - SIDE * density / 1000 + SIDE / 2))
          for density, y in ((100, -0.16), (600, 0.16))]
world.add_fluid(water, fl.box(1.6, 0.64, LEVEL), position=(0, 0, LEVEL / 2))


def blow(world):
    """Drag of the part above the water: 1/2 density coefficient area speed^2, along the wind relative to the crate."""
    for crate in crates:
        state = crate.state
        height = np.clip(state.position[2] + SIDE / 2 - LEVEL, 0, SIDE)
        relative = WIND - state.velocity
        area = height * SIDE * 40  # a sail of that height, as wide as 40 crates
        crate.apply_force(0.5 * AIR * DRAG * area * np.linalg.norm(relative) * relative * (1, 0, 0))


world.advance(0.4)  # the crates find their draught
starts = [crate.position[0] for crate in crates]
world.on_step(blow)
world.advance(1.2)
ways = [crate.position[0] - start for crate, start in zip(crates, starts)]
for crate, way in zip(crates, ways):
    print(f"{crate.name}: blown {way:.3f} m in 0.8 s")
print("wrote", world.picture(view="z").save("wind.png"))
assert ways[0] > ways[1] > 0, "the light crate, which stands higher, is blown farther"
