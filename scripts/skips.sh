#!/bin/sh
# Lists the tests that a run of ctest skipped, each with its reason: sh scripts/skips.sh LastTest.log
exec awk '
/^[0-9]+\/[0-9]+ Test: / { test = $3; reason = ""; summary = 0 }
/^skipped: / { reason = substr($0, 10); print test ": " reason }
/^\[  SKIPPED \] [0-9]+ test/ { summary = 1 } # what follows names them again
/^\[  SKIPPED \]/ && !summary { if (reason == "") print test ": " $4 " gives no reason"; reason = "" }
/^ok .* # SKIP / { sub(/.* # SKIP /, ""); print test ": " $0 }
/^1\.\.0 # SKIP / { sub(/.* # SKIP /, ""); print test ": " $0 }
' "$1"
