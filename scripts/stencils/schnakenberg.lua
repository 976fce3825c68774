-- Schnakenberg's reaction: spots. J. Theor. Biol. 81, 389 (1979), with a = 0.1, b = 0.9 as in J. D. Murray, Mathematical
-- Biology II (2003), chapter 2, and an inhibitor that spreads 40 times as fast.
--
--   trapeze run schnakenberg.lua
local tz = require "trapeze"
local n, steps = tonumber(tz.args.n or 200), tonumber(tz.args.steps or 30000)

local s = tz.stencil { name = "schnakenberg", dims = 2, fields = { "u", "v" }, spacing = 0.5, dt = 0.0015,
  params = { a = 0.1, b = 0.9, d = 40 }, let = { r = "u^2*v" },
  rate = { u = "lap(u) + a - u + r", v = "d*lap(v) + b - r" } }
local sim = tz.simulation { plugin = s, grid = { n, n }, precision = tz.args.precision,
  fields = { u = tz.random { seed = 2, range = { 0.9, 1.1 } }, v = 0.9 } }
if tz.args.n then sim:every(steps, tz.npy "u") sim:every(steps, tz.npy "v") end
sim:run(steps)
sim:write(tz.png("u", { map = "viridis", range = "auto", zoom = 3, bar = true, caption = "Schnakenberg, t = {time}" }))
