-- Stages of the method of Runge and Kutta, as passes with fields of their own; time in them, and formulas past sides.
local tz = require "trapeze"
tz.stencil { name = "rates2d", dims = 2, fields = { "u", "v" }, spacing = 0.5, dt = 0.02, method = "rk2",
  outside = { u = { x = { value = "sin(t) + y/ny" } } },
  rate = { u = "lap(u) + u - u^3 - v", v = "0.1*(u - 0.5*v) + dx(u)*cos(t)" } }
