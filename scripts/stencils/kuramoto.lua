-- Kuramoto and Sivashinsky: chaos of cells, as in a flame. Kuramoto and Tsuzuki, Prog. Theor. Phys. 55, 356 (1976);
-- G. I. Sivashinsky, Acta Astronaut. 4, 1177 (1977). It has no parameters. h falls on; the picture has its curvature.
--
--   trapeze run kuramoto.lua
local tz = require "trapeze"
local n, steps = tonumber(tz.args.n or 200), tonumber(tz.args.steps or 3000)

local s = tz.stencil { name = "kuramoto", dims = 2, fields = { "h" }, spacing = 0.8, dt = 0.01, method = "rk4",
  rate = "-lap(h) - lap(lap(h)) - 0.5*(dx(h)^2 + dy(h)^2)", boundary = "periodic", outputs = { bend = "lap(h)" } }
local sim = tz.simulation { plugin = s, grid = { n, n }, precision = tz.args.precision,
  fields = { h = tz.random { seed = 4, range = { -0.5, 0.5 } } } }
if tz.args.n then sim:every(steps, tz.npy "h") end
sim:run(steps)
sim:write(tz.png("bend", { map = "inferno", range = { -4, 4 }, zoom = 3, bar = true, caption = "Kuramoto-Sivashinsky, t = {time}" }))
