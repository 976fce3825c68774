-- A few iterations of each stencil of class_stencils.lua; copies of built-in stencils have the same bits. scripts/classes.sh
-- measures them:
--
--   trapeze tune acoustic2 --from classes.lua --grid 512,512,512
--   trapeze run scripts/classes.lua
local tz = require "trapeze"
local classes = require "class_stencils"

local random = { automaton = "kind", d2q9 = "f1", maxwell = "ez" }
local function run(stencil, dims, name)
  local range = name == "automaton" and { 0, 13 } or { 0, 0.2 }
  local sim = tz.simulation { plugin = stencil, grid = dims == 2 and { 192, 160 } or { 48, 40, 36 },
    boundary = "periodic", fields = { [random[name] or "u"] = tz.random { seed = 1, range = range } } }
  sim:run(20)
  return sim
end

for name, copy in pairs(classes.copies) do
  local mine, built_in = run(tz.stencil(copy), copy.dims), run(name, copy.dims)
  tz.expect(mine:hash() == built_in:hash(), name .. ": the copy has other bits")
end
for _, definition in ipairs(classes.others) do run(tz.stencil(definition), definition.dims, definition.name) end
