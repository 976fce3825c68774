-- Gray and Scott's reaction with 27 points: sums of a plane, of two fields, that several planes need, beside what only the
-- cell itself reads.
local tz = require "trapeze"

local function laplacian(field)
  local kinds = { {}, {}, {} }
  for z = -1, 1 do
    for y = -1, 1 do
      for x = -1, 1 do
        local far = math.abs(x) + math.abs(y) + math.abs(z)
        if far > 0 then table.insert(kinds[far], ("%s[%d,%d,%d]"):format(field, x, y, z)) end
      end
    end
  end
  return ("(14*(%s) + 3*(%s) + (%s) - 128*%s)/30"):format(table.concat(kinds[1], " + "), table.concat(kinds[2], " + "),
    table.concat(kinds[3], " + "), field)
end
tz.stencil {
  name = "sums3d", dims = 3, group = true, fields = { u = { initial = 1 }, v = "real" },
  update = { u = "u + 0.14*" .. laplacian "u" .. " - u*v*v + 0.03*(1 - u)",
    v = "v + 0.07*" .. laplacian "v" .. " + u*v*v - 0.09*v" },
}
