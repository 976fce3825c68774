-- What residual checks and mixed precision cost: Poisson's equation on n x n cells, for a fixed
-- number of steps in each precision, without checks and with the checks of until_residual. Turns
-- alternate; the medians of the rates are printed.
--
--   trapeze run scripts/residual_cost.lua [--backend cuda] [--set n=4096] [--set steps=8192] [--set turns=5]
local tz = require "trapeze"

local n = math.tointeger(tz.args.n or 2048)
local steps = math.tointeger(tz.args.steps or 2048)
local turns = math.tointeger(tz.args.turns or 5)

local function median(list)
    table.sort(list)
    return (list[(#list + 1) // 2] + list[#list // 2 + 1]) / 2
end

local cases, order = {}, { "single", "double", "mixed" }
for _, precision in ipairs(order) do
    local sim = tz.simulation { name = precision, plugin = "poisson", grid = { n, n }, precision = precision, policy = "predicted",
                                fields = { f = -100 } }
    cases[precision] = { sim = sim, plain = {}, checked = {} }
    sim:run(512) -- kernels are compiled and a plan is chosen
end
for _ = 1, turns do
    for _, precision in ipairs(order) do
        local case = cases[precision]
        local plain = case.sim:run(steps)
        local checked = case.sim:run { until_residual = 0, max_steps = steps, accept_stagnation = true }
        table.insert(case.plain, plain.steps / plain.seconds)
        table.insert(case.checked, checked.steps / checked.seconds)
    end
end
print(("%-8s %12s %12s %8s %10s"):format("", "steps/s", "with checks", "cost", "to double"))
local double = median(cases.double.plain)
for _, precision in ipairs(order) do
    local plain, checked = median(cases[precision].plain), median(cases[precision].checked)
    print(("%-8s %12.1f %12.1f %6.1f %% %10.2f"):format(precision, plain, checked, 100 * (plain / checked - 1),
                                                       plain / double))
end
