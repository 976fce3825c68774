-- Sides as formulas: the bits of the update that is written out, on every backend, plan and slab; heat through a wall
-- against theory; waves that leave.
local tz = require "trapeze"
local c = require "checks"

-- Values that change along the side and with time, a flux, a side with none, and a corner, where the side of x counts.
local params = { dt = { value = 0.1, role = "time_step" }, k = 0.3 }
local short = tz.stencil { name = "short", dims = 2, fields = { "u", "w" }, params = params,
  outside = { u = { x = { { value = "sin(t + y/ny)" }, "3*inside - w" }, y = { false, { flux = "k" } } } },
  update = { u = "u + dt*lap(u) + 0.01*u[1,1] + 0.01*dxy(u)", w = "u[-2,0] + x/nx" } }
local function u(dx, dy)
  local cell = ("u[%d,%d]"):format(dx, dy)
  if dy > 0 then cell = ("(y + %d >= ny ? %s + k : %s)"):format(dy, cell, cell) end
  if dx < 0 then cell = ("(x + %d < 0 ? 2*sin(t + (y + %d)/ny) - u[%d,%d] : %s)"):format(dx, dy, dx, dy, cell) end
  if dx > 0 then cell = ("(x + %d >= nx ? 3*u[%d,%d] - w[%d,%d] : %s)"):format(dx, dx, dy, dx, dy, cell) end
  return cell
end
local long = tz.stencil { name = "long", dims = 2, fields = { "u", "w" }, params = params,
  boundaries = { "clamp", "periodic" },
  update = { w = u(-2, 0) .. " + x/nx",
    u = ("u + dt*((%s + %s + (%s + %s)) - 4*u) + 0.01*%s + 0.01*(0.25*((%s - %s) - (%s - %s)))"):format(u(-1, 0), u(1, 0), u(0, -1),
      u(0, 1), u(1, 1), u(1, 1), u(1, -1), u(-1, 1), u(-1, -1)) } }
local all = { { plugin = long, backend = "reference" }, table.unpack(c.ways) }
c.same_bits(short, { grid = { 40, 37 }, precision = "double", fields = { u = c.noise(1, 0.9), w = c.noise(2, 0.9) } }, 7, all)

-- A wall between two rooms: the heat that flows is the difference of temperatures over the sum of resistances.
local wall = tz.stencil { name = "wall", dims = 1, fields = { "T" }, spacing = 0.01, params = { k = 0.8, dt = 4e-5 },
  outside = { T = { x = { { robin = { "8", "k", "8*20" } }, { robin = { 25, "k", "25*(-5)" } } } } }, update = "T + dt*k*lap(T)" }
local rooms = tz.simulation { plugin = wall, grid = { 20 }, precision = "double" }
rooms:run(40000)
if not tz.checking then
  local flow = (20 + 5) / (1 / 8 + 0.2 / 0.8 + 1 / 25)
  c.near(0.8 * (rooms:get("T", 9) - rooms:get("T", 10)) / 0.01, flow, 1e-6)
  c.near(rooms:get("T", 0), 20 - flow / 8 - flow * 0.005 / 0.8, 1e-6)
end

-- A parabolic profile at an inlet, by the place along the side; the other axis may be periodic.
local inlet = tz.stencil { name = "inlet", dims = 2, update = "u + 0.2*lap(u)",
  outside = { u = { x = { { value = "4*(y + 0.5)/ny*(1 - (y + 0.5)/ny)" }, { flux = 0 } } } } }
local flow = tz.simulation { plugin = inlet, grid = { 12, 8 }, boundary = { y = "periodic" }, precision = "double" }
flow:run(1)
for y = 0, tz.checking and -1 or 7 do c.near(flow:get("u", 0, y), 0.4 * 4 * (y + 0.5) / 8 * (1 - (y + 0.5) / 8), 1e-15) end
for _, boundary in ipairs { "periodic", { x = "periodic" }, { x = { "periodic", "periodic" } } } do
  c.refuses("x is periodic, but 'outside' of inlet says what is past its sides", tz.simulation, { plugin = inlet, grid = { 12, 8 }, boundary = boundary })
end

-- A pulse leaves a string, and little comes back.
local string = tz.stencil { name = "rope", dims = 1, fields = { "u", "old" }, params = { courant = 0.5 },
  outside = { u = { absorbing = "courant", old = "old" } },
  update = { u = "2*u - old + courant^2*lap(u)", old = "u" } }
local function bump(x) return math.exp(-((x - 100) / 12) ^ 2) end
local rope = tz.simulation { plugin = string, grid = { 200 }, precision = "double", fields = { u = bump, old = bump } }
rope:run(600)
tz.expect(tz.checking or math.max(rope:max "u", -rope:min "u") < 2e-3, "the pulse has left")

-- Mistakes.
local function wrong(outside, more)
  local options = { dims = 2, fields = { "u" }, update = "lap(u)", outside = outside }
  for key, value in pairs(more or {}) do options[key] = value end
  return options
end
c.refuses("unknown field 'v'", tz.stencil, wrong { v = "1" })
c.refuses("unknown name 'insde'", tz.stencil, wrong { u = "insde" })
c.refuses("'u' past the low side of x", tz.stencil, wrong { u = "oops" })
c.refuses("write x = { low, high }", tz.stencil, wrong { u = { left = { value = 1 } } })
c.refuses("did you mean 'flux'?", tz.stencil, wrong { u = { neumann = 1 } })
c.refuses("there is no axis z", tz.stencil, wrong { u = { z = "1" } })
c.refuses("an axis has two sides", tz.stencil, wrong { u = { x = { "1" } } })
c.refuses("needs 'value', 'flux', 'robin' or 'absorbing'", tz.stencil, wrong { u = {} })
c.refuses("must be { a, b, c }", tz.stencil, wrong { u = { robin = { 1, 2 } } })
c.refuses("'absorbing' goes with 'old'", tz.stencil, wrong { u = { absorbing = 0.5 } })
c.refuses("do not go with temporaries", tz.stencil, wrong({ u = "1" }, { fields = { u = {}, v = { role = "temporary" } }, update = { u = "u" } }))
c.refuses("inside is for formulas past sides and edges", tz.stencil, { dims = 1, fields = { "u" }, update = "inside" })
tz.expect(not pcall(tz.simulation, { plugin = short, grid = { 8, 8 }, boundary = "fixed" }))
