#!/bin/sh
# The contract program fails when a section that was asked for checks no case.
#
#   run_refusal_tests.sh CONTRACT PLUGIN_DIR REFUSING_PLUGIN_DIR FAKES_DIR
#
# FAKES_DIR holds the stand-in for the CUDA driver. Prints TAP; exits 1 if a case failed.
set -u
contract=$1
plugins=$2
refusing=$3
fakes=$4
work=$(mktemp -d "${TMPDIR:-/tmp}/trapeze-contract.XXXXXX")
trap 'rm -rf "$work"' EXIT
export TRAPEZE_CACHE="$work/cache" TZ_CONTRACT=smoke
count=0
failed=0

# ends NAME CODE TEXT ARGUMENT...: the program ends with that code and prints the regular expression.
ends() {
    name=$1 wanted=$2 text=$3
    shift 3
    LD_LIBRARY_PATH=$fakes${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$contract" "$@" >"$work/out" 2>&1 </dev/null
    rc=$?
    count=$((count + 1))
    if [ $rc -eq "$wanted" ] && grep -qE -- "$text" "$work/out"; then
        echo "ok $count - $name"
    else
        failed=$((failed + 1))
        echo "not ok $count - $name"
        echo "# wanted exit code $wanted and '$text'; exit code $rc"
        sed 's/^/# /' "$work/out"
    fi
}

ends "cases are counted" 0 "identity +[1-9][0-9]* cases" --stencil star2d1r --section identity "$plugins"
ends "a plugin refuses every grid" 1 "nothing compared" \
    --stencil refuses_grids --section identity "$refusing"
ends "a plugin refuses every grid: why" 1 "not possible \(the first: no grid is good enough\)" \
    --stencil refuses_grids --section identity "$refusing"
ends "a family refuses every plan" 1 "nothing compared" \
    --stencil periodic_bits --section identity --backend cuda --family resident "$refusing"
ends "a family refuses every plan: why" 1 "cannot stay on chip" \
    --stencil periodic_bits --section identity --backend cuda --family resident "$refusing"
ends "the same stencil on the cpu" 0 "identity +[1-9][0-9]* cases" --stencil periodic_bits --section identity "$refusing"
ends "no such family" 1 "'nosuch' is no family" \
    --stencil star2d1r --section identity --family nosuch "$plugins"
ends "no such stencil" 1 "no stencil to check" --stencil nosuch "$plugins"
ends "no such section" 2 "usage: trapeze-contract" --section nosuch "$plugins"
echo "1..$count"
[ $failed -eq 0 ]
