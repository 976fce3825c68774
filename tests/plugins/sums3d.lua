-- Sums of a plane, of two fields, that several planes need; beside what only the cell itself reads, and a function that its
-- neighbours along z need, too.
local tz = require "trapeze"
tz.stencil { name = "sums3d", dims = 3, fields = { u = { initial = 1 }, v = "real" },
  update = {
    u = "u + 0.1*((u[1,0,-1] + u[-1,0,-1]) + (u[1,0,1] + u[-1,0,1]) - 4*u) - u*v*v",
    v = "v + 0.05*((v[0,1,-1] + v[0,-1,-1]) + (v[0,1,1] + v[0,-1,1]) + (v[1,1,0] - v[-1,0,0]) - 4*v) + "
      .. "0.1*((exp(-v[0,0,-1]) - exp(-v)) - (exp(-v) - exp(-v[0,0,1])))" } }
