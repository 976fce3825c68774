-- Patterns of reaction and diffusion: what grows from a few drops of V depends on two rates only, feed and kill.
--
--   trapeze run grayscott.lua [--set n=256] [--set steps=8000] [--set pattern=coral]
local tz = require "trapeze"

local n = math.tointeger(tz.args.n or 256)
local steps = math.tointeger(tz.args.steps or 8000)
local patterns = tz.args.pattern and { tz.args.pattern } or
  { "coral", "mitosis", "mazes", "solitons", "chaos", "holes", "worms" }

-- Drops of V in a dish of U, the same for every pattern.
local drops = {}
local seed = 1993
local function next_random()
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed / 2147483648
end
for k = 1, 24 do drops[k] = { next_random() * n, next_random() * n } end
local function inside(x, y)
  for _, d in ipairs(drops) do
    if (x - d[1]) ^ 2 + (y - d[2]) ^ 2 < 36 then return true end
  end
  return false
end

for _, pattern in ipairs(patterns) do
  local sim = tz.simulation {
    plugin = "grayscott9", grid = { n, n }, boundary = "periodic", name = pattern,
    params = { pattern = pattern },
    fields = {
      u = function(x, y) return inside(x, y) and 0.5 or 1 end,
      v = function(x, y) return inside(x, y) and 0.5 or 0 end,
    },
  }
  sim:every(steps // 4, tz.png("v", { map = "inferno", range = { 0, 0.4 }, zoom = 2, caption = pattern .. " after {step}" }))
  sim:run(steps)
  local rates = sim:params()
  tz.log(("%-9s F = %.4f, k = %.4f: v up to %.3f"):format(pattern, rates.feed, rates.kill, sim:max "v"))
  tz.expect(sim:min "u" > -1e-3 and sim:max "u" < 1.001 and sim:max "v" < 1, "concentrations are shares")
  sim:close()
end
