-- A plate from its first moment to the end of time. It begins as a mosaic of tiles of every size, with hot and cold
-- pipes under it and its rim held at one temperature. Each panel comes ten times later than the one before, the
-- last one after infinitely many steps. Small tiles melt first, large ones later, and the pipes' own picture is left.
-- Stepping to the fifth panel would take minutes; a jump takes one transform there and one back.
--
--   trapeze run heat_jump.lua [--set n=320] [--backend cuda]
--
-- drift.png: what single precision loses as it steps, beside a jump in single precision. What is exact comes from a
-- jump in double precision.
local tz = require "trapeze"

local n = math.tointeger(tz.args.n or 320)
local heat = tz.stencil {
  name = "plate", dims = 2, fields = { u = { unit = "K" }, q = { role = "static" } },
  update = { u = "u + 0.2*(u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u) + q" },
}

-- A mosaic: a square is split in four, and again, until chance ends that.
local random = 12345
local function chance()
  random = (random * 1103515245 + 12345) % 2147483648
  return random / 2147483648
end
local mosaic = {} -- a value for each cell
local function split(x, y, size)
  if size > n / 5 or (size > 4 and chance() < 0.74) then
    local half = size / 2
    for _, at in ipairs { { 0, 0 }, { half, 0 }, { 0, half }, { half, half } } do split(x + at[1], y + at[2], half) end
  else
    local value = chance() - 0.5
    for cy = math.floor(y), math.floor(y + size) - 1 do
      for cx = math.floor(x), math.floor(x + size) - 1 do mosaic[cy * n + cx] = value end
    end
  end
end
split(0, 0, n)

-- Pipes: hot ones are positive.
local pipes = { { 0.22, 0.3, 1 }, { 0.45, 0.68, -1 }, { 0.75, 0.25, -1 }, { 0.7, 0.62, 1 }, { 0.2, 0.78, -0.6 },
  { 0.5, 0.33, 0.5 }, { 0.86, 0.82, 0.7 } }
local function power(x, y)
  local sum = 0
  for _, pipe in ipairs(pipes) do
    local dx, dy = x / n - pipe[1], y / n - pipe[2]
    if dx * dx + dy * dy < 0.045 ^ 2 then sum = sum + pipe[3] end
  end
  return sum
end

local sim = tz.simulation { plugin = heat, grid = { n, n }, precision = "double", boundary = "fixed",
  boundary_values = { u = 0 }, fields = { q = power } }

-- The pipes' steady state, scaled to values from -0.5 to 0.5.
sim:steady()
local unit = 0.5 / math.max(sim:max "u", -sim:min "u", 1e-300)
sim:set("q", function(x, y) return unit * power(x, y) end)
sim:set("u", function(x, y) return mosaic[y * n + x] end)

local gap = n // 40
local canvas = tz.simulation { plugin = heat, grid = { 3 * n + 2 * gap, 2 * n + gap }, name = "plate",
  fields = { u = -0.5, q = 0 } }
local function show(panel)
  local x, y = panel % 3 * (n + gap), panel // 3 * (n + gap)
  local picture = sim:array "u"
  canvas:set("u", picture, { x = { x, x + n }, y = { y, y + n } })
end

show(0)
local reached = 0
for panel, steps in ipairs { 10, 100, 1000, 10000 } do
  local result = sim:jump(steps - reached)
  reached = steps
  show(panel)
  tz.log(("%6d steps in %.3f s"):format(steps, result.seconds))
end
local residual = sim:steady()
show(5)
tz.log(("the end: %.3g is what an iteration still changes"):format(residual))
tz.expect(residual < 1e-12, "this is not the end")
canvas:write(tz.png("u", { map = "inferno", range = { -0.5, 0.5 }, bar = true,
  caption = "a plate at the start, after 10, 100, 1000 and 10,000 steps, and at the end" }))

-- ---- Drift -------------------------------------------------------------------------------------------------

local m = 96
local function wave(x, y) return 300 + 10 * math.cos(math.pi * (x + 0.5) / m) * math.cos(math.pi * (y + 0.5) / m) end
local function plate(precision)
  return tz.simulation { plugin = heat, grid = { m, m }, precision = precision, boundary = "clamp",
    fields = { u = wave, q = 0 } }
end
local function apart(a, b)
  local most = 0
  for y = 0, m - 1, 3 do
    for x = 0, m - 1 do most = math.max(most, math.abs(a:get("u", x, y) - b:get("u", x, y))) end
  end
  return most
end
local stepped, exact = plate "single", plate "double"
exact:set("u", stepped:array "u") -- from the same values
local at, off, jumped = {}, {}, {}
for k = 1, 16 do
  local steps = math.floor(10 ^ (1 + k / 4) + 0.5)
  stepped:run(steps - stepped.step)
  exact:jump(steps - exact.step)
  local jump = plate "single"
  jump:jump(steps)
  at[k], off[k], jumped[k] = steps, math.max(apart(stepped, exact), 1e-6), math.max(apart(jump, exact), 1e-6)
  jump:close()
end
tz.log(("after %d steps: stepping in single precision is off by %.2g K, a jump by %.2g K"):format(at[#at], off[#off], jumped[#jumped]))
tz.expect(jumped[#jumped] < 2e-5, "a jump rounds once")
if tz.can_plot() then
  tz.plot { file = "drift.png", title = "Heat in single precision, 300 K", x_label = "steps", y_label = "largest error, K",
    log_x = true, log_y = true,
    series = { { x = at, y = off, title = "stepped" }, { x = at, y = jumped, title = "one jump" } } }
end
