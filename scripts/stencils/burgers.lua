-- Burgers' equation of a velocity (u, v): smooth swirls steepen to fronts. J. M. Burgers, Adv. Appl. Mech. 1, 171 (1948). The
-- time step is the largest that the velocity and the viscosity allow, chosen as it goes.
--
--   trapeze run burgers.lua
local tz = require "trapeze"
local n, steps, pi = tonumber(tz.args.n or 256), tonumber(tz.args.steps), math.pi

local s = tz.stencil { name = "burgers", dims = 2, fields = { "u", "v" }, spacing = "h", dt = 1e-3, method = "rk2",
  params = { nu = 0.004, h = 1 / n }, boundary = "periodic",
  rate = { u = "nu*lap(u) - u*dx(u) - v*dy(u)", v = "nu*lap(v) - u*dx(v) - v*dy(v)" },
  outputs = { largest_dt = "min(0.4*h/(abs(u) + abs(v) + 1e-9), 0.2*h^2/nu)" } }
local sim = tz.simulation { plugin = s, grid = { n, n }, precision = tz.args.precision, fields = {
  u = function(x, y) return math.sin(2 * pi * (x + y) / n) + 0.5 * math.cos(4 * pi * y / n) end,
  v = function(x, y) return math.cos(2 * pi * x / n) * math.sin(4 * pi * y / n) end } }
if tz.args.n then sim:every(steps, tz.npy "u") sim:every(steps, tz.npy "v") end
sim:run { until_time = not steps and 0.5 or nil, steps = steps, dt = "adaptive" }
sim:write(tz.png("u", { map = "balance", range = { -1.5, 1.5 }, zoom = 2, bar = true, caption = "Burgers, t = {time}" }))
