-- Two passes that the family direct computes in one launch: the second one reads what the first one writes to both sides.
local tz = require "trapeze"
tz.stencil { name = "staggered3d", dims = 3, fields = { "u", "v" },
  passes = {
    { v = "v + 0.125*(u[1,0,0] - u + u[0,1,0] - u[0,-1,0] + u[0,0,1] - u)" },
    { u = "u + 0.125*(v - v[-1,0,0] + v[1,0,0] - v[0,-1,0] + v[0,0,-1])" } } }
