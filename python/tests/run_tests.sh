#!/bin/sh
# run_tests.sh [PROGRAM LIBRARY STAND-INS]: the tests of the Python package; with the program, libtrapeze.so and the folder of
# the stand-in for the driver of GPUs those that need these, else the others. A library with sanitizers gets no measurements.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
python=
# Debian's packages belong to its own Python, which need not be the first one in PATH.
for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! $candidate -c 'import numpy, PIL' 2>/dev/null || python=$candidate
done
[ -n "$python" ] || { echo 'skipped: no python3 with numpy and PIL'; exit 77; }
export PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=error::ResourceWarning
cd "$here"
[ $# -gt 0 ] || exec "$python" -m unittest test_tables test_values
export TRAPEZE=$1 TRAPEZE_LIBRARY=$2
parts=test_library preload=$(ldd "$2" | sed -n 's/.*=> \(.*lib[a-z]*san\.so[^ ]*\).*/\1/p' | tr '\n' ' ')
if [ -n "$preload" ]; then # Python's own memory is no matter here
    export ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc
    parts='test_library.Fields test_library.Numbers test_library.Mistakes test_library.Life test_library.Scenarios.test_run'
fi
LD_PRELOAD=$preload "$python" -m unittest $parts
LD_PRELOAD=$preload LD_LIBRARY_PATH=$3 exec "$python" -m unittest test_device
