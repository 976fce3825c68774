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
    tz.log(("%5d x %-5d %7.0f blocks  launch %.2f us, fence %.2f us; best: launch h %d %.2f us, fence h %d %.2f us an iteration")
      :format(size, size, two.details.trapezoids, launch[#x], fence[#x], one.height, one.time_s * 1e6, two.height,
      two.time_s * 1e6))
    tz.expect(#x == 1 or fence[#x] >= fence[#x - 1], "a fence that costs less for a larger input")
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
  for _, size in ipairs { 256, 512, 1024, 2048 } do
    local sim = paper.simulation(isl, { size, size })
    local line = ("%5d x %-5d"):format(size, size)
    for _, family in ipairs { "stream", "resident" } do
      local best, at, one, reason
      for _, height in ipairs { 1, 2, 4, 6, 8, 12 } do
        local time, refused = paper.time(sim, isl, { height = height, family = family }, 5)
        one = one or time
        reason = reason or refused
        if time and (not best or time < best) then best, at = time, height end
      end
      line = line .. (best and ("  %s: h 1 %.3f us, best h %d %.3f us an iteration"):format(family, one * 1e6, at, best * 1e6) or
        ("  %s skipped: %s"):format(family, reason))
    end
    tz.log(line)
    sim:close()
  end
end

costs()
if device then tz.log("iterations skipped: only the record of " .. device) else iterations() end
