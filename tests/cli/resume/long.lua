local tz = require "trapeze"
local sim = tz.simulation { plugin = "life", grid = { 640, 480 }, fields = { alive = tz.random { seed = 1 } } }
sim:run(100000000)
