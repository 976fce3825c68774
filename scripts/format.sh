#!/bin/sh
# Formats the C sources, or says what is not formatted: sh scripts/format.sh [--check]
#
# One version is pinned, because others differ in a few macros; Debian 12 and Ubuntu 24.04 have it.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
cd "$root"
if ! command -v clang-format-14 >/dev/null 2>&1; then
    echo 'format: clang-format-14 is missing: sh scripts/setup.sh --ci installs it' >&2
    exit 1
fi
mode=-i
[ "${1:-}" = --check ] && mode='--dry-run -Werror'
files=$(find core kernels model plugins tests examples -name '*.[ch]' -o -name '*.cuh')
[ -n "$files" ] || { echo 'format: no sources' >&2; exit 1; }
# shellcheck disable=SC2086 # a list of options
echo "$files" | sort | xargs clang-format-14 $mode
