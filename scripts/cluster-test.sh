#!/bin/sh
# Two nodes on this machine: network namespaces with host names of their own, joined by a cable, as Open MPI sees them. A run
# over both has the bits of one process; a rank is killed; the run goes on from its checkpoint, to the same bits.
#
#   sh scripts/cluster-test.sh [TRAPEZE]     default: build/bin/trapeze
#
# Says "skipped" and why where namespaces are not permitted (they need root), or MPI is missing.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
bin=${1:-$root/build/bin/trapeze}
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
for tool in mpirun unshare nsenter ip; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 0; }
done
unshare --net --uts true 2>/dev/null || { echo 'skipped: this user may not make network namespaces'; exit 0; }
! "$bin" doctor --verbose | grep -q 'built without MPI' || { echo 'skipped: built without MPI'; exit 0; }

work=$(mktemp -d)
nodes=
trap 'kill $nodes 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
export TRAPEZE_CACHE="$work/cache"
node() { # node NUMBER: a namespace that lives as long as its process, which is added to $nodes
    unshare --net --uts sh -c "hostname node$1; ip link set lo up; exec sleep 600" &
    nodes="$nodes $!"
    until [ "$(nsenter -t $! -u hostname)" = "node$1" ]; do sleep 0.1; done
}
in_node() { # in_node NUMBER COMMAND…
    pid=$(echo $nodes | cut -d ' ' -f "$1")
    shift
    nsenter -t "$pid" -n -u "$@"
}
node 1
node 2
in_node 1 ip link add cable type veth peer name cable2 || { echo 'skipped: this kernel has no veth'; exit 0; }
in_node 1 ip link set cable2 netns "${nodes##* }"
in_node 2 ip link set cable2 name cable
for n in 1 2; do
    in_node $n ip address add 10.99.0.$n/24 dev cable
    in_node $n ip link set cable up
done
# What mpirun calls in place of ssh: shell HOST COMMAND…
cat >shell <<END
#!/bin/sh
shift
exec nsenter -t ${nodes##* } -n -u sh -c "\$*"
END
chmod +x shell
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
cluster() { # cluster COMMAND…: two ranks, one on each node
    in_node 1 timeout 300 mpirun --host 10.99.0.1,10.99.0.2 --map-by node -n 2 --mca plm_rsh_agent "$work/shell" \
        --mca oob_tcp_if_include cable --mca btl self,vader,tcp --mca btl_tcp_if_include cable \
        -x TRAPEZE_CACHE "$@"
}
check() { # check NAME COMMAND…
    name=$1
    shift
    if "$@"; then echo "ok - $name"; else echo "not ok - $name" && exit 1; fi
}

cat >long.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 512, 512 }, backend = "cpu", threads = 1,
  fields = { temperature = tz.random { seed = 1, range = { 310, 330 } }, power = 1e-3 } }
sim:run { steps = tonumber(tz.args.steps) }
sim:write(tz.npy "temperature")
END
steps=${STEPS:-20000}
check 'mpirun reaches both nodes' [ "$(cluster hostname | sort | tr '\n' ' ')" = 'node1 node2 ' ]
"$bin" run long.lua --set steps=$steps --out one --quiet
cluster "$bin" run long.lua --set steps=$steps --out two >log 2>&1 || { cat log && exit 1; }
check 'two ranks' grep -q '"between_ranks"' two/run.json
check 'two nodes have the bits of one process' cmp one/temperature-0*.npy two/temperature-0*.npy

cluster "$bin" run long.lua --set steps=$steps --out killed --checkpoint 0.2s >log 2>&1 &
run=$!
until [ -e killed/checkpoint ] || ! kill -0 $run 2>/dev/null; do sleep 0.05; done
space=$(readlink "/proc/${nodes##* }/ns/net")
for p in $(pgrep -x trapeze); do
    [ "$(readlink "/proc/$p/ns/net")" != "$space" ] || kill -9 "$p"
done
if wait $run; then echo 'not ok - the run ended before its rank was killed: more STEPS' && exit 1; fi
check 'without a rank the run ends, and has a checkpoint' [ -e killed/checkpoint -a ! -e killed/temperature-$(printf %06d $steps).npy ]
cluster "$bin" resume killed >log 2>&1 || { cat log && exit 1; }
check 'it goes on to the same bits' cmp one/temperature-0*.npy killed/temperature-0*.npy
