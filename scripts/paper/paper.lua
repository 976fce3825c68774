-- Shared by the paper's experiments: the four iterative stencil loops of Meng and Skadron (ICS 2009),
-- their grids and blocks, simulations of them here, and times.
local tz = require "trapeze"
local M = {}

-- `paper`: section 5.4.2, on the GTX 280: height predicted and measured as best, speedups over height 1
-- (best, adaptive from the prediction, adaptive from height 1). `equations`: the height that equations 1 to 17 give
-- as printed (docs of the model meng2009). `verified`: the block of figure 4 (section 5.2) and the least and largest error of
-- the paper's predictions there, in percent.
M.isls = {
  { plugin = "pathfinder", title = "PathFinder", grid = { 1000000 }, block = { 256 }, dims = 1,
    sizes = { 100000, 200000, 400000, 700000, 1000000 }, blocks = { 128, 256, 384, 512 },
    verified = { block = { 256 }, errors = { 9, 22 } },
    paper = { height = 14, measured = 14, best = 2.29, adaptive = 2.29, from_1 = 1.93 }, equations = 12 },
  { plugin = "hotspot", title = "HotSpot", grid = { 2000, 2000 }, block = { 20, 20 }, dims = 2,
    sizes = { 500, 800, 1200, 1600, 2000 }, blocks = { 16, 20, 24, 32 },
    verified = { block = { 20, 20 }, errors = { 2, 12 } },
    paper = { height = 2, measured = 3, best = 1.45, adaptive = 1.44, from_1 = 1.39 }, equations = 2 },
  { plugin = "poisson", title = "Poisson", grid = { 2000, 2000 }, block = { 20, 20 }, dims = 2,
    sizes = { 500, 800, 1200, 1600, 2000 }, blocks = { 16, 20, 24, 32 },
    verified = { block = { 16, 16 }, errors = { 2, 8 } },
    paper = { height = 2, measured = 3, best = 1.51, adaptive = 1.50, from_1 = 1.45 }, equations = 2 },
  { plugin = "cell", title = "Cell", grid = { 100, 100, 100 }, block = { 8, 8, 8 }, dims = 3,
    sizes = { 40, 55, 70, 85, 100 }, blocks = { 8, 16, 24, 32, 40, 44, 48, 64 },
    verified = { block = { 8, 8, 8 }, errors = { 28, 30 } },
    paper = { height = 1, measured = 1, best = 1.00, adaptive = 0.90, from_1 = 0.90 }, equations = 1 },
}

-- --set only=hotspot restricts a script.
function M.each(f)
  local only, names = tz.args.only, {}
  for i, isl in ipairs(M.isls) do
    names[i] = isl.plugin
    if not only or only == isl.plugin then f(isl); names.found = true end
  end
  tz.expect(names.found, ("--set only=%s: it is one of %s"):format(only, table.concat(names, ", ")))
end

-- The whole number of --set NAME=…, from 1 on.
function M.count(name, default)
  local value = tz.args[name] or default
  tz.expect(math.type(value) == "integer" and value > 0, ("--set %s=%s: it is a whole number from 1 on"):format(name, value))
  return value
end

function M.grid_of(isl, size)
  local grid = {}
  for axis = 1, isl.dims do grid[axis] = size end
  return grid
end

function M.grid_text(grid) return table.concat(grid, " x ") end

-- Rows of weights for PathFinder: as many as the longest run has steps.
local WEIGHTS = 120

function M.simulation(isl, grid)
  local real = tz.random { seed = 1, range = { 0, 1 } }
  local options = { plugin = isl.plugin, grid = grid, backend = tz.args.backend, policy = "predicted" }
  if isl.plugin == "pathfinder" then
    options.fields = { cost = 0, weights = tz.array { shape = { grid[1], WEIGHTS }, dtype = "int32",
      fill = tz.random { seed = 1, range = { 0, 9 } } } }
  elseif isl.plugin == "hotspot" then
    options.fields = { temperature = tz.random { seed = 1, range = { 318.15, 319.15 } }, power = real }
  elseif isl.plugin == "poisson" then
    options.fields = { u = real, f = real }
  else
    options.fields = { alive = tz.random { seed = 1, density = 0.3 } }
  end
  local sim = tz.simulation(options)
  M.kind(sim)
  return sim
end

local function median(values)
  table.sort(values)
  return values[(#values + 1) // 2]
end
M.median = median

-- Why the simulation's policy has no prediction; nil: it has one. Its plan is then the backend's default.
function M.not_predicted(sim)
  for _, decision in ipairs(sim:policy().decisions) do
    local why = decision.reason:match "not predicted: (.*)"
    if why then return why end
  end
end

-- Seconds that `steps` iterations take under the present plan or policy.
function M.run(sim, isl, steps)
  if isl.plugin == "pathfinder" then sim:rewind() end
  return sim:run { steps = steps }.seconds
end

-- Median, least and largest seconds of an iteration at a height, or with a plan; nil and the reason where it is refused.
function M.time(sim, isl, plan, rounds)
  if type(plan) == "number" then plan = { height = plan } end
  local height = plan.height
  local ok, why = pcall(sim.plan, sim, plan)
  if not ok then return nil, M.reason(why) end
  local limit = isl.plugin == "pathfinder" and WEIGHTS // height * height or math.huge
  M.run(sim, isl, height)
  local once = M.run(sim, isl, math.min(limit, 2 * height)) / 2
  local steps = math.min(limit, math.max(1, math.ceil(0.02 / math.max(once, 1e-7))) * height, 20000 // height * height)
  local times = {}
  for round = 1, rounds or 5 do times[round] = M.run(sim, isl, steps) / steps end
  return median(times), times[1], times[#times]
end

-- The message of an error without its place.
function M.reason(why) return (tostring(why):gsub("^[^\n]-%.lua:%d+: ", ""):gsub("^%a+[.:]%a+: ", ""):match "^[^\n]*") end

-- tz.predict, or nil and the reason: a machine without a record, a GPU without a compiler.
function M.predict(request)
  local ok, answer = pcall(tz.predict, request)
  if ok then return answer end
  return nil, M.reason(answer)
end

-- Can this machine's GPU run simulations? Else false and the reason.
function M.has_gpu()
  local ok, why = pcall(tz.simulation, { plugin = "star2d1r", grid = { 64, 64 }, backend = "cuda" })
  return ok, not ok and M.reason(why) or nil
end

-- The paper's device by the paper's model.
function M.gtx280(isl, extra)
  local request = { plugin = isl.plugin, grid = isl.grid, device = "gtx280", model = "meng2009", block = isl.block }
  for key, value in pairs(extra or {}) do request[key] = value end
  return M.predict(request)
end

-- Lists of x and y from rows, the fastest of each height, while y stays of interest.
function M.curve(answer, value, most)
  local x, y, last = {}, {}, nil
  for _, row in ipairs(answer.rows) do
    if row.height ~= last and (not most or row.height <= most) then
      x[#x + 1], y[#y + 1] = row.height, value(row)
      last = row.height
    elseif row.height == last then
      y[#y] = math.max(y[#y], value(row))
    end
  end
  return x, y
end

-- Speedups over height 1.
function M.speedups(answer, most)
  local one
  for _, row in ipairs(answer.rows) do
    if row.height == 1 then one = math.min(one or math.huge, row.time_s) end
  end
  return M.curve(answer, function(row) return one / row.time_s end, most)
end

-- ---- The page: docs/papers.md, whose parts are what the scripts print (page.sh) ----

-- Lines of Markdown that are a part of the page. `measured`: by a machine, not by a model.
function M.page(name, lines, measured)
  tz.log(("<!-- %s%s -->"):format(name, measured and " measured" or ""))
  for _, line in ipairs(lines) do tz.log(line) end
  tz.log(("<!-- /%s -->"):format(name))
end

-- "gpu" or "cpu": what the last simulation ran on, in the names of measured parts.
function M.kind(sim)
  M.backend = sim and sim.backend or M.backend
  return M.backend == "cuda" and "gpu" or "cpu"
end

function M.row(...) return "| " .. table.concat({ ... }, " | ") .. " |" end

-- A claim of a paper and what comes out here. `holds`: whether it does now; `why`: the reason where it does not. A claim
-- that holds no more, or again, stops the script: the page must be read anew.
-- key: paper and place, "2009, figure 7"; `measured` as above: measured claims may change from machine to machine.
function M.claim(key, theirs, ours, holds, why, measured)
  if not measured then tz.expect(holds ~= (why ~= nil), key .. ": " .. theirs .. (holds and " holds again" or " holds no more")) end
  local verdict = holds and "holds" or "**differs**" .. (why and ": " .. why or "")
  tz.log((measured and "measured claim: " or "claim: ") .. M.row(key, theirs, ours, verdict))
end

function M.plot(picture)
  if tz.checking then return end -- nothing is measured: no times to draw
  if tz.can_plot() then
    tz.plot(picture)
  else
    tz.log("skipped: " .. picture.file .. " needs gnuplot (apt-get install gnuplot-nox)")
  end
end

return M
