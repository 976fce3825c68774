-- Two levels of time, two steps at once. `trapeze new` makes a plugin of it, for the contract suite and the executor of
-- GPU kernels.
local tz = require "trapeze"
tz.stencil { name = "augmented2d", doc = "Two steps of a wave at once.", augment = 2,
  coefficients = { { 0, 0.13, 0 }, { 0.11, -0.5, 0.11 }, { 0, 0.13, 0 } }, old = "old", a = -1, b = 2, v = "v",
  fields = { u = { boundary_value = 0.25 }, old = "real" }, field = "u", params = { v = { value = 0.9, min = 0, max = 2 } } }
