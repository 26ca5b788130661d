"""The package as a user has it, in an environment of its own: python package.py FOLDER"""

import ctypes
import gc
import math
import os
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import numpy as np

import flotsam as fl

os.chdir(sys.argv[1])
assert "site-packages" in fl.__file__, fl.__file__


def refuses(kind, text, function, /, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as error:
        assert text in str(error), (text, str(error))
        return error
    raise AssertionError(f"not refused: {text}")


def small_world(**options):
    world = fl.World(spacing=0.05, threads=1, **options)
    water = world.add_material("water", density=1000)
    world.add_body(fl.tank(1, 0.5, 0.6), name="tank", position=(0, 0, 0.3))
    return world, water


def test_views_are_no_copies():
    world, water = small_world()
    n = world.add_fluid(water, fl.box(0.4, 0.5, 0.4), position=(-0.3, 0, 0.2))
    assert n == len(world.fluid) == 8 * 10 * 8
    for name in world.fluid:
        array, view = world.fluid[name], world.fluid.view(name)
        assert array.__array_interface__["data"][0] == view.data and not array.flags.owndata, name
        assert not array.flags.writeable and len(array) == n
    assert np.shares_memory(world.fluid.x, world.fluid["x"]) and not np.shares_memory(world.fluid.x, world.fluid.y)
    # What the library changes is seen in a view that was taken before.
    before, copy = world.fluid.vx, world.fluid.vx.copy()
    world.fluid.vx = np.arange(n)
    assert np.array_equal(before, np.arange(n)) and not np.array_equal(before, copy)
    # A view keeps the memory alive.
    x, mean = world.fluid.x, world.fluid.x.mean()
    world.close()
    del world, before
    gc.collect()
    assert x.mean() == mean
    refuses(AttributeError, "no field 'nothing'", getattr, small_world()[0].fluid, "nothing")


def test_a_million_particles():
    world = fl.World(spacing=0.01, threads=1)
    water = world.add_material(density=1000)
    edge = np.arange(100) * 0.01
    points = np.stack(np.meshgrid(edge, edge, edge, indexing="ij"), -1).reshape(-1, 3)
    world.add_particles(water, points)
    assert len(world.fluid) == 1_000_000
    world.fluid.x  # once, so that nothing is counted that happens only once
    names, seconds = ("x", "y", "z", "vx", "vy", "vz", "density"), []
    for _ in range(9):
        began = time.perf_counter()
        views = [world.fluid[name] for name in names]
        seconds.append(time.perf_counter() - began)
    tracemalloc.start()
    views = [world.fluid[name] for name in names]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert all(len(view) == 1_000_000 for view in views) and np.array_equal(np.sort(views[0])[::10000], np.sort(points[:, 0])[::10000])
    assert peak < 20_000, f"{peak} bytes for views of 44 MB: a copy was made"
    print(f"7 fields of 1,000,000 particles are read in {1e3 * min(seconds):.3f} ms, with {peak} bytes of new memory")


def test_others_run_while_a_world_steps():
    world, water = small_world()
    world.add_fluid(water, fl.box(0.4, 0.5, 0.4), position=(-0.3, 0, 0.2))
    counts, is_over = [], threading.Event()

    def count():
        while not is_over.wait(0.001):
            counts.append(time.perf_counter())

    thread = threading.Thread(target=count)
    thread.start()
    began = time.perf_counter()
    world.advance(0.1)  # one call of the library
    ended = time.perf_counter()
    is_over.set()
    thread.join()
    during = [moment for moment in counts if began + 0.1 * (ended - began) < moment < ended - 0.1 * (ended - began)]
    assert len(during) >= 2, f"{len(during)} times in {ended - began:.3f} s"
    # Two threads may use one world: they take turns.
    threads = [threading.Thread(target=lambda: [world.step() for _ in range(5)]) for _ in range(2)]
    step = world.measure().step
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert world.measure().step == step + 10


def test_errors():
    assert refuses(fl.BadInput, "spacing: must be > 0", fl.World, spacing=-1).status.name == "BAD_INPUT"
    refuses(ValueError, "spacing", fl.World, spacing=math.nan)
    refuses(TypeError, "did you mean 'spacing'?", fl.World, spacng=1)
    refuses(ValueError, "there is no BodyKind 'dynamik'", small_world()[0].add_body, fl.box(0.1), kind="dynamik")
    refuses(TypeError, "did you mean 'density'?", small_world()[0].add_body, fl.box(0.1), densty=1)
    world, _ = small_world()
    box = world.add_body(fl.box(0.1), name="box", kind="dynamic", density=500, position=(0, 0, 0.2))
    box.remove()
    refuses(fl.BadInput, "no such id", lambda: box.position)
    refuses(fl.BadInput, "finite", world.set_gravity, (0, math.inf, 0))
    refuses(fl.BadInput, "nothing", world.find_body, "nothing")
    refuses(ValueError, "been closed", lambda: (world.close(), world.step()))
    refuses(fl.BadInput, "not the folder of a run", fl.Run, "nowhere")
    refuses(fl.BadInput, "no scene 'dam-brake'", fl.run, "dam-brake")
    refuses(fl.BadInput, "spacng", fl.Scene, {"schema_version": 1, "spacng": 1})
    assert issubclass(fl.Diverged, ArithmeticError) and issubclass(fl.NoMemory, MemoryError)


def test_driving():
    world, water = small_world(gravity=(0, 0, 0))
    ball = world.add_body(fl.sphere(0.1), name="ball", kind="dynamic", density=1000, position=(0, 0, 0.3))
    assert [body.name for body in world.bodies] == ["tank", "ball"] and world.find_body("ball") == ball
    assert abs(ball.mass - 1000 * 4 / 3 * math.pi * 0.001) < 1e-9
    # A force for 0.1 s gives its impulse, in whatever steps.
    seen = []

    def push(world):
        seen.append(world.time)
        ball.apply_force((0.5, 0, 0))

    ball.apply_force((0.5, 0, 0))
    world.on_step(push)
    world.advance(0.1)
    world.on_step(None)
    assert abs(ball.mass * ball.velocity[0] / 0.05 - 1) < 1e-6 and len(seen) > 3 and seen[-1] == world.time
    ball.apply_impulse((-0.05, 0, 0))
    world.step()  # takes the force that the last call asked for
    ball.velocity = (0, 0, 0)
    ball.position = (0.2, 0, 0.3)
    assert np.allclose(ball.position, (0.2, 0, 0.3)) and np.allclose(ball.velocity, 0)
    hit = world.cast_ray((-0.4, 0, 0.3), (1, 0, 0))
    assert hit.body == ball and np.allclose(hit.point, (0.1, 0, 0.3), atol=1e-3) and world.cast_ray((0, 0, 0.5), (0, 0, 9)) is None
    near = world.closest_point((0.2, 0, 0.45), 1)
    assert near.body == ball and abs(near.distance - 0.05) < 1e-3
    assert ball in world.overlap((0.2, 0, 0.3), 0.05)
    refuses(ZeroDivisionError, "division", lambda: (world.on_step(lambda world: 1 / 0), world.step()))
    world.on_step(None)
    # Joints: a motor turns what it should turn.
    arm = world.add_body(fl.box(0.3, 0.1, 0.1), name="arm", kind="dynamic", density=800, position=(-0.2, 0, 0.3))
    axle = world.add_joint("hinge", arm, at=(-0.2, 0, 0.3), axis=(0, 0, 1), motor={"kind": "speed", "value": 0, "max_load": 100})
    axle.set("motor_speed", 2.0)
    world.advance(world.time + 0.2)
    assert abs(axle.state.speed - 2) < 1e-3 and abs(arm.angular_velocity[2] - 2) < 1e-3
    assert axle.info.body == arm and axle.info.to is None and world.joints == [axle]


def test_states():
    world, water = small_world()
    world.add_fluid(water, fl.box(0.3, 0.5, 0.3), position=(-0.35, 0, 0.15))
    world.advance(0.05)
    state, now = world.save(), world.hash
    world.advance(0.1)
    later = world.hash
    state.write("state")
    for copy in (state, fl.State.from_bytes(state.to_bytes()), fl.State.read("state")):
        world.restore(copy)
        assert world.hash == now
        world.advance(0.1)
        assert world.hash == later
    refuses(fl.BadInput, "", fl.State.from_bytes, state.to_bytes()[:-8])


def test_shapes_and_cloth():
    world = fl.World(spacing=0.05, threads=1)
    tetrahedron = fl.mesh([[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    solid = world.add_body(tetrahedron, kind="dynamic", density=1000, position=(0, 0, 2))
    assert abs(solid.mass - 1000 * 0.3 ** 3 / 6) < 1e-6
    world.add_body(fl.heightfield(np.zeros((3, 5)), 2, 2, 0.2), position=(0, 0, 0))
    world.add_body(fl.box(0.2), kind="kinematic", position=(2, 0, 1), motions=[{"kind": "translate", "vector": (1, 0, 0)}])
    cloth = world.add_body(fl.sheet(0.6, 0.6, cell=0.1), name="cloth", kind="cloth", position=(0, 0, 1),
                           cloth={"areal_density": 0.5, "stretch": 500, "bend": 1e-4}, pins=[{"place": "corners"}])
    world.advance(0.1)
    vertices, triangles = cloth.mesh()
    assert vertices[:, 2].min() < 1 - 0.01 and len(triangles) >= 72 and cloth.soft_state.n_pins == 4


def test_scenes_and_runs():
    changes = {"constants.s": 0.05, "duration": 0.06}
    run = fl.run("dam-break", out="dam", set=changes, threads=1)
    assert run.info["end"] == "finished" and len(run.frames) == len(run.series) == len(run.times)
    frame = run.frames[-1]
    fluid = frame.fluid
    assert len(fluid) + len(frame.boundary) == len(frame) and abs(frame.time - run.times[-1]) < 1e-6
    speeds = np.linalg.norm(fluid["velocity"], axis=1)
    assert abs(speeds.max() - run.series["max_speed"][-1]) < 1e-5
    refuses(KeyError, "there are id, type", lambda: frame["colour"])
    # The same scene in memory has the same bits; both make the same surface.
    scene = fl.Scene("dam-break", set=changes, threads=1)
    world = scene.build()
    for number in range(1, len(run.frames) - 1):  # a run steps from frame to frame
        world.advance(number / scene.info.frames_per_second)
    world.advance(run.summary["time"])
    assert f"{world.hash:016x}" == run.summary["state_hash"]
    assert not (run.folder / "surface").exists()
    surface, own = frame.surface(), world.surface()
    assert (run.folder / "surface").exists() and abs(surface.volume / own.volume - 1) < 0.02
    assert abs(surface.volume / (len(fluid) * 0.05 ** 3) - 1) < 0.3 and own["velocity"].shape == own.vertices.shape
    assert set(run.meshes) == set(run.bodies) == {"tank"}
    # Pictures: PNG files that notebooks show.
    for picture in (frame.picture(width=160, height=90), world.picture(width=160, height=90), fl.World.picture(world, 160, 90)):
        assert picture._repr_png_().startswith(b"\x89PNG") and picture.size == (160, 90)
    svg = run.series.plot("max_speed", y_label="largest speed [m/s]")._repr_svg_()
    assert svg.startswith("<svg") and "largest speed [m/s]" in svg and "time [s]" in svg
    # A run grows while it is read.
    known = len(run.frames)
    run.resume(until=0.1)
    assert len(run.frames) > known and run.frames[-1].time > frame.time
    assert len(fl.scenes()) > 20 and "dam-break" in fl.scenes()


def test_soft_runs():
    run = fl.run("sail", out="sail", size="draft", set={"constants.s": 0.12}, frames=1, threads=1)
    (name, cloth), = run.frames[-1].soft().items()
    assert name == "sail" and cloth.triangles.max() == len(cloth.vertices) - 1 and cloth["stretch"].shape == (len(cloth.vertices),)
    assert abs(cloth.area - 0.48 * 0.3) < 0.02


def test_descriptions():
    assert "[kg/m³]" in fl.describe("BodyDef") and set(fl.methods()) >= {"monolithic", "wcsph", "constraint"}
    assert fl.method_parameters("wcsph")["alpha"]["low"] <= fl.method_parameters("wcsph")["alpha"]["value"]
    assert (Path(fl.__file__).parent / "py.typed").exists()
    version = [line for line in open(sys.argv[2]) if line.startswith("project(")][0].split()[2]
    assert fl.__version__ == version, (fl.__version__, version)


for test_name, test in [item for item in globals().items() if item[0].startswith("test_")]:
    test()
    print("passed", test_name)
