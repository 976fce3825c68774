#!/bin/sh
# Builds Trapeze for 64-bit ARM with Debian's cross compiler, and runs it here in qemu: a table of bits must be that of this
# machine, and the suites of the contract and of the oracles must pass.
#
#   sh scripts/arm64.sh [TRAPEZE]     the program of this machine (default: build/bin/trapeze)
#
# Needs, as root: dpkg --add-architecture arm64 && apt-get update && apt-get install gcc-aarch64-linux-gnu qemu-user
# liblua5.4-dev:arm64 libpng-dev:arm64 libjansson-dev:arm64 libcmocka-dev:arm64 zlib1g-dev:arm64. Ends with 1 if something
# differs, with 77 if the tools are missing.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
here=${1:-$root/build/bin/trapeze}
tree=$root/build-arm64
mkdir -p "$tree"
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $tool >/dev/null || { echo "arm64: skipped: there is no $tool (see the head of scripts/arm64.sh)" >&2 && exit 77; }
done
export PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig # no library of this machine
# A plain ARMv8.0 processor.
emulator='/usr/bin/env;QEMU_LD_PREFIX=/usr/aarch64-linux-gnu;qemu-aarch64;-cpu;cortex-a57'
cmake -G Ninja -S "$root" -B "$tree" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_LIBRARY_ARCHITECTURE=aarch64-linux-gnu \
    -DCMAKE_IGNORE_PATH=/usr/lib/x86_64-linux-gnu -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON \
    "-DCMAKE_CROSSCOMPILING_EMULATOR=$emulator" -DCMAKE_BUILD_TYPE=Release -DTRAPEZE_WERROR=ON >"$tree/log" 2>&1 ||
    { tail -n 20 "$tree/log" && exit 1; }
ninja -C "$tree" >>"$tree/log" 2>&1 || { grep -A 20 FAILED "$tree/log" | head -n 40 && exit 1; }
export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TRAPEZE_CACHE="$work/cache"
there() { timeout -s KILL 900 qemu-aarch64 -cpu cortex-a57 "$@"; }

failed=0
"$here" run "$root/tests/arm64/bits.lua" --backend cpu --quiet --out "$work/here" >"$work/bits.here"
there "$tree/bin/trapeze" run "$root/tests/arm64/bits.lua" --backend cpu --quiet --out "$work/there" >"$work/bits.there"
if cmp "$work/bits.here" "$work/bits.there"; then
    echo "bits: $(wc -l <"$work/bits.here") fields the same"
else
    diff "$work/bits.here" "$work/bits.there" || failed=1
fi
for stencil in ${STENCILS:-hotspot life d3q19 onesided}; do
    if there "$tree/test-bin/contract" --stencil "$stencil" "$tree/plugins" "$tree/test-plugins" >"$work/log" 2>&1; then
        echo "contract: $stencil passed"
    else
        tail -n 5 "$work/log" && failed=1
    fi
done
for test in ${ORACLES:-$(cd "$root/tests/oracle" && ls test_*.c | sed 's/\.c$//')}; do
    if there "$tree/test-bin/tests_oracle" "$test" >"$work/log" 2>&1; then echo "oracle: $test passed"; else tail -n 5 "$work/log" && failed=1; fi
done
exit $failed
