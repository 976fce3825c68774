-- Cahn and Hilliard: two liquids separate, and the amount of each stays. J. Chem. Phys. 28, 258 (1958); the chemical potential
-- of `let` is u^3 - u - lap(u), in units of the width of an interface.
--
--   trapeze run cahn.lua
local tz = require "trapeze"
local n, steps = tonumber(tz.args.n or 256), tonumber(tz.args.steps or 16000)

local s = tz.stencil { name = "cahn", dims = 2, fields = { "u" }, spacing = 1, dt = 0.02, boundary = "periodic",
  let = { mu = "u^3 - u - lap(u)" }, rate = "lap(mu)" }
local sim = tz.simulation { plugin = s, grid = { n, n }, precision = tz.args.precision,
  fields = { u = tz.random { seed = 6, range = { -0.1, 0.1 } } } }
if tz.args.n then sim:every(steps, tz.npy "u") end
sim:run(steps)
sim:write(tz.png("u", { map = "cividis", range = { -1, 1 }, zoom = 2, bar = true, caption = "Cahn-Hilliard, t = {time}" }))
