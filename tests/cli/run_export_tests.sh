#!/bin/sh
# Tests of exported arrays: run_export_tests.sh TRAPEZE
# Python reads the files without Trapeze, and compares bits.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"

cat >arrays.lua <<'END_OF_SCRIPT'
local tz = require "trapeze"
for _, kind in ipairs { "float32", "float64", "int8", "uint16", "int64", "bool" } do
  local array = tz.array { shape = { 5, 3, 2 }, dtype = kind, fill = function(x, y, z)
    if kind == "bool" then return (x + y + z) % 2 end
    return kind:find "float" and (x - 1) / 3 + y * 1e10 + z or x + 10 * y + 20 * z
  end }
  array:save(kind .. ".npy")
end
tz.array { shape = { 4 }, dtype = "float64", data = { 1, 0 / 0, 1 / 0, -0.0 } }:save "line.npy"
END_OF_SCRIPT
t run arrays.lua --out a -q
check "arrays" is $rc 0
t export a --to vti
check "vti" is $rc 0
check "vti: all files" is "$(wc -l <out)" 7
t export a --to csv --into tables
check "csv" is $rc 0
if command -v python3 >/dev/null; then
    cat >compare.py <<'END_OF_SCRIPT'
import ast, glob, math, struct
import xml.etree.ElementTree as tree

# NumPy's code of a type: its name in VTK's files, and its letter in the module struct.
KINDS = {"<f4": ("Float32", "f"), "<f8": ("Float64", "d"), "|i1": ("Int8", "b"), "|b1": ("UInt8", "B"),
         "<u2": ("UInt16", "H"), "<i8": ("Int64", "q")}
names = sorted(glob.glob("a/*.npy"))
assert len(names) == 7
for name in names:
    data = open(name, "rb").read()
    length, = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10:10 + length].decode())
    assert data[:6] == b"\x93NUMPY" and not header["fortran_order"]
    want, kind = data[10 + length:], KINDS[header["descr"]]
    shape = (1,) * (3 - len(header["shape"])) + header["shape"]

    data = open(name[:-4] + ".vti", "rb").read()
    start = data.index(b"<AppendedData")
    first = data.index(b"_", data.index(b">", start)) + 1
    root = tree.fromstring(data[:start] + b"</VTKFile>")
    assert root.attrib["type"] == "ImageData" and root.attrib["byte_order"] == "LittleEndian", root.attrib
    assert root.attrib["header_type"] == "UInt64", root.attrib
    image = root.find("ImageData")
    extent = [int(word) for word in image.attrib["WholeExtent"].split()]
    assert [max(1, extent[2 * i + 1] - extent[2 * i]) for i in range(3)] == list(shape[::-1]), extent
    array = image.find("Piece/CellData/DataArray")
    assert array.attrib["type"] == kind[0], array.attrib
    at = first + int(array.attrib["offset"])
    length, = struct.unpack("<Q", data[at:at + 8])
    assert length == len(want) > 0 and data[at + 8:at + 8 + length] == want, name

    text = open("tables/" + name[2:-4] + ".csv").read()
    rows = [line.split(",") for line in text.split("\n") if line]
    assert len(rows) == shape[0] * shape[1] and text.count("\n\n") == shape[0] - 1, name
    values = struct.unpack("<%d%s" % (len(want) // struct.calcsize(kind[1]), kind[1]), want)
    cells = [cell for row in rows for cell in row]
    assert len(cells) == len(values) and all(len(row) == shape[2] for row in rows), name
    for cell, value in zip(cells, values):
        if isinstance(value, float) and not math.isnan(value):
            assert struct.pack("<" + kind[1], float(cell)) == struct.pack("<" + kind[1], value), (name, cell)
        else:
            assert cell == str(value), (name, cell, value)
END_OF_SCRIPT
    check "Python finds the same bits in .vti, the same values in .csv" python3 compare.py
else
    skip "Python finds the same bits" "no python3"
fi
cksum a/*.vti >before
t export a --to vti
check "nothing is replaced" is $rc 1
cksum a/*.vti >after
check "the files stay" cmp before after
t export a/line.npy --to csv
t export a/line.npy --to xdmf --into lists
check "a format of two files" is "$(ls lists | tr '\n' ' ')" "line.raw line.xdmf "
check "the list names the other" grep -q '>line.raw</DataItem>' lists/line.xdmf
check "one file" is "$(cat a/line.csv)" "1,nan,inf,-0"
t export a --to xls
expect "an unknown format" errs "--to needs npy, rle, vti, xdmf, hdf5 or csv, or png, not 'xls'" rc 2
t export a
check "no format" errs "needs --to npy, rle, vti, xdmf, hdf5 or csv, or png"
mkdir empty
t export empty --to csv
expect "a folder without arrays" errs "empty has no .npy files and no checkpoint, so there is nothing to export" rc 1
t export missing --to csv
check "a folder that is missing" errs "missing: is neither a folder nor a file"
printf 'no array' >a/line.npy
rm a/line.csv
t export a/line.npy --to csv
check "a damaged file" is $rc 1
check "leaves nothing" [ ! -e a/line.csv ]

# Steps, checkpoints, pictures.
cat >steps.lua <<'END_OF_SCRIPT'
local tz = require "trapeze"
local chip = tz.simulation { plugin = "hotspot", grid = { 24, 16 }, name = "chip",
                             fields = { temperature = function(x, y) return 300 + x + 10 * y end, power = 0.5 } }
chip:every(10, tz.npy())
chip:run(20)
chip:array("temperature"):save "last.npy"
chip:write(tz.vti { "temperature", "power", name = "both" })
local life = tz.simulation { plugin = "life", grid = { 40, 30 }, name = "life", params = { rule = "B36/S23" }, fields = { alive = tz.random { seed = 1, density = 0.3 } } }
life:run(7)
life:array():save "life.npy"
local half = tz.simulation { plugin = "hotspot", grid = { 16, 16 }, name = "half", storage = "half",
                             fields = { temperature = function(x) return 320 + x / 8 end } }
half:array("temperature"):save "half.npy"
life:write(tz.checkpoint())
END_OF_SCRIPT
t run steps.lua --out s -q
check "a run with a checkpoint" is $rc 0
t export s --to csv --step 10 --into picked
check "one step" is "$(cat out)" "picked/chip-temperature-000010.csv"
t export picked/chip-temperature-000010.csv --to npy
check "a table reads back as the same array" [ "$(tail -c 3072 picked/chip-temperature-000010.npy | cksum)" = "$(tail -c 3072 s/chip-temperature-000010.npy | cksum)" ]
t export s --to npy --checkpoint --into kept
check "a checkpoint" is $rc 0
check "its fields" is "$(ls kept | grep -c .)" "$(wc -l <out | tr -d ' ')"
check "the temperature" cmp kept/chip-temperature-000020.npy s/last.npy
check "bits" cmp kept/life-alive-000007.npy s/life.npy
check "half storage" cmp kept/half-temperature-000000.npy s/half.npy
t export s --to rle --step 7 --field alive --into pattern
check "a pattern of a checkpoint, with its rule" grep -q '^x = 40, y = 30, rule = B36/S23$' pattern/life-alive-000007.rle
t export s/life.npy --to rle --rule B2/S --into pattern
check "another rule" grep -q '^x = 40, y = 30, rule = B2/S$' pattern/life.rle
t export s --to npy --step 15
check "a step that is missing" errs "s has nothing of step 15: its 4 files are of steps 0 to 20, its checkpoints of steps 0, 7, 20"
t export s --to csv --field temperature --into chosen
check "of a run's files those of one field" is "$(ls chosen | tr '\n' ' ')" \
    "chip-temperature-000000.csv chip-temperature-000010.csv chip-temperature-000020.csv "
t export s --to csv --field temp
check "a field that no file has" errs "s has no field 'temp' in its files"
mkdir only
cp s/life.npy only
t export only --to npy
check "what is there already" errs "only has its arrays as .npy files already, and no checkpoint"
t export s --to npy --checkpoint --field nix
check "a field that is missing" errs "s has no field 'nix' in its checkpoint"
t export s/chip-both-000020.vti --to npy --into picked
check "several arrays in a file" errs "has 2 arrays, 'temperature', 'power': 'field' takes one"
t export s/chip-both-000020.vti --to npy --into picked --field temperature
check "one of them" cmp picked/chip-both-000020.npy s/last.npy
t export s --to png --into pictures
check "pictures" is "$(ls pictures)" "chip-temperature-000000.png
chip-temperature-000010.png
chip-temperature-000020.png
half.png
last.png
life.png"
t info pictures/chip-temperature-000000.png
cp out first
t info pictures/chip-temperature-000020.png
check "of one range" [ "$(grep -i range first)" = "$(grep -i range out)" ]
t export s --to png --range 5,1
check "a range" errs "--range needs LOW,HIGH with LOW below HIGH, not '5,1'"
t export s --to png --map jet
check "a map" errs "--map: unknown colour map 'jet'"
t export s/last.npy --to csv --step 3
check "a step of a file" errs "--step is for the folder of a run"

# NumPy writes, Trapeze reads.
numpy=
for python in python3 /usr/bin/python3; do
    [ -n "$numpy" ] || ! "$python" -c 'import numpy' 2>/dev/null || numpy=$python
done
if [ -n "$numpy" ]; then
    cat >write.py <<'END_OF_SCRIPT'
import gzip, numpy as np
a = np.random.default_rng(1).random((4, 3, 5)).astype("f4")
np.save("want.npy", a)
np.save("fortran.npy", np.asfortranarray(a)); np.save("big.npy", a.astype(">f4"))
np.savez("stored.npz", u=a); np.savez_compressed("packed.npz", v=a * 2, u=a)
a.tofile("c.bin"); a.ravel("F").tofile("f.bin"); a.astype(">f4").tofile("swapped.bin")
open("header.bin", "wb").write(b"x" * 33 + a.tobytes())
gzip.open("c.npy.gz", "wb").write(open("want.npy", "rb").read())
np.savetxt("plane.csv", a[0], delimiter=",", header="x, y"); np.savetxt("plane.tsv", a[0], delimiter="\t"); np.savetxt("semi.csv", a[0], delimiter=";")
np.save("plane.npy", a[0])
END_OF_SCRIPT
    "$numpy" write.py
    cat >read.lua <<'END_OF_SCRIPT'
local tz = require "trapeze"
local function same(path, want, options)
  local a, b = tz.read(want), tz.read(path, options)
  tz.expect(#a == #b and a.dims == b.dims, path)
  for i = 1, #a do if a[i] ~= b[i] then error(path .. ": element " .. i) end end
end
local shape = { 5, 3, 4 }
for _, name in ipairs { "fortran.npy", "big.npy", "stored.npz", "c.npy.gz" } do same(name, "want.npy") end
same("packed.npz", "want.npy", { field = "u" })
same("c.bin", "want.npy", { type = "float32", shape = shape })
same("c.bin", "want.npy", { type = "float32", shape = shape, order = "C" })
same("f.bin", "want.npy", { type = "float32", shape = shape, order = "F" })
same("f.bin", "want.npy", { type = "float32", shape = shape, order = "zyx" })
same("swapped.bin", "want.npy", { type = "float32", shape = shape, endian = "big" })
same("header.bin", "want.npy", { type = "float32", shape = shape, offset = 33 })
for _, name in ipairs { "plane.csv", "plane.tsv", "semi.csv" } do same(name, "plane.npy") end
END_OF_SCRIPT
    t run read.lua -q --out r
    check "what NumPy writes is read" is $rc 0
else
    skip "what NumPy writes is read" "no numpy"
fi
finish
