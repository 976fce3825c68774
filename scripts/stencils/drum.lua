-- Waves on a drum with a hole: only the cells of its skin are computed, and the rim holds it at 0.
--
--   trapeze run drum.lua [--set edge=mirror]     water in a round basin: waves come back without a change of sign
local tz = require "trapeze"

local n, steps = tonumber(tz.args.n or 300), tonumber(tz.args.steps or 400)
local middle, cell = (n - 1) / 2, 300 / n -- in cells of a grid of 300
local drum = tz.stencil {
  name = "drum", doc = "Waves on a skin.", dims = 2, fields = { "u", "old" }, params = { c = 0.5 },
  domain = "skin", edge = { u = tz.args.edge or 0 },
  update = { u = "2*u - old + c^2*lap(u)", old = "u" },
}
local rim = tz.circle { centre = { middle, middle }, radius = 145 / cell }
local hole = tz.circle { centre = { middle + 60 / cell, middle + 20 / cell }, radius = 30 / cell }
local function stroke(x, y) return math.exp(-((x * cell - 90) ^ 2 + (y * cell - 120) ^ 2) / 60) end
local sim = tz.simulation { plugin = drum, grid = { n, n }, precision = tz.args.precision, domain = tz.difference(rim, hole),
  fields = { u = stroke, old = stroke } }
if tz.args.n then sim:every(steps, tz.npy "u") sim:every(steps, tz.npy "old") end
sim:every(50, tz.png("u", { map = "balance", range = { -0.12, 0.12 }, zoom = 2 }))
sim:run(steps)
