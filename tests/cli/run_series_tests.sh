#!/bin/sh
# Runs as time series for viewers: .vti with .pvd, XDMF with raw numbers, HDF5. The numbers are those of .npy files.
#   run_series_tests.sh TRAPEZE           with a stand-in for libhdf5 (output/fake_hdf5.c) behind those of this machine
set -u
. "$(cd "$(dirname "$0")" && pwd)/support.sh"

cat >series.lua <<'END'
local tz = require "trapeze"
local chip = tz.simulation { plugin = "hotspot3d", grid = { 20, 12, 5 }, precision = "double", backend = "cpu", height = 2,
  fields = { temperature = function(x, y, z) return 310 + x + 0.01 * y + z / 7 end, power = tz.random { seed = 1, range = { 0, 0.01 } } } }
local flow = tz.simulation { plugin = "lbm", grid = { 31, 20 }, name = "flow", backend = "cpu", height = 2 }
local life = tz.simulation { plugin = "life", grid = { 37, 21 }, name = "life", backend = "cpu",
  fields = { alive = tz.random { seed = 1, density = 0.4 } } }
local outputs = { tz.vti, tz.xdmf, tz.args.hdf5 and tz.hdf5 }
for i, output in pairs(outputs) do
  local name = { "v", "x", "h" }
  chip:every(10, output { "power", "temperature", name = name[i] })
  flow:every(10, output { "speed", "vorticity", name = name[i], spacing = 0.5, origin = { 1, 2 } })
  life:every(10, output { name = name[i] })
end
chip:every(10, tz.npy "temperature") chip:every(10, tz.npy "power")
flow:every(10, tz.npy "speed") flow:every(10, tz.npy "vorticity")
life:every(10, tz.npy())
chip:every(30, tz.table { "sum(power)", "power(temperature)", name = "masked" })
chip:run(30) flow:run(30) life:run(30)
print(("dt %.17g"):format(chip:param "dt_s"))
chip:array("temperature"):save "end.vti"
chip:array("temperature"):save "end.xdmf"
if tz.args.hdf5 then chip:array("temperature"):save "end.h5" end
END
hdf5=
"$bin" doctor --verbose >out 2>err
grep -q 'HDF5 [0-9.]* writes and reads .h5 files' out && hdf5='--set hdf5=yes'
check "doctor tells about HDF5" grep -qE 'HDF5 ([0-9.]* writes and reads|files need)' out
# shellcheck disable=SC2086 # two words, or none
t run series.lua --out run --quiet $hdf5
check "a run with every kind" is $rc 0
mv out printed
check "a column FIELD(MASK) is a sum" awk -F, 'NR > 1 && ($1 - $2) ^ 2 < 1e-20 * $1 ^ 2 && $1 > 1 { good++ } END { exit good != 2 }' \
    run/masked.csv
for list in v.pvd x.xdmf flow-v.pvd flow-x.xdmf life-v.pvd life-x.xdmf; do
    check "$list lists 4 frames" is "$(grep -cE '<DataSet|<Time' "run/$list")" 4
done
# shellcheck disable=SC2086
t run series.lua --out again --quiet $hdf5
for file in run/*.pvd run/*.xdmf run/*-000030.*; do
    check "a second run writes the same ${file#run/}" cmp -s "$file" "again/${file#run/}"
done

# shellcheck disable=SC2086
t run series.lua --out slabs --quiet --devices cpu:2 $hdf5
for file in run/*.pvd run/*.xdmf run/*-000030.*; do
    check "two slabs write the same ${file#run/}" cmp -s "$file" "slabs/${file#run/}"
done

# Reads the lists and the files that they name, by the formats' rules alone.
cat >read.py <<'END'
import os, re, struct, sys, xml.etree.ElementTree as xml
folder, prefix, fields, spacing, origin, dt = sys.argv[1], sys.argv[2], sys.argv[3].split(","), *[
    [float(v) for v in a.split(",")] for a in sys.argv[4:7]]
sizes = {"Float32": 4, "Float64": 8, "UInt8": 1, "Int32": 4, "Float": 0, "UChar": 0, "Int": 0}
path = lambda name: os.path.join(folder, name)
def npy(field, step):
    data = open(path(f"{prefix}{field}-{step:06d}.npy"), "rb").read()
    shape = eval(re.search(rb"'shape': (\(.*?\))", data).group(1))
    return shape, data[10 + struct.unpack("<H", data[8:10])[0]:]
def numbers(text):
    return [float(v) for v in text.split()]
def check_vti(name, step):
    data = open(path(name), "rb").read()
    cut = data.index(b"<AppendedData")
    root = xml.fromstring(data[:cut] + b"</VTKFile>")
    assert root.attrib == {"type": "ImageData", "version": "1.0", "byte_order": "LittleEndian", "header_type": "UInt64"}
    start = data.index(b"_", cut) + 1
    image = root.find("ImageData")
    assert numbers(image.get("Spacing"))[:len(spacing)] == spacing, image.get("Spacing")
    assert numbers(image.get("Origin"))[:len(origin)] == origin
    assert int(root.find(".//DataArray[@Name='Step']").text) == step
    end = start
    for field in fields:
        shape, wanted = npy(field, step)
        extent = [n for k in shape[::-1] for n in (0, k)] + [0] * (6 - 2 * len(shape))
        assert numbers(image.get("WholeExtent")) == extent == numbers(image.find("Piece").get("Extent"))
        array = image.find(f"Piece/CellData/DataArray[@Name='{field}']")
        at = start + int(array.get("offset"))
        assert struct.unpack("<Q", data[at:at + 8])[0] == len(wanted)
        assert data[at + 8:at + 8 + len(wanted)] == wanted, (name, field)
        assert len(wanted) % sizes[array.get("type")] == 0
        end = at + 8 + len(wanted)
    assert data[end:] == b"\n</AppendedData>\n</VTKFile>\n"
    return float(root.find(".//DataArray[@Name='TimeValue']").text)
when = lambda step: step * dt[0] if dt[0] else step
frames = xml.parse(path(prefix + "v.pvd")).getroot().findall("Collection/DataSet")
assert len(frames) == 4
for i, frame in enumerate(frames):
    assert abs(float(frame.get("timestep")) - when(10 * i)) <= 1e-12 * when(10 * i)
    assert check_vti(frame.get("file"), 10 * i) == float(frame.get("timestep"))
for i, grid in enumerate(xml.parse(path(prefix + "x.xdmf")).getroot().findall("Domain/Grid/Grid")):
    assert grid.find("Time").get("Value") == frames[i].get("timestep")
    o, s = [numbers(item.text) for item in grid.findall("Geometry/DataItem")]
    assert s[::-1][:len(spacing)] == spacing and o[::-1][:len(origin)] == origin
    used = 0
    for field in fields:
        shape, wanted = npy(field, 10 * i)
        item = grid.find(f"Attribute[@Name='{field}'][@Center='Cell']/DataItem")
        full = [1] * (3 - len(shape)) + list(shape)
        assert numbers(item.get("Dimensions")) == full
        assert numbers(grid.find("Topology").get("Dimensions")) == [n + 1 for n in full]
        data = open(path(item.text), "rb").read()
        at = int(item.get("Seek"))
        assert data[at:at + len(wanted)] == wanted and item.get("Endian") == "Little"
        assert item.get("Format") == "Binary" and item.get("NumberType") == ("UChar" if field == "alive" else "Float")
        count = 1
        for n in shape: count *= n
        assert count * int(item.get("Precision")) == len(wanted)
        used += len(wanted)
    assert used == len(data)
END
if command -v python3 >/dev/null; then
    check "3-D, metres and seconds" python3 read.py run "" power,temperature 0.0008,0.0013333333333333333,0.0001 0,0,0 \
        "$(sed -n 's/^dt //p' printed)"
    check "2-D, derived fields, spacing and origin" python3 read.py run flow- speed,vorticity 0.5,0.5 1,2 0
    check "2-D, bits" python3 read.py run life- alive 1,1 0,0 0
fi

cat >own.lua <<'END'
local tz = require "trapeze"
local heat = tz.stencil { dims = 2, fields = { "t" }, update = { t = "t + 0.1*dt/dx^2*lap(t)" },
  params = { dt = { value = 0.5, unit = "ms", role = "time_step" }, dx = { value = 2, unit = "m", role = "spacing" } } }
local sim = tz.simulation { plugin = heat, grid = { 24, 16 }, backend = "cpu", fields = { t = tz.random { seed = 1 } } }
sim:every("1 ms", tz.vti { name = "t" })
sim:run(4)
END
t run own.lua --out own --quiet
check "a scenario's stencil: times in seconds" grep -qF '"t-000004.vti" timestep="0.002"' own/t.pvd
check "a scenario's stencil: metres" grep -qaF 'Spacing="2 2 1"' own/t-000004.vti

# ---- y -------------------------------------------------------------------------------------------
# A chip of three bands, from below 0, 1 and 2 W; a trace of two rows.
printf '%s\t0.016\t0.016\t0\t%s\n' low 0 middle 0.016 high 0.032 >bands.flp
printf 'low middle high\n0 1 2\n0 3 4\n' >bands.ptrace
cat >chip.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 2, 3 }, backend = "cpu", params = { chip_width_m = 0.016, chip_height_m = 0.048 },
  fields = { power = tz.floorplan { flp = "bands.flp", ptrace = "bands.ptrace", row = math.tointeger(tz.args.row) } } }
sim:write(tz.npy "power")
for _, y in ipairs { "auto", "up", "down" } do
  sim:write(tz.vti { "power", name = y, y = y ~= "auto" and y or nil })
  sim:write(tz.xdmf { "power", name = y, y = y ~= "auto" and y or nil })
end
sim:write(tz.png("power", { name = "auto", axes = true })) sim:write(tz.png("power", { name = "up", axes = true, y = "up" }))
sim:write(tz.png("power", { name = "down", axes = true, y = "down" }))
sim:write(tz.png("power", { name = "outlined", axes = true, map = "gray", outline = tz.floorplan { flp = "bands.flp" } }))
END
t run chip.lua --out chip --set row=1
check "a chip's lower edge comes first" is "$(od -An -v -tf4 chip/auto-000000.raw | xargs)" "0 0 0.5 0.5 1 1"
check "the log says so" errs 'the chip'"'"'s lower edge, the grid'"'"'s last row, since a floorplan fills a field (y = "up")'
check "a row of the trace needs no line" [ "$(grep -c 'mean of' err)" = 0 ]
for suffix in vti raw; do
    check "y = \"up\" is that of a chip, .$suffix" cmp chip/auto-000000.$suffix chip/up-000000.$suffix
done
tail -c 24 chip/power-000000.npy >rows
check "y = \"down\" begins with row 0" cmp chip/down-000000.raw rows
check ".vti with y = \"down\" too" [ "$(grep -a -A1 '^_' chip/down-000000.vti | tail -c +10 | head -c 24 | cksum)" = "$(cksum <rows)" ]
check "the file says how y points" [ "$(grep -alF 'y points up' chip/*.vti chip/*.xdmf | xargs)" = "chip/auto-000000.vti chip/up-000000.vti chip/auto.xdmf chip/up.xdmf" ]
check "the axis of a picture begins at the lower edge, too" cmp chip/auto-000000.png chip/up-000000.png
check "or at the upper one" [ "$(cmp -s chip/auto-000000.png chip/down-000000.png; echo $?)" = 1 ]
t run chip.lua --out mean
check "without a row the powers are the mean of the trace" is "$(od -An -v -tf4 mean/auto-000000.raw | xargs)" "0 0 1 1 1.5 1.5"
check "and the log says so" errs "field 'power': the powers are the mean of the 2 rows of bands.ptrace; 'row' of tz.floorplan takes one of them"

# y = "up": row 0 is the lower edge, in everything.
cat >up.lua <<'END'
local tz = require "trapeze"
local plan = tz.floorplan { flp = "bands.flp", ptrace = "bands.ptrace", row = 1 }
local sim = tz.simulation { plugin = "hotspot", grid = { 2, 3 }, backend = "cpu", y = "up", params = { chip_width_m = 0.016, chip_height_m = 0.048 },
  fields = { power = plan } }
tz.expect(sim:get("power", 0, 0) == 0 and sim:get("power", 0, 2) == 1, "get")
tz.expect(sim:sum("power", plan:unit "high") == 2 and sim:sum("power", plan:unit "low") == 0, "units")
sim:set("power", 9, plan:unit "low")
tz.expect(sim:get("power", 1, 0) == 9, "set")
sim:set("power", plan)
sim:write(tz.png("power", { name = "auto", axes = true, outline = plan, map = "gray" }))
sim:write(tz.xdmf { "power", name = "auto" }) sim:write(tz.npy "power")
local ok, why = pcall(sim.write, sim, tz.png("power", { y = "down" }))
tz.expect(not ok and why:find 'the simulation has y = "up", which its outputs follow', why)
local function shape(turn) return tz.array { shape = { 4, 6 }, fill = function(x, y) return (turn and 5 - y or y) + x / 8 end } end
local function draw(file, array, y) tz.picture { data = array, y = y, file = file, zoom = 8, path = { { 0, y and 1 or 4 }, { 3, y and 2 or 3 } }, contours = 3, mark = "max" } end
draw("turned.png", shape(false), "up")
draw("plain.png", shape(true))
shape(false):save "rows.npy"
END
t run up.lua --out up
check "y = \"up\": positions and units of a floorplan" is $rc 0
check "files begin with row 0, the lower edge" is "$(od -An -v -tf4 up/auto-000000.raw | xargs)" "0 0 0.5 0.5 1 1"
check "so do arrays" [ "$(tail -c 24 up/power-000000.npy | cksum)" = "$(cksum <up/auto-000000.raw)" ]
check "a picture of the rows turned" cmp up/turned.png up/plain.png
cat >compare.lua <<'END'
local tz = require "trapeze"
local a, b = tz.read "up/auto-000000.png", tz.read "chip/outlined-000000.png"
for i = 1, #a do tz.expect(a[i] == b[i]) end
local rows, turned = tz.read "up/rows.npy", tz.read("up/rows.npy", { y = "up" })
tz.expect(turned:get(1, 0) == rows:get(1, 5) and turned:get(2, 4) == rows:get(2, 1))
END
t run compare.lua --out compared
check "a picture of the chip is the same either way; rows are turned when they are read" is $rc 0

printf 'all\t16\t16\t0\t0\n' >mm.flp
printf 'all\n1\n' >mm.ptrace
echo 'local tz = require "trapeze" tz.floorplan { flp = "mm.flp", ptrace = "mm.ptrace" }' >mm.lua
t run mm.lua --quiet
check "a floorplan in mm" errs "mm.flp: the units reach over 16 m x 16 m: are its numbers in mm? HotSpot's files are in metres"

# ---- HDF5 ----------------------------------------------------------------------------------------
if ! LD_LIBRARY_PATH='' "$bin" doctor --verbose | grep -q 'HDF5 [0-9.]* writes and reads'; then
    LD_LIBRARY_PATH='' t run series.lua --out refused --set hdf5=yes
    check "without the library: refused before the run" errs "apt-get install hdf5-tools"
    check "nothing is computed" test ! -e refused
fi
if [ -z "$hdf5" ]; then
    skip "HDF5 files" "no HDF5 library on this machine"
else
    cat >back.lua <<'END'
local tz = require "trapeze"
for _, pair in ipairs { { "h-000030", "power" }, { "h-000030", "temperature" }, { "flow-h-000020", "speed" }, { "life-h-000010", "alive" } } do
  local file, field = pair[1], pair[2]
  local read, wanted = tz.read("run/" .. file .. ".h5", { field = field }), tz.read("run/" .. file:gsub("h%-", field .. "-") .. ".npy")
  assert(table.concat(read.shape, "x") == table.concat(wanted.shape, "x") and read.dtype == wanted.dtype)
  for i = 1, #wanted do assert(read[i] == wanted[i]) end
end
assert(tz.read("run/end.h5"):max() == tz.read("run/temperature-000030.npy"):max())
for _, wrong in ipairs { { "h-000030" }, { "h-000030", "powe" }, { "end", "data/x" }, { "cut" } } do
  print(select(2, pcall(tz.read, "run/" .. wrong[1] .. ".h5", { field = wrong[2] })))
end
END
    head -c 3000 run/h-000030.h5 >run/cut.h5
    t run back.lua --quiet
    check "HDF5 files are read back" is $rc 0
    check "of several datasets one is named" says "has 2 datasets, 'power', 'temperature': 'field' takes one"
    check "a dataset that is missing" says "has no dataset 'powe'; its root has 'power', 'temperature'"
    check "a group that is missing" says "has no dataset 'data/x'; its root has 'data'"
    check "a file that is cut off" says "libhdf5 refuses to open the file"
    printf '\211HDF\r\n\032\n%5000s' ' ' >run/noise.h5
    echo 'print(select(2, pcall(require("trapeze").read, "run/noise.h5")))' >noise.lua
    t run noise.lua --quiet
    check "what only begins as HDF5" says "libhdf5 refuses to open the file"
fi
if [ -n "$hdf5" ] && ! command -v h5dump >/dev/null; then
    skip "HDF5 files are h5dump's" "no h5dump"
elif [ -n "$hdf5" ]; then
    for pair in h-000030/power h-000030/temperature flow-h-000020/speed life-h-000010/alive; do
        file=${pair%/*} field=${pair#*/}
        npy=$(echo "run/$file.npy" | sed "s/h-\(0000[0-9]*\)/$field-\1/")
        h5dump -d "/$field" -b LE -o dumped "run/$file.h5" >out 2>err
        tail -c "$(wc -c <dumped)" "$npy" >wanted
        check "h5dump reads $field of $file.h5" cmp dumped wanted
    done
    h5dump -a /time run/h-000030.h5 >out 2>err
    check "h5dump: the time" says "(0): 0.00"
    check "the list names the datasets" grep -q 'Format="HDF">h-000030.h5:/temperature<' run/h.xdmf
fi

# ---- refusals ------------------------------------------------------------------------------------
refused() { # refused NAME MESSAGE OUTPUT…
    name=$1 message=$2
    shift 2
    {
        echo 'local tz = require "trapeze"'
        echo 'local sim = tz.simulation { plugin = "life", grid = { 32, 16 }, backend = "cpu" }'
        for output in "$@"; do echo "sim:every(1, $output)"; done
        echo 'sim:run(1)'
    } >refused.lua
    rm -rf refused
    t run refused.lua --out refused --quiet
    check "refused: $name" errs "$message"
}
if [ -n "$hdf5" ]; then
    refused "two lists of one name" "another output already writes same.xdmf" 'tz.xdmf { name = "same" }' 'tz.hdf5 { name = "same" }'
else # two of a kind: their numbers are in files of one name, too, and those come first
    refused "two outputs of one name" "another output already writes same-NNNNNN.raw" 'tz.xdmf { name = "same" }' 'tz.xdmf { name = "same" }'
fi
refused "an unknown key" "unknown key 'spacin'; did you mean 'spacing'?" 'tz.vti { spacin = 1 }'
refused "a width of 0" "'spacing' must be finite and above 0" 'tz.xdmf { spacing = { 1, 0 } }'
refused "an origin of another grid" "'origin' has 3 numbers, the grid 2 axes" 'tz.vti { origin = { 1, 2, 3 } }'
refused "a field twice" "the field 'alive' is there twice" 'tz.xdmf { "alive", "alive" }'
refused "an unknown field" "has no field 'aliv'; did you mean 'alive'?" 'tz.xdmf "aliv"'

# ---- a run that is stopped ---------------------------------------------------------------------
cat >long.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "life", grid = { 64, 32 }, backend = "cpu", height = 1, fields = { alive = tz.random { seed = 1 } } }
sim:every(1, tz.vti { name = "v" }) sim:every(1, tz.xdmf { name = "x" })
sim:run(100000)
END
"$bin" run long.lua --out long --quiet >out 2>err </dev/null &
pid=$!
await [ -e long/v-000020.vti ]
kill -9 $pid
wait $pid 2>/dev/null
for list in v.pvd x.xdmf; do
    check "after kill -9 $list is whole" grep -qE '^</(VTKFile|Xdmf)>$' long/$list
    check "$list has nearly all frames" [ "$(grep -cE '<DataSet|<Time' long/$list)" -ge 20 ]
done
finish
