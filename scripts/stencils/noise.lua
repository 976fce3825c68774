-- White noise: an alloy in two phases, whose domains noise begins and then roughens (Allen and Cahn). The noise of a step
-- grows with the root of the step, and in two dimensions shrinks with the width of a cell, so that another grid or another
-- step has the same picture, but for chance.
--
--   trapeze run noise.lua [--set seed=2] [--set noise=0.3]
local tz = require "trapeze"

local n = math.tointeger(tz.args.n or 256)
local alloy = tz.stencil {
  name = "alloy", doc = "Two phases with thermal noise.", dims = 2, fields = { "u" }, spacing = 0.5,
  params = { dt = { value = 0.02, role = "time_step" }, noise = tonumber(tz.args.noise or 0.3) },
  update = "u + dt*(lap(u) + u - u^3) + noise*sqrt(dt)/dx*normal(1)",
}
local sim = tz.simulation { plugin = alloy, grid = { n, n }, boundary = "periodic",
  params = { seed = math.tointeger(tz.args.seed or 1) } }
local frame = tz.png("u", { map = "balance", range = { -1.5, 1.5 }, zoom = 3, bar = true,
  caption = "Two phases with noise, {time}" })
for _ = 1, 2 do
  sim:run(1500)
  sim:write(frame)
end
if not tz.checking then
  tz.expect(math.abs(sim:mean "u") < 0.5 and sim:max "u" > 1 and sim:min "u" < -1, "both phases are there")
end

-- A number that returns to 0, in each cell by itself: its variance is known, noise^2/(2 - dt) for such steps.
local returns = tz.stencil { name = "returns", dims = 2, fields = { "u" }, params = { dt = 0.1, noise = 0.5 },
  update = "u - dt*u + noise*sqrt(dt)*normal(1)", outputs = { square = "u^2" } }
local cells = tz.simulation { plugin = returns, grid = { n, n } }
cells:run(200)
if not tz.checking then
  local variance, wanted = cells:mean "square", 0.5 ^ 2 / (2 - 0.1)
  print(("variance %.4f, of theory %.4f"):format(variance, wanted))
  tz.expect(math.abs(variance / wanted - 1) < 0.03)
end
