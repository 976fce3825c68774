-- A drop on water of two depths: waves are slower over the shallow lens, which brings them to a focus. The stencil is
-- written here, as formulas; a C compiler makes it as fast as a plugin.
--
--   trapeze run wave.lua [--set steps=900]
local tz = require "trapeze"

local steps = math.tointeger(tz.args.steps or 440)
local nx, ny = 360, 240

-- u is the height, old its value one iteration before, v the square of the waves' speed.
local wave = tz.stencil {
  name = "water", doc = "Waves on water whose depth varies.",
  dims = 2, fields = { u = "real", old = "real", v = { role = "static", initial = 40 } }, params = { dt = 0.1 },
  update = {
    u = "2*u - old + v*dt^2*(u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u)",
    old = "u",
  },
}

local function drop(x, y)
  return 2 * math.exp(-((x - 60) ^ 2 + (y - ny / 2) ^ 2) / 18)
end
local water = tz.simulation {
  plugin = wave, grid = { nx, ny }, boundary = "mirror",
  fields = { u = drop, old = drop, v = function(x, y)
    local left, right = (x - 90) ^ 2 + (y - ny / 2) ^ 2, (x - 250) ^ 2 + (y - ny / 2) ^ 2
    return left < 105 ^ 2 and right < 105 ^ 2 and 12 or 40
  end },
}
water:every(math.max(1, steps // 4), tz.png("u", { map = "balance", range = { -0.25, 0.25 }, zoom = 2, bar = true,
  caption = "A drop and a shallow lens, iteration {step}" }))
water:run(steps)

-- With a step of half the largest stable one, the waves stay as high as the drop at most.
tz.expect(water:max "u" < 2 and water:min "u" > -2, "the waves grow")
