-- Receivers and sources: values between cells, in files and arrays, the same with every plan; tables that probe each step.
local tz = require "trapeze"
local c = require "checks"

local heat = tz.stencil { name = "heat", dims = 2, fields = { u = "real" }, params = { dt = { value = 0.1, role = "time_step" } },
  update = "u + dt*(u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u)" }
local flat = tz.stencil { name = "flat", dims = 2, fields = { u = "real" }, update = "u" }

local function make(options)
  local all = { plugin = heat, grid = { 40, 33 }, precision = "double" }
  for key, value in pairs(options or {}) do all[key] = value end
  return tz.simulation(all)
end

-- A plane is interpolated without error by two cells, and to a part in a thousand by eight.
local plane = tz.simulation { plugin = flat, grid = { 64, 50 }, precision = "double",
  fields = { u = function(x, y) return 3 * x - 2 * y + 7 end } }
local on = plane:receivers { points = { { 20, 10 }, { 63, 49 } } }
local between = plane:receivers { points = { { 20.25, 10.5 } }, interpolate = "linear" }
local wide = plane:receivers { field = "u", points = { { 30.25, 20.5 } }, interpolate = "sinc", every = 3 }
plane:run(9)
if not tz.checking then
  tz.expect(on.rows == 9 and on.count == 2 and wide.rows == 3)
  local a = on:array()
  tz.expect(a.shape[1] == 2 and a.shape[2] == 9)
  tz.expect(a:get(0, 0) == 3 * 20 - 2 * 10 + 7 and a:get(1, 8) == 3 * 63 - 2 * 49 + 7)
  c.near(between:array():get(0, 4), 3 * 20.25 - 2 * 10.5 + 7, 1e-12)
  c.near(wide:array():get(0, 2), 3 * 30.25 - 2 * 20.5 + 7, 0.1)
  on:save "on.npy"
end

-- What sources add is all that there is: linear weights keep the sum, and several in a cell add.
local warm = make { boundary = "periodic" }
warm:sources { points = { { 10.25, 5.75 }, { 3, 3 } }, interpolate = "linear", values = { { 1, 2 }, { 3, 4 }, { 0, 1 } } }
warm:sources { points = { { 3, 3 } }, values = "step + t", scale = 0.5 }
c.refuses("sources have values for 3 steps, and the run needs 4", warm.run, warm, 4)
warm:run(3)
if not tz.checking then c.near(warm:sum "u", 1 + 2 + 3 + 4 + 1 + 0.5 * (0 + 1.1 + 2.2), 1e-12) end
c.refuses("sources have values for 3 steps, and the run needs 4", warm.run, warm, 1)

-- The bits depend on no plan: fields, what is received, and tables.
local bits
for _, plan in ipairs { { height = 1 }, { height = 3 }, { height = 8, family = "stream", tile = { 16, 9 } }, { height = 7, family = "diamond" } } do
  local sim = make { name = "h" .. plan.height, fields = { u = tz.random { seed = 4 } } }
  if sim.backend == "cpu" then sim:plan(plan) end
  sim:sources { points = { { 3.5, 30.25 }, { 0, 0 }, { 17, 16 } }, interpolate = "sinc", values = "0.01*sin(0.3*step)" }
  local rec = sim:receivers { points = { { 3, 30 }, { 39, 32 }, { 16.125, 15.75 } }, interpolate = "sinc", file = sim.name .. ".npy" }
  sim:every(1, tz.table { "step", "probe(u, 3, 30)", "probe(u, 39, 32)", name = "t" .. plan.height })
  sim:run(31)
  if not tz.checking then
    local now = { sim:hash "u", tostring(rec:array():sum()), tostring(rec:array():max()), rec.rows }
    now = table.concat(now, " ")
    bits = bits or now
    tz.expect(now == bits, now .. " instead of " .. bits)
  end
  sim:close()
end

-- scale = "volume": the same source on a finer grid of the same size gives the same field.
local sim = make()
c.refuses("does not say how large cells are: give a number", sim.sources, sim,
  { points = { { 1, 1 } }, values = "1", scale = "volume" })

-- One clear line each.
local function refused(text, options) c.refuses(text, sim.receivers, sim, options) end
refused("point 2, (40, 3), is outside the grid: x is from 0 to 39", { points = { { 1, 1 }, { 40, 3 } } })
refused("point 1, (NaN, 3), is outside the grid", { points = { { 0 / 0, 3 } } })
refused("points 1 and 3 are the same: (1, 2)", { points = { { 1, 2 }, { 2, 1 }, { 1, 2 } } })
refused('point 1, (1.5, 2), is between cells: use interpolate = "linear" or "sinc"', { points = { { 1.5, 2 } } })
refused("no field 'v'", { field = "v", points = { { 1, 2 } } })
refused("row 1 of 'points' must be a table of 2 numbers", { points = { { 1, 2, 3 } } })
refused("there are no points", { points = {} })
refused("'points' is missing", {})
refused("'a.png' must end in one of", { points = { { 1, 2 } }, file = "a.png" })
refused("did you mean 'linear'?", { points = { { 1, 2 } }, interpolate = "liner" })
c.refuses("the value of step 2, point 1 is NaN", sim.sources, sim, { points = { { 1, 2 } }, values = { 1, 0 / 0 } })
c.refuses("'values' is missing", sim.sources, sim, { points = { { 1, 2 } } })
c.refuses("nosuch", sim.sources, sim, { points = { { 1, 2 } }, values = "nosuch + 1" })
sim:receivers { points = { { 1, 2 } }, file = "once.npy" }
refused("other receivers write 'once.npy'", { points = { { 1, 2 } }, file = "once.npy" })
local chip = c.chip()
c.refuses("only a field that iterations change has receivers", chip.receivers, chip, { field = "power", points = { { 1, 1 } } })
local life = tz.simulation { plugin = "life", grid = { 40, 9 }, fields = { alive = tz.random { seed = 1, density = 0.4 } } }
c.refuses("sources add to real numbers", life.sources, life, { points = { { 1, 1 } }, values = "1" })
local cells = life:receivers { points = { { 0, 0 }, { 39, 8 }, { 33, 4 } } }
life:run(5)
if not tz.checking then
  for i, at in ipairs { { 0, 0 }, { 39, 8 }, { 33, 4 } } do
    tz.expect(cells:array():get(i - 1, 4) == life:get("alive", at[1], at[2]))
  end
end

-- Derived fields: what is received is what is read at each step, with every plan, past sides, and when what they depend on changes.
local flow = tz.stencil { name = "flow", dims = 2, fields = { u = "real", v = "real", k = { type = "real", role = "static" } },
  params = { a = 0.1 }, scalars = { s = "1 + step/50" },
  passes = { { update = { u = "u + a*k*lap(u)" } }, { update = { v = "v + a*(u[1,0] - u[-1,0])" } } },
  outputs = { speed = "s*sqrt(u*u + v*v)", turn = "k*(v[2,0] - v[-1,0]) - u[0,1] + u[0,-2] + a*step + x" } }
local function derived(plan, boundary)
  local s <close> = tz.simulation { plugin = flow, grid = { 40, 33 }, boundary = boundary, precision = "double", name = "d",
    fields = { u = tz.random { seed = 4 }, v = tz.random { seed = 5 }, k = tz.random { seed = 6, range = { 0.5, 1 } } } }
  if s.backend == "cpu" then s:plan(plan) end
  s:sources { field = "u", points = { { 20, 16 } }, values = "0.01*step" }
  local turn = s:receivers { field = "turn", points = { { 0, 0 }, { 39, 32 }, { 20, 16 }, { 23, 16 } } }
  local speed = s:receivers { field = "speed", points = { { 20.5, 16.25 }, { 3, 4 } }, interpolate = "linear", every = 2 }
  local got = {}
  for _, steps in ipairs { 3, 8, 5 } do
    s:run(steps)
    local wanted = {}
    for i, at in ipairs { { 0, 0 }, { 39, 32 }, { 20, 16 }, { 23, 16 } } do wanted[i] = s:get("turn", at[1], at[2]) end
    if steps == 8 then s:params { a = 0.2 } end
    if steps == 5 then s:set("k", 0.8) else s:set("k", 0.75 - steps / 50, { x = { 19, 23 }, y = { 15, 18 } }) end
    if not tz.checking then
      for i, value in ipairs(wanted) do tz.expect(turn:array():get(i - 1, s.step - 1) == value) end
    end
  end
  if tz.checking then return end
  c.near(speed:array():get(1, 7), s:get("speed", 3, 4) * (1 + 16 / 50) / (1 + 16 / 50), 1e-12)
  for k = 0, 7 do got[#got + 1] = ("%a"):format(speed:array():get(0, k)) end
  for k = 0, 15 do got[#got + 1] = ("%a"):format(turn:array():get(1, k)) end
  return table.concat(got, " ")
end
for _, boundary in ipairs { "periodic", "fixed" } do
  local first = derived({ height = 1 }, boundary)
  tz.expect(first == derived({ height = 5, family = "stream", tile = { 16, 9 } }, boundary))
  tz.expect(first == derived({ height = 7, family = "diamond" }, boundary))
end
