-- Definitions of stencils of many kinds, as tables for tz.stencil: what users might write.
-- classes.lua, classes_cpu.lua and copies.lua require them.

-- ---- Text of formulas ---------------------------------------------------------------------------------------------

-- "(u[-1,0] + u[1,0])": two cells, d apart from the centre of a row.
local function pair(d, rest) return ("(u[%d%s] + u[%d%s])"):format(-d, rest, d, rest) end
local function fma(c, a, b) return ("fma(%s, %s, %s)"):format(c, a, b) end

-- Cells 1 to `radius` off on each axis; the cells of each distance have one weight: c1, c2, …
local function star(dims, radius)
  local sum = "c0*u"
  for d = 1, radius do
    local x = pair(d, dims == 2 and ",0" or ",0,0")
    local y = dims == 2 and ("(u[0,%d] + u[0,%d])"):format(-d, d) or ("(u[0,%d,0] + u[0,%d,0])"):format(-d, d)
    local axes = ("(%s + %s)"):format(x, y)
    if dims == 3 then axes = ("(%s + (u[0,0,%d] + u[0,0,%d]))"):format(axes, -d, d) end
    sum = fma("c" .. d, axes, sum)
  end
  return sum
end

-- A row of a box: the weights of its middle, and of the cells 1 and 2 off.
local function row(dy, ...)
  local weights = { ... }
  local sum = ("%s*u[0,%d]"):format(weights[1], dy)
  for d = 1, #weights - 1 do sum = fma(weights[d + 1], pair(d, "," .. dy), sum) end
  return sum
end

-- A plane of a box: the weights of its middle, of four sides and of four corners.
local function plane(dz, middle, sides, corners)
  local function two(dy) return pair(1, (",%d,%d"):format(dy, dz)) end
  local four = ("(%s + (u[0,-1,%d] + u[0,1,%d]))"):format(two(0), dz, dz)
  return fma(corners, ("(%s + %s)"):format(two(-1), two(1)), fma(sides, four, ("%s*u[0,0,%d]"):format(middle, dz)))
end

local function add(terms)
  local sum = terms[1]
  for i = 2, #terms do sum = ("(%s + %s)"):format(sum, terms[i]) end
  return sum
end

-- ---- Copies of the plugin jacobi: the same operations in the same order --------------------------------------------

local copies = {
  star2d1r = { dims = 2, update = star(2, 1), params = { c0 = 0.5, c1 = 0.125 } },
  star2d2r = { dims = 2, update = star(2, 2), params = { c0 = 0.5, c1 = 0.09375, c2 = 0.03125 } },
  star3d1r = { dims = 3, update = star(3, 1), params = { c0 = 0.25, c1 = 0.125 } },
  star3d2r = { dims = 3, update = star(3, 2), params = { c0 = 0.25, c1 = 0.09375, c2 = 0.03125 } },
  box2d1r = { dims = 2, update = add { row(-1, "c1", "c11"), row(0, "c0", "c1"), row(1, "c1", "c11") },
    params = { c0 = 0.25, c1 = 0.125, c11 = 0.0625 } },
  box2d2r = { dims = 2, update = add { row(-2, "c2", "c21", "c22"), row(-1, "c1", "c11", "c21"), row(0, "c0", "c1", "c2"),
    row(1, "c1", "c11", "c21"), row(2, "c2", "c21", "c22") },
    params = { c0 = 0.140625, c1 = 0.09375, c11 = 0.0625, c2 = 0.0234375, c21 = 0.015625, c22 = 0.00390625 } },
  box3d1r = { dims = 3, update = add { plane(0, "c0", "c1", "c11"), plane(-1, "c1", "c11", "c111"),
    plane(1, "c1", "c11", "c111") }, params = { c0 = 0.125, c1 = 0.0625, c11 = 0.03125, c111 = 0.015625 } },
}
for name, copy in pairs(copies) do
  copy.name, copy.fields, copy.update = "my_" .. name, { "u" }, { u = copy.update }
end

-- ---- Other kinds ---------------------------------------------------------------------------------------------------

local static = { role = "static", initial = 0.1 }

-- Seven points in 3-D, each with an array of coefficients.
local coefficients3d = {
  name = "coefficients3d", dims = 3,
  fields = { "u", own = static, west = static, east = static, south = static, north = static, below = static,
    above = static },
  update = { u = "own*u + west*u[-1,0,0] + east*u[1,0,0] + south*u[0,-1,0] + north*u[0,1,0] + below*u[0,0,-1] + above*u[0,0,1]" },
}

-- D2Q9 lattice Boltzmann with solid cells, which send the populations back.
local directions = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 }, { 1, 1 }, { -1, 1 }, { -1, -1 }, { 1, -1 } }
local opposite = { 1, 4, 5, 2, 3, 8, 9, 6, 7 }
local weights = { "4/9", "1/9", "1/9", "1/9", "1/9", "1/36", "1/36", "1/36", "1/36" }
local function pulled(q) return ("f%d[%d,%d]"):format(q - 1, -directions[q][1], -directions[q][2]) end
local function boltzmann()
  local fields, update, density, speed = { solid = { type = "int", role = "static" } }, {}, {}, { {}, {} }
  for q, d in ipairs(directions) do
    fields["f" .. q - 1] = { initial = load("return " .. weights[q])() }
    density[q] = pulled(q)
    for axis = 1, 2 do
      if d[axis] == 1 then table.insert(speed[axis], ("(%s - %s)"):format(pulled(q), pulled(opposite[q]))) end
    end
  end
  local ux, uy = add(speed[1]), add(speed[2])
  local still = ("fma(-1.5, fma(%s, %s, %s*%s), %s)"):format(ux, ux, uy, uy, add(density))
  for q, d in ipairs(directions) do
    local along = d[1] == 0 and (d[2] == 0 and "0" or d[2] == 1 and uy or "-" .. uy)
      or d[2] == 0 and (d[1] == 1 and ux or "-" .. ux)
      or ("(%s%s %s %s)"):format(d[1] == 1 and "" or "-", ux, d[2] == 1 and "+" or "-", uy)
    local balance = along == "0" and still or ("fma(%s, fma(4.5, %s, 3), %s)"):format(along, along, still)
    update["f" .. q - 1] = ("solid ? %s : fma(rate, %s*%s - %s, %s)"):format(pulled(opposite[q]), weights[q], balance,
      pulled(q), pulled(q))
  end
  return { name = "d2q9", dims = 2, fields = fields, params = { rate = 1 }, update = update }
end
local reaction = {
  name = "reaction", dims = 2, fused = true, fields = { u = { initial = 1 }, v = "real" },
  params = { du = 0.16, dv = 0.08, feed = 0.035, kill = 0.065 },
  update = { u = "u + du*lap(u) - u*v*v + feed*(1 - u)", v = "v + dv*lap(v) + u*v*v - (feed + kill)*v" },
}

-- Maxwell's equations on a staggered grid: two passes.
local maxwell = {
  name = "maxwell", dims = 2, fields = { ez = "real", hx = "real", hy = "real", rate = { role = "static", initial = 0.5 } },
  params = { share = 0.5 },
  passes = {
    { hx = "hx - share*(ez[0,1] - ez)", hy = "hy + share*(ez[1,0] - ez)" },
    { ez = "ez + rate*((hy - hy[-1,0]) - (hx - hx[0,-1]))" },
  },
}

-- A cell takes the next state when enough of its neighbours have it.
local automaton = {
  name = "automaton", dims = 2, fields = { kind = "int" }, params = { kinds = { value = 14, integer = true }, enough = { value = 1, integer = true } },
  update = { kind = (([[(here) >= enough ? next : kind]]):gsub("here", function()
    local count = {}
    for y = -1, 1 do
      for x = -1, 1 do
        if x ~= 0 or y ~= 0 then count[#count + 1] = ("(kind[%d,%d] == next)"):format(x, y) end
      end
    end
    return table.concat(count, " + ")
  end):gsub("next", "(kind + 1 == kinds ? 0 : kind + 1)")) },
}

-- The acoustic wave equation in 3-D, of order 2 and 8 in space.
local function acoustic(order)
  return {
    name = "acoustic" .. order, dims = 3, fields = { "u", old = "real", speed = { role = "static", initial = 0.1 } },
    update = { u = ("2*u - old + speed*lap(u, %d)"):format(order), old = "u" },
  }
end

return { copies = copies, others = { coefficients3d, boltzmann(), reaction, maxwell, automaton, acoustic(2), acoustic(8) } }
