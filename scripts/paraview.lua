-- A wave through two kinds of rock, as a series that ParaView plays: open runs/paraview-NNN/wave.pvd, also while the run
-- goes on (with xdmf and hdf5: wave.xdmf). The grid is in metres, the times are in seconds: wave3d8 has both. Other
-- stencils take the width of a cell from the output: tz.vti { "u", spacing = 0.001 }.
--
--   trapeze run paraview.lua [--set n=64] [--set time=0.12] [--set frames=24] [--set format=vti|xdmf|hdf5]
local tz = require "trapeze"

local n = math.tointeger(tz.args.n or 64)
local time = tonumber(tz.args.time or 0.12)
local frames = math.tointeger(tz.args.frames or 24)
local outputs = { vti = tz.vti, xdmf = tz.xdmf, hdf5 = tz.hdf5 }
local output = assert(outputs[tz.args.format or "vti"], "format must be vti, xdmf or hdf5")

local sim = tz.simulation {
  plugin = "wave3d8", grid = { n, n, n }, boundary = "fixed",
  params = { spacing_m = 8, frequency_hz = 30, source_z = n // 4 },
  fields = { speed = function(x, y, z) return z < n / 2 + 0.2 * (x - n / 2) and 2000 or 3500 end },
}
sim:every(time / frames .. " s", output { "u", "speed", name = "wave" })
sim:run { until_time = time }
tz.expect(sim:max "u" > 0, "the source has sounded")
