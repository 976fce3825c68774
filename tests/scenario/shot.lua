-- A shot in a homogeneous medium: sources and receivers between cells, against the solution of u" = c^2 lap(u) + s(t) delta(x).
local tz = require "trapeze"
local c = require "checks"

if tz.args.backend == "reference" then return end -- it is slow, and others compare it

local speed, frequency, delay = 1500, 15, 0.1
local function ricker(t)
  local a = (math.pi * frequency * (t - delay)) ^ 2
  return (1 - 2 * a) * math.exp(-a)
end
-- In the plane: an integral over earlier times, with tau = r/c cosh q.
local function exact(r, t)
  local sum, parts = 0, 400
  local most = t * speed / r
  if most <= 1 then return 0 end
  local high = math.log(most + math.sqrt(most * most - 1))
  for i = 1, parts do
    local q = high * (i - 0.5) / parts
    sum = sum + ricker(t - r / speed * (math.exp(q) + math.exp(-q)) / 2)
  end
  return sum * high / parts / (2 * math.pi * speed * speed)
end

-- The same two places in metres on grids of 10 points a wavelength and more: the amplitude is that of the solution on each. With
-- open sides, which the wave passes at all angles, also on a grid that ends 250 m around them.
for _, case in ipairs { { "wave2d8", 10, 1100, 0 }, { "wave2d8", 8, 1100, 0 }, { "seismic2d8", 10, 680, 240 } } do
  local plugin, spacing, width, origin = table.unpack(case)
  local cells = width // spacing
  local sim <close> = tz.simulation { plugin = plugin, grid = { cells, cells }, precision = "double", name = plugin .. spacing,
    params = { spacing_m = spacing, max_speed_m_s = speed, dt_s = 0.0005, amplitude = plugin == "wave2d8" and 0 or nil },
    fields = { speed = speed } }
  local x, y, rx, ry = 523 - origin, 517 - origin, 702 - origin, 581 - origin
  sim:sources { points = { { x / spacing, y / spacing } }, interpolate = "sinc", scale = "volume",
    values = "dt_s^2*(1 - 2*(pi*15*(t - 0.1))^2)*exp(0 - (pi*15*(t - 0.1))^2)" }
  local rec = sim:receivers { points = { { rx / spacing, ry / spacing } }, interpolate = "sinc" }
  sim:run(560)
  if not tz.checking then
    local got, r = rec:array(), math.sqrt((rx - x) ^ 2 + (ry - y) ^ 2)
    local largest, error = 0, 0
    for k = 0, 559 do
      local wanted = exact(r, (k + 1) * 0.0005)
      largest = math.max(largest, math.abs(wanted))
      error = math.max(error, math.abs(got:get(0, k) - wanted))
    end
    tz.log(plugin .. (", spacing %g m: error %.2f %% of the largest value"):format(spacing, 100 * error / largest))
    tz.expect(error <= 0.01 * largest, ("error %.3g of %.3g"):format(error, largest))
  end
end
