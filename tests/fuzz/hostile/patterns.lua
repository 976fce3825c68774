-- ok
local c = require "calm"
c.refused(string.match, ("a"):rep(300), ("a?"):rep(300) .. "b")
c.refused(string.match, "a", ("("):rep(40))
c.refused(string.match, "a", "[a")
c.refused(string.match, "a", "%")
c.refused(string.match, "a", "%f")
c.refused(string.gsub, "a", "a", "%9")
c.refused(string.rep, ("x"):rep(1 << 20), 1 << 45)
c.calm(string.match, ("a"):rep(200), ".-.-b")
c.calm(string.find, ("\0"):rep(100), "%z+", math.mininteger)
