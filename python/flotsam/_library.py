"""Loads libflotsam, and turns Python values into the structs of its headers and back."""

from __future__ import annotations

import ctypes
import difflib
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from . import _abi
from .errors import BY_STATUS, Error, Unsupported

HERE = Path(__file__).resolve().parent
STRUCTS = {name: kind for name, kind in vars(_abi).items() if isinstance(kind, type) and issubclass(kind, ctypes.Structure)}


def candidates() -> list[str]:
    """The library that FLOTSAM_LIBRARY names, else those in this package, else the system's; the one with scenes first,
    which needs more libraries of the system."""
    if os.environ.get("FLOTSAM_LIBRARY"):
        return [os.environ["FLOTSAM_LIBRARY"]]
    inside = [str(HERE / "lib" / name) for name in ("libflotsam-scenes.so", "libflotsam.so")]
    return [path for path in inside if os.path.exists(path)] or ["libflotsam-scenes.so.0", "libflotsam.so.0"]


def open_library() -> ctypes.CDLL:
    """CDLL releases the interpreter lock during every call, so other Python threads run meanwhile."""
    reasons = []
    for path in candidates():
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            reasons.append(str(error))
    raise ImportError("; ".join(reasons) + "; let FLOTSAM_LIBRARY name the file libflotsam-scenes.so or libflotsam.so")


def load() -> ctypes.CDLL:
    library = open_library()
    for name, (result, parameters) in _abi.FUNCTIONS.items():
        if hasattr(library, name):
            function = getattr(library, name)
            function.restype, function.argtypes = result, parameters
    return library


lib = load()


def call(name: str, *arguments: Any) -> None:
    """Calls a function whose last parameter is a FloError; raises what it reports."""
    error = _abi.Error()
    if not hasattr(lib, name):
        raise Unsupported(f"{name}: only libflotsam was found, which has no scenes; libflotsam-scenes and what it needs "
                          "(see README) add them")
    status = getattr(lib, name)(*arguments, ctypes.byref(error))
    if status:
        text = error.text.decode("utf-8", "replace")
        raise BY_STATUS.get(status, Error)(text or f"{name} failed")


def text_of(value: bytes | None) -> str:
    return value.decode("utf-8", "replace") if value else ""


# ---- Values into structs ----


def word(enum: type, value: Any) -> int:
    """A member of an enumeration by its name in any case, such as 'dynamic'."""
    if not isinstance(value, str):
        return int(value)
    key = value.upper().replace("-", "_").replace(" ", "_")
    for name in (key, "_" + key):
        if name in enum.__members__ and name != "COUNT":
            return int(enum[name])
    names = [m.lower() for m in enum.__members__ if m != "COUNT"]
    raise ValueError(f"there is no {enum.__name__} '{value}'; it is one of {', '.join(names)}")


def word_of(enum: type, value: int) -> str:
    try:
        return enum(value).name.lower().lstrip("_")
    except ValueError:
        return str(value)


def default_of(kind: type) -> Any:
    """The struct that the library's function for its defaults returns; zeros if it has none."""
    name = kind.__name__.removesuffix("Def")
    snake = "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")
    function = f"flo_default_{snake}_def"
    return getattr(lib, function)() if function in _abi.FUNCTIONS else kind()


def fields_of(kind: type) -> dict[str, Any]:
    return {field[0]: field[1] for field in kind._fields_}


def is_pointer(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, ctypes._Pointer)


def is_array(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, ctypes.Array)


def set_array(struct: Any, name: str, kind: type, value: Any) -> None:
    values = list(value) if not isinstance(value, str) else [value]
    given = getattr(struct, name)
    if len(values) > len(given):
        raise ValueError(f"{name} has {len(values)} values; it takes at most {len(given)}")
    for k, item in enumerate(values):
        given[k] = getattr(item, "id", item)


def pointed_values(target: type, value: Any, keep: list) -> tuple[Any, int]:
    """An array of the pointer's type, and how many rows it has."""
    if issubclass(target, ctypes.Structure):
        rows = [value] if isinstance(value, (dict, ctypes.Structure)) else list(value)
        array = (target * len(rows))()
        for k, row in enumerate(rows):
            array[k] = make(target, row, keep)
        return array, len(rows)
    numbers = np.ascontiguousarray(value, np.dtype(target))
    keep.append(numbers)
    return numbers.ctypes.data_as(ctypes.POINTER(target)), len(numbers)


def set_pointer(struct: Any, name: str, kind: type, value: Any, keep: list) -> None:
    """Sets the pointer, and the count that goes with it."""
    fields = fields_of(type(struct))
    array, count = pointed_values(kind._type_, value, keep)
    keep.append(array)
    setattr(struct, name, ctypes.cast(array, kind))
    counter = f"n_{name}"
    if is_array(fields.get(counter)):  # heights[y][x]; the library counts x first
        getattr(struct, counter)[:] = list(reversed(np.shape(value)))
    elif counter in fields:
        setattr(struct, counter, count)


def set_member(struct: Any, name: str, value: Any, keep: list) -> None:
    kind = fields_of(type(struct))[name]
    if name in struct._enums_:
        setattr(struct, name, word(getattr(_abi, struct._enums_[name]), value))
    elif isinstance(kind, type) and issubclass(kind, ctypes.Structure):
        setattr(struct, name, make(kind, value, keep, getattr(struct, name)))
    elif is_array(kind):
        set_array(struct, name, kind, value)
    elif is_pointer(kind):
        set_pointer(struct, name, kind, value, keep)
    elif kind is ctypes.c_char_p:
        keep.append(str(value).encode())
        setattr(struct, name, keep[-1])
    elif isinstance(kind, type) and issubclass(kind, ctypes._CFuncPtr):
        keep.append(kind(value))
        setattr(struct, name, keep[-1])
    elif name == "up" and isinstance(value, str):
        setattr(struct, name, "xyz".index(value))
    else:
        setattr(struct, name, value)


def refuse(struct: Any, name: str) -> None:
    names = [n for n in fields_of(type(struct)) if not n.startswith("n_")]
    near = difflib.get_close_matches(name, names, 1)
    hint = f"; did you mean '{near[0]}'?" if near else f"; it has {', '.join(names)}"
    raise TypeError(f"{type(struct).__name__} has no '{name}'{hint}")


def fill(struct: Any, values: dict[str, Any], keep: list) -> Any:
    """Sets members by name. `keep` holds what they point at; it must live until the library has read them."""
    fields = fields_of(type(struct))
    for name, value in values.items():
        if name in ("position", "rotation") and "pose" in fields and name not in fields:
            set_array(struct.pose, name, fields_of(_abi.Pose)[name], value)
        elif name not in fields:
            refuse(struct, name)
        else:
            set_member(struct, name, value, keep)
    return struct


def make(kind: type, value: Any, keep: list, start: Any = None) -> Any:
    """A struct from another one, a dictionary of its members, or something that has an id or is a definition."""
    value = getattr(value, "id", value)
    if isinstance(value, kind):
        return value
    if value is None:
        return kind()
    if isinstance(value, (tuple, list)):
        value = dict(zip(fields_of(kind), value))
    if isinstance(value, dict):
        return fill(start if start is not None else default_of(kind), value, keep)
    if hasattr(value, "members"):
        return make(kind, value.members(), keep, start)
    raise TypeError(f"{kind.__name__} is made of a dictionary of its members, not of {type(value).__name__}")


# ---- Structs into values ----


def value_of(struct: Any, name: str) -> Any:
    value = getattr(struct, name)
    if name in struct._enums_:
        return word_of(getattr(_abi, struct._enums_[name]), value)
    if isinstance(value, ctypes.Array):
        return np.array(value[:]) if not isinstance(value, bytes) else text_of(value)
    if isinstance(value, bytes):
        return text_of(value)
    if isinstance(value, ctypes.Structure) and not type(value).__name__.endswith("Id"):
        return {field: value_of(value, field) for field in fields_of(type(value))}
    return value


class Answer:
    """The members of a struct that the library filled: by attribute, by key, and as a dictionary."""

    def __init__(self, struct: Any):
        self.__dict__.update((name, value_of(struct, name)) for name in fields_of(type(struct)))
        if self.__dict__.pop("pose", None):
            self.position, self.rotation = np.array(struct.pose.position[:]), np.array(struct.pose.rotation[:])

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def __iter__(self):
        return iter(self.__dict__)

    def as_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __repr__(self) -> str:
        return "\n".join(f"{name:22} {value}" for name, value in self.__dict__.items())


def describe(name: str) -> str:
    """What the members of a definition mean: describe('BodyDef'), describe('JointDef'), ..."""
    if name not in STRUCTS:
        near = difflib.get_close_matches(name, STRUCTS, 1)
        raise ValueError(f"there is no definition '{name}'" + (f"; did you mean '{near[0]}'?" if near else ""))
    kind = STRUCTS[name]
    rows = [(field, _abi.COMMENTS.get((name, field), "")) for field in fields_of(kind)]
    return "\n".join(f"{field:20} {comment}".rstrip() for field, comment in rows)


# ---- Memory of the library as arrays ----

DTYPES = {_abi.Type.F32: np.float32, _abi.Type.F64: np.float64, _abi.Type.U16: np.uint16, _abi.Type.U32: np.uint32}


def array_at(address: int | None, count: int, stride: int, dtype: Any, owner: Any, is_writable: bool = False) -> np.ndarray:
    """An array on memory of the library, without a copy. It keeps `owner` alive."""
    if not address or count == 0:
        return np.empty(0, dtype)
    buffer = (ctypes.c_char * (stride * (count - 1) + np.dtype(dtype).itemsize)).from_address(address)
    buffer.owner = owner
    array = np.ndarray((count,), dtype, buffer, strides=(stride,))
    array.flags.writeable = is_writable
    return array


if sys.byteorder != "little":
    raise ImportError("flotsam: only little-endian machines are supported")
