-- The cheapest way down a mountainside: PathFinder adds a row of weights an iteration, and the
-- analysis "path" then recovers a cheapest path.
--
--   trapeze run pathfinder.lua [--set seed=2] [--set roughness=40]
local tz = require "trapeze"

local nx, rows = 480, 360
local seed = tonumber(tz.args.seed or 5)
local roughness = tonumber(tz.args.roughness or 12) -- how much of the weight is noise

-- Smooth random hills: values on a coarse grid, joined smoothly, at four sizes.
local function lattice(x, y, salt)
  local n = (x * 374761393 + y * 668265263 + salt * 2147483647 + seed * 974634777) & 0xffffffff
  n = ((n ~ (n >> 13)) * 1274126177) & 0xffffffff
  return ((n ~ (n >> 16)) & 0xffff) / 0xffff
end
local function smooth(t) return t * t * (3 - 2 * t) end
local function hills(x, y, size, salt)
  local i, j = x // size, y // size
  local s, t = smooth((x % size) / size), smooth((y % size) / size)
  local top = lattice(i, j, salt) * (1 - s) + lattice(i + 1, j, salt) * s
  local bottom = lattice(i, j + 1, salt) * (1 - s) + lattice(i + 1, j + 1, salt) * s
  return top * (1 - t) + bottom * t
end
local weights = tz.array {
  shape = { nx, rows }, dtype = "int32",
  fill = function(x, y)
    local height = 0.55 * hills(x, y, 96, 1) + 0.28 * hills(x, y, 40, 2) + 0.17 * hills(x, y, 16, 3)
    height = math.min(math.max(1.9 * height - 0.45, 0), 1) -- deeper valleys, higher peaks
    return math.floor((100 - roughness) * height + roughness * lattice(x, y, 4))
  end,
}

local sim = tz.simulation { plugin = "pathfinder", grid = { nx }, fields = { weights = weights } }

-- Keep the cost of every cell above the cheapest of its row, to draw it.
local above = tz.array { shape = { nx, rows }, dtype = "int32", fill = 0 }
sim:every(1, function(s)
  if s.step == 0 then return end
  local cost, least = s:array "cost", s:min "cost"
  for x = 0, nx - 1 do above:set(x, s.step - 1, cost:get(x) - least) end
end)
sim:every(10, tz.table { "step", "min(cost)", "max(cost)" })
sim:run(rows)

local path = sim:analyse "path"
tz.picture { data = weights, file = "path.png", path = path.columns, map = "viridis", zoom = 2, bar = true,
  range = { 0, 100 }, caption = "A cheapest path over the weights" }
tz.picture { data = above, file = "cost.png", path = path.columns, map = "inferno_r", zoom = 2, bar = true,
  log = true, range = { 1, 10000 }, caption = "Cost above the cheapest cell of the row" }

-- The path moves at most one column a row, and costs what the field holds.
local sum, last = 0, path.columns[1]
for row, column in ipairs(path.columns) do
  sum = sum + weights:get(column, row - 1)
  tz.expect(math.abs(column - last) <= 1, "the path jumps")
  last = column
end
tz.expect(sum == path.cost and sum == sim:min "cost", "the path does not cost what it should")
tz.log("cheapest path: cost", sim:min "cost", "and it ends in column", path.columns[rows])
