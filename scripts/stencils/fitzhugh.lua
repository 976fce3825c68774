-- FitzHugh and Nagumo: a spiral in an excitable medium. R. FitzHugh, Biophys. J. 1, 445 (1961), in the form of D. Barkley,
-- Physica D 49, 61 (1991), with a = 0.75, b = 0.06, epsilon = 1/50. A wave that is cut curls up at its end.
--
--   trapeze run fitzhugh.lua
local tz = require "trapeze"
local n, steps = tonumber(tz.args.n or 240), tonumber(tz.args.steps or 3000)

local s = tz.stencil { name = "fitzhugh", dims = 2, fields = { "u", "v" }, spacing = 0.4, dt = 0.01,
  params = { a = 0.75, b = 0.06, e = 0.02 }, rate = { u = "lap(u) + u*(1 - u)*(u - (v + b)/a)/e", v = "u - v" } }
local sim = tz.simulation { plugin = s, grid = { n, n }, precision = tz.args.precision, fields = {
  u = function(x, y) return x < n / 2 and 1 or 0 end, v = function(x, y) return y < n / 2 and 0.375 or 0 end } }
if tz.args.n then sim:every(steps, tz.npy "u") sim:every(steps, tz.npy "v") end
sim:run(steps)
sim:write(tz.png("u", { map = "magma", range = { 0, 1 }, zoom = 3, bar = true, caption = "FitzHugh-Nagumo, t = {time}" }))
