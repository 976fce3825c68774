#!/bin/sh
# The command line with stand-ins for driver, NVRTC, NVML and cuFFT (tests/backend/cuda/fake), which ctest puts first in
# LD_LIBRARY_PATH: doctor, the cache's warning, faults as a user meets them: run_cuda_cli_tests.sh TRAPEZE
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"
export FAKE_NVRTC_LOG="$work/compiled"

compiled() { [ "$(wc -l <"$FAKE_NVRTC_LOG")" -eq "$1" ]; }
warnings() { [ "$(grep -c warning err)" -eq "$1" ]; }

if ! "$bin" doctor --verbose | grep -q 'Fake GPU'; then
    echo '1..0 # SKIP the stand-ins are not first in LD_LIBRARY_PATH'
    exit 0
fi

cat >two.lua <<'END'
local tz = require "trapeze"
for k = 1, 2 do
    local sim = tz.simulation { plugin = "star2d1r", grid = { 64, 48 }, height = 2 * k }
    sim:run(4 * k)
    sim:close()
end
END

# ---- A compiler that takes ten minutes ----------------------------------------------------------
# One signal ends the command, wherever it is: no test says how soon, but for the limit of all tests.
for command in "run two.lua --backend cuda" "predict star2d1r --grid 4096,4096 --device h200" \
    "tune star2d1r --grid 64,64 --backend cuda"; do
    for code in 143 129; do
        signal=$(kill -l $((code - 128)))
        [ $signal = TERM ] || [ "${command%% *}" = predict ] || continue
        rm -f "$FAKE_NVRTC_LOG"
        FAKE_NVRTC_MS=600000 "$bin" $command >out 2>err </dev/null &
        pid=$!
        await [ -s "$FAKE_NVRTC_LOG" ]
        check "${command%% *}: the compiler has begun" [ -s "$FAKE_NVRTC_LOG" ]
        kill -s $signal $pid
        wait $pid
        check "${command%% *} in the compiler and SIG$signal" is $? $code
    done
done
FAKE_NVRTC_MS=600000 python3 "$here/terminal.py" ^C "$bin" predict star2d1r --grid 4096,4096 --device h200 >out
check "predict on a terminal and Ctrl-C" is $? 130
check "predict on a terminal and Ctrl-C: the line" says "interrupted while plans were predicted"
rm -f "$FAKE_NVRTC_LOG"

# ---- Compilers are children ---------------------------------------------------------------------
# kill -9 leaves none.
FAKE_NVRTC_MS=600000 "$bin" run two.lua --backend cuda >out 2>err </dev/null &
pid=$!
await [ -s "$FAKE_NVRTC_LOG" ]
compiler=$(grep -l "^PPid:[[:space:]]*$pid\$" /proc/[0-9]*/status 2>/dev/null | head -n 1)
check "kill -9: there is a compiler" [ -n "$compiler" ]
kill -9 $pid
wait $pid 2>/dev/null
check "kill -9: it has ended" await sh -c '[ ! -e "$0" ] || grep -q "^State:.Z" "$0"' "$compiler"
rm -f "$FAKE_NVRTC_LOG"
FAKE_NVRTC_DO=crash t run two.lua --backend cuda -q
expect "a compiler that crashes" rc 1 errs "while it compiled a kernel for sm_90, the compiler " lines_err 1
rm -f "$FAKE_NVRTC_LOG"
cp "$bin" alone
if ./alone doctor --verbose >out 2>err; then rc=0; else rc=$?; fi
check "no program that compiles: doctor" says "NVRTC: no program trapeze-compile, which compiles kernels: it is neither in $PWD"
check "no program that compiles: auto" [ "$(grep -c 'auto takes it' out)" -eq 1 ]
check "no program that compiles: auto takes the CPU" [ "$(grep -c 'cuda.*auto takes it' out)" -eq 0 ]

# A GPU whose memory is too small, for fields of 12,288 bytes that would begin there.
export FAKE_CUDA_MEMORY=15000
TRAPEZE_CACHE=$work/small t run two.lua
expect "too small a GPU: auto" rc 0 errs "by cpu with" errs "(auto: the GPU's memory is too small)"
for wish in "--backend cuda" "--family direct"; do
    TRAPEZE_CACHE=$work/small t run two.lua -q $wish
    expect "too small a GPU, $wish" rc 1 errs "not enough GPU memory on Fake GPU A" lines_err 1
done
unset FAKE_CUDA_MEMORY

# A stencil of a scenario needs no C compiler.
cat >defined.lua <<'END'
local tz = require "trapeze"
local s = tz.stencil { name = "defined", dims = 2, fields = { "u", "v", speed = { role = "derived" } },
  params = { k = 0.2 }, scalars = { wind = "sin(step*k)" },
  passes = { { u = "u + k*lap(u) + wind*dx(v)" }, { v = "v + exp(-u^2)" } }, outputs = { speed = "abs(u[1,0] - u)" } }
local sim = tz.simulation { plugin = s, grid = { 64, 48 }, fields = { u = function(x) return x end } }
sim:run(4)
assert(sim:max "speed" == sim:max "speed")
END
printf '#!/bin/sh\necho "$@" >>"${0%%/*}/started"\nexec cc "$@"\n' >my-cc && chmod +x my-cc
for policy in "--backend cuda" "--backend auto" "--backend cuda --height 2"; do
    CC=$work/my-cc t run defined.lua $policy
    check "a defined stencil, $policy: runs" is $rc 0
    check "a defined stencil, $policy: nothing is compiled" [ "$(cat started 2>/dev/null | grep -cv -e --version)" -eq 0 ]
    check "a defined stencil, $policy: no warning about it" [ "$(grep -c 'are interpreted, up' err)" -eq 0 ]
done
CC=$work/my-cc t run defined.lua --backend cpu
check "a defined stencil, cpu: a C compiler" [ -s started ]
rm -f "$FAKE_NVRTC_LOG"

t doctor --verbose
expect "doctor" rc 0 says "compilers at once: " says "GPU 0: Fake GPU A, sm_90, 132 multiprocessors" \
    says "GPU 0 energy: 1.23" says "compiled kernels: $work/cache" says "cuFFT: 12.0 (libcufft.so.12)" says "(auto takes it for long runs)"
FAKE_CUDA_DEVICES=3 t doctor --verbose
check "doctor: GPUs side by side" says "GPU 1 and 2: peer access: they copy to each other directly"
FAKE_CUDA_DEVICES=2 FAKE_CUDA_PEERS=0 t doctor --verbose
check "doctor: without peer access" says "GPU 0 and 1: no peer access: copies go through host memory"
check "doctor: ranks" says "GPU 0 between ranks of this machine: processes can share its memory"
FAKE_CUDA_WITHOUT=125 t doctor --verbose
check "doctor: ranks, by an old driver" [ "$(grep -c 'between ranks' out)" -eq 0 ]
FAKE_CUFFT_FAULT=cufftGetVersion:5 t doctor --verbose
check "doctor: a broken cuFFT" says "cuFFT: libcufft.so.12: this cuFFT is not usable"
FAKE_NVML_FAULT=nvmlInit_v2:9 t doctor --verbose
expect "doctor without energy" says "GPU 0 energy: not known: the driver is not loaded" rc 0

# The stand-in's kernels do nothing: a clock that does not move is an error, not a number.
export TRAPEZE_DEVICES="$work/devices"
t calibrate --device 0 --seconds 1
expect "calibrate" rc 1 errs "a kernel on Fake GPU A took no time" lines_err 1
check "calibrate: nothing is kept" [ ! -e devices ]
t calibrate --seconds 1
check "calibrate takes the GPU if there is one" errs "Fake GPU A"
t calibrate --device 7
check "calibrate: no such GPU" errs "there is no GPU 7: 1 found"
t calibrate --costs --seconds 1
expect "calibrate --costs" rc 1 errs "Fake GPU A has no record to add costs to: run trapeze calibrate --device 0"
FAKE_CUDA_DEVICES=0 t calibrate --device 0
expect "calibrate without a GPU" rc 1 errs "or use --cpu"
FAKE_CUDA_FAULT=cuLaunchKernel:715 t calibrate --device 0
expect "calibrate" rc 1 errs "a kernel "
t doctor --verbose
check "doctor: no record of the GPU" says "GPU 0: none; numbers of h200 are scaled (run trapeze calibrate --device 0)"
mkdir -p devices
printf 'name = fake\ntitle = Fake GPU A\nsm_count = 132 # by hand\n' >devices/fake.txt
t doctor --verbose
check "doctor: the record of the GPU" says "GPU 0: fake"
printf 'name = fake\ntitle = Fake GPU A\nsm_count = 131 # by hand\n' >devices/fake.txt
t doctor --verbose
check "doctor: not that of another GPU" says "GPU 0: none"

: >"$FAKE_NVRTC_LOG"
# A sum waits for the kernels that are compiled beside the stages: a run that ends before leaves them to the next.
sed 's/sim:close/sim:sum("u")\n    sim:close/' two.lua >sums.lua
t run sums.lua --backend cuda --policy fixed -q
check "a run" is $rc 0
check "a run: nothing to warn of" warnings 0
kernels=$(wc -l <"$FAKE_NVRTC_LOG")
check "a run: kernels of two heights" [ "$kernels" -ge 2 ]
t run sums.lua --backend cuda --policy fixed -q
check "again" is $rc 0
check "again: from the cache" compiled "$kernels"

: >file
TRAPEZE_CACHE=$work/file/cache t run two.lua --backend cuda -q
check "an unwritable cache is no failure" is $rc 0
check "an unwritable cache: one warning" warnings 1
check "an unwritable cache: the folder" errs "trapeze: warning: compiled code cannot be kept in $work/file/cache"
check "an unwritable cache: what to do" errs "set TRAPEZE_CACHE"
TRAPEZE_CACHE='' t run two.lua --backend cuda -q
check "no cache wanted: no warning" warnings 0

for fault in cuCtxSynchronize:700 cuStreamSynchronize:719 cuLaunchKernel:715; do
    FAKE_CUDA_FAULT=$fault:3 t run two.lua --backend cuda -q
    [ "$rc" -eq 0 ] && continue # a call that this backend does not make often enough
    expect "$fault" rc 1 errs "a kernel " errs "run with --sync to find the stage" lines_err 1
done

# Outputs beside the run: the same files as without, and none of them half done.
cat >outputs.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 300, 200 }, height = 2, policy = "fixed",
  fields = { temperature = tz.random { seed = 1, range = { 300, 340 } }, power = 0.5 } }
sim:every(8, tz.png("temperature", { range = { 300, 340 } }))
sim:every(4, tz.npy("temperature"))
sim:every(12, tz.vti("temperature"))
sim:every(4, tz.table { "step", "residual" })
sim:every(16, function(s) tz.log(("%d %g"):format(s.step, s:array("temperature"):get(3, 4))) end)
sim:run(40)
sim:run(10)
END
same_files() { [ -z "$(diff -rq -x run.json -x log.txt "$1" "$2")" ]; }
whole_files() { # what a failed run has written is what another writes
    [ -d "$1" ] || return 1
    for file in "$1"/*.npy "$1"/*.png "$1"/*.vti; do
        [ ! -e "$file" ] || cmp -s "$file" "$2/${file##*/}" || return 1
    done
    [ -z "$(find "$1" -name '*.tmp*')" ]
}
t run outputs.lua --backend cuda -q --out sync --sync
check "outputs, waited for" is $rc 0
t run outputs.lua --backend cuda -q --out later
check "outputs, later" is $rc 0
check "outputs, later: the same files" same_files sync later
check "outputs: all are there" [ "$(find later -name '*.npy' | wc -l)" -eq 13 ]
FAKE_CUDA_MEMORY=60000000 t run outputs.lua --backend cuda -q --out refused
check "outputs, no room for a copy" is $rc 0
check "outputs, no room for a copy: the same files" same_files sync refused
check "outputs, no room for a copy: the log says so" grep -q 'waits for its outputs: a copy of the fields' refused/log.txt
for fault in cuMemcpyDtoHAsync_v2:700:12 cuMemcpy3DAsync_v2:719:9 cuMemcpyDtoDAsync_v2:214:3 \
    cuStreamWaitEvent:719:20 cuMemHostAlloc:2:2 cuLaunchKernel:719:7; do
    rm -rf broken
    FAKE_CUDA_FAULT=$fault t run outputs.lua --backend cuda -q --out broken
    check "outputs, $fault: exit code" is $rc 1
    check "outputs, $fault: no flood" [ "$(grep -c '^trapeze:' err)" -eq 1 ]
    check "outputs, $fault: what is written is whole" whole_files broken sync
    check "outputs, $fault: run.json says failed" grep -q '"status": *"failed"' broken/run.json
done
FAKE_CUDA_MEMORY=20000 t run two.lua --backend cuda -q
expect "full memory" rc 1 errs "not enough GPU memory on Fake GPU A" lines_err 1
FAKE_CUDA_DEVICES=0 t run two.lua --backend cuda -q
expect "no device" rc 1 errs "no NVIDIA GPU"

# Ranks of one machine copy from each other's device memory, and say so; simulations that only the collector
# of each rank has found are closed together.
cat >ranks.lua <<'END'
local tz = require "trapeze"
for _ = 1, 8 do
    local sim = tz.simulation { plugin = "hotspot", grid = { 64, 48 }, height = 2, boundary = "clamp",
        fields = { temperature = tz.random { seed = 3, range = { 320, 340 } }, power = 1e-4 } }
    sim:run(12)
    print(sim:hash("temperature"))
    collectgarbage()
end
END
fails() { [ "$rc" -ne 0 ] && [ "$rc" -ne 124 ]; }
m() { timeout 900 mpirun -n 2 "$bin" "$@" >out 2>err </dev/null; rc=$?; }
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0
t doctor --verbose
if ! command -v mpirun >/dev/null 2>&1; then
    skip 'ranks on GPUs' 'no mpirun'
elif says 'built without MPI'; then
    skip 'ranks on GPUs' 'built without MPI'
else
    export FAKE_CUDA_DEVICES=2 FAKE_CUDA_SHARED=100 FAKE_CUDA_MEMORY=30000000
    t run ranks.lua --backend cuda -q
    numbers=$(cat out)
    m run ranks.lua --backend cuda -q --out direct
    check "ranks: exit code" is $rc 0
    check "ranks: the same numbers" [ "$(cat out)" = "$numbers" ]
    t explain direct
    check "ranks: the way is told" says "between ranks: from one device's memory to the other's, at 1 cut"
    FAKE_CUDA_FAULT=cuIpcOpenMemHandle_v2:217 m run ranks.lua --backend cuda -q --out by-host
    check "ranks, refused: the same numbers" [ "$(cat out)" = "$numbers" ]
    t explain by-host
    check "ranks, refused: why" says "between ranks: through the host, at 1 cut: GPU 1 cannot open device memory of another process"
    FAKE_CUDA_FAULT=cuMemcpyDtoDAsync_v2:719:3 m run ranks.lua --backend cuda -q
    check "ranks, a fault: ends the job" fails
    check "ranks, a fault: told" errs "a kernel failed on GPU"
    unset FAKE_CUDA_DEVICES FAKE_CUDA_SHARED FAKE_CUDA_MEMORY
fi

finish
