"""Iterative stencil loops with ghost zones, from Python.

    import trapeze as tz
    heat = tz.Stencil(dims=2, fields=["t"], params=dict(rate=0.2), update=dict(t="t + rate*lap(t)"))
    sim = tz.Simulation(heat, grid=(256, 256), t=start)        # numpy arrays [y, x]
    sim.run(1000)
    plt.imshow(sim["t"])

Options have the names and meanings of scenarios: tables are dicts, lists are lists. docs/python.md is a page about it.
"""
from ._errors import ArgumentError, Error, FileFailed, KindError, LibraryMissing, NameUnknown, OutOfMemory
from ._library import VERSION as __version__
from ._runs import Run, resume, run
from ._simulation import Params, Receivers, Simulation
from ._stencil import (Stencil, box, circle, difference, floorplan, intersection, polygon, predict, random, read, stencils,
                       tune, union)
from ._views import DeviceView

__all__ = ["ArgumentError", "DeviceView", "Error", "FileFailed", "KindError", "LibraryMissing", "NameUnknown", "OutOfMemory",
           "Params", "Receivers", "Run", "Simulation", "Stencil", "box", "circle", "difference", "floorplan",
           "intersection", "polygon", "predict", "random", "read", "resume", "run", "stencils", "tune", "union"]
