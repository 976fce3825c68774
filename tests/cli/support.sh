# Sourced by the tests of the command line, with its path in $1. They run in $work, a fresh folder, print TAP, and exit with 1 if a case failed.
bin=$1
case $bin in /*) ;; *) bin=$(pwd)/$bin ;; esac
work=$(mktemp -d "${TMPDIR:-/tmp}/trapeze-cli.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export TRAPEZE_CACHE="$work/cache" HOME="$work"
count=0
failed=0

# t ARGUMENT…: runs the program; its output is in ./out and ./err, its exit code in $rc.
t() {
    "$bin" "$@" >out 2>err </dev/null
    rc=$?
}

# check NAME CONDITION…: one line of TAP. A failing case shows the program's output.
check() {
    name=$1
    shift
    count=$((count + 1))
    if "$@"; then
        echo "ok $count - $name"
    else
        failed=$((failed + 1))
        echo "not ok $count - $name"
        echo "# wanted: $*; exit code ${rc:-?}"
        sed 's/^/# out: /' out | head -20
        sed 's/^/# err: /' err | head -20
    fi
}

# expect NAME [rc CODE] [says TEXT] [errs TEXT] [lines_err N]…: a case for each pair, of what the program did last.
expect() {
    about=$1
    shift
    while [ $# -gt 0 ]; do
        check "$about: $1 $2" "$1" "$2"
        shift 2
    done
}

# plain_cc FILE [LEVEL]: makes it a C compiler that does not optimise, or to that level, for stencils of scenarios whose
# speed is no matter.
plain_cc() {
    cat >"$1" <<END
#!/bin/sh
for word; do
    shift
    case \$word in -O[1-9]) word=-O${2:-0} ;; esac
    set -- "\$@" "\$word"
done
exec cc "\$@"
END
    chmod +x "$1"
}

skip() {
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

# await COMMAND…: waits until it succeeds, a minute at most; 1: it has not.
await() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 6000 ] || return 1
        sleep 0.01
    done
}

holds() { grep -qF -- "$2" "$1"; }                            # holds FILE TEXT
occurs() { [ "$(grep -oF -- "$2" "$1" | wc -l)" -eq "$3" ]; } # occurs FILE TEXT NUMBER
says() { grep -qF -- "$1" out; }
errs() { grep -qF -- "$1" err; }
lines_err() { [ "$(wc -l <err)" -eq "$1" ]; }
is() { [ "$1" = "$2" ]; }
rc() { [ "$rc" -eq "$1" ]; }

# Ends the script: the last line of TAP, and 1 if a case failed or there was none.
finish() {
    echo "1..$count"
    [ "$failed" -eq 0 ] || echo "# $failed of $count failed"
    [ "$failed" -eq 0 ] && [ "$count" -gt 0 ]
    exit
}
