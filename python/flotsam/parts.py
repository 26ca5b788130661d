"""What is in a world: materials, bodies, joints, emitters, sinks, and fields of particles."""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

import numpy as np

from . import _abi
from ._library import DTYPES, Answer, array_at, call, fill, lib, text_of, word

if TYPE_CHECKING:
    from .world import World

Vector = Sequence[float]


def triple(values: Vector | None) -> Any:
    """Three numbers for the library; None stays."""
    return None if values is None else (ctypes.c_double * 3)(*values)


def locked(method: Callable) -> Callable:
    """Only one thread at a time may use a world; others wait."""

    @functools.wraps(method)
    def wrapper(self: Any, *arguments: Any, **named: Any) -> Any:
        with getattr(self, "world", self).lock:
            return method(self, *arguments, **named)

    return wrapper


class Part:
    """Something in a world that has an id; ids of removed things stay invalid for ever."""

    id_type: type = ctypes.Structure

    def __init__(self, world: World, id: Any, name: str = ""):
        self.world, self.id, self.given_name = world, id, name

    def __repr__(self) -> str:
        label = f" {self.given_name!r}" if self.given_name else ""
        return f"<{type(self).__name__}{label} {self.id.index}.{self.id.generation}>"

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and self.world is other.world and self.key == other.key

    def __hash__(self) -> int:
        return hash((type(self), self.key))

    @property
    def key(self) -> tuple[int, int]:
        return self.id.index, self.id.generation

    def call(self, function: str, *arguments: Any) -> None:
        with self.world.lock:
            call(function, self.world.pointer, self.id, *arguments)

    def ask(self, function: str, kind: type) -> Answer:
        """Fills a struct; ids in it become parts."""
        answer = kind()
        with self.world.lock:
            call(function, self.world.pointer, self.id, ctypes.byref(answer))
            return part_answer(self.world, answer)


class Material(Part):
    """What fluids and bodies are made of."""

    id_type = _abi.MaterialId

    @property
    def info(self) -> Answer:
        return self.ask("flo_world_material_info", _abi.MaterialDef)

    def remove(self) -> None:
        """Refused as long as there is something of that material."""
        self.call("flo_world_remove_material")


class Body(Part):
    """A wall, a rigid body, a cloth or an elastic body."""

    id_type = _abi.BodyId

    # ---- Asking ----

    @property
    def state(self) -> Answer:
        """Pose, velocities, and the forces of the last step."""
        return self.ask("flo_world_body_state", _abi.BodyState)

    @property
    def soft_state(self) -> Answer:
        """More about a cloth or an elastic body."""
        return self.ask("flo_world_soft_state", _abi.SoftState)

    @property
    def info(self) -> Answer:
        """Name, kind, mass, inertia, material, ..."""
        return self.ask("flo_world_body_info", _abi.BodyInfo)

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def mass(self) -> float:
        return self.info.mass

    @locked
    def mesh(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices and triangles of a cloth or an elastic body as they are now (copies)."""
        mesh = _abi.BodyMesh()
        call("flo_world_body_mesh", self.world.pointer, self.id, ctypes.byref(mesh))
        vertices = np.ctypeslib.as_array(mesh.vertices, (mesh.n_vertices, 3)).copy()
        return vertices, np.ctypeslib.as_array(mesh.triangles, (mesh.n_triangles, 3)).copy()

    def velocity_at(self, point: Vector) -> np.ndarray:
        """Of the material at, or nearest to, a point of the world."""
        velocity = (ctypes.c_double * 3)()
        self.call("flo_world_body_velocity_at", triple(point), velocity)
        return np.array(velocity[:])

    def turned(self, vector: Vector) -> np.ndarray:
        """A direction of the body's own frame, in the world."""
        *u, w = self.rotation
        return np.asarray(vector) + 2 * np.cross(u, np.cross(u, vector) + w * np.asarray(vector))

    # ---- Placing ----

    def set_pose(self, position: Vector | None = None, rotation: Vector | None = None) -> None:
        """Puts it somewhere else at once; it keeps its velocity. Fluid does not make room: World.remove_fluid_in."""
        self.call("flo_world_set_body_pose", ctypes.byref(self.pose(position, rotation)))

    def pose(self, position: Vector | None = None, rotation: Vector | None = None) -> Any:
        """Its pose, of which parts may be replaced."""
        state = self.state
        pose = {"position": state.position if position is None else position,
                "rotation": state.rotation if rotation is None else rotation}
        return fill(_abi.Pose(), pose, [])

    @property
    def position(self) -> np.ndarray:
        return self.state.position

    @position.setter
    def position(self, value: Vector) -> None:
        self.set_pose(position=value)

    @property
    def rotation(self) -> np.ndarray:
        """A unit quaternion, x y z w."""
        return self.state.rotation

    @rotation.setter
    def rotation(self, value: Vector) -> None:
        self.set_pose(rotation=value)

    @property
    def velocity(self) -> np.ndarray:
        return self.state.velocity

    @velocity.setter
    def velocity(self, value: Vector) -> None:
        self.set_velocity(value, self.angular_velocity)

    @property
    def angular_velocity(self) -> np.ndarray:
        return self.state.angular_velocity

    @angular_velocity.setter
    def angular_velocity(self, value: Vector) -> None:
        self.set_velocity(self.velocity, value)

    def set_velocity(self, velocity: Vector, angular_velocity: Vector = (0, 0, 0)) -> None:
        """Of its centre of mass; a kinematic body moves at these rates from now on."""
        self.call("flo_world_set_body_velocity", triple(velocity), triple(angular_velocity))

    def move_to(self, time: float, position: Vector | None = None, rotation: Vector | None = None) -> None:
        """A kinematic body moves evenly to a pose, which it reaches at `time`."""
        self.call("flo_world_set_body_target", ctypes.byref(self.pose(position, rotation)), time)

    @property
    def kind(self) -> str:
        """'static', 'kinematic', 'dynamic', 'cloth' or 'elastic'; the first three may be exchanged."""
        return self.info.kind

    @kind.setter
    def kind(self, value: str) -> None:
        self.call("flo_world_set_body_kind", word(_abi.BodyKind, value))

    def set_filter(self, category: int = 1, mask: int = 0xFFFFFFFF) -> None:
        """Two bodies touch if each one's mask has a bit of the other one's category."""
        self.call("flo_world_set_body_filter", _abi.Filter(category, mask))

    def set_pin(self, pin: int, holds: bool) -> None:
        self.call("flo_world_set_pin", pin, holds)

    def move_pin(self, pin: int, way: Vector) -> None:
        self.call("flo_world_move_pin", pin, triple(way))

    # ---- Pushing ----

    def apply_force(self, force: Vector, point: Vector | None = None) -> None:
        """[N] during the next step only; at a point of the world, or else at the centre of mass. Forces add up."""
        self.call("flo_world_apply_force", triple(force), triple(point))

    def apply_torque(self, torque: Vector) -> None:
        """[N m] during the next step only."""
        self.call("flo_world_apply_torque", triple(torque))

    def apply_impulse(self, impulse: Vector, point: Vector | None = None) -> None:
        """[N s], at once."""
        self.call("flo_world_apply_impulse", triple(impulse), triple(point))

    def apply_angular_impulse(self, impulse: Vector) -> None:
        """[N m s], at once."""
        self.call("flo_world_apply_angular_impulse", triple(impulse))

    def remove(self) -> None:
        """With its joints, and the pins that lead to it."""
        self.call("flo_world_remove_body")

    def remove_fluid(self) -> int:
        """Removes the fluid inside it, for example after it was put somewhere else; returns the number of particles."""
        count = ctypes.c_size_t()
        self.call("flo_world_remove_fluid_in", ctypes.byref(count))
        return count.value


class Joint(Part):
    """A joint, motor or spring between two bodies."""

    id_type = _abi.JointId

    @property
    def state(self) -> Answer:
        """Coordinate, speed, and the loads of the last step."""
        return self.ask("flo_world_joint_state", _abi.JointState)

    @property
    def info(self) -> Answer:
        return self.ask("flo_world_joint_info", _abi.JointInfo)

    @property
    def name(self) -> str:
        return self.info.name

    def set(self, part: str, value: float = 0) -> None:
        """Changes a part between steps: 'motor_speed', 'motor_position', 'motor_free', 'max_load', 'limit_low',
        'limit_high', 'friction', 'stiffness', 'damping', 'length', 'break_force', 'break_torque', 'release'."""
        self.call("flo_world_set_joint", word(_abi.JointPart, part), value)

    def remove(self) -> None:
        self.call("flo_world_remove_joint")


class Emitter(Part):
    """An opening from which fluid flows."""

    id_type = _abi.EmitterId

    def set_speed(self, speed: float) -> None:
        """Of the fluid that leaves it [m/s]."""
        self.call("flo_world_set_emitter_speed", speed)

    def remove(self) -> None:
        self.call("flo_world_remove_emitter")


class Sink(Part):
    """A region in which fluid is removed."""

    id_type = _abi.SinkId

    def remove(self) -> None:
        self.call("flo_world_remove_sink")


PARTS = {kind.id_type: kind for kind in (Material, Body, Joint, Emitter, Sink)}


def part_answer(world: World, struct: Any) -> Answer:
    """The members of a struct; ids become parts of the world, or None where there is none."""
    answer = Answer(struct)
    for name, value in answer.as_dict().items():
        kind = PARTS.get(type(value))
        if kind:
            setattr(answer, name, kind(world, value) if value.generation else None)
    return answer


class Fields:
    """The fields of one set of particles, such as world.fluid['x'] or world.fluid.x.

    Each is an array on the memory of the library, without a copy: take it anew after every step, addition or removal. It
    is for reading; positions and velocities of the fluid are written by assignment: world.fluid['vx'] = values.
    """

    def __init__(self, world: World, set: str):
        self.__dict__.update(_world=world, _set=word(_abi.Set, set))

    def __len__(self) -> int:
        return lib.flo_world_count(self._world.pointer, self._set)

    def keys(self) -> list[str]:
        names, pointer = [], self._world.pointer
        while name := lib.flo_world_field_name(pointer, self._set, len(names)):
            names.append(name.decode())
        return names

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def view(self, name: str) -> Any:
        view = _abi.View()
        with self._world.lock:
            call("flo_world_view", self._world.pointer, self._set, name.encode(), ctypes.byref(view))
        return view

    def __getitem__(self, name: str) -> np.ndarray:
        view = self.view(name)
        return array_at(view.data, view.count, view.stride, DTYPES[view.type], self._world.handle)

    def __setitem__(self, name: str, values: Any) -> None:
        if self._set != _abi.Set.FLUID:
            raise ValueError("only fields of the fluid can be written; bodies are moved by their own functions")
        kind = DTYPES[self.view(name).type]
        values = np.ascontiguousarray(np.broadcast_to(np.asarray(values, kind), len(self)))
        with self._world.lock:
            call("flo_world_set_field", self._world.pointer, name.encode(), values.ctypes.data, len(values))

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except ValueError as error:
            raise AttributeError(str(error)) from error

    def __setattr__(self, name: str, values: Any) -> None:
        self[name] = values

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


__all__ = ["Body", "Emitter", "Fields", "Joint", "Material", "Part", "Sink"]
