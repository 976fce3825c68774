-- What every processor must compute to the bit, for scripts/arm64.sh: hashes and sums of fields, one a line.
--
--   trapeze run tests/arm64/bits.lua
local tz = require "trapeze"

local function show(name, sim) print(("%-12s %4d %s %.17g"):format(name, sim.step, sim:hash(), sim:sum())) end

local random = function(low, high) return tz.random { seed = 5, range = { low, high } } end
local shipped = {
  { "hotspot", { 200, 130 }, { temperature = random(300, 320), power = random(0, 0.1) }, 60 },
  { "poisson", { 100, 90 }, { u = random(-1, 1) }, 60 },
  { "grayscott", { 128, 96 }, { u = random(0.9, 1), v = random(0, 0.2) }, 100 },
  { "hotspot3d", { 40, 30, 8 }, { temperature = random(300, 320) }, 20 },
}
for _, case in ipairs(shipped) do
  for _, precision in ipairs { "single", "double" } do
    local sim <close> = tz.simulation { plugin = case[1], grid = case[2], precision = precision, fields = case[3], threads = 2 }
    sim:run(case[4])
    show(case[1], sim)
  end
end
local life <close> = tz.simulation { plugin = "life", grid = { 256, 192 }, fields = { alive = tz.random { density = 0.3, seed = 1 } } }
life:run(100)
show("life", life)

-- Functions, subnormals, and a division by zero: NaNs of different machines are one in a hash.
local own = {
  functions = "u + k*lap(u) + 0.01*sin(u)*exp(-u)/(1 + u^2) + 0.001*sqrt(abs(u))",
  subnormal = "1e-3*u + 1e-42",
  quotients = "u[1,0]/(u[-1,0] + 2) + k*u",
}
for _, name in ipairs { "functions", "subnormal", "quotients" } do
  for _, precision in ipairs { "single", "double" } do
    local stencil = tz.stencil { name = name, dims = 2, fields = { "u" }, params = { k = 0.1 }, passes = { { u = own[name] } } }
    local sim <close> = tz.simulation { plugin = stencil, grid = { 96, 64 }, precision = precision, fields = { u = random(0, 1) } }
    sim:run(30)
    show(name, sim)
  end
end
