-- Predictions from a scenario: tables that can be read, refusals, a plot.
local tz = require "trapeze"

local function refuses(text, f, ...)
  local ok, message = pcall(f, ...)
  tz.expect(not ok, "not refused: " .. text)
  tz.expect(tostring(message):find(text, 1, true), "message: " .. tostring(message))
end

-- A device that need not be here; other numbers in its record.
local function rows(options)
  local request = { plugin = "hotspot", grid = { 512, 512 }, device = "./cpu.txt" }
  for key, value in pairs(options) do request[key] = value end
  return tz.predict(request)
end
local answer = rows {}
tz.expect(answer.model == "roofs" and answer.backend == "cpu" and answer.best.time_s > 0 and #answer.rows > 1)
for _, row in ipairs(answer.rows) do
  local sum = 0
  for _, seconds in pairs(row.components) do sum = sum + seconds end
  tz.expect(math.abs(sum / row.time_s - 1) < 1e-9, "components do not add up")
  tz.expect(math.abs(row.stage_s / row.time_s - row.height) < 1e-9 and row.time_s >= answer.best.time_s * 0.8)
end
local slow = rows { record = { clock = "1 MHz" } }
tz.expect(slow.best.time_s >= answer.best.time_s)
refuses("did you mean 'clock'?", rows, { record = { clok = 2 } })
refuses("clock wants a", rows, { record = { clock = "two" } })
refuses("'record' needs { KEY = VALUE }", rows, { record = { clock = {} } })
refuses("'record' needs { KEY = VALUE }", rows, { record = { 3 } })
refuses("needs a table of options", rows, { record = 3 })

refuses("needs a table", tz.predict, 3)
refuses("'plugin' is missing", tz.predict, {})
refuses("did you mean 'hotspot'?", tz.predict, { plugin = "hotspt" })
refuses("'grid' is missing: {nx, ny}", tz.predict, { plugin = "hotspot" })
refuses("did you mean 'model'?", tz.predict, { plugin = "hotspot", grid = { 9, 9 }, modle = "x" })
refuses("did you mean 'roofs'?", tz.predict, { plugin = "hotspot", grid = { 9, 9 }, model = "rofs" })
refuses("did you mean 'gtx280'?", tz.predict, { plugin = "hotspot", grid = { 9, 9 }, device = "gtx28" })
refuses("did you mean 'double'?", tz.predict, { plugin = "hotspot", grid = { 9, 9 }, precision = "duble" })
refuses("did you mean 'ambient_k'?", tz.predict, { plugin = "hotspot", grid = { 99, 99 }, device = "./cpu.txt",
  params = { ambient = 3 } })

refuses("'quick' or 'compile', not both", rows, { quick = true, compile = true })
refuses("'ahead'", tz.predict, { plugin = "star2d1r", grid = { 64, 64 }, ahead = 99 })
if not tz.checking then
  local few = tz.predict { plugin = "star2d1r", grid = { 64, 64 }, device = "h200", family = "stream", height = 1, ahead = 2 }
  tz.expect(#few.rows > 0)
  for _, row in ipairs(few.rows) do tz.expect(row.ahead == 2 and row.height == 1) end
  local quick = tz.predict { plugin = "star2d1r", grid = { 64, 64 }, device = "h200", family = "stream", quick = true }
  for _, row in ipairs(quick.rows) do tz.expect(row.estimated) end
end

local line = { title = "a line", x = { 1, 2, 3 }, y = { 1, 4, 9 } }
refuses("'file' is missing", tz.plot, { series = { line } })
refuses("must end in .png", tz.plot, { file = "a.gif", series = { line } })
refuses("'series' must be a list", tz.plot, { file = "a.png" })
refuses("series[1] has 2 x and 1 y", tz.plot, { file = "a.png", series = { { x = { 1, 2 }, y = { 1 } } } })
refuses("y[2] must be a finite number", tz.plot, { file = "a.png", series = { { x = { 1, 2 }, y = { 1, 0 / 0 } } } })
refuses("did you mean 'points'?", tz.plot, { file = "a.png", series = { { style = "point", x = { 1 }, y = { 1 } } } })
if tz.can_plot() then
  tz.plot { file = "line.png", title = "A \"line\"", x_label = "x", y_label = "y", zero = true,
    series = { line, { style = "points", x = { 1, 2 }, y = { 2, 3 }, low = { 1, 2 }, high = { 3, 4 } } } }
elseif not tz.checking then
  refuses("apt-get install gnuplot-nox", tz.plot, { file = "line.png", series = { line } })
end
