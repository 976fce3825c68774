-- Measures this machine: GCells/s for each plugin, size, height and number of threads; medians of runs on
-- random data, after a warm-up. One GCell/s is 10^9 useful cell updates a second.
--
--   trapeze run scripts/bench.lua --quiet                      every case at its default height
--   … --set case=hotspot --set heights=1,2,4,8 --set threads=2 one case, several heights
--   … --set families=stream,direct --backend cuda                several families of a GPU
--   … --set rounds=5 --set seconds=1 --set small=true          how often, how long, how large
--   … --set grid=16384,16384                                   another size
--   … --set vector=4 --set ahead=3 --set warps=2 --set blocks=6 --set chunk=512   a plan's other knobs
--
-- On a GPU there are more columns: the least GB/s that a stage moves (each state field read and written,
-- each static one read, once a stage; streamed rows each iteration), their share of the copy bandwidth
-- measured in this run, registers, warps a multiprocessor, joules a GCell where energy is counted.
-- scripts/bench.sh alternates these cases with plain OpenMP loops of the same arithmetic.
local tz = require "trapeze"
local args = tz.args

local real, bits, integers = tz.random { seed = 1, range = { 0, 1 } }, tz.random { seed = 1, density = 0.4 },
  tz.random { seed = 1, range = { 0, 9 } }
local warm = tz.random { seed = 1, range = { 318.15, 319.15 } } -- for hotspot, which keeps what is above 318.15 K
-- Grids are far larger than caches.
-- `moved`: elements that a stage reads or writes for each cell.
local cases = {
  { "star2d1r", { 8192, 8192 } }, { "star2d1r", { 8192, 8192 }, "double" },
  { "star2d2r", { 8192, 8192 } }, { "star2d2r", { 8192, 8192 }, "double" },
  { "box2d1r", { 8192, 8192 } }, { "box2d1r", { 8192, 8192 }, "double" }, { "box2d2r", { 8192, 8192 } },
  { "star3d1r", { 512, 512, 512 } }, { "star3d1r", { 512, 512, 512 }, "double" },
  { "star3d2r", { 512, 512, 512 } },
  { "box3d1r", { 512, 512, 512 } }, { "box3d1r", { 512, 512, 512 }, "double" },
  { "hotspot", { 8192, 8192 }, fields = { temperature = warm, power = real }, moved = 3 },
  { "poisson", { 8192, 8192 }, fields = { u = real, f = real }, moved = 3 },
  { "life", { 65536, 65536 }, fields = { alive = bits }, bytes = 1 / 8 },
  { "cell", { 1024, 1024, 1024 }, fields = { alive = bits }, bytes = 1 / 8 },
  { "pathfinder", { 10000000 }, fields = { cost = integers }, weights = 100, bytes = 4 },
}

local rounds, least_seconds = args.rounds or 5, args.seconds or 0.5
local threads = args.threads
local function whole_or_auto(text) return math.tointeger(text) or text end
local function list(text, convert)
  local out = {}
  for item in tostring(text or ""):gmatch("[^,]+") do out[#out + 1] = convert(item) end
  return out
end
local heights, families, size = list(args.heights, whole_or_auto), list(args.families, tostring),
  list(args.grid, math.tointeger)

local function median(values)
  table.sort(values)
  return values[(#values + 1) // 2]
end

local function plan_of(sim, height, family)
  return { height = height, policy = height == "auto" and "predicted" or "fixed", family = family,
    vector = args.vector, ahead = args.ahead, warps = args.warps, blocks = args.blocks, tile = args.chunk and { 0, args.chunk } or nil }
end

-- All plans of a case use one simulation: random cells for a large grid take longer than a run.
local function measure(case)
  local name, grid, precision = case[1], case[2], case[3]
  if #size == #grid then grid = size end
  if args.small then
    grid = { table.unpack(grid) }
    for i = 1, #grid do grid[i] = math.max(64, grid[i] // 8) end
  end
  local fields, weights = case.fields or { u = real }, case.weights
  if weights then
    fields = { cost = 0, weights = tz.array { shape = { grid[1], weights }, dtype = "int32", fill = integers } }
  end
  local sim = tz.simulation {
    plugin = name, grid = grid, precision = precision, threads = threads,
    fields = fields,
  }
  local function line(height, family)
    sim:policy(plan_of(sim, height, family))
    -- Warm up, and find how many iterations take long enough to be timed.
    if weights then sim:rewind() end
    local steps = weights or 4 * sim.height
    sim:run(steps)
    if weights then sim:rewind() end
    local seconds = sim:run(steps).seconds
    if not weights then
      steps = math.max(1, math.ceil(least_seconds / seconds * 4)) * sim.height
    end
    local rates, joules, cells = {}, 0, 0
    for round = 1, rounds do
      if weights then sim:rewind() end
      local result = sim:run(steps)
      rates[round] = result.gcells_per_s
      joules = joules + (result.energy_j or 0)
      cells = cells + result.steps * sim.cells * 1e-9
    end
    local rate = median(rates)
    local text = ("%-10s %-15s %-8s %-9s %4d %4d %10.3f  (%.3f to %.3f)"):format(name,
      table.concat(grid, "x"), sim.precision, sim:plan().family, sim.height, sim.threads, rate, rates[1],
      rates[#rates])
    local kernel = sim:kernel()
    if kernel then
      local bytes = (case.bytes or (sim.precision == "double" and 8 or 4)) * (case.moved or 2)
      local moved = rate * (bytes / sim.height + (weights and 4 or 0))
      text = text .. ("  %6.0f GB/s %4.0f %% of %4.0f  %3d registers %2d of %2d warps"):format(moved,
        100 * moved / kernel.copy_gb_per_s, kernel.copy_gb_per_s, kernel.registers, kernel.warps,
        kernel.warps_max)
      if kernel.local_bytes > 0 then text = text .. (" %d B spilt"):format(kernel.local_bytes) end
      if joules > 0 then text = text .. ("  %.3f J/GCell"):format(joules / cells) end
    end
    print(text)
  end
  for _, family in ipairs(#families > 0 and families or { false }) do
    for _, height in ipairs(#heights > 0 and heights or { "auto" }) do
      local ok, message = pcall(line, height, family or nil)
      if not ok and not tostring(message):find("sim:plan", 1, true) then error(message, 0) end
      if not ok then
        print(("%-10s %-15s %-8s %-9s %4s refused: %s"):format(name, table.concat(grid, "x"),
          precision or "", family or "", height, tostring(message):gsub("^.*sim:plan: ", "")))
      end
    end
  end
  sim:close()
end

print(("%-10s %-15s %-8s %-9s %4s %4s %10s"):format("stencil", "grid", "precision", "family", "h", "thr",
  "GCells/s"))
local found = false
for _, case in ipairs(cases) do
  local label = case[1] .. (case[3] == "double" and "-fp64" or "")
  if not args.case or args.case == label then
    found = true
    measure(case)
  end
end
tz.expect(found, "no such case: " .. tostring(args.case))
