#!/bin/sh
# What the tests are worth: plants each fault of tests/faults in a copy and says whether the gate's tests find it.
#
#   sh scripts/faults.sh [--again] [NAME…]      all faults, or those whose names begin so
#
# The results are in build-faults/results, a line for each: "found ROOM/TEST", "missed", or "broken" if a patch does not
# apply or compile. A run that was interrupted continues; it begins anew with --again, or once the tree has changed. A fault's
# tests are chosen by the folder that it lies in: those of its room, then the oracles and the contract. Ends with 1 if a fault
# was missed or broken. Less than an hour on two cores.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
work=$root/build-faults
export LC_ALL=C.UTF-8 UBSAN_OPTIONS=print_stacktrace=1
export ASAN_OPTIONS=strict_string_checks=1:malloc_context_size=5:quarantine_size_mb=32:intercept_tls_get_addr=0
[ -n "${TZ_DATA_DIR:-}" ] || [ ! -d "$root/../shared/data" ] || export TZ_DATA_DIR="$root/../shared/data"

# The labels of the tests of a file's room, the likeliest first, and their programs: labels PATH
labels() {
    case $1 in
    core/backend/cuda/* | kernels/cuda/* | kernels/spectral*) echo backend/cuda/simt backend/cuda ;;
    core/backend/cpu/* | kernels/cpu/*) echo backend/cpu ;;
    core/backend/slabs/*) echo backend/slabs mpi ;;
    core/backend/*) part=${1#core/backend/} && echo "backend/${part%%/*}" ;;
    core/mpi/*) echo base backend/slabs mpi ;;
    core/include/*) echo stencil define output ;;
    core/base/*) echo base fuzz ;;
    model/papers/* | core/papers.*) echo papers ;;
    core/*) part=${1#core/} && echo "${part%%/*}" ;;
    model/*) echo model predict ;;
    plugins/*) echo oracle ;;
    *) echo "faults: $1 is in no room" >&2 && return 1 ;;
    esac
}
programs() { # programs LABEL: what its tests run
    case $1 in
    backend/cuda/simt) echo tests_backend_cuda_simt test_simt ;;
    backend/cpu) echo tests_backend_cpu test_cpu_walk_missing ;;
    papers) echo tests_papers test_simt ;;
    sim) echo tests_sim test_memory ;;
    fuzz) echo fuzz_readers fuzz_allocations ;;
    contract) echo contract ;;
    cli | mpi) ;;
    *) echo "tests_$1" | tr / _ ;;
    esac
}

# ---- One fault, in a worker's tree -----------------------------------------------------------------

# tests STEP LABEL: 0 if all pass; else the first that fails is in $by
tests() {
    ctest --test-dir build-asan -j 1 -L "^$1\$" -LE package --stop-on-failure >"$log.tests" 2>&1 </dev/null && return 0
    by=$(sed -n '1s/^[0-9]*://p' build-asan/Testing/Temporary/LastTestsFailed.log 2>/dev/null)
    return 1
}

try_fault() { # try_fault PATCH: sets $result
    result=broken by=
    file=$(sed -n 's#^+++ b/##p' "$1" | head -n 1)
    room=$(labels "$file") || return 0
    patch -p1 -s --fuzz=0 <"$1" >"$log" 2>&1 || return 0
    for step in $room oracle contract; do
        # shellcheck disable=SC2046 # a list of programs
        cmake --build build-asan -j 1 --target $(programs "$step") app >"$log" 2>&1 || { result=broken && break; }
        if tests "$step"; then result=missed; else result="found $by" && break; fi
    done
    patch -p1 -s -R <"$1"
}

work_on() { # work_on NUMBER: a worker, which takes one fault after the other
    cd "$work/tree-$1"
    log=$work/log-$1
    rm -rf build-asan/Testing
    cmake --preset asan -DTRAPEZE_WERROR=ON -DTRAPEZE_TEST_LIMIT=200 >"$log" 2>&1 && cmake --build build-asan -j 1 >"$log" 2>&1 || {
        cat "$log" >&2
        return 1
    }
    while read -r name; do
        mkdir "$work/taken/$name" 2>/dev/null || continue
        start=$(date +%s)
        rm -f build-asan/Testing/Temporary/LastTestsFailed.log
        try_fault "$root/tests/faults/$name.patch"
        echo "$name: $result ($(($(date +%s) - start)) s)" | tee -a "$work/results"
        cp "$log.tests" "$work/logs/$name" 2>/dev/null || cp "$log" "$work/logs/$name"
    done <"$work/list"
}

# ---- All -------------------------------------------------------------------------------------------

again=no
[ "${1:-}" != --again ] || { again=yes && shift; }
cd "$root"
tree=$(git ls-files -- core kernels model plugins tests CMakeLists.txt CMakePresets.json ':!tests/faults' | xargs cat | cksum)
if [ $again = yes ] || [ "$(cat "$work/of" 2>/dev/null)" != "$tree" ]; then
    mkdir -p "$work"
    rm -rf "$work/results" "$work/logs"
    echo "$tree" >"$work/of"
fi
mkdir -p "$work/logs"
touch "$work/results"
rm -rf "$work/taken" && mkdir "$work/taken"
[ $# -gt 0 ] || set -- ''
for prefix in "$@"; do
    find tests/faults -name "$prefix*.patch" | sed 's#.*/##; s#\.patch$##'
done | sort -u >"$work/all"
sed 's/:.*//' "$work/results" | sort | comm -13 - "$work/all" >"$work/list"
[ -s "$work/all" ] || { echo "faults: there is no fault '$*'" >&2 && exit 1; }

workers=$(nproc)
[ "$workers" -le "$(wc -l <"$work/list")" ] || workers=$(wc -l <"$work/list")
i=0
while [ $i -lt "$workers" ]; do
    i=$((i + 1))
    mkdir -p "$work/tree-$i"
    # What was left of a fault is put right, with the time of now: it is built again.
    git ls-files --cached --others --exclude-standard | while IFS= read -r path; do
        [ -e "$path" ] || continue
        cmp -s "$path" "$work/tree-$i/$path" || { mkdir -p "$work/tree-$i/$(dirname "$path")" && cp "$path" "$work/tree-$i/$path"; }
    done
    work_on $i &
done
wait
sort "$work/all" >"$work/names"
total=$(wc -l <"$work/names") found=$(sort "$work/results" | sed 's/: found.*//;t;d' | comm -12 - "$work/names" | wc -l)
grep -v ': found' "$work/results" | sort || true
echo "$found of $total faults found"
[ "$found" -eq "$total" ]
