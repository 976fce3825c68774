#!/bin/sh
# Tests of the command line: calibrate: run_calibrate_tests.sh TRAPEZE [measures]
# What is refused and what is interrupted; or a calibration to its end, in the release tree: its arrays outreach the caches.
set -u
here=$(cd "$(dirname "$0")" && pwd)
part=${2:-}
set -- "$1"
. "$here/command_support.sh"

export TRAPEZE_DEVICES="$work/devices"

# ---- Refused, interrupted ----------------------------------------------------------------------
if [ -z "$part" ]; then
    refused "calibrate: an argument" 2 "takes no argument" calibrate x
    refused "calibrate: costs of a CPU" 2 "--costs measures GPUs" calibrate --cpu --costs
    refused "calibrate: two devices" 2 "--cpu and --device exclude each other" calibrate --cpu --device 0
    refused "calibrate: no number" 2 "--device needs an integer" calibrate --device gpu
    refused "calibrate: no time" 2 "--seconds needs an integer from 1" calibrate --seconds 0
    refused "calibrate: a name with a folder" 2 "--name needs up to 63 letters" calibrate --name ../x
    refused "calibrate: an empty name" 2 "--name needs up to 63 letters" calibrate --name ''
    refused "calibrate: no file" 2 "--output needs a file" calibrate --output ''
    refused "calibrate: a GPU that is not there" 1 "trapeze: " calibrate --device 99 --output x
    check "calibrate: what is not there" grep -qE 'no NVIDIA|there is no GPU 99' err
    begin=$(date +%s)
    refused "calibrate: no such folder" 1 "cannot write" calibrate --cpu --seconds 600 --output no/x.txt
    check "calibrate: no such folder: before it measures" [ $(($(date +%s) - begin)) -lt 300 ]
    echo kept >taken
    refused "calibrate: a file that exists" 1 "exists already" calibrate --cpu --output ../taken
    check "calibrate: it is as it was" grep -qx kept taken
    check "calibrate: nothing was kept" absent devices
    t doctor
    expect "doctor" says "CPU: none (no device record describes" says "run trapeze calibrate --cpu"
    after INT '' calibrate --cpu --seconds 60 --name mine
    # "; nothing was written" follows unless a busy machine makes it take the second after which it is ended.
    expect "calibrate and SIGINT" rc 130 errs "trapeze: interrupted" lines_err 1 absent devices
    finish
fi

# ---- To its end --------------------------------------------------------------------------------
ulimit -v 4400000 # where caches are large, arrays are no larger than they must be
mkdir devices && cp "$here/../predict/cpu.txt" devices/mine.txt
t calibrate --cpu --seconds 1 --name mine --force # whatever else runs here
expect "calibrate" rc 0 errs "$work/devices/mine.txt" lines_err 2
for number in clock cores vector issue_rate fp32_mixed_rate fp64_mixed_rate integer_rate logic_rate special_rate load_rate \
    unaligned_load_rate store_rate l1 l2 l1_bandwidth l2_bandwidth memory_latency copy_bandwidth fork; do
    check "calibrate: the record has $number" grep -qE "^$number +=.*[1-9].* # [^ ]" devices/mine.txt
done
check "calibrate: where numbers are from" grep -q "# measured: " devices/mine.txt
# Where something else runs, a large exchange may take no longer than a small one: no number, and a reason.
if errs "exchanges between devices are skipped: "; then
    check "calibrate: why there are no exchanges" grep -qE "skipped: (this process may use one core|.*an exchange of .* takes no longer than)" err
    check "calibrate: no numbers of exchanges" sh -c '! grep -q "^host_latency " devices/mine.txt'
else
    check "calibrate: exchanges" grep -q "^host_latency " devices/mine.txt
    check "calibrate: what joins slabs" errs "link host: an exchange takes"
fi
check "calibrate: nothing on stdout" [ ! -s out ]
check "calibrate: no temporary files" is "$(ls -A devices | tr '\n' ' ')" "mine.txt mine.txt~ "
check "calibrate: the previous stays" cmp -s "$here/../predict/cpu.txt" devices/mine.txt~
check "calibrate: the record is new" [ "$(wc -l <devices/mine.txt)" -gt 10 ]
t doctor
check "doctor: the record of the CPU" says "CPU: mine"

finish
