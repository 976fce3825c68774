#!/bin/sh
# The full products, which the gate runs on archetypes alone: all stencils × families × sides × precisions × architectures.
#
#   sh scripts/test-all.sh [PART [STENCIL…]]
#
#   contract   every section of the contract suite, every case, of every stencil           (release build, 1 h)
#   simt       the executor of GPU kernels: every family, side and precision               (release build, 2 h)
#   cases      all lines of tests/backend/cuda/simt/cases.txt                              (sanitizers, 5 min)
#   nvrtc      every kernel compiled and counted for sm_80, sm_90 and sm_100               (release build, 5 h)
#   tests      the tests that have more cases with TZ_ALL: update, memory, precision, …    (sanitizers, 1 h)
#   arm64      the contract of every stencil and the oracles on arm64 under qemu-user, the bits of x86-64, packages   (20 min)
#   cluster    ranks on two nodes, one of which dies (scripts/cluster-test.sh); as root                 (release build, 1 min)
#
# Without PART all of them. Two cores. What is printed as it goes is in build-all/PART; a table ends the run. A change of
# kernels runs the parts that it touches. Ends with 1 if something failed.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
parts=${1:-'contract simt cases nvrtc tests arm64 cluster'}
[ $# -eq 0 ] || shift
case " contract simt cases nvrtc tests arm64 cluster " in
*" $parts "*) ;;
*) [ "$parts" = 'contract simt cases nvrtc tests arm64 cluster' ] || { echo "test-all: unknown part '$parts'" >&2 && exit 2; } ;;
esac
work=$root/build-all
mkdir -p "$work"
case " $parts " in *' arm64 '*) sh "$root/scripts/setup.sh" --arm64 ;; *) sh "$root/scripts/setup.sh" ;; esac
# as in tests/CMakeLists.txt
export ASAN_OPTIONS=handle_sigill=1:detect_stack_use_after_return=0:strict_string_checks=1:malloc_context_size=5:quarantine_size_mb=32:intercept_tls_get_addr=0
only=$*
[ -z "${TZ_DATA_DIR:-}" ] && [ -d "$root/../shared/data" ] && export TZ_DATA_DIR="$root/../shared/data"
case " $parts " in *' contract '* | *' simt '* | *' nvrtc '* | *' arm64 '* | *' cluster '*) (PRESET=release target=all && . "$root/scripts/build.sh") ;; esac
case " $parts " in *' cases '* | *' tests '*) (PRESET=asan target=all && . "$root/scripts/build.sh") ;; esac
bin=$root/build/test-bin
plugins="$root/build/plugins $root/build/test-plugins"
: >"$work/table"

row() { # row PART NAME COMMAND…: runs it and adds a row to the table
    part=$1 name=$2
    shift 2
    start=$(date +%s)
    if "$@" >>"$work/$part" 2>&1; then result=passed; else result=FAILED; fi
    printf '%-9s %-34s %s %6d s\n' "$part" "$name" "$result" $(($(date +%s) - start)) | tee -a "$work/table"
}

for part in $parts; do
    : >"$work/$part"
    case $part in
    contract | simt)
        # shellcheck disable=SC2086 # lists of folders and names
        for stencil in ${only:-$("$bin/contract" --list $plugins)}; do
            if [ "$part" = contract ]; then
                row contract "$stencil" env TZ_CONTRACT=full "$bin/contract" --stencil "$stencil" $plugins
            else
                n=$(nproc)
                row simt "$stencil" sh -c "seq $n | TZ_ALL=1 xargs -P $n -I K '$bin/test_simt' --stencil $stencil --part K,$n"
            fi
        done
        ;;
    cases)
        for group in $(sed -n 's/^\[\(.*\)\]$/\1/p' "$root/tests/backend/cuda/simt/cases.txt"); do
            row cases "$group" env TZ_ALL=1 ctest --test-dir "$root/build-asan" --no-tests=error -R "^backend/cuda/simt/$group\$" -V
        done
        ;;
    nvrtc)
        row nvrtc test_cuda_every_stencil env TZ_ALL=1 TRAPEZE_CACHE= "$bin/tests_backend_cuda" test_cuda_every_stencil
        ;;
    tests)
        for test in backend/cpu/test_cpu_update backend/cpu/test_cpu_diamond backend/cuda/test_cuda_update \
            backend/cuda/test_cuda_jump backend/cuda/test_cuda_reduce backend/cuda/test_cuda_compile \
            calibrate/test_cuda_calibrate predict/test_device_scaled sim/test_memory; do
            folder=${test%/*} name=${test##*/}
            program=tests_$(echo "$folder" | tr / _)
            [ "$name" != test_memory ] || program=test_memory
            row tests "$test" env TZ_ALL=1 TRAPEZE_CACHE= "$root/build-asan/test-bin/$program" "$name"
        done
        row tests precision sh "$root/scripts/precision.sh" "$root/build-asan/bin/trapeze"
        ;;
    arm64)
        missing=$(sh "$root/scripts/test-arm64.sh" --missing)
        [ -z "$missing" ] || { echo "$missing" && continue; }
        # shellcheck disable=SC2086 # lists of folders and names
        for stencil in ${only:-$("$bin/contract" --list $plugins)}; do
            row arm64 "$stencil" sh "$root/scripts/test-arm64.sh" "$stencil"
        done
        row arm64 oracles env TRAPEZE_CACHE= ctest --test-dir "$root/build-arm64" --no-tests=error --output-on-failure -L "^oracle$"
        row arm64 packages sh "$root/scripts/package.sh" --arm64 "$work/packages"
        ;;
    cluster)
        row cluster two-nodes sh "$root/scripts/cluster-test.sh" "$root/build/bin/trapeze"
        grep '^skipped' "$work/cluster" || true
        ;;
    esac
done
echo
grep FAILED "$work/table" || true
echo "$(grep -c ' passed ' "$work/table" || true) passed, $(grep -c FAILED "$work/table" || true) failed"
[ -s "$work/table" ] && ! grep -q FAILED "$work/table"
