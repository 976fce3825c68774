#!/bin/sh
# What Python reads of a run: the lines of the README, and the notebook's cells; equations of scripts/stencils computed
# by NumPy. run_python_tests.sh TRAPEZE
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"
source=$here/../..
python=
# Debian's packages belong to its own Python, which need not be the first one in PATH.
for candidate in python3 /usr/bin/python3; do
    [ -z "$python" ] && $candidate -c 'import numpy, PIL' 2>/dev/null && python=$candidate
done
if [ -z "$python" ]; then
    skip 'results in Python' 'no python3 with numpy and PIL'
    finish
fi

cat >chip.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 48, 32 }, params = { ambient_k = 318.15 },
                            fields = { temperature = 320, power = function(x) return x == 5 and 0.01 or 0 end } }
sim:every(1000, tz.png("temperature", { range = { 318, 330 } }))
sim:every(1000, tz.npy "temperature")
sim:every(10, tz.table { "step", "max(temperature)" })
sim:run(2000)
END
t run chip.lua --out runs/chip -q
check 'a run' is $rc 0

# The five lines, then what their comments promise.
{
    sed -n '/^    import csv, json, numpy, PIL/,/^    frame = /s/^    //p' "$source/README.md"
    cat <<'END'
assert run["status"] == "done", run["status"]
assert run["simulations"][0]["params"]["ambient_k"]["value"] == 318.15
assert t.shape == (32, 48), t.shape
assert t[7, 5] == t[:, 5].max() == t.max() > t[7, 30]
assert float([r for r in rows if r["step"] == "1000"][0]["max(temperature)"]) == float(t.max())
assert frame.info["Range"] == "318 330" and frame.info["Unit"] == "K", frame.info
END
} >lines.py
check 'five lines' [ "$(grep -c '^[a-z]* = \|^import' lines.py)" = 5 ]
(cd runs/chip && $python "$work/lines.py") >out 2>err
rc=$?
check 'the lines of the README' is $rc 0

$python - "$source/docs/results.ipynb" >out 2>err <<'END'
import json, sys
book = json.load(open(sys.argv[1]))
assert book["nbformat"] == 4
names = {}
for cell in book["cells"]:
    if cell["cell_type"] == "code":
        assert cell["outputs"] == [], "the notebook was saved with its outputs"
        exec("".join(cell["source"]), names)
assert names["tables"]["table.csv"][-1]["step"] == "2000"
assert set(names["fields"]) == {f"temperature-{n:06}.npy" for n in (0, 1000, 2000)}, names["fields"].keys()
assert names["sheet"].size[0] == 3 * names["last"].size[0]
END
rc=$?
expect "the notebook" rc 0 says 'ambient_k'
# Each beside NumPy in double, on a small grid.
for name in brusselator schnakenberg swift fitzhugh kuramoto burgers cahn front fluctuations drum; do
    t run "$source/scripts/stencils/$name.lua" --set n=24 --set steps=20 --set precision=double --out "runs/$name" -q \
        --backend reference
    [ "$rc" -ne 0 ] || { $python "$here/patterns.py" "$name" "runs/$name" 20 >out 2>err; rc=$?; }
    check "$name is what NumPy computes" is $rc 0
done
finish
