-- Brusselator: hexagons of a chemical reaction. Prigogine and Lefever, J. Chem. Phys. 48, 1695 (1968); a = 3, b = 9 and
-- diffusion 5 and 12 as in Peña and Pérez-García, Phys. Rev. E 64, 056213 (2001).
--
--   trapeze run brusselator.lua
local tz = require "trapeze"
local n, steps = tonumber(tz.args.n or 200), tonumber(tz.args.steps or 4000)

local s = tz.stencil { name = "brusselator", dims = 2, fields = { "u", "v" }, spacing = 0.8, dt = 0.008, method = "rk2",
  params = { a = 3, b = 9, du = 5, dv = 12 }, boundary = "periodic",
  rate = { u = "du*lap(u) + a - (b + 1)*u + u^2*v", v = "dv*lap(v) + b*u - u^2*v" } }
local sim = tz.simulation { plugin = s, grid = { n, n }, precision = tz.args.precision,
  fields = { u = tz.random { seed = 1, range = { 2.9, 3.1 } }, v = 3 } }
if tz.args.n then sim:every(steps, tz.npy "u") sim:every(steps, tz.npy "v") end
sim:run(steps)
sim:write(tz.png("u", { map = "inferno", range = "auto", zoom = 3, bar = true, caption = "Brusselator, t = {time}" }))
