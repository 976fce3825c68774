-- What scripts/classes_cpu.sh needs of the stencils of class_stencils.lua:
--
--   trapeze run scripts/classes_cpu.lua --set texts=true                           their cell texts, each after a line "@@@ NAME"
--   trapeze run scripts/classes_cpu.lua --set class=maxwell --set grid=4096,4096   GCells/s of the best of some runs on the CPU
--
-- … --set threads=2 --set steps=48 --set rounds=5, and --height, --tile and other options of a plan
local tz = require "trapeze"
local args, wanted = tz.args
for _, definition in ipairs(require("class_stencils").others) do
  if args.texts then
    print("@@@ " .. definition.name .. "\n" .. tz.stencil(definition):text())
  elseif definition.name == args.class then
    wanted = tz.stencil(definition)
  end
end
if args.texts then
  print "@@@"
  return
end
assert(wanted, "class_stencils.lua has no stencil of that name: give --set class=NAME")

local grid, fields = {}, {}
for n in tostring(args.grid):gmatch "%d+" do grid[#grid + 1] = math.tointeger(n) end
for list in wanted:text():gmatch "#define TZ_FIELDS%(F%)(.-)#define" do
  for name, type in list:gmatch "F%(([%w_]+), (%l+)%)" do
    local range = type == "real" and { 0.14, 0.145 } or name == "solid" and { 0, 1 } or { 0, 13 }
    fields[name] = tz.random { seed = 1, range = range }
  end
end
local sim = tz.simulation { plugin = wanted, grid = grid, backend = "cpu", policy = "predicted", threads = args.threads, fields = fields }
local steps, best = math.ceil((args.steps or 32) / sim.height) * sim.height, 0
sim:run(sim.height)
for _ = 1, args.rounds or 5 do
  local before = sim.seconds
  sim:run(steps)
  best = math.max(best, sim.cells * steps / (sim.seconds - before) * 1e-9)
end
local plan = sim:plan()
print(("%.4f"):format(best), ("height %d, tile %s"):format(plan.height, table.concat(plan.tile, " x ")))
