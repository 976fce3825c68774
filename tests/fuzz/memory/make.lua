-- Files for inputs.lua, written by our own writers.
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 8, 6 }, fields = { temperature = tz.random { seed = 1, range = { 300, 330 } } } }
sim:write(tz.png "temperature")
sim:array("temperature"):save "a.npy"
