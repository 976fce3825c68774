-- Are stencils that a scenario defines as fast as the same stencils of a plugin? Runs both of each pair by turns, with the
-- plan that is predicted for the plugin's, and prints the ratio of their speeds.
--
--   trapeze run scripts/copies.lua [--backend cuda] [--set size=8192] [--set size3=512] [--set seconds=0.2]
local tz = require "trapeze"

local copies = require("class_stencils").copies
local size, size3, seconds = tz.args.size or 8192, tz.args.size3 or 512, tz.args.seconds or 0.2

local function make(plugin, dims, plan)
  local options = { plugin = plugin, policy = "predicted", grid = dims == 2 and { size, size } or { size3, size3, size3 },
    fields = { u = tz.random { seed = 1 } } }
  for key, value in pairs(plan or {}) do options[key] = value end
  return tz.simulation(options)
end

local function rate(sim, steps)
  local before = sim.seconds
  sim:run(steps)
  return steps * sim.cells / (sim.seconds - before) * 1e-9
end

print "stencil    plugin, GCells/s   scenario's   ratio"
for _, name in ipairs { "star2d1r", "star2d2r", "box2d1r", "box2d2r", "star3d1r", "star3d2r", "box3d1r" } do
  local copy = copies[name]
  local first <close> = make(name, copy.dims)
  local plan = first:plan()
  local second <close> = make(tz.stencil(copy), copy.dims, plan)
  local steps = math.max(plan.height, math.ceil(seconds * rate(first, 8 * plan.height) * 1e9 / first.cells / plan.height) * plan.height)
  rate(second, 8 * plan.height)
  local one, two = {}, {}
  for turn = 1, 5 do
    one[turn], two[turn] = rate(first, steps), rate(second, steps)
  end
  table.sort(one)
  table.sort(two)
  print(("%-10s %12.1f %18.1f %8.3f"):format(name, one[3], two[3], two[3] / one[3]))
  if not tz.checking and first.step == second.step then
    tz.expect(first:hash() == second:hash(), name .. ": other bits")
  end
end
