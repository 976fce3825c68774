-- refused: ?[2J
error(("x\n\27[2J\0"):rep(1000000) .. ("x"):rep(1000000))
