-- Values that neighbours share: at faces in both directions, of a wide Laplacian and of diagonals, one made of another,
-- and one of a static field, in two passes.
local tz = require "trapeze"
local function edge(there, here) return ("exp(-((%s - %s)/0.7)^2)*(%s - %s)"):format(there, here, there, here) end
local function harmonic(a, b) return ("(k[%s]*k[%s]/(k[%s] + k[%s])*(u[%s] - u[%s]))"):format(a, b, a, b, b, a) end
local function at(x, y)
  local s = ("[%d,%d]"):format(x, y)
  return ("(u%s*v%s/(2 + u%s^2))"):format(s, s, s)
end
local function flux(x, y, dx, dy)
  return ("(%s + %s - max(%s, %s)*(v[%d,%d] - v[%d,%d]))"):format(at(x, y), at(x + dx, y + dy), at(x, y), at(x + dx, y + dy),
    x + dx, y + dy, x, y)
end
tz.stencil { name = "shared2d", dims = 2, params = { dt = 0.05 },
  fields = { u = "real", v = "real", k = { role = "static", initial = 1 } },
  passes = {
    { u = ("u + dt*(%s + %s + %s - %s)"):format(edge("u[-1,0]", "u"), edge("u[1,0]", "u"), harmonic("0,0", "0,1"), harmonic("0,-1", "0,0")),
      v = ("v - dt*((%s - %s) + (%s - %s)) + dt*(%s - %s)"):format(flux(0, 0, 1, 0), flux(-1, 0, 1, 0), flux(0, 0, 0, 1), flux(0, -1, 0, 1),
        at(1, -1), at(-1, 1)) },
    { u = "0.9*u + 0.0005*lap(lap(v*u/(2 + u*u), 4)) + dt*sqrt(abs(v))" },
  } }
