-- Swift and Hohenberg: rolls of convection, du/dt = r*u - (1 + lap)^2 u - u^3. Phys. Rev. A 15, 319 (1977); r = 0.3 is within
-- what Cross and Hohenberg show, Rev. Mod. Phys. 65, 851 (1993).
--
--   trapeze run swift.lua
local tz = require "trapeze"
local n, steps = tonumber(tz.args.n or 256), tonumber(tz.args.steps or 16000)

local s = tz.stencil { name = "swift", dims = 2, fields = { "u" }, spacing = 0.8, dt = 0.01, params = { r = 0.3 },
  let = { w = "u + lap(u)" }, rate = "r*u - (w + lap(w)) - u^3", boundary = "periodic" }
local sim = tz.simulation { plugin = s, grid = { n, n }, precision = tz.args.precision,
  fields = { u = tz.random { seed = 3, range = { -0.1, 0.1 } } } }
if tz.args.n then sim:every(steps, tz.npy "u") end
sim:run(steps)
sim:write(tz.png("u", { map = "balance", range = { -0.7, 0.7 }, zoom = 2, bar = true, caption = "Swift-Hohenberg, t = {time}" }))
