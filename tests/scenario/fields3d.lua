-- Many fields in three dimensions against theory: Maxwell's equations, elastic waves, D3Q19, Gray and Scott's reaction.
local tz = require "trapeze"
local c = require "checks"

local function simulation(stencil, grid, fields, boundary, params)
  return tz.simulation { plugin = stencil, grid = grid, precision = "double", boundary = boundary or "periodic", fields = fields, params = params }
end
-- A plane wave that fits into a periodic grid: cos(k.r - omega t), for components that lie half a cell up some axes.
local function wave(k, amplitude, phase, sx, sy, sz)
  return function(x, y, z) return amplitude * math.cos(k[1] * (x + sx) + k[2] * (y + sy) + k[3] * (z + sz) - phase) end
end
-- The largest difference between a field and a function, and the largest value of the function.
local function differs(sim, field, f)
  local got, off, high = sim:array(field), 0, 0
  local g = sim.grid
  for z = 0, g[3] - 1 do
    for y = 0, g[2] - 1 do
      for x = 0, g[1] - 1 do
        local wanted = f(x, y, z)
        off, high = math.max(off, math.abs(got:get(x, y, z) - wanted)), math.max(high, math.abs(wanted))
      end
    end
  end
  return off, high
end
local function is(sim, field, f, tolerance)
  if tz.checking then return end
  local off, high = differs(sim, field, f)
  tz.expect(high > 0 and off <= tolerance * high, ("%s is off by %g of %g"):format(field, off, high))
end
local function cross(a, b) return { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] } end
local function dot(a, b) return a[1] * b[1] + a[2] * b[2] + a[3] * b[3] end
local grid = { 12, 9, 8 }
local k = { 2 * math.pi / 12, 2 * math.pi / 9, -2 * math.pi / 8 }

-- ---- Maxwell -------------------------------------------------------------------------------------------------------

-- E at whole times, H half a step before. What energy is kept: E^2 and the product of H before and after.
local yee = tz.stencil {
  name = "yee", dims = 3, params = { s = 0.5 },
  fields = { "ex", "ey", "ez", "hx", "hy", "hz", eps = { role = "static", initial = 1 } },
  let = { hx1 = "hx - s*(dyp(ez) - dzp(ey))", hy1 = "hy - s*(dzp(ex) - dxp(ez))", hz1 = "hz - s*(dxp(ey) - dyp(ex))" },
  passes = { { hx = "hx1", hy = "hy1", hz = "hz1" },
    { ex = "ex + s/eps*(dym(hz) - dzm(hy))", ey = "ey + s/eps*(dzm(hx) - dxm(hz))", ez = "ez + s/eps*(dxm(hy) - dym(hx))" } },
  outputs = { energy = "eps*(ex^2 + ey^2 + ez^2) + hx*hx1 + hy*hy1 + hz*hz1" },
}
-- The grid's own wave: K = 2 sin(k/2) in place of k, sin(omega/2) = s|K|/2, E across K, H = s (K x E)/(2 sin(omega/2)).
do
  local s, K = 0.5, {}
  for a = 1, 3 do K[a] = 2 * math.sin(k[a] / 2) end
  local half = s * math.sqrt(dot(K, K)) / 2
  local omega, E = 2 * math.asin(half), cross(K, { 0.3, 1, -0.7 })
  local H = cross(K, E)
  for a = 1, 3 do H[a] = H[a] * s / (2 * half) end
  local up = { { 0.5, 0, 0 }, { 0, 0.5, 0 }, { 0, 0, 0.5 } }
  local function at(step)
    local fields = {}
    for a, axis in ipairs { "x", "y", "z" } do
      local u = up[a]
      fields["e" .. axis] = wave(k, E[a], omega * step, u[1], u[2], u[3])
      fields["h" .. axis] = wave(k, H[a], omega * (step - 0.5), 0.5 - u[1], 0.5 - u[2], 0.5 - u[3])
    end
    return fields
  end
  local sim = simulation(yee, grid, at(0))
  sim:run(50)
  for field, f in pairs(at(50)) do is(sim, field, f, 1e-12) end
  sim:close()
end
-- A box of metal (beyond the high sides E is 0, beyond the low ones H) with glass in it.
for _, boundary in ipairs { "fixed", "periodic" } do
  local sim = simulation(yee, { 9, 8, 7 }, { ex = c.noise(1), ey = c.noise(2), ez = c.noise(3), hy = c.noise(4),
    eps = tz.random { seed = 5, range = { 1, 4 } } }, boundary)
  local before = sim:sum "energy"
  sim:run(100)
  c.near(sim:sum "energy", before, 1e-11 * before)
  sim:close()
end

-- ---- Elastic waves -------------------------------------------------------------------------------------------------

local elastic = tz.stencil {
  name = "elastic", dims = 3, params = { dt = 0.2, light = 0.5, lambda = 1.5, mu = 1.2 },
  fields = { "vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz" },
  let = { spread = "lambda*(dxm(vx,4) + dym(vy,4) + dzm(vz,4))" },
  passes = {
    { vx = "vx + dt*light*(dxp(sxx,4) + dym(sxy,4) + dzm(sxz,4))", vy = "vy + dt*light*(dxm(sxy,4) + dyp(syy,4) + dzm(syz,4))",
      vz = "vz + dt*light*(dxm(sxz,4) + dym(syz,4) + dzp(szz,4))" },
    { sxx = "sxx + dt*(spread + 2*mu*dxm(vx,4))", syy = "syy + dt*(spread + 2*mu*dym(vy,4))",
      szz = "szz + dt*(spread + 2*mu*dzm(vz,4))", sxy = "sxy + dt*mu*(dyp(vx,4) + dxp(vy,4))",
      sxz = "sxz + dt*mu*(dzp(vx,4) + dxp(vz,4))", syz = "syz + dt*mu*(dzp(vy,4) + dyp(vz,4))" },
  },
}
-- P waves move along K, S waves across; sin(omega/2) = dt*speed*|K|/2. Stresses are half a step ahead.
for kind, stiffness in pairs { P = 1.5 + 2 * 1.2, S = 1.2 } do
  local dt, light, lambda, mu, K = 0.2, 0.5, 1.5, 1.2, {}
  for a = 1, 3 do K[a] = 9 / 4 * math.sin(k[a] / 2) - 1 / 12 * math.sin(3 * k[a] / 2) end
  local half = dt * math.sqrt(stiffness * light * dot(K, K)) / 2
  local omega, v = 2 * math.asin(half), kind == "P" and K or cross(K, { 1, 0.2, -0.5 })
  local function stress(a, b)
    return -dt / (2 * half) * ((a == b and lambda * dot(K, v) or 0) + mu * (K[a] * v[b] + K[b] * v[a]))
  end
  local function at(step)
    local fields, axes = {}, { "x", "y", "z" }
    for a = 1, 3 do
      local u = { 0, 0, 0 }
      u[a] = 0.5
      fields["v" .. axes[a]] = wave(k, v[a], omega * step, u[1], u[2], u[3])
      for b = a, 3 do
        u = { 0, 0, 0 }
        if a ~= b then u[a], u[b] = 0.5, 0.5 end
        fields["s" .. axes[a] .. axes[b]] = wave(k, stress(a, b), omega * (step + 0.5), u[1], u[2], u[3])
      end
    end
    return fields
  end
  local sim = simulation(elastic, grid, at(0))
  sim:run(50)
  for field, f in pairs(at(50)) do
    if math.abs(differs(sim, field, function() return 0 end)) > 1e-9 then is(sim, field, f, 1e-11) end
  end
  sim:close()
end

-- ---- D3Q19 ---------------------------------------------------------------------------------------------------------

-- Lattice Boltzmann as formulas: a shear wave dies as viscosity says, and solid cells keep the mass.
do
  local moves, fields, update, density, flow = {}, { solid = { type = "int", role = "static" } }, {}, {}, { {}, {}, {} }
  for z = -1, 1 do
    for y = -1, 1 do
      for x = -1, 1 do
        if math.abs(x) + math.abs(y) + math.abs(z) < 3 then moves[#moves + 1] = { x, y, z } end
      end
    end
  end
  local let = {}
  for q, d in ipairs(moves) do -- p3 is what comes to a cell in f3
    let["p" .. q] = ("f%d[%d,%d,%d]"):format(q, -d[1], -d[2], -d[3])
    density[q] = "p" .. q
    for a = 1, 3 do
      if d[a] ~= 0 then table.insert(flow[a], (d[a] > 0 and "p" or "-p") .. q) end
    end
  end
  let.density = table.concat(density, " + ")
  for a, name in ipairs { "ux", "uy", "uz" } do let[name] = "(" .. table.concat(flow[a], " + ") .. ")/density" end
  let.still = "1 - 1.5*(ux^2 + uy^2 + uz^2)"
  local weights = { [0] = 1 / 3, 1 / 18, 1 / 36 }
  for q, d in ipairs(moves) do
    local weight = weights[math.abs(d[1]) + math.abs(d[2]) + math.abs(d[3])]
    let["c" .. q] = ("(%d)*ux + (%d)*uy + (%d)*uz"):format(d[1], d[2], d[3])
    fields["f" .. q] = { initial = weight }
    update["f" .. q] = ("solid ? p%d : p%d + rate*(%.17g*density*(still + 3*c%d + 4.5*c%d^2) - p%d)"):format(20 - q, q, weight, q, q, q)
  end
  local d3q19 = tz.stencil { name = "d3q19", dims = 3, fields = fields, params = { rate = 1 / 0.8 }, let = let, update = update,
    outputs = { along = "(" .. table.concat(flow[1], " + "):gsub("p(%d+)", "f%1") .. ")", mass = table.concat(density, " + "):gsub("p", "f") } }
  local ny, speed = 24, 0.02
  local start = {}
  for q, d in ipairs(moves) do
    local weight = weights[math.abs(d[1]) + math.abs(d[2]) + math.abs(d[3])]
    start["f" .. q] = function(_, y)
      local u = speed * math.sin(2 * math.pi * y / ny)
      return weight * (1 + 3 * d[1] * u + 4.5 * d[1] ^ 2 * u ^ 2 - 1.5 * u ^ 2)
    end
  end
  local sim = simulation(d3q19, { 4, ny, 4 }, start)
  local function amplitude() return sim:max "along" end
  sim:run(20)
  local before = amplitude()
  sim:run(100)
  if not tz.checking then
    local viscosity = (0.8 - 0.5) / 3
    c.near(math.log(before / amplitude()) / 100, viscosity * (2 * math.pi / ny) ^ 2, 0.02 * viscosity * (2 * math.pi / ny) ^ 2)
  end
  sim:set("solid", 1, { x = { 1, 3 }, y = { 4, 9 }, z = { 0, 3 } })
  local mass = sim:sum "mass"
  sim:run(50)
  c.near(sim:sum "mass", mass, 1e-11 * mass)
  sim:close()
end

-- ---- Gray and Scott ------------------------------------------------------------------------------------------------

-- 7 and 27 points, beside a plain loop over lists.
for points, weights in pairs { [7] = { 1, 0, 0 }, [27] = { 14 / 30, 3 / 30, 1 / 30 } } do
  local function laplacian(f)
    local terms = {}
    for z = -1, 1 do
      for y = -1, 1 do
        for x = -1, 1 do
          local weight = weights[math.abs(x) + math.abs(y) + math.abs(z)] or 0
          if weight > 0 then terms[#terms + 1] = ("%.17g*(%s[%d,%d,%d] - %s)"):format(weight, f, x, y, z, f) end
        end
      end
    end
    return "(" .. table.concat(terms, " + ") .. ")"
  end
  local stencil = tz.stencil { name = "reaction" .. points, dims = 3, fields = { "u", "v" },
    update = { u = "u + 0.16*" .. laplacian "u" .. " - u*v^2 + 0.035*(1 - u)", v = "v + 0.08*" .. laplacian "v" .. " + u*v^2 - 0.095*v" } }
  local n, steps = { 7, 6, 5 }, 12
  local sim = simulation(stencil, n, { u = c.noise(1), v = c.noise(2, 0.5) })
  local u, v = {}, {}
  for name, list in pairs { u = u, v = v } do
    local all = sim:array(name)
    for i = 1, n[1] * n[2] * n[3] do list[i] = all[i] end
  end
  sim:run(steps)
  local function at(x, y, z) return 1 + x % n[1] + n[1] * (y % n[2] + n[2] * (z % n[3])) end
  for _ = 1, steps do
    local nu, nv = {}, {}
    for z = 0, n[3] - 1 do
      for y = 0, n[2] - 1 do
        for x = 0, n[1] - 1 do
          local i, lu, lv = at(x, y, z), 0, 0
          for dz = -1, 1 do
            for dy = -1, 1 do
              for dx = -1, 1 do
                local weight, j = weights[math.abs(dx) + math.abs(dy) + math.abs(dz)] or 0, at(x + dx, y + dy, z + dz)
                lu, lv = lu + weight * (u[j] - u[i]), lv + weight * (v[j] - v[i])
              end
            end
          end
          local r = u[i] * v[i] * v[i]
          nu[i], nv[i] = u[i] + 0.16 * lu - r + 0.035 * (1 - u[i]), v[i] + 0.08 * lv + r - 0.095 * v[i]
        end
      end
    end
    u, v = nu, nv
  end
  is(sim, "u", function(x, y, z) return u[at(x, y, z)] end, 1e-13)
  is(sim, "v", function(x, y, z) return v[at(x, y, z)] end, 1e-13)
  sim:close()
end
