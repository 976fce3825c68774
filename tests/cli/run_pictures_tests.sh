#!/bin/sh
# Pictures of a run, held against others that must be equal: run_pictures_tests.sh TRAPEZE
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"

# scenario NAME: from standard input, run into the folder NAME.
scenario() {
    { echo 'local tz = require "trapeze"'; cat; } >"$1.lua"
    t run "$1.lua" --out "$1" --backend cpu --threads 1 --quiet
}

# ---- Captions that a function makes -----------------------------------------------------------------------------------

scenario captions <<'END'
local chip = tz.simulation { plugin = "hotspot", grid = { 64, 48 }, name = "chip", fields = { temperature = 300, power = 1e-3 } }
local calls = 0
local function told(sim)
  calls = calls + 1
  return ("{time}, step {step} of %s, %.3f K"):format(sim.name, sim:max "temperature")
end
chip:every(4, tz.png { name = "told", range = { 300, 301 }, caption = told })
chip:every(4, tz.movie { name = "film", range = { 300, 301 }, caption = told })
chip:every(4, tz.movie { name = "silent", range = { 300, 301 }, caption = function(sim) return sim.step > 0 and "x" or "" end })
chip:write(tz.png { name = "first", range = { 300, 301 }, caption = told })
tz.expect(calls == (tz.checking and 0 or 1))
chip:run(8)
tz.expect(calls == (tz.checking and 0 or 7))
chip:write(tz.png { name = "as", range = { 300, 301 },
  caption = ("{time}, step 8 of chip, %.3f K"):format(chip:max "temperature") })
END
check "functions make captions" is $rc 0
check "the text is the caption" cmp captions/chip-as-000008.png captions/chip-told-000008.png

# ---- Figures ------------------------------------------------------------------------------------------------------------

scenario figures <<'END'
local chip = tz.simulation { plugin = "hotspot", grid = { 48, 30 }, fields = { temperature = function(x, y) return 300 + x end, power = 0 } }
local function draw(file, more)
  local options = { data = chip, field = "temperature", file = file, bar = true, axes = true, contours = 3, mark = "max", caption = "a < b & c" }
  for key, value in pairs(more) do options[key] = value end
  tz.picture(options)
end
draw("plain.png", { size = 500, bar = false, axes = false, caption = "" })
draw("column.png", { width_mm = 86 })
draw("column.svg", { width_mm = 86 })
draw("page.svg", { size = 700 })
draw("bytes.svg", { size = 200, caption = "no\255 UTF-8" })
local ok, why = pcall(draw, "column.pdf", { width_mm = 86 })
print(ok, why)
if tz.can_plot() then
  for _, file in ipairs { "p.svg", "p.pdf" } do
    tz.plot { file = file, width_mm = 86, title = "t", series = { { x = { 1, 2, 3 }, y = { 1, 4, 9 }, title = "one" }, { x = { 1, 2, 3 }, y = { 2, 3, 4 }, title = "two" } } }
  end
end
END
check "figures" is $rc 0
cat out err >figures.said
t info figures/plain.png
check "the longer side is as asked" says "500 x 313 pixels"
t info figures/column.png
check "a column of 86 mm" says "picture      987 x"
if command -v python3 >/dev/null; then
    # svg FILE: its width, pictures, texts, and paths with several lines, as an XML parser sees them
    svg() { python3 - "$1" >out <<'END'
import sys, xml.etree.ElementTree as T
root = T.parse(sys.argv[1]).getroot()
count = lambda name, test=lambda e: True: sum(1 for e in root.iter("{http://www.w3.org/2000/svg}" + name) if test(e))
texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
print(root.get("width"), count("image"), count("path", lambda e: e.get("d").count("M") > 10) > 0, "a < b & c" in texts, "10" in texts, "temperature" in T.tostring(root.find("{http://www.w3.org/2000/svg}desc"), "unicode"))
END
    }
    svg figures/column.svg
    check "a vector figure: one picture, contours, texts" says "86mm 1 True True True True"
    svg figures/bytes.svg
    check "bytes that are no UTF-8 are still XML" grep -q ' 1 ' out
    svg figures/page.svg
    check "the same in pixels" grep -qE '^[0-9]+ 1 True True True True$' out
fi
if command -v rsvg-convert >/dev/null; then
    check "a figure as .pdf" [ "$(head -c 5 figures/column.pdf)" = %PDF- ]
else
    check "no program makes .pdf" grep -q 'apt-get install librsvg2-bin; .svg needs no program' figures.said
fi
check "no file of its own stays" [ ! -e figures/column.pdf.svg ]
if command -v gnuplot >/dev/null; then
    check "plots as .svg and .pdf" [ "$(head -c 5 figures/p.pdf)" = %PDF- -a "$(grep -c '<svg' figures/p.svg)" = 1 ]
    check "lines differ without colours" grep -q 'stroke-dasharray' figures/p.svg
fi

# ---- Probes -------------------------------------------------------------------------------------------------------------

scenario probes <<'END'
local plate = tz.simulation { plugin = "star2d1r", grid = { 20, 9 }, name = "plate", fields = { u = function(x, y) return x * y end } }
plate:every(2, tz.table { "step", "probe(u, 3, 4)", name = "plain" })
plate:every(2, tz.table { "step", name = "called", ["probe(u, 3, 4)"] = function(sim) return sim:get("u", 3, 4) end })
plate:run(6)
END
check "a table with probes" is $rc 0
check "they are what sim:get gives" cmp probes/plate-plain.csv probes/plate-called.csv
check "the first one is the field's value" grep -qx '0,12' probes/plate-plain.csv
finish
