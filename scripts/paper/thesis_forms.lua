-- Section 6.1 of the thesis: its kernels beside NVIDIA's for 3-D finite differences (3DFD; Micikevicius): a tile of a plane in
-- shared memory, the planes before and behind in registers. That is the family block here, with the blocks of 32 x 32 that the
-- thesis names and with the best ones by roofs; beside it are the families that Trapeze takes. Stars on 256^3, height 1.
-- Mo's kernel keeps sums of parts in registers, in an order of its own; here every kernel adds as the formula says, and has its bits.
--
--   trapeze run scripts/paper/thesis_forms.lua [--set device=h200]
local tz = require "trapeze"
local paper = require "paper"
local device, N, BLOCK = tz.args.device, 256, { 32, 32, 64 }
local FORMS = { { "block", BLOCK }, { "block" }, { "stream" }, { "direct" } }

local function predict(stencil, family, block)
  return paper.predict { plugin = stencil, grid = { N, N, N }, device = device, backend = "cuda", model = "roofs", family = family,
    height = 1, block = block }
end

local known, why = predict("star3d1r", "block")
if not known then
  tz.log("skipped: " .. why)
  return
end

local function star(radius)
  local names, offsets = { "[%d,0,0]", "[0,%d,0]", "[0,0,%d]" }, {}
  for _, name in ipairs(names) do
    for i = 1, radius do
      offsets[#offsets + 1] = "u" .. name:format(i)
      offsets[#offsets + 1] = "u" .. name:format(-i)
    end
  end
  return tz.stencil { name = "star" .. radius, dims = 3, fields = { "u" },
    update = { u = ("0.4*u + %.9g*(%s)"):format(0.6 / #offsets, table.concat(offsets, " + ")) } }
end

-- Seconds of an iteration of a form, measured or predicted; nil and the reason.
local function time(sim, stencil, family, block)
  local answer, why = predict(stencil, family, block)
  if not answer or device then return answer and answer.best.time_s, why end
  local plan = { family = family, height = 1 }
  for _, knob in ipairs { "tile", "vector", "warps", "blocks", "ahead", "lanes" } do plan[knob] = answer.best[knob] end
  return paper.time(sim, { plugin = "star" }, plan, 5)
end

local lines = { paper.row("GCells/s", "`block` 32 × 32, 3DFD's form", "`block`, best shape", "`stream`", "`direct`"), "|---|---|---|---|---|" }
local fastest = true
for radius = 1, 4 do
  local stencil, cells, best, form = star(radius), {}, 0, nil
  local sim = not device and tz.simulation { plugin = stencil, grid = { N, N, N }, backend = "cuda", policy = "predicted",
    fields = { u = tz.random { seed = 1, range = { 0, 1 } } } }
  for i, of in ipairs(FORMS) do
    local seconds, why = time(sim, stencil, of[1], of[2])
    local speed = seconds and N ^ 3 / seconds * 1e-9
    cells[i] = speed and ("%.0f"):format(speed) or "-"
    if not speed then tz.log(("radius %d, %s: skipped: %s"):format(radius, of[1], why)) end
    if i == 1 then form = speed else best = math.max(best, speed or 0) end
  end
  if sim then sim:close() end
  fastest = fastest and form and best > form
  lines[#lines + 1] = paper.row("radius " .. radius, table.unpack(cells))
end
paper.page("forms-" .. (device or "gpu"), lines, true)
paper.claim("Thesis, section 6.1" .. (device and ", predicted" or ""), "its kernels are faster than NVIDIA's with blocks of 32 × 32",
  "ours are, radius 1 to 4", fastest, not fastest and "not at every radius" or nil, true)
