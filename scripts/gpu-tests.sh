#!/bin/sh
# Holds the cuda backend against the reference on a machine with a GPU, bit for bit, every stencil; ends
# in a table. Needs a finished build: sh scripts/gpu-tests.sh [BUILD_FOLDER]
#
# TZ_CONTRACT=full checks every height and size; the default is the quick selection.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
build=${1:-$root/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mode=${TZ_CONTRACT:-quick}
contract=$build/test-bin/contract
folders="$build/plugins $build/test-plugins"

"$build/bin/trapeze" doctor | sed -n '/^cuda/,/^[a-z]/p;/backends/,/plugins/p'
# Kernels are compiled at run time, which is most of the work: one process a stencil.
# shellcheck disable=SC2086 # two folders
"$contract" --list $folders | TZ_CONTRACT=$mode xargs -P "$(nproc)" -I{} sh -c '
    "$1" --backend cuda --section fields --section identity --section diverge --stencil "$2" $3 \
        >"$4/$2" 2>&1 || echo "$2" >>"$4/.failed"' gpu "$contract" {} "$folders" "$work"
cat "$work"/*
if [ -f "$work/.failed" ]; then
    echo "FAILED: $(tr '\n' ' ' <"$work/.failed")"
    exit 1
fi
echo "cuda backend: every stencil equals the reference ($mode)"
