# The import script for Blender: its readers against convert, its use of Blender against Blender or a stand-in.
source "$(dirname "$0")/common.sh"
export PYTHONDONTWRITEBYTECODE=1 FLOTSAM_PROGRAM=$flotsam
script=$here/../../tools/flotsam_blender.py

if ((${FLOTSAM_SLOW:-0})); then
  echo "skipped: Blender reads the same files whatever wrote them"
  exit 77
fi
if ! python=$(python_with numpy); then
  echo "skipped: the Python module numpy is not installed"
  exit 77
fi

# A scene of which something moves, on its side: up is y.
cat >moving.json <<'END'
{ "schema_version": 1, "title": "A paddle, and \"more\"", "up": "y", "spacing": 0.05, "duration": 0.2,
  "frames_per_second": 25, "materials": { "water": {} },
  "boundaries": [
    { "name": "tank", "shape": { "tank": [1, 0.6, 0.4] } },
    { "name": "paddle", "shape": { "box": [0.1, 0.2, 0.2] }, "at": [0.7, 0.3, 0.2],
      "motions": [ { "rotate": { "rate": 9, "axis": [0, 0, 1] } } ] } ],
  "fluids": [ { "material": "water", "shape": { "box": [0.4, 0.3, 0.4] }, "corner": [0, 0, 0] } ] }
END
expect_exit 0 "$flotsam" run moving.json --frames 4 --no-picture --quiet --out run
expect_exit 0 "$flotsam" convert run --frame all --out csv
expect_exit 0 "$flotsam" convert run --frame 4 --to ply --out last.ply

cat >readers.py <<'END'
import csv, os, sys
import numpy as np
sys.path.insert(0, os.path.dirname(sys.argv[1]))
import flotsam_blender as b

run = b.Run("run")
assert run.frames == [0, 1, 2, 3, 4] and run.up == "y" and run.title == 'A paddle, and "more"'
assert run.frames_per_second == 25 and run.spacing == 0.05
times = run.times()
for frame in run.frames:
    data = run.read_frame(frame)
    rows = list(csv.DictReader(open(f"csv/particles_{frame:04d}.csv")))
    assert len(rows) == len(data["points"]) and data["time"] == times[frame]
    column = lambda name: np.array([float(row[name]) for row in rows], np.float32)
    for axis, name in enumerate("xyz"):
        assert np.array_equal(column(name), data["points"][:, axis])
        assert np.array_equal(column("v" + name), data["arrays"]["velocity"][:, axis])
    for name in "density", "pressure", "id":
        assert np.array_equal(column(name), data["arrays"][name].astype(np.float32)), name
    fluid = run.read_frame(frame, has_boundary=False)
    assert len(fluid["points"]) == sum(row["type"] == "fluid" for row in rows) < len(rows)
    assert all(len(values) == len(fluid["points"]) for values in fluid["arrays"].values())
assert [run.nearest_frame(k) for k in (-3, 0, 2, 9)] == [0, 0, 2, 4]

ply = b.read_ply("last.ply")
assert np.array_equal(ply["vertices"]["vy"], run.read_frame(4)["arrays"]["velocity"][:, 1])
assert "body 1 paddle" in ply["comments"] and len(ply["triangles"]) == 0

# Bodies: as series.csv has them; the paddle turns by 9 rad/s about z.
series = list(csv.DictReader(open("run/series.csv")))
bodies = run.bodies()
assert list(bodies) == ["tank", "paddle"]
for name, body in bodies.items():
    assert list(body["frames"]) == run.frames and list(body["times"]) == [float(r["time"]) for r in series]
    for k, row in enumerate(series):
        assert list(body["locations"][k]) == [float(row[f"{name}.{axis}"]) for axis in "xyz"]
        q = np.array([float(row[f"{name}.q{axis}"]) for axis in "wxyz"])
        assert abs(abs(q @ body["rotations"][k]) - 1) < 1e-12
half = 4.5 * bodies["paddle"]["times"]
turn = bodies["paddle"]["rotations"]
assert np.allclose(np.abs(turn[:, 0]), np.abs(np.cos(half))) and np.allclose(turn[:, 1:3], 0)
assert np.all(np.sum(turn[1:] * turn[:-1], axis=1) > 0)
jumps = np.array([[1.0, 0, 0, 0], [-1, 0, 0, 0.1], [-0.9, 0, 0, 0.3], [0.8, 0, 0, -0.5]])
smooth = b.without_jumps(jumps)
assert np.all(np.sum(smooth[1:] * smooth[:-1], axis=1) > 0) and np.array_equal(np.abs(smooth), np.abs(jumps))

meshes = run.meshes()
assert set(meshes) == {"tank", "paddle"}
for mesh in meshes.values():
    n = len(mesh["vertices"])
    assert n >= 3 and len(mesh["triangles"]) >= 1 and 0 <= mesh["triangles"].min() <= mesh["triangles"].max() < n

# Up becomes z, and the turn is a proper one.
def rotate(q, v):
    w, u, v = q[0], np.array(q[1:]), np.array(v, float)
    return v + 2 * np.cross(u, np.cross(u, v) + w * v)
for axis, up in enumerate("xyz"):
    assert np.allclose(rotate(b.UP_ROTATIONS[up], np.eye(3)[axis]), [0, 0, 1]), up
    assert abs(np.linalg.norm(b.UP_ROTATIONS[up]) - 1) < 1e-12

# A camera holds all that there is, in pictures of any form, and not with much room to spare.
assert run.tanks == {"tank"}
points = b.find_extent(run)
for name, mesh in meshes.items():
    where = np.column_stack([mesh["vertices"][axis] for axis in "xyz"])
    for k in 0, 4:
        placed = b.rotate(bodies[name]["rotations"][k], where) + bodies[name]["locations"][k]
        placed = b.rotate(b.UP_ROTATIONS["y"], placed)
        assert np.all(placed >= points.min(axis=0) - 1e-6) and np.all(placed <= points.max(axis=0) + 1e-6)
for aspect in 16 / 9, 1, 0.5, 4:
    place, (right, up, back), wide = b.fit_camera(points, aspect)
    assert np.allclose(np.column_stack([right, up, back]).T @ np.column_stack([right, up, back]), np.eye(3))
    assert abs(np.linalg.det(np.column_stack([right, up, back])) - 1) < 1e-9 and up[2] > 0.5
    seen = points - place
    depth = -seen @ back
    x, y = seen @ right / depth / wide, seen @ up / depth / (wide / aspect)
    assert depth.min() > 0 and max(abs(x).max(), abs(y).max()) < 1, (aspect, x, y)
    assert max(abs(x).max(), abs(y).max()) > 0.85, (aspect, abs(x).max(), abs(y).max())
assert b.colour_of("red rubber") == tuple(map(b.linear, (62, 64, 70))) and abs(b.linear(188) - 0.5029) < 1e-4
assert np.allclose(b.with_speed({"velocity": np.array([[3.0, 0, 4]])})["speed"], 5)
assert b.bulk_corners(np.array([[np.nan] * 3, [1.0, 2.0, 3.0]])).shape == (8, 3)
assert len(b.bulk_corners(np.full((4, 3), np.inf))) == 0

# Whatever is cut off, it is refused by name or read.
content = open("run/particles_0001.vtp", "rb").read()
n_refused = 0
for length in range(0, len(content) - 40, 97):
    open("cut.vtp", "wb").write(content[:length])
    try:
        b.read_vtp("cut.vtp")
    except b.Damaged as error:
        assert "cut.vtp" in str(error)
        n_refused += 1
assert n_refused > 20
for folder in "nowhere", "csv":
    try:
        b.Run(folder)
        raise AssertionError("a folder without frames was taken")
    except b.Damaged as error:
        assert "not the folder of a run" in str(error)
END
expect_exit 0 "$python" readers.py "$script"
expect_exit 1 "$python" "$script"
expect_text err "to be run by Blender"

# ---- A stand-in for Blender that keeps what it is given ----

cat >stand_in.py <<'END'
import os, sys, types
from unittest import mock
import numpy as np

class Data(list):
    """A collection of vertices, loops, keyframes, ... that is filled by foreach_set."""
    def __init__(self, width=None):
        super().__init__()
        self.set = {}
    def add(self, n):
        self.extend([None] * n)
    def foreach_set(self, name, values):
        assert len(values) % max(len(self), 1) == 0, (name, len(values), len(self))
        self.set[name] = np.array(values)

class Attributes(dict):
    def __init__(self, mesh):
        self.mesh = mesh
    def new(self, name, type, domain):
        data = Data()
        data.add(len(self.mesh.vertices))
        self[name] = types.SimpleNamespace(data_type=type, domain=domain, data=data)
        return self[name]

class Mesh:
    def __init__(self, name):
        self.name = name
        self.clear_geometry()
    def clear_geometry(self):
        self.vertices, self.loops, self.polygons = Data(), Data(), Data()
        self.attributes = Attributes(self)
        self.materials = []
    def update(self, calc_edges=False): pass
    def validate(self): pass

class Object(dict):
    def __init__(self, name, data):
        self.name, self.data, self.action = name, data, None
        self.modifiers = mock.MagicMock()
    def animation_data_create(self):
        return self

class Curves(list):
    def new(self, data_path, index):
        curve = types.SimpleNamespace(path=data_path, index=index, keyframe_points=Data(), update=lambda: None)
        self.append(curve)
        return curve

objects = []
def new_object(name, data):
    objects.append(Object(name, data))
    return objects[-1]

bpy = mock.MagicMock()
bpy.data.meshes.new = Mesh
bpy.data.objects.new = new_object
bpy.data.actions.new = lambda name: types.SimpleNamespace(name=name, fcurves=Curves())
bpy.app.handlers.persistent = lambda function: function
bpy.app.handlers.frame_change_pre = []
bpy.context.scene.objects = objects
bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items["LINEAR"].value = 1
principled = mock.MagicMock()
principled.type = "BSDF_PRINCIPLED"
bpy.data.materials.new.return_value.node_tree.nodes.__iter__.side_effect = lambda: iter([principled])
sys.modules.update({"bpy": bpy, "bpy.app": bpy.app, "bpy.app.handlers": bpy.app.handlers, "mathutils": mock.MagicMock()})
bpy.context.scene.render.resolution_x, bpy.context.scene.render.resolution_y = 1920, 1080
bpy.data.filepath = ""
sys.path.insert(0, os.path.dirname(sys.argv[1]))
sys.argv = ["blender", "-b", "--", "run", "--particles", "--save", "out.blend"]
import flotsam_blender as b

b.main()
root, particles, tank, paddle = (next(o for o in objects if o.name == n) for n in ("flotsam", "particles", "tank", "paddle"))
assert root.rotation_quaternion == b.UP_ROTATIONS["y"] and tank.parent is paddle.parent is particles.parent is root
scene = bpy.context.scene
assert (scene.frame_start, scene.frame_end, scene.render.fps, scene.render.fps_base) == (0, 4, 25, 1.0)
assert bpy.ops.wm.save_as_mainfile.call_args.kwargs["filepath"] == os.path.abspath("out.blend")

run = b.Run("run")
for frame in 0, 3, 7, 1:
    scene.frame_current = frame
    (handler,) = bpy.app.handlers.frame_change_pre
    handler(scene, None)
    data = run.read_frame(min(frame, 4), has_boundary=False)
    mesh = particles.data
    assert np.array_equal(mesh.vertices.set["co"], data["points"].ravel())
    for name, values in data["arrays"].items():
        attribute = mesh.attributes[name]
        assert attribute.domain == "POINT"
        (stored,) = attribute.data.set.values()
        assert np.array_equal(stored, values.ravel()), name
    assert mesh.attributes["velocity"].data_type == "FLOAT_VECTOR" and mesh.attributes["id"].data_type == "INT"
assert tank.action is None
curves = {(c.path, c.index): c.keyframe_points for c in paddle.action.fcurves}
assert len(curves) == 7
keys = curves["rotation_quaternion", 3].set
assert list(keys["co"][0::2]) == [0, 1, 2, 3, 4] and np.allclose(keys["co"][1::2], run.bodies()["paddle"]["rotations"][:, 3])
assert list(keys["interpolation"]) == [1] * 5
assert paddle.data.loops.set["vertex_index"].size == 3 * len(paddle.data.polygons)

# A frame that cannot be read leaves the last one, and says so.
os.rename("run/particles_0002.vtp", "kept")
os.mkdir("run/particles_0002.vtp")
scene.frame_current = 2
handler(scene, None)
assert np.array_equal(particles.data.vertices.set["co"], run.read_frame(1, has_boundary=False)["points"].ravel())
os.rmdir("run/particles_0002.vtp")
os.rename("kept", "run/particles_0002.vtp")
END
expect_exit 0 "$python" stand_in.py "$script"
expect_text err "particles_0002.vtp"

# ---- Blender itself ----

if ! command -v blender >/dev/null; then
  ((n_failed == 0)) || finish
  echo "skipped: Blender is not installed; the readers and a stand-in for Blender were tested"
  exit 77
fi
mv run "a run's folder" && mkdir "to keep"
expect_exit 0 blender -b --factory-startup --python-exit-code 1 -P "$script" -- "a run's folder" --particles --save "to keep/out file.blend"
expect_file "to keep/out file.blend"
cat >look.py <<'END'
import bpy
from bpy_extras.object_utils import world_to_camera_view
scene = bpy.context.scene
particles = bpy.data.objects["particles"]
n = len(particles.data.vertices)
assert n == 8 * 6 * 8, n
assert {"velocity", "density", "pressure"} <= set(particles.data.attributes.keys())
# Nothing of what Blender starts with; one camera, one light.
assert sorted(o.name for o in bpy.data.objects) == \
    ["flotsam", "flotsam camera", "flotsam ground", "flotsam sun", "paddle", "particles", "tank"], list(bpy.data.objects)
tank, paddle = bpy.data.objects["tank"], bpy.data.objects["paddle"]
def alpha(item):
    nodes = item.data.materials[0].node_tree.nodes
    return next(node for node in nodes if node.type == "BSDF_PRINCIPLED").inputs["Alpha"].default_value
assert tank.display_type == "WIRE" and alpha(tank) < 0.3 and alpha(paddle) == 1
assert len(paddle.animation_data.action.fcurves) == 7
scene.frame_set(0)
start, turn = [v.co.copy() for v in particles.data.vertices], paddle.matrix_world.copy()
scene.frame_set(4)
assert any((v.co - s).length > 1e-4 for v, s in zip(particles.data.vertices, start))
angle = (turn.to_quaternion().inverted() @ paddle.matrix_world.to_quaternion()).angle
assert abs(angle - 9 * 0.16) < 1e-3, angle
# All is in sight at every frame, and fills the picture.
far = 0
for frame in range(5):
    scene.frame_set(frame)
    for item in (particles, tank, paddle):
        for vertex in item.data.vertices:
            x, y, depth = world_to_camera_view(scene, scene.camera, item.matrix_world @ vertex.co)
            assert 0 < x < 1 and 0 < y < 1 and depth > 0, (frame, item.name, x, y, depth)
            far = max(far, abs(2 * x - 1), abs(2 * y - 1))
assert far > 0.8, far
# It can be drawn, and what is drawn is neither black nor empty.
scene.render.resolution_x, scene.render.resolution_y, scene.cycles.samples = 96, 54, 4
scene.render.filepath = bpy.path.abspath("//drawn.png")
bpy.ops.render.render(write_still=True)
picture = bpy.data.images.load(scene.render.filepath)
pixels = list(picture.pixels)
blue = [pixels[k + 2] - pixels[k] for k in range(0, len(pixels), 4)]
assert sum(pixels) / len(pixels) > 0.3 and max(blue) > 0.2, (sum(pixels) / len(pixels), max(blue))
END
expect_exit 0 blender -b --factory-startup --enable-autoexec "to keep/out file.blend" --python-exit-code 1 -P look.py
# A folder without a run is refused, with nothing saved.
expect_exit 1 blender -b --factory-startup --python-exit-code 1 -P "$script" -- csv --save none.blend
expect_no_file none.blend
# What somebody has made stays: its camera, light and cube.
cat >own.py <<'END'
import bpy, os, sys
sys.path.insert(0, os.environ["SCRIPT_FOLDER"])
bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath("own.blend"))
sys.argv = ["blender", "--", "a run's folder"]
import flotsam_blender
flotsam_blender.main()
assert {"Cube", "Camera", "Light", "water"} <= {o.name for o in bpy.data.objects}
assert "flotsam camera" not in bpy.data.objects and bpy.context.scene.camera.name == "Camera"
END
expect_exit 0 env SCRIPT_FOLDER="$(dirname "$script")" blender -b --factory-startup --python-exit-code 1 -P own.py

# ---- Water, looks, cloth, and a run that grows ----

cat >wet.json <<'END'
{ "schema_version": 1, "title": "Wet", "spacing": 0.06, "duration": 0.16, "frames_per_second": 25,
  "materials": { "water": { "colour": "#20a040" }, "oak": { "density": 600 }, "lead": { "density": 9000 } },
  "boundaries": [ { "name": "tank", "shape": { "tank": [0.9, 0.6, 0.6] } },
    { "name": "behind", "shape": { "box": 0.1 }, "at": [0.45, 0.3, 0.9], "look": "hidden" } ],
  "bodies": [ { "name": "crate", "material": "oak", "shape": { "box": 0.15 }, "at": [0.7, 0.2, 0.4], "look": "#ff8000" },
    { "name": "lump", "material": "lead", "shape": { "box": 0.12 }, "at": [0.7, 0.45, 0.4] },
    { "name": "sheet", "cloth": { "areal_density": 1, "stretch": 500, "bend": 1e-3 }, "shape": { "sheet": [0.3, 0.3], "cells": 5 },
      "at": [0.2, 0.3, 0.5] } ],
  "fluids": [ { "material": "water", "shape": { "box": [0.48, 0.6, 0.3] }, "corner": [0, 0, 0] } ],
  "camera": { "from": [2, -2, 1.5], "look_at": [0.45, 0.3, 0.2], "field_of_view": 30 } }
END
expect_exit 0 "$flotsam" run wet.json --frames 2 --no-picture --quiet --out wet
expect_exit 0 blender -b --factory-startup --python-exit-code 1 -P "$script" -- wet --save wet.blend
expect_file wet/surface/surface_000000.ply
expect_no_file wet/surface/surface_000002.ply
expect_exit 0 "$flotsam" resume wet --until 0.16 --no-picture --quiet
cat >look_wet.py <<'END'
import bpy, math, sys
import numpy as np
from bpy_extras.object_utils import world_to_camera_view
scene, objects = bpy.context.scene, bpy.data.objects
water, sheet, crate, lump = (objects[name] for name in ("water", "sheet", "crate", "lump"))
assert "behind" not in objects and "particles" not in objects
def shader(item):
    return next(n for n in item.data.materials[0].node_tree.nodes if n.type == "BSDF_PRINCIPLED")
def vertices(item):
    values = np.empty(3 * len(item.data.vertices), np.float32)
    item.data.vertices.foreach_get("co", values)
    return values.reshape(-1, 3)
# Looks: a colour of the scene, metal by its weight, checks of the cloth, the tint of the fluid.
r, g, b, _ = shader(crate).inputs["Base Color"].default_value
assert (round(r, 2), round(g, 2), round(b, 2)) == (1, 0.22, 0), (r, g, b)
assert shader(lump).inputs["Metallic"].default_value == 1 and shader(crate).inputs["Metallic"].default_value == 0
assert any(n.type == "TEX_CHECKER" for n in sheet.data.materials[0].node_tree.nodes)
assert shader(water).inputs["Transmission"].default_value == 1
volume = next(n for n in water.data.materials[0].node_tree.nodes if n.type == "VOLUME_ABSORPTION")
assert volume.inputs["Color"].default_value[1] > max(volume.inputs["Color"].default_value[k] for k in (0, 2))
# The camera is the scene's, whose middle is the point that it looks at.
x, y, depth = world_to_camera_view(scene, scene.camera, objects["flotsam"].matrix_world @ __import__("mathutils").Vector((0.45, 0.3, 0.2)))
assert abs(x - 0.5) < 1e-3 and abs(y - 0.5) < 1e-3 and depth > 0
assert abs(math.degrees(scene.camera.data.angle_y) - 30) < 0.1, math.degrees(scene.camera.data.angle_y)
# The run has grown since it was imported: its end and the bodies' keyframes follow, and so does the surface.
assert scene.frame_end == 2
places = []
for frame in (0, 2, 4):
    scene.frame_set(frame)
    places.append((vertices(water).mean(axis=0), vertices(sheet).mean(axis=0), np.array(crate.matrix_world.translation)))
    assert len(water.data.polygons) > 100 and len(sheet.data.polygons) >= 50
    speeds = np.empty(3 * len(water.data.vertices), np.float32)
    water.data.attributes["velocity"].data.foreach_get("vector", speeds)
    assert np.isfinite(speeds).all() and (frame == 0 or np.abs(speeds).max() > 0.1)
assert scene.frame_end == 4
for before, after in zip(places, places[1:]):
    assert all(np.linalg.norm(a - b) > 1e-4 for a, b in zip(before, after)), (before, after)
scene.frame_set(3)
moved = np.array(crate.matrix_world.translation)
assert places[2][2][2] < moved[2] < places[1][2][2]
scene.render.resolution_x, scene.render.resolution_y, scene.cycles.samples = 96, 54, 4
scene.render.filepath = bpy.path.abspath("//wet.png")
bpy.ops.render.render(write_still=True)
pixels = np.array(bpy.data.images.load(scene.render.filepath).pixels[:]).reshape(-1, 4)[:, :3]
assert 0.3 < pixels.mean() < 0.98, pixels.mean()
assert (pixels[:, 1] - pixels[:, 0]).max() > 0.05 and (pixels[:, 0] - pixels[:, 2]).max() > 0.3, "no green water, no orange crate"
END
unset FLOTSAM_PROGRAM # the file knows it
expect_exit 0 blender -b --factory-startup --enable-autoexec wet.blend --python-exit-code 1 -P look_wet.py
# Installed as an add-on, it is one file with a menu entry.
cat >add_on.py <<'END'
import bpy, os
bpy.ops.preferences.addon_install(filepath=os.environ["ADD_ON"])
bpy.ops.preferences.addon_enable(module="flotsam_blender")
assert bpy.ops.import_scene.flotsam_run(filepath=os.path.abspath("wet/run.pvd")) == {"FINISHED"}
assert {"water", "sheet", "crate"} <= {item.name for item in bpy.data.objects}
bpy.ops.preferences.addon_disable(module="flotsam_blender")
END
expect_exit 0 env ADD_ON="$script" FLOTSAM_PROGRAM="$flotsam" BLENDER_USER_SCRIPTS="$work/scripts" \
  blender -b --factory-startup --python-exit-code 1 -P add_on.py

# ---- glTF: Blender's own importer puts every body where bodies.csv has it ----

cat >lift.py <<'END'
import json, sys
up = sys.argv[1]
lie = lambda x, y, z: [x, z, y] if up == "y" else [x, y, z]
json.dump({ "schema_version": 1, "title": "Up and away", "up": up, "spacing": 0.05, "duration": 0.2,
  "frames_per_second": 25, "materials": { "water": {} },
  "boundaries": [
    { "name": "tank", "shape": { "tank": lie(1, 0.4, 0.6) } },
    { "name": "lift", "shape": { "box": lie(0.2, 0.2, 0.1) }, "at": lie(0.7, 0.2, 0.2), "look": "metal",
      "motions": [ { "translate": lie(-0.5, 0.25, 1) } ] },
    { "name": "mill", "shape": { "torus": [0.15, 0.05] }, "at": lie(0.5, 0.2, 0.9),
      "motions": [ { "rotate": { "rate": 60, "axis": lie(0.6, 0, 0.8) } } ] } ],
  "fluids": [ { "material": "water", "shape": { "box": lie(0.4, 0.4, 0.3) }, "corner": [0, 0, 0] } ] }, sys.stdout)
END
cat >gltf.py <<'END'
import csv, os, sys, bpy, numpy
from mathutils import Quaternion, Vector
numpy.bool = bool  # Debian's importer of Blender 3.4 asks numpy for a name that newer ones lack
folder, up = sys.argv[-2:]
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps = 25
bpy.ops.import_scene.gltf(filepath=os.path.join(folder, "run.glb"))
items = bpy.data.objects
assert {"flotsam", "tank", "lift", "mill", "fluid", "camera"} <= set(items.keys()), items.keys()
# Blender turns what is up in glTF, y, to z: so a scene whose up is z comes back as it was.
stand = Quaternion((1, 0, 0), 1.5707963267948966) if up == "y" else Quaternion()
n_seen = 0
for row in csv.DictReader(open(os.path.join(folder, "bodies.csv"))):
    scene.frame_set(int(row["frame"]))
    item = items[row["body"]]
    place = stand @ Vector([float(row[axis]) for axis in "xyz"])
    turn = stand @ Quaternion([float(row["q" + axis]) for axis in "wxyz"])
    # The importer turns vertices from y to z, too: a point of the body is where the pose puts it.
    point = Vector((0.1, 0.2, 0.3))
    got = item.matrix_world @ Vector((point.x, -point.z, point.y))
    assert (item.matrix_world.translation - place).length < 1e-6, (row["frame"], item.name, place)
    assert (got - place - turn @ point).length < 1e-5, (row["frame"], item.name, got, place + turn @ point)
    n_seen += 1
assert n_seen == 6 * 3
# Half way between two frames it is half way, and the mill turns on by the shorter arc: 2.4 rad a frame.
scene.frame_set(0)
a, q = items["lift"].matrix_world.translation.copy(), items["mill"].matrix_world.to_quaternion()
scene.frame_set(1)
b, r = items["lift"].matrix_world.translation.copy(), items["mill"].matrix_world.to_quaternion()
scene.frame_set(0, subframe=0.5)
assert ((a + b) / 2 - items["lift"].matrix_world.translation).length < 1e-6 and (b - a).length > 0.03
angle = lambda s, t: min((s.inverted() @ t).angle, 2 * 3.14159265 - (s.inverted() @ t).angle)
middle = items["mill"].matrix_world.to_quaternion()
assert abs(angle(q, r) - 2.4) < 1e-3, angle(q, r)
assert abs(angle(q, middle) - 1.2) < 1e-3 and abs(angle(middle, r) - 1.2) < 1e-3
# Extents, in metres, tell that vertices are where they should be, and turned with the scene.
def extent(item):
    points = [item.matrix_world @ v.co for v in item.data.vertices]
    return [max(p[k] for p in points) - min(p[k] for p in points) for k in range(3)]
assert all(abs(x - y) < 1e-6 for x, y in zip(extent(items["lift"]), (0.2, 0.2, 0.1))), extent(items["lift"])
water = extent(items["fluid"])
assert 0.38 < water[0] < 0.7 and 0.35 < water[1] < 0.41 and 0.2 < water[2] < 0.31, water
principled = lambda item: next(n for n in item.data.materials[0].node_tree.nodes if n.type == "BSDF_PRINCIPLED")
assert principled(items["lift"]).inputs["Metallic"].default_value == 1
assert principled(items["mill"]).inputs["Metallic"].default_value == 0
assert items["tank"].data.materials[0].blend_method == "BLEND"
END
for up in y z; do
  python3 lift.py "$up" >"lift-$up.json"
  expect_exit 0 "$flotsam" run "lift-$up.json" --frames 5 --no-picture --quiet --out "lift-$up"
  expect_exit 0 "$flotsam" convert "lift-$up" --to glb --surface 3
  expect_text out "lift-$up/run.glb"
  expect_exit 0 blender -b --factory-startup --python-exit-code 1 -P gltf.py -- "lift-$up" "$up"
done

# ---- Surfaces: closed, outwards, and of the volume that flotsam tells ----

cat >surface.py <<'END'
import json, os, bpy, bmesh
line = json.load(open("surface.json"))
bpy.ops.wm.read_factory_settings(use_empty=True)
if line["path"].endswith("ply"):
    bpy.ops.import_mesh.ply(filepath=os.path.abspath(line["path"]))
else:
    bpy.ops.wm.obj_import(filepath=os.path.abspath(line["path"]), forward_axis="Y", up_axis="Z")
(item,) = bpy.data.objects
mesh = bmesh.new()
mesh.from_mesh(item.data)
assert len(mesh.verts) == line["vertices"] and len(mesh.faces) == line["triangles"] > 100
assert all(edge.is_manifold and edge.is_contiguous for edge in mesh.edges)
volume = mesh.calc_volume(signed=True)
assert abs(volume - line["volume"]) < 1e-4 * line["volume"], (volume, line["volume"])
heights = [vertex.co.z for vertex in mesh.verts]
assert -1e-3 < min(heights) and max(heights) < 0.35, (min(heights), max(heights))
END
for format in ply obj; do
  expect_exit 0 "$flotsam" surface lift-z --frames 3 --format "$format" --json
  cp out surface.json
  expect_exit 0 blender -b --factory-startup --python-exit-code 1 -P surface.py
done
finish
