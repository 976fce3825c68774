-- Probes, profiles and histograms against values that are known.
local tz = require "trapeze"
local computes = not tz.checking

-- A field that is linear in x, y and z: interpolation gives it back.
local function linear(x, y, z) return 2 * x - 3 * y + 5 * (z or 0) + 7 end
local plate = tz.simulation { plugin = "star2d1r", grid = { 20, 9 }, precision = "double", name = "plate", fields = { u = linear } }
local block = tz.simulation { plugin = "star3d1r", grid = { 6, 5, 4 }, precision = "double", name = "block", fields = { u = linear } }
local function near(a, b) return math.abs(a - b) < 1e-12 * (1 + math.abs(b)) end

local function check_line(sim, from, to, points, wanted)
  local line = sim:profile("u", from, to, points)
  tz.expect(#line.x == wanted and #line.y == wanted, ("%d points, not %d"):format(#line.x, wanted))
  if not computes then return end
  local square = 0
  for a = 1, #from do square = square + (to[a] - from[a]) ^ 2 end
  for i = 1, wanted do
    local t = wanted > 1 and (i - 1) / (wanted - 1) or 0
    local at = {}
    for a = 1, #from do at[a] = from[a] + (to[a] - from[a]) * t end
    tz.expect(near(line.x[i], math.sqrt(square) * t), "distances are those of the points")
    tz.expect(near(line.y[i], linear(table.unpack(at))), "values are those of the points")
  end
end
check_line(plate, { 0, 0 }, { 19, 0 }, nil, 20)
check_line(plate, { 3, 8 }, { 3, 0 }, nil, 9)
check_line(plate, { 19, 8 }, { 0, 0 }, nil, 20)
check_line(plate, { 0.25, 0.5 }, { 18.75, 7.5 }, 31, 31)
check_line(plate, { 4.5, 3 }, { 4.5, 3 }, nil, 1)
check_line(plate, { 4.5, 3 }, { 4.5, 3 }, 2, 2)
check_line(block, { 0, 0, 0 }, { 5, 4, 3 }, nil, 6)
check_line(block, { 0.1, 3.9, 2.5 }, { 4.9, 0.2, 0.5 }, 13, 13)

-- Each cell is counted once.
local counts = tz.simulation { plugin = "star2d1r", grid = { 10, 10 }, precision = "double", name = "counts",
  fields = { u = function(x, y) return x + 10 * y end } }
local h = counts:histogram("u", { bins = 10, range = { 0, 100 } })
tz.expect(#h.x == 10 and #h.y == 10)
for i = 1, 10 do
  tz.expect(near(h.x[i], 10 * i - 5))
  tz.expect(not computes or h.y[i] == 10)
end
tz.expect(h.below == 0 and h.above == 0 and h.other == 0)
h = counts:histogram("u", { bins = 3, range = { 10, 40 } })
tz.expect(not computes or (h.y[1] == 10 and h.y[2] == 10 and h.y[3] == 11 and h.below == 10 and h.above == 59))
h = counts:histogram "u"
local sum = 0
for _, n in ipairs(h.y) do sum = sum + n end
tz.expect(#h.y == 50 and (not computes or (sum == 100 and h.y[1] == 2 and h.y[50] == 2)))
counts:set("u", 4)
h = counts:histogram("u", { bins = 3 })
tz.expect(not computes or (h.y[1] == 0 and h.y[2] == 100 and h.y[3] == 0 and near(h.x[2], 4)))
-- Bits and integers, and a field larger than a piece.
local life = tz.simulation { plugin = "life", grid = { 512, 384 }, name = "life", fields = { alive = tz.random { seed = 2, density = 0.3 } } }
h = life:histogram("alive", { bins = 2 })
tz.expect(not computes or (h.y[2] == life:population "alive" and h.y[1] + h.y[2] == 512 * 384))
tz.expect(#life:profile("alive", { 0, 0 }, { 511, 383 }).y == 512)

if tz.can_plot() then
  tz.plot { file = "bars.png", series = { { x = h.x, y = h.y, style = "bars" }, plate:profile("u", { 0, 0 }, { 19, 0 }) } }
end

-- Probes are columns; a function sees the same.
local rows = {}
plate:every(2, tz.table { "step", "probe(u, 3, 4)", "probe(u,19,8)", name = "probes",
  same = function(sim)
    rows[#rows + 1] = sim:get("u", 3, 4)
    return sim:get("u", 3, 4)
  end })
plate:run(6)
tz.expect(not computes or #rows == 4)
