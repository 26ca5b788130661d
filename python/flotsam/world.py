"""Worlds: create one, add things, step, look."""

from __future__ import annotations

import ctypes
import functools
import threading
import weakref
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from . import _abi
from ._library import DTYPES, Answer, array_at, call, default_of, fill, lib, make, text_of, value_of, word, word_of
from .pictures import Picture, draw_points
from .shapes import Shape

Vector = Sequence[float]


class Handle:
    """Owns the C world. Views keep it, so that their memory lives as long as they do."""

    def __init__(self, pointer: Any, keep: list):
        self.pointer, self.keep = pointer, keep
        self.finalizer = weakref.finalize(self, lib.flo_world_destroy, pointer)


def locked(method: Callable) -> Callable:
    """Only one thread at a time may use a world; others wait."""

    @functools.wraps(method)
    def wrapper(self: Any, *arguments: Any, **named: Any) -> Any:
        with getattr(self, "world", self).lock:
            return method(self, *arguments, **named)

    return wrapper


class Part:
    """Something in a world that has an id; ids of removed things stay invalid for ever."""

    def __init__(self, world: World, id: Any, name: str = ""):
        self.world, self.id, self.name = world, id, name

    def __repr__(self) -> str:
        label = f" {self.name!r}" if self.name else ""
        return f"<{type(self).__name__}{label} {self.id.index}.{self.id.generation}>"

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and self.world is other.world and self.key == other.key

    def __hash__(self) -> int:
        return hash((type(self), self.key))

    @property
    def key(self) -> tuple[int, int]:
        return self.id.index, self.id.generation


class Material(Part):
    """What fluids and bodies are made of."""


class Body(Part):
    """A wall, a rigid body, a cloth or an elastic body."""

    @property
    @locked
    def state(self) -> Answer:
        """Pose, velocities, and the forces of the last step."""
        state = _abi.BodyState()
        call("flo_world_body_state", self.world.pointer, self.id, ctypes.byref(state))
        return Answer(state)

    @property
    @locked
    def soft_state(self) -> Answer:
        """More about a cloth or an elastic body."""
        state = _abi.SoftState()
        call("flo_world_soft_state", self.world.pointer, self.id, ctypes.byref(state))
        return Answer(state)

    @property
    def position(self) -> np.ndarray:
        return self.state.position

    @property
    def rotation(self) -> np.ndarray:
        """A unit quaternion, x y z w."""
        return self.state.rotation

    @property
    def velocity(self) -> np.ndarray:
        return self.state.velocity

    def turned(self, vector: Vector) -> np.ndarray:
        """A direction of the body's own frame, in the world."""
        *u, w = self.rotation
        return np.asarray(vector) + 2 * np.cross(u, np.cross(u, vector) + w * np.asarray(vector))


class Joint(Part):
    """A joint, motor or spring between two bodies."""

    @property
    @locked
    def state(self) -> Answer:
        """Coordinate, speed, and the loads of the last step."""
        state = _abi.JointState()
        call("flo_world_joint_state", self.world.pointer, self.id, ctypes.byref(state))
        return Answer(state)

    @locked
    def set(self, part: str, value: float = 0) -> None:
        """Changes a part between steps: 'motor_speed', 'motor_position', 'motor_free', 'max_load', 'limit_low',
        'limit_high', 'friction', 'stiffness', 'damping', 'length', 'break_force', 'break_torque', 'release'."""
        call("flo_world_set_joint", self.world.pointer, self.id, word(_abi.JointPart, part), value)


class Emitter(Part):
    """An opening from which fluid flows."""

    @locked
    def remove(self) -> None:
        call("flo_world_remove_emitter", self.world.pointer, self.id)


class Sink(Part):
    """A region in which fluid is removed."""

    @locked
    def remove(self) -> None:
        call("flo_world_remove_sink", self.world.pointer, self.id)


class Fields:
    """The fields of one set of particles, such as world.fluid['x'] or world.fluid.x.

    Each is an array on the memory of the library, without a copy: take it anew after every step, addition or removal.
    """

    def __init__(self, world: World, set: str):
        self._world, self._set = world, word(_abi.Set, set)

    def __len__(self) -> int:
        return lib.flo_world_count(self._world.pointer, self._set)

    def keys(self) -> list[str]:
        names, pointer = [], self._world.pointer
        while name := lib.flo_world_field_name(pointer, self._set, len(names)):
            names.append(name.decode())
        return names

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def view(self, name: str) -> _abi.View:
        view = _abi.View()
        with self._world.lock:
            call("flo_world_view", self._world.pointer, self._set, name.encode(), ctypes.byref(view))
        return view

    def __getitem__(self, name: str) -> np.ndarray:
        view = self.view(name)
        return array_at(view.data, view.count, view.stride, DTYPES[view.type], self._world.handle)

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except ValueError as error:
            raise AttributeError(str(error)) from error

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.keys()]

    @property
    def positions(self) -> np.ndarray:
        """A copy of x, y, z as rows [m]."""
        return np.column_stack([self["x"], self["y"], self["z"]])

    @property
    def velocities(self) -> np.ndarray:
        """A copy of vx, vy, vz as rows [m/s]."""
        return np.column_stack([self["vx"], self["vy"], self["vz"]])

    def describe(self) -> str:
        rows = ((name, self.view(name)) for name in self.keys())
        return "\n".join(f"{name:12} {text_of(v.unit):8} {text_of(v.meaning)}" for name, v in rows)


class State:
    """A saved copy of a world's state; it may outlive the world."""

    def __init__(self, pointer: Any):
        self.pointer = pointer
        weakref.finalize(self, lib.flo_state_destroy, pointer)


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
        self.lock = threading.RLock()
        self.handle: Handle | None = Handle(pointer.value, keep)
        self.dim, self.spacing = definition.dim, definition.spacing
        self.fluid, self.boundary = Fields(self, "fluid"), Fields(self, "boundary")
        self.rigid, self.soft = Fields(self, "rigid"), Fields(self, "soft")
        for name, value in (parameters or {}).items():
            self.set_parameter(name, value)

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

    @locked
    def step(self, until: float | None = None) -> Answer:
        """One time step, which with `until` does not go beyond that time."""
        info = _abi.StepInfo()
        if until is None:
            call("flo_world_step", self.pointer, ctypes.byref(info))
        else:
            call("flo_world_step_until", self.pointer, until, ctypes.byref(info))
        return Answer(info)

    @locked
    def advance(self, time: float) -> Answer:
        """Steps until `time`, which the last one reaches exactly."""
        info = _abi.StepInfo()
        call("flo_world_advance", self.pointer, time, ctypes.byref(info))
        return Answer(info)

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
        lib.flo_world_sample(self.pointer, (ctypes.c_double * 3)(*point), ctypes.byref(density), ctypes.byref(pressure))
        return density.value, pressure.value

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
        pointer = ctypes.c_void_p()
        call("flo_world_save", self.pointer, ctypes.byref(pointer))
        return State(pointer.value)

    @locked
    def restore(self, state: State) -> None:
        """The world must have been created like the saved one."""
        call("flo_world_restore", self.pointer, state.pointer)


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
