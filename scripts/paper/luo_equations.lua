-- Equations 2 to 5 of Luo and Suda (2011) with the paper's GTX 260, a second implementation of them, and table 3: P, the
-- share of computation, of the mean of nine pixels (the paper's `linear`) and of box2d1r, which has weights.
--
--   trapeze run scripts/paper/luo_equations.lua
--
-- And what the costs of loads change on an H200.
--
-- P needs a compiler for PTX (NVRTC); without one it is left out.
local tz = require "trapeze"
local paper = require "paper"

-- The paper's GTX 260: 24 multiprocessors of 32 warps, 111.9 GB/s at 1.242 GHz, 200 clocks of a load; a, b, c, d of section 3.4.
local SMS, WARPS, LATENCY, BANDWIDTH = 24, 32, 200, 111.9 / 1.242
local A, B, C, D = 3, 11, 0.5, 80

local function mpd(active, as_printed)
  local of_warp = 32 * 4 / (2 * LATENCY)
  return math.min(active, math.floor(BANDWIDTH / (SMS * of_warp * (as_printed and active or 1))))
end
local function cpd(share, active)
  local third = (C - share) * (active - B) + A
  local fourth = D * (share - C) ^ 2 / (WARPS - 1) * math.sqrt((WARPS - 1) ^ 2 - (WARPS - active) ^ 2) + A
  return third, fourth, math.max(1, share > C and fourth or math.min(third, fourth))
end

local warps, printed, ours = { 1, 2, 3, 4, 6, 8, 12, 16 }, {}, {}
for i, active in ipairs(warps) do printed[i], ours[i] = mpd(active, true), mpd(active) end
local lines = { paper.row("active warps", table.unpack(warps)), ("|---"):rep(9) .. "|",
  paper.row("MPD by eq. 2 as printed", table.unpack(printed)), paper.row("without the active warps in its divisor", table.unpack(ours)) }
paper.page("luo-mpd", lines)
paper.claim("Luo, eq. 2", "as printed", ("%d for 16 warps"):format(printed[8]), printed[8] >= 1,
  "a 0 divides eq. 10; without that divisor it is as many as overlap")

local head = { paper.row("P, active warps", "eq. 3", "eq. 4", "CPD here"), "|---|---|---|---|" }
for _, case in ipairs { { 0.2623, 32 }, { 0.282, 16 }, { 0.4584, 32 }, { 0.8697, 32 } } do
  local third, fourth, taken = cpd(table.unpack(case))
  head[#head + 1] = paper.row(("%.2f %%, %d"):format(100 * case[1], case[2]), ("%.2f"):format(third), ("%.2f"):format(fourth),
    ("%.2f"):format(taken))
end
paper.page("luo-cpd", head)
-- Eq. 3 beyond c: more warps would compute less at once, until it falls below 0.
local few, many = cpd(0.5642, 8), cpd(0.5642, 32)
paper.claim("Luo, eq. 3", "the degree grows with the warps", ("P 0.5642: %.2f with 8 warps, %.2f with 32"):format(few, many), many >= few,
  "beyond P = c eq. 3 falls; there eq. 4 counts here")

local linear = tz.stencil { name = "mean_of_nine", dims = 2,
  update = "(u + u[1,0] + u[-1,0] + u[0,1] + u[0,-1] + u[1,1] + u[1,-1] + u[-1,1] + u[-1,-1])*0.111111111" }
local shares = {}
for i, stencil in ipairs { linear, "box2d1r" } do
  local answer, why = paper.predict { plugin = stencil, grid = { 800, 800 }, model = "luo2011", device = "gtx260" }
  if not answer then
    tz.log("P skipped: " .. why)
    return
  end
  shares[i] = 100 * answer.passes[1].p
end
paper.claim("Luo, table 3", "P of `linear` is 45.84 %", ("%.1f %% of a mean of nine"):format(shares[1]), math.abs(shares[1] - 45.84) < 0.5,
  "today's compiler writes other PTX, and half of its instructions are not in table 1", true)
paper.page("luo-p", { paper.row("", "paper's `linear`", "mean of nine", "`box2d1r`"), "|---|---|---|---|",
  paper.row("P, %", "45.84", ("%.2f"):format(shares[1]), ("%.2f"):format(shares[2])) }, true)

-- What a load costs on an H200: as the paper measures it, by cache level, and as the random chase over 512 MiB for every load.
local head = { paper.row("2048²", "P, %", "µs", "every load from memory: P, %", "µs"), "|---|---|---|---|---|" }
for _, stencil in ipairs { "star2d1r", "box2d1r", "box2d2r", "hotspot", "grayscott", "wave2d8" } do
  local cells = { stencil }
  for _, clocks in ipairs { false, 672.9 } do
    local answer = paper.predict { plugin = stencil, grid = { 2048, 2048 }, model = "luo2011", device = "h200",
      record = clocks and { clocks_load = clocks, clocks_load_l2 = clocks } or nil }
    cells[#cells + 1] = ("%.1f"):format(100 * answer.passes[1].p)
    cells[#cells + 1] = ("%.1f"):format(1e6 * answer.best.time_s)
  end
  head[#head + 1] = paper.row(table.unpack(cells))
end
paper.page("luo-loads", head, true)
