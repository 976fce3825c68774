-- The shapes of thread blocks that the model tabik2015 chooses, against the times of all shapes that Tabik and others (2015)
-- print in tables IV to XI (tests/papers/tabik.csv).
--
--   trapeze run scripts/paper/tabik_sets.lua
local tz = require "trapeze"
local paper = require "paper"

-- column: of tabik.csv, from 1.
local cases = {
  { "gx, GTX TITAN, 256³ (table IV)", stencil = "gx", device = "gtx-titan", n = 256, column = 3 },
  { "gx, GTX 480, 256³ (V)", stencil = "gx", device = "gtx480", n = 256, column = 4 },
  { "gx, GTX 480, 512³ (VI)", stencil = "gx", device = "gtx480", n = 512, column = 5,
    why = "the shape takes 11.13 ms in the paper's own table, the fastest 7.87" },
  { "gy, GTX TITAN (VII)", stencil = "gy", device = "gtx-titan", n = 256, column = 6 },
  { "gz, GTX TITAN (VIII)", stencil = "gz", device = "gtx-titan", n = 256, column = 7 },
  { "st, GTX TITAN (IX)", stencil = "st", device = "gtx-titan", n = 256, column = 8 },
  { "5-FDD, GTX TITAN (X)", stencil = "fdd5", device = "gtx-titan", n = 256, column = 9 },
  { "7-FDD, GTX TITAN (XI)", stencil = "fdd7", device = "gtx-titan", n = 256, column = 10 },
}
local times = tz.read("../../tests/papers/tabik.csv", { skip = 1 })

local lines = { paper.row("case", "chosen of all (ours)", "fastest shape of the paper", "in our set", "worst share of the best in our set"),
  "|---|---|---|---|---|" }
for _, case in ipairs(cases) do
  local pass = tz.predict { plugin = case.stencil, grid = { case.n, case.n, case.n }, model = "tabik2015", device = case.device }.passes[1]
  local chosen = {}
  for _, shape in ipairs(pass.shapes) do
    if shape.chosen then chosen[("%d × %d"):format(shape.block[1], shape.block[2])] = true end
  end
  local best, fastest, slowest = math.huge, {}, 0
  for y = 0, times.shape[2] - 1 do
    local shape, time = ("%d × %d"):format(times:get(0, y), times:get(1, y)), times:get(case.column - 1, y)
    if time < best then best, fastest = time, {} end
    if time == best then fastest[#fastest + 1] = shape end
    if chosen[shape] and time > slowest then slowest, case.slowest = time, shape end
  end
  local has = false
  for _, shape in ipairs(fastest) do has = has or chosen[shape] or false end
  local share = best / slowest
  lines[#lines + 1] = paper.row(case[1], ("%d of %d"):format(pass.chosen, #pass.shapes), ("%s%s, %.2f ms"):format(fastest[1], #fastest > 1 and (" and %d others"):format(#fastest - 1) or "", best),
    has and "yes" or "no", ("%.3f"):format(share))
  paper.claim("Tabik: " .. case[1], "the set has the fastest shape", fastest[1], has)
  paper.claim("Tabik: " .. case[1], "the slowest of the set has 0.75 of its speed or more", ("%.3f (%s)"):format(share, case.slowest),
    share >= 0.75, case.why)
end
paper.page("tabik", lines)
