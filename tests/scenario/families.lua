-- The family that the cpu backend takes by default, with two threads: "diamond" where there are 16 rows for each thread and
-- row that a pass reads to a side, else "stream". "skew" of earlier versions is "diamond" now.
local tz = require "trapeze"
if tz.args.backend == "reference" then return end -- it has one family

local function family(plugin, grid, boundary, precision)
  local sim = tz.simulation { plugin = plugin, grid = grid, boundary = boundary, precision = precision, backend = "cpu",
                              threads = 2, policy = "fixed" }
  sim:run(1)
  return sim:plan().family
end

local known = {
  { "star2d1r", { 512, 400 }, "clamp", "single", "diamond" },
  { "star2d1r", { 512, 32 }, "periodic", "double", "diamond" },
  { "star2d1r", { 512, 31 }, "clamp", "single", "stream" }, -- few rows
  { "star2d2r", { 512, 63 }, "clamp", "single", "stream" },
  { "grayscott", { 1024, 400 }, "periodic", "single", "diamond" },
  { "star3d1r", { 160, 100, 60 }, "clamp", "single", "diamond" },
  { "star3d1r", { 160, 31, 60 }, "clamp", "single", "stream" },
  { "box3d1r", { 256, 100, 60 }, "periodic", "single", "diamond" },
  { "hotspot3d", { 256, 100, 60 }, "clamp", "single", "diamond" },
  { tz.stencil { name = "heat", dims = 3, fields = { u = "real", k = { type = "real", role = "static" } },
                 update = { u = "u + k*(u[0,0,1] + u[0,-1,0] + u[1,0,0] - 3*u)" } },
    { 256, 100, 60 }, "clamp", "single", "diamond" },
}
for _, k in ipairs(known) do
  local found = family(k[1], k[2], k[3], k[4])
  tz.expect(tz.checking or found == k[5], string.format("%s %s %s %s: %s", tostring(k[1]), table.concat(k[2], " x "), k[3], k[4], found))
end

-- A plan of an earlier version: the same bits, and tiles of now.
local sums = {}
for _, name in ipairs { "stream", "skew", "diamond" } do
  local sim = tz.simulation { plugin = "star2d1r", grid = { 300, 200 }, backend = "cpu", threads = 2,
    fields = { u = tz.random { seed = 1 } } }
  sim:policy { policy = "fixed", family = name, height = 6, tile = name == "skew" and { 64, 50 } or nil }
  sim:run(20)
  sums[#sums + 1] = sim:hash()
  tz.expect(tz.checking or sim:plan().family == (name == "skew" and "diamond" or name))
end
tz.expect(tz.checking or (sums[1] == sums[2] and sums[2] == sums[3]))
