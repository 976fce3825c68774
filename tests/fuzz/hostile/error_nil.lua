-- refused: trapeze:
error(nil)
