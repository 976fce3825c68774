-- Heat spreads in a copper plate, 20 cm wide, from two hot bars and to a cold one.
--
--   TRAPEZE_PLUGIN_PATH=build trapeze run heat.lua [--set seconds=2]
local tz = require "trapeze"

local seconds = tonumber(tz.args.seconds or 1)
local plate = tz.simulation {
  plugin = "heat", grid = { 200, 150 }, boundary = "clamp",
  params = { cell_m = 0.001 },
  fields = { temperature = function(x, y)
    if y > 30 and y < 120 and x > 50 and x < 62 then return 373.15 end
    if y > 20 and y < 90 and x > 125 and x < 133 then return 373.15 end
    if y > 105 and y < 115 and x > 90 and x < 180 then return 273.15 end
    return 293.15
  end },
}

local mean = plate:mean "temperature"
plate:every(seconds / 5 .. " s", tz.png("temperature", { map = "inferno", range = { 273, 373 }, zoom = 4,
  bar = true, caption = "A copper plate after {time}" }))
plate:every(20, tz.table { "step", "time", "min(temperature)", "max(temperature)" })
plate:run { until_time = seconds }

-- No heat leaves through the edges.
tz.expect(math.abs(plate:mean "temperature" - mean) < 0.01, "heat got lost")
tz.log(("after %.1f s: %.2f to %.2f K"):format(plate:time(), plate:min "temperature", plate:max "temperature"))
