-- Temporaries: what one pass writes for later passes of the same iteration. They have the bits of fields that are stored,
-- and past sides those of the formula there.
local tz = require "trapeze"
local c = require "checks"

-- A definition with temporaries leaves the bits of another one, every way.
local function same(name, definition, other, boundaries, options)
  definition.name, other.name = name, name .. "_other"
  definition.dims, other.dims = #options.grid, #options.grid
  local stencil = tz.stencil(definition)
  local all = { { plugin = tz.stencil(other), backend = "reference" }, table.unpack(c.ways) }
  if not options.fields then
    options.fields = {}
    for i, field in ipairs(stencil.fields) do options.fields[field] = c.noise(i, 0.9) end
  end
  for _, boundary in ipairs(boundaries) do
    options.boundary = boundary
    c.same_bits(stencil, options, 7, all)
  end
  return stencil
end

-- The same passes, with fields in place of the temporaries.
local function stored(definition)
  local copy = { fields = {} }
  for key, value in pairs(definition) do
    if key ~= "fields" then copy[key] = value end
  end
  for name, field in pairs(definition.fields) do
    copy.fields[name] = type(field) == "table" and field.role == "temporary" and { type = field.type } or field
  end
  return copy
end
local temporary = { role = "temporary" }

-- Cahn-Hilliard: the chemical potential. In 2-D it is computed once for all cells that need it.
local hilliard = { fields = { u = "real", mu = temporary }, params = { dt = 0.01, gamma = 0.5 },
  passes = { { mu = "u^3 - u - gamma*lap(u)" }, { u = "u + dt*lap(mu)" } } }
local function nested() return { fields = { "u" }, params = hilliard.params, update = "u + dt*lap(u^3 - u - gamma*lap(u))" } end
local alloy = same("hilliard", hilliard, stored(hilliard), { "periodic" }, { grid = { 45, 40 } })
tz.expect(#alloy.fields == 1 and alloy.fields[1] == "u")
tz.expect(alloy:text():find("/* Temporaries: mu: ", 1, true) and alloy:text():find("Shared: update_2", 1, true), alloy:text())
tz.expect(select(2, alloy:text():gsub("\nTZ_CELL%(", "")) == 1, "one pass is left")
same("hilliard_sides", hilliard, nested(), { "clamp", "fixed", "mirror", "periodic" }, { grid = { 45, 40 } })
same("hilliard3d", hilliard, stored(hilliard), { "periodic" }, { grid = { 24, 20, 18 }, precision = "double" })
same("hilliard3d_sides", hilliard, nested(), { "clamp", "fixed", "mirror" }, { grid = { 24, 20, 18 } })
c.refuses("unknown key 'mu'", tz.simulation, { plugin = alloy, grid = { 8, 8 }, fields = { mu = 1 } })

-- MacCormack's scheme for Burgers' equation: the predictor.
local maccormack = { fields = { u = "real", p = temporary }, params = { c = 0.3 },
  passes = { { name = "predict", update = { p = "u - c*(u[1]^2/2 - u^2/2)" } },
    { name = "correct", update = { u = "(u + p - c*(p^2/2 - p[-1]^2/2))/2" } } } }
same("maccormack", maccormack, stored(maccormack), { "periodic" }, { grid = { 20000 }, precision = "double" })
same("maccormack_sides", maccormack, { fields = { "u" }, params = maccormack.params,
  update = "(u + (u - c*(u[1]^2/2 - u^2/2)) - c*((u - c*(u[1]^2/2 - u^2/2))^2/2 - (u[-1] - c*(u^2/2 - u[-1]^2/2))^2/2))/2" },
  { "clamp", "fixed", "mirror" }, { grid = { 20000 } })

-- Strain rates, and a viscosity that is made of them: temporaries of temporaries, and one that is written twice.
local flow = { fields = { u = "real", v = "real", exx = temporary, eyy = temporary, exy = temporary, eta = temporary,
  lift = temporary }, params = { dt = 0.02 },
  passes = {
    { exx = "u[1,0] - u", eyy = "v[0,1] - v", exy = "0.5*((u[0,1] - u) + (v[1,0] - v))", lift = "x*u/40" },
    { eta = "1/sqrt(0.1 + exx^2 + eyy^2 + 2*exy^2)", lift = "lift[0,1] - lift[0,-1]" },
    { u = "u + dt*((eta*exx - eta[-1,0]*exx[-1,0]) + (eta*exy - eta[0,-1]*exy[0,-1]))",
      v = "v + dt*((eta*eyy - eta[0,-1]*eyy[0,-1]) + (eta*exy - eta[-1,0]*exy[-1,0])) + dt*lift" } } }
same("strain", flow, stored(flow), { "periodic" }, { grid = { 45, 40 } })
flow.fused = true
same("strain_fused", flow, stored(flow), { "periodic" }, { grid = { 45, 40 } })

-- Runge and Kutta of order 4, with a pass that writes a field and a temporary, whole numbers, and bits.
local runge = { fields = { u = "real", s = "real", k1 = temporary, k2 = temporary, k3 = temporary, k4 = temporary },
  params = { dt = 0.1 },
  passes = { { k1 = "lap(u) - u^3", s = "s + u" }, { k2 = "lap(u + dt/2*k1) - (u + dt/2*k1)^3" },
    { k3 = "lap(u + dt/2*k2) - (u + dt/2*k2)^3" }, { k4 = "lap(u + dt*k3) - (u + dt*k3)^3" },
    { u = "u + dt/6*(k1 + 2*k2 + 2*k3 + k4)" } } }
same("runge", runge, stored(runge), { "periodic" }, { grid = { 40, 36 } })
local digits = { fields = { n = "int", t = { role = "temporary", type = "int" } },
  passes = { { t = "n*77777 + 3*x" }, { n = "(t[0,1] ~ t) % 1000 + n//2" } } }
same("digits", digits, stored(digits), { "periodic" }, { grid = { 45, 40 }, fields = { n = c.noise(1, 9000) } })
local sparks = { fields = { b = "bits", t = { role = "temporary", type = "bits" } },
  passes = { { t = "b[-1,0] != b[0,1]" }, { b = "sum(i, -1, 1, t[i,1]) == 1 or t and b" } } }
same("sparks", sparks, stored(sparks), { "periodic" },
  { grid = { 70, 40 }, fields = { b = function(x, y) return (x * x + 3 * y) % 7 < 3 and 1 or 0 end } })

-- What is refused.
local function refused(pattern, fields, passes)
  c.refuses(pattern, tz.stencil, { dims = 1, fields = fields, passes = passes })
end
local fields = { u = "real", t = temporary }
refused("'t' is temporary: it has values only in passes after the one that writes it", fields, { { t = "u", u = "t" } })
refused("'t' is temporary: it has values only", fields, { { u = "u + t" }, { t = "u" } })
refused("'t' is temporary, and 'u', which it is made of, has changed since: make 't' a state field", fields,
  { { t = "u[1]" }, { u = "2*u" }, { u = "u + t" } })
refused("this reads 9 cells away along x; at most 8 are possible: make it a state field", fields,
  { { t = "u[8]" }, { u = "u + t[1]" } })
refused("temporary 't' has no update", fields, { { u = "u" } })
refused("all that the passes write is temporary", { u = { role = "static" }, t = temporary }, { { t = "u" } })
refused("'t' is temporary: a pass gives it its values, so it has no 'required', 'initial'",
  { u = "real", t = { role = "temporary", initial = 1 } }, { { t = "u" }, { u = "t" } })
c.refuses("'t' is temporary: a formula of one pass", tz.stencil, { fields = fields, coefficients = { 1, 2, 1 } })
c.refuses("'t' is temporary: it has values only", tz.stencil,
  { dims = 1, fields = fields, passes = { { t = "u" }, { u = "t" } }, outputs = { seen = "t" } })
refused("unknown role 'temporry'; did you mean 'temporary'?", { u = "real", t = { role = "temporry" } }, { { u = "u" } })
