-- A front between two stable states straightens, and then moves at sqrt(1/2)*(1 - 2*a), whatever its start was. The states are
-- 0 and 1, a = 0.25: Nagumo, Arimoto and Yoshizawa, Proc. IRE 50, 2061 (1962). Runs end by how much has changed.
--
--   trapeze run front.lua
local tz = require "trapeze"
local n, steps = tonumber(tz.args.n or 240), tonumber(tz.args.steps)

local s = tz.stencil { name = "front", dims = 2, fields = { "u" }, spacing = 0.5, dt = 0.04, method = "rk4",
  params = { a = 0.25 }, rate = "lap(u) + u*(1 - u)*(u - a)" }
local sim = tz.simulation { plugin = s, grid = { n, n // 2 }, precision = tz.args.precision, fields = {
  u = function(x, y) return x < n / 5 * (1 + 0.8 * math.cos(8 * math.pi * y / n)) and 1 or 0 end } }
if steps then sim:every(steps, tz.npy "u") return sim:run(steps) end
sim:run { until_true = function() return sim:mean() > 0.25 end, check_every = 10 }
sim:write(tz.png("u", { map = "viridis", range = { 0, 1 }, zoom = 3, contours = { 0.5 }, bar = true, caption = "A front, t = {time}" }))
sim:run { until_true = function() return sim:mean() > 0.6 end, check_every = 10 }
local mean, time = sim:mean(), sim:time()
sim:run { until_true = function() return sim:mean() > 0.8 end, check_every = 10 }
print(("the front moves at %.4f, theory %.4f"):format((sim:mean() - mean) * n * 0.5 / (sim:time() - time), 0.5 ^ 1.5))
