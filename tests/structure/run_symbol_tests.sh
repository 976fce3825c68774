#!/bin/sh
# Every name with external linkage is defined once in the libraries: run_symbol_tests.sh NM LIBRARY…
#
# Of two definitions in static libraries the linker takes the one that it finds first, without a word: a caller may
# get a function of other arguments. Prints TAP; exits 1 if a name is defined twice.
set -u
nm=$1
shift
names=$("$nm" --defined-only --extern-only "$@") || exit 1
echo 1..2
count=$(printf '%s\n' "$names" | awk 'NF == 3 && $2 ~ /[TDBR]/' | wc -l)
if [ "$count" -gt 500 ]; then echo "ok 1 - names are found ($count)"; else echo "not ok 1 - only $count names are found"; exit 1; fi
twice=$(printf '%s\n' "$names" | awk 'NF == 3 && $2 ~ /[TDBR]/ {print $3}' | sort | uniq -d)
[ -z "$twice" ] && echo 'ok 2 - each is defined once' && exit 0
echo 'not ok 2 - each is defined once'
printf '# %s\n' $twice
exit 1
