-- Stencils that a scenario defines with tz.stencil.
local tz = require "trapeze"
local c = require "checks"

-- What it says about itself.
local heat = tz.stencil {
  name = "plate", doc = "A plate.", dims = 2, fields = { t = { initial = 3, unit = "K" } }, params = { k = 0.2 },
  update = { t = "t + k*(t[-1,0] + t[1,0] + t[0,-1] + t[0,1] - 4*t)" },
}
tz.expect(tostring(heat) == "stencil plate (2-D, 1 field)", tostring(heat))
tz.expect(heat.id == "plate" and heat.dims == 2 and heat.doc == "A plate.")
tz.expect(#heat.fields == 1 and heat.fields[1] == "t" and heat.params[1] == "k")
tz.expect(heat:text():find("TZ_CELL", 1, true))
c.refuses("a stencil has no 'filds'; did you mean 'fields'?", function() return heat.filds end)
c.refuses("'id' cannot be set", function() heat.id = "x" end)
c.refuses("stencil:text: unexpected argument 1 (a number)", heat.text, heat, 1)
c.refuses("needs a stencil, not no value", heat.text)

-- It is a plugin like any other, by value and by name.
local sim = tz.simulation { plugin = heat, grid = { 24, 16 }, boundary = "clamp", params = { k = 0.1 },
  fields = { t = function(x, y) return x == 12 and y == 8 and 100 or 0 end } }
tz.expect(sim.plugin == "plate" and sim:param "k" == 0.1)
sim:run(20)
if not tz.checking then
  c.near(sim:sum "t", 100, 1e-3)
end
sim:params { k = 0.05 }
tz.expect(tz.simulation { plugin = "plate", grid = { 8, 8 } }:get("t", 1, 1) == 3 or tz.checking)

-- Equal ones are one; different ones of the same name are refused; a name that a plugin has is, too.
local again = tz.stencil {
  params = { k = 0.2 }, fields = { t = { unit = "K", initial = 3 } }, dims = 2, doc = "A plate.", name = "plate",
  update = { t = "t + k*(t[-1,0] + t[1,0] + t[0,-1] + t[0,1] - 4*t)" },
}
tz.expect(again.id == "plate")
c.refuses("a stencil 'plate' is defined already, and differs", tz.stencil,
  { name = "plate", dims = 1, update = { u = "u" } })
c.refuses("'hotspot' is the stencil of a plugin", tz.stencil, { name = "hotspot", dims = 1, update = { u = "u" } })

-- Without a name they are numbered.
local first = tz.stencil { dims = 1, update = "u[-1] + u[1]" }
local second = tz.stencil { dims = 1, update = "u[-1] - u[1]" }
tz.expect(first.id == "stencil" and second.id == "stencil2")
tz.expect(tz.stencil({ dims = 1, update = "u[-1] - u[1]" }).id == "stencil2")
tz.expect(tz.stencil({ dims = 1, update = "u[-1] * u[1]" }).id == "stencil3")

-- Names that mean something in C are names like any other; only words of formulas are none.
local hostile = tz.stencil { name = "int", dims = 1, params = { L_tmpnam = 2, double = 3, TRAPEZE_PLUGIN_H = 4 },
  fields = { unix = { initial = 1 }, unix_at = { initial = 5 }, errno = { role = "derived" } },
  passes = { { name = "while", update = { unix = "unix*L_tmpnam + double" } },
    { name = "main", update = { unix_at = "unix_at[-1] + TRAPEZE_PLUGIN_H*unix" } } },
  outputs = { errno = "unix - unix_at" } }
local words = tz.simulation { plugin = hostile, grid = { 40 } }
words:run(2)
if not tz.checking then
  tz.expect(words:get("unix", 3) == 13 and words:get("unix_at", 3) == 77 and words:get("errno", 3) == -64)
end
tz.expect(words:param "L_tmpnam" == 2)
c.refuses("field 'step': this word has another meaning in formulas; take another name, such as step1", tz.stencil,
  { dims = 1, fields = { "step" }, update = { step = "step" } })

-- A stencil of a plugin, as a value.
local hotspot = tz.stencil "hotspot"
tz.expect(hotspot.dims == 2 and hotspot.fields[1] == "temperature")
tz.expect(tz.simulation({ plugin = hotspot, grid = { 8, 8 } }).plugin == "hotspot")
c.refuses("unknown plugin 'hotspt'; did you mean 'hotspot'?", tz.stencil, "hotspt")

-- Fields come in alphabetical order; those that only hold another one's old values come last, a list in its own order.
local order = tz.stencil { dims = 1, fields = { a = "real", u = "real", v = { role = "static" } },
  update = { u = "2*u - a + v*(u[-1] + u[1] - 2*u)", a = " u " } }
tz.expect(table.concat(order.fields, " ") == "u v a" or table.concat(order.fields, " ") == "u a v",
  table.concat(order.fields, " "))
local listed = tz.stencil { dims = 1, fields = { "r", "q", "p" }, update = { p = "p + q", q = "q + r", r = "r + p" } }
tz.expect(table.concat(listed.fields, " ") == "r q p", table.concat(listed.fields, " "))

-- The same arithmetic as a plugin's, in the same order: the same bits. Several passes see each other's values.
if not tz.checking then
  local passes = tz.simulation {
    plugin = tz.stencil { dims = 1, fields = { a = "int", b = "int" },
      passes = { { a = "a + b" }, { name = "second", update = { b = "b + a" } } } },
    grid = { 8 }, fields = { a = 1, b = 1 },
  }
  passes:run(3)
  tz.expect(passes:get("a", 3) == 13 and passes:get("b", 3) == 21)
  local both = tz.simulation {
    plugin = tz.stencil { dims = 1, fields = { a = "int", b = "int" }, update = { a = "b", b = "a + b" } },
    grid = { 8 }, fields = { a = 0, b = 1 },
  }
  both:run(10)
  tz.expect(both:get("a", 3) == 55)
end

-- Coefficients, in rows from y = -1 up: a shift to the right moves cells to higher x.
local shift = tz.simulation { plugin = tz.stencil { coefficients = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 0, 0 } } },
  grid = { 8, 8 }, boundary = "fixed", fields = { u = function(x, y) return x == 2 and y == 5 and 1 or 0 end } }
shift:run(2)
local up = tz.simulation { plugin = tz.stencil { coefficients = { { 0, 3, 0 }, { 0, 0, 0 }, { 0, 0, 0 } }, scale = 2 },
  grid = { 8, 8 }, boundary = "fixed", fields = { u = function(x, y) return x == 2 and y == 5 and 1 or 0 end } }
up:run(1)
if not tz.checking then
  tz.expect(shift:get("u", 4, 5) == 1 and shift:sum "u" == 1)
  tz.expect(up:get("u", 2, 6) == 6 and up:sum "u" == 6)
end

-- Numbers keep all their digits.
local third = tz.simulation { plugin = tz.stencil { coefficients = { 0, 1, 0 }, v = 1 / 3 }, grid = { 4 },
  precision = "double", fields = { u = 1 } }
third:run(1)
tz.expect(tz.checking or third:get("u", 1) == 1 / 3)

-- In coroutines, and after errors.
local inside = coroutine.wrap(function()
  pcall(tz.stencil, { dims = 2, update = { u = "u +" } })
  coroutine.yield(tz.stencil { dims = 3, update = "u[0,0,1]" })
end)
tz.expect(inside().dims == 3)

-- Derived fields can be looked at, not set.
local speed = tz.simulation {
  plugin = tz.stencil { dims = 1, fields = { a = "real", b = "real" }, update = { a = "a", b = "b" },
    outputs = { both = "sqrt(a^2 + b^2)" } },
  grid = { 4 }, fields = { a = 3, b = 4 },
}
tz.expect(tz.checking or speed:max "both" == 5)
c.refuses("both", speed.set, speed, "both", 1)

-- A constant that changes with the iteration.
local pulsed = tz.simulation { plugin = tz.stencil { dims = 1, scalars = { pulse = "step" }, update = "u + pulse" }, grid = { 4 } }
pulsed:run(4)
tz.expect(tz.checking or pulsed:get("u", 0) == 6)

-- Predictions and policies take it.
local p = tz.predict { plugin = heat, grid = { 512, 512 }, device = "./cpu.txt" }
tz.expect(p.best and p.best.height >= 1)

-- ---- What is refused -------------------------------------------------------------------------------------------

local function refused(pattern, options) c.refuses(pattern, tz.stencil, options) end
local ok = { u = "u" }
c.refuses("needs a table: tz.stencil { dims = 2", tz.stencil, 3)
c.refuses("unexpected argument 2", tz.stencil, {}, {})
refused("unknown key 'updat'; did you mean 'update'?", { dims = 1, updat = ok })
refused("'dims' is missing", { update = ok })
refused("'dims' must be from 1 to 3, not 4", { dims = 4, update = ok })
refused("or 'rate', 'passes' or 'coefficients'", { dims = 1 })
refused("give 'update' or 'passes', not both", { dims = 1, update = ok, passes = { ok } })
refused("give 'update' or 'coefficients', not both", { update = ok, coefficients = { 1, 2, 1 } })
refused("'update' must be a table { FIELD = formula }", { dims = 1, update = 7 })
refused("'v' must be a finite number", { coefficients = { 1, 2, 1 }, v = 0 / 0 })
refused("'u' must be a formula, a string, not a boolean", { dims = 1, update = { u = true } })
refused("needs NAME = value, not a list", { dims = 1, update = { "u" } })
refused("'passes' must be a list of 1 to 8 passes", { dims = 1, passes = {} })
refused("pass 2: updates no field", { dims = 1, passes = { ok, {} } })
refused("pass 1: must be a table", { dims = 1, passes = { "u" } })
refused("unknown key 'nam'; did you mean 'name'?", { dims = 1, passes = { { update = ok, nam = "x" } } })
refused("field 'u': unknown key 'rol'; did you mean 'role'?", { dims = 1, fields = { u = { rol = 1 } }, update = ok })
refused("field 'u': unknown type 'reel'; did you mean 'real'?", { dims = 1, fields = { u = "reel" }, update = ok })
refused("field 'u': must be \"real\", \"int\", \"bits\" or a table", { dims = 1, fields = { u = 3 }, update = ok })
refused("'fields' names 'u' twice", { dims = 1, fields = { "u", u = "real" }, update = ok })
refused("'fields' is empty", { dims = 1, fields = {}, update = ok })
refused("parameter 'k': 'value' is missing", { dims = 1, params = { k = {} }, update = ok })
refused("parameter 'k': must be a number or a table, not a string", { dims = 1, params = { k = "1" }, update = ok })
refused("'scale' goes with 'coefficients'", { dims = 1, update = ok, scale = 2 })
refused("an odd number up to 17 is needed", { coefficients = { 1, 2 } })
refused("rows of the same length, 3, not 2", { coefficients = { { 1, 2, 1 }, { 1, 2 }, { 1, 2, 1 } } })
refused("must have the same number of lists in each", { coefficients = { { 1, 2, 1 }, 3, { 1, 2, 1 } } })
refused("nested 1 deep, but 'dims' is 2", { dims = 2, coefficients = { 1, 2, 1 } })
refused("nested more than 3 deep", { coefficients = { { { { 1 } } } } })
refused("must hold numbers and names of fields, not a boolean", { coefficients = { true } })
refused("unknown boundary 'clam'; did you mean 'clamp'?", { dims = 1, update = ok, boundaries = { "clam" } })
refused("run the script with --unsafe", { dims = 1, text = "TZ_CELL(a) {}", passes = { { name = "a", writes = { "u" } } } })
refused("needs a plain table", setmetatable({ dims = 1, update = ok }, {}))
refused("needs a plain table", { dims = 1, update = setmetatable({ u = "u" }, {}) })
refused("needs a plain table", { dims = 1, fields = setmetatable({ u = "real" }, {}), update = ok })
refused("holds a zero byte", { name = "a\0b", dims = 1, update = ok })

-- Roles of parameters: time and geometry.
refused("unknown role 'spacin'; did you mean 'spacing'?", { dims = 1, params = { a = { value = 1, role = "spacin" } }, update = ok })
refused("parameters 'a' and 'b' both have the role spacing",
        { dims = 1, params = { a = { value = 1, role = "spacing" }, b = { value = 1, role = "spacing" } }, update = ok })
refused("with the role time_step it must be real", { dims = 1, params = { a = { value = 1, integer = true, role = "time_step" } }, update = ok })
local timed = tz.simulation { plugin = tz.stencil { dims = 1, params = { dt = { value = 0.25, unit = "ms", role = "time_step" } }, update = { u = "u + dt" } },
                              grid = { 8 }, precision = "double" }
timed:run { until_time = "2 ms" }
tz.expect(timed.step == 8 and timed:time() == 2)

-- Formulas are interpreted until they are compiled, if a name that is new makes that necessary: the same bits.
if not tz.checking then
  local waves = tz.stencil { name = "waves_" .. os.time() % 100000, dims = 2, fields = { "u", "old" }, update = { u = "2*u - old + 0.2*lap(u)", old = "u" } }
  local given = { plugin = waves, grid = { 150, 90 }, boundary = "periodic", backend = "cpu", fields = { u = tz.random { seed = 5, range = { 0, 1 } } } }
  local sim, steps = tz.simulation(given), 0
  repeat
    steps = steps + 32
    sim:run(32)
    if sim:policy().text:find "interpreted" then tz.expect(sim:plan().height == 1, "a short stage is interpreted") end
  until steps == 40000 or not sim:policy().text:find "interpreted"
  given.policy = "fixed"
  sim:run(32)
  local other = tz.simulation(given)
  other:run(steps + 32)
  tz.expect(sim:hash "u" == other:hash "u")
end

-- The spacing is a parameter, by which differences are divided.
local function spaced(options)
  options.dims, options.fields, options.update = 2, { "u", "v" }, { u = "dxx(u) + dyp(v)", v = "lap(u) + dx(v)" }
  return tz.stencil(options)
end
local plate = tz.simulation { plugin = spaced { spacing = { dx = 0.5, dy = "h" }, params = { h = 0.25 } }, grid = { 8, 8 },
  precision = "double", fields = { u = function(x) return x * x / 4 end, v = function(x, y) return x / 2 + y / 4 end } }
plate:run(1)
tz.expect(tz.checking or plate:get("u", 3, 3) == 2 + 1 and plate:get("v", 3, 3) == 2 + 1)
tz.expect(plate:param "dx" == 0.5 and plate:param "h" == 0.25)
tz.expect(tz.simulation { plugin = spaced { spacing = 2 }, grid = { 8, 8 }, params = { dx = 3 } }:param "dx" == 3)
c.refuses("'dy' is missing; a number alone is the spacing of all axes", spaced, { spacing = { dx = 1 } })
c.refuses("there is no parameter 'h'", spaced, { spacing = "h" })
c.refuses("'dx' is a parameter already: write its name", spaced, { spacing = 1, params = { dx = 1 } })
c.refuses("must be a number, a parameter's name or a table", spaced, { spacing = true })

-- Parts of formulas have names.
local named = tz.simulation { plugin = tz.stencil { dims = 1, fields = { "u" }, let = { flux = "u[1] - u" },
  update = "u + 0.25*(flux - flux[-1])" }, grid = { 8 }, fields = { u = function(x) return x == 4 and 4 or 0 end } }
named:run(1)
tz.expect(tz.checking or named:get("u", 4) == 2 and named:get("u", 3) == 1)
c.refuses("a field and a part are both named 'u'", tz.stencil, { dims = 1, fields = { "u" }, let = { u = "1" }, update = "u" })
c.refuses("unknown name 'vv'", tz.stencil, { dims = 1, fields = { "u" }, let = { unused = "vv*u" }, update = "u" })
c.refuses("'unused' of 'let', which no formula uses", tz.stencil, { dims = 1, fields = { "u" }, let = { unused = "u*(" }, update = "u" })
