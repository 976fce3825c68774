-- Chips with their package: tz.chip, the stencil chip, and HotSpot's files.
local tz = require "trapeze"
local c = require "checks"

-- Everything is as wide as the die, and the power is even: heat goes straight up. HotSpot has all of the lower layer between two
-- nodes, and with detailed_3D halves of both, but for the lowest one.
local side = 0.016
local function stack(options)
    local all = {
        layers = { { name = "logic", t = 2e-4, k = 120, p = 1.6e6, flp = "plan.flp", ptrace = "even.ptrace" },
                   { t = 3e-5, k = 5, p = 4e6 } },
        s_spreader = side, s_sink = side, t_spreader = 0.001, k_spreader = 380, t_sink = 0.005, k_sink = 230, r_convec = 0.2,
        ambient = 300, grid_cols = 8, grid_rows = 4, init_temp = 310,
    }
    for key, value in pairs(options or {}) do all[key] = value end
    return tz.chip(all)
end
local watts, area = 40, side * side
local function through(t, k) return watts * t / (k * area) end
local upright = stack()
for detailed, wanted in pairs {
    [false] = { through(2e-4, 120), through(3e-5, 5), through(0.001, 380) },
    [true] = { through(2e-4, 120) + through(1.5e-5, 5), through(1.5e-5, 5) + through(5e-4, 380), through(5e-4, 380) + through(0.0025, 230) },
} do
    local chip = stack { detailed_3D = detailed }
    tz.expect(#chip.plans == 3 and #chip.powered == 1 and chip.samples == 2 and table.concat(chip.simulation.grid, " ") == "8 4 4")
    chip.simulation.precision = "double"
    local sim = tz.simulation(chip.simulation)
    if tz.checking then break end
    c.near(sim:sum "power", watts, 1e-12)
    c.near(sim:get("temperature", 0, 0, 0), 310, 1e-12)
    sim:steady()
    local sink = 300 + watts * 0.2 + through(0.005, 230)
    c.near(sim:get("temperature", 3, 2, 3), sink, 1e-8)
    for z = 3, 1, -1 do
        sink = sink + wanted[z]
        c.near(sim:get("temperature", 3, 2, z - 1), sink, 1e-8)
    end
    -- The capacities, and the step of the explicit update: nothing of the grid moves any more.
    local volume = area / 32 * 2e-4
    c.near(sim:get("warming", 0, 0, 0) * 0.333 * 1.6e6 * volume, 1, 1e-12)
    sim:run(3)
    c.near(sim:get("temperature", 3, 2, 0), sink, 1e-8)
    c.near(sim:max "decay" * sim:params().dt_s, 0.9, 1e-12)
    sim:params { ambient_k = 312 }
    sim:steady()
    c.near(sim:get("temperature", 3, 2, 0), sink + 12, 1e-8)
    sim:params { dt_s = sim:params().dt_s * 1.2 }
    c.refuses("is unstable with these conductances; the largest stable step is", sim.run, sim, 1)
    sim:set("convection", -1, { z = { 3, 4 } })
    c.refuses("the least value of convection is -1", sim.run, sim, 1)
end

-- HotSpot's nodes beside the die: heat crosses trapezoids, which have all of the package's area and capacity.
local function nodes(options)
    local all = { layers = { { t = 2e-4, k = 120, p = 1.6e6, flp = "plan.flp", ptrace = "even.ptrace" } }, package = "nodes", detailed_3D = true,
        t_spreader = 0.001, k_spreader = 380, p_spreader = 3e6, t_sink = 0.005, k_sink = 230, p_sink = 2e6, s_spreader = 0.03, s_sink = 0.05, r_convec = 0.2,
        c_convec = 100, ambient = 300, grid_cols = 4, grid_rows = 3 }
    for key, value in pairs(options or {}) do all[key] = value end
    return tz.chip(all)
end
local package = nodes()
tz.expect(table.concat(package.simulation.grid, " ") == "8 7 3" and package.box.x[1] == 2 and package.box.y[1] == 2)
package.simulation.precision = "double"
local lumped = tz.simulation(package.simulation)
if not tz.checking then
    local w, h, s, all = package.plans[1].width_m, package.plans[1].height_m, 0.03, 0.05
    local function between(width, height, cols, rows, sp, inner) -- from the die's edge to the node, and from that to the next one
        local edge = 0.5 * (width / cols) / (380 * 0.001 * height / rows) + rows * (s - width) / 4 / (380 * 0.001 * (s + 3 * height) / 4)
        c.near(sp, 1 / edge, 1e-12)
        local r = (s - width) / 4 / (230 * 0.005 * (3 * s + height) / 4) + (all - s) / 4 / (230 * 0.005 * (all + 3 * s) / 4)
        c.near(inner, 1 / (rows * r), 1e-12)
    end
    for _, x in ipairs { 1, 5 } do between(w, h, 4, 3, lumped:get("conductance_x", x, 3, 1), lumped:get("conductance_x", x == 1 and 0 or 6, 3, 2)) end
    for _, y in ipairs { 1, 4 } do between(h, w, 3, 4, lumped:get("conductance_y", 3, y, 1), lumped:get("conductance_y", 3, y == 1 and 0 or 5, 2)) end
    for _, x in ipairs { 1, 5 } do c.near(lumped:get("conductance_x", x, 3, 2), lumped:get("conductance_x", x, 3, 1) * 230 * 5 / 380, 1e-12) end
    local function node(x, y, count, area, z)
        c.near(count * lumped:get(z == 1 and "conductance_z" or "convection", x, y, z),
            z == 1 and area * 380 / 0.001 or area / (0.005 / 230 + 0.2 * all * all), 1e-12)
        c.near(count / lumped:get("warming", x, y, z), 0.333 * area * (z == 1 and 3e6 * 0.001 or 2e6 * 0.005 + 100 / (all * all)), 1e-12)
    end
    for z = 1, 2 do
        node(1, 2, 3, (s + h) * (s - w) / 4, z)
        node(6, 4, 3, (s + h) * (s - w) / 4, z)
        node(2, 1, 4, (s + w) * (s - h) / 4, z)
        node(5, 5, 4, (s + w) * (s - h) / 4, z)
    end
    for _, at in ipairs { { 0, 2, 3 }, { 7, 2, 3 }, { 2, 0, 4 }, { 2, 6, 4 } } do node(at[1], at[2], at[3], (all * all - s * s) / 4, 2) end
    lumped:steady()
    local out, t = 0, {}
    for y = 0, 6 do
        for x = 0, 7 do
            t[x + 8 * y] = lumped:get("temperature", x, y, 2)
            out = out + lumped:get("convection", x, y, 2) * (t[x + 8 * y] - 300)
        end
    end
    c.near(out, watts, 1e-6)
    tz.expect(math.abs(t[1 + 16] - t[1 + 32]) < 0.03 * (t[2 + 16] - 300) and t[1 + 16] > t[16] + 0.1 and t[0] == 300)
    tz.expect(t[2 + 16] > t[1 + 16])
end
c.refuses('package = "nodes" needs a spreader larger than the die, and a sink larger than the spreader', nodes, { s_sink = 0.03 })

-- HotSpot's files: a stack with a package of its own sides, one trace with units of the same name in two layers, and a unit that
-- has a material. Air is beside what is smaller than the sink, and stays at the ambient temperature.
local chip = tz.chip { lcf = "stack.lcf", config = "stack.config", materials = "stack.materials", ptrace = "twice.ptrace", detailed_3D = true, k_sink = 390 }
tz.expect(#chip.plans == 5 and #chip.powered == 2 and chip.sampling_intvl == 0.01 and chip.simulation.params.ambient_k == 300)
local low, high = chip.box.x[1], chip.box.x[2]
tz.expect(high - low == 16 and chip.box.y[2] - chip.box.y[1] == 8 and low > 0)
chip.simulation.precision = "double"
local sim = tz.simulation(chip.simulation)
c.refuses("has no powers", chip.plans[5].row, chip.plans[5], 1)
c.refuses("'row' is 3, but", chip.plans[1].row, chip.plans[1], 3)
if not tz.checking then
    c.near(sim:sum("power", { z = { 0, 1 } }), 11, 1e-12)
    c.near(sim:sum("power", { z = { 2, 3 } }), 18, 1e-12)
    for _, plan in ipairs(chip.powered) do sim:set("power", plan:row(2)) end
    c.near(sim:sum("power", chip.plans[3]:unit "left"), 32, 1e-12)
    -- Silicon of 130 W/(m K); the right unit of the layer between has 1 / 0.5.
    local t = 2e-4
    c.near(sim:get("conductance_x", low, chip.box.y[1], 0), 130 * 2 * t, 1e-12)
    c.near(sim:get("conductance_x", low + 5, chip.box.y[1], 1), 2 * 2 * t, 1e-12)
    c.near(sim:get("conductance_x", low, chip.box.y[1], 1), 4 * 2 * t, 1e-12)
    tz.expect(sim:get("conductance_x", high, 0, 0) == 0 and sim:get("temperature", 0, 0, 0) == 300)
    sim:steady()
    c.near(sim:get("temperature", 0, 0, 0), 300, 1e-9)
    -- What comes in leaves by convection: power = sum of convection (T - ambient).
    local out = 0
    for y = 0, sim.grid[2] - 1 do
        for x = 0, sim.grid[1] - 1 do
            out = out + sim:get("convection", x, y, 4) * (sim:get("temperature", x, y, 4) - 300)
        end
    end
    c.near(out, 48, 1e-6)
    local units = sim:units(chip.plans[3])
    tz.expect(units.left.mean > units.right.mean and sim:units(chip.plans[5]).left.mean < units.left.mean)
    sim:write(tz.steady(chip.plans))
    sim:write(tz.ttrace(chip.powered))
end
sim:every(1, tz.ttrace { chip.plans[1], name = "trace" })
sim:run(2)

-- Chiplets side by side in a layer, each with a trace of its own, whole cells each; air between them.
local function two(y)
    return tz.chip {
        layers = { { t = 1e-4, chiplets = { { flp = "plan.flp", ptrace = "plan.ptrace", k = 120, p = 1.6e6 },
                                            { flp = "moved.flp", ptrace = "stack.ptrace", k = 60, p = 1.6e6, x = 0.01812, y = 0.0021 } } } },
        overlap = 0.01, s_spreader = 0.05, s_sink = 0.06, grid_cols = 34, grid_rows = 18, y = y,
    }
end
local pair = two "down"
tz.expect(#pair.plans == 6)
local both = tz.simulation(pair.simulation)
if not tz.checking then
    c.near(both:sum "power", 18, 1e-5)
    c.near(both:sum("power", pair.plans[2]:unit "left") + both:sum("power", pair.plans[2]:unit "right"), 8, 1)
    local x, y = pair.box.x[1], pair.box.y[1] + 8
    tz.expect(both:get("conductance_x", x + 1, y, 0) > 0 and both:get("conductance_x", x + 16, y, 0) == 0)
end

-- The same with row 0 at the lower edge.
local turned = two "up"
local other = tz.simulation(turned.simulation)
both:run(20)
other:run(20)
tz.expect(turned.box.y[1] == both.grid[2] - pair.box.y[2])
for y = 0, both.grid[2] - 1 do
    for x = 0, tz.checking and -1 or both.grid[1] - 1 do
        c.near(other:get("temperature", x, both.grid[2] - 1 - y, 0), both:get("temperature", x, y, 0), 1e-6)
    end
end
if not tz.checking then c.near(other:units(turned.plans[2]).left.mean, both:units(pair.plans[2]).left.mean, 1e-6) end
turned.simulation.y = "down"
c.refuses("the rows of the array of tz.chip are in the other order", tz.simulation, turned.simulation)
-- Coolant: pressures make flows, which take heat along. Cells of channels are squares of 2 mm x 4 mm; the first channel has a cross
-- section of 4 mm x 4 mm, whose laminar flow is 0.421731 h^4 / (12 viscosity length).
local water = { pumping_pressure = 3, pump_internal_res = 2e3, inlet_temperature = 290, coolant_capac = 4e6, coolant_res = 1.6, coolant_visc = 1e-3,
    wall_res = 0.008, wall_capac = 1.7e6, htc = 2e4 }
local function cooled(options)
    local all = { lcf = not (options and options.layers) and "cooled.lcf" or nil, ptrace = "even.ptrace", s_spreader = side, s_sink = side, ambient = 300, grid_cols = 8, grid_rows = 4 }
    for _, more in ipairs { water, options or {} } do
        for key, value in pairs(more) do all[key] = value end
    end
    return tz.chip(all)
end
for _, detailed in ipairs { false, true } do
    local chip = cooled { detailed_3D = detailed, grid_map_mode = "avg" }
    tz.expect(chip.simulation.params.inlet_k == 290 and #chip.plans == 3)
    chip.simulation.precision = "double"
    local sim = tz.simulation(chip.simulation)
    if tz.checking then break end
    local flow = 4e6 * 3 / (7 * 12e-3 * 0.002 / (0.4217314 * 0.004 ^ 4) + 2e3)
    c.near(sim:get("inlet", 7, 1, 1) + sim:get("inlet", 0, 3, 1), 2 * flow, 1e-3)
    for x = 0, 6 do
        c.near(sim:get("flow_x", x, 1, 1), -flow, 1e-3)
        c.near(sim:get("flow_x", x, 3, 1), flow, 1e-3)
    end
    local area = 0.002 * 0.004
    c.near(sim:get("conductance_z", 3, 1, 0), area / (2e-4 / 100 + 1 / 2e4), 1e-9)
    c.near(sim:get("conductance_z", 3, 1, 1), area / (0.0005 / 400 + 1 / 2e4), 1e-9)
    c.near(sim:get("conductance_z", 3, 0, 1), area / (0.002 * 0.008 + 0.0005 / 400), 1e-9)
    c.near(sim:get("conductance_y", 3, 0, 1), 0.002 * 0.004 / (0.002 * 0.008 + 1 / 2e4), 1e-9)
    c.near(sim:get("conductance_x", 3, 1, 1), 0.004 * 0.004 / (0.002 * 1.6), 1e-9)
    c.near(sim:get("warming", 3, 1, 1) * 0.333 * 4e6 * area * 0.004, 1, 1e-9)
    sim:steady()
    -- What comes in leaves with the coolant and by convection.
    local out = 0
    for _, at in ipairs { { 0, 1 }, { 7, 3 } } do out = out + sim:get("inlet", 7, 1, 1) * (sim:get("temperature", at[1], at[2], 1) - 290) end
    for y = 0, 3 do
        for x = 0, 7 do out = out + sim:get("convection", x, y, 3) * (sim:get("temperature", x, y, 3) - 300) end
    end
    c.near(out, watts, 1e-6)
    c.near(sim:residual(), 0, 1e-9)
    c.near(sim:max "decay" * sim:params().dt_s, 0.9, 1e-9)
end
-- The same on a package that spreads heat, with a pump that carries much along: far from symmetric.
for _, package in ipairs { "cells", "nodes" } do
    local chip = cooled { s_spreader = 0.03, s_sink = 0.06, k_sink = 400, k_spreader = 400, pumping_pressure = 5e4, package = package }
    chip.simulation.precision = "double"
    local sim = tz.simulation(chip.simulation)
    local _, result = sim:steady()
    tz.expect(tz.checking or result.solver == "conjugate residuals" and result.iterations < 100 and sim:residual() < 1e-9, result.iterations)
end
c.refuses("channel.csv:1: has 8 cells, but grid_cols is 9", cooled, { grid_cols = 9 })
c.refuses("'channels' of layer 1 are in place of", tz.chip, { layers = { { t = 1, k = 1, p = 1, channels = "channel.csv" } }, grid_cols = 8, grid_rows = 4 })

-- Each coefficient that is not looked at above: a channel along y without a resistance of the pump, the walls' heat capacity, cells
-- that two materials share, and all of the heat capacity of the sink, which is as large as it is.
local down = cooled { layers = { { t = 2e-4, k = 100, p = 1.6e6, flp = "plan.flp" }, { t = 0.004, channels = "down.csv" } }, pump_internal_res = 0 }
down.simulation.precision = "double"
local falls = tz.simulation(down.simulation)
if not tz.checking then
    local small, sum = 0.002 / 0.004, 0
    for n = 1, 21, 2 do sum = sum + math.tanh(n * math.pi / small / 2) / n ^ 5 end
    local conductance = 0.002 ^ 3 * 0.004 / (12e-3 * 0.004) * (1 - 192 / math.pi ^ 5 * small * sum)
    for y = 0, 2 do c.near(falls:get("flow_y", 3, y, 1), 4e6 * 3 * conductance / 3, 1e-5) end
    c.near(falls:get("inlet", 3, 0, 1), 4e6 * 3 * conductance / 3, 1e-5)
    local function of(field, x, y, z) return falls:get(field, x, y, z) end
    -- Past the side the fields are those of the side, so what comes from there counts, too.
    c.near(of("decay", 3, 0, 1), of("warming", 3, 0, 1) * (of("conductance_x", 2, 0, 1) + of("conductance_x", 3, 0, 1) + 2 * of("conductance_y", 3, 0, 1) +
        of("flow_y", 3, 0, 1) + of("conductance_z", 3, 0, 0) + of("conductance_z", 3, 0, 1) + of("inlet", 3, 0, 1)), 1e-12)
    falls:steady()
    local out = falls:get("inlet", 3, 0, 1) * (falls:get("temperature", 3, 3, 1) - 290)
    for y = 0, 3 do
        for x = 0, 7 do out = out + falls:get("convection", x, y, 3) * (falls:get("temperature", x, y, 3) - 300) end
    end
    c.near(out, watts, 1e-6)
    c.near(falls:get("warming", 0, 0, 1) * 0.333 * 1.7e6 * 0.002 * 0.004 * 0.004, 1, 1e-12)
end
local shared = tz.chip { layers = { { t = 2e-4, k = 100, p = 1.6e6, flp = "shared.flp", ptrace = "even.ptrace" }, { t = 1e-4, k = 5, p = 4e6 } }, detailed_3D = true,
    s_spreader = 0.02, t_spreader = 0.001, p_spreader = 3e6, s_sink = 0.05, t_sink = 0.005, p_sink = 2e6, c_convec = 100, grid_cols = 6, grid_rows = 5 }
shared.simulation.precision = "double"
local mixed = tz.simulation(shared.simulation)
if not tz.checking then
    local x, y, area = shared.box.x[1] + 1, shared.box.y[1], 0.016 / 6 * 0.016 / 5
    -- A cell is half silicon of 100 W/(m K), half a unit of 1/0.02.
    c.near(mixed:get("conductance_z", x, y, 0), area / (2e-4 / 75 + 0.5e-4 / 5), 1e-9)
    c.near(mixed:get("warming", x, y, 0) * 0.333 * (0.5 * 1.6e6 + 0.5 * 2e6) * area * 2e-4, 1, 1e-9)
    c.near(mixed:get("conductance_y", x, y, 0), 0.016 / 6 * 2e-4 / (0.016 / 5) * 75, 1e-9)
    local sink, last = 0, mixed.grid[3] - 1
    for j = 0, mixed.grid[2] - 1 do
        for i = 0, mixed.grid[1] - 1 do sink = sink + 1 / mixed:get("warming", i, j, last) end
    end
    c.near(sink, 0.333 * (2e6 * 0.005 * 0.05 ^ 2 + 100), 1e-6)
    -- Half of the cells' lengths on both sides, at the die's edge, too, where the next cell is wider.
    local edge, beyond = mixed:get("conductance_y", x, y, last), 1 / mixed:get("warming", x, y - 1, last) / (0.333 * (2e6 * 0.005 + 100 / 0.05 ^ 2)) / (0.016 / 6)
    tz.expect(edge > 0 and beyond > 0)
    c.near(mixed:get("conductance_y", x, y - 1, last), 0.016 / 6 * 0.005 * 400 / (0.5 * 0.016 / 5 + 0.5 * beyond), 1e-6)
end

-- What .steady files have of a unit; run_scenario_tests.sh reads them.
for _, mode in ipairs { "avg", "center", "min", "max" } do
    local one = tz.chip { flp = "plan.flp", ptrace = "plan.ptrace", grid_cols = 8, grid_rows = 7, grid_map_mode = mode }
    local sim = tz.simulation(one.simulation)
    sim:set("temperature", 300)
    local x, y = one.box.x[1], one.box.y[1]
    for i = 0, 1 do
        for j = 0, 6 do sim:set("temperature", 300 + 10 * i + j * j, { x = { x + i, x + i + 1 }, y = { y + j, y + j + 1 }, z = { 0, 1 } }) end
    end
    one.plans.name = mode
    sim:write(tz.steady(one.plans))
end

-- What is hardly meant is said; run_scenario_tests.sh reads it.
tz.chip { flp = "gap.flp", ptrace = "spare.ptrace", ambient = 45 }

-- Refusals.
c.refuses("misspelt.config:2: -r_convek is no option; did you mean -r_convec?", tz.chip, { flp = "plan.flp", ptrace = "plan.ptrace", config = "misspelt.config" })
c.refuses("needs one of 'flp', 'lcf' and 'layers'", tz.chip, { ptrace = "plan.ptrace" })
c.refuses("needs a 'ptrace'", tz.chip, { flp = "plan.flp" })
c.refuses("no layer takes power", tz.chip, { layers = { { t = 1, k = 1, p = 1, flp = "plan.flp", power = false } }, ptrace = "plan.ptrace" })
c.refuses("must fit on the spreader of 0.01 m", tz.chip, { flp = "plan.flp", ptrace = "plan.ptrace", s_spreader = 0.01 })
c.refuses("'r_convec' must be above 0, not 0", tz.chip, { flp = "plan.flp", ptrace = "plan.ptrace", r_convec = 0 })
c.refuses("layer 1 needs a thickness", tz.chip, { layers = { { k = 1, p = 1 } } })
c.refuses("needs 'k' and 'p'", tz.chip, { layers = { { t = 1, flp = "plan.flp" } } })
c.refuses("material 'silicon' is not in", tz.chip, { lcf = "stack.lcf", ptrace = "twice.ptrace" })
c.refuses("needs a list of floorplans", tz.steady, "temperature")
