#!/bin/sh
# A plugin folder full of files that are no plugins: run_plugin_tests.sh TRAPEZE [COUNT [SEED]]
#
# Every command that looks for plugins must refuse each of them in a line, and work with the good one that lies among
# them. COUNT files are whole plugins with a few bytes of their headers changed. Prints TAP; exits 1 if a case failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../cli/support.sh"
good=$(dirname "$bin")/../plugins
changed=${2:-40}
seed=${3:-1}
mkdir bad one
plugin=$good/life.so
size=$(wc -c <"$plugin")

for percent in 1 5 10 20 30 40 50 60 70 80 90 99; do
    head -c $((size * percent / 100)) "$plugin" >bad/cut-$percent.so
done
: >bad/empty.so
echo "not a plugin" >bad/text.so
head -c 64 "$plugin" >bad/header.so
head -c 100000 /dev/zero >bad/zeros.so
head -c 100000 /dev/urandom >bad/noise.so
(cat "$plugin"; head -c 1000 /dev/urandom) >bad/longer.so
truncate -s 1G bad/sparse.so
mkdir bad/folder.so
mkfifo bad/pipe.so
ln -s loop.so bad/loop.so
ln -s nowhere bad/dangling.so
ln -s /dev/zero bad/device.so
ln -s /proc/self/mem bad/memory.so
cp "$bin" bad/program.so
for library in libpng16.so.16 libz.so.1; do
    path=$(ldd "$bin" | awk -v name=$library '$1 == name { print $3 }')
    [ -z "$path" ] || cp "$path" bad/$library.so
done
cp "$plugin" "bad/$(printf 'new\nline\033[2J').so"
: >bad/.hidden.so

# poke FILE OFFSET BYTE
poke() {
    # shellcheck disable=SC2059 # the format is the byte
    printf "\\$(printf %03o "$3")" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
for pair in 4,1 5,2 6,0 16,2 16,4 18,62 18,3 18,183 20,9 52,1 54,1 56,0 57,255 58,1 60,255 62,200 40,255 47,127 32,255 39,127; do
    cp "$plugin" "bad/field-$pair.so"
    poke "bad/field-$pair.so" "${pair%,*}" "${pair#*,}"
done
n=0
while [ $n -lt "$changed" ]; do
    n=$((n + 1))
    cp "$plugin" bad/changed-$n.so
    for _ in 1 2 3; do
        seed=$(((seed * 1103515245 + 12345) % 2147483648))
        offset=$((seed / 1024 % 600))
        seed=$(((seed * 1103515245 + 12345) % 2147483648))
        poke bad/changed-$n.so $offset $((seed / 65536 % 256))
    done
done

# The commands as they are meant, then with all these files.
cat >run.lua <<'EOT'
local tz = require "trapeze"
tz.simulation { plugin = "life", grid = { 16, 16 } }:run { steps = 2 }
EOT
limited() { timeout -k 2 60 "$@" >out 2>err </dev/null; rc=$?; }
calm() { [ $rc -eq "$1" ] && ! grep -q Sanitizer err; }
no_controls() { ! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" out err; }
cp "$plugin" bad/life.so
limited "$bin" plugins --plugins bad
check "plugins ends" calm 0
check "plugins lists the good one" says "life 1.0.0"
for file in cut-50 empty text folder pipe loop dangling device program sparse; do
    check "plugins names $file.so" grep -q "$file.so" out err
done
check "plugins prints no control characters" no_controls
limited "$bin" run run.lua --plugins bad --out one/run
check "run works" calm 0
limited "$bin" info one/run
check "info works" calm 0
limited "$bin" doctor --plugins bad
check "doctor ends" [ $rc -le 1 ]
check "doctor prints no control characters" no_controls
limited "$bin" predict cut-50 --grid 8,8 --plugins bad
check "a plugin that is asked for by its file's name is refused" calm 1
check "the refusal names the file" errs "cut-50.so"

# A folder may be given twice.
limited "$bin" plugins --plugins "$good" --plugins "$good/../plugins"
check "a folder that is given twice is read once" [ "$(grep -c '^refused' out)" -eq 0 ]

finish
