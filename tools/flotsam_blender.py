#!/usr/bin/env python3
"""Imports a run folder of Flotsam into Blender (3.4 or later).

    blender -b --python-exit-code 1 -P flotsam_blender.py -- DIR [--save out.blend] [--boundary] [--radius R]

Inside Blender: open this file in the text editor and run it; File > Import then has an entry "Flotsam run (.pvd)".

Frame k of the run is frame k of the scene. Particles are one mesh without faces: whenever the frame changes its vertices
are read from particles_NNNN.vtp, with velocity, density, pressure, id, type, material and body as attributes; a modifier
turns them into points, which Cycles draws as spheres. Bodies (body_*.ply) are objects of their own with keyframes from
bodies.csv; tanks are glass, so that what is inside shows. All of them hang on one empty that turns the run's up axis to
Blender's z, so that coordinates and attributes stay those of the run. One unit is one metre. A scene without a camera or
without a light gets one that suits the run.

A saved file keeps this script, so that its particles go on following the frame: allow it to run when the file is opened.

The readers (Run, read_vtp, read_ply, read_bodies) need numpy only, not Blender.
"""

import argparse
import csv
import json
import math
import os
import re
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


FOLDER_KEY = "flotsam_folder"  # custom properties of the particles' object
BOUNDARY_KEY = "flotsam_boundary"
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
        self.looks = {
            body.get("name"): str(body.get("look", "")) for body in scene.get("boundaries", []) if isinstance(body, dict)
        }
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

    def bodies(self):
        path = os.path.join(self.folder, "bodies.csv")
        return read_bodies(path) if os.path.exists(path) else {}

    def meshes(self):
        """Triangles by the name of their body."""
        names = sorted(n for n in os.listdir(self.folder) if n.startswith("body_") and n.endswith(".ply"))
        meshes = (read_ply(os.path.join(self.folder, name)) for name in names)
        return {body_of_mesh(mesh["comments"]): mesh for mesh in meshes}


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


def show_frame(item, frame):
    run = Run(item[FOLDER_KEY])
    fill_particles(item.data, run.read_frame(run.nearest_frame(frame), bool(item.get(BOUNDARY_KEY))))


@persistent
def on_frame_change(scene, depsgraph=None):
    for item in scene.objects:
        if FOLDER_KEY not in item:
            continue
        try:
            show_frame(item, scene.frame_current)
        except (Damaged, OSError) as error:  # a frame that is missing must not stop an animation
            print(f"flotsam: {error}", file=sys.stderr)


def make_material(run):
    """Water that is the whiter the faster it is."""
    material = bpy.data.materials.new("flotsam water")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    attribute = nodes.new("ShaderNodeAttribute")
    attribute.attribute_name = "speed"
    scale = nodes.new("ShaderNodeMapRange")
    scale.inputs["From Max"].default_value = run.top_speed
    ramp = nodes.new("ShaderNodeValToRGB")
    ramp.color_ramp.elements[0].color = (0.01, 0.08, 0.35, 1.0)
    ramp.color_ramp.elements[1].color = (0.85, 0.93, 1.0, 1.0)
    shader = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    links.new(attribute.outputs["Fac"], scale.inputs["Value"])
    links.new(scale.outputs["Result"], ramp.inputs["Fac"])
    links.new(ramp.outputs["Color"], shader.inputs["Base Color"])
    return material


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


def add_particles(run, collection, root, has_boundary, radius):
    mesh = bpy.data.meshes.new("particles")
    item = bpy.data.objects.new("particles", mesh)
    collection.objects.link(item)
    item.parent = root
    item[FOLDER_KEY] = run.folder
    item[BOUNDARY_KEY] = int(has_boundary)
    add_point_modifier(item, radius, make_material(run))
    fill_particles(mesh, run.read_frame(run.frames[0], has_boundary))
    return item


# ---- Bodies in Blender ----


def make_body_mesh(name, data):
    vertices, triangles = data["vertices"], data["triangles"]
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(len(vertices))
    mesh.vertices.foreach_set("co", np.column_stack([vertices[axis] for axis in "xyz"]).astype(np.float32).ravel())
    mesh.loops.add(3 * len(triangles))
    mesh.loops.foreach_set("vertex_index", np.ascontiguousarray(triangles, np.int32).ravel())
    mesh.polygons.add(len(triangles))
    mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * len(triangles), 3, dtype=np.int32))
    mesh.polygons.foreach_set("loop_total", np.full(len(triangles), 3, dtype=np.int32))
    mesh.update(calc_edges=True)
    mesh.validate()
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


def make_glass():
    """Hardly there, so that the fluid inside shows, in Cycles, in Eevee and in the viewport."""
    material = bpy.data.materials.new("flotsam glass")
    material.use_nodes = True
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = (0.75, 0.85, 0.9, 1.0)
    shader.inputs["Roughness"].default_value = 0.1
    shader.inputs["Alpha"].default_value = 0.04
    material.diffuse_color = (0.75, 0.85, 0.9, 0.15)
    if hasattr(material, "blend_method"):
        material.blend_method = "BLEND"
    return material


# Words in a body's look, and their colours in Flotsam's own pictures.
LOOKS = {
    "wood": (176, 128, 82), "oak": (176, 128, 82), "metal": (168, 174, 182), "steel": (168, 174, 182),
    "rubber": (62, 64, 70), "concrete": (178, 174, 166), "stone": (178, 174, 166), "red": (206, 70, 56),
    "orange": (236, 140, 52), "yellow": (240, 196, 70), "green": (92, 160, 92), "white": (236, 236, 232),
}


def linear(channel):
    """Light of an sRGB value from 0 to 255."""
    value = channel / 255
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def colour_of(look):
    colour = next((colour for word, colour in LOOKS.items() if word in look), (196, 190, 180))
    return tuple(linear(channel) for channel in colour)


def make_solid(look):
    name = f"flotsam {look or 'solid'}"
    known = bpy.data.materials.get(name)
    if known is not None:
        return known
    colour = (*colour_of(look), 1.0)
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = colour
    shader.inputs["Roughness"].default_value = 0.7
    material.diffuse_color = colour
    return material


def add_bodies(run, collection, root):
    poses = run.bodies()
    glass = make_glass()
    for name, data in run.meshes().items():
        if name not in poses:
            continue
        item = bpy.data.objects.new(name, make_body_mesh(name, data))
        collection.objects.link(item)
        item.parent = root
        item.data.materials.append(glass if name in run.tanks else make_solid(run.looks.get(name, "")))
        if name in run.tanks:
            item.display_type = "WIRE"
        place_body(item, poses[name])


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


def add_camera(scene, collection, points):
    """A camera that holds all that the run does."""
    render = scene.render
    aspect = render.resolution_x / render.resolution_y
    place, axes, wide = fit_camera(points, aspect)
    camera = bpy.data.cameras.new("flotsam camera")
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
    light.energy, light.angle = 2.5, math.radians(5)
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


def add_stage(scene, collection, run):
    """What is missing to make pictures; a camera and lights that are there stay."""
    points = find_extent(run)
    if find_object(scene, "LIGHT") is None:
        add_light(scene, collection, points)
    if find_object(scene, "CAMERA") is None:
        add_camera(scene, collection, points)


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


def import_run(folder, has_boundary=False, radius=None):
    """Adds a run to the current scene and returns the empty that everything hangs on."""
    run = Run(folder)
    scene = bpy.context.scene
    set_units(scene)
    set_time(scene, run)
    collection = bpy.data.collections.new(run.title)
    scene.collection.children.link(collection)
    root = bpy.data.objects.new("flotsam", None)
    collection.objects.link(root)
    root.rotation_mode = "QUATERNION"
    root.rotation_quaternion = UP_ROTATIONS[run.up]
    add_particles(run, collection, root, has_boundary, radius or 0.5 * run.spacing)
    add_bodies(run, collection, root)
    add_stage(scene, collection, run)
    keep_script()
    register_handler()
    scene.frame_set(run.frames[0])
    return root


# ---- Menu and handler ----


def register_handler():
    handlers = bpy.app.handlers.frame_change_pre
    for handler in [h for h in handlers if getattr(h, "__name__", "") == on_frame_change.__name__]:
        handlers.remove(handler)
    handlers.append(on_frame_change)


def make_operator():
    from bpy_extras.io_utils import ImportHelper

    class ImportFlotsamRun(bpy.types.Operator, ImportHelper):
        """Imports the particles and bodies of a run of Flotsam"""

        bl_idname = "import_scene.flotsam_run"
        bl_label = "Import Flotsam run"
        bl_options = {"UNDO"}
        filename_ext = ".pvd"
        filter_glob: bpy.props.StringProperty(default="*.pvd", options={"HIDDEN"})
        has_boundary: bpy.props.BoolProperty(name="Boundary particles", default=False)

        def execute(self, context):
            try:
                import_run(os.path.dirname(self.filepath), self.has_boundary)
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
    bpy.types.TOPBAR_MT_file_import.remove(add_to_menu)
    bpy.utils.unregister_class(bpy.types.IMPORT_SCENE_OT_flotsam_run)


# ---- Command line ----


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="blender -b -P flotsam_blender.py --", description="Imports a run of Flotsam.")
    parser.add_argument("folder", help="the folder of a run")
    parser.add_argument("--save", metavar="FILE", help="write a .blend file")
    parser.add_argument("--boundary", action="store_true", help="show the samples of solids, too")
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
        import_run(arguments.folder, arguments.boundary, arguments.radius)
        set_renderer(bpy.context.scene)
    except (Damaged, OSError) as error:
        raise SystemExit(f"flotsam: {error}") from error
    if arguments.save:
        bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath(arguments.save))


if __name__ == "__main__":
    main()
