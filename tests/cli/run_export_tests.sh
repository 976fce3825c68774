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
expect "an unknown format" errs "--to needs npy, rle, vti, xdmf, hdf5 or csv, not 'xls'" rc 2
t export a
check "no format" errs "needs --to npy, rle, vti, xdmf, hdf5 or csv"
mkdir empty
t export empty --to csv
expect "a folder without arrays" errs "empty has no .npy files, so there is nothing to export" rc 1
t export missing --to csv
check "a folder that is missing" errs "missing: is neither a folder nor a .npy file"
printf 'no array' >a/line.npy
rm a/line.csv
t export a/line.npy --to csv
check "a damaged file" is $rc 1
check "leaves nothing" [ ! -e a/line.csv ]
finish
