local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 40, 40 } }
sim:every(20, tz.checkpoint())
sim:run(50)
local name = os.getenv("HOME") .. "/something"
io.open(name)
sim:run(50)
