#!/bin/sh
# The contract of stencils on arm64: builds with the cross compiler (core/arm64.cmake), runs under qemu-user, and compares the
# bits of fields, those of subnormal numbers too, with those of this machine's release build.
#
#   sh scripts/test-arm64.sh [STENCIL…]
#   sh scripts/test-arm64.sh --missing      only says what this machine lacks, and why it is skipped
#
# Default: star2d1r, and nothing is built but what that needs, not optimised: a quick look. `sh scripts/test-all.sh arm64`
# runs all, as packages have them.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $tool >/dev/null 2>&1 || { echo "skipped: no $tool (sh scripts/setup.sh --arm64)"; exit 0; }
done
[ -e /usr/lib/aarch64-linux-gnu/libpng.so ] || { echo 'skipped: no libraries for arm64 (sh scripts/setup.sh --arm64)'; exit 0; }
[ "${1:-}" != --missing ] || exit 0
preset=arm64 plugin=all cases=quick
[ $# -gt 0 ] || preset=arm64-quick plugin=jacobi cases=smoke
for preset in release $preset; do
    (PRESET=$preset target=contract && . "$root/scripts/build.sh" && cmake --build "$build" --target $plugin)
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TRAPEZE_CACHE= TZ_CONTRACT=$cases
# contract NAME BUILD EMULATOR STENCIL SECTION…: runs it, and keeps the hashes in the file NAME
contract() {
    name=$1 build=$2 emulator=$3 stencil=$4
    shift 4
    for section in "$@"; do
        shift
        set -- "$@" --section "$section"
    done
    $emulator "$build/test-bin/contract" --hashes --stencil "$stencil" "$@" "$build/plugins" $(ls -d "$build/test-plugins" 2>/dev/null) \
        >"$work/$name.log" 2>&1 || { grep -v '^hash ' "$work/$name.log"; echo "$name: the contract fails"; exit 1; }
    grep '^hash ' "$work/$name.log" >"$work/$name"
}
for stencil in ${*:-star2d1r}; do
    contract x86-64 "$root/build" '' "$stencil" identity extremes
    contract arm64 "$root/build-$preset" qemu-aarch64 "$stencil" descriptor fields radius identity extremes devices outputs diverge
    grep -v '^hash ' "$work/arm64.log"
    diff "$work/x86-64" "$work/arm64" >"$work/diff" || { head "$work/diff"; echo "$stencil: the bits on arm64 (>) are others"; exit 1; }
    echo "$stencil: the same bits in $(wc -l <"$work/arm64") fields"
done
