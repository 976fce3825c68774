-- .npy files that stay on the disk: fields take them piece by piece.
local tz = require "trapeze"
local c = require "checks"

local nx, ny = 2100, 4096
local turned, bad = tz.read(tz.args.data .. "/turned.npy"), tz.read(tz.args.data .. "/bad.npy")
tz.expect(turned.shape[1] == nx and turned.shape[2] == ny and #turned == nx * ny and turned.dtype == "float64")
tz.expect(tostring(bad):find "2100 x 4096, float64")

local function grid(x, y, values)
    return tz.simulation { plugin = "star2d1r", grid = { x, y }, boundary = "fixed", precision = "single", threads = 1, height = 1,
                           fields = values and { u = values } }
end
local sim <close> = grid(nx, ny, turned)
tz.expect(sim:get("u", 2, 1) == 1.5 and sim:sum("u") == 1.5 and sim:population("u") == 1)

-- A refused file changes nothing, also where most pieces are fine.
c.refuses("the value at cell (2099, 4095, 0) is nan", sim.set, sim, "u", bad)
tz.expect(sim:get("u", 2, 1) == 1.5 and sim:population("u") == 1)
c.refuses("the box needs 2100 x 4095", sim.set, sim, "u", turned, { y = { 1, 4096 } })

-- At a place, and where it does not fit.
local place = tz.read(tz.args.data .. "/turned.npy", { at = { 1, 2 } })
c.refuses("is not inside the grid", sim.set, sim, "u", place)
local wide <close> = grid(nx + 1, ny + 2, place)
tz.expect(wide:get("u", 3, 3) == 1.5 and wide:sum("u") == 1.5)

-- Elements of a file are read, or mapped; then it is an array like others.
tz.expect(bad:get(2, 1) == 1.5 and bad:get(2099, 4095) ~= bad:get(2099, 4095) and bad:max() == 1.5)
c.refuses("read-only", bad.set, bad, 0, 0, 1)
tz.expect(turned:get(2, 1) == 1.5 and turned:sum() == 1.5)
turned:set(7, 8, 2.5)
sim:set("u", turned)
tz.expect(sim:get("u", 7, 8) == 2.5 and sim:sum("u") == 4)
bad:close()
c.refuses("is closed", sim.set, sim, "u", bad)
