-- The family that the cpu backend takes by default, with two threads: "stream" in place where one field is computed and its
-- rows are long enough, else "skew". On processors with an L2 of 2 MiB or more "diamond", where a case says that it may be.
local tz = require "trapeze"
if tz.args.backend == "reference" then return end -- it has one family

local function family(plugin, grid, boundary, precision)
  local sim = tz.simulation { plugin = plugin, grid = grid, boundary = boundary, precision = precision, backend = "cpu",
                              threads = 2, policy = "fixed" }
  sim:run(1)
  return sim:plan().family
end

local known = {
  { "star2d1r", { 512, 400 }, "clamp", "single", "stream" },
  { "star2d1r", { 508, 400 }, "clamp", "single", "skew" }, -- short rows
  { "star2d1r", { 256, 400 }, "clamp", "double", "stream" },
  { "star2d1r", { 512, 400 }, "periodic", "single", "skew" },
  { "star2d1r", { 1024, 400 }, "periodic", "single", "stream" },
  { "star2d1r", { 512, 300 }, "clamp", "single", "skew" }, -- few rows
  { "grayscott", { 1024, 400 }, "periodic", "single", "skew" }, -- two fields
  { "star3d1r", { 160, 100, 60 }, "clamp", "single", "stream", "diamond" },
  { "star3d1r", { 160, 31, 60 }, "clamp", "single", "stream" }, -- a row of fewer than two diamonds
  { "star3d1r", { 144, 100, 60 }, "clamp", "single", "skew", "diamond" }, -- short rows
  { "star3d1r", { 1200, 60, 60 }, "clamp", "single", "stream" }, -- rows are cut: tiles overlap
  { "box3d1r", { 1200, 60, 60 }, "clamp", "single", "skew" }, -- and a cell takes long
  { "star3d1r", { 256, 100, 60 }, "periodic", "single", "stream" },
  { "box3d1r", { 256, 100, 60 }, "periodic", "single", "skew" },
  { "hotspot3d", { 256, 100, 60 }, "clamp", "single", "skew" }, -- three static fields
  { tz.stencil { name = "heat", dims = 3, fields = { u = "real", k = { type = "real", role = "static" } },
                 update = { u = "u + k*(u[0,0,1] + u[0,-1,0] + u[1,0,0] - 3*u)" } },
    { 256, 100, 60 }, "clamp", "single", "stream", "diamond" },
}
local large -- does this machine have such an L2?
for _, k in ipairs(known) do
  local found = family(k[1], k[2], k[3], k[4])
  if k[6] and large == nil then large = found == k[6] end
  tz.expect(tz.checking or found == (k[6] and large and k[6] or k[5]), string.format("%s %s %s %s: %s", tostring(k[1]), table.concat(k[2], " x "), k[3], k[4], found))
end
