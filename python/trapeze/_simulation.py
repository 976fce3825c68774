"""A simulation: a stencil on a grid."""
import operator
import os
import sys
import time
from collections.abc import MutableMapping
from ctypes import byref, c_int64, c_void_p

import numpy as np

from . import _library, _views
from ._errors import ArgumentError, Error, KindError, NameUnknown
from ._manual import DOCS, KEYS
from ._stencil import check_callable, check_keys, describe, documented, nearest, split_plugin
from ._values import Made, evaluate, numbers, read_only, to_json

# Options whose arrays become arrays of the engine; others become lists.
ARRAYS = ("domain", "points", "values", "region")

# Runs that are expected to be shorter than this are not interrupted.
SHORT_S = 0.05


class Params(MutableMapping):
    """The parameters of a simulation, as attributes or as a dict: sim.params.rate = 0.1, sim.params["rate"].

    sim.params.update(rate=0.1, flow=2) changes several at once.
    """

    def __init__(self, sim):
        object.__setattr__(self, "_sim", sim)

    def _all(self):
        return self._sim._ask("params")

    def __getitem__(self, name):
        values = self._all()
        if name not in values:
            raise NameUnknown("there is no parameter '%s'%s" % (name, nearest(name, values)), "unknown")
        return values[name]

    def __setitem__(self, name, value):
        self.update({name: value})

    def __delitem__(self, name):
        raise KindError("a parameter cannot be deleted", "type")

    def update(self, *values, **more):
        self._sim._ask("params", dict(*values, **more), change=True)

    def __iter__(self):
        return iter(self._all())

    def __len__(self):
        return len(self._all())

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except NameUnknown as error:
            raise AttributeError(str(error)) from None

    def __setattr__(self, name, value):
        self[name] = value

    def __dir__(self):
        return list(self._all())

    def __repr__(self):
        return "Params(%s)" % ", ".join("%s=%r" % item for item in self._all().items())


class Receivers:
    """What sim.receivers() returns: a field that is recorded at points."""

    def __init__(self, sim, number):
        self._sim, self._number = sim, number

    def _ask(self, name):
        self._sim._open()
        session = self._sim._session
        return session.ask("tz_object_call", session.handle, self._number, name, None)

    @documented("Receivers.array")
    def array(self):
        return self._ask(b"array")

    count = property(lambda self: self._ask(b"count"), doc="Of points.")
    rows = property(lambda self: self._ask(b"rows"), doc="Steps that are recorded so far.")


class Simulation:
    """A simulation: a stencil on a grid.

        sim = tz.Simulation(heat, grid=(256, 128), t=start)     # or the name of a stencil, or the path of a plugin
        sim.run(1000)
        plt.imshow(sim["t"])

    `grid` is (nx, ny, nz), x first, as coordinates, boxes and points are everywhere; arrays are [z, y, x], so that `shape`,
    that of fields, is grid[::-1]: here (128, 256). Fields are keyword arguments, or `fields`, a dict: a number; an array of
    any strides and type; a function of x and y (and z), which gets arrays with the coordinates of all cells, from 0; or
    what trapeze.random(), read() and shapes return.

    `plugins` are folders with plugins, or plugins. `messages`, a function(text, level), gets lines of the log (level 0) and
    warnings (1), which are Python's warnings without it.

    It has `step`, `time`, `seconds`, `grid`, `shape`, `dims`, `cells`, `backend`, `precision`, `threads`, `height`, `plugin`,
    `name` and `fields`, a dict of what is known of each, to read, and `params`. One thread uses a simulation at a time,
    others wait; several simulations compute at once. With `with`, it is closed at the end of the block.
    """

    def __init__(self, plugin, *, fields=None, plugins=(), messages=None, **options):
        values = dict(fields or {})
        for key in [key for key in options if key not in KEYS["Simulation"]]:
            if key in values:
                raise KindError("the field '%s' is given twice" % key)
            values[key] = options.pop(key)
        if "grid" not in options:
            raise KindError("a simulation needs grid=(nx, ny): cells along each axis, x first")
        check_callable(messages=messages)
        id, definition, plugins = split_plugin(plugin, plugins)
        self._leases, self._objects, self._handle = _views.Leases(), [], None
        self._stopped, self._step_s = None, float("inf")
        _views.sweep()
        self._session = session = _library.open_session(plugins)
        try:
            options["plugin"] = id or session.define(definition)
            about = describe(session, options["plugin"])
            self.fields = {field["name"]: field for field in about["fields"]}
            for name, value in values.items():
                if name in {param["name"] for param in about["parameters"]} - set(self.fields):
                    raise KindError("'%s' is a parameter of %s: params=dict(%s=…)" % (name, options["plugin"], name))
                if name not in self.fields:
                    raise KindError("Simulation() has no option and %s no field '%s'%s" % (
                        options["plugin"], name, nearest(name, KEYS["Simulation"] + tuple(self.fields))), "unknown")
                if value is None:
                    raise KindError("the field '%s' is None: leave it out for the stencil's initial value" % name, "type")
            session.message = messages
            self.grid = _grid(options["grid"])
            self.shape = self.grid[::-1]
            # Numbers, what the engine makes, and rows of streamed fields; arrays follow.
            arrays = {name: v for name, v in values.items() if _is_array(v) and not self._streamed(name)}
            options["fields"] = {name: v for name, v in values.items() if name not in arrays}
            handle = c_void_p()
            with _Given(self) as given:
                session.call("tz_sim_create", byref(handle), session.handle, to_json(given.all(options)))
            self._handle = handle
            session.warn()
            for name, value in arrays.items():
                self.set(name, value)
        except BaseException:
            self.close()
            raise

    # ---- Life ----

    def close(self):
        """Frees its memory now: otherwise that happens when it is collected. It cannot be used after that."""
        session = getattr(self, "_session", None)
        if session is None:
            return
        if session.process != os.getpid():  # the parent frees it
            self._session = self._handle = None
            return
        session.check()
        with session.lock:
            self._leases.check()
            if self._session is None:  # another thread closed it
                return
            for number in self._objects:
                session.library.tz_object_release(session.handle, number)
            session.library.tz_sim_destroy(self._handle)
            self._session = self._handle = None
        _library.close_session(session)

    def __del__(self):
        if sys is not None and not sys.is_finalizing():
            try:
                self.close()
            except Error:
                pass  # a view that is in use keeps the simulation: never here

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        try:
            self.close()
        except Error:
            if exception[0] is None:  # else that is what matters, and it may hold the view
                raise

    def __reduce__(self):
        raise KindError("a simulation cannot be copied or pickled: checkpoint() and resume() keep its state in a file")

    def __repr__(self):
        if self._handle is None:
            return "<trapeze.Simulation, closed>"
        facts = self._facts()
        return "<trapeze.Simulation %s: %s, step %d, %s>" % (
            facts.plugin.decode(), " x ".join(map(str, self.grid)), facts.step, facts.backend.decode())

    def _open(self, change=False):
        """Its handle, for the thread that has the session. `change`: for what ends views."""
        if self._handle is None:
            raise Error("the simulation is closed")
        if change:
            self._leases.check()
        return self._handle

    def _call(self, name, *arguments, **options):
        if self._session is None:
            raise Error("the simulation is closed")
        return self._session.call(name, *arguments, sim=self, **options)

    def _ask(self, method, *arguments, change=False):
        """Calls a method of scenarios with arguments that JSON has."""
        self._open()
        session = self._session
        with _Given(self) as given:
            text = to_json(given.all(arguments)) if arguments else None
            result = session.ask("tz_sim_call", method.encode(), text, sim=self, change=change)
        session.warn()
        return result

    def _facts(self):
        self._open()
        facts = _library.Facts()
        self._session.check()
        with self._session.lock:
            self._session.library.tz_sim_get_facts(self._open(), byref(facts))
        return facts

    step = property(lambda self: self._facts().step, doc="Iterations so far.")
    time = property(lambda self: self._facts().time, doc=DOCS["Simulation.time"] + " nan: it has none.")
    seconds = property(lambda self: self._facts().seconds, doc="Seconds in stages so far.")
    cells = property(lambda self: self._facts().cells, doc="Cells of the grid.")
    dims = property(lambda self: len(self.grid), doc="Axes, 1 to 3.")
    threads = property(lambda self: self._facts().threads, doc="Threads of the cpu backend.")
    height = property(lambda self: self._facts().height, doc="Iterations of a stage of the plan, now.")
    backend = property(lambda self: self._facts().backend.decode(), doc="'cpu', 'cuda' or 'reference', now.")
    precision = property(lambda self: self._facts().precision.decode(), doc="'single', 'double' or 'none'.")
    name = property(lambda self: self._facts().name.decode(), doc="In messages.")
    plugin = property(lambda self: self._facts().plugin.decode(), doc="The stencil's name.")

    @property
    def params(self):
        """Parameters, as attributes and as a dict."""
        self._open()
        return Params(self)

    @params.setter
    def params(self, values):
        Params(self).update(values)

    # ---- Fields ----

    def _streamed(self, name):
        """Whether iterations read a field row by row: its array has as many rows as there are iterations."""
        return self.fields.get(name, {}).get("role") == "streamed"

    def _layout(self, name):
        memory = _library.Memory()
        self._call("tz_sim_layout", str(name).encode(), byref(memory))
        return memory

    def _box(self, box):
        """((x0, x1), …) of a box, {"x": (x0, x1), …}; without one the grid's."""
        bounds = [(0, n) for n in self.grid]
        if box is not None and not (isinstance(box, dict) and all(np.shape(limits) == (2,) for limits in box.values())):
            raise KindError("a box is dict(x=(low, high), y=…), not %r" % (box,), "type")
        for axis, limits in (box or {}).items():
            if axis not in tuple("xyz"[:len(bounds)]):
                raise ArgumentError("a box has %s, not '%s': dict(x=(low, high))" % (
                    ", ".join("xyz"[:len(bounds)]), axis), "unknown")
            low, high = (int(limit) for limit in limits)
            if not 0 <= low < high <= self.grid["xyz".index(axis)]:
                raise ArgumentError("the box has %s = (%d, %d): low < high within the grid, 0 to %d" % (
                    axis, low, high, self.grid["xyz".index(axis)]), "range")
            bounds["xyz".index(axis)] = (low, high)
        return tuple(bounds)

    def __getitem__(self, name):
        """sim["t"]: the field as it is now, a read-only copy as an array [z, y, x]."""
        return read_only(self.array(name))

    def __setitem__(self, name, value):
        """sim["t"] = value sets all cells: see set()."""
        self.set(name, value)

    def __contains__(self, name):
        return name in self.fields

    def __iter__(self):
        return iter(self.fields)

    @documented("Simulation.array")
    def array(self, name, box=None, dtype=None):
        """A copy of a field, or of its cells in a box, dict(x=(low, high), y=…), as an array [z, y, x] of its own type, or of
        `dtype`. Bits are 0 and 1."""
        layout = self._layout(name)
        bounds = self._box(box)
        own = np.dtype(layout.dtype.decode())
        dtype = np.dtype(own if dtype is None else dtype)
        known = dtype.isnative and (dtype.kind in "biu" or dtype in (np.float32, np.float64))
        out = np.empty(tuple(high - low for low, high in reversed(bounds)), dtype if known else own)
        at = (c_int64 * 3)(*[low for low, high in bounds])
        self._call("tz_sim_get", name.encode(), at, byref(_library.memory_of(out)))
        return out if known else out.astype(dtype)

    @documented("Simulation.set")
    def set(self, name, value, box=None):
        """Sets the cells of a box, dict(x=(low, high), y=…), or all: to a number, an array [z, y, x] of any strides and type,
        what a function of the coordinates returns, or what random(), read() and shapes return."""
        if not _is_array(value) or self._streamed(name):
            self._ask("set", str(name), value, *([] if box is None else [box]), change=True)
            return
        bounds = self._box(box)
        if callable(value):
            value = evaluate(value, bounds, name)
        array = numbers(value, name, tuple(high - low for low, high in reversed(bounds)))
        if array.dtype == np.float16:
            array = array.astype(np.float32)
        at = (c_int64 * 3)(*[low for low, high in bounds])
        self._call("tz_sim_set", str(name).encode(), at, byref(_library.memory_of(array)), change=True)

    def view(self, name, raw=False):
        """The memory of a field itself, without a copy, as a read-only array [z, y, x]; on a GPU a DeviceView, which cupy,
        torch and jax take.

        While it, or an array made from it, is in use, the simulation cannot be changed, run or closed: that is an error.
        There is no view where memory does not hold the values as they are: of bits, of fields with an origin, of half
        precision, of derived fields, and of several devices. `raw` gives memory as it is: half numbers, words of 32 bits,
        differences from an origin.
        """
        view = _library.Cells()

        def lease():
            return (_views.DeviceView if view.memory.device >= 0 else _views.array_view)(self, view.memory, name)
        return self._call("tz_sim_view", str(name).encode(), int(bool(raw)), byref(view), give=lease)

    # ---- Numbers ----

    def _reduce(self, method, field, region):
        if region is not None and not isinstance(region, (dict, str, Made)):
            if isinstance(region, (slice, tuple)):
                raise KindError("a region is a box, dict(x=(low, high), y=…), the name of a field, or an array of cells that are "
                                "not 0, not %r" % (region,), "type")
            region = numbers(region, "region", self.shape)
        arguments = [] if field is None and region is None else [field if field is not None else next(iter(self.fields))]
        return self._ask(method, *arguments, *([] if region is None else [region]))

    @documented("Simulation.min")
    def min(self, field=None, region=None):
        """A region is a box, dict(x=(low, high), y=…), the name of a field, or an array [z, y, x]: cells that are not 0."""
        return self._reduce("min", field, region)

    @documented("Simulation.max")
    def max(self, field=None, region=None):
        return self._reduce("max", field, region)

    @documented("Simulation.sum")
    def sum(self, field=None, region=None):
        return self._reduce("sum", field, region)

    @documented("Simulation.mean")
    def mean(self, field=None, region=None):
        return self._reduce("mean", field, region)

    @documented("Simulation.population")
    def population(self, field=None):
        return self._reduce("population", field, None)

    @documented("Simulation.hash")
    def hash(self, field=None):
        return self._reduce("hash", field, None)

    @documented("Simulation.residual")
    def residual(self):
        return self._ask("residual")

    @documented("Simulation.profile")
    def profile(self, field, start, end, points=None):
        out = self._ask("profile", field, list(start), list(end), *([] if points is None else [points]))
        return {key: np.asarray(v) for key, v in out.items()}

    @documented("Simulation.histogram")
    def histogram(self, field=None, **options):
        field = field if field is not None else next(iter(self.fields))
        out = self._ask("histogram", field, *([options] if options else []))
        return {key: np.asarray(v) if isinstance(v, list) else v for key, v in out.items()}

    @documented("Simulation.units")
    def units(self, floorplan, field=None):
        """sim.units(tz.floorplan(flp="chip.flp"))"""
        return self._ask("units", floorplan, *([] if field is None else [field]))

    @documented("Simulation.slabs")
    def slabs(self, field, first, count):
        return self._ask("slabs", field, first, count)

    @documented("Simulation.analyse")
    def analyse(self, method):
        return self._ask("analyse", method)

    @documented("Simulation.scalar")
    def scalar(self, name, step=None):
        return self._ask("scalar", name, *([] if step is None else [step]))

    @documented("Simulation.picture")
    def picture(self, file, field=None, **options):
        """Draws a field as it is now into a .png file, a path that must not be there: sim.picture("t.png", map="inferno")."""
        check_keys("Simulation.picture", options)
        options.update(file=os.fspath(file), field=field)
        if "data" in options:
            raise KindError("picture() draws a field of this simulation, and takes no data", "type")
        self._ask("picture", {key: value for key, value in options.items() if value is not None})

    # ---- Running ----

    @documented("Simulation.run")
    def run(self, steps=None, *, until=None, every=None, call=None, progress=None, **options):
        """Advances the simulation: sim.run(1000), sim.run(until="2 ms"), sim.run(until_residual=1e-6, max_steps=10**5).

        `until` is a simulated time, as `until_time`, or a function(sim), as `until_true`. With `every=n, call=f` f(sim) is
        called between stages, whenever sim.step is a multiple of n; it may read and change the simulation, and sim.stop()
        in it ends the run. `progress`, a function(done, total) or True for a line on the screen, is called up to 20 times a
        second while the simulation computes, and must not use it. KeyboardInterrupt ends a run after its stage; the simulation
        can be used and run on.
        """
        if steps is not None:
            options["steps"] = _whole(steps, "steps")
        if callable(until):
            options["until_true"] = until
        elif until is not None:
            options["until_time"] = until
        check_keys("Simulation.run", options)
        if (every is None) != (call is None):
            raise KindError("every and call are given together: sim.run(1000, every=100, call=function)")
        if every is None and "until_true" not in options:
            return self._run(options, progress)
        return self._run_parts(options, every, call, progress)

    def _run(self, options, progress):
        steps = options.get("steps") if len(options) == 1 else None
        began = time.monotonic()
        result = self._advance("tz_sim_run", to_json(options) if steps is None else b"%d" % steps, progress,
                               steps is not None and steps * self._step_s < SHORT_S)
        if result["steps"] > 0:
            self._step_s = (time.monotonic() - began) / result["steps"]
        return result

    def _advance(self, function, text, progress, short=False):
        """A call that computes. Unless it is short, KeyboardInterrupt ends it: then it has a thread of its own."""
        self._open()
        if progress is not True:
            check_callable(progress=progress)
        session = self._session
        ask = session.ask if short and not progress else session.ask_long
        try:
            result = ask(function, text, sim=self, change=True, turn=_line if progress is True else progress)
        finally:
            if progress is True:
                print(file=sys.stderr)
        session.warn()
        return result

    def _run_parts(self, options, every, call, progress):
        """A run with functions of Python: in parts, which end where one is due."""
        condition = options.pop("until_true", None)
        known = {"steps", "max_steps", "until_residual", "until_update", "accept_stagnation", "check_every"}
        for key in options:
            if key not in known:
                raise ArgumentError("a run with a function of Python goes with steps, max_steps and until_residual or "
                                    "until_update, not with %s: call run() in a loop, as "
                                    "for ms in range(1, 11): sim.run(until='%%d ms' %% ms)" % key)
        check_callable(call=call)
        every = _whole(every, "every", 1) if every is not None else None
        check = _whole(options.pop("check_every", 64), "check_every", 1) if condition else None
        residual = "until_residual" in options or "until_update" in options
        limit = options.pop("max_steps" if residual or condition else "steps", None)
        if condition and (residual or options):
            raise ArgumentError("a function that ends the run goes with max_steps and check_every alone")
        if limit is None and not residual and not condition:
            raise ArgumentError("run() needs what ends it: sim.run(1000, every=100, call=function)")
        limit = None if limit is None else _whole(limit, "steps")
        self._stopped, first, done, result = None, self.step, 0, {}
        while True:
            step = first + done
            if condition and (done == 0 or step % check == 0 or done == limit) and condition(self):
                result.update(status="until", why="the function says so")
                break
            if done == limit and result:
                result["status"] = "max_steps" if residual or condition else "done"
                break
            part = min(limit - done if limit is not None else 1 << 40,
                       *(m - step % m for m in (every, check) if m))
            one = self._run(dict(options, max_steps=part) if residual else {"steps": part}, progress)
            done += one["steps"]
            result = _together(result, one)
            if every and one["steps"] and (first + done) % every == 0:
                call(self)
            if self._stopped is not None:
                result.update(status="stopped", why=self._stopped)
                break
            if one["status"] not in ("done", "max_steps"):
                break
        return dict(result, steps=done)

    def stop(self, reason="stopped"):
        """In a function that run() calls: the run ends at this step. The result's status is "stopped", its why the reason."""
        self._stopped = str(reason)

    @documented("Simulation.jump")
    def jump(self, steps=None, *, until=None, progress=None, **options):
        """`until` is a simulated time, as `until_time`."""
        if steps is not None:
            options["steps"] = _whole(steps, "steps")
        if until is not None:
            options["until_time"] = until
        check_keys("Simulation.jump", options)
        return self._advance("tz_sim_jump", to_json(options), progress)

    @documented("Simulation.steady")
    def steady(self, *, progress=None, **options):
        """The result is the dict alone, which has the residual."""
        check_keys("Simulation.steady", options)
        residual, result = self._advance("tz_sim_steady", to_json(options), progress)
        return dict(result, residual=residual)

    @documented("Simulation.rewind")
    def rewind(self):
        self._ask("rewind", change=True)

    # ---- Plans ----

    @documented("Simulation.plan")
    def plan(self, **plan):
        check_keys("Simulation.plan", plan)
        return self._ask("plan", *([plan] if plan else []), change=bool(plan))

    @documented("Simulation.policy")
    def policy(self, policy=None, **options):
        if policy is not None:
            options["policy"] = policy
        check_keys("Simulation.policy", options)
        return self._ask("policy", *([options] if options else []), change=bool(options))

    @documented("Simulation.kernel")
    def kernel(self):
        return self._ask("kernel")

    # ---- Points ----

    @documented("Simulation.receivers")
    def receivers(self, **options):
        """The result has array(), what was recorded so far."""
        check_keys("Simulation.receivers", options)
        number = c_int64()
        with _Given(self) as given:
            self._call("tz_sim_receivers", to_json(given.all(options)), byref(number), change=True)
        self._objects.append(number.value)
        return Receivers(self, number.value)

    @documented("Simulation.sources")
    def sources(self, **options):
        check_keys("Simulation.sources", options)
        with _Given(self) as given:
            self._call("tz_sim_sources", to_json(given.all(options)), change=True)

    # ---- Checkpoints ----

    def checkpoint(self, path):
        """Writes fields, parameters, step and time into a file, in place of the one that is there; it appears whole or not at
        all."""
        self._call("tz_sim_checkpoint", os.fsencode(path))

    def resume(self, path):
        """Brings this simulation, of the same stencil, grid, precision, boundaries and parameters, to where checkpoint() was
        called. It goes on with the same bits, on any backend, plan and number of threads."""
        self._call("tz_sim_resume", os.fsencode(path), change=True)


def _line(done, total):
    print("\r%d of %s" % (done, total if total is not None else "?"), end="", file=sys.stderr, flush=True)


def _grid(grid):
    try:
        extents = tuple(operator.index(n) for n in (grid if hasattr(grid, "__len__") else (grid,)))
    except TypeError:
        raise KindError("grid must be integers, (nx, ny), x first, not %r" % (grid,), "type") from None
    return extents


def _whole(value, name, least=0):
    try:
        number = operator.index(value)
    except TypeError:
        if not isinstance(value, float) or value != int(value):
            raise KindError("%s must be an integer, not %r" % (name, value), "type") from None
        number = int(value)
    if number < least:
        raise ArgumentError("%s must be at least %d, not %d" % (name, least, number), "range")
    return number


def _is_array(value):
    """Whether a value of a field is set from memory."""
    return callable(value) or (not isinstance(value, (str, dict, Made)) and np.ndim(value) > 0)


def _together(before, one):
    """The results of two runs as one."""
    if not before:
        return dict(one)
    out = dict(before, **one)
    for key in ("steps", "stages", "seconds", "energy_j"):
        if key in one and key in before:
            out[key] = before[key] + one[key]
    if out.get("seconds") and "gcells_per_s" in one and one["steps"] and before["steps"]:
        cells = one["gcells_per_s"] * one["seconds"] / one["steps"]
        out["gcells_per_s"] = cells * out["steps"] / out["seconds"] if cells else one["gcells_per_s"]
    return out


class _Given:
    """Arrays within arguments become arrays of the engine, by names, for the time of a call."""

    def __init__(self, sim):
        self._sim, self._session, self._names = sim, sim._session, []

    def all(self, value, key=""):
        if isinstance(value, dict):
            return {k: self.all(v, "region" if key == "fields" else k) for k, v in value.items()}
        if isinstance(value, Made):
            return Made(value.function, self.all(value.arguments, key))
        if key == "domain" and callable(value):
            value = evaluate(value, [(0, n) for n in self._sim.grid], key)
        if isinstance(value, (list, tuple)) and key not in ARRAYS:
            return [self.all(v, "region") for v in value]
        if isinstance(value, np.ndarray) and value.ndim > 0 and key in ARRAYS:
            return self._give(np.ascontiguousarray(value))
        return value

    def _give(self, array):
        if array.dtype.kind not in "biuf" or array.ndim > 3:
            raise KindError("this must be an array of numbers with up to 3 axes, not %s with %d" % (array.dtype, array.ndim), "type")
        name = "array%d" % len(self._names)
        self._session.call("tz_session_give", self._session.handle, name.encode(), byref(_library.memory_of(array)))
        self._names.append(name)
        return {"tz.memory": name}

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for name in self._names:
            self._session.call("tz_session_give", self._session.handle, name.encode(), None)
