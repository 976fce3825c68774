-- The second form of Chatziantoniou's thesis (2020), D+[p] = a D-[p] + sum of c[o] D[p+o], where D- is the field one
-- iteration before D. With a = -1 it is the wave equation: ripples of two drops, which meet.
--
--   trapeze run ripples.lua
local tz = require "trapeze"

local n, k = 280, 0.24 -- the square of the cells that a wave passes in an iteration
local ripples = tz.stencil {
  name = "ripples", doc = "Waves of equal speed.",
  fields = { "u", "before" }, old = "before", a = -1,
  coefficients = {
    { 0, k, 0 },
    { k, 2 - 4 * k, k },
    { 0, k, 0 },
  },
}

local function drops(x, y)
  local first, second = (x - 90) ^ 2 + (y - 110) ^ 2, (x - 190) ^ 2 + (y - 170) ^ 2
  return math.exp(-first / 10) + math.exp(-second / 10)
end
local pond = tz.simulation {
  plugin = ripples, grid = { n, n }, boundary = "mirror", fields = { u = drops, before = drops },
}
pond:run(190)
pond:write(tz.png("u", { map = "balance", range = { -0.12, 0.12 }, zoom = 3, bar = true,
  caption = "Ripples of two drops after {step} iterations" }))
tz.expect(pond:max "u" < 1 and pond:min "u" > -1, "the waves grow")
tz.expect(pond:max "u" > 0.02, "the waves are gone")
