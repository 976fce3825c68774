-- Domains: cells outside keep their value, reads across the edge get what the script says, the bits are those of a loop over
-- the mask on every backend, plan and slab; numbers are of the domain; shapes.
local tz = require "trapeze"
local c = require "checks"

local cpu = tz.args.backend ~= "reference"
local ways = { { backend = "reference", height = 1 } }
for _, way in ipairs(cpu and { { height = 1 }, { height = 4 }, { family = "stream", height = 3 }, { height = 2, devices = "cpu:3" } } or {}) do
  way.backend = "cpu"
  ways[#ways + 1] = way
end

-- A ring with a slit, which reaches two sides of the grid.
local nx, ny = 75, 38
local ring = tz.difference(tz.circle { centre = { 40, 12 }, radius = 30 }, tz.circle { centre = { 40, 12 }, radius = 9 },
  tz.box { x = { 39, 42 }, y = { 15, 30 } }, function(x, y) return x == 55 and y == 20 end)
local function start(x, y) return (x * 37 + y * 101) % 64 / 64 end

-- A loop over the mask: u + dt*lap(u), with what is read across the edge from `edge`.
local function loop(steps, edge)
  local u, mask = {}, {}
  local function at(x, y) return math.max(0, math.min(ny - 1, y)) * nx + math.max(0, math.min(nx - 1, x)) end
  for y = 0, ny - 1 do
    for x = 0, nx - 1 do u[at(x, y)], mask[at(x, y)] = start(x, y), ring(x, y, 0) end
  end
  for _ = 1, steps do
    local new = {}
    for y = 0, ny - 1 do
      for x = 0, nx - 1 do
        local function read(dx, dy)
          local to = at(x + dx, y + dy)
          return mask[to] and u[to] or edge(u[at(x, y)], mask[at(x - dx, y - dy)] and u[at(x - dx, y - dy)])
        end
        local own = u[at(x, y)]
        new[at(x, y)] = mask[at(x, y)] and own + 0.2 * ((read(-1, 0) + read(1, 0) + (read(0, -1) + read(0, 1))) - 4 * own) or own
      end
    end
    u = new
  end
  return u
end

local edges = { { nil, function(own) return own end }, { "mirror", function(own, across) return across or own end },
  { 0.25, function() return 0.25 end }, { { value = "0.25" }, function(own) return 2 * 0.25 - own end } }
for i, edge in ipairs(edges) do
  local stencil = tz.stencil { name = "edge" .. i, dims = 2, params = { dt = 0.2 }, domain = "mask", edge = edge[1], update = "u + dt*lap(u)" }
  local wanted = not tz.checking and loop(9, edge[2])
  for k, way in ipairs(ways) do
    if k == 1 or i == 1 or k == i + 1 then
      local given = { plugin = stencil, grid = { nx, ny }, precision = "double", boundary = "clamp", domain = ring, fields = { u = start } }
      for key, value in pairs(way) do given[key] = value end
      local sim = tz.simulation(given)
      sim:run(4)
      sim:run(5)
      local u = sim:array "u"
      for j = 0, tz.checking and -1 or nx * ny - 1 do
        local got = u:get(j % nx, j // nx)
        tz.expect(got == wanted[j], ("edge %d, way %d: cell %d is %.17g and not %.17g"):format(i, k, j, got, wanted[j]))
      end
      if i == 1 and not tz.checking then -- nothing flows out, and numbers are of the domain
        local sum, count, least = 0, 0, 1 / 0
        for j = 0, nx * ny - 1 do
          if ring(j % nx, j // nx, 0) then sum, count, least = sum + wanted[j], count + 1, math.min(least, wanted[j]) end
        end
        local before = 0
        for j = 0, nx * ny - 1 do before = before + (ring(j % nx, j // nx, 0) and start(j % nx, j // nx) or 0) end
        c.near(sum, before, 1e-9)
        c.near(sim:sum "u", sum, 1e-9)
        c.near(sim:mean "u", sum / count, 1e-12)
        tz.expect(sim:min "u" == least and sim:sum "mask" == count and sim:population "u" <= count)
        tz.expect(sim:mean("u", { x = { 20, 22 }, y = { 12, 13 } }) == (sim:get("u", 20, 12) + sim:get("u", 21, 12)) / 2)
        c.refuses("no cell of the domain", sim.sum, sim, "u", { x = { 0, 2 }, y = { 30, 32 } })
      end
      sim:close()
    end
  end
end

-- What formulas can read: the bits of the update that is written out.
local options = { dims = 2, params = { dt = 0.1 } }
local function stencil(name, more)
  for key, value in pairs(options) do more[key] = value end
  more.name = name
  return tz.stencil(more)
end
local short = stencil("short", { fields = { "u", "w", k = { role = "static" } }, domain = "mask", edge = { w = "0.5*inside + x/nx" },
  let = { r = "u*w + x" }, outputs = { grad = "dx(u)" }, fields = { "u", "w", k = { role = "static" }, grad = { role = "derived" } },
  update = { u = "u + dt*div(k, u) + 0.01*(r[1,0] - r[0,-1]) + 0.01*dx(u, 4)", w = "w + 0.1*w[1,1]" } })
local function cell(f, dx, dy)
  local own = f == "w" and ("(0.5*w + (x + %d)/nx)"):format(dx) or f
  return dx == 0 and dy == 0 and f or ("(mask[%d,%d] != 0 ? %s[%d,%d] : %s)"):format(dx, dy, f, dx, dy, own)
end
local function r(dx, dy)
  return ("(%s*%s + (mask[%d,%d] != 0 ? x + %d : x))"):format(cell("u", dx, dy), cell("w", dx, dy), dx, dy, dx)
end
local function face(ax, ay, bx, by)
  return ("(0.5*(%s + %s))*(%s - %s)"):format(cell("k", ax, ay), cell("k", bx, by), cell("u", bx, by), cell("u", ax, ay))
end
local long = stencil("long", { fields = { "u", "w", k = { role = "static" }, mask = { role = "static", type = "int", boundary_value = 1 } },
  update = { u = ("mask == 0 ? u : u + dt*(((%s) - (%s)) + ((%s) - (%s))) + 0.01*(%s - %s) + 0.01*(%.17g*(%s - %s) + %.17g*(%s - %s))"):format(
    face(0, 0, 1, 0), face(-1, 0, 0, 0), face(0, 0, 0, 1), face(0, -1, 0, 0), r(1, 0), r(0, -1),
    2 / 3, cell("u", 1, 0), cell("u", -1, 0), -1 / 12, cell("u", 2, 0), cell("u", -2, 0)),
    w = "mask == 0 ? w : w + 0.1*" .. cell("w", 1, 1) } })
for _, boundary in ipairs { "clamp", "periodic", "fixed" } do
  local wanted
  for _, way in ipairs(boundary == "periodic" and ways or { ways[1], ways[3] }) do
    for _, plugin in ipairs(wanted and { short } or { long, short }) do
      local given = { plugin = plugin, grid = { nx, ny }, boundary = boundary,
        fields = { u = c.noise(1), w = c.noise(2), k = c.noise(3), mask = function(x, y) return ring(x, y, 0) and 3 or 0 end } }
      for key, value in pairs(way) do given[key] = value end
      local sim = tz.simulation(given)
      sim:run(6)
      local bits = sim:hash "u" .. sim:hash "w"
      wanted = wanted or bits
      tz.expect(tz.checking or bits == wanted, ("%s, %s by %s at height %d"):format(plugin.id, boundary, way.family or way.backend, way.height))
      if plugin == short and not tz.checking then
        tz.expect(sim:get("grad", 0, 0) == 0, "an output is 0 outside")
        c.near(sim:get("grad", 10, 12), (sim:get("u", 11, 12) - sim:get("u", 10, 12)) / 2, 1e-7)
      end
      sim:close()
    end
  end
end

-- A temporary leaves the bits of a field in its place.
local function phases(name, role)
  return stencil(name, { fields = { "u", mu = { role = role } }, domain = "mask",
    passes = { { mu = "u^3 - u - 0.5*lap(u)" }, { u = "u + 0.1*dt*lap(mu)" } } })
end
local sums = {}
for i, role in ipairs { "state", "temporary" } do
  local sim = tz.simulation { plugin = phases("phases" .. i, role), grid = { nx, ny }, domain = tz.circle { centre = { 30, 18 }, radius = 15 }, fields = { u = c.noise(4) },
    backend = ways[#ways].backend, precision = "double", height = 2 }
  local before = sim:sum "u"
  sim:run(10)
  if not tz.checking then c.near(sim:sum "u", before, 1e-10) end
  sums[i] = sim:hash "u"
end
tz.expect(tz.checking or sums[1] == sums[2], "a temporary in a domain")

-- Shapes.
local function count(shape, grid, dims)
  local array = tz.array { shape = grid or { 40, 30 }, fill = function(x, y, z) return shape(x, y, z) and 1 or 0 end }
  return array:sum()
end
tz.expect(count(tz.box { x = { 3, 8 }, y = { 2, 4 } }) == 10)
tz.expect(count(tz.polygon { { -0.5, -0.5 }, { 9.5, -0.5 }, { 9.5, 4.5 }, { -0.5, 4.5 } }) == 50)
tz.expect(count(tz.circle { centre = { 10, 10 }, radius = 1 }) == 5)
tz.expect(count(tz.circle { centre = { 5, 5, 5 }, radius = 1 }, { 11, 11, 11 }) == 7)
tz.expect(count(tz.intersection(tz.box { x = { 0, 5 } }, function(x, y) return y < 2 end)) == 10)
tz.expect(count(tz.union(tz.array { shape = { 3, 2 }, fill = 1 }, tz.box { x = { 2, 5 }, y = { 0, 1 } })) == 8)
tz.expect(count(tz.difference(tz.box { x = { 0, 5 }, y = { 0, 2 } }, tz.box { x = { 1, 2 } }, tz.box { x = { 3, 9 } })) == 4)

-- Mistakes.
local disc = tz.stencil { name = "disc", dims = 2, domain = "mask", update = "lap(u)" }
local function wrong(more)
  local o = { dims = 2, domain = "mask", update = { u = "lap(u)" } }
  for key, value in pairs(more) do o[key] = value end
  return o
end
c.refuses("needs its domain: domain = tz.circle", tz.simulation, { plugin = disc, grid = { 8, 8 } })
c.refuses("all cells of poisson are computed", tz.simulation, { plugin = "poisson", grid = { 8, 8 }, domain = 1 })
c.refuses("needs tz.circle, tz.box", tz.simulation, { plugin = disc, grid = { 8, 8 }, domain = { radius = 3 } })
c.refuses("needs tz.circle, tz.box", tz.simulation, { plugin = disc, grid = { 8, 8 }, domain = "circle" })
c.refuses("give 'domain' or fields.mask", tz.simulation, { plugin = disc, grid = { 8, 8 }, domain = 1, fields = { mask = 1 } })
c.refuses("12 x 8 numbers, the grid needs 8 x 8", tz.simulation, { plugin = disc, grid = { 8, 8 }, domain = tz.array { shape = { 12, 8 } } })
c.refuses("goes with 'domain'", tz.stencil, { dims = 2, update = "lap(u)", edge = "mirror" })
c.refuses("unknown name 'miror'", tz.stencil, wrong { edge = "miror" })
c.refuses("unknown field 'v'", tz.stencil, wrong { edge = { v = 0 } })
c.refuses("the name of a field", tz.stencil, wrong { domain = ring })
c.refuses("is not known here: write inside", tz.stencil, wrong { edge = "noflux" })
c.refuses("must be a static field of ints", tz.stencil, wrong { domain = "u" })
c.refuses("does not go with a stencil of bits", tz.stencil, wrong { fields = { u = "bits" }, update = "u[1,0]" })
c.refuses("does not go with coefficients", tz.stencil, { domain = "mask", coefficients = { { 0, 1, 0 }, { 1, 2, 1 }, { 0, 1, 0 } } })
c.refuses("'absorbing' is for 'outside'", tz.stencil, wrong { edge = { u = { absorbing = 0.5, old = "u" } } })
c.refuses("need the same spacing along all axes", tz.stencil, wrong { edge = { u = { flux = 1 } }, spacing = { dx = 1, dy = 2 } })
c.refuses("it needs 3 to", tz.polygon, { { 0, 0 }, { 1, 1 } })
c.refuses("point 2 must be { x, y }", tz.polygon, { { 0, 0 }, { 1 }, { 2, 2 } })
c.refuses("'radius' must be above 0", tz.circle, { centre = { 1, 1 }, radius = 0 })
c.refuses("'centre' must be { x, y }", tz.circle, { radius = 3 })
c.refuses("needs 2 to", tz.union, ring)
c.refuses("shape 2 must be", tz.union, ring, 3)
if not tz.checking then
  local sim = tz.simulation { plugin = disc, grid = { 8, 8 }, domain = 0 }
  c.refuses("the domain has no cell", sim.run, sim, 1)
end
