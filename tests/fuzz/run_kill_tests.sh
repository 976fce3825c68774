#!/bin/sh
# Kills runs at random moments: run_kill_tests.sh TRAPEZE [COUNT [SEED]]
#
# Whatever has its final name must be whole, the folder must be readable, and the next run must work. Prints TAP;
# exits 1 if a case failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../cli/support.sh"
kills=${2:-12}
seed=${3:-1}

# Prints what is wrong with the files of a folder.
faults_of() {
    for file in "$1"/*; do
        case $file in
        *.png | *.npy) "$bin" info "$file" >/dev/null 2>said || cat said ;;
        *.vti) tail -c 12 "$file" | grep -q '</VTKFile>' || echo "$file has no end" ;;
        *.pvd | *.xdmf) # lists of files that are there
            tail -n 1 "$file" | grep -qE '^</(VTKFile|Xdmf)>$' || echo "$file has no end"
            grep -oE '[a-z0-9-]+\.(vti|raw|h5)' "$file" | sort -u | while IFS= read -r named; do
                [ -s "$1/$named" ] || echo "$file names $named, which is not there"
            done ;;
        *.raw) [ "$(wc -c <"$file")" -eq $((96 * 64 * (8 + 4))) ] || echo "$file is not whole" ;;
        *.rle) tail -c 3 "$file" | grep -q '!' || echo "$file has no end" ;;
        *.csv) # rows are added to it: the last one is whole
            [ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || echo "$file ends within a row" ;;
        */scenario.lua) cmp "$file" "$here/kill/frames.lua" || true ;;
        */run.json)
            "$bin" info "$1" >/dev/null 2>said || cat said
            grep -qE '"status": "(running|done)"' "$file" || echo "$file has another status" ;;
        esac
    done
}
clean() { [ -z "$(faults_of "$1")" ]; }

t run "$here/kill/frames.lua" --out whole --quiet
check "a run that is not killed" is $rc 0
check "its files" clean whole
for kind in png npy vti pvd raw xdmf rle csv lua json; do
    check "it has .$kind files" sh -c 'ls "$1"/*."$2" >/dev/null' - whole $kind
done

# Runs are killed when they have so many files: times alone would do on an idle machine only.
files=$(ls whole | wc -l)
n=0
killed=0
while [ $n -lt "$kills" ]; do
    n=$((n + 1))
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    wanted=$((seed / 65536 % (files - 1)))
    "$bin" run "$here/kill/frames.lua" --out "runs/$n" --quiet >out 2>err </dev/null &
    pid=$!
    while kill -0 $pid 2>/dev/null && [ "$(ls "runs/$n" 2>/dev/null | wc -l)" -lt $wanted ]; do
        sleep 0.002
    done
    kill -9 $pid 2>/dev/null && killed=$((killed + 1))
    wait $pid 2>/dev/null
    faults_of "runs/$n" >out
    check "killed at $wanted of $files files: whole files" [ ! -s out ]
done
check "most runs were killed" [ $((2 * killed)) -ge "$kills" ]
t run "$here/kill/frames.lua" --out runs/last --quiet
check "the next run works" is $rc 0
check "its files are whole" clean runs/last
find runs -name '.*.tmp-*' >out
check "it has removed what the others left" [ ! -s out ]
finish
