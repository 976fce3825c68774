-- Mixed precision: the tolerance of double precision, from iterations in single precision.
local tz = require "trapeze"
local c = require "checks"

local function solve(precision)
    local sim = tz.simulation { plugin = "poisson", grid = { 20, 15 }, precision = precision,
                                boundary_values = { u = 2 }, fields = { f = function(x, y) return x - y end } }
    local result = sim:run { until_residual = 1e-7, max_steps = 40000 }
    return sim, result
end

local exact = solve "double"
local sim, result = solve "mixed"
tz.expect(sim.precision == "mixed")
if not tz.checking then
    tz.expect(result.status == "converged" and result.residual <= 1e-7 and sim:residual() == result.residual)
    tz.expect(sim:array("u").dtype == "float64")
    for _, cell in ipairs { { 0, 0 }, { 10, 7 }, { 19, 14 } } do
        c.near(sim:get("u", cell[1], cell[2]), exact:get("u", cell[1], cell[2]), 1e-9)
    end
    -- What a scenario sets between runs counts.
    sim:set("f", 1)
    sim:params { omega = 0.9 }
    tz.expect(sim:residual() > 0.1)
    tz.expect(sim:run { until_residual = 1e-7, max_steps = 40000 }.status == "converged")
end
c.refuses("has no mixed precision", tz.simulation, { plugin = "hotspot", grid = { 8, 8 }, precision = "mixed" })
c.refuses("mixed", tz.simulation, { plugin = "poisson", grid = { 8, 8 }, precision = "mixd" })
