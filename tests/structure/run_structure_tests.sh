#!/bin/sh
# Tests scripts/check.sh on a small made-up tree, and scripts/skips.sh: run_structure_tests.sh ROOT
#
# Prints TAP; exits 1 if a case failed.
set -u
root=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/trapeze-structure.XXXXXX")
trap 'rm -rf "$work"' EXIT
count=0
failed=0

# A tree without a fault.
fresh() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree" && cd "$work/tree" || exit 1
    mkdir -p scripts model core/base core/sim core/include/trapeze core/backend/cpu core/backend/host kernels/cpu \
        plugins/heat examples/heat tests/sim docs
    cp "$root/scripts/check.sh" "$root/scripts/format.sh" scripts/
    cp "$root/.clang-format" .
    echo '# KIND NAME LINES reason' >scripts/check_exceptions.txt
    echo 'int tz_base(void);' >core/base/base.h
    echo '#include <stdio.h>' >core/include/trapeze/plugin.h
    printf '#include "base/base.h"\n#include <stdio.h>\n' >core/sim/sim.h
    echo '#include "sim.h"' >core/sim/sim.c
    echo '#include <trapeze/plugin.h>' >plugins/heat/heat.c
    cp plugins/heat/heat.c examples/heat/heat.c
    echo '# WHAT PATTERN FILE' >scripts/check_tables.txt
    echo 'See `core/sim/sim.c`, `core/sim/NAME.c` and [a page](docs/page.md).' >README.md
    echo '[Home](../README.md) and [elsewhere](https://example.org).' >docs/page.md
    touch CONTRIBUTING.md
}

# lines COUNT: so many lines of a function's body
lines() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) print "    f();" }'; }
function_of() { echo 'int f(void)' && echo '{' && lines "$1" && echo '}'; }
declarations() { lines "$1" | sed 's/.*/int f(void);/'; }

result() { # result NAME STATUS
    count=$((count + 1))
    if [ "$2" -eq 0 ]; then
        echo "ok $count - $1"
    else
        failed=$((failed + 1))
        echo "not ok $count - $1"
        sed 's/^/# /' "$work/output"
    fi
}

# accepts NAME, faults NAME TEXT, nothing NAME TEXT: the check passes, names exactly one fault, or fails with this line.
accepts() {
    sh scripts/check.sh >"$work/output" 2>&1
    result "$1" $?
}
nothing() {
    sh scripts/check.sh >"$work/output" 2>&1
    [ $? -eq 1 ] && grep -qF -- "$2" "$work/output"
    result "$1" $?
}
faults() {
    sh scripts/check.sh >"$work/output" 2>&1
    [ $? -eq 1 ] && grep -qF -- "$2" "$work/output" && grep -qx 'check: 1 faults' "$work/output"
    result "$1" $?
}

# broken NAME TEXT (FILE CONTENT)…: the same for a tree with these files. Files that no other case has are planted together, and
# looked at once (planted).
broken() {
    name=$1 text=$2
    fresh
    shift 2
    write "$@"
    faults "$name" "$text"
}
write() {
    while [ $# -gt 0 ]; do
        mkdir -p "${1%/*}"
        printf '%b\n' "$2" >"$1"
        shift 2
    done
}
plant() {
    printf '%s\t%s\n' "$1" "$2" >>"$work/planted"
    shift 2
    write "$@"
}
# Each planted fault is named, and no other.
planted() {
    sh scripts/check.sh >"$work/output" 2>&1
    while IFS="$(printf '\t')" read -r name text; do
        grep -qF -- "$text" "$work/output"
        result "$name" $?
    done <"$work/planted"
    grep -qx "check: $(wc -l <"$work/planted") faults" "$work/output"
    result 'as many faults as were planted' $?
}

if command -v clang-format-14 >/dev/null 2>&1; then
    fresh
    accepts 'a tree in order'
    echo 'int  f( void );' >core/sim/sim.h
    sh scripts/check.sh >"$work/output" 2>&1
    [ $? -ne 0 ] && grep -q 'sim\.h.*clang-format' "$work/output"
    result 'a file that is not formatted' $?
    fresh
    function_of 80 >core/sim/sim.c
    declarations 1000 >core/base/base.c
    accepts 'as long as allowed'
    function_of 90 >core/sim/sim.c
    echo 'function core/sim/sim.c:f 90 a table' >>scripts/check_exceptions.txt
    accepts 'an exception'
else
    count=$((count + 1))
    echo "ok $count - format # SKIP no clang-format-14"
fi

fresh
mkdir -p core/output/format
printf '// clang-format off\n    X(toy)\n' >core/output/format/format.h
printf 'const tz_format tz_format_toy = {\n    .suffix = ".toy",\n};\n' >core/output/format/toy.c
echo 'extern const char other[], tz_format_toys[];' >core/sim/sim.c
accepts 'a format in its file'
echo 'const void *f = &tz_format_toy;' >core/sim/sim.c
faults 'a format by name' 'core/sim/sim.c:1 knows a format'
echo 'bool b = strcmp(end, ".toy") == 0;' >core/sim/sim.c
faults 'a format by the end of a name' 'core/sim/sim.c:1 knows a format'
fresh
mkdir model/papers
echo 'int tz_papers(void);' >model/papers/papers.h
echo '#include "model/papers/papers.h"' >core/papers.c
cp core/papers.c model/papers/papers.c
echo '#include "sim/sim.h"' >>model/papers/papers.c
accepts 'the papers, registered'
mkdir core/cli
cp core/papers.c core/cli/cli.c
faults 'the papers, woven in' 'core/cli/cli.c includes model/papers/papers.h: core/papers.c registers what it has'
broken 'a circle of folders' 'in a circle: core/backend/cpu core/backend/host' \
    core/backend/cpu/cpu.h '#include "backend/host/host.h"' core/backend/host/host.h 'int tz_host(void);' core/backend/host/store.h '#include "backend/cpu/cpu.h"'
broken 'a circle of files' 'these files include each other in a circle: core/sim/' \
    core/sim/sim.h '#include "sim/other.h"' core/sim/other.h 'int tz_other(void);' core/sim/other.c '#include "sim/sim.h"'
broken 'a file that names no kind' 'core/base/base.h names no kind: scripts/check_tables.txt' \
    scripts/check_tables.txt 'kind TZ_CLAMP core/base/base.h'

fresh
plant 'an upward include' 'core/backend/cpu/cpu.c includes core/sim/sim.h: sim lies above backend' \
    core/backend/cpu/cpu.c '#include "sim/sim.h"'
plant 'an upward include, written otherwise' 'model/roofs.c includes core/sim/sim.h: sim lies above model' \
    model/roofs.c '  #  include <sim/sim.h>'
plant "a paper's model by name" 'core/sim/model.h:1 names a model of model/papers' \
    core/sim/model.h '/* As meng2009 has it. */'
plant 'an include by ..' 'core/base/up.c includes "../sim/sim.h"' core/base/up.c '#include "../sim/sim.h"'
plant 'a folder that is no layer' 'core/other/other.c: its folder is no layer' core/other/other.c '#include "base/base.h"'
plant 'a plugin with an internal header' 'plugins/inner/inner.c includes core/base/base.h' \
    plugins/inner/inner.c '#include "base/base.h"'
plant 'an example with an internal header' 'examples/heat/inner.c includes core/base/base.h' \
    examples/heat/inner.c '#include "base/base.h"'
plant 'an include of a plugin' 'core/sim/plugin.c includes the plugin file plugins/heat/heat.c' \
    core/sim/plugin.c '#include "plugins/heat/heat.c"'
plant 'a long header' 'core/base/long.h: 201 lines, and a header has at most 200' core/base/long.h "$(declarations 201)"
plant 'a long source' 'kernels/cpu/rows.cuh: 1001 lines, and a source has at most 1000' \
    kernels/cpu/rows.cuh "$(declarations 1001)"
plant 'a long function' 'tests/sim/test_sim.c:f: 81 lines, and a function has at most 80' \
    tests/sim/test_sim.c "$(function_of 81)"
plant 'longer than its exception' 'core/sim/longer.c:f: 82 lines' core/sim/longer.c "$(function_of 82)"
plant 'an exception that is not needed' 'core/sim/allowed.c:f: 80 lines: needs no exception any more' \
    core/sim/allowed.c "$(function_of 80)"
plant 'an exception for nothing' 'there is no source core/sim/gone.c'
plant 'an exception for no variable' 'there is no global core/sim/global.c:b'
cat >>scripts/check_exceptions.txt <<'END'
function core/sim/longer.c:f 81 a table
function core/sim/allowed.c:f 81 a table
source core/sim/gone.c 700 a table
global core/sim/global.c:a - a signal handler needs it
global core/sim/global.c:b - nothing
END
write core/sim/global.c 'static int a = 3;\nstatic const int b = 3;\nstatic int c(void);'
plant 'a variable that outlives the call' 'core/sim/variable.c:1: a changes and outlives the call' \
    core/sim/variable.c 'static int a = 3;\nstatic const int b = 3;\nstatic int c(void);'
plant 'a long line' 'core/sim/line.c:1: more than 100 columns' core/sim/line.c "$(printf '/* %098d */' 0)"
plant 'a comment of several lines behind a member' 'core/sim/comment.c:2: the comment behind this member takes several' \
    core/sim/comment.c 'struct a {\n    int b; /* of two\n            * lines */\n};'
plant 'a split declaration' 'core/sim/split.c:3: the comment behind this member splits its declaration' \
    core/sim/split.c 'struct a {\n    char\n        b[3]; /* split */\n    int c; /* not split */\n};'
write core/base/kind.h '#define KIND TZ_CLAMP' scripts/check_tables.txt '# WHAT PATTERN FILE\nkind TZ_CLAMP core/base/kind.h'
plant 'a kind that is named elsewhere' 'core/sim/kind.h names a kind: scripts/check_tables.txt' core/sim/kind.h '#define KIND TZ_CLAMP'
plant 'a path that is not there' 'docs/path.md names core/sim/none.c' docs/path.md 'It is in `core/sim/none.c`.'
plant 'a link to nothing' 'docs/link.md names docs/gone.md' docs/link.md '[Gone](gone.md)'
plant 'a link to no heading of the page' 'docs/heading.md names docs/heading.md#gone' docs/heading.md '[Gone](#gone).'
rows=
for what in 'boundary kind' 'element type' 'CPU family' 'output format'; do
    rows="$rows| a $what | 1 | \`core/sim/sim.c\` |\n"
done
plant 'a count that is not that of the files' 'docs/architecture.md: backend: its row must say and name at most 1 files' \
    docs/architecture.md "$rows| a backend | 2 | \`core/sim/sim.c\` |"
planted

# ---- Nothing to look at --------------------------------------------------------------------------
fresh
rm -r model
nothing 'a folder that is missing' 'check: nothing is found by: find core model'
fresh
find . -name '*.[ch]' -exec rm {} +
nothing 'no sources' 'check: nothing is found by: find core model'
fresh
rm -r docs
nothing 'no pages' 'check: nothing is found by: find docs'
if command -v clang-format-14 >/dev/null 2>&1; then
    fresh
    find . -name '*.[ch]' -exec rm {} +
    sh scripts/format.sh --check >"$work/output" 2>&1
    [ $? -eq 1 ] && grep -qx 'format: no sources' "$work/output"
    result 'nothing to format' $?
fi

# ---- Skipped tests -------------------------------------------------------------------------------
# skips NAME CODE LINE…: what `log` and `allowed` lead to, to the letter
unlisted='allowed does not list these reasons:'
skips() {
    name=$1 code=$2
    shift 2
    sh "$root/scripts/skips.sh" log allowed >"$work/output" 2>&1
    [ $? -eq "$code" ] && [ "$(cat "$work/output")" = "$(printf '%s\n' "$@")" ]
    result "$name" $?
}
cat >log <<'END'
1/3 Test: sim/test_one
[ RUN      ] first
skipped: no GPU
[  SKIPPED ] first
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] first
2/3 Test: cli/cli
ok 7 - an unwritable folder # SKIP this user may write everywhere
END
printf '# a remark\n^no GPU$\n^this user\n' >allowed
skips 'reasons that are allowed' 0 'Skipped:' 'sim/test_one: no GPU' 'cli/cli: this user may write everywhere'
printf '^GPU$\n^this user\n' >allowed
skips 'a reason that is not allowed' 1 'Skipped:' 'sim/test_one: no GPU' 'cli/cli: this user may write everywhere' \
    "$unlisted" 'sim/test_one: no GPU'
printf '3/3 Test: sim/test_two\n[  SKIPPED ] second\n' >log
skips 'no reason' 1 'Skipped:' 'sim/test_two: no reason for second' "$unlisted" 'sim/test_two: no reason for second'
printf '1/1 Test: cli/cli\n1..0\n' >log
skips 'a test without a case' 1 'Skipped:' 'cli/cli: no case' "$unlisted" 'cli/cli: no case'
printf '1/1 Test: sim/test_one\nskipped: no GPU\n' >log
printf '^GPU$\n\n' >allowed
skips 'an empty line allows nothing' 1 'Skipped:' 'sim/test_one: no GPU' "$unlisted" 'sim/test_one: no GPU'
rm log
skips 'no log' 1 'skips: no test in log'
: >log
skips 'an empty log' 1 'skips: no test in log'
printf 'Start testing\n' >log
skips 'a log without a test' 1 'skips: no test in log'

echo "1..$count"
[ "$failed" -eq 0 ]
