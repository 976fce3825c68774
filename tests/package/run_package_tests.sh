#!/bin/sh
# run_package_tests.sh BUILD EXAMPLE WORK: makes the Debian packages of BUILD, checks them, unpacks them to another folder and
# runs what they hold from there; builds the plugin in EXAMPLE, and programs in C and Python, against that tree. WORK is made
# anew. With TZ_ALL in the environment the libraries that they need are looked up, which takes a minute, and lintian reads them.
set -eu
build=$(CDPATH= cd -- "$1" && pwd -P)
example=$(CDPATH= cd -- "$2" && pwd -P)
work=$3
rm -rf "$work"
mkdir -p "$work/home"
work=$(CDPATH= cd -- "$work" && pwd -P)
unset TRAPEZE_PLUGIN_PATH
for tool in dpkg-deb dpkg-shlibdeps readelf; do
    command -v $tool >/dev/null 2>&1 || { echo "skipped: no $tool"; exit 77; }
done

fail() { echo "FAIL: $*" >&2; exit 1; }

umask 077 # which the packages must not take
cpack -G DEB -D CPACK_DEBIAN_PACKAGE_SHLIBDEPS=${TZ_ALL:+ON} --config "$build/CPackConfig.cmake" -B "$work" >"$work/cpack.log" 2>&1 || fail "$(cat "$work/cpack.log")"
umask 022
rm -rf "$work/_CPack_Packages"
names='trapeze libtrapeze0 python3-trapeze trapeze-dev'
[ ! -e "$build/lib/trapeze/mpi/trapeze-mpi.so" ] || names="$names trapeze-mpi"
version=$(dpkg-deb -f "$work"/trapeze_*.deb Version)
for name in $names; do
    file=$(echo "$work/${name}_"*.deb)
    [ -f "$file" ] || fail "there is no package $name"
    [ -z "${TZ_ALL:-}" ] || [ $name = python3-trapeze ] || dpkg-deb -f "$file" Depends | grep -q 'libc6 (>= ' || fail "$name: dpkg-shlibdeps found no libraries"
    [ $name = trapeze ] || dpkg-deb -f "$file" Depends | grep -qF "trapeze (= $version)" ||
        fail "$name may be installed beside another trapeze"
    dpkg-deb -c "$file" >"$work/$name.list"
    for document in copyright changelog.Debian.gz; do
        grep -q "\./usr/share/doc/$name/$document\$" "$work/$name.list" || fail "$name has no $document"
    done
    if grep -vE '^(drwxr-xr-x|-rw-r--r--|lrwxrwxrwx) |^-rwxr-xr-x .*/usr/(bin|libexec/trapeze)/' "$work/$name.list"; then
        fail "$name: these files have other permissions than their kind"
    fi
    dpkg-deb -x "$file" "$work/root"
    case $name in trapeze | libtrapeze0 | python3-trapeze) dpkg-deb -x "$file" "$work/alone" ;; esac
done
[ -z "${TZ_ALL:-}" ] || dpkg-deb -f "$work"/trapeze_*.deb Depends | grep -q libpng || fail 'trapeze does not depend on libpng'
echo "ok: packages $names"

if [ -z "${TZ_ALL:-}" ]; then
    :
elif command -v lintian >/dev/null 2>&1; then
    [ "$(id -u)" -ne 0 ] || root=--allow-root
    lintian ${root:-} --fail-on error,warning "$work"/*.deb >"$work/lintian.log" 2>&1 || fail "$(cat "$work/lintian.log")"
    [ ! -s "$work/lintian.log" ] || cat "$work/lintian.log"
    echo "ok: lintian"
else
    echo 'skipped: no lintian'
fi

find "$work/root/usr/bin" "$work/root/usr/lib" "$work/root/usr/libexec" -type f | while read -r file; do
    [ "$(head -c 4 "$file" | tail -c 3)" = ELF ] || continue
    ! readelf -d "$file" | grep -qE 'RPATH|RUNPATH' || fail "$file names a folder of libraries"
    ! readelf -S "$file" | grep -qE '\.(symtab|debug_info)' || fail "$file is not stripped"
done
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
if grep -rlF -e "$source" -e "$build" "$work/root" >"$work/paths.log"; then
    fail "these files name the folder that they were built in: $(cat "$work/paths.log")"
fi
echo "ok: stripped, and from any folder"

cd "$work/home"
export HOME="$work/home" TRAPEZE_CACHE="$work/cache"
trapeze=$work/alone/usr/bin/trapeze
"$trapeze" doctor >doctor.log || fail 'trapeze doctor'
grep -q 'everything that a run needs is there' doctor.log || fail "$(cat doctor.log)"
"$trapeze" doctor --verbose >doctor.log || fail 'trapeze doctor --verbose'
! grep -q 'no program trapeze-compile' doctor.log || fail "$(cat doctor.log)"
"$trapeze" examples | grep -q '^hotspot ' || fail 'trapeze examples'
"$trapeze" examples hotspot >examples.log && "$trapeze" run hotspot.lua --out run >run.log 2>&1 || fail "$(cat run.log)"
[ -n "$(find run -name '*.png')" ] || fail 'the scenario made no frame'
"$trapeze" run "$work/root/usr/share/trapeze/scripts/stencils/wave.lua" --out interpreted >wave.log 2>&1 ||
    fail "a scenario's stencil, without trapeze-dev: $(cat wave.log)"
grep -q 'are interpreted.*install the package trapeze-dev' wave.log || fail "$(cat wave.log)"
python=
for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! $candidate -c 'import numpy' 2>/dev/null || python=$candidate
done
if [ -n "$python" ]; then
    cat >heat.py <<'END'
import trapeze as tz
heat = tz.Stencil(dims=2, fields=["t"], params=dict(rate=0.2), update=dict(t="t + rate*lap(t)"))
sim = tz.Simulation(heat, grid=(256, 256), t=lambda x, y: (x // 64 + y // 64) % 2)
sim.run(1000)
assert tz.__file__.startswith("/") and abs(sim["t"].mean() - 0.5) < 1e-3
END
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$work/alone/usr/lib/python3/dist-packages "$python" heat.py >heat.log 2>&1 ||
        fail "the packages trapeze and python3-trapeze: $(cat heat.log)"
    wheel=$(cd "$source/python" && PYTHONDONTWRITEBYTECODE=1 "$python" -c 'import backend, sys; print(backend.build_wheel(sys.argv[1]))' "$work")
    PYTHONPATH=$work/$wheel TRAPEZE_LIBRARY=$(echo "$work"/alone/usr/lib/libtrapeze.so.0) "$python" heat.py >heat.log 2>&1 ||
        fail "the wheel: $(cat heat.log)"
    echo "ok: Python, from the packages and from a wheel"
else
    echo 'skipped: no python3 with numpy'
fi
echo "ok: trapeze alone"

# All packages, in a folder whose name has a blank.
mv "$work/root/usr" "$work/moved tree"
prefix="$work/moved tree"
trapeze="$prefix/bin/trapeze"
for file in lib/trapeze/plugins/hotspot.so share/trapeze/scripts/hotspot.lua \
    share/trapeze/devices/gtx280.txt \
    include/trapeze/plugin.h include/trapeze/trapeze.h lib/libtrapeze.so lib/cmake/Trapeze/TrapezeConfig.cmake \
    lib/cmake/Trapeze/TrapezeConfigVersion.cmake lib/cmake/Trapeze/TrapezePlugin.cmake \
    lib/python3/dist-packages/trapeze/__init__.py lib/python3/dist-packages/trapeze/py.typed \
    bin/trapeze-contract libexec/trapeze/trapeze-compile share/trapeze/examples/heat/heat.c share/doc/trapeze/README.md share/doc/trapeze/scenario.md \
    share/bash-completion/completions/trapeze share/zsh/vendor-completions/_trapeze share/fish/vendor_completions.d/trapeze.fish; do
    [ -f "$prefix/$file" ] || fail "$file was not installed"
done
grep -q '^TRAPEZE_PAPERS:BOOL=OFF' "$build/CMakeCache.txt" || [ -f "$prefix/share/trapeze/benchmarks/hotspot.txt" ] ||
    fail "the papers' benchmarks were not installed"
for page in trapeze trapeze-contract; do
    gzip -dc "$prefix/share/man/man1/$page.1.gz" | grep -q "^\.TH " || fail "there is no page $page(1)"
done
if [ -e "$prefix/lib/trapeze/mpi/trapeze-mpi.so" ]; then
    ! "$trapeze" doctor | grep -q 'built without MPI' || fail 'the module of trapeze-mpi is not found'
    "$work/alone/usr/bin/trapeze" doctor | grep -q 'install the package trapeze-mpi' || fail 'doctor does not name trapeze-mpi'
fi
echo "ok: files, pages, completions, trapeze-mpi"

mkdir "$work/elsewhere"
cd "$work/elsewhere"
"$trapeze" plugins >"$work/plugins.log" || fail 'trapeze plugins'
for id in hotspot pathfinder life; do
    grep -qw "$id" "$work/plugins.log" || fail "the installed trapeze does not list '$id'"
done
echo "ok: the moved tree lists its plugins"

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
