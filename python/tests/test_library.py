"""The package with the library: TRAPEZE_LIBRARY names it, TRAPEZE the program."""
import copy
import faulthandler
import gc
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import numpy as np
import PIL.Image

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

os.environ.pop("LD_PRELOAD", None)  # for this process alone
import trapeze as tz

# A shell's background job ignores it, and Python then does, too: runs that are interrupted would not end.
signal.signal(signal.SIGINT, signal.default_int_handler)

PROGRAM = os.environ["TRAPEZE"]
HEAT = dict(dims=2, fields=["t"], params=dict(rate=0.2), update=dict(t="t + rate*lap(t)"))
WAVE = dict(dims=2, fields=["u", "before"], params=dict(c=0.3), update=dict(u="2*u - before + c*lap(u)", before="u"))


def heat(grid=(24, 16), backend="reference", **options):
    return tz.Simulation(tz.Stencil(**HEAT), grid=grid, backend=backend, **options)


def start(nx=24, ny=16):
    return np.random.default_rng(5).random((ny, nx), dtype=np.float32)


def oracle(t, steps, rate=0.2):
    for _ in range(steps):
        p = np.pad(t, 1, mode="edge")
        t = t + np.float32(rate) * (((p[1:-1, :-2] + p[1:-1, 2:]) + (p[:-2, 1:-1] + p[2:, 1:-1])) - 4 * t)
    return t


# Prints the definition of each script's first stencil as JSON, and the hashes of its fields after two iterations.
FORMULAS = r"""
local tz = require "trapeze"
local function text(v)
  if type(v) == "string" then return ("%q"):format(v):gsub("\\\n", "\\n") end
  if type(v) == "number" then return math.type(v) == "integer" and ("%d"):format(v) or ("%.17g"):format(v) end
  if type(v) ~= "table" then return tostring(v) end
  local list, out = #v > 0, {}
  for key in pairs(v) do list = list and math.type(key) == "integer" end
  for key, value in pairs(v) do out[#out + 1] = list and "" or ('"%s": %s'):format(key, text(value)) end
  for i = 1, list and #v or 0 do out[i] = text(v[i]) end
  return (list and "[%s]" or "{%s}"):format(table.concat(out, ", "))
end
function show(name, path)
  local definition
  package.loaded.trapeze = setmetatable({ stencil = function(d) definition = d; error "enough" end }, { __index = tz })
  pcall(dofile, path)
  local stencil, fields, hashes = tz.stencil(definition), {}, {}
  local grid = { table.unpack({ 30, 20, 10 }, 1, stencil.dims) }
  for _, field in ipairs(stencil.fields) do
    if not (definition.outputs or {})[field] then fields[field] = tz.random { seed = 3, range = { 0, 1 } } end
  end
  local sim <close> = tz.simulation { plugin = stencil, grid = grid, backend = "reference", fields = fields }
  sim:run(2)
  for field in pairs(fields) do hashes[field] = sim:hash(field) end
  print("row: " .. text { script = name, definition = definition, hashes = hashes })
end
"""


class Fields(unittest.TestCase):
    def test_the_four_lines(self):
        sim = heat(t=start())
        self.assertEqual(sim.run(10)["status"], "done")
        self.assertEqual((sim.step, sim.shape, sim.grid), (10, (16, 24), (24, 16)))
        self.assertTrue(np.allclose(sim["t"], oracle(start(), 10), rtol=1e-5))
        self.assertEqual(sim["t"].dtype, np.float32)

    def test_strides_and_types(self):
        want = start()
        sim = heat()
        big = np.zeros((32, 48), np.float32)
        big[::2, ::-2] = want
        swapped = want.astype(want.dtype.newbyteorder())
        for value in (want, np.asfortranarray(want), big[::2, ::-2], want.astype(np.float64), swapped, want.tolist(),
                      np.ascontiguousarray(want.T).T):
            sim["t"] = 0
            sim["t"] = value
            np.testing.assert_array_equal(sim["t"], want)
        for dtype in (bool, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16):
            sim["t"] = np.asfortranarray((want > 0.5).astype(dtype))
            np.testing.assert_array_equal(sim["t"], want > 0.5)
        sim["t"] = np.broadcast_to(np.arange(24.0), (16, 24))
        np.testing.assert_array_equal(sim["t"], np.broadcast_to(np.arange(24.0), (16, 24)))
        for one in (np.broadcast_to(np.float32(5), (16, 24)), lambda x, y: 5, lambda x, y: np.float64(5)):
            sim["t"] = one
            self.assertEqual((sim.min("t"), sim.max("t")), (5, 5))
        sim["t"] = lambda x, y: 100 * y + x
        self.assertEqual(sim["t"][3, 5], 305)
        sim.set("t", lambda x, y: -x, box=dict(x=(2, 4), y=(1, 3)))
        self.assertEqual(sim["t"][:4, 1:5].tolist(), [[1, 2, 3, 4], [101, -2, -3, 104], [201, -2, -3, 204], [301, 302, 303, 304]])
        self.assertEqual(sim.array("t", dict(x=(2, 4), y=(1, 2)), np.float64).tolist(), [[-2, -3]])
        for dtype in (np.int16, ">f4", np.float16, np.longdouble, complex, object):
            self.assertEqual((sim.array("t", dtype=dtype)[3, 5], sim.array("t", dtype=dtype).dtype), (305, np.dtype(dtype)))
        sim["t"] += 1
        self.assertEqual(sim["t"][3, 5], 306)
        with self.assertRaisesRegex(ValueError, r"sim\[name\] = array"):
            sim["t"][0, 0] = 5

    def test_bits_and_three_axes(self):
        bits = start(70, 9) > 0.5
        with tz.Simulation("life", grid=(70, 9), boundary="periodic", alive=bits, backend="reference") as life:
            np.testing.assert_array_equal(life["alive"], bits)
            with self.assertRaises(tz.Error):
                life.view("alive")
            self.assertEqual(life.view("alive", raw=True).dtype, np.uint32)
            life.run(1)
            n = sum(np.roll(bits, (i, j), (0, 1)).astype(int) for i in (-1, 0, 1) for j in (-1, 0, 1)) - bits
            np.testing.assert_array_equal(life["alive"], (n == 3) | (bits & (n == 2)))
        volume = np.random.default_rng(1).random((3, 4, 5))
        with tz.Simulation("star3d1r", grid=(5, 4, 3), precision="double", backend="reference", u=volume) as sim:
            np.testing.assert_array_equal(sim["u"], volume)
            self.assertEqual(sim["u"].dtype, np.float64)

    def test_half(self):
        with heat(storage="half", t=np.full((16, 24), 0.1)) as sim:
            self.assertEqual(sim["t"][0, 0], np.float32(np.float16(0.1)))
            with self.assertRaises(tz.Error):
                sim.view("t")
            self.assertEqual(sim.view("t", raw=True).dtype, np.float16)

    def test_views(self):
        sim = heat(t=start())
        view = sim.view("t")
        np.testing.assert_array_equal(view, start())
        with self.assertRaises(ValueError):
            view[0, 0] = 1
        part = view[3:5]
        del view
        for change in (lambda: sim.run(1), lambda: sim.set("t", 0), sim.close, lambda: sim.__setitem__("t", start()),
                       lambda: sim.params.update(rate=0.1), sim.rewind, lambda: sim.jump(1), lambda: sim.plan(height=2)):
            with self.assertRaisesRegex(tz.Error, "a view of 't' is in use"):
                change()
        np.testing.assert_array_equal(part, start()[3:5])
        self.assertEqual(sim.max("t"), start().max())
        del part
        snapshot = sim["t"]
        sim.run(1)
        np.testing.assert_array_equal(snapshot, start())
        # A view keeps the memory of a simulation that nobody has any more.
        view = sim.view("t")
        want = view.copy()
        del sim
        gc.collect()
        np.testing.assert_array_equal(view, want)
        del view
        gc.collect()

    def test_closed(self):
        sim = heat(t=1)
        snapshot = sim["t"]
        sim.close()
        sim.close()
        self.assertEqual(snapshot.sum(), 16 * 24)
        self.assertEqual(repr(sim), "<trapeze.Simulation, closed>")
        for use in (lambda: sim["t"], lambda: sim.run(1), lambda: sim.step, lambda: sim.params, lambda: sim.view("t"),
                    lambda: sim.checkpoint("x")):
            with self.assertRaisesRegex(tz.Error, "closed"):
                use()


class Numbers(unittest.TestCase):
    def test_reductions(self):
        t = start()
        with heat(t=t) as sim:
            self.assertEqual((sim.min("t"), sim.max()), (t.min(), t.max()))
            self.assertAlmostEqual(sim.sum("t"), t.sum(dtype=float), 9)
            self.assertAlmostEqual(sim.mean("t", dict(x=(0, 3), y=(2, 4))), t[2:4, 0:3].mean(dtype=float), 9)
            self.assertAlmostEqual(sim.sum("t", t > 0.5), t[t > 0.5].sum(dtype=float), 9)
            self.assertEqual(sim.population("t"), np.count_nonzero(t))
            self.assertRegex(sim.hash("t"), "^[0-9a-f]{16}$")
            self.assertGreater(sim.residual(), 0)
            counts = sim.histogram("t", bins=4, range=(0, 1))["y"]
            self.assertEqual(counts.tolist(), np.histogram(t, 4, (0, 1))[0].tolist())
            np.testing.assert_allclose(sim.profile("t", (0, 3), (23, 3))["y"], t[3], rtol=1e-6)

    def test_picture(self):
        with tempfile.TemporaryDirectory() as folder, heat(t=start()) as sim:
            path = os.path.join(folder, "a.png")
            sim.picture(path, map="gray", range=(0, 1), zoom=1, field="t", bits=16)
            with self.assertRaisesRegex(OSError, "exists already"):
                sim.picture(path)
            with PIL.Image.open(path) as picture:
                self.assertEqual(picture.width, 24)
                gray = np.asarray(picture)[-16:].astype(float) / 65535
            np.testing.assert_allclose(gray, start(), atol=1e-4)
            with self.assertRaisesRegex(TypeError, "did you mean 'map'"):
                sim.picture(path, mapp="gray")
            with self.assertRaisesRegex(TypeError, "takes no data"):
                sim.picture(path, data=start())
            with self.assertRaisesRegex(tz.Error, "must end in"):
                sim.picture(path + ".txt")
            with self.assertRaisesRegex(OSError, "nowhere"):
                sim.picture("/nowhere/a.png")

    def test_params(self):
        with heat(params=dict(rate=0.1), t=start()) as sim:
            self.assertEqual((sim.params.rate, sim.params["rate"], dict(sim.params)), (0.1, 0.1, dict(rate=0.1)))
            sim.params.rate = 0.25
            self.assertEqual(sim.params.rate, 0.25)
            sim.run(3)
            self.assertTrue(np.allclose(sim["t"], oracle(start(), 3, 0.25), rtol=1e-5))
            with self.assertRaisesRegex(tz.Error, "rate"):
                sim.params.rat = 1
            with self.assertRaisesRegex(AttributeError, "did you mean 'rate'"):
                sim.params.rat

    def test_runs(self):
        seen = []
        with heat(t=start()) as sim:
            result = sim.run(25, every=10, call=lambda s: seen.append((s.step, s.max())))
            self.assertEqual([step for step, _ in seen], [10, 20])
            self.assertEqual((result["steps"], result["status"], sim.step), (25, "done", 25))
            result = sim.run(until=lambda s: s.step >= 40, check_every=10)
            self.assertEqual((result["status"], sim.step), ("until", 40))
            result = sim.run(1000, every=5, call=lambda s: s.stop("enough"))
            self.assertEqual((result["status"], result["why"], sim.step), ("stopped", "enough", 45))
            result = sim.run(until_residual=1e-3, max_steps=10**4)
            self.assertEqual((result["status"], result["converged"]), ("converged", True))
            self.assertLess(sim.residual(), 1e-3)
            step = sim.step
            self.assertEqual(sim.run(until_residual=1e-9, max_steps=7, every=3, call=repr)["status"], "max_steps")
            self.assertEqual(sim.step, step + 7)
            self.assertEqual(sim.run(0)["status"], "done")
        with tz.Simulation("hotspot", grid=(16, 16), power=1e-3, temperature=320, backend="reference") as chip:
            chip.run(until=20 * chip.params.dt_s)
            self.assertEqual(chip.step, 20)
            self.assertAlmostEqual(chip.time, 20 * chip.params.dt_s)
        with tz.Simulation("poisson", grid=(16, 16), boundary="fixed", backend="reference") as sim:
            sim.set(list(sim)[1], 1.0)
            self.assertEqual(sim.steady(by="solver")["status"], "converged")
            self.assertEqual(sim.step, 0)

    def test_a_whole_run_is_the_sum_of_its_parts(self):
        with heat(t=start()) as one, heat(t=start()) as parts:
            one.run(30)
            parts.run(30, every=7, call=lambda s: None)
            self.assertEqual(one.hash("t"), parts.hash("t"))

    def test_points(self):
        with heat(t=0) as sim:
            sim.sources(field="t", points=[(3, 4)], values=np.ones((5, 1)))
            probe = sim.receivers(field="t", points=np.array([(3, 4), (10, 9)]))
            sim.run(4)
            self.assertEqual((probe.count, probe.rows), (2, 4))
            rows = probe.array()
            self.assertEqual(rows.shape, (4, 2))
            self.assertEqual(rows[0].tolist(), [1, 0])
            self.assertEqual(rows[3, 0], sim["t"][4, 3])

    def test_checkpoints(self):
        with tempfile.TemporaryDirectory() as folder, heat(t=start()) as sim, heat() as other:
            path = os.path.join(folder, "here")
            sim.run(5)
            sim.checkpoint(path)
            sim.run(5)
            other.resume(path)
            self.assertEqual(other.step, 5)
            other.run(5)
            self.assertEqual(other.hash("t"), sim.hash("t"))
            with heat(grid=(8, 8)) as small, self.assertRaises(tz.Error):
                small.resume(path)
            with self.assertRaises(OSError):
                other.resume(os.path.join(folder, "none"))

    def test_plans_and_questions(self):
        with heat(backend="cpu", t=start(), threads=1, height=2) as sim:
            sim.run(4)
            self.assertEqual(sim.plan()["height"], 2)
            self.assertEqual(sim.policy()["policy"], "fixed")
            with heat(t=start()) as other:
                other.run(4)
                self.assertEqual(other.hash(), sim.hash())
            sim.plan(height=1)
            self.assertEqual(sim.height, 1)
        answer = tz.predict("hotspot", grid=(256, 256), backend="cpu", height=2,
                            device=os.path.join(HERE, "..", "..", "tests", "predict", "cpu.txt"))
        self.assertEqual(answer["best"]["height"], 2)
        with self.assertRaisesRegex(TypeError, "did you mean 'height'"):
            tz.predict("hotspot", grid=(256, 256), hight=2)


class Mistakes(unittest.TestCase):
    def refused(self, kind, text, call):
        with self.assertRaisesRegex(kind, text) as caught:
            call()
        self.assertIsInstance(caught.exception, tz.Error)

    def test_messages(self):
        stencil = tz.Stencil(**HEAT)
        self.refused(TypeError, r"tz.Stencil\(\*\*definition\)", lambda: tz.Stencil(HEAT))
        self.refused(TypeError, "has no option 'udpate'; did you mean 'update'", lambda: tz.Stencil(dims=2, udpate="t"))
        self.refused(ValueError, "needs an update", tz.Stencil)
        self.refused(TypeError, r"it is a method: sim.jump\(\)", lambda: heat().run(10, jump=True))
        self.refused(LookupError, "unknown function 'lapp'; did you mean 'lap'",
                     lambda: tz.Stencil(dims=2, fields=["t"], update=dict(t="lapp(t)")))
        self.refused(LookupError, "hotspott.*did you mean.*hotspot", lambda: tz.Simulation("hotspott", grid=(8, 8)))
        self.refused(TypeError, "Stencil, a name", lambda: tz.Simulation(5, grid=(8, 8)))
        self.refused(TypeError, "needs grid", lambda: tz.Simulation(stencil))
        self.refused(TypeError, r"\(nx, ny\)", lambda: tz.Simulation(stencil, grid=(8.5, 8)))
        self.refused(ValueError, "grid", lambda: tz.Simulation(stencil, grid=(8, 8, 8)))
        self.refused(TypeError, "no field 'tt'; did you mean 't'", lambda: tz.Simulation(stencil, grid=(8, 8), tt=1))
        self.refused(TypeError, "did you mean 'boundary'", lambda: tz.Simulation(stencil, grid=(8, 8), boundry="clamp"))
        self.refused(ValueError, "boundary.*clamps.*clamp", lambda: tz.Simulation(stencil, grid=(8, 8), boundary="clamps"))
        self.refused(ValueError, r"shape \(9, 8\); the cells need \(8, 9\).*transpose",
                     lambda: tz.Simulation(stencil, grid=(9, 8), t=np.zeros((9, 8))))
        self.refused(TypeError, "complex", lambda: tz.Simulation(stencil, grid=(8, 8), t=np.zeros((8, 8), complex)))
        self.refused(tz.Error, "ran?ge|finite|nan", lambda: tz.Simulation(stencil, grid=(2, 2), t=[[1, 2], [3, np.nan]]))
        self.refused(TypeError, r"'rate' is a parameter of stencil: params=dict\(rate=…\)", lambda: heat(rate=0.1))
        self.refused(TypeError, "'t' is None", lambda: heat(t=None))
        self.refused(ValueError, "numpy.sin", lambda: heat(t=lambda x, y: math.sin(x)))
        self.refused(OSError, "no plugin /nowhere/x.so", lambda: tz.Simulation("/nowhere/x.so", grid=(8, 8)))
        self.refused(TypeError, "messages must be a function, not int", lambda: heat(messages=5))
        sim = heat(t=start())
        self.refused(TypeError, "cannot be copied", lambda: copy.deepcopy(sim))
        self.refused(TypeError, "progress must be a function, not str", lambda: sim.run(1, progress="yes"))
        self.refused(ValueError, r"'region' has shape \(24, 16\)", lambda: sim.mean("t", np.ones((24, 16))))
        self.refused(TypeError, "a region is a box", lambda: sim.mean("t", np.s_[2:4, 3:5]))
        self.refused(LookupError, "'u'", lambda: sim["u"])
        self.refused(LookupError, "'u'", lambda: sim.set("u", 1))
        self.refused(ValueError, "masked", lambda: sim.set("t", np.ma.masked_less(np.ones((16, 24)), 2)))
        for box in (((0, 2), (0, 2)), dict(x=2), 5):
            self.refused(TypeError, r"a box is dict\(x=\(low, high\)", lambda: sim.set("t", np.ones((2, 2)), box=box))
        self.refused(ValueError, "not 'z'", lambda: sim.set("t", np.zeros(3), box=dict(z=(0, 1))))
        self.refused(ValueError, r"x = \(3, 30\)", lambda: sim.array("t", dict(x=(3, 30))))
        self.refused(TypeError, "did you mean 'until_residual'", lambda: sim.run(until_residul=1))
        self.refused(TypeError, "every and call", lambda: sim.run(10, every=5))
        self.refused(ValueError, "at least 1", lambda: sim.run(10, every=0, call=repr))
        self.refused(ValueError, "for ms in range", lambda: sim.run(until="2 ms", every=5, call=repr))
        self.refused(ValueError, "-3", lambda: sim.run(-3))
        self.refused(TypeError, "integer", lambda: sim.run("many"))
        self.refused(TypeError, "cannot be deleted", lambda: sim.params.pop("rate"))
        self.refused(OSError, "nowhere", lambda: sim.checkpoint("/nowhere/at/all"))
        with self.assertRaises(tz.Error) as caught:
            sim["u"]
        self.assertEqual(caught.exception.code, "unknown")

    def test_errors_of_callbacks(self):
        def fail(*arguments):
            raise ZeroDivisionError("mine")
        with heat(grid=(256, 256), backend="cpu", t=start(256, 256)) as sim:
            with self.assertRaisesRegex(ZeroDivisionError, "mine"):
                sim.run(10**8, progress=fail)
            with self.assertRaisesRegex(tz.Error, "while it computes"):
                sim.run(10**8, progress=lambda done, total: sim.max("t"))
            step = sim.step
            sim.run(1)
            self.assertEqual(sim.step, step + 1)
            with self.assertRaisesRegex(ZeroDivisionError, "mine"):
                sim.run(10, every=5, call=fail)
            with self.assertRaisesRegex(ZeroDivisionError, "mine"):
                sim["t"] = fail


class Life(unittest.TestCase):
    def test_interrupt(self):
        with heat(grid=(256, 256), backend="cpu", t=start(256, 256)) as sim:
            for _ in range(2):  # the first run is made in a thread of its own
                began = time.monotonic()
                timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
                timer.start()
                with self.assertRaises(KeyboardInterrupt):
                    sim.run(10**9)
                self.assertLess(time.monotonic() - began, 1.2)
                step = sim.step
                sim.run(5)
                self.assertEqual(sim.step, step + 5)

    def test_interrupt_at_any_time(self):
        handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
        faulthandler.dump_traceback_later(60, exit=True)
        with heat(backend="cpu", t=start()) as sim:
            sim.run(3)
            for k in range(100):
                with self.assertRaises(KeyboardInterrupt):
                    signal.setitimer(signal.ITIMER_REAL, 1e-5 * (k + 1))
                    sim.run(10**9)
                step = sim.step
                sim.run(3)
                self.assertEqual(sim.step, step + 3)
            for k in range(600):  # between short calls, which leave the simulation fit for the next
                with self.assertRaises(KeyboardInterrupt):
                    signal.setitimer(signal.ITIMER_REAL, 1e-6 * (k + 20))
                    while True:
                        sim.min("t")
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, handler)

    def test_threads(self):
        want = {}
        for rate in (0.05, 0.1, 0.15, 0.2):
            with heat(params=dict(rate=rate), t=start()) as sim:
                sim.run(40)
                want[rate] = sim.hash()
        got = {}

        def work(rate):
            with heat(params=dict(rate=rate), backend="cpu", threads=1, t=start()) as sim:
                for _ in range(20):
                    sim.run(2)
                got[rate] = sim.hash()
        threads = [threading.Thread(target=work, args=(rate,)) for rate in want]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(got, want)
        # Threads that use one simulation take turns.
        with heat(t=start()) as sim:
            threads = [threading.Thread(target=lambda: [sim.run(1) for _ in range(25)]) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(sim.step, 100)

    def test_warnings_are_pythons(self):
        said = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with tz.Simulation("wave2d", grid=(32, 32), backend="reference", speed=3.0, u=start(32, 32)) as sim:
                sim.run(1)
            self.assertTrue(caught)
            self.assertEqual(caught[0].filename, __file__)
            with tz.Simulation("wave2d", grid=(32, 32), backend="reference", speed=3.0, u=start(32, 32),
                               messages=lambda text, level: said.append(level)) as sim:
                count = len(caught)
                sim.run(1)
                self.assertEqual(len(caught), count)
        self.assertIn(1, said)

class Scenarios(unittest.TestCase):
    def test_run(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "small.lua")
            with open(path, "w", encoding="utf-8") as file:
                file.write('local tz = require "trapeze"\n'
                           'local heat = tz.stencil { dims = 2, fields = { "t" }, params = { rate = 0.2 }, update = { t = "t + rate*lap(t)" } }\n'
                           'local sim = tz.simulation { plugin = heat, grid = { tz.args.n, 16 }, backend = "reference",\n'
                           '                            fields = { t = function(x, y) return x * y end } }\n'
                           'sim:every(10, tz.npy "t") sim:every(5, tz.table { "step", "max(t)" })\nsim:run(20)\nprint("said")\n')
            run = tz.run(path, dict(n=24), out=os.path.join(folder, "out"))
            self.assertEqual((run.status, run.printed.strip()), ("done", "said"))
            self.assertEqual((list(run.arrays["t"]), run["t"].shape), ([0, 10, 20], (16, 24)))
            self.assertEqual(run.arrays["t"][0][3, 4], 12)
            table = run.tables["table"]
            self.assertEqual(table["step"].tolist(), [0, 5, 10, 15, 20])
            self.assertEqual(table["max(t)"][-1], run["t"].max())
            with heat(t=lambda x, y: x * y) as sim:
                sim.run(20)
                np.testing.assert_array_equal(sim["t"], run["t"])
            with self.assertRaisesRegex(LookupError, "did you mean|there are t"):
                run["tt"]
            # One that is interrupted goes on, and leaves the same files.
            def interrupt(done, total):
                if done and not signals:
                    signals.append(os.kill(os.getpid(), signal.SIGINT))
            signals = []
            long = os.path.join(folder, "long.lua")
            with open(path, encoding="utf-8") as file, open(long, "w", encoding="utf-8") as other:
                other.write(file.read().replace("sim:run(20)", "sim:run(tz.args.steps)").replace("every(5,", "every(50000,"
                                                ).replace("every(10,", "every(200000,"))
            out = os.path.join(folder, "long")
            with self.assertRaises(KeyboardInterrupt):
                tz.run(long, dict(n=24, steps=10**9), out=out, checkpoint="1h", backend="reference", progress=interrupt)
            self.assertEqual(tz.Run(out).status, "interrupted")
            step = tz.Run(out).json["simulations"][0]["steps"]
            self.assertGreater(step, 0)
            with self.assertRaises(KeyboardInterrupt):
                signals.clear()
                tz.resume(out, backend="cpu", progress=interrupt)
            self.assertGreater(tz.Run(out).json["simulations"][0]["steps"], step)
            for key, value, why in (("height", 0, "1 to"), ("unsafe", 1, "true or false"), ("checkpoint", -5, "10min"),
                                    ("from_run", "nowhere", "nowhere"), ("heigth", 3, "did you mean 'height'")):
                with self.assertRaisesRegex(tz.Error, why):
                    tz.run(path, dict(n=24), out=os.path.join(folder, key), **{key: value})
            with open(path, "a", encoding="utf-8") as file:
                file.write('tz.expect(false, "no good")\n')
            with self.assertRaisesRegex(tz.Error, "no good"):
                tz.run(path, dict(n=24), out=os.path.join(folder, "other"))

    def test_readme(self):
        with open(os.path.join(HERE, "..", "..", "README.md"), encoding="utf-8") as file:
            text = file.read()
        begin = text.index("    import trapeze as tz")
        names = {}
        exec(text[begin:text.index("\n\n", begin)].replace("\n    ", "\n").lstrip(), names)
        self.assertEqual((names["sim"].step, names["picture"].shape), (1000, (256, 256)))

    def test_notebook(self):
        sys.path.insert(0, HERE)
        import notebook
        names = notebook.execute(os.path.join(HERE, "..", "..", "examples", "heat.ipynb"))
        self.assertEqual(names["sim"].step, 2000)


class Measures(unittest.TestCase):
    """Of a library without sanitizers: what it takes."""

    def test_thousands(self):
        def memory():
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        stencil, t = tz.Stencil(**HEAT), start(64, 64)

        def make(count):
            for _ in range(count):
                tz.Simulation(stencil, grid=(64, 64), backend="reference", t=t)
        make(200)
        before = memory()
        make(1000)
        self.assertLess(memory() - before, 4 << 20)

    def test_import_is_quick_and_needs_no_library(self):
        code = ("import numpy, time; began = time.process_time(); import trapeze; print(time.process_time() - began);"
                "trapeze._library.load()")
        environment = dict(os.environ, PYTHONPATH=os.path.dirname(HERE), TRAPEZE_LIBRARY="/nowhere/libtrapeze.so")
        best = 9
        for _ in range(3):
            out = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
            best = min(best, float(out.stdout))
        self.assertIn("libtrapeze.so is not found: install the package trapeze, or set TRAPEZE_LIBRARY", out.stderr)
        self.assertLess(best, 0.05 * float(os.environ.get("TZ_SLOW", 1)))


class Bits(unittest.TestCase):
    """What takes longest."""

    def test_every_shipped_stencil_has_the_bits_of_the_scenario(self):
        about, lines, want = tz.stencils(), [], {}
        self.assertGreater(len(about), 25)
        grids = {1: (40,), 2: (33, 12), 3: (34, 7, 6)}
        for id, facts in about.items():
            options = dict(grid=grids[facts["dims"]], backend="reference", fields={})
            for field in facts["fields"]:
                if field["role"] in ("state", "static"):
                    options["fields"][field["name"]] = self.values(field, options["grid"])
                elif field["role"] == "streamed":
                    options["fields"][field["name"]] = np.arange(200, dtype=np.int32).reshape(5, 40) % 7
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with tz.Simulation(id, **options) as sim:
                    sim.run(2)
                    states = [f["name"] for f in facts["fields"] if f["role"] == "state"]
                    want[id] = " ".join(sim.hash(name) for name in states)
            lines.append(self.lua(id, options, states))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "all.lua")
            with open(path, "w", encoding="utf-8") as file:
                file.write('local tz = require "trapeze"\nlocal fields\n' + "\n".join(lines))
            run = subprocess.run([PROGRAM, "run", path, "--out", os.path.join(folder, "run")], capture_output=True, text=True,
                                 check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
            got = dict(line.split(": ") for line in run.stdout.splitlines() if line.split(": ")[0] in want)
        self.assertEqual(got, want)

    def test_every_formula_of_the_scenarios_has_the_same_bits(self):
        folder = os.path.join(HERE, "..", "..", "scripts", "stencils")
        names = sorted(name for name in os.listdir(folder) if name.endswith(".lua"))
        self.assertGreater(len(names), 15)
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "formulas.lua")
            with open(path, "w", encoding="utf-8") as file:
                file.write(FORMULAS + "".join("show('%s', '%s')\n" % (name, os.path.join(folder, name)) for name in names))
            run = subprocess.run([PROGRAM, "run", path, "--unsafe", "--out", os.path.join(work, "run")], capture_output=True,
                                 text=True, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
        rows = [json.loads(line[5:]) for line in run.stdout.splitlines() if line.startswith("row: ")]
        self.assertEqual([row["script"] for row in rows], names)
        for row in rows:
            stencil = tz.Stencil(**row["definition"])
            values = {name: tz.random(seed=3, range=(0, 1)) for name, about in stencil.fields.items() if about["role"] != "derived"}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with tz.Simulation(stencil, grid=(30, 20, 10)[:stencil.dims], backend="reference", fields=values) as sim:
                    sim.run(2)
                    self.assertEqual({name: sim.hash(name) for name in values}, row["hashes"], row["script"])

    def values(self, field, grid):
        """An array of the field's type with values near the initial one."""
        shape, rng = grid[::-1], np.random.default_rng(len(field["name"]))
        if field["type"] == "real":
            low, high = (0.95 * field["default"], 1.05 * field["default"]) if field["default"] else (0, 0.1)
            return rng.uniform(low, high, shape)
        return rng.integers(0, 2, shape).astype(np.uint8 if field["type"] == "bits" else np.int32)

    def lua(self, id, options, states):
        """A scenario with the same values."""
        out = "fields = {}\n"
        for name, array in options["fields"].items():
            out += "fields.%s = tz.array { shape = { %s }, dtype = '%s', data = { %s } }\n" % (
                name, ", ".join(map(str, array.shape[::-1])), array.dtype, ", ".join(map(repr, array.ravel().tolist())))
        return out + ("do local sim <close> = tz.simulation { plugin = '%s', grid = { %s }, backend = 'reference', fields = fields }\n"
                      "sim:run(2)\nprint('%s: ' .. %s) end\n" % (
                          id, ", ".join(map(str, options["grid"])), id,
                          " .. ' ' .. ".join("sim:hash('%s')" % name for name in states)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
