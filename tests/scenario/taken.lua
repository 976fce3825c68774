-- Fields that take over what another was: backends may hand arrays over instead of copying them. All bits stay, and so
-- does the change of an iteration.
local tz = require "trapeze"
local c = require "checks"

-- The reference, and heights and tiles of the cpu backend.
local function same(name, definition, options)
  definition.name, definition.dims = name, #options.grid
  local stencil, steps, tile = tz.stencil(definition), {}, ({ false, { 16, 12 }, { 16, 12, 12 } })[#options.grid] or nil
  options.fields = {}
  for i, field in ipairs(stencil.fields) do
    options.fields[field] = c.noise(i, 9)
  end
  for i, n in ipairs { 3, 1, 2, 4 } do
    steps[i] = function(sim) return n % 2 == 0 and n or { until_update = 0, max_steps = sim.step + n } end
  end
  c.same_bits(stencil, options, steps, { { backend = "reference", height = 1 }, { backend = "cpu", height = 1 },
    { backend = "cpu", height = 2 }, { backend = "cpu", height = 3, tile = tile } })
end

local heat2 = "0.2*(u[-1,0] + u[1,0] + u[0,-1] + u[0,1] + c)"
local heat3 = "0.1*(u[-2,0,0] + u[1,0,0] + u[0,-1,0] + u[0,2,0] + u[0,0,-1] + u[0,0,1] + c)"

-- A wave, with another boundary value for each field.
for _, boundary in ipairs { "fixed", "periodic", "mirror", "clamp" } do
  same("two_levels", { fields = { "u", c = { type = "real", boundary_value = 5 } }, update = { u = heat2, c = "u" } },
    { grid = { 45, 40 }, boundary = boundary })
end
same("two_levels_3d", { fields = { "u", "c" }, update = { u = heat3, c = "u" } }, { grid = { 40, 30, 20 }, boundary = "periodic" })
-- Three levels, in 1-D, 2-D and 3-D.
same("line", { fields = { "u", "b", "c" }, update = { u = "0.3*(u[-1] + u[1] + c)", b = "u", c = "b" } },
  { grid = { 300 }, boundary = "mirror" })
same("three_levels", { fields = { "c", "b", "u" }, update = { u = heat2 .. " - 0.1*b", b = "u", c = "b" } },
  { grid = { 45, 40 }, boundary = "fixed" })
same("three_levels_3d", { fields = { "u", "b", "c" }, update = { u = heat3, b = "u", c = "b" } },
  { grid = { 40, 30, 20 }, boundary = "clamp", precision = "double" })
-- Two fields change places; two take the same; one is read around the cell.
same("places", { fields = { "u", "b", "c" }, update = { u = heat2, b = "c", c = "b" } }, { grid = { 45, 40 }, boundary = "clamp" })
same("twice", { fields = { "u", "b", "c" }, update = { u = heat2 .. " + 0.1*b", b = "u", c = "u" } },
  { grid = { 45, 40 }, boundary = "clamp" })
same("around", { fields = { "u", "b", "c" }, update = { u = heat2 .. " + 0.1*b[1,0]", b = "u", c = "b" } },
  { grid = { 45, 40 }, boundary = "fixed" })
-- Several passes.
same("before", { fields = { "u", "c" }, passes = { { c = "u" }, { u = heat2 } } }, { grid = { 45, 40 }, boundary = "clamp" })
same("after", { fields = { "u", "c" }, passes = { { u = heat2 }, { c = "u" } } }, { grid = { 45, 40 }, boundary = "clamp" })
same("relay", { fields = { "u", "b", "c" }, passes = { { b = "u" }, { c = "b", u = heat2 }, { u = "u + 0.1*u[1,0]" } } },
  { grid = { 45, 40 }, boundary = "clamp" })
-- Integers.
same("counts", { fields = { u = "int", c = "int" }, update = { u = "u[1,0] + u[0,-1] > c + 3 ? c : u + 1", c = "u" } },
  { grid = { 45, 40 }, boundary = "periodic" })
