"""Worlds: create one, add things, step, look."""

from __future__ import annotations

import ctypes
import threading
import weakref
from pathlib import Path
from typing import Any, Callable

import numpy as np

from . import _abi
from ._library import Answer, call, default_of, fill, lib, make, text_of, value_of, word_of
from .errors import Error
from .parts import Body, Emitter, Fields, Joint, Material, Part, Sink, Vector, locked, part_answer, triple
from .meshes import Mesh
from .pictures import Picture, draw_points
from .shapes import Shape


class Handle:
    """Owns the C world. Views keep it, so that their memory lives as long as they do."""

    def __init__(self, pointer: Any, keep: list):
        self.pointer, self.keep = pointer, keep
        self.finalizer = weakref.finalize(self, lib.flo_world_destroy, pointer)


class State:
    """A saved copy of a world's state; it may outlive the world, as bytes or as a file."""

    def __init__(self, pointer: Any):
        self.pointer = pointer
        weakref.finalize(self, lib.flo_state_destroy, pointer)

    @classmethod
    def made_by(cls, function: str, *arguments: Any) -> State:
        pointer = ctypes.c_void_p()
        call(function, *arguments, ctypes.byref(pointer))
        return cls(pointer.value)

    def to_bytes(self) -> bytes:
        size = ctypes.c_size_t()
        call("flo_state_pack", self.pointer, None, 0, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        call("flo_state_pack", self.pointer, buffer, size.value, ctypes.byref(size))
        return buffer.raw

    @classmethod
    def from_bytes(cls, data: bytes) -> State:
        return cls.made_by("flo_state_unpack", data, len(data))

    def write(self, path: str | Path) -> None:
        call("flo_state_write", self.pointer, str(path).encode())

    @classmethod
    def read(cls, path: str | Path) -> State:
        return cls.made_by("flo_state_read", str(path).encode())


def velocity_callback(function: Callable[[np.ndarray], Vector]) -> Callable:
    def velocity_at(_context: Any, position: Any, velocity: Any) -> None:
        for axis, value in enumerate(function(np.array(position[:3]))):
            velocity[axis] = value

    return velocity_at


class World:
    """A world of fluids and solids. Options are the members of FloWorldDef, see flotsam.describe('WorldDef').

    world = World(spacing=0.02, method='monolithic', gravity=(0, 0, -9.81), threads=1)
    """

    def __init__(self, log: Callable[[str, str], None] | None = None, parameters: dict[str, float] | None = None,
                 **options: Any):
        keep: list = []
        if log:
            options["log"] = {"write": lambda _, level, text: log(word_of(_abi.LogLevel, level), text_of(text))}
        definition = fill(default_of(_abi.WorldDef), options, keep)
        pointer = ctypes.c_void_p()
        call("flo_world_create", ctypes.byref(definition), ctypes.byref(pointer))
        self._begin(Handle(pointer.value, keep), definition.dim, definition.spacing)
        for name, value in (parameters or {}).items():
            self.set_parameter(name, value)

    def _begin(self, handle: Handle, dim: int, spacing: float) -> None:
        self.lock = threading.RLock()
        self.handle: Handle | None = handle
        self.after_step: Any = None
        self.raised: BaseException | None = None
        self.dim, self.spacing = dim, spacing
        self.fluid, self.boundary = Fields(self, "fluid"), Fields(self, "boundary")
        self.rigid, self.soft = Fields(self, "rigid"), Fields(self, "soft")

    # ---- Life ----

    @property
    def pointer(self) -> Any:
        if self.handle is None:
            raise ValueError("the world has been closed; create another one")
        return self.handle.pointer

    def close(self) -> None:
        """Lets go of the world; its memory is released with the last view of it."""
        self.handle = None

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ---- Adding ----

    def _add(self, function: str, kind: type, id_kind: type, members: dict[str, Any]) -> Any:
        keep: list = []
        definition, id = fill(default_of(kind), members, keep), id_kind()
        with self.lock:
            call(function, self.pointer, ctypes.byref(definition), ctypes.byref(id))
        return id

    def add_material(self, name: str = "", **members: Any) -> Material:
        """Members of FloMaterialDef: density, viscosity, friction, surface_tension, ..."""
        id = self._add("flo_world_add_material", _abi.MaterialDef, _abi.MaterialId, {"name": name, **members})
        return Material(self, id, name)

    def add_body(self, shape: Shape, kind: str = "static", name: str = "", **members: Any) -> Body:
        """Members of FloBodyDef: position, rotation, density, velocity, friction, ... Add bodies before fluids."""
        members = {"shape": shape, "kind": kind, "name": name, **members}
        return Body(self, self._add("flo_world_add_body", _abi.BodyDef, _abi.BodyId, members), name)

    def add_fluid(self, material: Material, shape: Shape, **members: Any) -> int:
        """A block of fluid, with members of FloFluidDef; returns the number of particles. `velocity_at` is a function
        of a position."""
        if "velocity_at" in members:
            members["velocity_at"] = velocity_callback(members["velocity_at"])
        members = {"material": material, "shape": shape, **members}
        return self._add("flo_world_add_fluid", _abi.FluidDef, ctypes.c_size_t, members).value

    def add_fill(self, material: Material, seed: Vector, level: float, **members: Any) -> int:
        """Fluid in a vessel, up to a level; returns the number of particles."""
        members = {"material": material, "seed": seed, "level": level, **members}
        return self._add("flo_world_add_fill", _abi.FillDef, ctypes.c_size_t, members).value

    @locked
    def add_particles(self, material: Material, positions: Any, velocities: Any = None) -> None:
        """Fluid particles one by one: rows of three [m], [m/s]."""
        positions = np.ascontiguousarray(positions, np.float64).reshape(-1, 3)
        if velocities is not None:
            velocities = np.ascontiguousarray(np.broadcast_to(velocities, positions.shape), np.float32)
        call("flo_world_add_particles", self.pointer, material.id, len(positions),
             positions.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
             None if velocities is None else velocities.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))

    def add_emitter(self, material: Material, **members: Any) -> Emitter:
        members = {"material": material, **members}
        return Emitter(self, self._add("flo_world_add_emitter", _abi.EmitterDef, _abi.EmitterId, members))

    def add_sink(self, shape: Shape, **members: Any) -> Sink:
        return Sink(self, self._add("flo_world_add_sink", _abi.SinkDef, _abi.SinkId, {"shape": shape, **members}))

    def add_joint(self, kind: str, body: Body, to: Body | None = None, name: str = "", **members: Any) -> Joint:
        """Members of FloJointDef: at, axis, motor={'kind': 'speed', 'value': 3, 'max_load': 5}, low, high, ..."""
        members = {"kind": kind, "body": body, "to": to, "name": name, **members}
        if "to_at" in members:
            members["has_to_at"] = True
        return Joint(self, self._add("flo_world_add_joint", _abi.JointDef, _abi.JointId, members), name)

    # ---- Stepping; the interpreter lock is released meanwhile ----

    def _step(self, function: str, *arguments: Any, owner: Any = None) -> Answer:
        info = _abi.StepInfo()
        self.raised = None
        things = (owner, self.pointer) if owner else (self.pointer,)
        try:
            call(function, *things, *arguments, ctypes.byref(info))
        except Error:
            if self.raised is None:
                raise
            raise self.raised from None
        return Answer(info)

    @locked
    def step(self, until: float | None = None) -> Answer:
        """One time step, which with `until` does not go beyond that time."""
        return self._step("flo_world_step") if until is None else self._step("flo_world_step_until", until)

    @locked
    def advance(self, time: float) -> Answer:
        """Steps until `time`, which the last one reaches exactly."""
        return self._step("flo_world_advance", time)

    @locked
    def on_step(self, function: Callable[[World], None] | None) -> None:
        """Calls a function with the world after each step, also while it advances; None: none. What it raises ends the
        step and is raised again there."""

        def after_step(_context: Any, _world: Any, _info: Any, error: Any) -> int:
            try:
                function(self)
            except BaseException as raised:  # nothing may leave through the library's own frames
                self.raised = raised
                if error:
                    error.contents.status = _abi.Status.BAD_INPUT
                    error.contents.text = str(raised).encode()[:1000]
                return _abi.Status.BAD_INPUT
            return _abi.Status.OK

        kind = _abi.FUNCTIONS["flo_world_set_step_callback"][1][1]
        callback = kind(after_step) if function else kind()
        call("flo_world_set_step_callback", self.pointer, callback, None)
        self.after_step = callback  # the library keeps it, too

    # ---- Changing ----

    @locked
    def set_gravity(self, gravity: Vector) -> None:
        call("flo_world_set_gravity", self.pointer, triple(gravity))

    @locked
    def remove_particles(self, ids: Any) -> int:
        """Removes fluid by its field 'id'; returns how many there were."""
        ids, count = np.ascontiguousarray(ids, np.uint32), ctypes.c_size_t()
        pointer = ids.ctypes.data_as(ctypes.POINTER(ctypes.c_uint32))
        call("flo_world_remove_particles", self.pointer, pointer, len(ids), ctypes.byref(count))
        return count.value

    @locked
    def remove_fluid(self, shape: Shape, position: Vector = (0, 0, 0), rotation: Vector = (0, 0, 0, 1)) -> int:
        """Removes all fluid inside a shape; returns the number of particles."""
        keep, count = [], ctypes.c_size_t()
        inside = make(_abi.Shape, shape, keep)
        pose = fill(_abi.Pose(), {"position": position, "rotation": rotation}, keep)
        call("flo_world_remove_fluid", self.pointer, ctypes.byref(inside), ctypes.byref(pose), ctypes.byref(count))
        return count.value

    # ---- Looking ----

    @property
    def time(self) -> float:
        return lib.flo_world_time(self.pointer)

    @locked
    def max_dt(self) -> tuple[float, str]:
        """The longest time step allowed now [s], and a word for what limits it."""
        limit = ctypes.c_char_p()
        dt = lib.flo_world_max_dt(self.pointer, ctypes.byref(limit))
        return dt, text_of(limit.value)

    @locked
    def measure(self) -> Answer:
        return Answer(lib.flo_world_measure(self.pointer))

    @locked
    def sample(self, point: Vector) -> tuple[float, float]:
        """Density and pressure at a point; 0 where there is no fluid."""
        density, pressure = ctypes.c_double(), ctypes.c_double()
        lib.flo_world_sample(self.pointer, triple(point), ctypes.byref(density), ctypes.byref(pressure))
        return density.value, pressure.value

    @locked
    def sample_points(self, points: Any) -> dict[str, np.ndarray]:
        """Density, pressure and velocity of the fluid at many points (n x 3); 0 where there is none."""
        points = np.ascontiguousarray(points, np.float64).reshape(-1, 3)
        found = np.zeros(len(points), np.dtype(_abi.PointSample))
        call("flo_world_sample_points", self.pointer, len(points), points.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
             found.ctypes.data_as(ctypes.POINTER(_abi.PointSample)))
        return {name: found[name] for name in found.dtype.names}

    def _list(self, function: str, kind: type) -> Any:
        count = getattr(lib, function)(self.pointer, None, 0)
        found = (kind * max(count, 1))()
        getattr(lib, function)(self.pointer, found, count)
        return found[:count]

    @property
    @locked
    def bodies(self) -> list[Body]:
        return [Body(self, id) for id in self._list("flo_world_list_bodies", _abi.BodyId)]

    @property
    @locked
    def joints(self) -> list[Joint]:
        return [Joint(self, id) for id in self._list("flo_world_list_joints", _abi.JointId)]

    @property
    @locked
    def materials(self) -> list[Material]:
        return [Material(self, id) for id in self._list("flo_world_list_materials", _abi.MaterialId)]

    @property
    @locked
    def contacts(self) -> list[Answer]:
        """Where bodies pressed on each other in the last step: body, other, point, normal, gap, impulse."""
        return [part_answer(self, one) for one in self._list("flo_world_list_contacts", _abi.ContactInfo)]

    def _find(self, function: str, kind: type[Part], name: str) -> Any:
        id = kind.id_type()
        with self.lock:
            call(function, self.pointer, name.encode(), ctypes.byref(id))
        return kind(self, id, name)

    def find_body(self, name: str) -> Body:
        return self._find("flo_world_find_body", Body, name)

    def find_joint(self, name: str) -> Joint:
        return self._find("flo_world_find_joint", Joint, name)

    def find_material(self, name: str) -> Material:
        return self._find("flo_world_find_material", Material, name)

    @locked
    def cast_ray(self, origin: Vector, way: Vector, mask: int = 0xFFFFFFFF) -> Answer | None:
        """The first body on a way: body, point, normal, share; None if there is none."""
        hit = _abi.RayHit()
        call("flo_world_cast_ray", self.pointer, triple(origin), triple(way), mask, ctypes.byref(hit))
        return part_answer(self, hit) if hit.is_hit else None

    @locked
    def closest_point(self, point: Vector, farthest: float, mask: int = 0xFFFFFFFF) -> Answer | None:
        """The nearest surface of a body: body, point, distance, normal; None if none is near enough."""
        found = _abi.NearestPoint()
        call("flo_world_closest_point", self.pointer, triple(point), farthest, mask, ctypes.byref(found))
        return part_answer(self, found) if found.is_found else None

    @locked
    def overlap(self, centre: Vector, radius: float = 0, mask: int = 0xFFFFFFFF) -> list[Body]:
        """The bodies that a ball touches."""
        count = ctypes.c_size_t(len(self.bodies))
        ids = (_abi.BodyId * max(count.value, 1))()
        call("flo_world_overlap_ball", self.pointer, triple(centre), radius, mask, ids, count.value, ctypes.byref(count))
        return [Body(self, id) for id in ids[:count.value]]

    @locked
    def restart_averages(self) -> None:
        lib.flo_world_restart_averages(self.pointer)

    @property
    @locked
    def hash(self) -> int:
        """Of the state of every particle and body; the same for any number of threads."""
        return lib.flo_world_hash(self.pointer)

    @property
    def memory(self) -> int:
        """What the world uses [bytes]."""
        return lib.flo_world_memory(self.pointer)

    def stages(self) -> dict[str, float]:
        """Seconds spent in each stage of a step since the world was created."""
        found, seconds = {}, ctypes.c_double()
        while name := lib.flo_world_stage(self.pointer, len(found), ctypes.byref(seconds)):
            found[name.decode()] = seconds.value
        return found

    @locked
    def surface(self, **members: Any) -> Mesh:
        """The fluid's surface at present, with `normal` and `velocity`; members of FloFluidSurfaceDef: cell, smoothing, ..."""
        definition = fill(_abi.FluidSurfaceDef(smoothing=-1), members, [])
        surface = _abi.FluidSurface()
        call("flo_world_surface", self.pointer, ctypes.byref(definition), ctypes.byref(surface))
        try:
            return mesh_of_surface(surface)
        finally:
            lib.flo_fluid_surface_free(ctypes.byref(surface))

    def picture(self, width: int = 640, height: int = 480, colour_by: str = "speed", view: str | None = None) -> Picture:
        """The particles as seen along an axis ('x', 'y' or 'z'): for a look in a notebook. Run folders have better ones."""
        return draw_points(self, width, height, colour_by, view)

    def _repr_png_(self) -> bytes:
        return self.picture().png

    # ---- Parameters and state ----

    @locked
    def set_parameter(self, name: str, value: float) -> None:
        """A parameter of the world's method; flotsam.method_parameters(method) lists them."""
        call("flo_world_set_param", self.pointer, name.encode(), float(value))

    @locked
    def get_parameter(self, name: str) -> float:
        value = ctypes.c_double()
        call("flo_world_get_param", self.pointer, name.encode(), ctypes.byref(value))
        return value.value

    @locked
    def save(self) -> State:
        """A copy of the state: a world restored from it continues with the same bits."""
        return State.made_by("flo_world_save", self.pointer)

    @locked
    def restore(self, state: State) -> None:
        """The world must have been created like the saved one."""
        call("flo_world_restore", self.pointer, state.pointer)


def mesh_of_surface(surface: Any) -> Mesh:
    """Copies of the library's arrays."""
    n, m = surface.n_vertices, surface.n_triangles
    if n == 0:
        return Mesh(np.empty((0, 3)), np.empty((0, 3), np.uint32))

    def rows(pointer: Any, count: int) -> np.ndarray:
        return np.ctypeslib.as_array(pointer, (count, 3)).copy()

    arrays = {"normal": rows(surface.normals, n), "velocity": rows(surface.velocities, n)}
    return Mesh(rows(surface.vertices, n), rows(surface.triangles, m), arrays)


# ---- About methods ----


def methods() -> dict[str, str]:
    """The coupling methods and their papers."""
    names = [lib.flo_method_name(k) for k in range(lib.flo_method_count())]
    return {name.decode(): text_of(lib.flo_method_paper(name)) for name in names}


def method_parameters(method: str) -> dict[str, dict[str, Any]]:
    """Default, range, unit and meaning of every parameter of a method."""
    count = ctypes.c_size_t()
    parameters = lib.flo_method_params(method.encode(), ctypes.byref(count))
    rows = (parameters[k] for k in range(count.value))
    return {text_of(row.name): {key: value_of(row, key) for key in ("value", "low", "high", "unit", "help")} for row in rows}


def version() -> str:
    return lib.flo_version().decode()


__all__ = ["Body", "Emitter", "Fields", "Joint", "Material", "Sink", "State", "World", "make", "method_parameters", "methods",
           "version"]
