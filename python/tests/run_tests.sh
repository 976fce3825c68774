#!/bin/sh
# run_tests.sh [PROGRAM LIBRARY]: the tests of the Python package; with the program and libtrapeze.so those that need these,
# else the others.
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
[ $# -eq 0 ] || TRAPEZE=$1 TRAPEZE_LIBRARY=$2 exec "$python" -m unittest test_library
exec "$python" -m unittest test_tables test_values
