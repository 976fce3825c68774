-- Elastic waves in three dimensions: velocities and stresses on a staggered grid, differences of order 4. An explosion under
-- beds of rock sends a pressure wave (P); at the beds part of it becomes a shear wave (S), which is slower and turns
-- the ground. Before that a check in one kind of rock: P and S waves arrive when they should.
--
--   trapeze run elastic.lua [--set n=120] [--set spacing=10] [--set time=0.6] [--set checks=no]
local tz = require "trapeze"

local n, spacing = math.tointeger(tz.args.n or 120), tonumber(tz.args.spacing or 10)
tz.expect(n and n >= 40, "n must be 40 or more")
local fastest = 4000
local dt = 0.45 * spacing / fastest
local layer = 14 -- cells along each side that damp waves

-- sxx, syy and szz lie at cells, velocities half a cell up their axis, sxy half a cell up x and y.
local elastic = tz.stencil {
  name = "elastic", doc = "Elastic waves, of order 4 in space.", dims = 3, spacing = spacing, dt = dt,
  fields = { "vz", "vx", "vy", "sxx", "syy", "szz", "sxy", "sxz", "syz", light = { role = "static", doc = "one over the density" },
    lambda = { role = "static" }, mu = { role = "static" } },
  params = { layer = layer },
  let = {
    deep = "max(0, layer - min(min(min(x, nx - 1 - x), min(y, ny - 1 - y)), min(z, nz - 1 - z)))",
    keep = "1 - 0.16*(deep/layer)^2",
    spread = "lambda*(dxm(vx,4) + dym(vy,4) + dzm(vz,4))",
  },
  passes = {
    { vx = "keep*(vx + dt*light*(dxp(sxx,4) + dym(sxy,4) + dzm(sxz,4)))",
      vy = "keep*(vy + dt*light*(dxm(sxy,4) + dyp(syy,4) + dzm(syz,4)))",
      vz = "keep*(vz + dt*light*(dxm(sxz,4) + dym(syz,4) + dzp(szz,4)))" },
    { sxx = "keep*(sxx + dt*(spread + 2*mu*dxm(vx,4)))", syy = "keep*(syy + dt*(spread + 2*mu*dym(vy,4)))",
      szz = "keep*(szz + dt*(spread + 2*mu*dzm(vz,4)))", sxy = "keep*(sxy + dt*mu*(dyp(vx,4) + dxp(vy,4)))",
      sxz = "keep*(sxz + dt*mu*(dzp(vx,4) + dxp(vz,4)))", syz = "keep*(syz + dt*mu*(dzp(vy,4) + dyp(vz,4)))" },
  },
  outputs = { pressure = "-(sxx + syy + szz)/3", turn = "dzp(vx,4) - dxp(vz,4)" },
}

-- Rock by the speed of its P waves: Gardner's density, and S waves that are slower by the root of 3.
local function rock(grid, speed)
  local function of(number)
    return function(x, y, z)
      local v = speed(x, y, z)
      return number(310 * v ^ 0.25, v)
    end
  end
  local third = of(function(density, v) return density * v * v / 3 end) -- lambda = mu
  return tz.simulation { plugin = elastic, grid = grid, boundary = "fixed",
    fields = { light = of(function(density) return 1 / density end), lambda = third, mu = third } }
end
local function ricker(frequency)
  return ("(1 - 2*(pi*%g*t - 1.2*pi)^2)*exp(0 - (pi*%g*t - 1.2*pi)^2)"):format(frequency, frequency)
end
local function explode(sim, at, frequency)
  for _, stress in ipairs { "sxx", "syy", "szz" } do
    sim:sources { field = stress, points = { at }, values = "dt*1e9*" .. ricker(frequency) }
  end
end

-- ---- Check ---------------------------------------------------------------------------------------------------------

-- The step at which a receiver's largest value is, between steps by a parabola.
local function peak(values, i, rows)
  local best = 1
  for k = 1, rows - 2 do
    if math.abs(values:get(i, k)) > math.abs(values:get(i, best)) then best = k end
  end
  local a, b, c = values:get(i, best - 1), values:get(i, best), values:get(i, best + 1)
  return best + 0.5 * (a - c) / (a - 2 * b + c)
end
local function check(wave, field, speed)
  local sim = rock({ 76, 56, 56 }, function() return fastest end)
  local x, y = 24, 28
  if wave == "P" then
    explode(sim, { x, y, y }, 36)
  else -- a force along z: across it S waves leave alone
    sim:sources { field = "vz", points = { { x, y, y } }, values = ricker(36) }
  end
  local heard = sim:receivers { field = field, points = { { x + 14, y, y }, { x + 30, y, y } } }
  sim:run(220)
  if not tz.checking then
    local values = heard:array()
    local found = 16 * spacing / ((peak(values, 1, heard.rows) - peak(values, 0, heard.rows)) * dt)
    tz.log(("%s waves travel at %.0f m/s; in theory at %.0f"):format(wave, found, speed))
    tz.expect(math.abs(found / speed - 1) < 0.02, wave .. " waves arrive at the wrong time")
  end
  sim:close()
end
if tz.args.checks ~= "no" then
  check("P", "vx", fastest)
  check("S", "vz", fastest / math.sqrt(3))
end

-- ---- Layers --------------------------------------------------------------------------------------------------------

local ny, nz = n // 2, 3 * n // 4
-- Beds that dip, and a fault.
local function speed(x, y, z)
  local depth = (z - layer) / (nz - 2 * layer) + 0.12 * (x / n - 0.5) + (x + 0.3 * z > 0.78 * n and 0.1 or 0)
  return depth < 0.3 and 2000 or depth < 0.7 and 2700 or 4000
end
local sim = rock({ n, ny, nz }, speed)
explode(sim, { n // 2 - 6, ny // 2, math.floor(0.5 * nz) }, 2000 / (math.sqrt(3) * 8 * spacing)) -- eight cells a shear wave
local geophones = {}
for x = layer, n - 1 - layer do geophones[#geophones + 1] = { x, ny // 2, layer } end
local heard = sim:receivers { field = "vz", points = geophones, every = 4, file = "vz.npy" }
local time = tonumber(tz.args.time or 0.6)
sim:run { until_time = time / 2 }
-- The plane of the explosion, each wave in its own strength: P left, S right.
local p, turn = sim:array "pressure", sim:array "turn"
local function strength(field) return 0.6 * math.max(sim:max(field), -sim:min(field), 1e-30) end
local of_p, of_turn = strength "pressure", strength "turn"
tz.picture { file = "waves.png", map = "balance", range = { -1, 1 }, zoom = 3, caption = "P waves (pressure) and S waves (rotation)",
  data = tz.array { shape = { 2 * n, nz }, fill = function(x, z)
    return x < n and p:get(x, ny // 2, z) / of_p or turn:get(x - n, ny // 2, z) / of_turn
  end } }
sim:run { until_time = time }
if heard.rows > 0 then
  local values = heard:array()
  local high = 0.15 * math.max(values:max(), -values:min())
  tz.picture { data = values, file = "seismogram.png", map = "gray", range = { -high, high }, zoom = 4, caption = "geophones, time downwards" }
end
