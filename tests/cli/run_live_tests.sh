#!/bin/sh
# Tests of the live view: run_live_tests.sh TRAPEZE
set -u
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null 2>&1 || { echo "1..0 # SKIP no python3"; exit 0; }
program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
TRAPEZE_CACHE="$work/cache" HOME="$work" python3 "$here/live_tests.py" "$program"
