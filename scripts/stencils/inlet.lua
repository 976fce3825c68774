-- Dye in a channel: it enters at the left with a flow whose speed is a parabola, pulses with time, and leaves at the right. The
-- sides of the channel let nothing through. The flow is Poiseuille's, so the dye spreads along it as G. I. Taylor found,
-- Proc. R. Soc. A 219, 186 (1953).
--
--   trapeze run inlet.lua
local tz = require "trapeze"
local nx, ny = 400, 80

local s = tz.stencil { name = "inlet", dims = 2, fields = { "c" }, spacing = 0.0125, dt = 1e-3, method = "rk2",
  params = { k = 8e-3, speed = 1.5, period = 0.8 },
  let = { u = "4*speed*(y + 0.5)/ny*(1 - (y + 0.5)/ny)", pulse = "sin(2*pi*t/period) > 0 ? 1.0 : 0.0" },
  outside = { c = { x = { { value = "pulse" }, { flux = 0 } }, y = { flux = 0 } } },
  rate = "k*lap(c) - u*dx(c)" }
local sim = tz.simulation { plugin = s, grid = { nx, ny } }
sim:run { until_time = 2.6 }
sim:write(tz.png("c", { map = "magma", range = { 0, 1 }, zoom = 2, bar = true, caption = "Dye in a channel, t = {time}" }))
