#!/bin/sh
# Writes docs/papers.md anew, or the page $PAGE (docs/log/papers.md): what lies between <!-- NAME --> and <!-- /NAME --> there is what a script of this folder prints
# between the same lines (paper.page of paper.lua).
#
#   sh scripts/paper/page.sh LOG…           prints the page with what these logs and scripts/paper/measured have
#   sh scripts/paper/page.sh --keep DATE-AND-MACHINE LOG…
#                                           puts the measured parts of these logs into scripts/paper/measured
#
# The part "claims" has those claims of all of them (paper.claim) that differ, "claims-held" those that hold. Parts that none of the logs has
# stay as they are.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd -P)
page=${PAGE:-$here/../../docs/papers.md}

if [ "${1:-}" = --keep ]; then
    stamp=$2
    shift 2
    mkdir -p "$here/measured"
    for log; do
        name=$(basename "$log" .txt)
        [ "$name" != log ] || name=$(basename "$(dirname "$log")")
        awk -v stamp="$stamp" '
            /^<!-- .* measured -->$/ { inside = 1; kept = 1; sub(/ measured -->/, " -->") }
            /^<!-- \// && inside { print ""; print "Measured: " stamp "." ; print; inside = 0; next }
            inside { print; next }
            /^measured claim: / { print }' "$log" >"$here/measured/$name.txt.new"
        if grep -q '^<!-- ' "$here/measured/$name.txt.new"; then
            mv "$here/measured/$name.txt.new" "$here/measured/$name.txt"
        else
            rm -f "$here/measured/$name.txt.new"
        fi
    done
    exit
fi

logs=
for log in "$here"/measured/*.txt; do [ ! -f "$log" ] || logs="$logs $log"; done
# shellcheck disable=SC2086 # names of this folder
awk '
    function by(file,   parts, n, name) { # the script that wrote a log
        n = split(file, parts, "/")
        name = parts[n] == "log.txt" ? parts[n - 1] : substr(parts[n], 1, length(parts[n]) - 4)
        sub(/-.*/, "", name)
        return name
    }
    FNR == 1 { files++ }
    FILENAME != ARGV[ARGC - 1] {
        if ($0 ~ /^measured claim: / && !(FILENAME ~ /measured\//)) next
        sub(/^measured claim: /, "claim: ")
        if ($0 ~ /^claim: /) {
            row = substr($0, 8)
            sub(/ \|$/, " | `" by(FILENAME) ".lua` |", row)
            claims[++count] = row
            holds += index(row, "| holds |") > 0
        } else if ($0 ~ /^<!-- \//) {
            part = ""
        } else if ($0 ~ /^<!-- [^ ]+( measured)? -->$/) {
            part = $2
            if ($0 ~ / measured -->$/) part = "" # those that are kept are in scripts/paper/measured
            else text[part] = ""
        } else if (part != "") text[part] = text[part] $0 "\n"
        next
    }
    !sorted {
        sorted = 1
        for (i = 2; i <= count; i++) { # by paper and place
            row = claims[i]
            for (k = i - 1; k >= 1 && claims[k] > row; k--) claims[k + 1] = claims[k]
            claims[k + 1] = row
        }
        head = "| paper, place | it says | here | | by |\n|---|---|---|---|---|\n"
        text["claims"] = count " claims: " holds " hold, " count - holds " differ:\n\n" head
        text["claims-held"] = head
        for (i = 1; i <= count; i++) {
            part = index(claims[i], "| holds |") > 0 ? "claims-held" : "claims"
            text[part] = text[part] claims[i] "\n"
        }
    }
    /^<!-- \/[^ ]+ -->$/ { skip = 0 }
    !skip { print }
    /^<!-- [^\/ ][^ ]* -->$/ && ($2 in text) { printf "%s", text[$2]; skip = 1 }
' "$@" $logs "$page"
