-- Time-augmented stencils: the experiments of a thesis (2020, on a T4 and a K80) with stars and dense boxes, m steps at
-- once by one wider sum, beside fused heights, which do the same steps one after the other on chip. Measured on this
-- machine, or predicted for a device that need not be here.
--
--   trapeze run scripts/paper/thesis_augment.lua [--set full=1] [--set device=h200] [--set n2=4096] [--set n3=256]
--     [--set boundary=fixed] [--backend cuda]
--
-- By default a few shapes on small grids; with full=1 radii 1 to 4 and m 1 to 5 in 2-D and 3-D, as far as radius m*r is possible.
-- The first time each stencil is compiled, which takes most of the time. Columns, all as speeds against m = 1 at height 1:
--   at 1      m steps at once, height 1: what the thesis compares
--   best      the same with the height that is fastest
-- A row says "height" where the plain steps (m = 1) at their best height are at least as fast as m steps at once at theirs.
local tz = require "trapeze"
local paper = require "paper"
local args = tz.args
local full, device, boundary = args.full, args.device, args.boundary or "periodic"
local sizes = { [2] = paper.count("n2", full and 4096 or 768), [3] = paper.count("n3", full and 256 or 72) }

-- What the thesis reports; its grid is 256^3.
local thesis = {
  ["2-D star 1"] = "a little over 0.4 of the time at m = 5",
  ["3-D star 1"] = "about 1.5 times",
  ["3-D star 2"] = "1.15 times, m = 2 only",
  ["3-D star 3"] = "no gain", ["3-D star 4"] = "no gain",
  ["3-D dense 1"] = "slower, but 1.16 times with m = 2 on the K80",
}

local function coefficients(dims, radius, dense)
  local side, points = 2 * radius + 1, dense and (2 * radius + 1) ^ dims or 2 * dims * radius + 1
  local function rows(depth, off)
    local list = {}
    for i = -radius, radius do
      local now = off + (i ~= 0 and 1 or 0)
      list[i + radius + 1] = depth > 1 and rows(depth - 1, now) or ((dense or now <= 1) and 1 / points or 0)
    end
    return list
  end
  return rows(dims, 0), side, points
end

-- The points of m steps: the places that m offsets of a step reach.
local function points_of(dims, radius, dense, m)
  local one, all = {}, { [0] = true }
  for z = dims > 2 and -radius or 0, dims > 2 and radius or 0 do
    for y = -radius, radius do
      for x = -radius, radius do
        local off = (x ~= 0 and 1 or 0) + (y ~= 0 and 1 or 0) + (z ~= 0 and 1 or 0)
        if dense or off <= 1 then one[#one + 1] = (z * 64 + y) * 64 + x end
      end
    end
  end
  for _ = 1, m do
    local next = {}
    for at in pairs(all) do
      for _, by in ipairs(one) do next[at + by] = true end
    end
    all = next
  end
  local count = 0
  for _ in pairs(all) do count = count + 1 end
  return count
end

-- Seconds of a step: an iteration's divided by m. At height 1 and at the best one, and that.
local function times(stencil, grid)
  if device then
    -- All speeds are against this one: compiled. Those of all heights of the full table take an hour to compile.
    local one = tz.predict { plugin = stencil, grid = grid, boundary = boundary, device = device, height = 1, compile = not full or nil }.best
    local best = tz.predict { plugin = stencil, grid = grid, boundary = boundary, device = device, quick = full and true or nil }.best
    return one.time_s / stencil.steps, best.time_s / stencil.steps, best.height
  end
  -- nil: the stencil has no plan of this height.
  local function measured(height)
    local ok, sim = pcall(tz.simulation, { plugin = stencil, grid = grid, boundary = boundary, height = height, policy = "fixed",
      fields = { u = tz.random { seed = 1, range = { 0, 1 } } } })
    if not ok then
      if height > 1 and tostring(sim):find "height %d+ " then return end
      error(sim, 0)
    end
    paper.kind(sim)
    sim:run(height)
    local first, least = sim:run(height), math.huge
    local stages = tz.checking and 1 or math.ceil(math.min(0.01 / math.max(first.seconds, 1e-6), 100))
    for _ = 1, 4 do -- the least: others may use the machine
      local run = sim:run(height * stages)
      least = math.min(least, run.seconds / run.steps / stencil.steps)
    end
    sim:close()
    return least
  end
  local one = measured(1)
  local best, at = one, 1
  for _, height in ipairs(full and { 2, 3, 4, 6, 8, 12, 16 } or { 2, 4, 8, 12 }) do
    local t = measured(height)
    if t and t < best then best, at = t, height end
  end
  return one, best, at
end

local shapes = full and {} or { { 2, 1, false, 4 }, { 2, 1, true, 2 }, { 3, 1, false, 2 } }
if full then
  for dims = 2, 3 do
    for _, dense in ipairs { false, true } do
      for radius = 1, 4 do shapes[#shapes + 1] = { dims, radius, dense, math.min(5, 8 // radius) } end
    end
  end
end

tz.log(("%s, %s sides, %d x %d and %d x %d x %d cells"):format(device and "predicted for " .. device or "measured here",
  boundary, sizes[2], sizes[2], sizes[3], sizes[3], sizes[3]))
local lines = { paper.row("stencil", "m", "points", "at height 1", "heights allowed", "thesis"), "|---|---|---|---|---|---|" }
local rows, by_height, gains = 0, 0, {}
for _, shape in ipairs(shapes) do
  local dims, radius, dense, most = table.unpack(shape)
  local list, _, points = coefficients(dims, radius, dense)
  local name = ("%d-D %s %d"):format(dims, dense and "dense" or "star", radius)
  local grid = dims == 2 and { sizes[2], sizes[2] } or { sizes[3], sizes[3], sizes[3] }
  tz.expect(points_of(dims, radius, dense, 1) == points, "the points of a step")
  local plain, fused
  for m = 1, most do
    local count = points_of(dims, radius, dense, m)
    -- More points take compilers minutes, and are far slower.
    if count <= (full and 400 or 200) then
      local ok, stencil = pcall(tz.stencil, { name = ("%s_%d_%d_m%d"):format(dense and "dense" or "star", dims, radius, m),
        coefficients = list, augment = m, fused = true, boundaries = { boundary }, boundary = boundary })
      if not ok then -- too many terms near its sides
        tz.log(("%-12s %2d %6d  %s"):format(name, m, count, tostring(stencil):match "augment = .*" or stencil))
        break
      end
      tz.expect(stencil.steps == m, "steps of an iteration")
      local one, best, height = times(stencil, grid)
      plain, fused = plain or one, fused or best
      local verdict = ""
      if m == 2 and (thesis[name] or dense) and (full or not device) then -- two steps at once against one, both at height 1
        local gain, expected = plain / one, dims == 2 and not dense or dims == 3 and not dense and radius < 3
        paper.claim(("Thesis, figures 6.2 and 6.5: %s, m = 2%s"):format(name, device and ", predicted" or ""), thesis[name] or "slower", ("%.2f times"):format(gain), (gain > 1.02) == expected, (gain > 1.02) ~= expected and
          (gain > 1 and "%d points in place of twice %d cost less than the pass through memory that they save" or
          "%d points in place of twice %d cost more than the pass through memory that they save"):format(count, points) or nil, true)
      end
      if m > 1 then
        rows = rows + 1
        if fused <= best then by_height, verdict = by_height + 1, "height"
        else gains[#gains + 1] = ("%s m %d (%.2f times)"):format(name, m, fused / best) end
      end
      lines[#lines + 1] = paper.row(name, m, count, ("%.2f"):format(plain / one), ("%.2f (h %d)%s"):format(plain / best, height,
        verdict == "" and m > 1 and ", faster than heights" or ""), m == 1 and "1" or thesis[name] or (dense and "slower" or "no figure"))
    end
  end
end
tz.log(("plain steps at their best height are at least as fast in %d of %d rows"):format(by_height, rows))
if #gains > 0 then tz.log("m steps at once are faster: " .. table.concat(gains, ", ")) end
paper.page(("augment-%s%s"):format(device or paper.kind(), full and "-full" or ""), lines, true)
