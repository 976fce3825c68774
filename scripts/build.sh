# Configures and builds; sourced by demo.sh and test.sh, which set $root, the checkout's folder.
# Afterwards $build is the build folder. PRESET=release|debug|asan chooses how; $target is what to
# build, everything by default.
preset=${PRESET:-release}
case $preset in
release) build=$root/build ;;
debug | asan) build=$root/build-$preset ;;
*) echo "unknown PRESET '$preset'; known: release, debug, asan" >&2; exit 2 ;;
esac

# A build folder that was moved or copied along with the checkout cannot be used any more.
if [ -f "$build/CMakeCache.txt" ] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
    echo "$build was configured for another folder: starting afresh"
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
