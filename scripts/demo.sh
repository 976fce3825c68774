#!/bin/sh
# From a fresh checkout to a picture: sets up, builds, runs the HotSpot scenario, shows a frame.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)

sh "$root/scripts/setup.sh"
target=app
. "$root/scripts/build.sh"

cd "$root"
"$build/bin/trapeze" run scripts/hotspot.lua

# The newest folder is that of this run.
run=$(ls -td runs/hotspot-*/ | head -n 1)
run=$root/${run%/}
frame=$(find "$run" -name '*.png' | sort | tail -n 1)
if [ -z "$frame" ]; then
    echo "demo: the run left no frame in $run" >&2
    exit 1
fi
echo
echo "Frames: $(find "$run" -name '*.png' | wc -l) in $run"
echo "Last:   $frame"

# Show it if a viewer is there, else print what it holds.
if [ -t 1 ] && command -v chafa >/dev/null 2>&1; then
    chafa "$frame" || true
elif [ -t 1 ] && [ "${TERM:-}" = xterm-kitty ] && command -v kitten >/dev/null 2>&1; then
    kitten icat "$frame" || true
elif [ -t 1 ] && command -v img2sixel >/dev/null 2>&1; then
    img2sixel "$frame" || true
elif [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && command -v xdg-open >/dev/null 2>&1; then
    xdg-open "$frame" >/dev/null 2>&1 </dev/null &
else
    echo "Open it in any image viewer or browser. 'trapeze info' prints what it holds:"
    "$build/bin/trapeze" info "$frame"
fi
