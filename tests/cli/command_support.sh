# Sourced by the tests of commands, with the path of the program in $1 and a folder of bad plugins in $2. As support.sh, and:
bad=${2:-}
case $bad in '' | /*) ;; *) bad=$(pwd)/$bad ;; esac
. "$here/support.sh"
[ -n "$bad" ] || bad=$(dirname "$bin")/../bad-plugins
[ -d "$bad" ] || bad=
absent() { [ ! -e "$1" ]; }
empty_dir() { [ -z "$(ls -A "$1")" ]; }

# refused NAME CODE TEXT ARGUMENT…: the program must exit with CODE, print one line that holds TEXT, and
# leave no file.
refused() {
    name=$1 code=$2 text=$3
    shift 3
    mkdir -p clean && cd clean || exit 1
    "$bin" "$@" >../out 2>../err </dev/null
    rc=$?
    cd ..
    check "$name: exit code $code" is "$rc" "$code"
    check "$name: says so" errs "$text"
    check "$name: one line" lines_err 1
    check "$name: leaves nothing" empty_dir clean
    rm -rf clean
}

script() { # script NAME: the text comes from stdin
    cat >"$work/$1"
}

# begin FILE ARGUMENT…: start the program and wait until it catches signals and FILE ('': none) has something.
begin() {
    file=$1
    shift
    "$bin" "$@" >out 2>err </dev/null &
    pid=$!
    tries=0
    until { grep -qE '^SigCgt:.*[2367abef]$' /proc/$pid/status && { [ -z "$file" ] || [ -s "$file" ]; }; } 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || break
        sleep 0.1
    done
    sleep 0.3 # and is in the midst of it
}
# after SIGNAL FILE ARGUMENT…: begin, send the signal, wait for its end.
after() {
    signal=$1
    shift
    begin "$@"
    kill -s "$signal" $pid
    wait $pid
    rc=$?
}
