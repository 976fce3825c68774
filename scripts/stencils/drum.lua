-- Waves on a drum with a hole: only the cells of its skin are computed, and the rim holds it at 0.
--
--   trapeze run drum.lua [--set edge=mirror]     water in a round basin: waves come back without a change of sign
local tz = require "trapeze"

local n, middle = 300, 149.5
local drum = tz.stencil {
  name = "drum", doc = "Waves on a skin.", dims = 2, fields = { "u", "old" }, params = { c = 0.5 },
  domain = "skin", edge = { u = tz.args.edge or 0 },
  update = { u = "2*u - old + c^2*lap(u)", old = "u" },
}
local rim = tz.circle { centre = { middle, middle }, radius = 145 }
local hole = tz.circle { centre = { middle + 60, middle + 20 }, radius = 30 }
local function stroke(x, y) return math.exp(-((x - 90) ^ 2 + (y - 120) ^ 2) / 60) end
local sim = tz.simulation { plugin = drum, grid = { n, n }, domain = tz.difference(rim, hole), fields = { u = stroke, old = stroke } }
sim:every(50, tz.png("u", { map = "balance", range = { -0.12, 0.12 }, zoom = 2 }))
sim:run(400)
