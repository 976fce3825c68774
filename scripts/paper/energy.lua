-- Energy against height, which Meng and Skadron measured in 2011 (our copy of that paper ends before): nanojoules of a
-- useful cell update, of the whole board, in runs of two seconds. Measured through NVML on this machine's GPU, and predicted from
-- the energies in a device record.
--
--   trapeze run scripts/paper/energy.lua [--set device=h200] [--set only=hotspot] [--set scale=4]
--
-- With --set device=NAME only predicted. --set scale=N makes grids N times as long an axis as the paper's.
local tz = require "trapeze"
local paper = require "paper"
local HEIGHTS, SECONDS, scale = { 1, 2, 3, 4, 6, 8, 10, 12 }, 2, paper.count("scale", 4)

-- Nanojoules an update and watts at a height, or nil and the reason.
local function measured(sim, isl, cells, height)
  local time, why = paper.time(sim, isl, height, 1)
  if not time then return nil, why end
  local result = sim:run { steps = math.ceil(SECONDS / time / height) * height }
  if not result.energy_j then return nil, "the GPU's counter of energy cannot be read (NVML)" end
  return result.energy_j / result.steps / cells * 1e9, result.energy_j / result.seconds
end

-- Lists of heights, nanojoules and marks (~: estimated, its kernel is not compiled), of the fastest plan of each height. In a long run the board draws what its limit allows.
local function predicted(isl, grid, cells, device)
  local answer, why = paper.predict { plugin = isl.plugin, grid = grid, device = device, backend = not device and "cuda" or nil }
  if not answer then return nil, why end
  local fastest, x, y, marks = {}, {}, {}, {}
  for _, row in ipairs(answer.rows) do
    local best = fastest[row.height]
    if row.power_w and (not best or row.sustained_s < best.sustained_s) then fastest[row.height] = row end
  end
  for _, height in ipairs(HEIGHTS) do
    local row = fastest[height]
    if row then
      x[#x + 1], marks[#x + 1] = height, row.estimated and "~" or ""
      y[#x] = math.min(row.power_w, row.power_limit_w) * row.sustained_s / cells * 1e9
    end
  end
  if #x == 0 then return nil, "the device record has no energies" end
  return x, y, answer.title, marks
end

local device = tz.args.device
local here -- why nothing is measured
if device then here = "only predicted, for " .. device elseif tz.checking then here = "a check" else here = select(2, paper.has_gpu()) end
if here then tz.log("skipped: measurements: " .. here) end

local lines = { paper.row("height", table.unpack(HEIGHTS)), ("|---"):rep(#HEIGHTS + 1) .. "|" }
-- A row of the page: y by height, where it is known.
local function add(name, x, y, marks)
  local cells = { name }
  for i, height in ipairs(HEIGHTS) do
    cells[i + 1] = "-"
    for k, known in ipairs(x) do
      if known == height then cells[i + 1] = ("%.3f%s"):format(y[k], marks and marks[k] or "") end
    end
  end
  lines[#lines + 1] = paper.row(table.unpack(cells))
end

paper.each(function(isl)
  local grid, cells, series = {}, 1, {}
  for axis, n in ipairs(isl.grid) do
    grid[axis] = n * scale
    cells = cells * grid[axis]
  end
  if not here and isl.plugin == "pathfinder" then
    tz.log "pathfinder skipped: its rows of weights end long before two seconds, and NVML's counter moves every few ten ms"
  elseif not here then
    local sim = paper.simulation(isl, grid)
    local x, y = {}, {}
    for _, height in ipairs(HEIGHTS) do
      local nanojoules, watts = measured(sim, isl, cells, height)
      if nanojoules then
        x[#x + 1], y[#y + 1] = height, nanojoules
      else
        tz.log(("%-10s height %2d skipped: %s"):format(isl.plugin, height, watts))
      end
    end
    sim:close()
    if #x > 0 then
      add(isl.title .. ", measured", x, y)
      series[#series + 1] = { title = "measured here", style = "points", x = x, y = y, colour = 1 }
    end
  end
  local x, y, title, marks = predicted(isl, grid, cells, device)
  if x then
    add(isl.title .. ", predicted", x, y, marks)
    series[#series + 1] = { title = "predicted", x = x, y = y, colour = 2 }
  else
    tz.log(("%-10s no prediction: %s"):format(isl.plugin, y))
  end
  if #series > 0 then
    paper.plot { file = "energy-" .. isl.plugin .. ".png", title = isl.title .. ": energy against height",
      subtitle = paper.grid_text(grid) .. " cells; " .. (title or "this machine's GPU"),
      x_label = "height: iterations between two exchanges", y_label = "energy of a cell update (nJ)", zero = true,
      series = series }
  end
end)
paper.page(device and "energy-" .. device or "energy-gpu", lines, true)
