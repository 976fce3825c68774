-- Values that cells share along x and z: at faces of harmonic means, of a wide Laplacian of a quotient in other rows, and
-- one made of another.
local tz = require "trapeze"
local function flux(a, b) return ("(k[%s]*k[%s]/(k[%s] + k[%s])*(u[%s] - u[%s]))"):format(a, b, a, b, b, a) end
local faces = {}
for _, step in ipairs { { "0,0,0", "1,0,0", "-1,0,0" }, { "0,0,0", "0,1,0", "0,-1,0" }, { "0,0,0", "0,0,1", "0,0,-1" } } do
  faces[#faces + 1] = ("(%s - %s)"):format(flux(step[1], step[2]), flux(step[3], step[1]))
end
local function slope(x, y, z)
  local s = ("[%d,%d,%d]"):format(x, y, z)
  return ("(v%s*u%s/(2 + u%s^2))"):format(s, s, s)
end
tz.stencil { name = "shared3d", dims = 3, params = { dt = 0.05 },
  fields = { u = "real", v = "real", k = { role = "static", initial = 1 } },
  passes = {
    { u = "u + dt*(" .. table.concat(faces, " + ") .. ")",
      v = ("v - dt*(sqrt(1 + %s^2) - sqrt(1 + %s^2)) + dt*(%s - %s)"):format(slope(1, 1, -1), slope(0, 1, 0), slope(-1, 0, 1),
        slope(0, 0, -1)) },
    { u = "0.9*u + 0.0005*lap(lap(v*u/(2 + u*u)))" },
  } }
