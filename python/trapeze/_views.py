"""Views of fields: memory of the library itself, for numpy and, on GPUs, for cupy, torch and jax.

A simulation cannot change while a view of it, or an array made from one, is in use: so a view never shows other numbers,
and its memory is never freed.
"""
import ctypes
import sys
import weakref
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

import numpy as np

from ._errors import ArgumentError, Error
from ._library import load, numbers_of
from ._values import read_only


class Leases:
    """The views of a simulation that are in use."""

    def __init__(self):
        self._fields = {}

    def add(self, holder, field):
        """`holder` lives as long as something looks at the memory."""
        reference = weakref.ref(holder, lambda r: self._fields.pop(id(r), None))
        self._fields[id(reference)] = (reference, field)

    def check(self):
        sweep()
        for reference, field in list(self._fields.values()):
            if reference() is not None:
                raise Error("a view of '%s' is in use, and would show other numbers after this: del it and the arrays made "
                            "from it first, or use sim['%s'], which is a copy" % (field, field))


def array_view(sim, memory, field):
    """The memory of a field on the host as a read-only array."""
    array, holder = numbers_of(memory)
    holder.sim = sim
    sim._leases.add(holder, field)
    return read_only(array)


class DeviceView:
    """The memory of a field on a GPU, read only: cupy.asarray(view), torch.from_dlpack(view), jax.dlpack.from_dlpack(view)
    look at it without a copy."""

    def __init__(self, sim, memory, field):
        self._sim, self._memory = sim, memory
        self.device = memory.device
        self.dtype = np.dtype(memory.dtype.decode())
        self.shape = tuple(memory.shape[:memory.dims])[::-1]
        self.strides = tuple(memory.strides[:memory.dims])[::-1]  # bytes
        sim._leases.add(self, field)

    @property
    def __cuda_array_interface__(self):
        # All stages are done before a view is there: no stream has to wait.
        return {"shape": self.shape, "strides": self.strides, "typestr": self.dtype.str, "version": 3,
                "data": (self._memory.data, True), "stream": None}

    def __dlpack_device__(self):
        return DEVICE_CUDA, self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if stream is not None and (not isinstance(stream, int) or stream < -1 or stream == 0):
            raise ArgumentError("stream is None, -1, 1, 2 or a pointer, as DLPack has them, not %r" % (stream,))
        if copy or (dl_device is not None and tuple(map(int, dl_device)) != self.__dlpack_device__()):
            raise BufferError("a view is memory of GPU %d: sim.array(name) copies it to the processor" % self.device)
        return capsule(self, self._memory.data, self.dtype, self.shape, self.strides, self.__dlpack_device__(),
                       max_version is not None and max_version[0] >= 1)

    def __array__(self, *arguments, **options):
        raise Error("this field is on a GPU: sim[name] copies it to the processor, cupy.asarray(view) looks at it there")

    def __repr__(self):
        return "<trapeze.DeviceView: %s, shape %s, on GPU %d>" % (self.dtype, self.shape, self.device)


# ---- DLPack: https://dmlc.github.io/dlpack --------------------------------------------------------
DEVICE_CPU, DEVICE_CUDA = 1, 2
CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
READ_ONLY = 1


class Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
                ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("manager", c_void_p), ("deleter", c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("manager", c_void_p), ("deleter", c_void_p),
                ("flags", c_uint64), ("tensor", Tensor)]


class Export:
    """A tensor, and all that it needs until its consumer is done with it. That is a flag, which the library's deleter sets:
    consumers delete tensors where no code of Python can run, in any thread or while an exception is on its way."""

    def __init__(self, owner, data, dtype, shape, strides, device, versioned):
        dims = len(shape)
        self.owner, self.done = owner, c_int32()
        self.extents, self.steps = (c_int64 * dims)(*shape), (c_int64 * dims)(*[s // dtype.itemsize for s in strides])
        tensor = Tensor(data, *device, dims, CODES[dtype.kind], 8 * dtype.itemsize, 1, self.extents, self.steps, 0)
        done, deleter = ctypes.addressof(self.done), ctypes.cast(load().tz_sim_view_done, c_void_p)
        self.managed = Versioned(1, 0, done, deleter, READ_ONLY, tensor) if versioned else Managed(tensor, done, deleter)
        self.name = b"dltensor_versioned" if versioned else b"dltensor"
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
        self.capsule = new(ctypes.addressof(self.managed), self.name, None)

    def is_over(self):
        # Consumers rename capsules that they take. One that nobody took, and nobody else has, is not needed.
        is_valid = ctypes.pythonapi.PyCapsule_IsValid
        is_valid.argtypes = [ctypes.py_object, c_char_p]
        return self.done.value != 0 or (sys.getrefcount(self.capsule) == 2 and is_valid(self.capsule, self.name) != 0)


_exports = {}  # by their ids


def sweep():
    """Forgets tensors that are not in use any more."""
    for key, export in list(_exports.items()):
        if export.is_over():
            _exports.pop(key, None)


def capsule(*about):
    """A capsule of DLPack for memory that lives as long as its owner: see Export."""
    sweep()
    export = Export(*about)
    _exports[id(export)] = export
    return export.capsule
