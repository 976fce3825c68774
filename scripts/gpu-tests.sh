#!/bin/sh
# Compares the cuda backend with the reference on a machine with a GPU, bit for bit, for every stencil of the
# built-in and the test plugins and every family, on one device and in slabs (several on one GPU, or on all GPUs in
# turns), tests and times jumps, and prints a table. Needs a finished build:
# sh scripts/gpu-tests.sh [BUILD_FOLDER]
#
# TZ_CONTRACT=full checks every height and size; the default is a quick selection. FAMILIES and STENCILS
# (lists) select some. Small runs are checked by compute-sanitizer, if it is installed. PART=k/n runs the
# k-th of n parts, for machines that are available for minutes only: each job belongs to one part, always
# the same. Stopped by a signal (timeout), it prints what is done and exits with 1.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
build=${1:-$root/build}
work=$(mktemp -d)
stop() {
    print_table
    echo "STOPPED: the jobs above are done, of $(wc -l <"$work/.mine")"
    exit 1
}
trap 'rm -rf "$work"' EXIT
mode=${TZ_CONTRACT:-quick}
contract=$build/test-bin/contract
folders="$build/plugins $build/test-plugins"
families=${FAMILIES:-$("$contract" --families)}
# shellcheck disable=SC2086 # two folders
stencils=${STENCILS:-$("$contract" --list $folders)}
part=${PART:-1/1}
share=${part%%/*}
shares=${part##*/}
case $part in
*[!0-9/]* | /* | */ | */*/*) share=0 ;;
*/*) ;;
*) share=0 ;;
esac
if [ "$share" -lt 1 ] || [ "$share" -gt "$shares" ]; then
    echo "gpu-tests.sh: PART=$part: use k/n with 1 <= k <= n" >&2
    exit 2
fi
print_table() {
    for file in "$work"/*; do
        [ -f "$file" ] || continue
        case ${file##*/} in
        memcheck* | racecheck*) printf '%-32s %s\n' "${file##*/}" "$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$file" | sed 's/=* *//')" ;;
        *) sed -n "s/^/${file##*/}: /p" "$file" | grep -E "cases|FAIL|differ|:" | grep -v 'contract: ' || true ;;
        esac
    done
    if [ -f "$work/.failed" ]; then
        echo "FAILED: $(tr '\n' ' ' <"$work/.failed")"
        for failed in $(cat "$work/.failed"); do tail -n 5 "$work/$failed"; done
    fi
}

# Every n-th line, because neighbouring jobs cost about the same.
mine() { awk -v k="$share" -v n="$shares" 'NR % n == k % n'; }

"$build/bin/trapeze" doctor --verbose | sed -n '/^cuda/,/^[a-z]/p;/backends/,/plugins/p'
trap stop TERM INT
# Most of the time is spent compiling kernels: one process for each stencil and family.
for stencil in $stencils; do
    echo "any $stencil --section fields --section outputs --section diverge"
done >"$work/.jobs"
for family in $families; do
    for stencil in $stencils; do
        echo "$family $stencil --section identity --section devices --family $family"
    done
done >>"$work/.jobs"
mine <"$work/.jobs" >"$work/.mine"
[ -s "$work/.mine" ] || { echo "gpu-tests.sh: PART=$part has no job" >&2; exit 2; }
[ "$shares" -eq 1 ] || echo "part $part: $(wc -l <"$work/.mine") of $(wc -l <"$work/.jobs") contract jobs"
xargs -P "$(nproc)" -L 1 sh -c '
    contract=$1 work=$2 folders=$3 family=$4 stencil=$5
    shift 5
    TZ_CONTRACT=$0 "$contract" --backend cuda --stencil "$stencil" "$@" $folders \
        >"$work/$family-$stencil" 2>&1 || echo "$family-$stencil" >>"$work/.failed"
' "$mode" "$contract" "$work" "$folders" <"$work/.mine"

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
if [ -n "$sanitizer" ]; then
    for tool in memcheck racecheck; do
        for family in $families; do
            for stencil in ${SANITIZED:-star2d1r box3d1r hotspot life pathfinder lbm wave3d cyclic}; do
                echo "$tool $family $stencil"
            done
        done
    done >"$work/.sanitized"
    mine <"$work/.sanitized" | while read -r tool family stencil; do
        # racecheck can follow barriers of adjacent warps only if each lane arrives itself.
        case $tool in
        racecheck) export TZ_RACECHECK=1 ;;
        *) unset TZ_RACECHECK ;;
        esac
        TZ_CONTRACT=smoke "$sanitizer" --tool "$tool" --error-exitcode 9 "$contract" \
            --backend cuda --stencil "$stencil" --section identity --section devices --family "$family" $folders \
            >"$work/$tool-$family-$stencil" 2>&1 </dev/null ||
            echo "$tool-$family-$stencil" >>"$work/.failed"
    done
else
    echo "compute-sanitizer: not installed, skipped"
fi

# Jumps in the frequency domain, by cuFFT: small grids, large ones, and times.
if [ "$share" -eq 1 ] && [ -x "$build/test-bin/tests_backend_cuda" ]; then
    "$build/test-bin/tests_backend_cuda" test_cuda_jump >"$work/test_cuda_jump" 2>&1 || echo test_cuda_jump >>"$work/.failed"
elif [ "$share" -eq 1 ]; then
    echo "test_cuda_jump: not built, skipped"
fi

print_table
[ ! -f "$work/.failed" ] || exit 1
echo "cuda backend: every stencil equals the reference in every family ($mode, part $part)"
