"""Values on their way to the engine: options as JSON, fields as arrays."""
import json
import math
import os

import numpy as np

from ._errors import ArgumentError, KindError


class Made:
    """A value that the engine makes when it is used, such as what random() and circle() return."""

    def __init__(self, function, arguments):
        self.function, self.arguments = function, arguments

    def __repr__(self):
        return "trapeze.%s(%r)" % (self.function[3:], self.arguments)


def plain(value, name):
    """A value of options as JSON has it; `name` is for messages."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.longdouble):  # its tolist() gives itself
        value = float(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return plain(value.tolist(), name)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (int, float)):
        if not math.isfinite(value):
            raise ArgumentError("'%s' is %r: it must be finite" % (name, value), "range")
        return value
    if isinstance(value, dict):
        return {str(key): plain(v, "%s.%s" % (name, key)) for key, v in value.items()}
    if isinstance(value, Made):
        return {value.function: plain(value.arguments, name)}
    if isinstance(value, (list, tuple, range)):
        return [plain(v, name) for v in value]
    raise KindError("'%s' must be a number, a text, a list or a dict, not %s" % (name, type(value).__name__), "type")


def to_json(value):
    """Options, or a list of arguments, as the bytes of a JSON text. Options that are None are left out."""
    if isinstance(value, dict):
        return json.dumps({key: plain(v, key) for key, v in value.items() if v is not None}).encode()
    return json.dumps([plain(v, "argument %d" % (i + 1)) for i, v in enumerate(value)]).encode()


def evaluate(function, box, name):
    """What a function of coordinates gives for the cells of a box, ((x0, x1), (y0, y1), …), as an array [z, y, x]."""
    shape = tuple(high - low for low, high in reversed(box))
    axes = []
    for axis, (low, high) in enumerate(box):
        across = [1] * len(box)
        across[len(box) - 1 - axis] = high - low
        axes.append(np.broadcast_to(np.arange(low, high, dtype=float).reshape(across), shape))
    try:
        value = np.asarray(function(*axes))
    except (TypeError, ValueError) as error:
        if "truth value" not in str(error) and "converted to Python scalars" not in str(error):
            raise
        raise ArgumentError("the function for '%s' gets arrays, the coordinates of all cells at once: numpy.where in "
                            "place of if, & and | in place of and and or, numpy.sin in place of math.sin; or "
                            "numpy.vectorize(function)" % name) from error
    if value.dtype == object:
        raise KindError("the function for '%s' returns objects that are no numbers" % name, "type")
    try:
        return np.broadcast_to(value, shape)
    except ValueError:
        raise ArgumentError("the function for '%s' returns an array of shape %s; the cells need %s" %
                            (name, value.shape, shape), "shape") from None


def numbers(value, name, shape):
    """An array of numbers of the shape, [z, y, x]; strides and type may be any."""
    array = np.asarray(value)
    if np.ma.is_masked(value):
        raise ArgumentError("'%s' has cells that are masked: give .filled(number)" % name)
    if array.dtype.kind not in "biuf":
        raise KindError("'%s' must have numbers, not %s%s" % (
            name, array.dtype, ": give .real or .imag" if array.dtype.kind == "c" else ""), "type")
    if array.dtype == np.longdouble and array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.shape != shape:
        hint = ""
        if array.shape == shape[::-1]:
            hint = "; its transpose would fit: arrays are [%s], and grid = %s is (%s)" % (
                ", ".join("zyx"[3 - len(shape):]), shape[::-1], ", ".join(("nx", "ny", "nz")[:len(shape)]))
        raise ArgumentError("'%s' has shape %s; the cells need %s%s" % (name, array.shape, shape, hint), "shape")
    return array


class FieldArray(np.ndarray):
    """A read-only array of a field. What is computed of it is a plain array; .copy() can be changed."""

    def __setitem__(self, key, value):
        if not self.flags.writeable:
            raise ArgumentError("this array is a picture of the field, and cannot be changed: write sim[name] = array, "
                                "or sim.set(name, value, box) for a part; a copy of your own is sim.array(name)")
        super().__setitem__(key, value)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        out = np.asarray(array)
        return out[()] if out.ndim == 0 else out

    def copy(self, order="C"):
        return np.array(self, order=order)


def _in_place(name):
    """sim["t"] += 1 sets the field to the sum: the array itself stays as it is."""
    def operate(self, other):
        return getattr(np.ndarray, name)(self, other) if self.flags.writeable else getattr(np.asarray(self), plain_name)(other)
    plain_name = name.replace("__i", "__", 1)
    return operate


for _name in ("__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__", "__ipow__", "__iand__",
              "__ior__", "__ixor__"):
    setattr(FieldArray, _name, _in_place(_name))


def read_only(array):
    """The array as one that cannot be changed."""
    out = array.view(FieldArray)
    out.flags.writeable = False
    return out
