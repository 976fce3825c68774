-- A domain: what is read across its edge is the cell itself, the mirrored cell, or a formula.
local tz = require "trapeze"
tz.stencil { name = "domain2d", dims = 2, fields = { "u", "v", k = { role = "static" } }, params = { dt = 0.1 }, domain = "mask",
  edge = { u = "mirror", v = "0.5*inside + 0.1*x/nx" },
  update = { u = "u + dt*div(k, u) - 0.1*dt*v", v = "v + dt*lap(u*v)" } }
