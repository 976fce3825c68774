-- The first form of Chatziantoniou's thesis (2020), D+[p] = sum of c[o] D[p+o]: discs of dye that a wind carries away
-- while they spread. The coefficients look upwind, further on the side that the wind comes from.
--
--   trapeze run drift.lua
local tz = require "trapeze"

local n = 256
local drift = tz.stencil {
  name = "drift", doc = "Dye that spreads and drifts.",
  coefficients = {
    { 0.00, 0.02, 0.06, 0.02, 0.00 },
    { 0.01, 0.05, 0.16, 0.03, 0.00 },
    { 0.02, 0.18, 0.29, 0.05, 0.00 },
    { 0.00, 0.02, 0.06, 0.02, 0.00 },
    { 0.00, 0.00, 0.01, 0.00, 0.00 },
  },
}

local discs = { { 60, 50, 26 }, { 170, 40, 18 }, { 210, 150, 30 }, { 90, 180, 36 }, { 20, 120, 14 } }
local dye = tz.simulation {
  plugin = drift, grid = { n, n }, boundary = "periodic",
  fields = { u = function(x, y)
    for _, d in ipairs(discs) do
      local r = (x - d[1]) ^ 2 + (y - d[2]) ^ 2
      if r < d[3] ^ 2 and r > (0.6 * d[3]) ^ 2 then return 1 end
    end
    return 0
  end },
}
local sum = dye:sum "u"
local frame = tz.png("u", { map = "viridis", range = { 0, 0.6 }, zoom = 3, bar = true,
  caption = "Dye, iteration {step}" })
dye:write(frame)
dye:run(120)
dye:write(frame)
tz.expect(math.abs(dye:sum "u" - sum) < 1e-3 * sum, "dye got lost")
