-- Memory fence against relaunch: the two ways to synchronise all blocks between stages of Meng and Skadron (2011). Our copy
-- of that paper ends before its section 4.5, of which we know only the claim that a fence costs more the larger the input.
--
--   trapeze run scripts/paper/fence.lua [--set device=h200]
--
-- 1. What each costs on a device: a launch of as many blocks as run at once, and a synchronisation of blocks within a launch,
--    both measured by `trapeze calibrate` (keys launch, fence and fence_per_block of a record). By meng2011 with blocks of HotSpot.
-- 2. Whole iterations on this machine's GPU: a launch a stage (family stream) against one launch in which blocks wait for
--    their neighbours and the grid stays on chip (family resident). This compares the families, not the fence alone.
local tz = require "trapeze"
local paper = require "paper"
local isl = paper.isls[2]
local device = tz.args.device
local SIZES = { 64, 128, 256, 512, 1024, 2048, 4096, 8192 }

local function costs()
  local x, launch, fence, crossing, title = {}, {}, {}, nil, nil
  local page = { grid = "grid", blocks = "blocks", fence = "a fence, µs", launches = "best iteration with launches, µs",
    fences = "best iteration with fences, µs" }
  local grows = true
  local function add(key, format, value) page[key] = page[key] .. " | " .. format:format(value) end
  for _, size in ipairs(SIZES) do
    local request = { plugin = isl.plugin, grid = { size, size }, device = device, backend = not device and "cuda" or nil,
      model = "meng2011", block = isl.block }
    local relaunched, why = paper.predict(request)
    request.fence = true
    local fenced = relaunched and paper.predict(request)
    if not fenced then
      tz.log("costs skipped: " .. tostring(why or "the device record has no fence: trapeze calibrate measures it"))
      return
    end
    -- glb_sync is an iteration's share of a stage's.
    local one, two = relaunched.best, fenced.best
    x[#x + 1], title = size * size / 1e6, fenced.title
    launch[#x] = one.components.glb_sync * one.height * 1e6
    fence[#x] = two.components.glb_sync * two.height * 1e6
    if #x > 1 and not crossing and fence[#x] > launch[#x] then crossing = size end
    add("grid", "%d²", size)
    add("blocks", "%.0f", two.details.trapezoids)
    add("fence", "%.3g", fence[#x])
    add("launches", "%.3g", one.time_s * 1e6)
    add("fences", "%.3g", two.time_s * 1e6)
    grows = grows and (#x == 1 or fence[#x] >= fence[#x - 1])
  end
  local lines = { paper.row(page.grid), ("|---"):rep(#x + 1) .. "|", paper.row(page.blocks), paper.row(page.fence),
    paper.row(page.launches), paper.row(page.fences) }
  if device == "h200" then
    paper.page("fence", lines)
    paper.claim("2011, introduction", "a fence costs more the larger the input", ("%.2f µs at 64², %.0f µs at 8192²; a launch costs %.2f µs"):format(
      fence[1], fence[#fence], launch[1]), grows)
  end
  tz.log "(the record's line through measured fences; for more blocks than a GPU runs at once it is extrapolated)"
  tz.log(crossing and ("a fence costs more than a launch from %d x %d on"):format(crossing, crossing) or
    "a fence costs less than a launch at every size")
  paper.plot { file = "fence-costs.png", title = "Synchronising all blocks: relaunch against memory fence",
    subtitle = title .. ", the line of its record; blocks of 20 x 20 cells at the best height, meng2011",
    x_label = "millions of cells", y_label = "one synchronisation (us)", log_x = true, log_y = true,
    series = { { title = "relaunch", x = x, y = launch }, { title = "memory fence", x = x, y = fence } } }
end

local function iterations()
  local possible, why = paper.has_gpu()
  if not possible then
    tz.log("iterations skipped: " .. why)
    return
  end
  local lines = { paper.row("grid", "a launch a stage (`stream`)", "one launch, on chip (`resident`)"), "|---|---|---|" }
  for _, size in ipairs { 256, 512, 1024, 2048 } do
    local sim = paper.simulation(isl, { size, size })
    local cells = { ("%d²"):format(size) }
    for i, family in ipairs { "stream", "resident" } do
      local best, at, reason
      for _, height in ipairs { 1, 2, 4, 6, 8, 12 } do
        local time, refused = paper.time(sim, isl, { height = height, family = family }, 5)
        reason = reason or refused
        if time and (not best or time < best) then best, at = time, height end
      end
      cells[i + 1] = best and ("%.2f (h %d)"):format(best * 1e6, at) or "does not: " .. reason
    end
    lines[#lines + 1] = paper.row(table.unpack(cells))
    sim:close()
  end
  paper.page("fence-iterations", lines, true)
end

costs()
if device then tz.log("iterations skipped: only the record of " .. device) else iterations() end
