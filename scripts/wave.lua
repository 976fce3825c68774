-- A seismic shot: a wavelet runs down through layers of rock, and echoes come back to the surface.
--
--   trapeze run wave.lua [--set nx=400] [--set ny=300] [--set order=8] [--set time=2.2]
local tz = require "trapeze"

local nx, ny = math.tointeger(tz.args.nx or 400), math.tointeger(tz.args.ny or 300)
local order = tz.args.order or "8"
local rim = 30

-- Layers from the surface down, with a dome of salt.
local function speed(x, y)
  local depth = y / ny
  if ((x / nx - 0.62) / 0.16) ^ 2 + ((depth - 0.72) / 0.2) ^ 2 < 1 then return 4500 end
  if depth < 0.25 then return 1500 end
  if depth < 0.45 + 0.05 * math.sin(6 * x / nx) then return 2200 end
  if depth < 0.75 - 0.1 * x / nx then return 2800 end
  return 3600
end
-- Waves leave through the sides and below.
local function sponge(x, y)
  local d = math.min(x, nx - 1 - x, ny - 1 - y)
  return d < rim and 1 - 0.15 * ((rim - d) / rim) ^ 2 or 1
end

local sim = tz.simulation {
  plugin = order == "2" and "wave2d" or "wave2d8", grid = { nx, ny }, boundary = "fixed",
  params = { spacing_m = 8, max_speed_m_s = 4500, frequency_hz = 18, source_x = nx // 2, source_y = 12 },
  fields = { speed = speed, sponge = sponge },
}
-- What geophones along the surface hear: a row of the picture a sample.
local time = tonumber(tz.args.time or 2.2)
local every = time / 400
local geophones = {}
for x = 0, nx - 1 do geophones[x + 1] = { x, 8 } end
local heard = sim:receivers { field = "u", points = geophones, every = math.max(1, math.floor(every / sim:param "dt_s")), file = "geophones.npy" }
-- Three of them as columns of a table: the report draws it.
local columns = { "time", name = "geophones" }
for k = 1, 3 do columns[k + 1] = ("probe(u, %d, 8)"):format(k * nx // 4) end
sim:every(every .. " s", tz.table(columns))
local look = { map = "balance", range = { -0.04, 0.04 }, zoom = 2, axes = true, caption = "after {time}" }
sim:every(time / 8 .. " s", tz.png("u", look))
sim:every(time / 110 .. " s", tz.movie("u", look)) -- plays at half the speed of the waves
sim:run { until_time = time }
tz.expect(time < 2 or math.max(sim:max "u", -sim:min "u") < 0.03, "the sponge lets waves out")
if heard.rows > 0 then -- with --check nothing runs
  tz.picture { data = heard:array(), file = "geophones.png", map = "gray", range = { -0.02, 0.02 }, zoom = 2,
    caption = "what geophones at the surface hear, time downwards" }
end
tz.picture { data = tz.array { shape = { nx, ny }, dtype = "float32", fill = speed }, file = "speed.png", map = "viridis", range = { 1500, 4500 }, zoom = 2, bar = true, axes = { spacing = 8, unit = "m" },
  caption = "speed of sound (m/s)" }

-- In three dimensions: a blast in a cube of rock with a fault.
local m = math.tointeger(tz.args.cube or 96)
local cube = tz.simulation {
  plugin = order == "2" and "wave3d" or "wave3d8", grid = { m, m, m }, boundary = "fixed", name = "cube",
  params = { spacing_m = 8, frequency_hz = 30, source_z = m // 4 },
  fields = {
    speed = function(x, y, z) return z < m / 2 + 0.2 * (x - m / 2) and 2000 or 3500 end,
    sponge = function(x, y, z)
      local d = math.min(x, y, z, m - 1 - x, m - 1 - y, m - 1 - z)
      return d < 12 and 1 - 0.15 * ((12 - d) / 12) ^ 2 or 1
    end,
  },
}
cube:run { until_time = 0.19 }
cube:write(tz.png("u", { slice = { y = m // 2 }, map = "balance", range = { -0.004, 0.004 }, zoom = 5, axes = true,
  caption = "a blast below a tilted fault after {time}" }))
cube:write(tz.png("u", { name = "inside", view = "isometric", cut = true, level = -1, map = "balance", range = { -0.004, 0.004 },
  caption = "the same, cut open" }))
tz.expect(cube:max "u" > 0, "the source has sounded")
