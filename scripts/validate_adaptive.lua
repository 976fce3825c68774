-- Compares policies over 30 stages of the predicted plan: fixed at the prediction, adaptive from it, adaptive from
-- height 1, alternately. Prints medians as fractions of the speed of the fixed one.
--
--   trapeze run scripts/validate_adaptive.lua [--backend cpu] [--set only=hotspot,life] [--set rounds=5] [--set scale=2]
--
-- --set scale=N makes grids N times as long an axis.
local tz = require "trapeze"
local STAGES, ROUNDS, SCALE = 30, tz.args.rounds or 5, tz.args.scale or 1
local WEIGHTS = 2048

local function cube(n) return { n, n, n } end
local function square(n) return { n, n } end
local CASES = {
  { "star2d1r", square(4096) }, { "star2d2r", square(4096) }, { "box2d1r", square(4096) }, { "box2d2r", square(4096) },
  { "hotspot", square(4096) }, { "poisson", square(4096) }, { "star3d1r", cube(256) }, { "star3d2r", cube(256) },
  { "box3d1r", cube(256) }, { "life", square(16384) }, { "cell", cube(256) }, { "pathfinder", { 100000 } },
}

local function simulation(plugin, grid)
  local real = tz.random { seed = 1, range = { 0, 1 } }
  local options = { plugin = plugin, grid = grid, backend = tz.args.backend }
  if plugin == "hotspot" then
    options.fields = { temperature = tz.random { seed = 1, range = { 318.15, 319.15 } }, power = real }
  elseif plugin == "poisson" then
    options.fields = { u = real, f = real }
  elseif plugin == "life" or plugin == "cell" then
    options.fields = { alive = tz.random { seed = 1, density = 0.3 } }
  elseif plugin == "pathfinder" then
    options.fields = { cost = 0, weights = tz.array { shape = { grid[1], WEIGHTS }, dtype = "int32",
      fill = tz.random { seed = 1, range = { 0, 9 } } } }
  else
    options.fields = { u = real }
  end
  return tz.simulation(options)
end

local function median(values)
  table.sort(values)
  return values[(#values + 1) // 2]
end

local POLICIES = {
  { policy = "predicted" }, { policy = "adaptive" }, { policy = "adaptive", start = 1 },
}

tz.log(("%-12s %-18s %6s %12s %10s %14s"):format("", "grid", "height", "us a stage", "adaptive", "adaptive from 1"))
local least = math.huge
for _, case in ipairs(CASES) do
  local plugin, grid = case[1], {}
  for axis, n in ipairs(case[2]) do grid[axis] = n * SCALE end
  if not tz.args.only or ("," .. tz.args.only .. ","):find("," .. plugin .. ",", 1, true) then
    local sim = simulation(plugin, grid)
    sim:policy(POLICIES[1])
    local function run(steps)
      if plugin == "pathfinder" then sim:rewind() end
      return sim:run { steps = steps }.seconds
    end
    run(64)
    local height = sim:plan().height
    local steps = STAGES * height
    if plugin == "pathfinder" then steps = math.min(steps, WEIGHTS // height * height) end
    local times = { {}, {}, {} }
    for round = 0, ROUNDS do
      for p, policy in ipairs(POLICIES) do
        sim:policy(policy)
        local seconds = run(steps)
        if round > 0 then times[p][round] = seconds end -- the first one compiles
      end
    end
    local fixed, adaptive, from_1 = median(times[1]), median(times[2]), median(times[3])
    least = math.min(least, fixed / adaptive)
    tz.log(("%-12s %-18s %6d %12.2f %10.3f %14.3f"):format(plugin, table.concat(grid, " x "), height,
      fixed / (steps / height) * 1e6, fixed / adaptive, fixed / from_1))
    sim:close()
  end
end
tz.log(("adaptive from the prediction is at least %.3f times as fast as the prediction"):format(least))
