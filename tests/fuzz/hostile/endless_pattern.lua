-- stopped
string.match(("a"):rep(60), ("a*"):rep(30) .. "b")
