"""Views of fields: memory of the library itself, for numpy and, on GPUs, for cupy, torch and jax.

A simulation cannot change while a view of it, or an array made from one, is in use: so a view never shows other numbers,
and its memory is never freed.
"""
import ctypes
import weakref
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p

import numpy as np

from ._errors import Error
from ._library import numbers_of
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
        return {"shape": self.shape, "strides": self.strides, "typestr": self.dtype.str, "version": 3,
                "data": (self._memory.data, True), "stream": 1}

    def __dlpack_device__(self):
        return DEVICE_CUDA, self.device

    def __dlpack__(self, *, stream=None, **options):
        # All stages are done before a view is there: no stream has to wait.
        return capsule(self, self._memory.data, self.dtype, self.shape, self.strides, self.__dlpack_device__())

    def __array__(self, *arguments, **options):
        raise Error("this field is on a GPU: sim[name] copies it to the processor, cupy.asarray(view) looks at it there")


# ---- DLPack --------------------------------------------------------------------------------------
DEVICE_CPU, DEVICE_CUDA = 1, 2


class Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
                ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class ManagedTensor(ctypes.Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, POINTER(ManagedTensor))
ManagedTensor._fields_ = [("tensor", Tensor), ("manager", c_void_p), ("deleter", DELETER)]
CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
_exported = {}  # address of a tensor -> all that it needs, until its consumer deletes it


@DELETER
def _delete(tensor):
    _exported.pop(ctypes.addressof(tensor.contents), None)


@ctypes.CFUNCTYPE(None, c_void_p)
def _drop(capsule):
    # A capsule that nobody took; those that were taken have another name, and are deleted by their consumer.
    if ctypes.pythonapi.PyCapsule_IsValid(c_void_p(capsule), b"dltensor"):
        _exported.pop(ctypes.pythonapi.PyCapsule_GetPointer(c_void_p(capsule), b"dltensor"), None)


def capsule(owner, data, dtype, shape, strides, device):
    """A capsule of DLPack for memory that lives as long as `owner`."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
    ctypes.pythonapi.PyCapsule_GetPointer.restype = c_void_p
    dims = len(shape)
    extents, steps = (c_int64 * dims)(*shape), (c_int64 * dims)(*[s // dtype.itemsize for s in strides])
    managed = ManagedTensor(Tensor(data, *device, dims, CODES[dtype.kind], 8 * dtype.itemsize, 1, extents, steps, 0), None, _delete)
    address = ctypes.addressof(managed)
    _exported[address] = (owner, managed, extents, steps)
    return new(address, b"dltensor", ctypes.cast(_drop, c_void_p))
