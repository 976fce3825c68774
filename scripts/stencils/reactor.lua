-- The third form of Chatziantoniou's thesis (2020), D+[p] = v[p] (sum of c[o] D[p+o]), with a value v for each cell:
-- neutrons wander, become more in fuel rods (v > 1), and are absorbed elsewhere (v < 1). What is left after many
-- iterations is the shape that grows fastest.
--
--   trapeze run reactor.lua
local tz = require "trapeze"

local n = 240
local reactor = tz.stencil {
  name = "reactor", doc = "Neutrons among fuel rods.",
  fields = { "neutrons", gain = { role = "static", initial = 1 } }, v = "gain", field = "neutrons",
  coefficients = {
    { 0.05, 0.10, 0.05 },
    { 0.10, 0.40, 0.10 },
    { 0.05, 0.10, 0.05 },
  },
}

-- Rods in a hexagonal lattice; some are control rods, which absorb.
local rods = {}
for row = -3, 3 do
  for column = -3, 3 do
    local x, y = n / 2 + 32 * (column + 0.5 * (row % 2)) - 8, n / 2 + 28 * row
    if (x - n / 2) ^ 2 + (y - n / 2) ^ 2 < 105 ^ 2 then
      rods[#rods + 1] = { x, y, (row * 2 + column) % 5 == 0 and 0.93 or 1.010 }
    end
  end
end
local core = tz.simulation {
  plugin = reactor, grid = { n, n }, boundary = "fixed", boundary_values = { neutrons = 0 },
  fields = { neutrons = 1, gain = function(x, y)
    for _, rod in ipairs(rods) do
      if (x - rod[1]) ^ 2 + (y - rod[2]) ^ 2 < 100 then return rod[3] end
    end
    return 0.9985
  end },
}
core:run(1500)
core:write(tz.png("neutrons", { map = "inferno", range = "auto", zoom = 3, bar = true,
  caption = "Neutrons after {step} generations" }))
tz.expect(core:max "neutrons" > 0 and core:max "neutrons" < 1e6, "the reactor is far from critical")
