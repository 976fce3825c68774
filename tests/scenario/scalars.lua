-- Constants that change with the iteration, and derived fields.
local tz = require "trapeze"
local c = require "checks"

local pulse = tz.stencil { name = "pulse", dims = 2, fields = { u = "real", old = "real", speed = { role = "derived" } },
  params = { f = 0.25, gain = 1 }, scalars = { push = "gain*sin(f*step)" },
  update = { u = "2*u - old + 0.2*(u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u) + (x == 20 and y == 9 ? push : 0)", old = "u" },
  outputs = { speed = "(u - old)^2 + (u[1,0] - u[-1,0])^2" } }

local function make(scalars, backend)
  return tz.simulation { plugin = pulse, grid = { 41, 19 }, precision = "double", scalars = scalars, backend = backend }
end

-- The plugin's own values, a formula of the same text and a list of the same numbers are one run, at any height.
local values = {}
for step = 0, 29 do values[step + 1] = math.sin(0.25 * step) end
local own = make()
c.near(own:scalar("push", 3), math.sin(0.75), 1e-15)
own:run(30)
if not tz.checking then
  c.near(own:scalar "push", math.sin(7.5), 1e-15) -- of the next iteration
  for _, scalars in ipairs { { push = "gain*sin(f*step)" }, { push = values } } do
    for _, height in ipairs { 1, 4 } do
      local s <close> = make(scalars)
      if s.backend ~= "reference" then s:plan { height = height } end
      s:run(30)
      tz.expect(s:hash "u" == own:hash "u" or scalars.push == values)
      c.near(s:max "u", own:max "u", 1e-12)
      c.near(s:max "speed", own:max "speed", 1e-12)
    end
  end
end

-- A list stays at its last value, and a number is a list of one.
local held = make { push = { 1, 0.5 } }
tz.expect(held:scalar("push", 0) == 1 and held:scalar("push", 1) == 0.5 and held:scalar("push", 900) == 0.5)
tz.expect(make { push = 3 }:scalar("push", 7) == 3)

-- A formula follows the parameters.
local louder = make { push = "gain*2^(0-step)" }
louder:params { gain = 8 }
tz.expect(louder:scalar("push", 2) == 2)

-- Derived fields are read as any others, and are never set.
if not tz.checking then
  local u, v = own:get("u", 21, 9) - own:get("u", 19, 9), own:get("u", 20, 9) - own:get("old", 20, 9)
  c.near(own:get("speed", 20, 9), v * v + u * u, 1e-15)
  c.near(own:array "speed":get(20, 9), own:get("speed", 20, 9), 0)
  tz.expect(own:max("speed", { x = { 20, 21 }, y = { 9, 10 } }) == own:get("speed", 20, 9))
  own:every(2, tz.png("speed", { caption = "{field} {step}", bar = true }))
  own:every(4, tz.npy "speed")
  own:every(4, tz.vti { "u", "speed" })
  own:every(1, tz.table { "step", "max(speed)", "hash(speed)" })
  own:run(4)
end
c.refuses("is derived: it is computed from others and cannot be set", own.set, own, "speed", 1)
c.refuses("field 'speed': is derived", tz.simulation, { plugin = pulse, grid = { 8, 8 }, fields = { speed = 1 } })
c.refuses("unknown key 'speed'; known: u, old", tz.simulation,
  { plugin = pulse, grid = { 8, 8 }, boundary_values = { speed = 1 } })

-- Slips.
c.refuses("unknown scalar 'psh' of 'pulse'; did you mean 'push'?", make, { psh = 1 })
c.refuses("the list 'push' is empty", make, { push = {} })
c.refuses("number 2 of the list 'push' is a string", make, { push = { 1, "2" } })
c.refuses("'push' must be a formula of step (a text), a list or a number, not a boolean", make, { push = true })
c.refuses("scalar 'push'", make, { push = "sin(stp)" })
c.refuses("has no constant that changes with the iteration", tz.simulation,
  { plugin = "hotspot", grid = { 8, 8 }, scalars = { power = 1 } })
c.refuses("unknown scalar 'gain'", own.scalar, own, "gain")
if not tz.checking then
  local ends = make { push = "sqrt(3 - step)" }
  c.refuses("in iteration 4, which is NaN: sqrt(3 - step)", ends.run, ends, 10)
end

-- Predictions take them, and heights above 1 win as without them.
if not tz.checking then
  local p = tz.predict { plugin = pulse, grid = { 4096, 4096 }, device = "h200", scalars = { push = { 1, 0 } }, height = 4, family = "direct" }
  tz.expect(p)
end
