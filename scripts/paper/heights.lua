-- The best heights of Meng and Skadron (2009, figure 5 and section 5.4) by the equations of both papers, what the adaptive
-- selection of 30 iterations loses on the model's own times, and what moves PathFinder's height: its size, and alpha.
--
--   trapeze run scripts/paper/heights.lua
local tz = require "trapeze"
local paper = require "paper"
local ITERATIONS = 30

-- The paper's policy on the model's own times: the best height's time as a share of a run's of 30 iterations. A second
-- implementation of what the policy "meng" does, in the terms of section 5.4: two iterations at least at each height.
local function share_of_model(isl, start)
  local times = {}
  for height, row in ipairs(paper.gtx280(isl).rows) do times[height] = row.time_s end
  local best = math.min(table.unpack(times))
  local known, at, spent, direction, left = {}, start, 0, 1, ITERATIONS
  local base = start
  local function run_at(height)
    local count = math.min(left, math.ceil(2 / height) * height)
    spent, left, known[height] = spent + count * times[height], left - count, true
  end
  while left > 0 do
    run_at(at)
    if at ~= base and times[at] < times[base] then base, direction = at, at - base end
    if at ~= base then
      at = base
    else
      for _, side in ipairs { direction, -direction } do
        if times[base + side] and not known[base + side] then at = base + side break end
      end
    end
  end
  return ITERATIONS * best / spent
end

-- Rows of the table: a cell for each application.
local names = { "", "PathFinder", "HotSpot", "Poisson", "Cell" }
local heights, gains, shares = {}, {}, {}
local function add(rows, name, of)
  local cells = { name }
  for i, isl in ipairs(paper.isls) do cells[i + 1] = of(isl) end
  rows[#rows + 1] = paper.row(table.unpack(cells))
end
local function gain(isl, options)
  local answer = paper.gtx280(isl, options)
  return answer.rows[1].time_s / answer.best.time_s, answer.best.height
end
add(heights, "paper: predicted height", function(isl) return isl.paper.height end)
add(heights, "ours, by the equations of 2009", function(isl) return (select(2, gain(isl))) end)
add(heights, "ours, by those of 2011", function(isl) return (select(2, gain(isl, { model = "meng2011" }))) end)
add(heights, "paper: measured best height", function(isl) return isl.paper.measured end)
add(gains, "paper: gain, measured on the GTX 280", function(isl) return ("%.2f"):format(isl.paper.best) end)
add(gains, "ours, by the equations of 2009", function(isl) return ("%.2f"):format(gain(isl)) end)
add(gains, "ours, by those of 2011", function(isl) return ("%.2f"):format(gain(isl, { model = "meng2011" })) end)
local head = { paper.row(table.unpack(names)), "|---|---|---|---|---|" }
paper.page("heights", { head[1], head[2], table.concat(heights, "\n"), table.concat(gains, "\n") })

add(shares, "paper, from the prediction, measured", function(isl) return ("%.3f"):format(isl.paper.adaptive / isl.paper.best) end)
add(shares, "ours, on the times of the paper's model", function(isl) return ("%.3f"):format(share_of_model(isl, isl.equations)) end)
add(shares, "paper, from height 1, measured", function(isl) return ("%.3f"):format(isl.paper.from_1 / isl.paper.best) end)
add(shares, "ours, on the times of the paper's model", function(isl) return ("%.3f"):format(share_of_model(isl, 1)) end)
paper.page("adaptive-model", { head[1], head[2], table.concat(shares, "\n") })

for i, isl in ipairs(paper.isls) do
  local by_2009, height = gain(isl)
  local by_2011 = gain(isl, { model = "meng2011" })
  local same = height == isl.paper.height
  paper.claim("2009, section 5.4: " .. isl.title, ("predicted height %d"):format(isl.paper.height), ("%d"):format(height), same,
    i == 1 and ("the equations give %.2f %% more time at 14; the curve is flat there"):format(
      100 * (paper.gtx280(isl).rows[14].time_s / paper.gtx280(isl).best.time_s - 1)) or nil)
  local near = math.abs(by_2009 / isl.paper.best - 1) <= 0.1
  paper.claim("2009, figure 5: " .. isl.title, ("gains %.2f, measured"):format(isl.paper.best),
    ("%.2f by 2009, %.2f by 2011"):format(by_2009, by_2011), near,
    isl.dims < 3 and "the equations of 2009 hide no instructions behind memory; 2011's do, and come within 8 %" or nil)
  tz.expect(math.abs(by_2011 / isl.paper.best - 1) <= 0.08, "the equations of 2011 are not within 8 %")
  paper.claim("2009, section 5.4: " .. isl.title, ("adaptive selection from the prediction reaches %.3f"):format(
    isl.paper.adaptive / isl.paper.best), ("%.3f, on the model's times"):format(share_of_model(isl, isl.equations)),
    math.abs(share_of_model(isl, isl.equations) - isl.paper.adaptive / isl.paper.best) <= 0.02)
  paper.claim("2009, section 5.4: " .. isl.title, ("adaptive selection from height 1 reaches %.3f"):format(
    isl.paper.from_1 / isl.paper.best), ("%.3f, on the model's times"):format(share_of_model(isl, 1)),
    math.abs(share_of_model(isl, 1) - isl.paper.from_1 / isl.paper.best) <= 0.035)
end

-- What PathFinder's 14 may come from. alpha is D / 4 there, and multiplies bytes over bandwidth.
local lines = {}
local function probe(name, options)
  local cells = { name }
  for i, isl in ipairs(paper.isls) do
    local by, height = gain(isl, options(isl))
    cells[i + 1] = height == 1 and "h 1" or ("h %d, %.2f"):format(height, by)
  end
  lines[#lines + 1] = paper.row(table.unpack(cells))
end
for _, alpha in ipairs { 1, 2, 4, 8 } do
  probe(("\u{3b1} = %d"):format(alpha), function(isl) return { record = { memory_bandwidth = ("%.17g GB/s"):format(141.7 * isl.dims / 4 / alpha) } } end)
end
probe("a sixteenth of the cells", function(isl)
  local grid = {}
  for axis, n in ipairs(isl.grid) do grid[axis] = math.floor(n / 16 ^ (1 / isl.dims) + 0.5) end
  return { grid = grid }
end)
paper.page("heights-14", { head[1], head[2], table.concat(lines, "\n") })

-- Figure 4: blocks of section 5.2, height 2, the largest input.
local function figure4(name, of)
  local cells = { name }
  for i, isl in ipairs(paper.isls) do cells[i + 1] = of(isl) end
  return paper.row(table.unpack(cells))
end
paper.page("figure4", { head[1], head[2],
  figure4("block", function(isl) return table.concat(isl.verified.block, " × ") end),
  figure4("largest input", function(isl) return table.concat(isl.grid, " × ") end),
  figure4("paper: errors of the predictions", function(isl) return ("%d to %d %%"):format(table.unpack(isl.verified.errors)) end),
  figure4("ours, by the equations, largest input, GTX 280", function(isl)
    return ("%.0f µs"):format(1e6 * paper.gtx280(isl, { height = 2, block = isl.verified.block }).best.time_s)
  end) })
