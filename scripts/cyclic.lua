-- Cyclic automata: from noise to spirals that eat each other.
--
--   trapeze run cyclic.lua [--set n=400] [--set steps=600]
local tz = require "trapeze"

local n = math.tointeger(tz.args.n or 400)
local steps = math.tointeger(tz.args.steps or 600)
for _, rule in ipairs { { states = 14, threshold = 1 }, { states = 3, threshold = 3 } } do
  local states = rule.states
  local sim = tz.simulation {
    plugin = "cyclic", grid = { n, n }, boundary = "periodic", params = rule,
    name = ("%d-states"):format(states),
    fields = { state = tz.random { seed = 3, range = { 0, states - 1 } } },
  }
  sim:every(steps // 6, tz.png("state", { map = "viridis", range = { 0, states - 1 }, zoom = 2,
    caption = ("%d states, threshold %d, step {step}"):format(states, rule.threshold) }))
  sim:run(steps)
  tz.expect(sim:min "state" >= 0 and sim:max "state" < states)
  sim:close()
end
