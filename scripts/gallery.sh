#!/bin/sh
# Makes docs/gallery.md and its pictures from the scenarios that come with Trapeze: sh scripts/gallery.sh [BUILD]
#
# Needs a finished build (default: build) and Python with Pillow (apt-get install python3-pil), which makes the pictures
# smaller: 256 colours, and half the width of those wider than 900 pixels. The same version of Pillow makes the same
# files.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
trapeze=${1:-$root/build}/bin/trapeze
python=/usr/bin/python3
[ -x "$trapeze" ] || { echo "gallery: there is no $trapeze: build first" >&2; exit 2; }
"$python" -c 'import PIL' 2>/dev/null || { echo 'gallery: Pillow is missing (apt-get install python3-pil)' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pictures=$root/docs/pictures
mkdir -p "$work/pictures"

shrink() { # shrink FROM TO
    "$python" - "$1" "$2" <<'PYTHON'
import sys
from PIL import Image
film = Image.open(sys.argv[1])
count = getattr(film, "n_frames", 1)
pictures, times, colours = [], [], set()
for i in range(count):
    film.seek(i)
    times.append(film.info.get("duration", 0))
    picture = film.convert("RGB")
    if picture.width > 900:
        picture = picture.resize((picture.width // 2, picture.height // 2), Image.LANCZOS)
    pictures.append(picture)
    colours.update(picture.getdata())

if len(colours) <= 256: # all of them are kept
    numbers = {colour: i for i, colour in enumerate(sorted(colours))}
    frames = []
    for picture in pictures:
        frame = Image.new("P", picture.size)
        frame.putpalette([part for colour in numbers for part in colour])
        frame.putdata([numbers[colour] for colour in picture.getdata()])
        frames.append(frame)
else:
    palette = pictures[0].quantize(256, method=Image.Quantize.MAXCOVERAGE)
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
if count > 1:
    frames[0].save(sys.argv[2], save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True)
else:
    frames[0].save(sys.argv[2], optimize=True)
PYTHON
}

# entry SCENARIO PICTURE TITLE, text on stdin: a part of the page. PICTURE may be a pattern: its last file is taken.
entry() {
    name=$(basename "$1" .lua)
    case $1 in */stencils/*) name=stencils-$name ;; esac
    if [ ! -d "$work/$name" ]; then
        "$trapeze" run "$root/$1" --quiet --backend cpu --out "$work/$name" >"$work/log" 2>&1 ||
            { echo "gallery: $1 failed:" >&2; cat "$work/log" >&2; exit 1; }
    fi
    picture=$(find "$work/$name" -name "$2" | sort | tail -n 1)
    [ -s "$picture" ] || { echo "gallery: $1 wrote no $2" >&2; exit 1; }
    shrink "$picture" "$work/pictures/$name.png"
    printf '\n## %s\n\n' "$3"
    cat
    printf '\n![](pictures/%s.png)\n\n    trapeze run %s\n' "$name" "$1"
}

{
    cat <<'END'
# Gallery

What the scenarios that come with Trapeze show. `sh scripts/gallery.sh` makes this page and its pictures again. `trapeze examples` lists the scenarios, and
`trapeze examples NAME` copies one to change it.
END
    entry examples/first.lua temperature-002000.png 'A first scenario' <<'END'
A rectangle on a chip dissipates power, and its heat spreads. The scenario is short and commented: begin with it.
END
    entry scripts/hotspot.lua temperature-003643.png 'Hot spots of a chip' <<'END'
The work of a chip moves from one core to all cores, to the GPU and to its other units. Here all cores work; the ring marks the hottest place. The outlines are the
units of the floorplan that the scenario reads.
END
    entry scripts/hotspot3d.lua logic-005364.png 'A chip of two dies' <<'END'
A stack of two dies. This is the lower one, whose four cores get hot because the upper die lies between them and the sink.
END
    entry scripts/chip.lua 'die-*.png' 'A chip under its heat sink' <<'END'
The same chip with interface, spreader, sink and air, as HotSpot's files have them, when nothing changes any more: the mean of all work. The units are within 0.6 K of what
HotSpot's own program says. Black is air beside the die.
END
    entry scripts/poisson.lua 'box-potential-*.png' "Poisson's equation" <<'END'
The potential of charges in a grounded box: positive ones are red, negative ones blue. Jacobi iterations went on until the residual was small enough. The lines join
places of equal potential.
END
    entry scripts/pathfinder.lua path.png 'The cheapest way down a mountainside' <<'END'
The colours say what each cell costs; the white line is a way from top to bottom that costs least. PathFinder adds a row of weights in each iteration, and the
analysis "path" then finds the way without keeping all rows.
END
    entry scripts/life.lua gun.png "Conway's Game of Life" <<'END'
Gosper's gun sends out gliders, one after the other. Cells that lived a while ago fade.
END
    entry scripts/stencils/ages.lua ages-age-001200.png 'Ages in Life' <<'END'
Each cell counts the generations for which it has been alive. Newborn cells are white and yellow, where Life is still at work; old ones are blue.
END
    entry scripts/cell.lua crystal-crystal-000028.png 'Life in three dimensions' <<'END'
A crystal that grows from one cell, by a rule over 26 neighbours. The colours are heights.
END
    entry scripts/generations.lua wars-state-000600.png 'Star Wars' <<'END'
A rule of four states, 345/2/4. Living cells are pale; those that die are red and dark for two generations, in which nothing is born there, so that fronts run.
END
    entry scripts/cyclic.lua 14-states-state-000600.png 'A cyclic automaton' <<'END'
Each of 14 states is eaten by the next one, and the first one eats the last. Noise becomes spirals.
END
    entry scripts/grayscott.lua coral-v-008000.png 'Reaction and diffusion' <<'END'
Two substances react and spread (Gray and Scott). Two rates, feed and kill, decide what grows: here coral.
END
    entry scripts/wave.lua u-001395.png 'A seismic shot' <<'END'
A wavelet has run down through layers of rock, and its echoes come back to the surface, where geophones record them. Red is pressure above the mean, blue below it.
END
    entry scripts/shot.lua basin-u-001060.png 'A shot over a basin' <<'END'
A wave from a source near the surface, a second later, over beds that dip and bend, three faults and salt. The sides and the bottom let waves out; the surface reflects
them. The scenario also draws the seismogram of 200 geophones.
END
    entry scripts/lbm.lua street.png 'A vortex street' <<'END'
Flow past a cylinder sheds vortices, first from one side, then from the other. Red turns one way, blue the other. The method is lattice Boltzmann, with nine fields.
END
    entry scripts/pillars.lua vorticity-012000.png 'Three pillars in a channel' <<'END'
The vortices of the first pillar hit the two behind it, which shed their own. Fluid enters at the left and leaves at the right; the pillars' surfaces lie between cells.
END
    entry scripts/flow3d.lua wake-001200.png 'A ball in a stream' <<'END'
A stream in three dimensions, cut through the middle: in front of the ball and behind it the fluid is slow, beside it fast. The scenario compares the drag.
END
    entry scripts/stencils/dipole.lua lens-ez.png 'A dipole and a ball of glass' <<'END'
Maxwell's equations in three dimensions: the waves of a dipole, left, are shorter in glass and come to a focus behind it. Layers along all sides absorb them. Six fields,
and twelve that the layers need; the scenario compares the dipole's field with Hertz's, and measures what the layers send back.
END
    entry scripts/stencils/elastic.lua waves.png 'An explosion under beds of rock' <<'END'
Elastic waves in three dimensions. Left the pressure: the wave of the explosion, and its echoes. Right the rotation, shear waves, which the explosion does not have: the beds
make them. Nine fields and three of the rock; the scenario compares both speeds with theory, and draws a seismogram.
END
    entry scripts/stencils/coral3d.lua 'inside-*.png' 'A coral in three dimensions' <<'END'
Gray and Scott's reaction again. Walls and tubes grow from three drops. The nearest eighth is cut away.
END
    entry scripts/diffusion.lua after-000020.png 'Noise removed, edges kept' <<'END'
A slice of a noisy volume, as from an electron microscope, after anisotropic nonlinear diffusion: the noise is gone, the membranes are sharp.
END
    entry scripts/jacobi.lua star3d1r-u-000020.png 'A hollow ball, averaged' <<'END'
A hollow ball after twenty averages over seven points. The nearest eighth is cut away.
END
    entry scripts/heat_jump.lua drift.png 'A million steps at once' <<'END'
What single precision loses when it takes step after step, and what a single jump over all steps (`sim:jump`) loses.
END
    entry scripts/stencils/blur.lua u-000016.png 'A blurred image' <<'END'
A picture after 16 averages by an array of coefficients, `tz.stencil { coefficients = … }`.
END
    entry scripts/stencils/drift.lua u-000120.png 'Drift' <<'END'
Discs of dye that a wind carries away while they spread.
END
    entry scripts/stencils/drum.lua u-000300.png 'A drum with a hole' <<'END'
Waves on a skin, which the rim and a hole hold at 0. Only the cells of the skin are computed.
END
    entry scripts/stencils/noise.lua u-003000.png 'Noise' <<'END'
Two phases of an alloy, with thermal noise. It makes the domains, and their edges rough: white noise, scaled by the root of the step.
END
    entry scripts/stencils/plate.lua layer.png 'A plate that swings' <<'END'
Water above a plate that swings to and fro: its speed from the plate, left, into the water, over three seconds. What lies past the side is a formula of the time.
END
    entry scripts/stencils/reactor.lua neutrons-001500.png 'A reactor' <<'END'
Neutrons wander, become more in fuel rods, and are absorbed elsewhere. Each cell has a factor of its own.
END
    entry scripts/stencils/ripples.lua u-000190.png 'Ripples' <<'END'
Rings of two drops on water, which meet. The stencil reads two iterations: the last one and the one before it.
END
    entry scripts/stencils/seismic.lua p-000460.png 'A shot above layers of rock' <<'END'
The wave equation as an array of coefficients, with a speed of sound for each cell: layers with a fault, and a dome of salt.
END
    entry scripts/stencils/streaks.lua u-000160.png 'Streaks' <<'END'
Noise that spreads along the lines of a flow only, and so draws them. Each cell has a coefficient of its own for each neighbour.
END
    entry scripts/stencils/wall.lua T-000000.png 'A cold bridge' <<'END'
Heat through the wall of a house in winter, a section from the room, left, to the air outside. A concrete floor runs through the insulation. Both sides exchange heat with air.
END
    entry scripts/stencils/wave.lua u-000330.png 'A drop on water' <<'END'
A drop has fallen on water of two depths. Waves are slower over the shallow lens, which brings them to a focus.
END
    entry scripts/stencils/brusselator.lua u-004000.png 'Brusselator' <<'END'
Hexagons of a chemical reaction, which grow from noise where one substance spreads faster than the other.
END
    entry scripts/stencils/schnakenberg.lua u-030000.png 'Schnakenberg' <<'END'
Spots of an activator; some are about to divide, until all the room is taken.
END
    entry scripts/stencils/swift.lua u-016000.png 'Swift and Hohenberg' <<'END'
Rolls of convection find their width at once and their direction slowly. The formula has a part of its own name, `let`.
END
    entry scripts/stencils/fitzhugh.lua u-003000.png 'FitzHugh and Nagumo' <<'END'
A wave in an excitable medium, as in a heart, whose end has curled up.
END
    entry scripts/stencils/kuramoto.lua bend-003000.png 'Kuramoto and Sivashinsky' <<'END'
Chaos of cells, as of a flame: short waves grow, shorter ones are damped, slopes carry on. What is shown is the curvature, an output of the stencil.
END
    entry scripts/stencils/burgers.lua u-000656.png 'Burgers' <<'END'
A smooth flow steepens to fronts, which viscosity keeps a few cells wide. The time step is chosen as the run goes.
END
    entry scripts/stencils/fluctuations.lua u-006000.png 'Stochastic heat' <<'END'
White noise in space and time under diffusion: grain at all scales up to the length at which decay takes over.
END
    entry scripts/stencils/cahn.lua u-016000.png 'Cahn and Hilliard' <<'END'
Two liquids separate. The amount of each stays, and the pattern coarsens.
END
    entry scripts/stencils/front.lua u-000200.png 'A front between two states' <<'END'
A bent front straightens while it moves. Its speed is then that of theory, which the scenario prints. The run ends when so much has changed.
END
    entry scripts/stencils/inlet.lua c-002600.png 'Dye in a channel' <<'END'
Pulses of dye enter at the left with a flow whose speed is a parabola: sides by formulas of time, fluxes and values.
END
} >"$work/gallery.md"

rm -rf "$pictures"
mv "$work/pictures" "$pictures"
mv "$work/gallery.md" "$root/docs/gallery.md"
du -sh "$pictures" | cut -f1
