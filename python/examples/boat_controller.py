"""A controller steers a boat to a goal by the motors of its two paddle wheels. Writes boat.svg and boat.png.

    python3 boat_controller.py

Ten times a second the controller looks where the boat is and where it points to, and sets the speed of both wheels: the
same for going ahead, different for turning.
"""

import math

import numpy as np

import flotsam as fl

SPACING, LENGTH, WIDTH, DEPTH = 0.1, 4.4, 3.2, 0.5  # [m]
HULL = np.array([1.0, 0.5, 0.3])
WHEEL, HUB, BLADE, BLADES = 0.34, 0.08, 0.1, 6  # radii, thickness [m]; number
CRUISE, FASTEST = 9.0, 12.0  # of the wheels [rad/s]
START, GOAL, NEAR = np.array([-1.3, -0.8]), np.array([1.1, 0.7]), 0.25  # [m]


def wheel_outline():
    """A star of blades, in its own x-y plane."""
    points, half = [], math.asin(BLADE / 2 / HUB) / 1.3
    for k in range(BLADES):
        angle = 2 * math.pi * k / BLADES
        tip = math.asin(BLADE / 2 / WHEEL)
        for radius, offset in ((HUB, -half), (WHEEL, -tip), (WHEEL, tip), (HUB, half)):
            points.append((radius * math.cos(angle + offset), radius * math.sin(angle + offset)))
    return points


def build():
    world = fl.World(spacing=SPACING, threads=1, max_time_step=0.02, parameters={"max_iterations": 40})
    water = world.add_material("water", density=1000)
    world.add_body(fl.tank(LENGTH, WIDTH, 1.2), name="tank", position=(0, 0, 0.6), friction=0.1)
    boat = world.add_body(fl.box(*HULL), name="hull", kind="dynamic", density=350, position=(*START, DEPTH + 0.04))
    upright = (math.sqrt(0.5), 0, 0, math.sqrt(0.5))  # the wheel's axis becomes the boat's y
    wheels, side = [], HULL[1] / 2 + 0.14
    for name, y in (("left", side), ("right", -side)):
        hub = (START[0], START[1] + y, DEPTH + 0.14)
        wheel = world.add_body(fl.outline(wheel_outline(), depth=0.2), name=f"{name} wheel", kind="dynamic", density=300,
                               position=hub, rotation=upright)
        wheels.append(world.add_joint("hinge", wheel, to=boat, name=f"{name} axle", at=hub, axis=(0, 1, 0),
                                      motor={"kind": "speed", "value": 0, "max_load": 200}))
    world.add_fluid(water, fl.box(LENGTH, WIDTH, DEPTH), position=(0, 0, DEPTH / 2))
    return world, boat, wheels


def control(boat, left, right):
    """Returns the distance to the goal, and sets both motors."""
    way = GOAL - boat.position[:2]
    ahead = boat.turned((1, 0, 0))
    error = math.atan2(way[1], way[0]) - math.atan2(ahead[1], ahead[0])
    error = math.remainder(error, 2 * math.pi)
    turn = 8.0 * error - 2.0 * boat.angular_velocity[2]
    cruise = CRUISE * max(math.cos(error), 0)  # first turn, then go
    for axle, speed in ((left, cruise - turn), (right, cruise + turn)):
        axle.set("motor_speed", float(np.clip(speed, -FASTEST, FASTEST)))
    return float(np.linalg.norm(way))


world, boat, (left, right) = build()
track, distance = [boat.position[:2]], math.inf
while distance > NEAR and world.time < 20:
    world.advance(world.time + 0.1)
    distance = control(boat, left, right)
    track.append(boat.position[:2])
track = np.array(track)
print(f"after {world.time:.1f} s the boat is {distance:.2f} m from its goal, {world.measure().fluid_particles} particles")
plot = fl.Plot("x [m]", "y [m]", "The boat's way").line(track[:, 0], track[:, 1], "boat")
plot.line([GOAL[0]], [GOAL[1]], "goal", markers=True).save("boat.svg")
world.picture(width=960, height=720, view="z").save("boat.png")
assert distance <= NEAR, "the boat did not reach its goal"
