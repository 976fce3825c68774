-- Boundaries and values of each side; the first axis with a fixed side gives the value.
local tz = require "trapeze"
local move = tz.stencil { name = "move", dims = 2, fields = { "u" }, update = { u = "u[-1,0] + 10*u[1,0] + 100*u[0,-1] + 1000*u[0,1]" } }
local sim = tz.simulation { plugin = move, grid = { 1, 1 }, boundary = { x = { "fixed", "clamp" }, y = { "fixed", "fixed" } },
  boundary_values = { u = { x = { 2, 9 }, y = { 3, 4 } } }, fields = { u = 5 } }
sim:run(1)
tz.expect(sim:get("u", 0, 0) == 2 + 10 * 5 + 100 * 3 + 1000 * 4)
