-- Quotients of zeros of both signs, of the least and the largest numbers, and by zero, beside usual ones. The values
-- that leave a cell are finite.
local tz = require "trapeze"
-- From column 160 on also large dividends and strange divisors, which make a lane compute its cells again.
local strange = "(u*((x + 3*y + step)%7 == 0 ? 0 : (x + y + step)%5 == 0 ? tiny : x > 159 and (x + 2*y)%11 == 0 ? large : 1))"
local divisor = "(v*(x < 160 ? 1 : (x + 5*y + step)%13 == 0 ? 0 : (x + 4*y + step)%9 == 0 ? tiny : (2*x + y)%10 == 0 ? large : -1))"
local quotient = strange .. "/" .. divisor
-- By numbers that all cells share: a usual one, beside the same by one that is not shared, and one that is not usual.
local shared = ("(8*%s/scale == 8*%s/(scale + 0*v) ? 0 : 0.125) + 0.125*min(1, max(-1, %s/tiny))"):format(strange, strange, strange)
tz.stencil { name = "quotients3d", dims = 3, fields = { "u", "v", "w" },
  params = { tiny = 1e-37, large = 1e30, scale = 1.3 },
  update = {
    u = "0.25*min(4, max(-4, w)) + 0.125 + 0.1*u[1,0,0]/(2 + v[0,-1,0]*v[0,-1,0]) + " .. shared,
    v = "0.5*min(4, max(-4, u/(3 + u[0,1,0]*u[0,1,0]))) + 0.25*v/scale - 0.125*v[-1,0,0]",
    w = ("%s > -1e9 ? (%s < 1e9 ? %s : 2) : 3"):format(quotient, quotient, quotient) } }
