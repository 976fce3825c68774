-- group = true: the order of additions by hand, in 1-D to 3-D. Terms of one weight come first, of these cells that lie
-- symmetrically.
local tz = require "trapeze"
local c = require "checks"

local function hash(stencil, options, way)
  local given = { plugin = stencil, fields = { u = c.noise(3, 0.9) } }
  for _, some in ipairs { options, way } do
    for key, value in pairs(some) do given[key] = value end
  end
  local sim = tz.simulation(given)
  sim:run(5)
  local bits = sim:hash "u"
  sim:close()
  return bits
end

local function same(name, written, by_hand, grid)
  local function define(suffix, update, group)
    return tz.stencil { name = name .. suffix, dims = #grid, fields = { "u" }, group = group, update = update }
  end
  local grouped, hand = define("", written, true), define("_hand", by_hand)
  for _, boundary in ipairs { "periodic", "fixed" } do
    local options = { grid = grid, boundary = boundary }
    local bits = hash(hand, options, { backend = "reference", height = 1 })
    for _, way in ipairs { { backend = "reference", height = 1 }, { backend = "cpu", height = 1 }, { backend = "cpu", height = 2 } } do
      tz.expect(hash(grouped, options, way) == bits or tz.checking, ("%s, %s: other bits"):format(name, boundary))
    end
  end
  return grouped
end

-- A sum in a sum is a term of it: here rows.
same("rows", "sum(j, -1, 1, sum(i, -1, 1, 0.11*u[i,j]))",
  "0.11*((u[-1,-1] + u[1,-1] + u[0,-1]) + (u[-1,0] + u[1,0] + u) + (u[-1,1] + u[1,1] + u[0,1]))", { 45, 40 })
same("line", "0.1*u[3] + 0.2*u[-1] + 0.4*u + 0.2*u[1] + 0.1*u[-3] - 0.1*u[2]",
  "0.1*((u[-3] + u[3]) - u[2]) + 0.2*(u[-1] + u[1]) + 0.4*u", { 700 })
local function cells(weight, list) return weight .. "*u[" .. table.concat(list, "] + " .. weight .. "*u[") .. "]" end
same("box", cells("0.11", { "-1,-1", "0,-1", "1,-1", "-1,0", "0,0", "1,0", "-1,1", "0,1", "1,1" }),
  "0.11*(((u[-1,-1] + u[1,-1]) + (u[-1,1] + u[1,1])) + (u[0,-1] + u[0,1]) + (u[-1,0] + u[1,0]) + u)", { 45, 40 })
same("cube", cells("0.05", { "-1,-1,-1", "1,-1,-1", "-1,0,-1", "1,0,-1", "-1,1,-1", "1,1,-1", "-1,-1,0", "1,-1,0", "-1,0,0", "1,0,0",
    "-1,1,0", "1,1,0", "-1,-1,1", "1,-1,1", "-1,0,1", "1,0,1", "-1,1,1", "1,1,1" }),
  [[0.05*((((u[-1,-1,-1] + u[1,-1,-1]) + (u[-1,1,-1] + u[1,1,-1])) + ((u[-1,-1,1] + u[1,-1,1]) + (u[-1,1,1] + u[1,1,1])))
    + ((u[-1,0,-1] + u[1,0,-1]) + (u[-1,0,1] + u[1,0,1])) + ((u[-1,-1,0] + u[1,-1,0]) + (u[-1,1,0] + u[1,1,0])) + (u[-1,0,0] + u[1,0,0]))]],
  { 24, 20, 18 })

-- A wide kernel: a multiplication for each of its weights.
local terms, weights, count = {}, {}, 0
for y = -8, 8 do
  for x = -8, 8 do
    local r2 = x * x + y * y
    local w = ("%.9g"):format(math.exp(-r2 / 40) / 200)
    if r2 > 0 and r2 <= 81 then
      terms[#terms + 1] = ("%s*u[%d,%d]"):format(w, x, y)
      if not weights[w] then count = count + 1 end
      weights[w] = true
    end
  end
end
local ring = tz.stencil { name = "ring", dims = 2, fields = { "u" }, group = true, update = table.concat(terms, " + ") }
tz.expect(select(2, ring:text():gsub("TZ_R%(0%.[^)]*%) %*", "")) == count, ring:text())
c.same_bits(ring, { grid = { 60, 50 }, boundary = "periodic", fields = { u = c.noise(1) } }, 4,
  { { backend = "reference", height = 1 }, { backend = "cpu", height = 1 }, { backend = "cpu", height = 2 } })
c.refuses("'group'", tz.stencil, { dims = 1, update = "u[1] + u[-1]", group = "yes" })
