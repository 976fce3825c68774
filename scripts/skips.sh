#!/bin/sh
# Lists the tests that a run of ctest skipped, each with its reason: sh scripts/skips.sh LOG [ALLOWED]
#
# LOG is ctest's LastTest.log. ALLOWED holds an extended regular expression a line; with it, exits 1 if a reason
# matches none of them. A log without a test is an error, and a test without a case counts as skipped.
set -eu
grep -q '^[0-9]*/[0-9]* Test: ' "$1" 2>/dev/null || { echo "skips: no test in $1" >&2; exit 1; }
skips=$(awk '
/^[0-9]+\/[0-9]+ Test: / { test = $3; reason = ""; summary = 0 }
/^skipped: / { reason = substr($0, 10); print test ": " reason }
/^\[  SKIPPED \] [0-9]+ test/ { summary = 1 } # the names follow once more
/^\[  SKIPPED \]/ && !summary { if (reason == "") print test ": no reason for " $4; reason = "" }
/^1\.\.0$/ || /^\[=+\].* Running 0 test/ { print test ": no case" }
/^(ok |1\.\.0).* # SKIP / { sub(/.* # SKIP /, ""); print test ": " $0 }
' "$1")
[ -n "$skips" ] || exit 0
printf 'Skipped:\n%s\n' "$skips"
[ $# -gt 1 ] || exit 0
allowed=$(grep -vE '^(#|$)' "$2" || true) # an empty expression would match every reason
unlisted=$(echo "$skips" | while IFS= read -r line; do
    [ -n "$allowed" ] && echo "${line#*: }" | grep -qE -- "$allowed" || echo "$line"
done)
[ -n "$unlisted" ] || exit 0
printf '%s does not list these reasons:\n%s\n' "$2" "$unlisted" >&2
exit 1
