#!/usr/bin/env python3
"""Shows a run folder of Flotsam in Blender (3.4 or later): an add-on in one file, and a script.

    blender -b --python-exit-code 1 -P flotsam_blender.py -- DIR [--save out.blend] [--particles] [--boundary] [--radius R]

As an add-on: Edit > Preferences > Add-ons > Install, and choose this file. File > Import then has an entry "Flotsam run".

Frame k of the run is frame k of the scene. Whenever the frame changes, what changes its shape is read from the folder: the
surface of the water with its velocity (`flotsam surface` makes what is missing), cloth and elastic bodies with their
stretch. Solids (body_*.ply) have keyframes from bodies.csv and the looks of the scene; tanks are clear glass. Without a
surface, in two dimensions or with --particles, particles are drawn as spheres. Camera, frame rate and colours are the
scene's; a scene of Blender's that has a camera or a light keeps its own. A run that is still going on is followed.

All of it hangs on one empty that turns the run's up axis to Blender's z, so that coordinates and attributes stay those of
the run. One unit is one metre. A saved file keeps this script: allow it to run when the file is opened.

The readers (Run, read_vtp, read_ply, read_bodies) need numpy only, not Blender.
"""

import argparse
import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zlib

import numpy as np

try:
    import bpy
    from bpy.app.handlers import persistent
except ImportError:  # only the readers are of use then
    bpy = None

    def persistent(function):
        return function


bl_info = {
    "name": "Flotsam", "author": "Flotsam", "version": (0, 1, 0), "blender": (3, 4, 0), "category": "Import-Export",
    "location": "File > Import > Flotsam run (.pvd)", "description": "Shows runs of Flotsam: water, bodies, cloth",
}

FOLDER_KEY = "flotsam_folder"  # custom properties of objects that show a run
SHOWS_KEY = "flotsam_shows"  # "particles", "surface" or "soft"
BOUNDARY_KEY = "flotsam_boundary"
BODY_KEY = "flotsam_body"  # of a cloth or an elastic body: its number in the run
FRAMES_KEY = "flotsam_frames"  # of the empty: how many frames are known
PROGRAM_KEY = "flotsam_program"  # of the empty: the program that makes surfaces
SCRIPT_NAME = "flotsam_import.py"

# ---- VTK's XML files with raw appended data ----

VTK_TYPES = {
    "Float32": "f4", "Float64": "f8", "Int8": "i1", "UInt8": "u1", "Int16": "i2", "UInt16": "u2",
    "Int32": "i4", "UInt32": "u4", "Int64": "i8", "UInt64": "u8",
}


class Damaged(Exception):
    """A file that is not what it should be; the text says which and why."""


class AppendedData:
    """The bytes behind the XML head, and how arrays are packed into them."""

    def __init__(self, path, root, data):
        self.path, self.data = path, data
        self.order = "<" if root.get("byte_order", "LittleEndian") == "LittleEndian" else ">"
        self.head_type = np.dtype(self.order + VTK_TYPES[root.get("header_type", "UInt32")])
        self.is_packed = root.get("compressor") is not None

    def numbers(self, offset, count):
        end = offset + count * self.head_type.itemsize
        if end > len(self.data):
            raise Damaged(f"{self.path}: an array starts behind the end of the file")
        return [int(n) for n in np.frombuffer(self.data[offset:end], self.head_type)]

    def bytes_at(self, offset):
        size = self.head_type.itemsize
        if not self.is_packed:
            (length,) = self.numbers(offset, 1)
            return self.data[offset + size:offset + size + length]
        n_blocks, _, _ = self.numbers(offset, 3)
        at = offset + (3 + n_blocks) * size
        blocks = []
        for length in self.numbers(offset + 3 * size, n_blocks):
            if at + length > len(self.data):
                raise Damaged(f"{self.path}: a block ends behind the end of the file")
            blocks.append(zlib.decompress(self.data[at:at + length]))
            at += length
        return b"".join(blocks)

    def array(self, tag):
        values = np.frombuffer(self.bytes_at(int(tag.get("offset"))), self.order + VTK_TYPES[tag.get("type")])
        components = int(tag.get("NumberOfComponents", "1"))
        return values.reshape(-1, components) if components > 1 else values


def read_polygons(data, piece):
    """Triangles (m x 3) of a surface, or its lines (m x 2) in two dimensions."""
    for name, sides in (("Polys", 3), ("Lines", 2)):
        tags = {tag.get("Name"): tag for tag in piece.findall(f"{name}/DataArray")}
        corners = data.array(tags["connectivity"]) if "connectivity" in tags else ()
        if len(corners):
            return np.asarray(corners, np.int64).reshape(-1, sides)
    return np.empty((0, 3), np.int64)


def read_vtp(path):
    """Reads one frame: a dictionary with time, points (n x 3), polygons and arrays of the points by name."""
    with open(path, "rb") as stream:
        content = stream.read()
    mark = content.find(b"<AppendedData")
    start = content.find(b"_", content.find(b">", mark))
    if mark < 0 or start < 0:
        raise Damaged(f"{path}: there is no appended data")
    try:
        root = ElementTree.fromstring(content[:start] + b"</AppendedData></VTKFile>")
        data = AppendedData(path, root, content[start + 1:])
        piece = root.find("PolyData/Piece")
        count = int(piece.get("NumberOfPoints"))
        points = data.array(piece.find("Points/DataArray"))
        arrays = {tag.get("Name"): data.array(tag) for tag in piece.findall("PointData/DataArray")}
        polygons = read_polygons(data, piece)
        times = [data.array(t) for t in root.findall("PolyData/FieldData/DataArray") if t.get("Name") == "TimeValue"]
    except (ElementTree.ParseError, AttributeError, KeyError, TypeError, ValueError, zlib.error) as error:
        raise Damaged(f"{path}: damaged: {error}") from error
    if len(points) != count or any(len(values) != count for values in arrays.values()):
        raise Damaged(f"{path}: damaged: an array has not one entry per particle")
    time = float(times[0][0]) if times else math.nan
    return {"time": time, "points": points, "polygons": polygons, "arrays": arrays}


# ---- PLY ----

PLY_TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
    "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
    "float32": "f4", "float64": "f8",
}


def read_ply_head(path, content):
    """The comments, and for each element its name, count and properties (name, type, type of its length or None)."""
    end = content.find(b"end_header\n")
    if not content.startswith(b"ply\n") or end < 0:
        raise Damaged(f"{path}: is no PLY file")
    comments, elements = [], []
    for line in content[:end].decode("utf-8", "replace").splitlines()[1:]:
        words = line.split()
        if words[0] == "format" and words[1] != "binary_little_endian":
            raise Damaged(f"{path}: only binary little-endian PLY files are read, not {words[1]}")
        if words[0] == "comment":
            comments.append(line[len("comment "):])
        elif words[0] == "element":
            elements.append((words[1], int(words[2]), []))
        elif words[0] == "property" and words[1] == "list":
            elements[-1][2].append((words[4], PLY_TYPES[words[3]], PLY_TYPES[words[2]]))
        elif words[0] == "property":
            elements[-1][2].append((words[2], PLY_TYPES[words[1]], None))
    return comments, elements, end + len(b"end_header\n")


def read_ply(path):
    """Reads vertices (a structured array) and triangles (m x 3) of a file that Flotsam wrote, and its comments."""
    with open(path, "rb") as stream:
        content = stream.read()
    comments, elements, at = read_ply_head(path, content)
    result = {"comments": comments, "vertices": np.empty(0), "triangles": np.empty((0, 3), "<i4")}
    for name, count, properties in elements:
        # Every list has three entries: the file is then a table, too.
        fields = []
        for field, kind, length_kind in properties:
            if length_kind:
                fields += [("length", "<" + length_kind), (field, "<" + kind, 3)]
            else:
                fields.append((field, "<" + kind))
        table = np.dtype(fields)
        if at + count * table.itemsize > len(content):
            raise Damaged(f"{path}: is cut off")
        rows = np.frombuffer(content, table, count, at)
        at += count * table.itemsize
        if name == "vertex":
            result["vertices"] = rows
        elif name == "face":
            if count and np.any(rows["length"] != 3):
                raise Damaged(f"{path}: has faces that are no triangles")
            result["triangles"] = rows[properties[-1][0]].reshape(-1, 3)
    return result


def body_of_mesh(comments):
    """The name of the body whose triangles a file holds."""
    for comment in comments:
        if comment.startswith("body "):
            return comment[len("body "):]
    return None


# ---- Bodies over time ----


def without_jumps(rotations):
    """Quaternions q and -q are the same rotation; blending between them must go the short way."""
    flips = np.ones(len(rotations))
    if len(rotations) > 1:
        dots = np.sum(rotations[1:] * rotations[:-1], axis=1)
        flips[1:] = np.cumprod(np.where(dots < 0, -1.0, 1.0))
    return rotations * flips[:, None]


def read_bodies(path):
    """Reads bodies.csv: by body, frames (n), times (n), locations (n x 3) and rotations (n x 4, scalar first)."""
    columns = ("frame", "time", "x", "y", "z", "qw", "qx", "qy", "qz")
    rows = {}
    with open(path, newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if any(row.get(name) in (None, "") for name in columns):
                continue  # the last line of a run that was killed
            rows.setdefault(row["body"], []).append([float(row[name]) for name in columns])
    bodies = {}
    for name, values in rows.items():
        table = np.array(values)
        bodies[name] = {
            "frames": table[:, 0].astype(int),
            "times": table[:, 1],
            "locations": table[:, 2:5],
            "rotations": without_jumps(table[:, 5:9]),
        }
    return bodies


# ---- Run folders ----

# Turns the up axis to z; scalar first.
HALF = math.sqrt(0.5)
UP_ROTATIONS = {"z": (1.0, 0.0, 0.0, 0.0), "y": (HALF, HALF, 0.0, 0.0), "x": (0.5, -0.5, -0.5, -0.5)}


def read_json(path):
    try:
        with open(path, encoding="utf-8") as stream:
            return json.load(stream)
    except (OSError, ValueError):
        return {}


class Run:
    """The folder of a run: what is in it, and its frames."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.frames = self.find_frames()
        if not self.frames:
            raise Damaged(f"{folder}: is not the folder of a run")
        scene = read_json(os.path.join(self.folder, "scene.json"))
        summary = read_json(os.path.join(self.folder, "summary.json"))
        self.title = scene.get("title") or os.path.basename(self.folder)
        self.up = scene.get("up", "z")
        self.scene = scene
        solids = [body for key in ("boundaries", "bodies") for body in scene.get(key, []) if isinstance(body, dict)]
        self.solids = {body.get("name"): body for body in solids}
        self.looks = {name: str(body.get("look", "")) for name, body in self.solids.items()}
        self.tanks = {
            body.get("name") for body in scene.get("boundaries", [])
            if isinstance(body, dict) and isinstance(body.get("shape"), dict) and "tank" in body["shape"]
        }
        self.spacing = float(scene.get("spacing", 0.02))
        self.frames_per_second = float(scene.get("frames_per_second", 24))
        self.top_speed = float(summary.get("measurements", summary.get("figures", {})).get("max_speed.max") or 1.0)

    def find_frames(self):
        if not os.path.isdir(self.folder):
            return []
        names = (re.fullmatch(r"particles_(\d+)\.vtp", name) for name in os.listdir(self.folder))
        return sorted(int(match.group(1)) for match in names if match)

    def frame_path(self, frame):
        return os.path.join(self.folder, f"particles_{frame:04d}.vtp")

    def nearest_frame(self, frame):
        """The frame itself, or before the first and behind the last one the nearest."""
        return max((f for f in self.frames if f <= frame), default=self.frames[0])

    def read_frame(self, frame, has_boundary=True):
        data = read_vtp(self.frame_path(frame))
        if not has_boundary and "type" in data["arrays"]:
            is_fluid = data["arrays"]["type"] == 0
            data["points"] = data["points"][is_fluid]
            data["arrays"] = {name: values[is_fluid] for name, values in data["arrays"].items()}
        return data

    def times(self):
        """Times by frame, from run.pvd."""
        path = os.path.join(self.folder, "run.pvd")
        if not os.path.exists(path):
            return {}
        tags = ElementTree.parse(path).getroot().iter("DataSet")
        found = ((re.search(r"(\d+)\.vtp$", tag.get("file")), float(tag.get("timestep"))) for tag in tags)
        return {int(match.group(1)): time for match, time in found if match}

    def soft_path(self, frame):
        return os.path.join(self.folder, f"soft_{frame:04d}.vtp")

    def surface_path(self, frame):
        return os.path.join(self.folder, "surface", f"surface_{frame:06d}.ply")

    def has_surface(self):
        """Whether the run has fluid in three dimensions: its particles have been there, or will come from an emitter."""
        scene = self.scene
        has_fluid = any(scene.get(key) for key in ("fluids", "fills", "particles", "emitters", "events"))
        return scene.get("dimension", 3) == 3 and has_fluid

    def read_surface(self, frame):
        """The fluid's surface at a frame, made by `flotsam surface` if it is missing or older than the frame."""
        path = self.surface_path(frame)
        is_there = os.path.exists(path) and os.path.getmtime(path) >= os.path.getmtime(self.frame_path(frame))
        if not is_there:
            make_surface(self.folder, frame)
        return read_ply(path)

    def density(self, body):
        """Of a body's material; None if it has none."""
        material = body.get("material")
        if isinstance(material, str):
            material = self.scene.get("materials", {}).get(material)
        return material.get("density") if isinstance(material, dict) else None

    def fluid_colour(self):
        """Of the first fluid that the scene gives a colour."""
        colours = (m.get("colour") for m in self.scene.get("materials", {}).values() if isinstance(m, dict))
        return next((colour for colour in colours if colour), None)

    def bodies(self):
        path = os.path.join(self.folder, "bodies.csv")
        return read_bodies(path) if os.path.exists(path) else {}

    def meshes(self):
        """Triangles by the name of their body."""
        names = sorted(n for n in os.listdir(self.folder) if n.startswith("body_") and n.endswith(".ply"))
        meshes = (read_ply(os.path.join(self.folder, name)) for name in names)
        return {body_of_mesh(mesh["comments"]): mesh for mesh in meshes}


# ---- Surfaces that are missing ----


kept_programs = []  # that objects of an opened file name


def find_program():
    """The program flotsam: named by FLOTSAM_PROGRAM, beside this file in a package or a build, or in the path."""
    here = os.path.dirname(os.path.abspath(globals().get("__file__", ".")))
    near = (os.path.join(here, *way) for way in (("bin",), ("..", "build", "bin"), ("..", "..", "bin")))
    known = [os.environ.get("FLOTSAM_PROGRAM"), *(os.path.join(folder, "flotsam") for folder in near), *kept_programs]
    return next((path for path in known if path and os.access(path, os.X_OK)), shutil.which("flotsam"))


def make_surface(folder, frame):
    program = find_program()
    if program is None:
        raise Damaged(f"{folder}: has no surface at frame {frame}, and the program flotsam was not found; make it with: "
                      f"flotsam surface '{folder}'")
    done = subprocess.run([program, "surface", folder, "--frames", str(frame), "--quiet"], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Damaged(done.stderr.strip() or f"{folder}: no surface could be made")


# ---- Where everything is ----


def rotate(quaternion, points):
    """Turns points (n x 3) by a unit quaternion, the scalar first."""
    w, u = quaternion[0], np.asarray(quaternion[1:], float)
    points = np.asarray(points, float)
    return points + 2 * np.cross(u, np.cross(u, points) + w * points)


def box_corners(low, high):
    return np.array([[(low, high)[k >> axis & 1][axis] for axis in range(3)] for k in range(8)])


def bulk_corners(points):
    """Corners of the box around a frame's particles, but for a few that have flown off."""
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) == 0:
        return np.empty((0, 3))
    return box_corners(np.percentile(points, 0.5, axis=0), np.percentile(points, 99.5, axis=0))


def body_corners(poses, mesh):
    """Corners of a body's box at its first, middle and last pose."""
    vertices = np.column_stack([mesh["vertices"][axis] for axis in "xyz"]).astype(float)
    if len(vertices) == 0:
        return np.empty((0, 3))
    box = box_corners(vertices.min(axis=0), vertices.max(axis=0))
    n = len(poses["frames"])
    return np.vstack([rotate(poses["rotations"][k], box) + poses["locations"][k] for k in (0, n // 2, n - 1)])


def find_extent(run):
    """Points that a camera should hold, the run's up axis turned to z."""
    poses, corners = run.bodies(), []
    for name, mesh in run.meshes().items():
        if name in poses:
            corners.append(body_corners(poses[name], mesh))
    for frame in (run.frames[0], run.frames[len(run.frames) // 2], run.frames[-1]):
        try:
            corners.append(bulk_corners(run.read_frame(frame, has_boundary=False)["points"]))
        except (Damaged, OSError):
            pass  # the others will do
    points = np.vstack([c for c in corners if len(c)] or [box_corners(np.zeros(3), np.ones(3))])
    return rotate(UP_ROTATIONS[run.up], points)


AZIMUTH, ELEVATION, LENS_ANGLE, MARGIN = 27.0, 23.0, 35.0, 1.08  # degrees; share of the picture's half size


def view_axes(points):
    """Right, up and forward of a view from above and aside, the longer side of the scene across the picture."""
    size = np.ptp(points, axis=0)
    side = np.array([1.0, 0.0, 0.0]) if size[1] <= 1.2 * size[0] else np.array([0.0, 1.0, 0.0])
    top = np.array([0.0, 0.0, 1.0])
    front = np.cross(side, top)
    a, e = math.radians(AZIMUTH), math.radians(ELEVATION)
    back = math.cos(e) * (math.cos(a) * front + math.sin(a) * side) + math.sin(e) * top
    right = np.cross(top, back)
    right /= np.linalg.norm(right)
    return right, np.cross(back, right), -back


def fit_camera(points, aspect):
    """Where a camera stands that just holds the points, its axes, and the tangents of its half angles."""
    right, up, forward = view_axes(points)
    wide = math.tan(math.radians(0.5 * LENS_ANGLE))
    x, y, z = points @ right, points @ up, points @ forward
    # A point is in sight of an eye (e, d) if |x - e| <= t (z - d); so e lies between the two maxima below.
    depth, place = math.inf, []
    for across, tangent in ((x, wide / MARGIN), (y, wide / aspect / MARGIN)):
        depth = min(depth, -(np.max(across - tangent * z) + np.max(-across - tangent * z)) / (2 * tangent))
    for across, tangent in ((x, wide / MARGIN), (y, wide / aspect / MARGIN)):
        place.append(0.5 * (np.max(across - tangent * z) - np.max(-across - tangent * z)))
    return place[0] * right + place[1] * up + depth * forward, (right, up, -forward), wide


# ---- Particles in Blender ----


def attribute_of(values):
    """How Blender stores an array: type, name of the member, and values to set it with."""
    if values.ndim == 2:
        return "FLOAT_VECTOR", "vector", values.astype(np.float32)
    if values.dtype.kind == "f":
        return "FLOAT", "value", values.astype(np.float32)
    return "INT", "value", values.astype(np.int64).astype(np.int32)


def set_attribute(mesh, name, values):
    kind, member, data = attribute_of(values)
    attribute = mesh.attributes.get(name)
    if attribute is not None and (attribute.data_type != kind or attribute.domain != "POINT"):
        mesh.attributes.remove(attribute)
        attribute = None
    if attribute is None:
        attribute = mesh.attributes.new(name=name, type=kind, domain="POINT")
    if len(values):
        attribute.data.foreach_set(member, np.ascontiguousarray(data).ravel())


def with_speed(arrays):
    """The arrays of a frame and the speed: shaders read a number more reliably than a velocity, which Cycles takes for
    motion blur."""
    velocity = arrays.get("velocity")
    if velocity is None or "speed" in arrays:
        return arrays
    return {**arrays, "speed": np.linalg.norm(velocity, axis=1).astype(np.float32)}


def fill_particles(mesh, data):
    points = data["points"]
    if len(mesh.vertices) != len(points):
        mesh.clear_geometry()
        mesh.vertices.add(len(points))
    if len(points):
        mesh.vertices.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
    for name, values in with_speed(data["arrays"]).items():
        set_attribute(mesh, name, values)
    mesh.update()


def set_faces(mesh, triangles):
    mesh.loops.add(3 * len(triangles))
    mesh.loops.foreach_set("vertex_index", np.ascontiguousarray(triangles, np.int32).ravel())
    mesh.polygons.add(len(triangles))
    mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * len(triangles), 3, dtype=np.int32))
    try:
        mesh.polygons.foreach_set("loop_total", np.full(len(triangles), 3, dtype=np.int32))
    except (AttributeError, RuntimeError, TypeError):
        pass  # later versions find it by themselves


def fill_surface(mesh, points, triangles, arrays, is_smooth=True):
    """Replaces all of a mesh."""
    mesh.clear_geometry()
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
    set_faces(mesh, triangles)
    if is_smooth:
        mesh.polygons.foreach_set("use_smooth", np.ones(len(triangles), bool))
    for name, values in arrays.items():
        set_attribute(mesh, name, values)
    mesh.update(calc_edges=True)


def columns(vertices, names):
    return np.column_stack([vertices[name] for name in names])


def show_water(item, run, frame):
    data = run.read_surface(frame)
    vertices = data["vertices"]
    arrays = with_speed({"velocity": columns(vertices, ("vx", "vy", "vz"))})
    fill_surface(item.data, columns(vertices, "xyz"), data["triangles"], arrays)


def part_of(data, body):
    """Vertices, triangles and arrays of one body of a soft_NNNN.vtp."""
    is_in = data["arrays"]["body"] == body
    places = np.cumsum(is_in) - 1
    triangles = data["polygons"]
    if triangles.shape[1] != 3:
        triangles = np.empty((0, 3), np.int64)  # lines, in two dimensions
    mine = is_in[triangles[:, 0]] if len(triangles) else np.zeros(0, bool)
    arrays = {name: values[is_in] for name, values in data["arrays"].items() if name in ("rest", "stretch")}
    return data["points"][is_in], places[triangles[mine]], arrays


def show_soft(item, run, frame):
    points, triangles, arrays = part_of(read_vtp(run.soft_path(frame)), item[BODY_KEY])
    fill_surface(item.data, points, triangles, arrays)


def show_particles(item, run, frame):
    fill_particles(item.data, run.read_frame(frame, bool(item.get(BOUNDARY_KEY))))


SHOWS = {"particles": show_particles, "surface": show_water, "soft": show_soft}


def show_frame(item, run, frame):
    SHOWS[item.get(SHOWS_KEY, "particles")](item, run, run.nearest_frame(frame))


def follow_growth(scene, root, run):
    """A run that is still going on: the scene's end and the keyframes of bodies follow it."""
    if root.get(FRAMES_KEY) == len(run.frames):
        return
    root[FRAMES_KEY] = len(run.frames)
    scene.frame_end = max(scene.frame_end, run.frames[-1])
    poses = run.bodies()
    for item in scene.objects:
        if item.parent == root and item.name in poses and SHOWS_KEY not in item:
            place_body(item, poses[item.name])


@persistent
def on_frame_change(scene, depsgraph=None):
    runs = {}
    for item in scene.objects:
        if FOLDER_KEY not in item:
            continue
        try:
            folder = item[FOLDER_KEY]
            runs[folder] = runs.get(folder) or Run(folder)
            if FRAMES_KEY in item:
                kept_programs[:] = [item.get(PROGRAM_KEY, "")]
                follow_growth(scene, item, runs[folder])
            else:
                show_frame(item, runs[folder], scene.frame_current)
        except (Damaged, OSError) as error:  # a frame that is missing must not stop an animation
            print(f"flotsam: {error}", file=sys.stderr)


def add_geometry_sockets(group):
    if hasattr(group, "interface"):  # Blender 4
        group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
        group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    else:
        group.inputs.new("NodeSocketGeometry", "Geometry")
        group.outputs.new("NodeSocketGeometry", "Geometry")


def add_point_modifier(item, radius, material):
    """Vertices become points with a radius and a material: a mesh of vertices alone would not be rendered."""
    group = bpy.data.node_groups.new("flotsam points", "GeometryNodeTree")
    add_geometry_sockets(group)
    start, end = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    points = group.nodes.new("GeometryNodeMeshToPoints")
    points.inputs["Radius"].default_value = radius
    paint = group.nodes.new("GeometryNodeSetMaterial")
    paint.inputs["Material"].default_value = material
    group.links.new(start.outputs[0], points.inputs["Mesh"])
    group.links.new(points.outputs["Points"], paint.inputs["Geometry"])
    group.links.new(paint.outputs["Geometry"], end.inputs[0])
    item.modifiers.new("points", "NODES").node_group = group


def add_shown(run, collection, root, name, shows, material=None):
    """An object whose mesh follows the frame."""
    item = bpy.data.objects.new(name, bpy.data.meshes.new(name))
    collection.objects.link(item)
    item.parent = root
    item[FOLDER_KEY], item[SHOWS_KEY] = run.folder, shows
    if material is not None:
        item.data.materials.append(material)
    return item


def add_particles(run, collection, root, has_boundary, radius):
    item = add_shown(run, collection, root, "particles", "particles")
    item[BOUNDARY_KEY] = int(has_boundary)
    add_point_modifier(item, radius, make_speed_material(run))
    show_frame(item, run, run.frames[0])


def add_water(run, collection, root, points):
    item = add_shown(run, collection, root, "water", "surface", make_water(run, points))
    show_frame(item, run, run.frames[0])


def add_fluid(run, collection, root, points, options):
    """Water; or particles, if these are asked for or there is no surface."""
    if run.has_surface() and not options["particles"]:
        try:
            return add_water(run, collection, root, points)
        except (Damaged, OSError) as error:
            print(f"flotsam: {error}; particles are shown instead", file=sys.stderr)
            bpy.data.objects.remove(bpy.data.objects["water"], do_unlink=True)
    return add_particles(run, collection, root, options["boundary"], options["radius"] or 0.5 * run.spacing)


def add_soft(run, collection, root):
    """Cloth and elastic bodies, of runs in three dimensions."""
    path = run.soft_path(run.frames[0])
    if not os.path.exists(path) or run.scene.get("dimension", 3) != 3:
        return
    data, names = read_vtp(path), list(run.bodies())
    for body in np.unique(data["arrays"]["body"]):
        name = names[int(body)]
        _, _, arrays = part_of(data, body)
        item = add_shown(run, collection, root, name, "soft", make_soft_material(run, name, arrays["rest"]))
        item[BODY_KEY] = int(body)
        show_frame(item, run, run.frames[0])


# ---- Materials ----


def new_material(name):
    """A material with nodes; its principled shader, and functions to add and to link nodes."""
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    tree = material.node_tree
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    return material, shader, tree.nodes.new, tree.links.new


def set_input(shader, value, *names):
    """Inputs have other names in later versions."""
    for name in names:
        if name in shader.inputs:
            shader.inputs[name].default_value = value
            return


def make_speed_material(run):
    """Particles are the whiter the faster they are."""
    material, shader, new, link = new_material("flotsam particles")
    attribute, scale, ramp = new("ShaderNodeAttribute"), new("ShaderNodeMapRange"), new("ShaderNodeValToRGB")
    attribute.attribute_name = "speed"
    scale.inputs["From Max"].default_value = run.top_speed
    ramp.color_ramp.elements[0].color = (0.01, 0.08, 0.35, 1.0)
    ramp.color_ramp.elements[1].color = (0.85, 0.93, 1.0, 1.0)
    link(attribute.outputs["Fac"], scale.inputs["Value"])
    link(scale.outputs["Result"], ramp.inputs["Fac"])
    link(ramp.outputs["Color"], shader.inputs["Base Color"])
    return material


WATER_TINT = (0.09, 0.47, 0.66)  # of white light, after a long way through the water


def absorption(tint, way):
    """Density and colour of a volume that leaves the tint after the way [m] (Beer, Lambert)."""
    rates = [-math.log(min(max(channel, 0.002), 0.999)) / way for channel in tint]
    density = max(rates)
    return density, tuple(1 - rate / density for rate in rates)


def make_water(run, points):
    """Clear, and tinted with depth. Light on its way to what is below passes straight: no caustics, but no dark floor."""
    material, shader, new, link = new_material("flotsam water")
    set_input(shader, (1, 1, 1, 1), "Base Color")
    set_input(shader, 0.02, "Roughness")
    set_input(shader, 1.333, "IOR")
    set_input(shader, 1.0, "Transmission", "Transmission Weight")
    output = next(node for node in material.node_tree.nodes if node.type == "OUTPUT_MATERIAL")
    mix, path, clear, volume = (new(f"ShaderNode{kind}") for kind in ("MixShader", "LightPath", "BsdfTransparent",
                                                                      "VolumeAbsorption"))
    link(path.outputs["Is Shadow Ray"], mix.inputs[0])
    link(shader.outputs[0], mix.inputs[1])
    link(clear.outputs[0], mix.inputs[2])
    link(mix.outputs[0], output.inputs["Surface"])
    colour = run.fluid_colour()
    tint = colour_of(colour) if colour else WATER_TINT
    density, left = absorption(tint, 0.45 * float(np.linalg.norm(np.ptp(points, axis=0))))
    set_input(volume, (*left, 1.0), "Color")
    set_input(volume, density, "Density")
    link(volume.outputs[0], output.inputs["Volume"])
    material.diffuse_color = (*tint, 0.6)
    if hasattr(material, "use_screen_refraction"):
        material.use_screen_refraction = True
    return material


def make_glass():
    """Hardly there, so that the fluid inside shows, in Cycles, in Eevee and in the viewport."""
    material, shader, _, _ = new_material("flotsam glass")
    set_input(shader, (0.75, 0.85, 0.9, 1.0), "Base Color")
    set_input(shader, 0.1, "Roughness")
    set_input(shader, 0.04, "Alpha")
    material.diffuse_color = (0.75, 0.85, 0.9, 0.15)
    if hasattr(material, "blend_method"):
        material.blend_method = "BLEND"
    return material


# Words in a body's look: their colours in Flotsam's own pictures, and what they are made of.
LOOKS = {
    "wood": ((176, 128, 82), "wood"), "oak": ((176, 128, 82), "wood"), "metal": ((168, 174, 182), "metal"),
    "steel": ((168, 174, 182), "metal"), "rubber": ((62, 64, 70), "matt"), "concrete": ((178, 174, 166), "stone"),
    "stone": ((178, 174, 166), "stone"), "red": ((206, 70, 56), "plastic"), "orange": ((236, 140, 52), "plastic"),
    "yellow": ((240, 196, 70), "plastic"), "green": ((92, 160, 92), "plastic"), "white": ((236, 236, 232), "plastic"),
}
MOVERS = (236, 124, 62), (242, 184, 72), (206, 84, 74), (190, 130, 90), (222, 146, 128)
RESTING = 196, 190, 180
FINISHES = {  # metallic, roughness
    "wood": (0.0, 0.55), "metal": (1.0, 0.25), "matt": (0.0, 0.9), "stone": (0.0, 0.85), "plastic": (0.0, 0.35),
}
LIGHTEST_PLASTIC, HEAVIEST_PLASTIC = 800, 2500  # [kg/m3] of bodies without a look


def linear(channel):
    """Light of an sRGB value from 0 to 255."""
    value = channel / 255
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def colour_of(look, otherwise=RESTING):
    """Linear, of a word or of '#3355ff'."""
    if re.fullmatch(r"#[0-9A-Fa-f]{6}", look):
        channels = bytes.fromhex(look[1:])
    else:
        channels = next((colour for word, (colour, _) in LOOKS.items() if word in look), otherwise)
    return tuple(linear(channel) for channel in channels)


def stuff_of(look, density, is_moving):
    """What a body is made of: by its look, else by its density, as in Flotsam's own pictures."""
    for word, (_, stuff) in LOOKS.items():
        if word in look:
            return stuff
    if look or not is_moving or not density:
        return "plastic" if look or is_moving else "matt"
    return "wood" if density < LIGHTEST_PLASTIC else "metal" if density > HEAVIEST_PLASTIC else "plastic"


def add_pattern(shader, colour, stuff, size, new, link):
    """Rings of wood, spots of stone; both move with the body."""
    place = new("ShaderNodeTexCoord")
    texture = new("ShaderNodeTexWave" if stuff == "wood" else "ShaderNodeTexNoise")
    ramp = new("ShaderNodeValToRGB")
    set_input(texture, (4 if stuff == "wood" else 12) / size, "Scale")
    set_input(texture, 3.0, "Distortion")
    if stuff == "wood":
        texture.wave_type = "RINGS"
    dark = 0.55 if stuff == "wood" else 0.72
    ramp.color_ramp.elements[0].color = (*(dark * channel for channel in colour), 1.0)
    ramp.color_ramp.elements[1].color = (*colour, 1.0)
    link(place.outputs["Object"], texture.inputs["Vector"])
    link(texture.outputs["Fac"], ramp.inputs["Fac"])
    link(ramp.outputs["Color"], shader.inputs["Base Color"])


def make_solid(name, look, density, is_moving, number, size):
    stuff = stuff_of(look, density, is_moving)
    otherwise = LOOKS[stuff][0] if not look and stuff in LOOKS else MOVERS[number % len(MOVERS)] if is_moving else RESTING
    colour = colour_of(look, otherwise)
    material, shader, new, link = new_material(f"flotsam {name}")
    metallic, roughness = FINISHES[stuff]
    set_input(shader, (*colour, 1.0), "Base Color")
    set_input(shader, metallic, "Metallic")
    set_input(shader, roughness, "Roughness")
    if stuff in ("wood", "stone"):
        add_pattern(shader, colour, stuff, size, new, link)
    material.diffuse_color = (*colour, 1.0)
    return material


CHECKS = 16  # along the longest side of a cloth


def make_soft_material(run, name, rest):
    """Cloth has checks that are fixed to it, so that they show where it is stretched; elastic bodies are smooth."""
    body, look = run.solids.get(name, {}), run.looks.get(name, "")
    size = float(np.ptp(rest, axis=0).max()) or 1.0
    is_cloth = "cloth" in body
    if look != "checked" and not (is_cloth and not look):
        return make_solid(name, look, None, True, list(run.solids).index(name) if name in run.solids else 0, size)
    material, shader, new, link = new_material(f"flotsam {name}")
    attribute, checks = new("ShaderNodeAttribute"), new("ShaderNodeTexChecker")
    attribute.attribute_name = "rest"
    colour = colour_of("", MOVERS[0])
    set_input(checks, (*colour, 1.0), "Color1")
    set_input(checks, (*(0.45 * channel for channel in colour), 1.0), "Color2")
    set_input(checks, CHECKS / size, "Scale")
    link(attribute.outputs["Vector"], checks.inputs["Vector"])
    link(checks.outputs["Color"], shader.inputs["Base Color"])
    set_input(shader, 0.8, "Roughness")
    material.diffuse_color = (*colour, 1.0)
    return material


# ---- Bodies in Blender ----


def make_body_mesh(name, data):
    vertices, triangles = data["vertices"], data["triangles"]
    mesh = bpy.data.meshes.new(name)
    fill_surface(mesh, columns(vertices, "xyz"), triangles, {}, is_smooth=False)
    mesh.validate()
    if hasattr(mesh, "use_auto_smooth"):  # round where the angle between faces is small
        mesh.use_auto_smooth, mesh.auto_smooth_angle = True, math.radians(30)
        mesh.polygons.foreach_set("use_smooth", np.ones(len(mesh.polygons), bool))
    return mesh


def add_curves(action, path, frames, values):
    linear = bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items["LINEAR"].value
    for index in range(values.shape[1]):
        curve = action.fcurves.new(data_path=path, index=index)
        curve.keyframe_points.add(len(frames))
        curve.keyframe_points.foreach_set("co", np.column_stack([frames, values[:, index]]).ravel())
        curve.keyframe_points.foreach_set("interpolation", [linear] * len(frames))
        curve.update()


def place_body(item, poses):
    """Where it is at the start; and keyframes for all that moves."""
    item.rotation_mode = "QUATERNION"
    item.location = poses["locations"][0]
    item.rotation_quaternion = poses["rotations"][0]
    if np.ptp(poses["locations"], axis=0).max() == 0 and np.ptp(poses["rotations"], axis=0).max() == 0:
        return
    action = bpy.data.actions.new(item.name)
    item.animation_data_create().action = action
    add_curves(action, "location", poses["frames"], poses["locations"])
    add_curves(action, "rotation_quaternion", poses["frames"], poses["rotations"])


def add_body(run, collection, root, name, data, poses, materials):
    """A tank or a body of glass shares one material; every other body has one of its own."""
    body, look = run.solids.get(name, {}), run.looks.get(name, "")
    is_clear = name in run.tanks or look in ("glass", "outline")
    if is_clear:
        material = materials["glass"] = materials.get("glass") or make_glass()
    else:
        size = float(np.ptp(columns(data["vertices"], "xyz"), axis=0).max()) or 1.0
        is_moving = body in run.scene.get("bodies", [])
        material = make_solid(name, look, run.density(body), is_moving, len(collection.objects), size)
    item = bpy.data.objects.new(name, make_body_mesh(name, data))
    collection.objects.link(item)
    item.parent = root
    item.data.materials.append(material)
    if name in run.tanks:
        item.display_type = "WIRE"
    place_body(item, poses)


def add_bodies(run, collection, root):
    poses, materials = run.bodies(), {}
    for name, data in run.meshes().items():
        if name in poses and run.looks.get(name) not in ("hidden", "samples"):
            add_body(run, collection, root, name, data, poses[name], materials)


# ---- Scenes in Blender ----


def set_time(scene, run):
    """Blender's rate is a whole number over a divisor."""
    rate = max(1, round(run.frames_per_second))
    scene.render.fps = rate
    scene.render.fps_base = rate / run.frames_per_second
    scene.frame_start, scene.frame_end = run.frames[0], run.frames[-1]


def set_units(scene):
    scene.unit_settings.system = "METRIC"
    scene.unit_settings.scale_length = 1.0
    scene.unit_settings.length_unit = "METERS"


def find_object(scene, kind):
    return next((item for item in scene.objects if getattr(item, "type", None) == kind), None)


def scene_camera(run):
    """Place, axes (right, up, back) and vertical angle of the scene's camera, up being z; None if it has none."""
    given = run.scene.get("camera")
    if not given or run.scene.get("dimension", 3) != 3:
        return None
    place, target = (rotate(UP_ROTATIONS[run.up], [given[key]])[0] for key in ("from", "look_at"))
    back = (place - target) / np.linalg.norm(place - target)
    right = np.cross([0.0, 0.0, 1.0], back)
    if np.linalg.norm(right) < 1e-6:  # it looks straight down
        right = np.array([1.0, 0.0, 0.0])
    right /= np.linalg.norm(right)
    return place, (right, np.cross(back, right), back), math.radians(given.get("field_of_view", 40))


def add_camera(scene, collection, points, run):
    """The scene's camera, or one that holds all that the run does."""
    aspect = scene.render.resolution_x / scene.render.resolution_y
    camera = bpy.data.cameras.new("flotsam camera")
    given = scene_camera(run)
    if given:
        place, axes, angle = given
        camera.sensor_fit = "VERTICAL"
        camera.sensor_height = 24.0
        camera.lens = 12.0 / math.tan(0.5 * angle)
    else:
        place, axes, wide = fit_camera(points, aspect)
        camera.sensor_fit = "HORIZONTAL"
        camera.angle = 2 * math.atan(wide)
    distance = float(np.linalg.norm(points - place, axis=1).max())
    camera.clip_start, camera.clip_end = 1e-3 * distance, 10 * distance
    item = bpy.data.objects.new("flotsam camera", camera)
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = np.column_stack(axes), place
    item.matrix_world = to_matrix(matrix)
    collection.objects.link(item)
    scene.camera = item


def to_matrix(values):
    from mathutils import Matrix

    return Matrix([[float(v) for v in row] for row in values])


def add_light(scene, collection, points):
    """A sun over the viewer's left shoulder, and a bright sky."""
    right, up, forward = view_axes(points)
    towards = 0.95 * np.array([0.0, 0.0, 1.0]) - 0.55 * right - 0.45 * forward
    towards /= np.linalg.norm(towards)
    across = np.cross([0.0, 0.0, 1.0], towards)
    across /= np.linalg.norm(across)
    matrix = np.eye(4)
    matrix[:3, :3] = np.column_stack([across, np.cross(towards, across), towards])  # a sun shines along -z
    matrix[:3, 3] = points.mean(axis=0) + 2 * np.ptp(points, axis=0).max() * towards
    light = bpy.data.lights.new("flotsam sun", "SUN")
    light.energy, light.angle = 2.2, math.radians(5)
    item = bpy.data.objects.new("flotsam sun", light)
    item.matrix_world = to_matrix(matrix)
    collection.objects.link(item)
    world = scene.world or bpy.data.worlds.new("flotsam sky")
    scene.world = world
    world.use_nodes = True
    for node in world.node_tree.nodes:
        if node.type == "BACKGROUND":
            node.inputs["Color"].default_value = (0.80, 0.85, 0.90, 1.0)
            node.inputs["Strength"].default_value = 0.6


def add_ground(collection, points):
    """A pale floor below everything, for shadows."""
    low, size = float(points[:, 2].min()), 20 * float(np.ptp(points, axis=0).max())
    middle = points.mean(axis=0)
    corners = np.array([[middle[0] + x * size, middle[1] + y * size, low - 1e-3 * size / 20]
                        for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    mesh = bpy.data.meshes.new("flotsam ground")
    fill_surface(mesh, corners, np.array([[0, 1, 2], [0, 2, 3]]), {}, is_smooth=False)
    material, shader, _, _ = new_material("flotsam ground")
    set_input(shader, (0.6, 0.62, 0.64, 1.0), "Base Color")
    set_input(shader, 0.9, "Roughness")
    mesh.materials.append(material)
    collection.objects.link(bpy.data.objects.new("flotsam ground", mesh))


def add_stage(scene, collection, run, points):
    """What is missing to make pictures; a camera and lights that are there stay."""
    if find_object(scene, "LIGHT") is None:
        add_light(scene, collection, points)
        add_ground(collection, points)
    if find_object(scene, "CAMERA") is None:
        add_camera(scene, collection, points, run)


def set_renderer(scene):
    """Only Cycles draws points as spheres. Builds without a denoiser, such as Debian's, would refuse to draw with it."""
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 64
    scene.cycles.use_denoising = False
    scene.view_settings.view_transform = "Standard"  # colours as they were chosen


def clear_default_scene():
    """Removes what Blender starts with, from a file that nobody has saved."""
    if bpy.data.filepath:
        return
    for name in ("Cube", "Light", "Camera"):
        item = bpy.data.objects.get(name)
        if item is not None:
            bpy.data.objects.remove(item, do_unlink=True)


def keep_script():
    """Takes this script along in the file: it runs, and registers the handler, when the file is opened."""
    path = globals().get("__file__", "")
    if not os.path.isfile(path):
        return
    text = bpy.data.texts.get(SCRIPT_NAME) or bpy.data.texts.new(SCRIPT_NAME)
    text.clear()
    with open(path, encoding="utf-8") as stream:
        text.write(stream.read())
    text.use_module = True


def import_run(folder, particles=False, boundary=False, radius=None):
    """Adds a run to the current scene and returns the empty that everything hangs on."""
    run = Run(folder)
    scene = bpy.context.scene
    points = find_extent(run)
    set_units(scene)
    set_time(scene, run)
    collection = bpy.data.collections.new(run.title)
    scene.collection.children.link(collection)
    root = bpy.data.objects.new("flotsam", None)
    collection.objects.link(root)
    root.rotation_mode = "QUATERNION"
    root.rotation_quaternion = UP_ROTATIONS[run.up]
    root[FOLDER_KEY], root[FRAMES_KEY], root[PROGRAM_KEY] = run.folder, len(run.frames), find_program() or ""
    add_fluid(run, collection, root, points, {"particles": particles or boundary, "boundary": boundary, "radius": radius})
    add_bodies(run, collection, root)
    add_soft(run, collection, root)
    add_stage(scene, collection, run, points)
    keep_script()
    register_handler()
    scene.frame_set(run.frames[0])
    return root


# ---- Menu and handler ----


GROWTH_SECONDS = 2.0


def watch_growth():
    """A timer of windows: looks for new frames of a run that is going on."""
    scene = bpy.context.scene
    for item in scene.objects if scene else ():
        if FRAMES_KEY in item:
            try:
                follow_growth(scene, item, Run(item[FOLDER_KEY]))
            except (Damaged, OSError):
                pass  # the folder is gone, or not there yet
    return GROWTH_SECONDS


def register_handler():
    if not bpy.app.background and not bpy.app.timers.is_registered(watch_growth):
        bpy.app.timers.register(watch_growth, first_interval=GROWTH_SECONDS, persistent=True)
    handlers = bpy.app.handlers.frame_change_pre
    for handler in [h for h in handlers if getattr(h, "__name__", "") == on_frame_change.__name__]:
        handlers.remove(handler)
    handlers.append(on_frame_change)


def make_operator():
    from bpy_extras.io_utils import ImportHelper

    class ImportFlotsamRun(bpy.types.Operator, ImportHelper):
        """Shows a run of Flotsam: water, bodies, cloth"""

        bl_idname = "import_scene.flotsam_run"
        bl_label = "Import Flotsam run"
        bl_options = {"UNDO"}
        filename_ext = ".pvd"
        filter_glob: bpy.props.StringProperty(default="*.pvd", options={"HIDDEN"})
        particles: bpy.props.BoolProperty(name="Particles instead of water", default=False)
        boundary: bpy.props.BoolProperty(name="Particles of solids, too", default=False)

        def execute(self, context):
            try:
                import_run(os.path.dirname(self.filepath), self.particles, self.boundary)
            except (Damaged, OSError) as error:
                self.report({"ERROR"}, str(error))
                return {"CANCELLED"}
            return {"FINISHED"}

    return ImportFlotsamRun


def add_to_menu(self, context):
    self.layout.operator("import_scene.flotsam_run", text="Flotsam run (.pvd)")


def register():
    """Called by Blender for a script that a file brings along, and below."""
    register_handler()
    if not hasattr(bpy.types, "IMPORT_SCENE_OT_flotsam_run"):
        bpy.utils.register_class(make_operator())
        bpy.types.TOPBAR_MT_file_import.append(add_to_menu)


def unregister():
    if bpy.app.timers.is_registered(watch_growth):
        bpy.app.timers.unregister(watch_growth)
    bpy.types.TOPBAR_MT_file_import.remove(add_to_menu)
    bpy.utils.unregister_class(bpy.types.IMPORT_SCENE_OT_flotsam_run)


# ---- Command line ----


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="blender -b -P flotsam_blender.py --", description="Imports a run of Flotsam.")
    parser.add_argument("folder", help="the folder of a run")
    parser.add_argument("--save", metavar="FILE", help="write a .blend file")
    parser.add_argument("--particles", action="store_true", help="show particles instead of the water's surface")
    parser.add_argument("--boundary", action="store_true", help="show particles, also those of solids")
    parser.add_argument("--radius", type=float, help="of the points [m]; half of the run's spacing unless given")
    return parser.parse_args(arguments)


def main():
    if bpy is None:
        sys.exit("flotsam_blender.py: to be run by Blender: blender -b -P flotsam_blender.py -- DIR [--save out.blend]")
    register()
    if "--" not in sys.argv:
        return  # run in the text editor: the menu entry does the rest
    arguments = parse_arguments(sys.argv[sys.argv.index("--") + 1:])
    try:
        Run(arguments.folder)  # before anything is changed
        clear_default_scene()
        import_run(arguments.folder, arguments.particles, arguments.boundary, arguments.radius)
        set_renderer(bpy.context.scene)
    except (Damaged, OSError) as error:
        raise SystemExit(f"flotsam: {error}") from error
    if arguments.save:
        bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath(arguments.save))


if __name__ == "__main__":
    main()
