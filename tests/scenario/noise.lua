-- Random numbers in formulas: the same bits on every backend, plan and slab and in a run of several parts; their
-- distribution; seeds and streams.
local tz = require "trapeze"
local c = require "checks"

local steps = { function() return 4 end, function() return 3 end }
for dims = 1, 3, 2 do
  local noisy = tz.stencil { dims = dims, fields = { "u", "v" }, params = { dt = 0.1 },
    update = { u = "u + dt*lap(u) + sqrt(dt)*normal(1)", v = "random(2) + (random(2) - random(3))*(step % 2)" } }
  c.same_bits(noisy, { grid = dims == 1 and { 13000 } or { 30, 20, 17 }, precision = dims == 1 and "single" or "double",
    boundary = "periodic", params = { seed = 5 } }, steps)
end

-- Moments of many numbers, and of neighbours, within four standard errors.
local both = tz.stencil { dims = 2, fields = { "u", "g" }, update = { u = "random(1)", g = "normal(2)" },
  outputs = { u2 = "u^2", g2 = "g^2", g4 = "g^4", across = "(u - 0.5)*(u[1,0] - 0.5)", down = "(u - 0.5)*(u[0,1] - 0.5)",
    tail = "(g > 2)" } }
local sim = tz.simulation { plugin = both, grid = { 400, 400 }, boundary = "periodic", precision = "double" }
sim:run(1)
if not tz.checking then
  local root = 400
  for name, known in pairs { u = { 1 / 2, 0.2887 }, u2 = { 1 / 3, 0.2981 }, g = { 0, 1 }, g2 = { 1, 1.4142 }, g4 = { 3, 9.798 },
    across = { 0, 1 / 12 }, down = { 0, 1 / 12 }, tail = { 0.02275, 0.149 } } do
    local error = (sim:mean(name) - known[1]) / known[2] * root
    tz.expect(math.abs(error) < 4, ("mean of %s: %.1f standard errors away"):format(name, error))
  end
  tz.expect(sim:min "u" >= 0 and sim:max "u" < 1)
end

-- Another seed, another step and another stream have other numbers; the same have the same.
local function first(seed, steps)
  local one = tz.simulation { plugin = both, grid = { 64, 64 }, precision = "double", params = { seed = seed } }
  one:run(steps)
  return one:hash "u"
end
tz.expect(tz.checking or first(0, 1) ~= first(1, 1) and first(1, 1) ~= first(1, 2) and first(1, 2) == first(1, 2))
tz.expect(tz.simulation { plugin = both, grid = { 64, 64 } }:param "seed" == 0)

local seeded = tz.stencil { dims = 1, fields = { "u" }, params = { seed = 3 }, update = "u + random(1)" }
tz.expect(tz.simulation { plugin = seeded, grid = { 64 } }:param "seed" == 3)
c.refuses("random numbers need a seed, an integer parameter", tz.stencil,
  { dims = 1, fields = { "u" }, params = { seed = 0.5 }, update = "u + random(1)" })

c.refuses("random numbers are not for a stencil of bits", tz.stencil,
  { dims = 1, fields = { u = "bits" }, update = "random(1) < 0.5" })
c.refuses("random numbers differ from cell to cell", tz.stencil,
  { dims = 1, fields = { "u" }, scalars = { r = "random(1)" }, update = "r" })
