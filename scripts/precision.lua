-- How far single precision is from double: runs a scenario, or a case of its own, in both at once and compares
-- all cells at each output and at each end. scripts/precision.sh runs all of them and prints the table of
-- docs/log/precision.md; each line of it comes from here.
--
--   trapeze run scripts/precision.lua --set scenario=hotspot [what that scenario takes]   a scenario in this folder
--   trapeze run scripts/precision.lua --set case=poisson [--set n=64] [--set steps=2000]  a stencil, or "uniform"
--
-- With --set storage=half it is single precision stored as half, with --set origin=0 not less the stencil's origin; with
-- storage=weights, populations of lbm less their weights.
--
-- It fails if a cell differs by more than a thousandth of the range of all values that were compared, or by
-- more than `within`.
local tz = require "trapeze"

local storage = tz.args.storage
local SHARE = storage and math.huge or 1e-3
if tz.args.origin then storage = { storage, origin = tonumber(tz.args.origin) } end
if storage == "weights" then
  storage = {}
  for i = 0, 8 do storage["f" .. i] = { "half", origin = i == 0 and 4 / 9 or i < 5 and 1 / 9 or 1 / 36, scale = 2 ^ -6 } end
end
local make, within = tz.simulation, tonumber(tz.args.within or math.huge)
local integers = { life = true, cell = true, pathfinder = true, cyclic = true }
local pairs_made, integers_made = {}, 0

-- Two simulations that the scenario takes for one. It is told what the one in double precision says.
local Pair = {}

function Pair:compare(single)
  local step = single.step
  local wanted, got = self.seen[step], single:array()
  if not wanted then return end
  local nx, ny, nz = got.shape[1], got.shape[2] or 1, got.shape[3] or 1
  local dims, worst = #got.shape, self.worst
  for z = 0, nz - 1 do
    for y = 0, ny - 1 do
      for x = 0, nx - 1 do
        local a, b
        if dims == 2 then a, b = wanted:get(x, y), got:get(x, y) else a, b = wanted:get(x, y, z), got:get(x, y, z) end
        local difference = math.abs(a - b)
        if not (difference <= worst) then worst, self.worst_step = difference, step end
      end
    end
  end
  self.worst, self.seen[step], self.compared = worst, false, self.compared + 1
end

function Pair:keep(double)
  if self.seen[double.step] == nil then
    self.seen[double.step] = double:array()
    self.low, self.high = math.min(self.low, double:min()), math.max(self.high, double:max())
  end
end

function Pair:every(interval, output)
  if type(output) == "function" then self.double:every(interval, output) end
  self.double:every(interval, function(s) self:keep(s) end)
  self.single:every(interval, function(s) self:compare(s) end)
end

function Pair:run(options)
  self:keep(self.double)
  self:compare(self.single)
  local result = self.double:run(options)
  self.single:run(result.steps)
  self:keep(self.double)
  self:compare(self.single)
  self.steps = self.double.step
  return result
end

function Pair:write() end -- no pictures

for _, name in ipairs { "set", "params", "plan", "close" } do
  Pair[name] = function(self, ...)
    self.single[name](self.single, ...)
    return self.double[name](self.double, ...)
  end
end

local meta = { __index = function(self, key)
  if Pair[key] then return Pair[key] end
  local value = self.double[key]
  if type(value) ~= "function" then return value end
  return function(_, ...) return value(self.double, ...) end
end }

function tz.simulation(options)
  if integers[options.plugin] then
    integers_made = integers_made + 1
    return make(options)
  end
  local function with(precision)
    local copy = { name = (options.name or options.plugin) .. "-" .. precision }
    for key, value in next, options do if key ~= "name" then copy[key] = value end end
    copy.precision = precision
    if precision == "single" then copy.storage = storage end
    return make(copy)
  end
  local pair = { single = with "single", double = with "double", seen = {}, compared = 0, worst = 0, steps = 0, worst_step = 0,
    low = math.huge, high = -math.huge, plugin = options.plugin, grid = table.concat(options.grid, " x "),
    label = options.name or "" }
  pairs_made[#pairs_made + 1] = pair
  return setmetatable(pair, meta)
end

-- A case for each stencil: values far from zero that differ little, and with them what an origin is for.
local function random(seed, low, high) return tz.random { seed = seed, range = { low, high } } end

local function case(name)
  local n, steps = math.tointeger(tz.args.n or name:find "3d" and 32 or 64), math.tointeger(tz.args.steps or 2000)
  local grid = name:find "3d" and { n, n, n } or { n, n }
  local options = { plugin = name, grid = grid, boundary = "fixed", boundary_values = { u = 300 },
    fields = { u = random(1, 300, 301) } }
  if name == "uniform" then -- Rodinia's step, with which a chip warms by less than an ulp of 318 K
    options = { plugin = "hotspot", grid = grid, params = { dt = "rodinia" }, name = "5 W, Rodinia's step",
      fields = { temperature = 318.15, power = 5 / n ^ 2 } }
  elseif name == "hotspot" then
    options.fields = { temperature = random(1, 318.15, 319.15), power = random(2, 0, 8 / n ^ 2) }
    options.boundary, options.boundary_values = "clamp", nil
  elseif name == "heat" then
    options.fields = { temperature = random(1, 293.15, 294.15) }
    options.boundary, options.boundary_values = "clamp", nil
  elseif name == "poisson" then
    options.fields = { u = 1000, f = random(2, -200, 0) }
    options.boundary_values = { u = 1000 }
  end
  local sim = tz.simulation(options)
  sim:every(steps // 4, function() end)
  sim:run(steps)
end

if tz.args.case then case(tz.args.case) else require(assert(tz.args.scenario, "give --set scenario=NAME")) end

if #pairs_made == 0 then
  tz.expect(integers_made > 0, "no simulation was made")
  print(("| %s | integers: both are the same | | | | | |"):format(tz.args.scenario))
end
for _, p in ipairs(pairs_made) do
  local range = p.high - p.low
  local share = p.worst / range
  local what = p.label ~= "" and p.label ~= p.plugin and p.plugin .. ", " .. p.label or p.plugin
  print(("| %s | %s | %s | %d | %.2g | %.3g | %.1e |"):format(tz.args.scenario or "case", what, p.grid, p.steps,
    p.worst, range, share))
  tz.expect(tz.checking or p.compared > 1, p.plugin .. ": nothing was compared but the beginning")
  tz.expect(tz.checking or share <= SHARE and p.worst <= within,
    ("%s: a cell differs by %.3g at step %d, %.2g of the range %.6g"):format(p.plugin, p.worst, p.worst_step, share,
      range))
end
