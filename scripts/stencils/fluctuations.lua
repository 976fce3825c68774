-- The stochastic heat equation with decay: white noise in space and time, smoothed by diffusion over the length
-- sqrt(d/k) = 18. The noise of a step and cell is sqrt(1/(dt*dx^2)) times a normal number (J. B. Walsh, 1986).
--
--   trapeze run fluctuations.lua
local tz = require "trapeze"
local n, steps = tonumber(tz.args.n or 256), tonumber(tz.args.steps or 6000)

local s = tz.stencil { name = "fluctuations", dims = 2, fields = { "u" }, spacing = 1, dt = 0.1, boundary = "periodic",
  params = { d = 1.6, k = 0.005 }, rate = "d*lap(u) - k*u + normal(1)/(sqrt(dt)*dx)" }
local sim = tz.simulation { plugin = s, grid = { n, n }, precision = tz.args.precision, params = { seed = 5 } }
if tz.args.n then sim:every(steps, tz.npy "u") end
sim:run(steps)
sim:write(tz.png("u", { map = "balance", range = { -2.5, 2.5 }, zoom = 2, bar = true, caption = "Stochastic heat, t = {time}" }))
