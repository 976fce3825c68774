-- How fast is it here? GCells/s per plugin, size, height and threads: medians over whole runs, on
-- random data, after a warm-up. One GCell/s is 10^9 useful cell updates a second.
--
--   trapeze run scripts/bench.lua --quiet                      every case at its default height
--   … --set case=hotspot --set heights=1,2,4,8 --set threads=2 one case, several heights
--   … --set rounds=5 --set seconds=1 --set small=true          how often, how long, how large
--
-- scripts/bench.sh runs the same cases in turn with plain OpenMP loops of the same arithmetic.
local tz = require "trapeze"
local args = tz.args

local real, bits, whole = tz.random { seed = 1, range = { 0, 1 } }, tz.random { seed = 1, density = 0.4 },
  tz.random { seed = 1, range = { 0, 9 } }
-- Far beyond cache; the chip of hotspot grows with its grid, so that the default step stays stable.
local chip = { chip_width_m = 0.256, chip_height_m = 0.256 }
local cases = {
  { "star2d1r", { 8192, 8192 } }, { "star2d1r", { 8192, 8192 }, "double" },
  { "star2d2r", { 8192, 8192 } }, { "box2d1r", { 8192, 8192 } }, { "box2d2r", { 8192, 8192 } },
  { "star3d1r", { 512, 512, 512 } }, { "star3d2r", { 512, 512, 512 } }, { "box3d1r", { 512, 512, 512 } },
  { "hotspot", { 8192, 8192 }, params = chip, fields = { temperature = real, power = real } },
  { "poisson", { 8192, 8192 }, fields = { u = real, f = real } },
  { "life", { 65536, 65536 }, fields = { alive = bits } },
  { "cell", { 1024, 1024, 1024 }, fields = { alive = bits } },
  { "pathfinder", { 10000000 }, fields = { cost = whole }, weights = 100 },
}

local rounds, least_seconds = args.rounds or 5, args.seconds or 0.5
local threads = args.threads
local heights = {}
for h in tostring(args.heights or ""):gmatch("%d+") do heights[#heights + 1] = math.tointeger(h) end

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

local function measure(case, height)
  local name, grid, precision = case[1], case[2], case[3]
  if args.small then
    grid = { table.unpack(grid) }
    for i = 1, #grid do grid[i] = math.max(64, grid[i] // 8) end
  end
  local fields = case.fields or { u = real }
  local weights = case.weights
  if weights then
    fields = { cost = 0, weights = tz.array { shape = { grid[1], weights }, dtype = "int32", fill = whole } }
  end
  local sim = tz.simulation {
    plugin = name, grid = grid, precision = precision, height = height, threads = threads, params = case.params,
    fields = fields,
  }
  -- A warm-up that also says how many iterations take long enough to time.
  local steps = weights or 4 * sim.height
  local seconds = sim:run(steps).seconds
  if not weights then
    steps = math.max(1, math.ceil(least_seconds / seconds * 4)) * sim.height
  end
  local rates = {}
  for round = 1, rounds do
    if weights then sim:rewind() end
    rates[round] = sim:run(steps).gcells_per_s
  end
  print(("%-12s %-16s %-9s %6d %8d %9.3f   (%.3f to %.3f)"):format(name, table.concat(grid, "x"),
    sim.precision, sim.height, sim.threads, median(rates), rates[1], rates[#rates]))
  sim:close()
end

print(("%-12s %-16s %-9s %6s %8s %9s"):format("stencil", "grid", "precision", "height", "threads", "GCells/s"))
local found = false
for _, case in ipairs(cases) do
  local label = case[1] .. (case[3] == "double" and "-fp64" or "")
  if not args.case or args.case == label then
    found = true
    if #heights == 0 then measure(case, "auto") end
    for _, h in ipairs(heights) do measure(case, h) end
  end
end
tz.expect(found, "no such case: " .. tostring(args.case))
