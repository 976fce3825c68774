"""Exceptions: the engine's messages as what Python's own code raises for the like."""


class Error(Exception):
    """What the engine says. `code` is the name of the kind of error, as "range"."""

    def __init__(self, text, code="usage"):
        super().__init__(text)
        self.code = code

    def __str__(self):  # as it is: KeyError would quote it
        return str(self.args[0])


class ArgumentError(Error, ValueError):
    """A value, a key or a shape is wrong."""


class KindError(Error, TypeError):
    """A value has a wrong type."""


class NameUnknown(Error, KeyError, ValueError):
    """There is no stencil, field or option of the name."""


class OutOfMemory(Error, MemoryError):
    """Memory of the machine or of the GPU is too small."""


class FileFailed(Error, OSError):
    """A file cannot be read or written."""


class LibraryMissing(Error, ImportError):
    """libtrapeze.so is not found, or is of another version."""


KINDS = {"usage": ArgumentError, "format": ArgumentError, "shape": ArgumentError, "range": ArgumentError,
         "unstable": ArgumentError, "type": KindError, "unknown": NameUnknown, "memory": OutOfMemory, "io": FileFailed}


def make(code, text):
    """The exception of a kind of error."""
    return KINDS.get(code, Error)(text, code)
