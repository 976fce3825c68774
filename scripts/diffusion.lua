-- A noisy volume, as from an electron microscope, and the same after anisotropic nonlinear diffusion:
-- the noise goes, the membranes of a cell stay sharp. A slice of both is drawn.
--
--   trapeze run diffusion.lua [--set n=128] [--set steps=20] [--set noise=0.35] [--set contrast=0.04]
local tz = require "trapeze"

local n = math.tointeger(tz.args.n or 128)
local steps = math.tointeger(tz.args.steps or 20)
local noise = tonumber(tz.args.noise or 0.35)

-- Distance to the surface of an ellipsoid with centre and half axes in parts of the volume; less than 0 inside.
local function ellipsoid(x, y, z, cx, cy, cz, a, b, c)
  local u, v, w = (x - cx) / a, (y - cy) / b, (z - cz) / c
  return (math.sqrt(u * u + v * v + w * w) - 1) * math.min(a, b, c)
end

-- A cell with a membrane, a nucleus, a stack of folded membranes and some vesicles: 0 is dark, 1 is bright.
local vesicles = { { 0.33, 0.72, 0.5, 0.06 }, { 0.47, 0.79, 0.52, 0.045 }, { 0.62, 0.74, 0.47, 0.055 }, { 0.75, 0.62, 0.5, 0.04 } }
local function tissue(x, y, z)
  local value = 0.7
  local cell = ellipsoid(x, y, z, 0.5, 0.5, 0.5, 0.44, 0.4, 0.45)
  if cell < 0 then value = 0.55 end
  if math.abs(cell) < 0.014 then value = 0.1 end
  local nucleus = ellipsoid(x, y, z, 0.36, 0.42, 0.5, 0.17, 0.16, 0.2)
  if nucleus < 0 then value = 0.35 end
  if math.abs(nucleus) < 0.01 then value = 0.05 end
  local body = ellipsoid(x, y, z, 0.7, 0.38, 0.5, 0.13, 0.09, 0.2)
  if body < 0 then value = math.sin((x - 0.7) * 110 + 2 * math.sin(y * 25)) > 0 and 0.9 or 0.25 end
  if math.abs(body) < 0.01 then value = 0.1 end
  for _, v in ipairs(vesicles) do
    local d = ellipsoid(x, y, z, v[1], v[2], v[3], v[4], v[4], v[4])
    if d < 0 then value = 0.95 end
    if math.abs(d) < 0.009 then value = 0.1 end
  end
  return value
end

-- Noise that is the same everywhere it is computed: from a cell's number, without a table.
local function hash(i)
  i = (i ~ (i >> 15)) * 0x2c1b3c6d & 0xffffffff
  i = (i ~ (i >> 12)) * 0x297a2d39 & 0xffffffff
  return ((i ~ (i >> 15)) & 0xffffff) / 0x1000000
end
local function volume(x, y, z)
  local i = (z * n + y) * n + x + 1
  local gauss = hash(i) + hash(i + 7919 * n * n) + hash(i + 15485863) - 1.5 -- of variance 1/4
  return tissue((x + 0.5) / n, (y + 0.5) / n, (z + 0.5) / n) + 2 * noise * gauss * 0.5
end

local sim = tz.simulation {
  plugin = "diffusion", grid = { n, n, n }, precision = "single",
  params = { contrast = tonumber(tz.args.contrast or 0.04) },
  fields = { u = volume },
}

-- How rough the ground outside the cell is, where nothing but noise is.
local quiet = { x = { 0, n // 12 }, y = { 0, n // 12 }, z = { 0, n // 12 } }
local function range() return sim:max("u", quiet) - sim:min("u", quiet) end

local before = range()
local look = { slice = n // 2, map = "gray", range = { 0, 1 }, zoom = 4, bar = true }
sim:write(tz.png("u", { name = "before", slice = look.slice, map = look.map, range = look.range, zoom = look.zoom, caption = "before" }))
sim:run(steps)
sim:write(tz.png("u", { name = "after", slice = look.slice, map = look.map, range = look.range, zoom = look.zoom, caption = "after {step} iterations" }))
sim:write(tz.png("u", { name = "inside", view = "isometric", cut = true, level = -1, map = "gray", range = look.range, caption = "cut open" }))
tz.log(("outside the cell values ranged over %.2f, now over %.3f"):format(before, range()))
tz.expect(range() < before / 4, "the noise is still there")
