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

# accepts NAME, faults NAME TEXT: the check passes, or names exactly one fault.
accepts() {
    sh scripts/check.sh >"$work/output" 2>&1
    result "$1" $?
}
faults() {
    sh scripts/check.sh >"$work/output" 2>&1
    [ $? -eq 1 ] && grep -qF -- "$2" "$work/output" && grep -qx 'check: 1 faults' "$work/output"
    result "$1" $?
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
    lines 1000 | sed 's/.*/int f(void);/' >core/base/base.c
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
echo '#include "sim/sim.h"' >core/backend/cpu/cpu.c
faults 'an upward include' 'core/backend/cpu/cpu.c includes core/sim/sim.h: sim lies above backend'
fresh
echo '  #  include <sim/sim.h>' >model/roofs.c
faults 'an upward include, written otherwise' 'model/roofs.c includes core/sim/sim.h: sim lies above model'
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
fresh
echo '/* As meng2009 has it. */' >>core/sim/sim.h
faults "a paper's model by name" 'core/sim/sim.h:3 names a model of model/papers'
fresh
echo '#include "../sim/sim.h"' >core/base/base.c
faults 'an include by ..' 'core/base/base.c includes "../sim/sim.h"'
fresh
echo '#include "backend/host/host.h"' >core/backend/cpu/cpu.h
echo 'int tz_host(void);' >core/backend/host/host.h
echo '#include "backend/cpu/cpu.h"' >core/backend/host/store.h
faults 'a circle of folders' 'in a circle: core/backend/cpu core/backend/host'
fresh
echo '#include "sim/other.h"' >core/sim/sim.h
echo 'int tz_other(void);' >core/sim/other.h
echo '#include "sim/sim.h"' >core/sim/other.c
faults 'a circle of files' 'these files include each other in a circle: core/sim/'
fresh
mkdir core/other
echo '#include "base/base.h"' >core/other/other.c
faults 'a folder that is no layer' 'core/other/other.c: its folder is no layer'
fresh
echo '#include "base/base.h"' >>plugins/heat/heat.c
faults 'a plugin with an internal header' 'plugins/heat/heat.c includes core/base/base.h'
fresh
echo '#include "base/base.h"' >>examples/heat/heat.c
faults 'an example with an internal header' 'examples/heat/heat.c includes core/base/base.h'
fresh
echo '#include "plugins/heat/heat.c"' >core/sim/sim.c
faults 'an include of a plugin' 'core/sim/sim.c includes the plugin file plugins/heat/heat.c'
fresh
lines 201 | sed 's/.*/int f(void);/' >core/base/base.h
faults 'a long header' 'core/base/base.h: 201 lines, and a header has at most 200'
fresh
lines 1001 | sed 's/.*/int f(void);/' >kernels/cpu/rows.cuh
faults 'a long source' 'kernels/cpu/rows.cuh: 1001 lines, and a source has at most 1000'
fresh
function_of 81 >tests/sim/test_sim.c
faults 'a long function' 'tests/sim/test_sim.c:f: 81 lines, and a function has at most 80'
fresh
function_of 82 >core/sim/sim.c
echo 'function core/sim/sim.c:f 81 a table' >>scripts/check_exceptions.txt
faults 'longer than its exception' 'core/sim/sim.c:f: 82 lines'
fresh
function_of 80 >core/sim/sim.c
echo 'function core/sim/sim.c:f 81 a table' >>scripts/check_exceptions.txt
faults 'an exception that is not needed' 'core/sim/sim.c:f: 80 lines: needs no exception any more'
fresh
echo 'source core/sim/gone.c 700 a table' >>scripts/check_exceptions.txt
faults 'an exception for nothing' 'there is no source core/sim/gone.c'

fresh
printf '/* %098d */\n' 0 >core/sim/sim.c
faults 'a long line' 'core/sim/sim.c:1: more than 100 columns'
fresh
printf 'struct a {\n    int b; /* of two\n            * lines */\n};\n' >core/sim/sim.c
faults 'a comment of several lines behind a member' 'core/sim/sim.c:2: the comment behind this member takes several'
fresh
printf 'struct a {\n    char\n        b[3]; /* split */\n    int c; /* not split */\n};\n' >core/sim/sim.c
faults 'a split declaration' 'core/sim/sim.c:3: the comment behind this member splits its declaration'
fresh
printf 'static int a = 3;\nstatic const int b = 3;\nstatic int c(void);\n' >core/sim/sim.c
faults 'a variable that outlives the call' 'core/sim/sim.c:1: a changes and outlives the call'
echo 'global core/sim/sim.c:a - a signal handler needs it' >>scripts/check_exceptions.txt
echo 'global core/sim/sim.c:b - nothing' >>scripts/check_exceptions.txt
faults 'an exception for no variable' 'there is no global core/sim/sim.c:b'
fresh
echo 'kind TZ_CLAMP core/base/base.h' >>scripts/check_tables.txt
echo '#define KIND TZ_CLAMP' >core/base/base.h
cp core/base/base.h core/sim/other.h
faults 'a kind that is named elsewhere' 'core/sim/other.h names a kind: scripts/check_tables.txt'
fresh
echo 'kind TZ_CLAMP core/base/base.h' >>scripts/check_tables.txt
faults 'a file that names no kind' 'core/base/base.h names no kind: scripts/check_tables.txt'

fresh
echo 'It is in `core/sim/gone.c`.' >docs/page.md
faults 'a path that is not there' 'docs/page.md names core/sim/gone.c'
fresh
echo '[Gone](gone.md)' >docs/page.md
faults 'a link to nothing' 'docs/page.md names docs/gone.md'

# ---- Nothing to look at --------------------------------------------------------------------------
nothing() { # nothing NAME TEXT: the check fails with this line
    sh scripts/check.sh >"$work/output" 2>&1
    [ $? -eq 1 ] && grep -qF -- "$2" "$work/output"
    result "$1" $?
}
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
sh "$root/scripts/skips.sh" log allowed >"$work/output" 2>&1
[ $? -eq 0 ] && [ "$(wc -l <"$work/output")" -eq 3 ] && grep -qx 'sim/test_one: no GPU' "$work/output" &&
    grep -qx 'cli/cli: this user may write everywhere' "$work/output"
result 'reasons that are allowed' $?
printf '^GPU$\n^this user\n' >allowed
sh "$root/scripts/skips.sh" log allowed >"$work/output" 2>&1
[ $? -eq 1 ] && [ "$(grep -c 'sim/test_one: no GPU' "$work/output")" -eq 2 ]
result 'a reason that is not allowed' $?
printf '3/3 Test: sim/test_two\n[  SKIPPED ] second\n' >log
sh "$root/scripts/skips.sh" log allowed >"$work/output" 2>&1
[ $? -eq 1 ] && grep -q 'sim/test_two: no reason for second' "$work/output"
result 'no reason' $?
printf '1/1 Test: cli/cli\n1..0\n' >log
sh "$root/scripts/skips.sh" log allowed >"$work/output" 2>&1
[ $? -eq 1 ] && grep -qx 'cli/cli: no case' "$work/output"
result 'a test without a case' $?
printf '1/1 Test: sim/test_one\nskipped: no GPU\n' >log
printf '^GPU$\n\n' >allowed
sh "$root/scripts/skips.sh" log allowed >"$work/output" 2>&1
result 'an empty line allows nothing' $(($? != 1))
: >log
printf 'Start testing\n' >other
for name in log other missing; do
    sh "$root/scripts/skips.sh" "$name" allowed >"$work/output" 2>&1
    [ $? -eq 1 ] && [ "$(cat "$work/output")" = "skips: no test in $name" ]
    result "a log without a test: $name" $?
done

echo "1..$count"
[ "$failed" -eq 0 ]
