"""What can go wrong, as exceptions with the library's own text."""

from __future__ import annotations

from ._abi import Status


class Error(Exception):
    """Any failure of the library or of its program; `status` says which kind."""

    status: Status | None = None


class BadInput(Error, ValueError):
    """A value, file or call is invalid; the text says which one and what to do."""

    status = Status.BAD_INPUT


class NoMemory(Error, MemoryError):
    """There is not enough memory."""

    status = Status.NO_MEMORY


class IOFailed(Error, OSError):
    """A file could not be read or written."""

    status = Status.IO_FAILED


class Diverged(Error, ArithmeticError):
    """Values became infinite, not a number or absurdly large; the world may be looked at but not stepped."""

    status = Status.DIVERGED


class Unsupported(Error, NotImplementedError):
    """The chosen method cannot do this."""

    status = Status.UNSUPPORTED


BY_STATUS = {kind.status: kind for kind in (BadInput, NoMemory, IOFailed, Diverged, Unsupported)}
