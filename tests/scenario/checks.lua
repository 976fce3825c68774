-- Shared by the scenarios in this folder. Each checks itself and fails with exit code 1.
local tz = require "trapeze"
local checks = {}

-- f(...) must fail with a message that holds `pattern` (plain text).
function checks.refuses(pattern, f, ...)
    local ok, message = pcall(f, ...)
    tz.expect(not ok, "nothing was refused; wanted: " .. pattern)
    tz.expect(tostring(message):find(pattern, 1, true),
              ("wanted '%s', got '%s'"):format(pattern, tostring(message)))
end

function checks.near(got, wanted, tolerance)
    tz.expect(math.abs(got - wanted) <= tolerance, ("wanted %.17g, got %.17g"):format(wanted, got))
end

-- A HotSpot simulation with options of our own.
function checks.chip(options)
    local all = { plugin = "hotspot", grid = { 16, 8 } }
    for key, value in pairs(options or {}) do
        all[key] = value
    end
    return tz.simulation(all)
end

function checks.noise(seed, high)
    return tz.random { seed = seed, range = { 0, high or 1 } }
end

-- Ways to compute the same bits, for same_bits: the reference, which is alone with --backend reference; heights, a family and
-- slabs of the cpu backend.
checks.ways = { { backend = "reference", height = 1 }, { backend = "cpu", height = 1 }, { backend = "cpu", height = 3 },
    { backend = "cpu", family = "stream", height = 2 }, { backend = "cpu", height = 2, devices = "cpu:3" } }
if tz.args.backend == "reference" then checks.ways = { checks.ways[1] } end

-- All fields of a stencil have the same bits every way. A way is options of tz.simulation, which are added to `options`, and
-- `plan` for sim:plan; checks.ways without `ways`. `steps` is what sim:run takes, or a list of functions that give it for a simulation.
function checks.same_bits(stencil, options, steps, ways)
    local first
    for i, way in ipairs(ways or checks.ways) do
        local given, all = { plugin = stencil }, {}
        for _, some in ipairs { options, way } do
            for key, value in pairs(some) do
                given[key] = value
            end
        end
        local plan = given.plan
        given.plan = nil
        local sim = tz.simulation(given)
        if plan then sim:plan(plan) end
        for _, next_steps in ipairs(type(steps) == "table" and steps or { function() return steps end }) do
            local run = sim:run(next_steps(sim))
            all[#all + 1] = run.update == run.update and tostring(run.update) or ""
            for _, field in ipairs(stencil.fields) do
                all[#all + 1] = sim:hash(field)
            end
        end
        sim:close()
        local bits = table.concat(all, " ")
        first = first or bits
        tz.expect(tz.checking or bits == first, ("%s: way %d leaves other bits: %s instead of %s"):format(stencil.id, i, bits, first))
    end
end

return checks
