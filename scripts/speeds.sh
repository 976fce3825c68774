#!/bin/sh
# Draws docs/speed-MACHINE.svg, the bars of docs/performance.md, from scripts/speeds.txt: sh scripts/speeds.sh
set -eu
cd "$(dirname -- "$0")"
for machine in $(sed -n 's/^\([a-z0-9]*\)|.*/\1/p' speeds.txt | sort -u); do
    awk -F '|' -v machine="$machine" '
        function text(x, y, anchor, words) {
            printf "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, words
        }
        function bar(y, value, colour) {
            printf "<rect x=\"170\" y=\"%d\" width=\"%.1f\" height=\"11\" fill=\"%s\"/>\n", y, value / most * 400, colour
        }
        $1 == machine { n++; name[n] = $2; ours[n] = $3; other[n] = $4; whose[n] = $5 }
        $1 == machine && $3 > most { most = $3 }
        $1 == machine && $4 > most { most = $4 }
        END {
            printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"740\" height=\"%d\" ", n * 34 + 34
            print "font-family=\"sans-serif\" font-size=\"12\"><rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
            bar(8, most / 36, "#1f5fa8"); text(186, 18, "start", "Trapeze")
            printf "<rect x=\"250\" y=\"8\" width=\"11\" height=\"11\" fill=\"#b8b8b8\"/>\n"
            text(266, 18, "start", "best other program; GCells/s")
            for (i = 1; i <= n; i++) {
                y = i * 34
                text(162, y + 14, "end", name[i])
                bar(y, ours[i], "#1f5fa8"); text(176 + ours[i] / most * 400, y + 10, "start", ours[i])
                bar(y + 12, other[i], "#b8b8b8")
                text(176 + other[i] / most * 400, y + 22, "start", other[i] "  " whose[i])
            }
            print "</svg>"
        }' speeds.txt >"../docs/speed-$machine.svg"
done
