#!/bin/sh
# Makes docs/gallery.md and its pictures from the scenarios that come with Trapeze: sh scripts/gallery.sh [BUILD]
#
# Needs a finished build (default: build) and Python with Pillow (apt-get install python3-pil), which makes the pictures
# smaller: 256 colours, and half the width of those wider than 900 pixels. Films get 64 colours and half the width. The
# same version of Pillow makes the same files.
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
frames, times = [], []
for i in range(count):
    film.seek(i)
    times.append(film.info.get("duration", 0))
    picture = film.convert("RGB")
    if picture.width > 900:
        picture = picture.resize((picture.width // 2, picture.height // 2), Image.LANCZOS)
    if i == 0:
        palette = picture.quantize(64 if count > 1 else 256, method=Image.Quantize.MEDIANCUT)
    frames.append(picture.quantize(palette=palette, dither=Image.Dither.NONE))
if count > 1:
    frames[0].save(sys.argv[2], save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True)
else:
    frames[0].save(sys.argv[2], optimize=True)
PYTHON
}

# entry SCENARIO PICTURE TITLE, text on stdin: a part of the page
entry() {
    name=$(basename "$1" .lua)
    case $1 in */stencils/*) name=stencils-$name ;; esac
    if [ ! -d "$work/$name" ]; then
        "$trapeze" run "$root/$1" --quiet --backend cpu --out "$work/$name" >"$work/log" 2>&1 ||
            { echo "gallery: $1 failed:" >&2; cat "$work/log" >&2; exit 1; }
    fi
    [ -s "$work/$name/$2" ] || { echo "gallery: $1 wrote no $2" >&2; exit 1; }
    shrink "$work/$name/$2" "$work/pictures/$name.png"
    printf '\n## %s\n\n' "$3"
    cat
    printf '\n![%s](pictures/%s.png)\n\n    trapeze run %s\n' "$3" "$name" "$1"
}

{
    cat <<'END'
# Gallery

What the scenarios that come with Trapeze show. `sh scripts/gallery.sh` makes this page and its pictures again. `trapeze examples` lists the scenarios, and
`trapeze examples NAME` copies one to change it.
END
    entry examples/first.lua temperature-002000.png 'A first scenario' <<'END'
A part of a chip dissipates power, and its heat spreads.
END
    entry scripts/hotspot.lua temperature-003643.png 'Hot spots of a chip' <<'END'
The work of a chip moves from one core to all cores, to the GPU and to its other units. The ring is round the hottest place. A second plot shows profiles through it.
END
    entry scripts/hotspot3d.lua logic-005364.png 'A chip of two dies' <<'END'
Heat gathers in the lower die of a stack, because the upper one lies between it and the sink.
END
    entry scripts/poisson.lua box-u-060000.png "Poisson's equation" <<'END'
The potential of charges in a grounded box, by Jacobi iterations until the residual is small enough, with its contour lines.
END
    entry scripts/pathfinder.lua path.png 'The cheapest way down a mountainside' <<'END'
PathFinder adds a row of weights in each iteration. Then the analysis "path" finds a cheapest path without keeping all rows.
END
    entry scripts/life.lua gun.png "Conway's Game of Life" <<'END'
A gun sends out gliders, one after the other.
END
    entry scripts/stencils/ages.lua ages-age-001200.png 'Ages in Life' <<'END'
Each cell counts the generations for which it has been alive. Old cells are what Life leaves behind.
END
    entry scripts/cell.lua crystal-crystal-000028.png 'Life in three dimensions' <<'END'
A crystal that grows from one cell, by a rule over 26 neighbours.
END
    entry scripts/cyclic.lua 14-states-state-000600.png 'A cyclic automaton' <<'END'
Each of 14 states is eaten by the next one. Noise becomes spirals.
END
    entry scripts/grayscott.lua coral-v-008000.png 'Reaction and diffusion' <<'END'
Two substances react and spread (Gray and Scott). Two rates, feed and kill, decide what grows: here coral.
END
    entry scripts/wave.lua u-001395.png 'A seismic shot' <<'END'
A wavelet runs down through layers of rock, and echoes come back to the surface. Geophones record them.
END
    entry scripts/lbm.lua street.png 'A vortex street' <<'END'
Flow past a cylinder sheds vortices, first from one side, then from the other (lattice Boltzmann, nine fields). The colours are vorticity.
END
    entry scripts/diffusion.lua after-000020.png 'Noise removed, edges kept' <<'END'
A slice of a volume, as from an electron microscope, after anisotropic nonlinear diffusion.
END
    entry scripts/jacobi.lua star3d1r-u-000020.png 'An averaged wave in three dimensions' <<'END'
A seven-point stencil averages a wave. The nearest eighth is cut away.
END
    entry scripts/heat_jump.lua drift.png 'A million steps at once' <<'END'
A plate by ordinary steps and by `sim:jump`, and how far they are apart.
END
    entry scripts/stencils/blur.lua u-000016.png 'A blurred image' <<'END'
An array of coefficients, 16 times.
END
    entry scripts/stencils/drift.lua u-000120.png 'Drift' <<'END'
Discs of dye that a wind carries away while they spread.
END
    entry scripts/stencils/reactor.lua neutrons-001500.png 'A reactor' <<'END'
Neutrons wander, become more in fuel rods, and are absorbed elsewhere: a factor for each cell.
END
    entry scripts/stencils/ripples.lua u-000190.png 'Ripples' <<'END'
A stencil that reads the iteration before the last one, too.
END
    entry scripts/stencils/seismic.lua p-000460.png 'A shot above layers of rock' <<'END'
The same with a speed for each cell.
END
    entry scripts/stencils/streaks.lua u-000160.png 'Streaks' <<'END'
Noise that spreads along the lines of a flow alone draws them: a coefficient for each cell and neighbour.
END
    entry scripts/stencils/wave.lua u-000330.png 'A drop on water' <<'END'
Waves are slower over a shallow lens, which brings them to a focus.
END
} >"$work/gallery.md"

rm -rf "$pictures"
mv "$work/pictures" "$pictures"
mv "$work/gallery.md" "$root/docs/gallery.md"
du -sh "$pictures" | cut -f1
