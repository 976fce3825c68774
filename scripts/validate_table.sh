#!/bin/sh
# Summarises what `trapeze tune --csv` measured. scripts/validate.sh calls it:
#
#   validate_table.sh case FILE.csv    one line
#   validate_table.sh table FOLDER     a Markdown table of all its files; box2d2r in double precision separately,
#                                      because the model was developed without it
set -eu
export LC_ALL=C

# Lines: CASE SHARE PREDICTED_HEIGHT BEST_HEIGHT, then CASE error E for each plan.
facts() {
    for file in "$@"; do
        awk -F, -v name="$(basename "$file" .csv)" '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            $at["measured_s"] != "" {
                e = $at["predicted_s"] / $at["measured_s"] - 1
                print name, "error", e < 0 ? -e : e
                if ($at["best"] == 1) { best = $at["measured_s"]; bh = $at["family"] " " $at["height"] }
                if ($at["chosen"] == 1) { chosen = $at["measured_s"]; ch = $at["family"] " " $at["height"] }
                other += $at["bits"] == "other"
            }
            END { if (best > 0) print name, "share", best / chosen, ch, bh, other + 0 }' "$file"
    done
}

# quantile SHARE: of the numbers on stdin
quantile() {
    sort -g | awk -v q="$1" '{ v[NR] = $1 }
        END { if (NR == 0) { print "-"; exit }
              x = 1 + q * (NR - 1); i = int(x); print v[i] + (i < NR ? (x - i) * (v[i + 1] - v[i]) : 0) }'
}
percent() { awk '{ if ($1 == "-") print "-"; else printf "%.1f\n", 100 * $1 }'; }

case ${1:-} in
case)
    facts "$2" | awk '
        $2 == "error" { e[++n] = $3 }
        $2 == "share" { line = sprintf("%-34s %5.1f %% of the best: chosen %s h %s, fastest %s h %s%s", $1, 100 * $3, $4,
                                       $5, $6, $7, $8 > 0 ? "; BITS DIFFER" : "") }
        END { for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (e[j] < e[i]) { t = e[i]; e[i] = e[j]; e[j] = t }
              printf "%s; error median %.0f %%, 90th percentile %.0f %%, %d plans\n", line, 100 * e[int((n + 1) / 2)],
                     100 * e[int(0.9 * (n - 1)) + 1], n }'
    ;;
table)
    work=$(mktemp)
    trap 'rm -f "$work"' EXIT
    ls "$2"/*.csv >/dev/null 2>&1 || { echo "validate_table: no measurements in $2" >&2; exit 1; }
    facts "$2"/*.csv >"$work"
    grep -q ' share ' "$work" || { echo "validate_table: no plan in $2 was measured" >&2; exit 1; }
    echo '| stencil | precision | share of the best: small, medium, large | error, median | error, 90 % | plans |'
    echo '|---|---|---|---|---|---|'
    cut -d. -f1,2 "$work" | cut -d' ' -f1 | sort -u | while IFS=. read -r stencil precision; do
        shares=
        for size in small medium large; do
            one=$(grep -E "^$stencil\.$precision\.$size\.[a-z]* share" "$work" | cut -d' ' -f3 | quantile 0 | percent)
            shares="$shares${shares:+, }$one"
        done
        errors=$(grep -E "^$stencil\.$precision\..* error" "$work" | cut -d' ' -f3)
        echo "| $stencil | $precision | $shares | $(echo "$errors" | quantile 0.5 | percent) |" \
            "$(echo "$errors" | quantile 0.9 | percent) | $(echo "$errors" | wc -l) |"
    done
    echo
    shares=$(grep ' share ' "$work" | grep -v '^box2d2r.double' | cut -d' ' -f3)
    errors=$(grep ' error ' "$work" | grep -v '^box2d2r.double' | cut -d' ' -f3)
    apart=$(grep '^box2d2r.double.* error ' "$work" | cut -d' ' -f3 || true)
    apart_shares=$(grep '^box2d2r.double.* share ' "$work" | cut -d' ' -f3 || true)
    echo "Of $(echo "$shares" | wc -l) cases (the least of several boundaries above; percent):" \
        "share of the best at least $(echo "$shares" | quantile 0 | percent)," \
        "10th percentile $(echo "$shares" | quantile 0.1 | percent)," \
        "median $(echo "$shares" | quantile 0.5 | percent);" \
        "error over $(echo "$errors" | wc -l) plans: median $(echo "$errors" | quantile 0.5 | percent)," \
        "90th percentile $(echo "$errors" | quantile 0.9 | percent)."
    [ -z "$apart" ] || echo "box2d2r in double precision, which the model was developed without: share at least" \
        "$(echo "$apart_shares" | quantile 0 | percent), error median $(echo "$apart" | quantile 0.5 | percent)," \
        "90th percentile $(echo "$apart" | quantile 0.9 | percent)."
    different=$(awk '$2 == "share" && $8 > 0' "$work" | wc -l)
    echo "Bits: $([ "$different" = 0 ] && echo 'the same under every plan compared.' || echo "DIFFERENT in $different cases.")"
    ;;
*) echo 'usage: validate_table.sh case FILE.csv | table FOLDER' >&2; exit 2 ;;
esac
