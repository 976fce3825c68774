-- Predictions from a scenario: numbers of the papers, and what is refused.
local tz = require "trapeze"

local function refuses(text, f, ...)
  local ok, message = pcall(f, ...)
  tz.expect(not ok, "not refused: " .. text)
  tz.expect(tostring(message):find(text, 1, true), "message: " .. tostring(message))
end

local heights = { pathfinder = { 12, { 1000000 } }, hotspot = { 2, { 2000, 2000 } }, poisson = { 2, { 2000, 2000 } },
  cell = { 1, { 100, 100, 100 } } }
for plugin, case in pairs(heights) do
  local answer = tz.predict { plugin = plugin, grid = case[2], device = "gtx280", model = "meng2009" }
  tz.expect(answer.best.height == case[1], plugin .. ": " .. answer.best.height)
  tz.expect(answer.model == "meng2009" and answer.device == "gtx280" and answer.backend == "cuda")
  tz.expect(answer.title == "NVIDIA GeForce GTX 280" and #answer.rows >= case[1] and answer.counts:find "table 2")
  for _, row in ipairs(answer.rows) do
    local sum = 0
    for _, seconds in pairs(row.components) do sum = sum + seconds end
    tz.expect(math.abs(sum / row.time_s - 1) < 1e-9, plugin .. ": components do not add up")
    tz.expect(row.time_s >= answer.best.time_s and math.abs(row.stage_s / row.time_s - row.height) < 1e-9)
  end
end
local wide = tz.predict { plugin = "poisson", grid = { 2000, 2000 }, device = "gtx280", halo = 4, block = { 32, 32 } }
tz.expect(#wide.rows == 7 and wide.rows[1].tile[2] == 32)
local one = tz.predict { plugin = "hotspot", grid = { 500, 500 }, device = "gtx-titan", height = 3, precision = "double",
  boundary = { x = "fixed", y = "mirror" }, params = { ambient_k = 300 } }
tz.expect(#one.rows == 1 and one.best.height == 3)

-- Other numbers in the device's record: the equations say what each does.
local function meng(options)
  local request = { plugin = "hotspot", grid = { 2000, 2000 }, device = "gtx280", model = "meng2009", height = 2 }
  for key, value in pairs(options) do request[key] = value end
  local answer = tz.predict(request)
  return answer.best.components, answer.best.details, answer
end
local function is_times(value, factor, base)
  tz.expect(math.abs(value - factor * base) <= 1e-12 * math.abs(base), value .. " is not " .. factor .. " times " .. base)
end
local as_is, details = meng {}
local changed, other, answer = meng { record = { cpi = 2, launch = "6700 cycles", memory_latency = "0 s" } }
is_times(changed.iter_comp, 0.5, as_is.iter_comp)
is_times(changed.misc_comp, 0.5, as_is.misc_comp)
is_times(changed.glb_sync, 2, as_is.glb_sync)
is_times(other.latency, 0, details.latency)
tz.expect(answer.notes[#answer.notes]:find "assumed" and answer.notes[#answer.notes]:find "cpi")
local journal = meng { model = "meng2011" }
is_times(meng { model = "meng2011", bank_conflicts = 1 }.iter_comp, 2, journal.iter_comp)
is_times(meng { model = "meng2011", record = { hidden_share = 0.75 } }.iter_comp, 0.5, journal.iter_comp)
is_times(meng { model = "meng2011", record = { sm_count = 60 } }.iter_comp, 0.5, journal.iter_comp)
refuses("'bank_conflicts' must be 0 or more", meng, { bank_conflicts = -1 })

local ok, plain = pcall(tz.predict, { plugin = "hotspot", grid = { 256, 256 }, device = "gtx260", model = "luo2011",
  block = { 16, 16 }, trips = 2, as_printed = true })
if ok then
  local pass = plain.passes[1]
  tz.expect(#plain.passes == 1 and pass.p > 0 and pass.p < 1 and pass.active_warps == 32 and #pass.periods > 1)
  local clocks = 0
  for _, period in ipairs(pass.periods) do
    tz.expect(period.type >= 1 and period.type <= 4 and period.time >= period.t_p + period.t_c)
    clocks = clocks + period.time * pass.rounds
  end
  tz.expect(math.abs(clocks / pass.clocks - 1) < 1e-12 and plain.best.tile[1] == 16 and plain.best.family == "plain")
else
  tz.expect(tostring(plain):find("no NVRTC", 1, true), tostring(plain))
end
refuses("'trips'", tz.predict, { plugin = "hotspot", grid = { 9, 9 }, device = "gtx260", model = "luo2011", trips = 0 })
refuses("that is luo2011", tz.predict, { plugin = "hotspot", grid = { 99, 99 }, device = "gtx280", as_printed = true })

local blocks = tz.predict { plugin = "gx", grid = { 256, 256, 256 }, device = "gtx-titan", model = "tabik2015" }
local shapes, chosen = blocks.passes[1].shapes, 0
for _, shape in ipairs(shapes) do
  local good = shape.good
  tz.expect(shape.chosen == (good.global and good.shared and good.occupancy and good.efficient))
  tz.expect(shape.block[1] * shape.block[2] >= 32 and shape.occupancy <= 1 and shape.global_transactions > 0)
  chosen = chosen + (shape.chosen and 1 or 0)
end
tz.expect(#blocks.passes == 1 and #shapes == 41 and chosen == 11 and blocks.passes[1].chosen == 11) -- the paper's set
refuses("'height' does not go with the model tabik2015", tz.predict, { plugin = "gx", grid = { 64, 64, 64 },
  device = "gtx-titan", model = "tabik2015", height = 1 })

refuses("did you mean 'meng2011'?", tz.predict, { plugin = "hotspot", grid = { 9, 9 }, model = "meng211" })
refuses("'halo' must be a positive number", tz.predict, { plugin = "hotspot", grid = { 9, 9 }, halo = { 2 } })
refuses("the greatest that does is 9", tz.predict, { plugin = "hotspot", grid = { 99, 99 }, device = "gtx280",
  height = 20 })
