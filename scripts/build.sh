# Configures and builds; sourced by demo.sh and test.sh, which set $root, the checkout's folder.
# Sets $build, the build folder. PRESET=release|gate|debug|asan|arm64|arm64-quick selects the preset, $target the target
# (default: all).
preset=${PRESET:-release}
case $preset in
release) build=$root/build ;;
gate | debug | asan | arm64 | arm64-quick) build=$root/build-$preset ;;
*) echo "unknown PRESET '$preset'; known: release, gate, debug, asan, arm64, arm64-quick" >&2; exit 2 ;;
esac

# A build folder that was moved or copied with the checkout is unusable.
if [ -f "$build/CMakeCache.txt" ] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
    echo "$build was configured for another folder: removing it"
    rm -rf "$build"
fi

log=$(mktemp)
cd "$root"
# shellcheck disable=SC2086 # CMAKE_ARGS is a list
if ! cmake --preset "$preset" ${CMAKE_ARGS:-} >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    echo 'configuring failed: see above' >&2
    exit 1
fi
rm -f "$log"
echo "building in $build"
cmake --build "$build" --target "${target:-all}"
