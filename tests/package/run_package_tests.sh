#!/bin/sh
# run_package_tests.sh BUILD EXAMPLE WORK: installs BUILD, moves the tree, builds the plugin in
# EXAMPLE against it and runs both from other folders. WORK is made anew.
set -eu
build=$(CDPATH= cd -- "$1" && pwd -P)
example=$(CDPATH= cd -- "$2" && pwd -P)
work=$3
rm -rf "$work"
mkdir -p "$work/elsewhere"
work=$(CDPATH= cd -- "$work" && pwd -P)
unset TRAPEZE_PLUGIN_PATH

fail() { echo "FAIL: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/first" >"$work/install.log" || fail "$(cat "$work/install.log")"
mv "$work/first" "$work/moved tree"
prefix="$work/moved tree"
trapeze="$prefix/bin/trapeze"
for file in lib/trapeze/plugins/hotspot.so share/trapeze/scripts/hotspot.lua \
    share/trapeze/devices/gtx280.txt \
    include/trapeze/plugin.h include/trapeze/trapeze.h lib/libtrapeze.so lib/cmake/Trapeze/TrapezeConfig.cmake \
    lib/cmake/Trapeze/TrapezeConfigVersion.cmake lib/cmake/Trapeze/TrapezePlugin.cmake \
    lib/python3/dist-packages/trapeze/__init__.py lib/python3/dist-packages/trapeze/py.typed \
    bin/trapeze-contract libexec/trapeze/trapeze-compile share/trapeze/examples/heat/heat.c share/doc/trapeze/README.md share/doc/trapeze/scenario.md; do
    [ -f "$prefix/$file" ] || fail "$file was not installed"
done
grep -q '^TRAPEZE_PAPERS:BOOL=OFF' "$build/CMakeCache.txt" || [ -f "$prefix/share/trapeze/benchmarks/hotspot.txt" ] ||
    fail "the papers' benchmarks were not installed"
if grep -rlF "$work/first" "$prefix" >"$work/paths.log"; then
    fail "these files name the folder that they were installed to: $(cat "$work/paths.log")"
fi
echo "ok: installed and moved"

cd "$work/elsewhere"
"$trapeze" plugins >"$work/plugins.log" || fail 'trapeze plugins'
for id in hotspot pathfinder life; do
    grep -qw "$id" "$work/plugins.log" || fail "the installed trapeze does not list '$id'"
done
"$trapeze" run "$prefix/share/trapeze/scripts/hotspot.lua" --quiet --out "$work/elsewhere/run"
[ -n "$(find "$work/elsewhere/run" -name '*.png')" ] || fail 'the shipped scenario made no frame'
echo "ok: the moved tree lists its plugins and runs a shipped scenario"

echo '-- of the moved tree' >>"$prefix/share/trapeze/scripts/life.lua"
"$trapeze" examples life --into "$work/elsewhere/mine" >"$work/examples.log" || fail 'trapeze examples life'
tail -n 1 "$work/elsewhere/mine/life.lua" | grep -qx -- '-- of the moved tree' || fail 'an example is not the installed one'
[ -f "$work/elsewhere/mine/patterns/gosper-gun.rle" ] || fail 'a file that an example reads was not copied'
echo "ok: examples are copied from the moved tree"

# A link in PATH must find the tree too.
mkdir "$work/bin"
ln -s "$trapeze" "$work/bin/trapeze"
"$work/bin/trapeze" plugins | grep -qw hotspot || fail 'a link to trapeze finds no plugins'
if "$work/bin/trapeze" doctor --verbose | grep -q 'no program trapeze-compile'; then
    fail 'a link to trapeze finds no program that compiles kernels'
fi
echo "ok: through a link"

# A stencil of a scenario is compiled with the headers of the moved tree.
TRAPEZE_CACHE="$work/cache" "$trapeze" run "$prefix/share/trapeze/scripts/stencils/wave.lua" --quiet \
    --out "$work/elsewhere/wave" || fail "the moved tree does not compile a scenario's stencil"
"$trapeze" doctor --verbose | grep -qF "headers: $prefix/include" || fail 'doctor names other headers'
"$trapeze" new plate >"$work/new.log" && cmake -G Ninja -S plate -B plate/build >>"$work/new.log" 2>&1 &&
    cmake --build plate/build >>"$work/new.log" 2>&1 &&
    TZ_CONTRACT=smoke ctest --test-dir plate/build --output-on-failure >>"$work/new.log" 2>&1 ||
    fail "a new plugin does not build or pass its tests: $(cat "$work/new.log")"
echo "ok: a scenario's stencil, and trapeze new"

cp -R "$example" "$work/example"
cmake -G Ninja -S "$work/example" -B "$work/example-build" -DCMAKE_PREFIX_PATH="$prefix" \
    >"$work/example.log" 2>&1 && cmake --build "$work/example-build" >>"$work/example.log" 2>&1 ||
    fail "the example plugin does not build: $(cat "$work/example.log")"
plugins=$(dirname "$(find "$work/example-build" -name heat.so | head -n 1)")
TRAPEZE_PLUGIN_PATH=$plugins "$trapeze" plugins | grep -qw heat || fail "the example's plugin is not listed"
scenario=$(find "$work/example" -name '*.lua' | head -n 1)
TRAPEZE_PLUGIN_PATH=$plugins "$trapeze" run "$scenario" --quiet --out "$work/elsewhere/heat"
[ -n "$(find "$work/elsewhere/heat" -name '*.png')" ] || fail "the example's scenario made no frame"
echo "ok: a plugin built outside the tree runs its scenario"

cmake -G Ninja -S "$prefix/share/trapeze/examples/c" -B "$work/c-build" -DCMAKE_PREFIX_PATH="$prefix" >"$work/c.log" 2>&1 &&
    cmake --build "$work/c-build" >>"$work/c.log" 2>&1 || fail "the example program in C does not build: $(cat "$work/c.log")"
TRAPEZE_CACHE="$work/cache" "$work/c-build/heat" >"$work/heat.txt" 2>>"$work/c.log" || fail "it does not run: $(cat "$work/c.log")"
grep -qxE '( +[0-9]+\.[0-9]{4}){8}' "$work/heat.txt" || fail "it prints: $(cat "$work/heat.txt")"
PKG_CONFIG_PATH="$prefix/share/pkgconfig" pkg-config --libs trapeze | grep -q -- -ltrapeze || fail 'pkg-config'
echo "ok: a program in C built outside the tree"

# What an author does wrong, with the installed package alone: one line says it.
if cmake -G Ninja -S "$work/example" -B "$work/fast-build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS=-ffast-math \
    >"$work/fast.log" 2>&1; then
    fail '-ffast-math was accepted'
fi
grep -q 'heat: the option -ffast-math changes bits' "$work/fast.log" || fail "$(cat "$work/fast.log")"
sed -i 's/TZ_AT(temperature, 0, 0)/sqrt(TZ_AT(temperature, 0, 0))/' "$work/example/heat.cell.h"
if cmake --build "$work/example-build" >"$work/slip.log" 2>&1; then
    fail 'a library call in a cell text was accepted'
fi
[ "$(grep -c 'error:' "$work/slip.log")" -eq 1 ] && grep -q 'use TZ_SQRT()' "$work/slip.log" ||
    fail "$(cat "$work/slip.log")"
echo "ok: slips are refused in a line"

# The contract suite, without the tree that it was built in.
(unset TZ_CONTRACT; TRAPEZE_CACHE="$work/cache" "$prefix/bin/trapeze-contract" --section descriptor --section radius \
    --section device "$plugins/heat.so") >"$work/contract.log" 2>&1 || fail "contract: $(cat "$work/contract.log")"
grep -q 'contract: 1 stencils, 0 failures' "$work/contract.log" || fail "$(cat "$work/contract.log")"
if "$prefix/bin/trapeze-contract" "$work/nowhere.so" >"$work/contract.log" 2>&1; then
    fail 'contract accepts a file that does not exist'
fi
echo "ok: the contract suite runs on the author's plugin"
rm -rf "$work"
