-- Which thread block? The set of shapes that the model tabik2015 chooses, against the times of all shapes of its
-- space, measured on a GPU of this machine with the family block; and the shape that roofs would choose of them.
--
--   trapeze run scripts/paper/tabik_blocks.lua [--set sizes=256,512,1024] [--set stencils=gx,gy,gz,st,fdd5,fdd7]
--     [--set ahead=2] [--set rounds=5]
--
-- A row a stencil and cube: the fastest shape and its time; how many shapes are in the set, how many there are;
-- whether the fastest is among them; speed of the slowest of the set, and of roofs' choice, against the fastest.
-- Needs the GPU's record (trapeze calibrate). Compiling takes a minute a stencil, once. The bits that shapes leave are
-- compared on cubes below 512.
local tz = require "trapeze"
local args = tz.args

local function each(list)
  return tostring(list):gmatch "[^,]+"
end

local here, why = pcall(tz.tune, { plugin = "gx", grid = { 32, 32, 32 }, backend = "cuda", family = "block", rounds = 1 })
if not here then
  why = tostring(why)
  if not (why:find "no NVIDIA" or why:find "no device record") then error(why, 0) end
  print("skipped: this measures a GPU: " .. why)
  return
end

local function shape(row) return ("%d x %d"):format(row.tile[1], row.tile[2]) end
local function percent(share) return share and ("%.1f %%"):format(100 * share) or "-" end

print(("%-7s %6s  %-10s %9s %9s  %8s  %-7s %8s  %-10s %8s"):format("stencil", "cube", "fastest", "ms", "GCells/s", "set",
  "in it", "worst", "roofs", "reaches"))
for size in each(args.sizes or "256,512,1024") do
  local n = math.tointeger(size)
  for stencil in each(args.stencils or "gx,gy,gz,st,fdd5,fdd7") do
    local t = tz.tune { plugin = stencil, grid = { n, n, n }, backend = "cuda", model = "tabik2015", ahead = args.ahead,
      rounds = args.rounds, check = n < 512 }
    tz.expect(t.different == 0, stencil .. ": shapes leave other bits")
    print(("%-7s %6d  %-10s %9.4g %9.4g  %2d of %2d  %-7s %8s  %-10s %8s"):format(stencil, n, shape(t.best),
      t.best.measured_s * 1e3, t.best.gcells_per_s, t.set.chosen, t.set.shapes, t.set.has_best and "yes" or "no",
      percent(t.set.worst), shape(t.predicted), percent(t.share)))
  end
end
