#!/bin/sh
# Movies: run_movie_tests.sh TRAPEZE [KILLS]
# Animated PNG and GIF files are read by movie/read.py, which knows the specifications alone.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"
kills=${2:-6}

# read_movie COMMAND FILE…: prints to ./out.
read_movie() { python3 "$here/movie/read.py" "$@" >out 2>err </dev/null; }

if ! command -v python3 >/dev/null; then
    skip "movies" "no python3 to read them"
    finish
fi

cat >movies.lua <<'END'
local tz = require "trapeze"
local chip = tz.simulation { plugin = "hotspot", grid = { 96, 64 }, backend = "cpu", threads = 1, name = "chip",
  fields = { temperature = tz.random { seed = 1, range = { 310, 320 } }, power = tz.random { seed = 2, range = { 0, 0.01 } } } }
local life = tz.simulation { plugin = "life", grid = { 37, 21 }, backend = "cpu", threads = 1, name = "life",
  fields = { alive = tz.random { seed = 1, density = 0.4 } } }
local cube = tz.simulation { plugin = "hotspot3d", grid = { 20, 12, 5 }, backend = "cpu", threads = 1, name = "cube",
  fields = { temperature = tz.random { seed = 1, range = { 310, 320 } }, power = 0 } }
local look = { bar = true, caption = "step {step}, {time}", range = { 310, 320 } }
chip:every(10, tz.png("temperature", look))
chip:every(10, tz.movie("temperature", look))
life:every(1, tz.png())
life:every(1, tz.movie { fps = 12.5 })
life:every(20, tz.movie { fps = 12.5, name = "g.gif" })
cube:every(5, tz.png { name = "all", range = { 310, 320 } })
cube:every(5, tz.movie { name = "all", range = { 310, 320 } })
cube:every(5, tz.movie { name = "auto", range = "auto", slice = 2 })
cube:write(tz.movie { name = "one" })
-- From the whole to a quarter of it and on to a side, beside parts that stay.
local way = { { step = 0 }, { step = 40, x = { 36, 60 }, y = { 24, 40 } }, { step = 80, x = { 68, 92 }, y = { 32, 48 } } }
local plain = { range = { 310, 320 }, size = 96 }
local function with(more) for k, v in pairs(plain) do more[k] = more[k] or v end return more end
chip:every(20, tz.png(with { name = "way", region = way }))
chip:every(20, tz.movie(with { name = "way.gif", region = way }))
chip:every(20, tz.movie(with { name = "way.png", region = way }))
chip:every(20, tz.png(with { name = "all" }))
chip:every(20, tz.png(with { name = "half", region = { x = { 24, 72 }, y = { 16, 48 } } }))
chip:every(20, tz.png(with { name = "first", region = { x = { 36, 60 }, y = { 24, 40 } } }))
chip:every(20, tz.png(with { name = "between", region = { x = { 52, 76 }, y = { 28, 44 } } }))
chip:every(20, tz.png(with { name = "last", region = { x = { 68, 92 }, y = { 32, 48 } } }))
chip:every(20, tz.movie { name = "small", range = { 310, 320 }, region = way, size = 31, reduce = "max", contours = 2 })
chip:run(100) life:run(40) cube:run(20)
END
t run --check movies.lua
check "--check counts frames" says "every 10: chip-temperature.png, 11 frames"
t run movies.lua --out run --quiet
check "a run with movies" is $rc 0
read_movie compare run/chip-temperature.png run/chip-temperature-*.png
rc=$?
check "frames of a movie with colour bar and caption are the pictures" is $rc 0
read_movie compare run/life-alive.png run/life-alive-*.png
rc=$?
check "frames of a movie without are the pictures" is $rc 0
read_movie compare run/cube-all.png run/cube-all-*.png
rc=$?
check "frames of a montage are the pictures" is $rc 0
read_movie compare run/chip-way.png run/chip-all-000000.png run/chip-half-000020.png run/chip-first-000040.png \
    run/chip-between-000060.png run/chip-last-000080.png run/chip-last-000100.png
rc=$?
check "frames of a region on its way are the parts between" is $rc 0
read_movie compare run/chip-way.gif run/chip-way-*.png
rc=$?
check "a GIF has the pictures of a series" is $rc 0
read_movie facts run/chip-small.png
check "a region on its way with contours, smaller than its cells" grep -q '^31 21 6 ' out
read_movie facts run/life-g.gif
check "a GIF has the rate that was asked for" grep -q ' 3 0.08$' out
t info run/life-g.gif
check "info of a GIF" grep -qE 'frames +3$' out
read_movie facts run/life-alive.png
check "12.5 frames per second" grep -q ' 41 0.08$' out
read_movie facts run/cube-auto.png
check "of 3-D fields one plane" grep -q ' 5 0.04$' out
read_movie facts run/cube-one.png
check "a movie of one frame" grep -q ' 1 0.04$' out
t info run/life-alive.png
check "info counts frames" grep -qE 'frames +41$' out
check "info tells the range" grep -qE 'Range +0 1$' out
t run movies.lua --out again --quiet
for movie in chip-temperature life-alive cube-all cube-auto cube-one; do
    check "a second run writes the same $movie.png" cmp -s run/$movie.png again/$movie.png
done
t run movies.lua --out slabs --quiet --devices cpu:2
check "two slabs write the same movie" cmp -s run/chip-temperature.png slabs/chip-temperature.png

cat >gif.lua <<'END'
local tz = require "trapeze"
local disc = tz.stencil { name = "disc", dims = 2, domain = "mask", update = { u = "u + 0.2*lap(u) + 0.01*normal(1)" } }
local sim = tz.simulation { plugin = disc, grid = { 60, 60 }, backend = "cpu", threads = 1, domain = tz.circle { centre = { 29.5, 29.5 }, radius = 25 } }
for _, ending in ipairs { "gif", "png" } do
    sim:every(5, tz.movie { name = "m." .. ending, range = { -0.1, 0.1 }, caption = "{step}", contours = 3 })
    sim:every(5, tz.movie { name = "bare." .. ending, range = { -0.1, 0.1 } })
    sim:every(5, tz.movie { name = "auto." .. ending, range = "auto" })
end
sim:every(10, tz.checkpoint())
sim:run(tz.args.steps)
END
t run gif.lua --out gif --quiet --set steps=40
t run gif.lua --out part --quiet --set steps=20
t resume part --quiet --until 40
check "a run with GIFs goes on" is $rc 0
for movie in m.gif bare.gif auto.gif m.png auto.png; do
    check "$movie is as if it had not stopped" cmp -s gif/$movie part/$movie
done
read_movie like gif/bare.gif gif/bare.png gif/m.gif
rc=$?
check "a GIF of a disc is the animated PNG, and leaves out the same; one of many colours can be read" is $rc 0

# try TEXT: a scenario with that line.
try() {
    cat >try.lua <<END
local tz = require "trapeze"
local sim = tz.simulation { plugin = "hotspot", grid = { 32, 32 }, backend = "cpu", threads = 1, name = "s", fields = { temperature = 320, power = 0.01 } }
local warm = tz.simulation { plugin = "hotspot", grid = { 32, 32 }, backend = "cpu", threads = 1, name = "w",
  fields = { temperature = tz.random { seed = 1, range = { 310, 311 } }, power = 0.01 } }
local u = tz.simulation { plugin = "poisson", grid = { 32, 32 }, backend = "cpu", threads = 1, name = "u",
  fields = { u = tz.random { seed = 1, range = { 0.001, 0.01 } }, f = -0.01 } }
$1
END
    rm -rf tried
    t run try.lua --out tried --quiet
}
# follows NAME SIMULATION OPTIONS: that movie has the range of all its frames, as if it had been given.
follows() {
    movie=tried/$(echo "$2" | cut -c 1)-m.png
    try "$2:every(40, tz.movie { name = \"m\", range = \"auto\", $3 }) $2:run(400)"
    expect "$1" rc 0 lines_err 0
    check "$1: it is told" grep -q 'm.png: values leave the range of the first frame, .*: all frames are drawn again, from' tried/log.txt
    check "$1: no hidden file stays" [ "$(ls -A tried | grep -c '^\.')" = 0 ]
    t info $movie
    given=$(sed -n 's/^ *Range  *\([^ ]*\) \([^ ]*\)$/range = { \1, \2 }/p' out)
    mv $movie followed.png
    try "$2:every(40, tz.movie { name = \"m\", $given, $3 }) $2:run(400)"
    check "$1: the same movie as with $given" cmp -s followed.png $movie
}
follows "values that leave the range of the first frame" u 'bar = true, contours = 3, caption = "{step}"'
follows "a first frame of one value" sim 'mark = "max"'
follows "a logarithmic range" u 'log = true, size = 64'
try 'sim:every(2, tz.movie { name = "m", range = "auto" }) sim:run { steps = 0 }'
check "a movie of one value" errs "s-m.png: all values are 320 in every frame, so it has one colour"
try 'warm:every(2, tz.movie { name = "m", range = { 310, 310.5 } }) warm:run(40)'
check "a range that the script gives may be left" lines_err 0
try 'sim:every(500, tz.movie "temperature") warm:run(1)'
check "a movie without a frame" [ $rc -eq 0 -a ! -e tried/s-temperature.png ]
try 'tz.movie { bits = 16 }'
check "no gray values" errs "tz.movie: a movie is in colours: 'bits' must be 8"
try 'tz.movie { fps = 0 }'
check "frames per second" errs "tz.movie: 'fps' must be from 0.1 to 100"
try 'tz.movie { fsp = 10 }'
check "a wrong option" errs "did you mean 'fps'"
try 'tz.movie { name = "a.avi" }'
check "another kind of file" errs "tz.movie: 'a.avi' is no name for it: its files end in .png, .gif, .mp4 or .webm"
try 'sim:write(tz.png { name = "b.png" }) sim:every(1, tz.table { "step", name = "t.csv" }) sim:run(1)'
check "a name with its ending" [ -e tried/s-b-000000.png -a -e tried/s-t.csv ]
try 'sim:every(1, tz.movie { region = { { step = 0 }, { step = 9, x = { 0, 10 }, y = { 3, 9 } } } })'
check "parts of another shape" errs "region[2] is 10 x 6 cells; the first is 32 x 32, so that 10 x 10 would have its shape"
try 'tz.movie { region = { { step = 3 }, { step = 3 } } }'
check "parts in order" errs "region[2]: its step 3 is not above 3, that of the part before"
try 'tz.movie { region = { { step = 3 }, { x = { 1, 2 } } } }'
check "a part without a step" errs "region[2]: 'step' is missing"
try 'sim:every(1, tz.movie()) sim:every(2, tz.movie())'
check "two movies of one name" errs "another output already writes s-temperature.png"
try 'sim:every(1, tz.movie { caption = "{tiem}" })'
check "a wrong placeholder" errs "unknown placeholder {tiem}"
try 'warm:write(tz.movie { colours = { "#000", "#ff8800", "#ffffff" }, name = "m" })'
t info tried/w-m.png
check "colours of the script" grep -qE 'Map +colours #000000 #ff8800 #ffffff$' out
try 'tz.png { colours = { "#000" } }'
check "one colour" errs "tz.png: 'colours' must hold 2 to 64 colours, not 1"
try 'tz.movie { colours = { "#000", "red" } }'
check "no colour" errs 'tz.movie: a colour is a text such as "#f80" or "#ff8800", not red'
try 'tz.movie { colours = { "#000", "#fff" }, map = "gray" }'
check "colours or a map" errs "tz.movie: give 'map' or 'colours', not both"
try 'sim:every(1, tz.movie()) sim:run(2) sim:rewind() sim:run(2)'
read_movie facts tried/s-temperature.png
check "a movie goes on after a rewind" grep -q ' 6 0.04$' out
(
    ulimit -f 200
    failed=0
    try 'warm:every(1, tz.movie { range = "auto" , size = 512, zoom = 8 }) warm:run(400)'
    check "a file that must not grow" errs "cannot write the movie: File too large"
    read_movie facts tried/w-temperature.png
    check "its frames so far are there: $(cut -d ' ' -f 3 out)" [ -s out ]
    [ "$failed" -eq 0 ]
)
check "a movie that cannot grow stays whole" is $? 0

# Videos: a stand-in for ffmpeg keeps its arguments and its input.
mkdir -p bin nothing
cat >bin/ffmpeg <<'END'
#!/bin/sh
[ ! -e "$FAKE/fail" ] || { echo "line 1" >&2; echo "Unknown encoder 'libx264'" >&2; exit 8; }
for file; do :; done
printf '%s\n' "$@" >"$FAKE/arguments"
cat >"${file#file:}"
echo ended >"$FAKE/ended"
END
chmod +x bin/ffmpeg
export FAKE="$work"
path=$PATH
cat >video.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "life", grid = { 30, 20 }, backend = "cpu", threads = 1,
  fields = { alive = tz.random { seed = 1, density = 0.4 } } }
local steps = tz.args.steps or 20
sim:every(1, tz.movie { name = "v.mp4", zoom = 1, fps = 12.5 })
sim:every(10, tz.checkpoint())
sim:run(steps)
END
PATH=$work/bin:$path
t run video.lua --out video --quiet
check "a video" is $rc 0
check "all frames reach ffmpeg" is "$(wc -c <video/v.mp4)" $((21 * 3 * 30 * 20))
check "it gets their size" grep -qx 30x20 arguments
check "it gets their rate" grep -qx 1250/100 arguments
check "the run has waited for it" [ -e ended ]
python3 - "$work/video/v.mp4" >out 2>err <<'END'
import sys
assert set(open(sys.argv[1], "rb").read()) == {0, 255}
END
rc=$?
check "frames are RGB" is $rc 0
touch fail
t run video.lua --out failing --quiet
expect "a failure of ffmpeg ends the run" rc 1 errs "failed with exit code 8: Unknown encoder 'libx264'"
rm -f fail ended
"$bin" run video.lua --out stopped --quiet --set steps=1000000 >out 2>err </dev/null &
pid=$!
while kill -0 $pid 2>/dev/null && [ ! -e stopped/checkpoint/2 ]; do sleep 0.01; done
kill -9 $pid
wait $pid 2>/dev/null
n=0
while [ ! -e ended ] && [ $n -lt 500 ]; do n=$((n + 1)) && sleep 0.01; done
check "ffmpeg finds the end of a run that is killed" [ -e ended ]
before=$(wc -c <stopped/v.mp4)
"$bin" resume stopped --quiet >out 2>err </dev/null &
pid=$!
n=0
while kill -0 $pid 2>/dev/null && [ $n -lt 500 ] && ! ls stopped/v-*.mp4 >out 2>&1; do n=$((n + 1)) && sleep 0.01; done
check "a run that goes on makes a new video" grep -qE 'v-[0-9]{6,}.mp4' out
kill -9 $pid
wait $pid 2>/dev/null
check "it leaves the first one" is "$(wc -c <stopped/v.mp4)" "$before"
ln -sf "$(command -v sh)" nothing/sh
PATH=$work/nothing
t run --check video.lua
PATH=$path
check "without ffmpeg" errs "movies as .mp4 need ffmpeg, which is not installed: apt-get install ffmpeg"
if command -v ffprobe >/dev/null && ffmpeg -hide_banner -encoders 2>/dev/null | grep -q libx264; then
    sed -i 's/every(1, tz.movie.*/&\nsim:every(1, tz.movie { name = "v.webm" })/' video.lua
    t run video.lua --out real --quiet
    check "ffmpeg makes videos" is $rc 0
    for file in real/v.mp4 real/v.webm; do
        ffprobe -v error -count_frames -show_entries stream=nb_read_frames,avg_frame_rate -of csv $file >out 2>err
        check "$file has its frames" grep -qE '^stream,(25/2|25/1),21' out
    done
else
    skip "ffmpeg makes videos" "no ffmpeg with libx264"
fi

# Killed at any moment, a movie can be read.
cat >long.lua <<'END'
local tz = require "trapeze"
local sim = tz.simulation { plugin = "life", grid = { 128, 128 }, backend = "cpu", threads = 1,
  fields = { alive = tz.random { seed = 1, density = 0.4 } } }
sim:every(1, tz.movie { zoom = 4 })
sim:run(100000)
END
n=0
while [ $n -lt "$kills" ]; do
    n=$((n + 1))
    "$bin" run long.lua --out killed/$n --quiet >out 2>err </dev/null &
    pid=$!
    while kill -0 $pid 2>/dev/null && [ ! -e killed/$n/alive.png ]; do sleep 0.01; done
    sleep 0.$((n % 3))$n
    kill -9 $pid
    wait $pid 2>/dev/null
    read_movie killed killed/$n/alive.png
    rc=$?
    check "a killed run leaves a movie of $(cut -d ' ' -f 3 out) frames" is $rc 0
done
finish
