-- Stencils that nobody tuned kernels to, as tables for tz.stencil, each with a grid, sides and what its fields begin with.
-- scripts/first-minute.sh measures how soon they run, and how soon they run well; docs/applications.md has those of many
-- fields in 3-D.

-- f"text $(name)" with the values of a table.
local function fill(text, values)
  return (text:gsub("%$(%w+)", function(name) return tostring(values[name]) end))
end
local function sum(terms) return table.concat(terms, " + ") end

-- ---- Waves ---------------------------------------------------------------------------------------------------------

-- Maxwell's equations on Yee's staggered grid: six fields and a material, two passes.
local yee = {
  name = "yee", dims = 3, params = { ch = 0.5 },
  fields = { ex = "real", ey = "real", ez = "real", hx = "real", hy = "real", hz = "real",
    ce = { role = "static", initial = 0.4 } },
  passes = {
    { hx = "hx - ch*((ez[0,1,0] - ez) - (ey[0,0,1] - ey))", hy = "hy - ch*((ex[0,0,1] - ex) - (ez[1,0,0] - ez))",
      hz = "hz - ch*((ey[1,0,0] - ey) - (ex[0,1,0] - ex))" },
    { ex = "ex + ce*((hz - hz[0,-1,0]) - (hy - hy[0,0,-1]))", ey = "ey + ce*((hx - hx[0,0,-1]) - (hz - hz[-1,0,0]))",
      ez = "ez + ce*((hy - hy[-1,0,0]) - (hx - hx[0,-1,0]))" },
  },
}

-- Elastic waves, velocities and stresses on a staggered grid, differences of order 4.
local function staggered(field, axis, low)
  local function at(k) return axis == "x" and ("%s[%d,0]"):format(field, k) or ("%s[0,%d]"):format(field, k) end
  return ("(c1*(%s - %s) + c2*(%s - %s))"):format(at(low + 1), at(low), at(low + 2), at(low - 1))
end
local elastic = {
  name = "elastic", dims = 2, params = { c1 = 9 / 8, c2 = -1 / 24 },
  fields = { vx = "real", vy = "real", sxx = "real", syy = "real", sxy = "real",
    b = { role = "static", initial = 0.2 }, lambda = { role = "static", initial = 0.3 },
    mu = { role = "static", initial = 0.3 } },
  passes = {
    { vx = "vx + b*(" .. staggered("sxx", "x", 0) .. " + " .. staggered("sxy", "y", -1) .. ")",
      vy = "vy + b*(" .. staggered("sxy", "x", -1) .. " + " .. staggered("syy", "y", 0) .. ")" },
    { sxx = "sxx + (lambda + 2*mu)*" .. staggered("vx", "x", -1) .. " + lambda*" .. staggered("vy", "y", -1),
      syy = "syy + (lambda + 2*mu)*" .. staggered("vy", "y", -1) .. " + lambda*" .. staggered("vx", "x", -1),
      sxy = "sxy + mu*(" .. staggered("vx", "y", 0) .. " + " .. staggered("vy", "x", 0) .. ")" },
  },
}

-- The same in 3-D: nine fields and three of the rock.
local elastic3d = {
  name = "elastic3d", dims = 3,
  fields = { "vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz", b = { role = "static", initial = 0.2 },
    lambda = { role = "static", initial = 0.3 }, mu = { role = "static", initial = 0.3 } },
  let = { spread = "lambda*(dxm(vx,4) + dym(vy,4) + dzm(vz,4))" },
  passes = {
    { vx = "vx + b*(dxp(sxx,4) + dym(sxy,4) + dzm(sxz,4))", vy = "vy + b*(dxm(sxy,4) + dyp(syy,4) + dzm(syz,4))",
      vz = "vz + b*(dxm(sxz,4) + dym(syz,4) + dzp(szz,4))" },
    { sxx = "sxx + spread + 2*mu*dxm(vx,4)", syy = "syy + spread + 2*mu*dym(vy,4)", szz = "szz + spread + 2*mu*dzm(vz,4)",
      sxy = "sxy + mu*(dyp(vx,4) + dxp(vy,4))", sxz = "sxz + mu*(dzp(vx,4) + dxp(vz,4))",
      syz = "syz + mu*(dzp(vy,4) + dyp(vz,4))" },
  },
}

-- Sound, of order 8 in space.
local acoustic8 = {
  name = "acoustic8", dims = 3, fields = { "u", old = "real", speed = { role = "static", initial = 0.1 } },
  update = { u = "2*u - old + speed*lap(u, 8)", old = "u" },
}

-- ---- Fluids --------------------------------------------------------------------------------------------------------

-- Lattice Boltzmann with nineteen populations in 3-D, and solid cells that send them back.
local function d3q19()
  local directions, fields, update, density, speed = {}, { solid = { type = "int", role = "static" } }, {}, {}, { {}, {}, {} }
  for z = -1, 1 do
    for y = -1, 1 do
      for x = -1, 1 do
        if math.abs(x) + math.abs(y) + math.abs(z) < 3 then directions[#directions + 1] = { x, y, z } end
      end
    end
  end
  local function pulled(q)
    local d = directions[q]
    return ("f%d[%d,%d,%d]"):format(q, -d[1], -d[2], -d[3])
  end
  for q, d in ipairs(directions) do
    density[q] = pulled(q)
    for axis = 1, 3 do
      if d[axis] == 1 then table.insert(speed[axis], ("(%s - %s)"):format(pulled(q), pulled(20 - q))) end
    end
  end
  local u = {}
  for axis = 1, 3 do u[axis] = "((" .. sum(speed[axis]) .. ")/(" .. sum(density) .. "))" end
  for q, d in ipairs(directions) do
    local length = math.abs(d[1]) + math.abs(d[2]) + math.abs(d[3])
    local weight = ({ [0] = 1 / 3, 1 / 18, 1 / 36 })[length]
    fields["f" .. q] = { initial = weight }
    local along = {}
    for axis = 1, 3 do
      if d[axis] ~= 0 then along[#along + 1] = (d[axis] > 0 and "" or "-") .. u[axis] end
    end
    local c = #along > 0 and "(" .. sum(along) .. ")" or "0"
    local square = ("(%s*%s + %s*%s + %s*%s)"):format(u[1], u[1], u[2], u[2], u[3], u[3])
    local balance = ("%.17g*(%s)*(1 + 3*%s + 4.5*%s*%s - 1.5*%s)"):format(weight, sum(density), c, c, c, square)
    update["f" .. q] = ("solid ? %s : %s + rate*(%s - %s)"):format(pulled(20 - q), pulled(q), balance, pulled(q))
  end
  return { name = "d3q19", dims = 3, params = { rate = 1.2 }, fields = fields, update = update }
end

-- Shallow water, MacCormack's two passes.
local shallow = {
  name = "shallow", dims = 2, params = { g = 9.81, dt = 0.01 },
  fields = { h = { initial = 1 }, p = "real", q = "real", hp = { initial = 1 }, pp = "real", qp = "real" },
  passes = {
    { hp = "h - dt*((p[1,0] - p) + (q[0,1] - q))",
      pp = "p - dt*((p[1,0]^2/h[1,0] + 0.5*g*h[1,0]^2) - (p^2/h + 0.5*g*h^2) + p[0,1]*q[0,1]/h[0,1] - p*q/h)",
      qp = "q - dt*((q[0,1]^2/h[0,1] + 0.5*g*h[0,1]^2) - (q^2/h + 0.5*g*h^2) + p[1,0]*q[1,0]/h[1,0] - p*q/h)" },
    { h = "0.5*(h + hp - dt*((pp - pp[-1,0]) + (qp - qp[0,-1])))",
      p = "0.5*(p + pp - dt*((pp^2/hp + 0.5*g*hp^2) - (pp[-1,0]^2/hp[-1,0] + 0.5*g*hp[-1,0]^2) + pp*qp/hp - pp[0,-1]*qp[0,-1]/hp[0,-1]))",
      q = "0.5*(q + qp - dt*((qp^2/hp + 0.5*g*hp^2) - (qp[0,-1]^2/hp[0,-1] + 0.5*g*hp[0,-1]^2) + pp*qp/hp - pp[-1,0]*qp[-1,0]/hp[-1,0]))" },
  },
}

-- Euler's equations of a gas with Rusanov's fluxes.
local function euler()
  local at = { c = "", w = "[-1,0]", e = "[1,0]", s = "[0,-1]", n = "[0,1]" }
  local function pressure(k) return fill("(0.4*(e$k - 0.5*(mx$k*mx$k + my$k*my$k)/r$k))", { k = at[k] }) end
  local function speed(k, m) return fill("(abs($m$k/r$k) + sqrt(1.4*$p/r$k))", { k = at[k], m = m, p = pressure(k) }) end
  local fluxes = {
    r = { mx = "mx$k", my = "my$k" },
    mx = { mx = "(mx$k*mx$k/r$k + $p)", my = "mx$k*my$k/r$k" },
    my = { mx = "mx$k*my$k/r$k", my = "(my$k*my$k/r$k + $p)" },
    e = { mx = "(e$k + $p)*mx$k/r$k", my = "(e$k + $p)*my$k/r$k" },
  }
  local function flux(field, m, low, high)
    local function one(k) return fill(fluxes[field][m], { k = at[k], p = pressure(k) }) end
    return ("0.5*(%s + %s - max(%s, %s)*(%s%s - %s%s))"):format(one(low), one(high), speed(low, m), speed(high, m),
      field, at[high], field, at[low])
  end
  local update = {}
  for field in pairs(fluxes) do
    update[field] = ("%s - dt*((%s - %s) + (%s - %s))"):format(field, flux(field, "mx", "c", "e"),
      flux(field, "mx", "w", "c"), flux(field, "my", "c", "n"), flux(field, "my", "s", "c"))
  end
  return { name = "euler", dims = 2, params = { dt = 0.1 },
    fields = { r = { initial = 1 }, mx = "real", my = "real", e = { initial = 2.5 } }, update = update }
end

-- Advection by a wind that is known in each cell, upwind.
local upwind = {
  name = "upwind", dims = 2, fields = { "c", wx = { role = "static", initial = 0.2 }, wy = { role = "static", initial = -0.1 } },
  update = { c = "c - max(wx, 0)*(c - c[-1,0]) - min(wx, 0)*(c[1,0] - c) - max(wy, 0)*(c - c[0,-1]) - min(wy, 0)*(c[0,1] - c)" },
}

-- ---- Diffusion, reaction, phases -----------------------------------------------------------------------------------

local function perona(dx, dy)
  local d = ("(u[%d,%d] - u)"):format(dx, dy)
  return ("exp(-(%s/k)^2)*%s"):format(d, d)
end
local perona_malik = {
  name = "perona", dims = 2, params = { k = 0.1, rate = 0.2 }, fields = { "u" },
  update = { u = "u + rate*(" .. sum { perona(-1, 0), perona(1, 0), perona(0, -1), perona(0, 1) } .. ")" },
}

-- Heat in a material whose conductivity varies: harmonic means at the faces.
local function face(offset) return ("2*k*k[%s]/(k + k[%s])*(u[%s] - u)"):format(offset, offset, offset) end
local harmonic = {
  name = "harmonic", dims = 3, params = { rate = 0.1 }, fields = { "u", k = { role = "static", initial = 1 } },
  update = { u = "u + rate*(" .. sum { face "-1,0,0", face "1,0,0", face "0,-1,0", face "0,1,0", face "0,0,-1", face "0,0,1" } .. ")" },
}

-- Gray and Scott's reaction in 3-D with Laplacians of 7 and of 27 points.
local function lap27(f)
  local kinds = { {}, {}, {} }
  for z = -1, 1 do
    for y = -1, 1 do
      for x = -1, 1 do
        local distance = math.abs(x) + math.abs(y) + math.abs(z)
        if distance > 0 then table.insert(kinds[distance], ("%s[%d,%d,%d]"):format(f, x, y, z)) end
      end
    end
  end
  return ("((14*(%s) + 3*(%s) + (%s) - 128*%s)/30)"):format(sum(kinds[1]), sum(kinds[2]), sum(kinds[3]), f)
end
local function grayscott(name, lap)
  return {
    name = name, dims = 3, params = { du = 0.16, dv = 0.08, feed = 0.035, kill = 0.06 },
    fields = { u = { initial = 1 }, v = "real" },
    update = { u = "u + du*" .. lap "u" .. " - u*v*v + feed*(1 - u)", v = "v + dv*" .. lap "v" .. " + u*v*v - (feed + kill)*v" },
  }
end
local function lap7(f) return "lap(" .. f .. ")" end

local fitzhugh = {
  name = "fitzhugh", dims = 3, params = { d = 0.1, a = 0.1, eps = 0.01, dt = 0.1 }, fields = { "u", w = "real" },
  update = { u = "u + d*lap(u) + dt*(u*(1 - u)*(u - a) - w)", w = "w + dt*eps*(0.5*u - w)" },
}

local kuramoto = {
  name = "kuramoto", dims = 2, params = { dt = 0.001 }, fields = { "u" },
  update = { u = "u - dt*(lap(u, 4) + lap(lap(u, 4), 4) + 0.5*(dx(u, 4)^2 + dy(u, 4)^2))" },
}

local cahn = {
  name = "cahn", dims = 2, params = { dt = 0.01, gamma = 0.5 }, fields = { "c", mu = "real" },
  passes = { { mu = "c^3 - c - gamma*lap(c)" }, { c = "c + dt*lap(mu)" } },
}

-- ---- Automata ------------------------------------------------------------------------------------------------------

-- Lenia: a ring of radius 8, and growth by a bell curve.
local function lenia()
  local terms, total = {}, 0
  for y = -8, 8 do
    for x = -8, 8 do
      local r = math.sqrt(x * x + y * y) / 8
      local w = r > 0 and r <= 1 and math.exp(4 - 1 / math.max(r * (1 - r), 1e-3)) or 0
      if w > 1e-3 then
        terms[#terms + 1] = ("%.9g*a[%d,%d]"):format(w, x, y)
        total = total + w
      end
    end
  end
  return { name = "lenia", dims = 2, params = { dt = 0.1, centre = 0.15, width = 0.015, scale = 1 / total }, fields = { "a" },
    update = { a = "min(1, max(0, a + dt*(2*exp(-((scale*(" .. sum(terms) .. ") - centre)/width)^2/2) - 1)))" } }
end

-- A number from 0 to 65535 that depends on cell and step, by integers alone.
local function dice(salt)
  local h = ("(x*374761393 + y*668265263 + step*974711 + %d)"):format(salt)
  return ("(((%s ~ (%s >> 13))*1274126177 >> 12) & 65535)"):format(h, h)
end
-- Empty, tree, burning, ash.
local forest = {
  name = "forest", dims = 2, fields = { s = "int" }, params = { grow = { value = 300, integer = true }, spark = { value = 2, integer = true } },
  update = { s = fill("s == 2 ? 3 : s == 3 ? 0 : s == 1 ? ((s[-1,0] == 2) + (s[1,0] == 2) + (s[0,-1] == 2) + (s[0,1] == 2) > 0 or $a < spark ? 2 : 1) : ($b < grow ? 1 : 0)",
    { a = dice(17), b = dice(91) }) },
}

-- Ising's model by Metropolis' rule on a chequerboard: two passes.
local function spins(colour)
  local neighbours = "(s[-1,0] + s[1,0] + s[0,-1] + s[0,1])"
  return fill("(x + y)%2 == $c and ($n*s <= 0 or $d < ($n*s == 2 ? p2 : p4)) ? -s : s", { c = colour, n = neighbours, d = dice(colour + 5) })
end
local ising = {
  name = "ising", dims = 2, fields = { s = { type = "int", initial = 1 } },
  params = { p2 = { value = 11000, integer = true }, p4 = { value = 1900, integer = true } },
  passes = { { s = spins(0) }, { s = spins(1) } },
}

-- ---- All of them ---------------------------------------------------------------------------------------------------

-- bytes: what a cell must move at least in an iteration, in single precision. tuned: constants of the models may have
-- been chosen with it. random: ranges of random fields. block: values in the middle of the grid.
local function case(stencil, grid, bytes, tuned, random, block)
  return { stencil = stencil, grid = grid, bytes = bytes, tuned = tuned, random = random, block = block }
end
return {
  yee = case(yee, { 256, 256, 256 }, 52, true, { ez = { -1, 1 }, ce = { 0.2, 0.5 } }),
  d3q19 = case(d3q19(), { 256, 256, 256 }, 156, false, { f1 = { 0.05, 0.06 } }, { solid = 1 }),
  perona = case(perona_malik, { 8192, 8192 }, 8, false, { u = { 0, 1 } }),
  harmonic = case(harmonic, { 384, 384, 384 }, 12, true, { u = { 0, 1 }, k = { 0.1, 1 } }),
  shallow = case(shallow, { 4096, 4096 }, 48, true, { h = { 1, 1.01 } }),
  grayscott7 = case(grayscott("grayscott7", lap7), { 384, 384, 384 }, 16, true, { u = { 0.5, 1 } }, { v = 0.25 }),
  grayscott27 = case(grayscott("grayscott27", lap27), { 384, 384, 384 }, 16, true, { u = { 0.5, 1 } }, { v = 0.25 }),
  euler = case(euler(), { 4096, 4096 }, 32, false, { r = { 1, 1.1 } }),
  elastic = case(elastic, { 4096, 4096 }, 52, true, { vx = { -1, 1 } }),
  elastic3d = case(elastic3d, { 256, 256, 256 }, 84, true,
    { vx = { -1, 1 }, b = { 0.15, 0.2 }, lambda = { 0.2, 0.3 }, mu = { 0.2, 0.3 } }),
  acoustic8 = case(acoustic8, { 384, 384, 384 }, 16, true, { u = { -1, 1 }, old = { -1, 1 }, speed = { 0.05, 0.1 } }),
  kuramoto = case(kuramoto, { 8192, 8192 }, 8, true, { u = { -1, 1 } }),
  lenia = case(lenia(), { 4096, 4096 }, 8, true, { a = { 0, 1 } }),
  forest = case(forest, { 8192, 8192 }, 8, false, { s = { 0, 2 } }),
  ising = case(ising, { 8192, 8192 }, 8, true, {}),
  cahn = case(cahn, { 8192, 8192 }, 16, true, { c = { -0.1, 0.1 } }),
  fitzhugh = case(fitzhugh, { 384, 384, 384 }, 16, false, { u = { 0, 1 } }),
  upwind = case(upwind, { 8192, 8192 }, 16, true, { c = { 0, 1 } }),
}
