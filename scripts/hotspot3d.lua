-- A stack of two dies: where heat gathers when the upper one sits between the lower one and the sink.
-- Layers from below: logic, glue, memory, metal of the heat sink.
--
-- Rodinia's files of such chips are read with tz.read(file, { shape = { nx, ny, layers }, order = "zxy" }).
--
--   trapeze run hotspot3d.lua [--set n=128] [--set time=0.02]
local tz = require "trapeze"

local n = math.tointeger(tz.args.n or 128)
-- Two cells of each layer; conductivities in terms of silicon's 100 W/(m K); watts of the whole layer.
local layers = {
  { name = "logic", conductivity = 1.0, watts = 90, range = { 318, 326 } },
  { name = "glue", conductivity = 0.015, watts = 0 },
  { name = "memory", conductivity = 1.0, watts = 15, range = { 318.1, 318.6 } },
  { name = "sink", conductivity = 4.0, watts = 0 },
}
local each = 2
local nz = each * #layers
local function layer_of(z) return layers[math.min(z // each + 1, #layers)] end

-- Four cores of the logic take most of its power; the memory's banks share theirs.
local function share(layer, x, y)
  if layer.name ~= "logic" then return 1 / (n * n) end
  local u, v = x / n, y / n
  local core = (math.abs(u - 0.25) < 0.12 or math.abs(u - 0.75) < 0.12) and (math.abs(v - 0.25) < 0.12 or math.abs(v - 0.75) < 0.12)
  return (core and 0.8 / (0.2304 * n * n) or 0.2 / (0.7696 * n * n))
end

local sim = tz.simulation {
  plugin = "hotspot3d", grid = { n, n, nz }, precision = "single",
  params = { thickness_m = 0.001, most = 4, loss = 0 },
  -- Heat leaves through the top alone.
  boundary = { x = "clamp", y = "clamp", z = { "clamp", "fixed" } },
  fields = {
    temperature = 318.15,
    lateral = function(x, y, z) return layer_of(z).conductivity end,
    vertical = function(x, y, z) -- two halves of a cell, one after the other
      local a, b = layer_of(z).conductivity, layer_of(z + 1).conductivity
      return 2 * a * b / (a + b)
    end,
    power = function(x, y, z) local l = layer_of(z) return l.watts / each * share(l, x, y) end,
  },
}
local time = tonumber(tz.args.time or 0.02)
for z, layer in ipairs(layers) do
  if layer.watts > 0 then
    sim:every(time / 4 .. " s", tz.png("temperature", { name = layer.name, slice = (z - 1) * each, map = "inferno", range = layer.range,
      zoom = 3, bar = true, unit = "K", caption = layer.name .. " after {time}" }))
  end
end
-- A section through two of the cores: z points up, to the heat sink.
sim:every(time / 4 .. " s", tz.png("temperature", { name = "section", slice = { y = n // 4 }, map = "inferno", range = { 318, 326 },
  zoom = 8, axes = true, bar = true, unit = "K", caption = "section after {time}" }))
sim:run { until_time = time }
for z, layer in ipairs(layers) do
  local box = { z = { (z - 1) * each, z * each } }
  tz.log(("%-7s %.2f to %.2f K"):format(layer.name, sim:min("temperature", box), sim:max("temperature", box)))
end
tz.expect(sim:min "temperature" > 318.1, "colder than its surroundings")
