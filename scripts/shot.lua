-- Seismic shots: sources and receivers between cells, open sides and a free surface, over layered ground and over a basin with
-- faults in the manner of the Marmousi model. For each the wave, the speeds and a seismogram.
--
--   trapeze run shot.lua [--set nx=600] [--set ny=240] [--set spacing=10] [--set time=2]
local tz = require "trapeze"

local nx, ny = math.tointeger(tz.args.nx or 600), math.tointeger(tz.args.ny or 240)
local spacing, time = tonumber(tz.args.spacing or 10), tonumber(tz.args.time or 2)
local frequency = 15 -- the peak of the wavelet, which comes after 1.2 of its periods
local ricker = ("(1 - 2*(pi*%g*t - 1.2*pi)^2)*exp(0 - (pi*%g*t - 1.2*pi)^2)"):format(frequency, frequency)

-- Speeds in m/s. Depths and places are shares of the grid, so that a finer grid has the same ground.
local function layered(x, y)
  local depth = y / ny
  return depth < 0.2 and 1500 or depth < 0.4 and 2000 or depth < 0.65 and 2700 or 3500
end
-- Thin beds that dip and bend, which three faults move against each other; below them salt and basement.
local function basin(x, y)
  local across, depth = x / nx, y / ny
  if depth < 0.08 then return 1500 end
  local moved = depth
  for k, fault in ipairs { 0.35, 0.5, 0.65 } do
    if across > fault + 0.35 * (depth - 0.5) then moved = moved - (k == 2 and 0.07 or -0.04) end
  end
  moved = moved + 0.10 * math.exp(-((across - 0.55) / 0.2) ^ 2) - 0.12 * (across - 0.3)
  if moved > 0.86 then return 4500 end
  if ((across - 0.22) / 0.1) ^ 2 + ((depth - 0.75) / 0.09) ^ 2 < 1 then return 4400 end
  local bed = math.floor(moved * 28)
  return 1700 + 2300 * moved + 260 * math.sin(bed * 12.9898) * math.cos(bed * 4.1)
end

local function shoot(name, speed)
  local sim = tz.simulation { plugin = "seismic2d8", name = name, grid = { nx, ny }, fields = { speed = speed },
    params = { spacing_m = spacing, max_speed_m_s = 4700, free_surface = true } }
  local geophones = {}
  for k = 0, 199 do geophones[k + 1] = { 30 + (nx - 61) * k / 199, 1.5 } end
  sim:sources { points = { { nx / 2 + 0.25, 2 } }, interpolate = "sinc", scale = "volume", values = "dt_s^2*" .. ricker }
  local every = math.max(1, math.floor(time / 500 / sim:param "dt_s"))
  local heard = sim:receivers { points = geophones, interpolate = "sinc", every = every, file = name .. ".npy" }
  local look = { map = "balance", range = { -4e-8, 4e-8 }, zoom = 2, axes = true, caption = name .. ", after {time}" }
  sim:every(time / 4 .. " s", tz.png("u", look))
  sim:run { until_time = time }
  tz.picture { data = tz.array { shape = { nx, ny }, dtype = "float32", fill = speed }, file = name .. "-speed.png", map = "viridis",
    range = { 1500, 4500 }, zoom = 2, bar = true, axes = { spacing = spacing, unit = "m" }, caption = "speed of sound (m/s)" }
  if heard.rows > 0 then -- with --check nothing runs
    tz.picture { data = heard:array(), file = name .. "-seismogram.png", map = "gray", range = { -1e-8, 1e-8 }, zoom = 2,
      caption = "geophones, time downwards" }
    tz.expect(math.max(sim:max "u", -sim:min "u") < 1e-6, "waves leave")
  end
  sim:close()
end
shoot("layered", layered)
shoot("basin", basin)
