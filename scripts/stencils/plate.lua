-- A plate that moves to and fro in water takes a thin layer along (Stokes' second problem): the value past a side varies with
-- time. Far away the water rests.
--
--   trapeze run plate.lua
local tz = require "trapeze"

local viscosity, omega, dx = 1e-6, 2 * math.pi, 2e-5 -- m2/s, 1/s, m
local water = tz.stencil {
  name = "plate", doc = "Water above a plate that swings.", dims = 1, fields = { u = { unit = "m/s" } }, spacing = dx,
  params = { dt = { value = 1e-4, role = "time_step" }, nu = viscosity, omega = omega },
  outside = { u = { x = { { value = "cos(omega*t)" }, { value = 0 } } } },
  update = "u + dt*nu*lap(u)",
}
local n = 400
local sim = tz.simulation { plugin = water, grid = { n }, precision = "double" }
local speeds, times = {}, 150 -- the last three seconds, downwards
sim:run { until_time = 3 }
for k = 0, times - 1 do
  sim:run { until_time = 3 + 3 * (k + 1) / times }
  speeds[k] = {}
  for i = 0, n // 2 - 1 do speeds[k][i] = sim:get("u", i) end
end
if not tz.checking then
  local decay, worst = math.sqrt(omega / (2 * viscosity)), 0
  for i = 0, n - 1 do
    local x = (i + 0.5) * dx -- the plate is at the face of the first cell
    worst = math.max(worst, math.abs(sim:get("u", i) - math.exp(-decay * x) * math.cos(omega * 6 - decay * x)))
  end
  print(("after 6 s the error is at most %.1e of the plate's speed; the layer is %.2f mm thick"):format(worst, 1000 / decay))
  tz.expect(worst < 2e-3)
end
tz.picture { data = tz.array { shape = { n // 2, times }, dtype = "float32", fill = function(i, k) return speeds[k][i] end },
  file = "layer.png", map = "balance", range = { -1, 1 }, zoom = 3, bar = true, caption = "Water above a plate; time downwards" }
