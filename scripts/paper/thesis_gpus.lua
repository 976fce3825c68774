-- Several GPUs: what a thesis measured on K80s (3-D stars of radius 1 to 8, 256^3), as predictions for a device that
-- need not be here, and with --set measure=DEVICES as measurements on devices of this machine.
--
--   trapeze run scripts/paper/thesis_gpus.lua [--set device=h200] [--set count=4] [--set link=pcie] [--set n=256]
--     [--set radii=1,2,8] [--set family=tile] [--set measure=cpu:2]
--
-- Predictions for a GPU compile its kernels, which takes minutes, once; fewer with family=tile. Three experiments, at height 1 as there:
--   radius    time of a step on 1, 2, … devices against one: 2 times on 2 and 3.5 times on 4 for r = 8
--   exchange  k steps between two exchanges against k = 1: there at best 1.06 times, down to half the speed
--   shape     the same number of cells with a larger or smaller cut
-- In a step, a device between two others receives 2 r Nx Ny cells, whatever k is. Its redundant planes are r (k - 1)
-- if it leaves out what is not needed any more, as the thesis's programs do, and 2 r k in Trapeze, whose slabs
-- always update their whole ghost zones.
local tz = require "trapeze"
local paper = require "paper"
local args = tz.args
local n, count, link = paper.count("n", 256), paper.count("count", 4), args.link
local device, measure = args.device or (not args.measure and "h200" or nil), args.measure

local radii = {}
for item in tostring(args.radii or "1,2,3,4,5,6,7,8"):gmatch "[^,]+" do radii[#radii + 1] = math.tointeger(item) end

-- A star of radius r: the mean of its 6 r + 1 cells.
local function star(r)
  local terms = { "u" }
  for i = 1, r do
    for _, at in ipairs { "%d,0,0", "-%d,0,0", "0,%d,0", "0,-%d,0", "0,0,%d", "0,0,-%d" } do
      terms[#terms + 1] = "u[" .. at:format(i) .. "]"
    end
  end
  return tz.stencil { name = "star_of_radius_" .. r, dims = 3,
    update = ("(%s)*%.9g"):format(table.concat(terms, " + "), 1 / (6 * r + 1)) }
end

local stars = {}
for _, r in ipairs(radii) do stars[r] = star(r) end

-- Seconds of a step: predicted on so many devices, or measured on those that --set measure names.
local function predicted(r, grid, devices, k)
  local answer = tz.predict { plugin = stars[r], grid = grid, device = device, devices = devices > 1 and devices or nil,
    link = devices > 1 and link or nil, height = 1, exchange = k, family = args.family or "stream" }
  return answer.best.time_s, answer.best.exchange_share or 0
end

local function measured(r, grid, devices, k)
  local sim = tz.simulation { plugin = stars[r], grid = grid, devices = devices, height = 1, policy = "fixed", exchange = k,
    backend = not devices and measure:find "^cpu" and "cpu" or nil,
    fields = { u = tz.random { seed = 1, range = { 0, 1 } } } }
  sim:run(8)
  local hash = sim:hash()
  local times = {}
  for round = 1, 5 do
    local result = sim:run(4 * (k or 1))
    times[round] = result.seconds / result.steps
  end
  table.sort(times)
  sim:close()
  return times[3], hash
end

local lines = { "| | thesis | ours |", "|---|---|---|" }
local cube = { n, n, n }
tz.log(("%d x %d x %d, %s%s"):format(n, n, n, device or "this machine's device",
  link and ", joined by " .. link or ""))
for _, r in ipairs(radii) do
  local one = predicted(r, cube, 1)
  local line = ("one %.3g ms"):format(one * 1e3)
  for devices = 2, count do
    if devices == 2 or devices == count or devices % 2 == 0 then
      local t, share = predicted(r, cube, devices, 1)
      line = line .. ("; %d: %.2f times, exchange %.0f %%"):format(devices, one / t, 100 * share)
      tz.expect(tz.checking or one / t <= devices * 1.2, "more than the devices together")
    end
  end
  lines[#lines + 1] = paper.row(("radius %d"):format(r), "2 times on 2, 3.5 on 4", line)
end

tz.log "the thesis, r = 8 on K80s: 2 times on 2, 3.5 times on 4"

for _, r in ipairs(#radii > 1 and { radii[1], radii[#radii] } or radii) do
  local base = predicted(r, cube, count, 1)
  local line = "times the speed of k 1:"
  local k = 1
  while k * r <= n // count do
    local t = predicted(r, cube, count, k)
    line = line .. (" k %d %.2f"):format(k, base / t)
    k = 2 * k
  end
  lines[#lines + 1] = paper.row(("k steps between exchanges, radius %d on %d"):format(r, count), "0.5 to 1.06", line)
end

for _, grid in ipairs { { n // 2, n // 2, 4 * n }, { n, n, n }, { 2 * n, 2 * n, n // 4 } } do
  local r = radii[1]
  local one, t, share = predicted(r, grid, 1), predicted(r, grid, count, 1)
  lines[#lines + 1] = paper.row(("%d × %d × %d on %d"):format(grid[1], grid[2], grid[3], count), "the longer along the cut, the better",
    ("%.2f times; %.0f %% in exchanges"):format(one / t, 100 * (share or 0)))
end

if device == "h200" then paper.page("gpus-h200", lines, true) end

if measure then
  for _, r in ipairs(radii) do
    local one, hash = measured(r, cube, nil, nil)
    local line = ("measured, radius %d: one device %.4g ms; %s"):format(r, one * 1e3, measure)
    for _, k in ipairs { 1, 2, 4 } do
      if k * r <= n // 4 then
        local t, other = measured(r, cube, measure, k)
        tz.expect(tz.checking or other == hash, "slabs give other bits than one device")
        line = line .. (" k %d %.2f times"):format(k, one / t)
      end
    end
    tz.log(line)
  end
end
