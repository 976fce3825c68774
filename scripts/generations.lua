-- Generations: cells that die slowly. Brian's Brain and Star Wars from noise.
--
--   trapeze run generations.lua [--set n=240] [--set steps=600]
--
-- A pattern of Golly or LifeWiki brings its rule and states along: fields = { state = tz.read "pattern.rle" }.
local tz = require "trapeze"

local n = math.tointeger(tz.args.n or 240)
local steps = math.tointeger(tz.args.steps or 600)
local dark, bright = "#10131f", "#fff4c9"
local rules = {
  { name = "brain", rule = "/2/3", density = 0.12, colours = { dark, bright, "#3f6fb5" } },
  { name = "wars", rule = "345/2/4", density = 0.2, colours = { dark, bright, "#e0703a", "#6b2a4a" } },
}
for _, r in ipairs(rules) do
  -- Living cells are 1, all others dead at first.
  local noise = tz.array { shape = { n, n }, dtype = "uint8", fill = tz.random { seed = 4, density = r.density } }
  local sim = tz.simulation {
    plugin = "generations", grid = { n, n }, boundary = "periodic", name = r.name,
    params = { rule = r.rule }, fields = { state = noise },
  }
  local look = { colours = r.colours, range = { 0, #r.colours - 1 }, zoom = 2,
    caption = r.rule .. ", generation {step}" }
  sim:every(steps // 2, tz.png("state", look))
  sim:every(4, tz.movie("state", look))
  sim:run(steps)
  tz.expect(sim:max "state" < #r.colours)
  sim:write(tz.rle "state")
  sim:close()
end
