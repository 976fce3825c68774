-- One case of scripts/first-minute.sh: a stencil of unseen_stencils.lua for some seconds. Prints the wall seconds to the
-- end of the first iteration, and the speed of each of the following spans.
--
--   trapeze run scripts/first_minute.lua --set case=yee [--set seconds=30] [--set small=yes] [--set n=512]
--     [--set precision=double] [--set storage=half] [--set copies=1]
--
-- `n` are the cells along each axis. GB/s are what cells must move at least.
-- With --set tune=yes it measures all plans instead, and prints how good the predicted ones are.
local tz = require "trapeze"
local cases = require "unseen_stencils"

local name = tz.args.case or "yee"
local case = tz.expect(cases[name], "no case " .. name)
local small = tz.args.small == "yes"
local grid, cells = {}, 1
for axis, n in ipairs(case.grid) do
  grid[axis] = math.tointeger(tz.args.n) or small and (#case.grid == 2 and 96 or 24) or n
  cells = cells * grid[axis]
end
local fields = {}
local precision, storage = tz.args.precision, tz.args.storage
local bytes = case.bytes * (precision == "double" and 2 or storage == "half" and 0.5 or 1)
for field, range in pairs(case.random) do fields[field] = tz.random { seed = 1, range = range } end
local options = { plugin = tz.stencil(case.stencil), grid = grid, boundary = "periodic", fields = fields, precision = precision,
  storage = storage, copies = math.tointeger(tz.args.copies) }

-- A row of a table: the fastest plan, the share of its speed that the predicted one has, the errors of predictions, and
-- for heights 1 to 6 the least share that the predicted plan of a height has of the best one of that height.
if tz.args.tune == "yes" then
  options.backend, options.threads, options.rounds, options.seconds = "cuda", tonumber(tz.args.threads or 8), 3, 0.004
  local t = tz.tune(options)
  local best, chosen, least = {}, {}, 1
  for _, row in ipairs(t.rows) do
    local h = row.height
    if row.measured_s and h <= 6 then
      if not best[h] or row.measured_s < best[h] then best[h] = row.measured_s end
      if row.predicted_s and (not chosen[h] or row.predicted_s < chosen[h].predicted_s) then chosen[h] = row end
    end
  end
  for h, row in pairs(chosen) do least = math.min(least, best[h] / row.measured_s) end
  print(("| %s | %.1f (%s %d) | %.1f (%s %d) | %.2f | %.1f %% | %.1f %% | %.2f |"):format(name, t.best.gcells_per_s, t.best.family,
    t.best.height, t.predicted.gcells_per_s, t.predicted.family, t.predicted.height, t.share, 100 * t.error_median,
    100 * t.error_p90, least))
  return
end

local sim = tz.simulation(options)
local middle = {}
for axis, n in ipairs(grid) do middle[("xyz"):sub(axis, axis)] = { n // 4, n // 2 } end
for field, value in pairs(case.block or {}) do sim:set(field, value, middle) end
-- Chunks of a fifth of a second, up to the given seconds of wall time.
local begin, chunk, line = os.time(), 1, "%-12s %4d s, step %9d: %8.2f GCells/s, %7.1f GB/s, %s height %d"
local last
repeat
  local r = sim:run(chunk)
  local plan, elapsed = sim:plan(), os.time() - begin
  if elapsed ~= last then
    local speed = cells * r.steps / r.seconds * 1e-9
    print(line:format(name, elapsed, sim.step, speed, speed * bytes, plan.family, plan.height))
    last = elapsed
  end
  chunk = math.max(1, math.min(10 * chunk, math.floor(0.2 * r.steps / r.seconds)))
until elapsed >= tonumber(tz.args.seconds or 0)
print(name .. " " .. sim:policy().text)
for _, d in ipairs(sim:policy().decisions) do
  print(("  step %9d: %s height %d: %s"):format(d.step, d.to.family, d.to.height, d.reason))
end
