-- The accuracy of luo2011 (Luo and Suda 2011, equation 14: the smaller of the predicted and the measured time over
-- the larger) for the plain kernel of one cell a thread, of all stencils on four sizes, on this machine's GPU. The
-- paper has 90.4 % in the mean of six kernels on a GTX 260. Beside it, for what Trapeze runs on the third size: roofs
-- for its best plan, and meng2011 for the tile kernel at the height that this model finds best.
--
--   trapeze run scripts/paper/luo_accuracy.lua [--set only=star2d1r,hotspot] [--set compare=no] [--set device=FILE]
--
-- The device's record needs costs of PTX: `trapeze calibrate --costs`. Without them, or without a GPU, the script
-- says so and ends.
local tz = require "trapeze"
local paper = require "paper"

local STENCILS = {
  { "pathfinder", 1 },
  { "star2d1r", 2 }, { "star2d2r", 2 }, { "box2d1r", 2 }, { "box2d2r", 2 }, { "hotspot", 2 }, { "poisson", 2 },
  { "grayscott", 2 }, { "grayscott9", 2 }, { "lbm", 2 }, { "wave2d", 2 }, { "wave2d8", 2 }, { "life", 2 },
  { "cyclic", 2 },
  { "star3d1r", 3 }, { "star3d2r", 3 }, { "box3d1r", 3 }, { "hotspot3d", 3 }, { "wave3d", 3 }, { "wave3d8", 3 },
  { "cell", 3 }, { "diffusion", 3 }, { "gx", 3 }, { "gy", 3 }, { "gz", 3 }, { "st", 3 }, { "fdd5", 3 }, { "fdd7", 3 },
}
local SIZES = { { 100000, 1000000, 10000000, 40000000 }, { 512, 1024, 2048, 4096 }, { 96, 128, 192, 256 } }
local COMPARED = 3

local function grid_of(dims, size)
  local grid = {}
  for axis = 1, dims do grid[axis] = size end
  return grid
end

local function first_line(message) return (tostring(message):match("[^\n]*"):gsub("^.-tz%.%w+: ", "")) end

-- The result of tz.predict or tz.tune, or nil and the reason.
local function try(call, options)
  options.device = tz.args.device
  local ok, answer = pcall(call, options)
  if ok then return answer end
  return nil, first_line(answer)
end

local function accuracy(a, b) return math.min(a, b) / math.max(a, b) end

-- The accuracy of a prediction for a plan that Trapeze runs; nil and the reason.
local function of_plan(options, plan, predicted_s)
  options.height, options.family = plan.height, plan.family
  options.rounds, options.seconds, options.check = 3, 0.005, false
  local tuned, why = try(tz.tune, options)
  if not tuned then return nil, why end
  if not tuned.best or not tuned.best.measured_s then return nil, "no such plan was measured" end
  return accuracy(tuned.best.measured_s, predicted_s or tuned.best.predicted_s)
end

local function of_roofs(plugin, grid)
  local best, why = try(tz.predict, { plugin = plugin, grid = grid, model = "roofs" })
  if not best then return nil, why end
  local plan, options = best.best, { plugin = plugin, grid = grid }
  if math.min(table.unpack(plan.tile or { 0 })) > 0 then options.block = plan.tile end
  for _, knob in ipairs { "vector", "warps", "blocks", "ahead" } do options[knob] = plan[knob] end
  return of_plan(options, plan, plan.time_s)
end

local function of_meng(plugin, grid)
  local best, why = try(tz.predict, { plugin = plugin, grid = grid, model = "meng2011" })
  if not best then return nil, why end
  return of_plan({ plugin = plugin, grid = grid }, { height = best.best.height, family = "tile" }, best.best.time_s)
end

local function wanted(plugin)
  if not tz.args.only then return true end
  for name in tostring(tz.args.only):gmatch "[^,]+" do
    if name == plugin then return true end
  end
  return false
end

local function percent(value) return value and ("%.0f"):format(100 * value) or "-" end

-- Sums by column, for means.
local sums, counts = {}, {}
local function add(column, value)
  if value then sums[column], counts[column] = (sums[column] or 0) + value, (counts[column] or 0) + 1 end
end
local function mean(column) return sums[column] and sums[column] / counts[column] end

local probe, why = try(tz.predict, { plugin = "star2d1r", grid = { 256, 256 }, model = "luo2011", backend = "cuda",
  measure = true })
if not probe then
  tz.log("skipped: " .. why)
  tz.log "`trapeze calibrate --costs` measures the clocks of PTX that the record of a GPU lacks"
  return
end

-- What bounds the model here. A launch costs it nothing: that of a few cells has the time of an empty one. And it hides memory
-- behind computation: `waits` is the part of the predicted time (eq. 8 to 13) that is not computation, on the largest size.
local empty = try(tz.predict, { plugin = "star2d1r", grid = { 32, 32 }, model = "luo2011", measure = true })
local function waits_of(answer)
  local waits, all = 0, 0
  for _, pass in ipairs(answer.passes) do
    for _, period in ipairs(pass.periods) do
      waits, all = waits + pass.rounds * (period.t_p + period.t_c), all + pass.rounds * period.time
    end
  end
  return waits / all
end

local lines = { paper.row("", "P, %", "waits, %", "size 1", 2, 3, 4, "mean", "`roofs`", "`meng2011`"), "|---|---|---|---|---|---|---|---|---|---|" }
for _, case in ipairs(STENCILS) do
  local plugin, dims = case[1], case[2]
  if wanted(plugin) then
    local cells, share, waits, total, found, refused = {}, nil, nil, 0, 0, nil
    for i, size in ipairs(SIZES[dims]) do
      local answer, reason = try(tz.predict, { plugin = plugin, grid = grid_of(dims, size), model = "luo2011",
        measure = true })
      local value = answer and answer.accuracy
      cells[i] = value and ("%.0f (%.3g)"):format(100 * value, 1e6 * answer.measured_s) or "-"
      refused = refused or reason
      if value then
        share, total, found = answer.passes[1].p, total + value, found + 1
        waits = waits_of(answer)
        add(i, value)
        add("launch" .. i, accuracy(answer.measured_s, math.max(answer.best.time_s, #answer.passes * empty.measured_s)))
      end
    end
    local compared, roofs, meng = tz.args.compare ~= "no", nil, nil
    local grid = grid_of(dims, SIZES[dims][COMPARED])
    local notes = {}
    if compared then
      local reason
      roofs, reason = of_roofs(plugin, grid)
      if not roofs then notes[1] = "roofs: " .. reason end
      meng, reason = of_meng(plugin, grid)
      if not meng then notes[#notes + 1] = "meng2011: " .. reason end
    end
    add("waits", waits)
    add("roofs", roofs)
    add("meng", meng)
    local average = found > 0 and total / found or nil
    add("mean", average)
    lines[#lines + 1] = paper.row(plugin, percent(share), percent(waits), cells[1], cells[2], cells[3], cells[4], percent(average),
      percent(roofs), percent(meng))
    if refused then tz.log("    skipped: " .. refused) end
    for _, note in ipairs(notes) do tz.log("    skipped: " .. note) end
  end
end
lines[#lines + 1] = paper.row("mean", "", percent(mean "waits"), percent(mean(1)), percent(mean(2)), percent(mean(3)), percent(mean(4)),
  percent(mean "mean"), percent(mean "roofs"), percent(mean "meng"))
lines[#lines + 1] = paper.row(("mean, no time below %.2f µs a launch"):format(1e6 * empty.measured_s), "", "", percent(mean "launch1"),
  percent(mean "launch2"), percent(mean "launch3"), percent(mean "launch4"), "", "", "")
paper.page("luo-gpu", lines, true)
local accuracy_here = mean "mean"
if accuracy_here then
  paper.claim("Luo, table 4", "90.4 % in the mean of six programs on a GTX 260", ("%.0f %% on %d stencils, %s"):format(
    100 * accuracy_here, counts.mean, probe.title), accuracy_here >= 0.9, accuracy_here < 0.9 and
    "a launch costs the model nothing, and eq. 3 to 5 fit the computing degrees of this GPU within 60 %" or nil, true)
end

-- Figure 8: the time of the same work against the warps of a multiprocessor: one block of so many warps on each, which has so
-- many times the cells; times are divided by that number. A warp of our stencils ends before the next launch can begin, so
-- this one is a chain of 480 roots.
local SMS, let = tz.args.sm_count or 132, {}
for k = 1, 6 do
  let["a" .. k] = ("sqrt(1 + "):rep(80) .. (k == 1 and "0.25*(u[-1,0] + u[1,0] + u[0,-1] + u[0,1])" or "a" .. k - 1) .. (")"):rep(80)
end
local roots = tz.stencil { name = "roots", dims = 2, fields = { "u" }, let = let, update = { u = "a6" } }
local x, rows = {}, { "measured, µs a warp", "predicted, µs a warp" }
local there, predicted, falls = {}, {}, true
for _, count in ipairs { 1, 2, 4, 8, 16, 32 } do
  local answer, reason = try(tz.predict, { plugin = roots, grid = { 32, SMS * count }, model = "luo2011", block = { 32, count },
    measure = true })
  if answer and answer.measured_s then
    local n = #x + 1
    x[n], there[n], predicted[n] = count, answer.measured_s * 1e6 / count, answer.best.time_s * 1e6 / count
    rows[1], rows[2] = rows[1] .. (" | %.2f"):format(there[n]), rows[2] .. (" | %.2f"):format(predicted[n])
    falls = falls and (n == 1 or there[n] < there[n - 1] and predicted[n] < predicted[n - 1])
  else
    tz.log(("    skipped: %d warps: %s"):format(count, reason))
  end
end
if #x > 0 then
  paper.page("luo-warps-gpu", { paper.row("warps of a multiprocessor", table.unpack(x)), ("|---"):rep(#x + 1) .. "|",
    paper.row(rows[1]), paper.row(rows[2]) }, true)
  paper.claim("Luo, figure 8", "the time falls with the warps of a multiprocessor", ("%.2f to %.2f µs measured, %.2f to %.2f predicted"):format(
    there[1], there[#x], predicted[1], predicted[#x]), falls, not falls and "it stops falling before 32 warps" or nil, true)
  paper.plot { file = "figure8.png", title = "480 roots: time of a warp's cells against warps", subtitle = probe.title,
    x_label = "warps of a multiprocessor", y_label = "time over warps (us)", log_x = true, zero = true, series = {
      { title = "measured here", style = "points", x = x, y = there, colour = 1 }, { title = "luo2011", x = x, y = predicted } } }
end
