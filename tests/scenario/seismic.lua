-- Open sides and the free surface of seismic2d8 and seismic3d8: what they reflect, the image, the same bits with every plan.
local tz = require "trapeze"
local c = require "checks"

local function make(plugin, grid, params, options)
  local all = { plugin = plugin, grid = grid, precision = "double", params = params, fields = { speed = 3000 } }
  params.max_speed_m_s = 3000
  for key, value in pairs(options or {}) do all[key] = value end
  return tz.simulation(all)
end
local ricker = "(1 - 2*(pi*30*t - 1.2*pi)^2)*exp(0 - (pi*30*t - 1.2*pi)^2)" -- the peak: 10 cells a wavelength

-- The bits depend on no plan.
for _, case in ipairs { { "seismic2d8", { 75, 66 } }, { "seismic3d8", { 42, 38, 36 } } } do
  local bits
  for _, plan in ipairs { { height = 1 }, { height = 3, family = "stream" }, { height = 4, family = "diamond" } } do
    local sim <close> = make(case[1], case[2], { open_cells = 10, free_surface = true },
      { precision = "single", fields = { speed = tz.random { seed = 3, range = { 1500, 3000 } } } })
    if sim.backend == "cpu" then sim:plan(plan) end
    sim:sources { points = { #case[2] == 2 and { 20, 5 } or { 20, 9, 5 } }, values = ricker }
    sim:run(24)
    if not tz.checking then
      bits = bits or sim:hash "u"
      tz.expect(sim:hash "u" == bits)
    end
  end
end

-- A free surface is the middle of a grid with an odd field.
local surface = make("seismic2d8", { 61, 50 }, { open_cells = 12, free_surface = true })
local twice = make("seismic2d8", { 61, 101 }, { open_cells = 12 })
surface:sources { points = { { 30, 2 } }, values = ricker }
twice:sources { points = { { 30, 53 }, { 30, 47 } }, values = ricker }
twice:sources { points = { { 30, 47 } }, values = ricker, scale = -2 }
surface:run(150)
twice:run(150)
if not tz.checking then
  tz.expect(twice:max "u" > 1e-3 and math.abs(twice:get("u", 30, 50)) < 1e-15)
  for _, at in ipairs { { 30, 0 }, { 5, 1 }, { 22, 2 }, { 40, 3 }, { 57, 7 }, { 30, 30 } } do
    c.near(surface:get("u", at[1], at[2]), twice:get("u", at[1], at[2] + 51), 1e-12)
  end
end

-- What 20 cells reflect of a wavelet, against a fixed side in place of the first of them. A shot near a side, and
-- receivers where rays of these angles come back; what a far larger grid has there is left out.
if tz.args.backend == "reference" then return end -- it is slow
local layer, near, far, steps = 20, 40, 240, 520
local angles = { [0] = -57, [30] = -58, [45] = -52, [60] = -38 }
local order = { 0, 30, 45, 60 }
local function run(name, before, open)
  local sim <close> = make("seismic2d8", { before + far, 640 }, { open_cells = open }, { name = name })
  local points = {}
  for i, angle in ipairs(order) do points[i] = { before, 200 + math.floor(2 * near * math.tan(math.rad(angle)) + 0.5) } end
  sim:sources { points = { { before, 200 } }, values = ricker }
  local rec = sim:receivers { points = points }
  sim:run(steps)
  return not tz.checking and rec:array()
end
local reference, wall, open = run("reference", far, 0), run("wall", near, 0), run("open", near + layer, layer)
for i, angle in ipairs(tz.checking and {} or order) do
  local back, all = 0, 0
  for k = 0, steps - 1 do
    back = math.max(back, math.abs(open:get(i - 1, k) - reference:get(i - 1, k)))
    all = math.max(all, math.abs(wall:get(i - 1, k) - reference:get(i - 1, k)))
  end
  local db = 20 * math.log(back / all, 10)
  tz.log(("%d degrees: %.1f dB"):format(angle, db))
  tz.expect(db <= angles[angle], ("%d degrees: %.1f dB"):format(angle, db))
end
