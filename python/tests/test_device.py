"""Views of fields on a GPU, with the stand-in for the driver (tests/backend/cuda/fake): memory of the device is the host's, what
is queued is done when somebody waits for it, and kernels do nothing. The protocols are those of
https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html (version 3) and https://dmlc.github.io/dlpack/latest/."""
import ctypes
import gc
import os
import sys
import threading
import unittest

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
os.environ.pop("LD_PRELOAD", None)  # a compiler has no room for a sanitizer

import trapeze as tz
from trapeze import _library, _views

rename, pointer = ctypes.pythonapi.PyCapsule_SetName, ctypes.pythonapi.PyCapsule_GetPointer
rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
HEAT = tz.Stencil(dims=2, fields=["t"], params=dict(rate=0.2), update=dict(t="t + rate*lap(t)"))


def start(*shape):
    return np.random.default_rng(3).random(shape, dtype=np.float32)


def heat(**options):
    return tz.Simulation(HEAT, grid=(20, 12), backend="cuda", policy="fixed", height=1, t=start(12, 20), **options)


def consume(capsule, kind=_views.Managed):
    """What a consumer does: takes the tensor, and renames the capsule."""
    name = b"dltensor_versioned" if kind is _views.Versioned else b"dltensor"
    managed = kind.from_address(pointer(capsule, name))
    rename(capsule, b"used_dltensor_versioned" if kind is _views.Versioned else b"used_dltensor")
    return managed


def delete(managed):
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(ctypes.addressof(managed))


def array_at(data, typestr, shape, strides, **more):
    holder = _library.Holder()
    holder.__array_interface__ = dict(data=data, typestr=typestr, shape=shape, strides=strides, version=3)
    return np.asarray(holder)


def cells(tensor):
    """The elements of a tensor of DLPack, of single precision."""
    return array_at((tensor.data + tensor.byte_offset, True), "<f4", tuple(tensor.shape[:2]),
                    tuple(4 * s for s in tensor.strides[:2]))


def through_interface(view):
    return array_at(**view.__cuda_array_interface__)


class Device(unittest.TestCase):
    def in_use(self, sim):
        for change in (lambda: sim.run(1), lambda: sim.set("t", 0), sim.close, sim.rewind, lambda: sim.plan(height=2)):
            with self.assertRaisesRegex(tz.Error, "a view of 't' is in use"):
                change()

    def test_interface(self):
        with heat() as sim:
            self.assertEqual(sim.backend, "cuda")
            for value in (start(12, 20), start(12, 20)[::-1]):  # the second is seen though nobody has waited for its copy
                sim["t"] = value
                view = sim.view("t")
                about = view.__cuda_array_interface__
                self.assertEqual((about["shape"], about["typestr"], about["version"], about["stream"]), ((12, 20), "<f4", 3, None))
                self.assertEqual(about["strides"][1], 4)
                self.assertGreaterEqual(about["strides"][0], 80)
                self.assertTrue(isinstance(about["data"][0], int) and about["data"][1])
                np.testing.assert_array_equal(through_interface(view), value)
                self.in_use(sim)
                del view
            sim.run(3)
            np.testing.assert_array_equal(through_interface(sim.view("t")), sim["t"])
        volume = start(3, 4, 5).astype(float)
        with tz.Simulation("star3d1r", grid=(5, 4, 3), precision="double", backend="cuda", u=volume) as sim:
            view = sim.view("u")
            self.assertEqual((view.dtype, view.shape, view.strides[2]), (np.float64, (3, 4, 5), 8))
            np.testing.assert_array_equal(through_interface(view), volume)
            self.assertEqual(repr(view), "<trapeze.DeviceView: float64, shape (3, 4, 5), on GPU 0>")
            with self.assertRaisesRegex(tz.Error, "on a GPU"):
                np.asarray(view)
            del view

    def test_raw(self):
        with heat(storage="half") as sim:
            with self.assertRaisesRegex(tz.Error, "raw view"):
                sim.view("t")
            np.testing.assert_array_equal(through_interface(sim.view("t", raw=True)), start(12, 20).astype(np.float16))
        with tz.Simulation("life", grid=(64, 8), backend="cuda", boundary="periodic", alive=start(8, 64) > 0.5) as sim:
            words = through_interface(sim.view("alive", raw=True))
            self.assertEqual((words.shape, words.dtype), ((8, 2), np.uint32))
            np.testing.assert_array_equal(words[:, 1] >> 3 & 1, sim["alive"][:, 3 * 2 + 1])

    def test_dlpack(self):
        with heat() as sim:
            for kind, options in ((_views.Managed, {}), (_views.Managed, dict(max_version=(0, 8), stream=1)),
                                  (_views.Versioned, dict(max_version=(1, 0), stream=-1, dl_device=(2, 0), copy=False)),
                                  (_views.Versioned, dict(max_version=(2, 3), stream=0x5000))):
                view = sim.view("t")
                self.assertEqual(view.__dlpack_device__(), (2, 0))
                address = view.__cuda_array_interface__["data"][0]
                managed = consume(view.__dlpack__(**options), kind)
                del view
                gc.collect()
                tensor = managed.tensor
                self.assertEqual((tensor.data, tensor.byte_offset, tensor.device_type, tensor.device_id), (address, 0, 2, 0))
                self.assertEqual((tensor.code, tensor.bits, tensor.lanes, tensor.ndim), (2, 32, 1, 2))
                np.testing.assert_array_equal(cells(tensor), sim["t"])
                if kind is _views.Versioned:
                    self.assertEqual((managed.major, managed.minor, managed.flags), (1, 0, _views.READ_ONLY))
                self.in_use(sim)
                delete(managed)
                sim.set("t", start(12, 20))
            view = sim.view("t")
            for stream in (0, -2, "a"):
                with self.assertRaisesRegex(ValueError, "stream is None, -1, 1, 2"):
                    view.__dlpack__(stream=stream)
            for options in (dict(copy=True), dict(dl_device=(1, 0)), dict(dl_device=(2, 1))):
                with self.assertRaisesRegex(BufferError, "GPU 0"):
                    view.__dlpack__(**options)
            del view

    def test_who_deletes(self):
        with heat() as sim:
            # Nobody takes the capsule, or an exception drops it.
            sim.view("t").__dlpack__()
            with self.assertRaises(ZeroDivisionError):
                print(sim.view("t").__dlpack__(max_version=(1, 1)), 1 / 0)
            sim.run(1)
            for kind in (_views.Managed, _views.Versioned):
                # A thread of the consumer, and a second time, which is a mistake of it.
                managed = consume(sim.view("t").__dlpack__(max_version=(kind is _views.Versioned, 0)), kind)
                thread = threading.Thread(target=delete, args=(managed,))
                thread.start()
                thread.join()
                delete(managed)
                # No code of Python: it may run while an exception is on its way.
                done = ctypes.cast(_library.load().tz_sim_view_done, ctypes.c_void_p)
                self.assertEqual(managed.deleter, done.value)
                sim.run(1)
            self.assertEqual(_views._exports, {})
        # A tensor keeps the memory of a simulation that nobody has any more.
        sim = heat()
        managed = consume(sim.view("t").__dlpack__())
        del sim
        gc.collect()
        np.testing.assert_array_equal(cells(managed.tensor), start(12, 20))
        delete(managed)
        _views.sweep()

    def test_numpy_takes_it(self):
        memory = np.arange(24, dtype=np.float32).reshape(4, 6)[:, ::-2]

        class Exporter:
            def __dlpack__(self, **options):
                return _views.capsule(self, memory.ctypes.data, memory.dtype, memory.shape, memory.strides,
                                      self.__dlpack_device__(), options.get("max_version", (0,))[0] >= 1)

            def __dlpack_device__(self):
                return _views.DEVICE_CPU, 0
        leases, exporter = _views.Leases(), Exporter()
        leases.add(exporter, "t")
        out = np.from_dlpack(exporter)
        np.testing.assert_array_equal(out, memory)
        self.assertEqual(out.__array_interface__["data"][0], memory.ctypes.data)
        del exporter
        gc.collect()
        with self.assertRaisesRegex(tz.Error, "a view of 't' is in use"):
            leases.check()
        with self.assertRaises(ZeroDivisionError):  # numpy's deleter runs while an exception is on its way
            print(np.from_dlpack(Exporter()), 1 / 0)
        del out
        gc.collect()
        leases.check()
        self.assertEqual(_views._exports, {})


if __name__ == "__main__":
    unittest.main()
