-- Augmented stencils: one iteration is as good as several steps, on every side, and its bits are the same with every height.
-- The steps are done here, cell by cell.
local tz = require "trapeze"
local backend = tz.args.backend or "cpu"

-- Where a cell past the grid takes its value: a coordinate, or nil and the side.
local function inside(c, n, low, high)
  while c < 0 or c >= n do
    local side = c < 0 and low or high
    if side == "fixed" then return nil, c < 0 and 1 or 2 end
    if side == "periodic" then c = c % n
    elseif side == "clamp" then c = c < 0 and 0 or n - 1
    else c = c < 0 and -c or 2 * (n - 1) - c end
  end
  return c
end

-- One step of a*old + sum(terms*u) in double. Grids are tables by number, with sides and the value past each fixed one.
local function step(grid, u, old, terms, a)
  local n, sides, new = grid.n, grid.sides, {}
  local function read(x, y, z)
    local at = { x, y, z }
    for d = 1, 3 do
      local c, side = inside(at[d], n[d], sides[d][1], sides[d][2])
      if not c then return grid.values[d][side] end
    end
    for d = 1, 3 do at[d] = inside(at[d], n[d], sides[d][1], sides[d][2]) end
    return u[(at[3] * n[2] + at[2]) * n[1] + at[1]]
  end
  for i = 0, n[1] * n[2] * n[3] - 1 do
    local x, y, z, sum = i % n[1], i // n[1] % n[2], i // n[1] // n[2], a * old[i]
    for _, t in ipairs(terms) do sum = sum + t[4] * read(x + t[1], y + t[2], z + t[3]) end
    new[i] = sum
  end
  return new
end

-- Nested lists of coefficients as terms { dx, dy, dz, c }.
local function terms_of(list, dims)
  local terms, at = {}, {}
  local function walk(part, depth)
    if depth == 0 then
      if part ~= 0 then terms[#terms + 1] = { at[1] or 0, at[2] or 0, at[3] or 0, part } end
      return
    end
    for i, inner in ipairs(part) do
      at[depth] = i - 1 - #part // 2
      walk(inner, depth - 1)
    end
  end
  walk(list, dims)
  return terms
end

local epsilon = { single = 2 ^ -24, double = 2 ^ -53 }
local worst = 0

-- The bound of the differences: C*m*K*epsilon*norm^m*max|u|, with K points in a step and C = 1.
local function check(stencil, definition, cells, boundary, values, precision)
  local m, dims, n = stencil.steps, #cells, { cells[1], cells[2] or 1, cells[3] or 1 }
  local terms = terms_of(definition.coefficients, dims)
  local a, v = definition.a or 0, definition.params and definition.params.v or 1
  for _, t in ipairs(terms) do
    t[4] = t[4] * v
    if t[1] == 0 and t[2] == 0 and t[3] == 0 then t[4] = t[4] + (definition.b or 0) end
  end
  local grid, axes = { n = n, sides = {}, values = {} }, { "x", "y", "z" }
  local given = { boundary = {}, values = {} }
  for d = 1, 3 do
    local side, value = boundary[d] or "clamp", values[d] and values[d][1] and values[d] or { 0, 0 }
    if type(side) == "string" then side = { side, side } end
    grid.sides[d], grid.values[d] = side, value
    if d <= dims then given.boundary[axes[d]], given.values[axes[d]] = side, value end
  end
  local noise = function(x, y, z)
    return math.sin(1.7 * x + 0.9 * (y or 0) + 2.3 * (z or 0)) + ((7 * x + 5 * (y or 0) + 3 * (z or 0)) % 4) / 4
  end
  local fields = { u = noise }
  if definition.old then fields.old = function(x, y, z) return 0.75 * noise(x, y, z) end end
  local bits
  for height = 1, backend == "cpu" and 2 or 1 do
    local sim = tz.simulation { plugin = stencil, grid = cells, boundary = given.boundary, backend = backend, height = height,
      boundary_values = { u = given.values }, precision = precision, fields = fields }
    local function get(field)
      local list = {}
      for i = 0, n[1] * n[2] * n[3] - 1 do
        local at = { i % n[1], i // n[1] % n[2], i // n[1] // n[2] }
        list[i] = sim:get(field, table.unpack(at, 1, dims))
      end
      return list
    end
    local u = get "u"
    local old = definition.old and get "old" or u
    sim:run(2)
    if not tz.checking then
      local largest, norm = 0, math.abs(a)
      for _, t in ipairs(terms) do norm = norm + math.abs(t[4]) end
      for _ = 1, 2 * m do
        for i = 0, #u do largest = math.max(largest, math.abs(u[i])) end
        u, old = step(grid, u, old, terms, a), u
      end
      local bound = 2 * m * (#terms + (a ~= 0 and 1 or 0)) * epsilon[precision] * math.max(1, norm) ^ (2 * m) * largest
      local now, before = get "u", definition.old and get "old"
      for i = 0, #u do
        local off = math.max(math.abs(now[i] - u[i]), before and math.abs(before[i] - old[i]) or 0)
        worst = math.max(worst, off / bound)
        tz.expect(off <= bound, ("%s, %s, cell %d: %.17g and %.17g, and %.3g is allowed"):format(stencil.id, precision, i,
          now[i], u[i], bound))
      end
      bits = bits or sim:hash "u"
      tz.expect(bits == sim:hash "u", stencil.id .. ": heights differ")
    end
    sim:close()
  end
end

local function all(definition, m, cells, cases)
  local options = { augment = m }
  for key, value in pairs(definition) do options[key] = value end
  for _, key in ipairs { "a", "b" } do options[key] = options[key] and tostring(options[key]) end
  local stencil = tz.stencil(options)
  tz.expect(stencil.steps == m, "steps of an iteration")
  for _, case in ipairs(cases) do
    for _, precision in ipairs { "single", "double" } do check(stencil, definition, cells, case[1], case[2] or {}, precision) end
  end
end

-- In 1-D, uneven and of radius 2; a grid shorter than the ghosts are wide.
local line = { name = "line", coefficients = { -0.05, 0.2, 0.7, 0.1, 0.05 }, fused = true }
all(line, 3, { 23 }, { { { "clamp" } }, { { { "fixed", "clamp" } }, { { 0.5, 0 } } }, { { "periodic" } } })
all(line, 3, { 2 }, { { { { "clamp", "fixed" } }, { { 0, -1 } } } })

-- A box in 2-D, another value past each side.
local box = { name = "box", coefficients = { { 0.05, 0.1, 0.05 }, { 0.1, 0.4, 0.1 }, { 0.05, 0.1, 0.05 } }, group = true }
all(box, 2, { 17, 12 }, { { { "fixed", "fixed" }, { { 0.5, -1 }, { 2, 0.25 } } }, { { "clamp", "periodic" } },
  { { "mirror", { "clamp", "fixed" } }, { {}, { 0, 1.5 } } }, { { { "mirror", "clamp" }, "mirror" } } })

-- A wave in 2-D, whose speed is a parameter: two levels of time.
local wave = { name = "two_levels", coefficients = { { 0, 1, 0 }, { 1, -4, 1 }, { 0, 1, 0 } }, a = -1, b = 2, v = "v",
  params = { v = 0.2, dt = { value = 0.5, role = "time_step", unit = "s" } }, fields = { "u", "old" }, old = "old" }
all(wave, 2, { 14, 11 }, { { { "clamp", "clamp" } }, { { "fixed", "mirror" }, { { 0.5, 1 } } } })

-- A star in 3-D.
local o, w = { 0, 0, 0 }, 0.1
all({ name = "star", coefficients = { { o, { 0, w, 0 }, o }, { { 0, w, 0 }, { w, 0.4, w }, { 0, w, 0 } }, { o, { 0, w, 0 }, o } } },
  2, { 9, 6, 7 }, { { { "clamp", "fixed", { "fixed", "clamp" } }, { {}, { 1, 2 }, { -1, 0 } } } })

-- An iteration takes the time of its steps.
local sim = tz.simulation { plugin = "two_levels", grid = { 12, 12 } }
sim:run(3)
tz.expect(sim:time() == 3 * 2 * 0.5, "the time of 3 iterations of 2 steps")
sim:run { until_time = 7 }
tz.expect(tz.checking or sim.step == 7, "iterations up to 7 s")
sim:close()
-- From the root of the source, or where run_scenario_tests.sh puts it.
local record = (tz.args.data or "tests/predict") .. "/cpu.txt"

-- The number of steps that the model finds fastest, for a processor that need not be here.
local function auto(m)
  return tz.stencil { coefficients = { 1, 1, 2, 2, 4, 2, 2, 1, 1 }, scale = 1 / 16, boundaries = { "periodic" }, boundary = "periodic", augment = m,
    grid = m == "auto" and { 100000 } or nil, device = m == "auto" and record or nil }
end
local chosen = auto "auto"
tz.expect(chosen.doc:find("Augmented by " .. chosen.steps .. " of up to 2"), chosen.doc)
local function seconds(stencil)
  return tz.predict { plugin = stencil, grid = { 100000 }, boundary = "periodic", device = record }.best.time_s / stencil.steps
end
for m = 1, 2 do tz.expect(seconds(chosen) <= seconds(auto(m)), "augment = " .. m .. " is faster") end
for _, case in ipairs { { "autoo", nil, "must be an integer or \"auto\"" }, { "auto", nil, "needs 'grid'" }, { 2, { 9 }, "goes with augment = \"auto\"" } } do
  local fine, message = pcall(tz.stencil, { coefficients = { 1, 2, 1 }, augment = case[1], grid = case[2] })
  tz.expect(not fine and tostring(message):find(case[3], 1, true), tostring(message))
end

-- Coefficients of a plugin's stencil, which must be a sum.
local star2d1r = tz.stencil { coefficients = "star2d1r", augment = 2 }
local here, there
for i, stencil in ipairs { star2d1r, "star2d1r" } do
  local one = tz.simulation { plugin = stencil, grid = { 20, 9 }, boundary = "fixed", backend = backend, fields = { u = function(x, y) return x * y end } }
  one:run(i == 1 and 2 or 4)
  here, there = there, one:get("u", 1, 4)
  one:close()
end
tz.expect(math.abs(here - there) <= 1e-5 * math.abs(there), "the same 4 steps of star2d1r")
local fine, message = pcall(tz.stencil, { coefficients = "life" })
tz.expect(not fine and tostring(message):find("no sum of cells", 1, true), tostring(message))
tz.log("the largest difference is ", worst, " of what is allowed")
