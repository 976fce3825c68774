-- Numbers of many stencils, which must not depend on how many ranks compute them. Run by run_ranks_tests.sh with the
-- plugins of tests/plugins.
local tz = require "trapeze"
local R, N, B = "real", "integer", "bits"
local cases = {
  { "pathfinder", { 20000 }, { cost = N, weights = N }, { "clamp", "periodic" } },
  { "hotspot", { 70, 61 }, { temperature = R, power = R }, { "clamp", "mirror" } },
  { "poisson", { 33, 48 }, { u = R, f = R }, { "fixed", "periodic" } },
  { "life", { 70, 50 }, { alive = B }, { "periodic", "fixed" } },
  { "cell", { 40, 9, 30 }, { alive = B }, { "periodic" } },
  { "cyclic", { 50, 47 }, {}, { "periodic" } },
  { "grayscott9", { 40, 50 }, { u = R, v = R }, { "periodic" } },
  { "integers_3d", { 11, 12, 33 }, { n = N, seed = N }, { "mirror", "periodic" } },
  { "maxwell2d", { 37, 45 }, { hz = R, ex = R, ey = R, share = R }, { "clamp", "periodic" } },
  { "mixed1d", { 15000 }, { u = R, n = N, rows = N, k = R }, { "mirror", "periodic" } },
  { "mixed3d", { 14, 9, 40 }, { u = R, n = N, k = R }, { "clamp", "periodic" } },
  { "onesided1d", { 15000 }, { u = R, k = R }, { "clamp", "periodic" } },
  { "onesided3d", { 8, 9, 40 }, { u = R, k = R }, { "fixed" } },
  { "radius4_3d", { 12, 9, 60 }, { u = R }, { "clamp", "periodic" } },
}
local function random(kind, seed)
  if kind == B then return tz.random { seed = seed, density = 0.4 } end
  return tz.random { seed = seed, range = kind == N and { 0, 9 } or { 0.25, 0.5 } }
end
for number, case in ipairs(cases) do
  for _, boundary in ipairs(case[4]) do
    for _, height in ipairs { 1, 3 } do
      local fields, names = {}, {}
      for name, kind in pairs(case[3]) do
        fields[name] = random(kind, number + #name)
        if name ~= "weights" and name ~= "rows" then names[#names + 1] = name end
      end
      table.sort(names)
      local precision = case[3].u and number % 2 == 0 and "double" or nil
      local sim = tz.simulation { plugin = case[1], grid = case[2], boundary = boundary, fields = fields,
        precision = precision, backend = tz.args.backend or "cpu", threads = 1, height = height }
      sim:run(7)
      local line = { case[1], boundary, height, sim.step }
      for _, name in ipairs(names) do
        line[#line + 1] = sim:hash(name)
        line[#line + 1] = string.format("%.17g %.17g %.17g", sim:min(name), sim:max(name), sim:sum(name))
        local last = {}
        for axis, extent in ipairs(case[2]) do last[axis] = extent * 2 // 3 end
        line[#line + 1] = sim:get(name, table.unpack(last))
        line[#line + 1] = sim:population(name)
      end
      local ok, residual = pcall(sim.residual, sim)
      line[#line + 1] = ok and string.format("%.17g", residual) or "none"
      print(table.concat(line, " "))
      sim:close()
    end
  end
end
-- Regions, functions of cells, a run up to a residual, more parameters, mixed precision.
local sim = tz.simulation { plugin = "poisson", grid = { 40, 36 }, precision = "mixed", backend = "cpu", threads = 1,
  fields = { f = function(x, y) return x * y / 500 end } }
local result = sim:run { until_residual = 0.1, max_steps = 3000 }
print(result.status, result.steps, string.format("%.17g", result.residual), sim:hash("u"))
sim:set("u", 2.5, { x = { 3, 9 }, y = { 10, 30 } })
print(sim:sum("u", { x = { 0, 20 }, y = { 5, 33 } }), sim:mean("u", "f"), sim:hash("u"))
print(sim:run { until_update = 1e-3, max_steps = 50 }.steps, sim:array("u"):sum())
