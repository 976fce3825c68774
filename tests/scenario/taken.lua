-- Fields that take over what another was: backends may hand arrays over instead of copying them. All bits stay, and so
-- does the change of an iteration.
local tz = require "trapeze"

local function noise(seed) return tz.random { seed = seed, range = { 0, 9 } } end

-- The reference, and heights and tiles of the cpu backend.
local function same(name, definition, options)
  definition.name, definition.dims = name, #options.grid
  local stencil, first = tz.stencil(definition), nil
  options.plugin, options.fields = stencil, {}
  for i, field in ipairs(stencil.fields) do
    options.fields[field] = noise(i)
  end
  for _, how in ipairs { { "reference", 1 }, { "cpu", 1 }, { "cpu", 2 }, { "cpu", 3, true } } do
    options.backend, options.height = how[1], how[2]
    options.tile = how[3] and #options.grid > 1 and { 16, 12, 12 } or nil
    if options.tile and #options.grid == 2 then options.tile[3] = nil end
    local sim, all = tz.simulation(options), {}
    for _, steps in ipairs { 3, 1, 2, 4 } do
      local run = sim:run(steps % 2 == 0 and steps or { until_update = 0, max_steps = sim.step + steps })
      all[#all + 1] = tz.checking and "" or tostring(run.update)
      for _, field in ipairs(stencil.fields) do
        all[#all + 1] = tz.checking and "" or sim:hash(field)
      end
    end
    sim:close()
    local bits = table.concat(all, " ")
    first = first or bits
    tz.expect(bits == first, ("%s: height %d of %s differs: %s instead of %s"):format(name, how[2], how[1], bits, first))
  end
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
