#!/bin/sh
# Tests of the report of a run: run_report_tests.sh TRAPEZE
# What the page holds, whatever the run folder holds, and what a browser makes of it, where there is one.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"

# Only the page's own elements: one script is data, one draws it.
harmless() { occurs "$1" '<script' 2 && occurs "$1" '</script' 2 && occurs "$1" '<img' 0 && occurs "$1" '@DATA@' 0; }

cat >chip.lua <<'END'
-- A chip that warms up.
local tz = require "trapeze"
tz.report()
local sim = tz.simulation { plugin = "hotspot", grid = { 48, 32 }, params = { ambient_k = 318.15 },
                            fields = { temperature = 320, power = tz.random { seed = 7, range = { 0, 0.001 } } } }
sim:every(10, tz.png("temperature", { bar = true }))
sim:every(5, tz.table { "step", "max(temperature)" })
tz.log("a line of the log")
sim:run(50)
tz.picture { data = sim:array "power", file = "power.png" }
END

# ---- What a report holds -------------------------------------------------------------------------------
t run chip.lua --out chip -q
check "tz.report" is $rc 0
page=chip/report.html
check "tz.report writes a page" [ -f $page ]
check "the page is whole" grep -q '^</html>$' $page
check "the page needs nothing else" harmless $page
check "the page allows no network" holds $page "default-src 'none'; img-src data:"
for word in '"state":"done"' '"stencil":"hotspot"' '"can_go_on":false' '"folder":"chip"' 'A chip that warms up.' \
    'a line of the log' '"ambient_k":{"value":318.1' '"seed":7' '"text":"step,max(temperature)' '"notes":[]'; do
    check "the page has $word" holds $page "$word"
done
check "it has all frames of a field" holds $page '"name":"temperature","simulation":0'
check "it has all pictures" occurs $page '"iVBORw0KGgo' 7
check "a single picture has no step" holds $page '{"name":"power.png","step":null}'
check "run.json names the page" grep -q '^    "report.html"$' chip/run.json
check "run.json names the device" grep -qE '"device": "[^"]+"' chip/run.json
check "run.json says when it ended" grep -qE '"ended": "[0-9]{4}-[0-9]{2}-[0-9]{2}T' chip/run.json

t run chip.lua --check
check "--check says so" says "writes report.html"
cp -r chip again
rm again/report.html
t report again
expect "report" rc 0 says "again/report.html" lines_err 0
sed 's/"folder":"[a-z]*"/"folder"/; s/from the folder.*//' again/report.html >one
sed 's/"folder":"[a-z]*"/"folder"/; s/from the folder.*//' chip/report.html >two
check "report writes what tz.report has written" cmp one two
t report again
check "a second report replaces the first" is $rc 0
t report again --output here.html
check "--output" cmp here.html again/report.html

sed '/tz.report/d' chip.lua >plain.lua
t run plain.lua --out flagged -q --report
check "run --report" [ -f flagged/report.html ]
t run plain.lua --out none -q
check "without it there is none" [ ! -e none/report.html ]

echo 'require("trapeze").report()' >nothing.lua
t run nothing.lua --out nothing -q
check "a run of nothing" is $rc 0
check "it has a page all the same" holds nothing/report.html '"simulations":[],'
cat >bare.lua <<'END'
local tz = require "trapeze"
tz.simulation { plugin = "hotspot", grid = { 16, 16 } }:run(3)
END
t run bare.lua --out bare -q --report
check "no pictures and no tables" holds bare/report.html '"series":[],'
check "no tables" holds bare/report.html '"tables":[],'

# ---- Runs that did not end well ----------------------------------------------------------------------------
echo 'error("too hot")' >>plain.lua
t run plain.lua --out failed -q --report
check "a run that fails has its report" holds failed/report.html '"state":"failed"'
check "with the reason" holds failed/report.html 'too hot'

cat >long.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 64, 64 }, threads = 1 }
sim:every(100, tz.png "temperature")
sim:run(1000000000)
END
"$bin" run long.lua --out long -q --report --checkpoint 1h >out 2>err </dev/null &
pid=$!
await [ -e long/temperature-000100.png ]
t report long --output goes-on.html
check "a run that goes on" is $rc 0
check "the page says so" holds goes-on.html '"state":"running"'
kill -TERM $pid
wait $pid
check "a stopped run has its report" holds long/report.html '"state":"interrupted"'
check "the page says that it can go on" holds long/report.html '"can_go_on":true'
rm long/report.html
frames=$(ls long | wc -l)
"$bin" resume long -q >out 2>err </dev/null &
pid=$!
await sh -c '[ "$(ls long | wc -l)" -gt '"$frames ]"
kill -TERM $pid
wait $pid
check "a run that went on has one again" holds long/report.html '"state":"interrupted"'
sed -i 's/"status": "interrupted"/"status": "running"/' long/run.json
t report long
check "a killed run" holds long/report.html '"state":"killed"'

# ---- Texts that would like to be markup ------------------------------------------------------------------------
evil='</script><script>document.title="taken"</script><img src=x onerror=document.title="taken"><!--<script>'
name="$(printf '%s' "$evil" | tr -d /).lua"
cat >"$name" <<END
-- $evil
local tz = require "trapeze"
local evil = [==[$evil]==]
local sim = tz.simulation { plugin = "hotspot", grid = { 16, 16 }, name = "<b>bold" }
sim:every(1, tz.table { "step", [evil:sub(1, 80)] = function() return evil end })
sim:run(3)
tz.log(evil)
error(evil)
END
t run "$name" --out hostile -q --report --set "$evil=$evil"
check "a hostile script fails" is $rc 1
check "its page has no markup of it" harmless hostile/report.html
check "its page has its words" holds hostile/report.html 'onerror=document.title'
mkdir '<i>odd'
cp chip/* '<i>odd'
printf '\000\377</script>\n' >>'<i>odd/log.txt'
t report '<i>odd'
check "odd bytes and names" harmless '<i>odd/report.html'

# ---- Files that are missing or broken -------------------------------------------------------------------------
cp -r chip broken
rm broken/temperature-000010.png broken/table.csv broken/power.png
echo "no picture" >broken/temperature-000020.png
truncate -s 300 broken/temperature-000030.png
echo "a stranger" >broken/temperature-aaaaaa.png
echo "a stranger" >broken/other-000000.png
t report broken
expect "broken files: a report all the same" rc 0 errs "broken/temperature-000020.png: is no PNG file" \
    errs "broken/temperature-000030.png: is a PNG file without its end" \
    errs "has 5 of the 6 files temperature-NNNNNN.png that run.json counts" \
    errs "broken/table.csv: cannot open: No such file" errs "broken/power.png: cannot open: No such file" lines_err 5
check "the page has the others" occurs broken/report.html '"iVBORw0KGgo' 3
check "the page names what is missing" holds broken/report.html 'is a PNG file without its end'

# Of many frames it has every k-th and the last.
cp -r chip many
# shellcheck disable=SC2046 # a list of files
tee $(seq -f 'many/temperature-%06.0f.png' 100 2 2998) <many/power.png >tee.out
t report many --pictures 1
bytes=$(stat -c %s many/report.html)
check "many frames" [ $rc -eq 0 ]
check "many frames: the page is small" [ "$bytes" -lt 1600000 ]
check "many frames: the page says of how many" holds many/report.html '"found":1456'
check "many frames: not every one" holds many/report.html '"pictures_mib":1'
check "many frames: the last" holds many/report.html '{"name":"temperature-002998.png","step":2998}'
t report many --pictures 0
check "no frames" occurs many/report.html '"iVBORw0KGgo' 0

# ---- Wrong use -----------------------------------------------------------------------------------------------
wrong() { # wrong CODE TEXT ARGUMENT…
    code=$1 text=$2
    shift 2
    t "$@"
    check "$*: exit code $code" is $rc "$code"
    check "$*: says so" errs "$text"
}
wrong 2 "report: needs the folder of a run" report
wrong 2 "takes one folder, not 'again' too" report chip again
wrong 2 "unknown option --outptu; did you mean --output?" report chip --outptu a.html
wrong 2 "--pictures needs an integer from 0 to 1024, not 'all'" report chip --pictures all
wrong 1 "nosuch: has no run.json; give the folder of a run" report nosuch
wrong 1 "chip.lua: has no run.json" report chip.lua
wrong 1 "no/such/a.html: cannot write: No such file" report chip --output no/such/a.html
mkdir damaged other
head -c 200 chip/run.json >damaged/run.json
wrong 1 "damaged/run.json:" report damaged
echo '{"trapeze": "9.7", "runs": []}' >other/run.json
wrong 1 "can read; it was written by Trapeze 9.7" report other
check "after an error there is no page" [ ! -e damaged/report.html ]
if [ "$(id -u)" -eq 0 ]; then
    skip "a folder that cannot be written" "this user may write everywhere"
else
    cp -r bare locked
    rm locked/report.html
    chmod a-w locked
    wrong 1 "locked/report.html: " report locked
    chmod u+w locked
fi

# ---- In a browser --------------------------------------------------------------------------------------------
if command -v chromium >/dev/null 2>&1; then
    # One start of the browser, of a page that holds the others: `pages` has each as it is after its script, after a line
    # with its name.
    # Somebody moves the slider, points at the middle of the plot, chooses logarithms, then no column.
    cat chip/report.html - >driven.html <<'END'
<script>
const said = [], at = query => document.querySelector(query);
const box = word => [...document.querySelectorAll("label")].find(label => label.textContent.startsWith(word)).querySelector("input");
at("input[type=range]").value = 1;
at("input[type=range]").dispatchEvent(new Event("input"));
said.push(at("figcaption").textContent.startsWith("step 10 ") && "the second frame");
const middle = at("svg").getBoundingClientRect();
at("svg").dispatchEvent(new PointerEvent("pointermove", { clientX: middle.left + middle.width / 2, clientY: middle.top + 50 }));
said.push(at("svg circle") && /step (20|25|30)$/.test([...document.querySelectorAll("p .note")][0].textContent) && "the middle");
const before = at("path.curve").getAttribute("d");
box("vertical log").click();
said.push(at("path.curve").getAttribute("d") !== before && !at("svg circle") && "logarithms");
box("max(temperature)").click();
said.push(!at("svg") && "no column");
at("button").click();
said.push(at("button").textContent === "Stop" && "plays");
document.title = said.join(", ");
</script>
END
    {
        echo '<body>'
        for name in chip/report nothing/report failed/report broken/report driven hostile/report; do
            echo "<iframe src=\"$name.html\" width=1200 height=900></iframe>"
        done
        cat <<'END'
<script>
onload = () => {
    const texts = [...document.querySelectorAll("iframe")].map(frame =>
        `\n==== ${frame.getAttribute("src")}\n${frame.contentDocument.documentElement.outerHTML}\n`);
    document.body.textContent = texts.join("");
};
</script>
END
    } >together.html
    timeout 600 chromium --headless --no-sandbox --disable-gpu --disable-web-security --user-data-dir="$work/browser" --dump-dom \
        "file://$work/together.html" 2>err </dev/null | sed 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >pages
    dom() { # dom FILE: that page, in ./dom
        awk -v name="$1" '/^==== / { on = $2 == name } on' pages >dom
    }
    dom chip/report.html
    check "a browser: the title" holds dom '<title>chip: report of a run</title>'
    check "a browser: the result" grep -qF '<strong>Done</strong>: 50 steps in ' dom
    check "a browser: frames" grep -qF '<input type="range" min="0" max="5"' dom
    check "a browser: pictures" occurs dom '<img ' 2
    check "a browser: a plot" grep -qF '<path class="curve"' dom
    check "a browser: parameters" grep -qF '<td class="name">ambient_k</td><td class="number">318.15</td>' dom
    check "a browser: papers" grep -qF 'che2009rodinia' dom
    check "a browser: all sections" grep -qF '<footer>Written by Trapeze' dom
    for run in nothing failed broken; do
        dom $run/report.html
        check "a browser: $run" grep -qF '<footer>Written by Trapeze' dom
    done
    dom driven.html
    check "a browser: slider, pointer, axes, columns" \
        holds dom '<title>the second frame, the middle, logarithms, no column, plays</title>'
    dom hostile/report.html
    check "a browser: hostile words stay words" grep -qF '&lt;img src=x onerror' dom
    check "a browser: nothing of them ran" occurs dom '<title>taken' 0
    check "a browser: none of them is an element" occurs dom '<img' 0
else
    skip "a browser" "no chromium"
fi
finish
