#!/bin/sh
# run_deb_tests.sh BUILD WORK: makes the Debian packages of BUILD, checks them, unpacks them and runs what they hold
# from there. WORK is made anew.
set -eu
build=$(CDPATH= cd -- "$1" && pwd -P)
work=$2
rm -rf "$work"
mkdir -p "$work/home"
work=$(CDPATH= cd -- "$work" && pwd -P)
unset TRAPEZE_PLUGIN_PATH
for tool in dpkg-deb dpkg-shlibdeps readelf; do
    command -v $tool >/dev/null 2>&1 || { echo "skipped: no $tool"; exit 77; }
done

fail() { echo "FAIL: $*" >&2; exit 1; }

umask 077 # which the packages must not take
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work" >"$work/cpack.log" 2>&1 || fail "$(cat "$work/cpack.log")"
umask 022
rm -rf "$work/_CPack_Packages"
names='trapeze libtrapeze0 python3-trapeze trapeze-dev'
[ ! -e "$build/lib/trapeze/mpi/trapeze-mpi.so" ] || names="$names trapeze-mpi"
version=$(dpkg-deb -f "$work"/trapeze_*.deb Version)
for name in $names; do
    file=$(echo "$work/${name}_"*.deb)
    [ -f "$file" ] || fail "there is no package $name"
    [ $name = python3-trapeze ] || dpkg-deb -f "$file" Depends | grep -q 'libc6 (>= ' || fail "$name: dpkg-shlibdeps found no libraries"
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
dpkg-deb -f "$work"/trapeze_*.deb Depends | grep -q libpng || fail 'trapeze does not depend on libpng'
echo "ok: packages $names"

if command -v lintian >/dev/null 2>&1; then
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
trapeze=$work/root/usr/bin/trapeze
"$trapeze" run "$work/root/usr/share/trapeze/scripts/stencils/wave.lua" --quiet --out wave ||
    fail "a scenario's stencil, with trapeze-dev"
echo "ok: trapeze, alone and with trapeze-dev"

cp -R "$work/root/usr/share/trapeze/examples/c" c && cc c/heat.c -o heat -I"$work/root/usr/include" -L"$work/root/usr/lib" -ltrapeze >c.log 2>&1 &&
    LD_LIBRARY_PATH="$work/root/usr/lib" ./heat >heat.txt 2>>c.log || fail "a program in C: $(cat c.log)"
[ "$(wc -w <heat.txt)" -eq 8 ] || fail "a program in C prints: $(cat heat.txt)"
echo "ok: a program in C with libtrapeze0 and trapeze-dev"

"$trapeze" new plate >new.log && cmake -G Ninja -S plate -B plate/build -DCMAKE_PREFIX_PATH="$work/root/usr" >>new.log 2>&1 &&
    cmake --build plate/build >>new.log 2>&1 && "$trapeze" run plate/plate.lua --plugins plate/build --out plate/run >>new.log 2>&1 ||
    fail "$(cat new.log)"
TZ_CONTRACT=smoke "$work/root/usr/bin/trapeze-contract" --section descriptor plate/build/plate.so >contract.log 2>&1 ||
    fail "$(cat contract.log)"
for page in trapeze trapeze-contract; do
    gzip -dc "$work/root/usr/share/man/man1/$page.1.gz" | grep -q "^\.TH " || fail "there is no page $page(1)"
done
for file in bash-completion/completions/trapeze zsh/vendor-completions/_trapeze fish/vendor_completions.d/trapeze.fish; do
    [ -s "$work/root/usr/share/$file" ] || fail "there is no $file"
done
if [ -e "$work/root/usr/lib/trapeze/mpi/trapeze-mpi.so" ]; then
    ! "$trapeze" doctor | grep -q 'built without MPI' || fail 'the module of trapeze-mpi is not found'
    "$work/alone/usr/bin/trapeze" doctor | grep -q 'install the package trapeze-mpi' || fail 'doctor does not name trapeze-mpi'
fi
echo "ok: trapeze new, trapeze-contract, pages, completions, trapeze-mpi"
cd /
rm -rf "$work"
