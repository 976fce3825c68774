#!/bin/sh
# What the tests are worth: plants each fault of tests/faults.txt in a copy and says whether the gate's tests find it.
#
#   sh scripts/faults.sh [--again] [NAME…]      all faults, or those whose names begin so
#   sh scripts/faults.sh --check                only whether each has its lines once in its file
#
# The results are in build-faults/results, a line for each: "found ROOM/TEST", "missed", or "broken" if a fault cannot be
# planted or compiled. A run that was interrupted continues; it begins anew with --again, or once the tree has changed. A fault's
# tests are chosen by the folder that it lies in: those of its room, then the oracles and the contract. Ends with 1 if a fault
# was missed or broken. Less than an hour on two cores.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
work=$root/build-faults
export LC_ALL=C.UTF-8
export ASAN_OPTIONS=handle_sigill=1:strict_string_checks=1:malloc_context_size=5:quarantine_size_mb=32:intercept_tls_get_addr=0
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
    papers) echo tests_papers test_simt ;;
    sim) echo tests_sim test_memory ;;
    fuzz) echo fuzz_readers fuzz_allocations ;;
    contract) echo contract ;;
    cli | mpi) ;;
    *) echo "tests_$1" | tr / _ ;;
    esac
}

# plant NAME: prints its file with the fault. Without NAME: only checks all. Names faults whose lines are not there once.
plant() {
    awk -v wanted="${1:-}" '
    function text(line) { return substr(line, 2) }
    # Replaces the lines old[1..olds] of the file by new[1..news].
    function replace(   i, k, at, found) {
        for (i = 1; i + olds - 1 <= lines; i++) {
            for (k = 1; k <= olds && file[i + k - 1] == old[k]; k++) ;
            if (k > olds) { found++; at = i }
        }
        if (found != 1 || olds == 0) {
            print "faults.txt: " name ": its lines are " found + 0 " times in " path | "cat >&2"
            bad = 1
            return
        }
        for (i = 1; i <= news; i++) result[at, i] = new[i]
        added[at] = news
        taken[at] = olds
    }
    function finish(   i, k) {
        if (name == "") return
        replace()
        for (i = 1; wanted != "" && i <= lines; i++)
            if (i in added) {
                for (k = 1; k <= added[i]; k++) print result[i, k]
                i += taken[i] - 1
            } else
                print file[i]
        name = ""
    }
    function begin() { olds = news = 0 }
    /^#/ { finish(); next }
    /^[a-z]/ {
        finish()
        if (wanted != "" && $1 != wanted) next
        name = $1
        path = $2
        lines = 0
        while ((getline line <path) > 0) file[++lines] = line
        close(path)
        split("", added)
        begin()
        next
    }
    name == "" { next }
    /^@/ { replace(); begin(); next }
    /^[- ]/ || /^$/ { old[++olds] = text($0) }
    /^[+ ]/ || /^$/ { new[++news] = text($0) }
    END { finish(); exit bad }' "$root/tests/faults.txt"
}

# ---- One fault, in a worker's tree -----------------------------------------------------------------

# tests LABEL: the gate's, in the tree in which it runs them; 0 if all pass; else the first that fails is in $by
tests() {
    for tree in 'build-asan -LE ^release$' 'build-gate -L ^release$ -LE ^package$'; do
        # shellcheck disable=SC2086 # a folder and options
        ctest --test-dir $tree -j 1 -L "^$1\$" --stop-on-failure >"$log.tests" 2>&1 </dev/null && continue
        by=$(sed -n '1s/^[0-9]*://p' "${tree%% *}/Testing/Temporary/LastTestsFailed.log" 2>/dev/null)
        return 1
    done
}
build() { # build PROGRAM…: those of both trees
    for tree in build-asan build-gate; do
        cmake --build $tree -j 1 --target "$@" app >"$log" 2>&1 || return 1
    done
}

try_fault() { # try_fault NAME: sets $result
    result=broken by=
    file=$(sed -n "s/^$1 //p" "$root/tests/faults.txt")
    room=$(labels "$file") || return 0
    plant "$1" >"$log.fault" 2>"$log" || return 0
    cp "$file" "$log.whole"
    cp "$log.fault" "$file"
    for step in $room oracle contract; do
        # shellcheck disable=SC2046 # a list of programs
        build $(programs "$step") || { result=broken && break; }
        if tests "$step"; then result=missed; else result="found $by" && break; fi
    done
    cp "$log.whole" "$file"
}

work_on() { # work_on NUMBER: a worker, which takes one fault after the other
    cd "$work/tree-$1"
    log=$work/log-$1
    rm -rf build-asan/Testing build-gate/Testing
    for preset in asan gate; do
        cmake --preset $preset -DTRAPEZE_WERROR=ON -DTRAPEZE_TEST_LIMIT=200 >"$log" 2>&1 || { cat "$log" >&2 && return 1; }
    done
    cmake --build build-asan -j 1 --target sanitized-tests >"$log" 2>&1 || { cat "$log" >&2 && return 1; }
    cmake --build build-gate -j 1 --target release-tests >"$log" 2>&1 || { cat "$log" >&2 && return 1; }
    while read -r name; do
        mkdir "$work/taken/$name" 2>/dev/null || continue
        start=$(date +%s)
        rm -f build*/Testing/Temporary/LastTestsFailed.log
        try_fault "$name"
        echo "$name: $result ($(($(date +%s) - start)) s)" | tee -a "$work/results"
        cp "$log.tests" "$work/logs/$name" 2>/dev/null || cp "$log" "$work/logs/$name"
    done <"$work/list"
}

# ---- All -------------------------------------------------------------------------------------------

cd "$root"
[ "${1:-}" != --check ] || { plant; exit; }
again=no
[ "${1:-}" != --again ] || { again=yes && shift; }
tree=$(git ls-files -- core kernels model plugins tests CMakeLists.txt CMakePresets.json ':!tests/faults.txt' | xargs cat | cksum)
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
    sed -n "s/^\($prefix[a-z0-9-]*\) .*/\1/p" tests/faults.txt | grep '^[a-z]' || true
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
