-- Writes two checkpoints, then waits for a file "go" in the folder above.
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { tz.args.size or 40, 40 }, threads = 1 }
sim:every(50, tz.npy())
sim:every(10, tz.table { "step", "max", "hash" })
sim:every(100, tz.checkpoint())
sim:run(250)
tz.log("two")
repeat until pcall(tz.read, tz.args.go, { shape = { 1 } })
