"""Docstrings and keys of options. Written by python/manual.py from docs/scenario.md."""
DOCS = {
    "Receivers.array": """What was recorded so far, as an array: a row for each step, a number for each point.""",
    "Simulation": """A simulation: a stencil on a grid. It has the members step, cells, seconds, height, backend, grid,
threads, precision, plugin and name to read.

Options:
    plugin: text, required. the stencil's name, or what tz.stencil returns; trapeze plugins lists
        names
    grid: {nx[, ny[, nz]]}, required. cells along each axis, x first; an integer in 1-D
    precision: text, by default "single". "single", "double" or "mixed"; the last one is of stencils
        that have it
    storage: text or table, by default "single". how fields of real numbers lie in memory: "single"
        or "half", or that of tz.stencil. { u = …, v = { "half", origin = 80, scale = 1 } } gives it
        for each field. Updates compute in single precision; every new value is rounded (when it is
        enough (docs/precision.md))
    copies: integer, 1 to 2, by default 2. 1: the cuda backend keeps one array of each state field,
        where the stencil allows it (one copy (docs/precision.md#one-copy))
    boundary: text or table, by default the stencil's. "clamp", "periodic", "fixed" or "mirror"; { x
        = …, y = … } gives one for each axis, { x = { "clamp", "fixed" } } one for each side. clamp:
        an insulated wall at the outer face of the last cell; the sum is conserved; periodic: no
        wall; the sum is conserved; fixed: the value holds at the centre of the first cell outside;
        nothing is conserved; mirror: an insulated wall through the centre of the last cell, which
        counts half in the sum that is conserved; more in boundaries (docs/boundaries.md)
    params: table. NAME = value: parameters of the stencil; trapeze plugins NAME lists them
    scalars: table, by default the stencil's. constants that change with the iteration: NAME = "a
        formula of step and parameters", or a list of numbers, whose last one stays
    y: text, by default "down". "down" or "up": which edge row 0 is: the upper or the lower one
        (which way y is up (docs/boundaries.md#which-way-y-is-up))
    fields: table, by default the stencil's initial values. FIELD = value, as for sim.set
    domain: shape. of a stencil with domain, the cells that are computed: tz.circle and the like, or
        what is not 0 of any value of a field
    boundary_values: table, by default the stencil's. FIELD = number: what cells past fixed sides
        hold; FIELD = { x = { 0, 1 }, y = 2 } gives one for each side
    threads: integer, 1 to 4096, by default one for each core. of the cpu backend
    backend: text, by default "auto". "auto", "cuda", "cpu" or "reference"; "auto" begins on cpu and
        goes on on cuda if the rest is expected to end sooner there; with a plan, height, policy or
        device, it is cuda where there is a GPU
    devices: text or table, by default one device. those that hold slabs of the grid: "all" GPUs, a
        list of GPU numbers { 0, 2 }, or slabs of the CPU "cpu:2"; "0*2,1" gives GPU 0 twice the
        cells of GPU 1
    name: text, by default the stencil's, with a number. in the names of files and messages
    policy: text or function(s), by default the first of these. "auto", "predicted", "adaptive",
        "meng", "exhaustive" or "fixed", or a function that returns a plan
    start: integer or text, 1 to 1048576, by default height, else "predicted". the first height of
        policies that search it: "adaptive" or "meng"
    height: integer or text, 1 to 1048576, by default chosen. iterations between two halo exchanges;
        or a text: the policy of that name
    tile: {nx[, ny[, nz]]}, by default chosen. useful cells of a tile; 0: chosen
    family: text, by default chosen. the way to execute a stage, such as stream or diamond; trapeze
        tune --help lists them
    vector: integer, 1 to 64, by default chosen. adjacent elements that a lane holds
    ahead: integer, 1 to 16, by default chosen. rows or planes that are loaded before they are
        needed
    warps: integer, 1 to 32, by default chosen. warps of a block
    blocks: integer, 1 to 32, by default chosen. blocks that must fit on a multiprocessor at once;
        limits their registers
    unroll: integer, 1 to 16, by default chosen. rows of a chunk that the body of a kernel's loop
        computes, in 2-D
    lanes: integer, 16 to 32, by default chosen. lanes of a warp that lie along a row of a tile, in
        3-D: 32 or 16; with 16 a tile has half the columns and twice the rows
    swap: integer, 1 to 2, by default chosen. how lanes store that hold two packets of 16 bytes of a
        row, in 2-D: 1: they swap one with a neighbour, so that adjacent lanes store adjacent
        packets; 2: each stores its own
    lean: integer, 1 to 2, by default chosen. 1: the shortest text of the family direct, which
        compiles sooner and runs slower; 2: the whole one
    exchange: integer, 1 to 65536, by default chosen. iterations between two exchanges of ghost
        zones among devices
    why: text. how a plan was chosen, as sim.plan() says; not read

A dict in storage:
    origin: number, by default the stencil's, else 0. a value of the field, rounded to 20 bits;
        elements are (value - origin) / scale
    scale: number, by default 1. a power of two""",
    "Simulation.analyse": """Calls an analysis of the stencil; returns a table of its results.""",
    "Simulation.array": """A copy of the field as an array.""",
    "Simulation.close": """Frees its memory now. Otherwise that happens when it is collected or the script ends.""",
    "Simulation.hash": """64 bits of the cells' bits, as text: the same on every backend and plan.""",
    "Simulation.histogram": """How many cells have values in each of a row of equal intervals: { x = h.x, y = h.y, style = "bars" }
is a series of tz.plot.

Options:
    bins: integer, 1 to 65536, by default 50. how many
    range: {low, high}, by default the field's extremes. where the first begins and the last ends

Returns a dict:
    x: list of numbers. the middles of the bins
    y: list of integers. how many cells' values are in each
    below: integer. cells below the range
    above: integer. cells above it
    other: integer. cells that are NaN or infinite""",
    "Simulation.jump": """Advances the simulation by many iterations at once, in the frequency domain (jumps (docs/jump.md)):
for a linear update with constant coefficients. Any other update is refused, with the reason.
Outputs that are due in between have their turn. It rounds once and has other bits than sim.run.
Needs libfftw3 on a CPU and cuFFT on a GPU, which trapeze doctor looks for.

Options:
    steps: integer, from 0. iterations
    until_time: number or text. the simulated time at which it ends, as in sim.run
    every: integer, from 1, by default no limit. iterations of one jump at most

Returns a dict:
    status: text. "done"
    steps: integer. iterations of this call
    seconds: number. spent in jumps""",
    "Simulation.kernel": """Facts of the kernel that runs the plan; nil on backends without kernels.

Returns a dict:
    device: text. the GPU
    registers: integer. of a thread
    local_bytes: integer. of a thread: spilt registers
    warps: integer. that run on a multiprocessor at once
    warps_max: integer. that could
    copy_gb_per_s: number. the device's copy bandwidth, measured by the call""",
    "Simulation.max": """The largest finite value.""",
    "Simulation.mean": """The mean in double precision.""",
    "Simulation.min": """The least finite value. Without a field: of the first state field.""",
    "Simulation.params": """Changes parameters, { NAME = value }, and returns all of them.""",
    "Simulation.picture": """Writes one picture of an array or of a simulation now.

Options:
    map: text, by default the stencil's. a colour map (see Colour maps); with _r reversed
    colours: list of texts, 2 to 64. a map of so many colours, low to high, mixed in between:
        {"#000", "#ff8800"}
    range: {low, high} or "auto", by default the stencil's. the values at the ends of the map;
        "auto": the extremes of the data
    log: boolean, by default false. colours follow the logarithm; without a range it is that of the
        data above 1e-6 of the maximum
    size: integer, 16 to 16384. pixels of the longer side: cells are averaged or repeated
    width_mm: number, 20 to 1000. how wide the whole picture is on paper; texts are then of 8
        points: 86 for a column
    reduce: text, by default "mean". "mean" or "max": of 2-D, what a pixel of several cells shows:
        their mean, or the largest
    region: {x = {a, b}, y = {c, d}} or list, by default the grid. of 2-D: a part, cells a to b - 1
        along x; a list of up to 64 such parts of one shape, each with its step: a film moves and
        zooms from one to the next
    zoom: integer, 1 to 1024. pixels of a cell along each axis
    bits: integer, by default 8. 16: gray values without a colour map
    bar: boolean, by default false. draw a colour bar
    axes: boolean or table, by default false. numbers at the sides, in metres where the stencil
        knows them, else in cells or by { spacing = 0.1, unit = "mm" }
    y: text, by default the simulation's, and "up" of a chip with a floorplan. "down" or "up": where
        y begins (which way y is up (docs/boundaries.md#which-way-y-is-up))
    contours: integer or list of numbers, 1 to 32. contour lines: how many, at equal distances in
        the range, or their values
    outline: floorplan. the outlines of its units, with the names that fit
    view: text. "isometric": 3-D data seen from one corner, bits coloured by their height
    cut: boolean, by default false. of a view: leave out the nearest eighth, so that the inside is
        seen
    level: number, by default the middle of the range. of a view: cells of at least this value are
        solid; of bits, 0.25
    path: list. a line through points { x, y }, or through columns: an integer for each row
    path_rgb: {red, green, blue}, by default white with a rim. its colour, 0 to 255 each
    grid_lines: boolean, by default false. thin lines between cells of at least 8 pixels
    mark: text. "max", "min" or "both": a ring around that value
    unit: text, by default the field's. the unit at the bar
    caption: text, by default "". a line above; of a simulation, words in braces are filled in (see
        Captions)
    data: array or simulation, required. what is drawn
    field: text, by default the stencil's picture. of a simulation: the field
    file: text, required. a name in the run folder that ends with .png, .svg (cells as pixels, all
        else as vectors) or .pdf (made of that by rsvg-convert, inkscape or cairosvg)
    slice: integer or table, from 0. of 3-D data: only the plane z, or { x = 3 } or { y = 3 },
        across which z points up
    montage: boolean or text, by default without slice. of 3-D data: all planes side by side; "x",
        "y" or "z": those across that axis

A dict in region:
    x: {first, end}, from 0, by default all
    y: {first, end}, from 0, by default all
    follow: boolean, by default false. the part keeps its size and moves with the middle of the
        rectangle around all cells that are not 0
    step: integer, from 0. of a list: when the film shows this part

A dict in axes:
    spacing: number or {dx[, dy[, dz]]}, required. width of a cell
    unit: text. of the spacing""",
    "Simulation.plan": """Sets the plan, which ends the policy, and returns the plan.

Options:
    height: integer or text, 1 to 1048576, by default chosen. iterations between two halo exchanges;
        or a text: the policy of that name
    tile: {nx[, ny[, nz]]}, by default chosen. useful cells of a tile; 0: chosen
    family: text, by default chosen. the way to execute a stage, such as stream or diamond; trapeze
        tune --help lists them
    vector: integer, 1 to 64, by default chosen. adjacent elements that a lane holds
    ahead: integer, 1 to 16, by default chosen. rows or planes that are loaded before they are
        needed
    warps: integer, 1 to 32, by default chosen. warps of a block
    blocks: integer, 1 to 32, by default chosen. blocks that must fit on a multiprocessor at once;
        limits their registers
    unroll: integer, 1 to 16, by default chosen. rows of a chunk that the body of a kernel's loop
        computes, in 2-D
    lanes: integer, 16 to 32, by default chosen. lanes of a warp that lie along a row of a tile, in
        3-D: 32 or 16; with 16 a tile has half the columns and twice the rows
    swap: integer, 1 to 2, by default chosen. how lanes store that hold two packets of 16 bytes of a
        row, in 2-D: 1: they swap one with a neighbour, so that adjacent lanes store adjacent
        packets; 2: each stores its own
    lean: integer, 1 to 2, by default chosen. 1: the shortest text of the family direct, which
        compiles sooner and runs slower; 2: the whole one
    exchange: integer, 1 to 65536, by default chosen. iterations between two exchanges of ghost
        zones among devices
    why: text. how a plan was chosen, as sim.plan() says; not read""",
    "Simulation.policy": """Changes who chooses plans (who chooses (docs/running.md#who-chooses-the-height)): a name, a function
or a table. Returns the state of the policy.

Options:
    policy: text or function(s), by default the first of these. "auto", "predicted", "adaptive",
        "meng", "exhaustive" or "fixed", or a function that returns a plan
    start: integer or text, 1 to 1048576, by default height, else "predicted". the first height of
        policies that search it: "adaptive" or "meng"
    height: integer or text, 1 to 1048576, by default chosen. iterations between two halo exchanges;
        or a text: the policy of that name
    tile: {nx[, ny[, nz]]}, by default chosen. useful cells of a tile; 0: chosen
    family: text, by default chosen. the way to execute a stage, such as stream or diamond; trapeze
        tune --help lists them
    vector: integer, 1 to 64, by default chosen. adjacent elements that a lane holds
    ahead: integer, 1 to 16, by default chosen. rows or planes that are loaded before they are
        needed
    warps: integer, 1 to 32, by default chosen. warps of a block
    blocks: integer, 1 to 32, by default chosen. blocks that must fit on a multiprocessor at once;
        limits their registers
    unroll: integer, 1 to 16, by default chosen. rows of a chunk that the body of a kernel's loop
        computes, in 2-D
    lanes: integer, 16 to 32, by default chosen. lanes of a warp that lie along a row of a tile, in
        3-D: 32 or 16; with 16 a tile has half the columns and twice the rows
    swap: integer, 1 to 2, by default chosen. how lanes store that hold two packets of 16 bytes of a
        row, in 2-D: 1: they swap one with a neighbour, so that adjacent lanes store adjacent
        packets; 2: each stores its own
    lean: integer, 1 to 2, by default chosen. 1: the shortest text of the family direct, which
        compiles sooner and runs slower; 2: the whole one
    exchange: integer, 1 to 65536, by default chosen. iterations between two exchanges of ghost
        zones among devices
    why: text. how a plan was chosen, as sim.plan() says; not read

Returns a dict:
    policy: text. its name
    settled: boolean. it keeps its plan from now on
    text: text. a sentence
    decisions: list. { step, from, to, times, time_s, reason }: plans and why they were chosen
    measured: list. { plan, time_s, predicted_s, tie, remembered, note }: what was measured""",
    "Simulation.population": """The number of cells that are not 0.""",
    "Simulation.profile": """The values along a line between two points such as { 0, 12.5 }, interpolated linearly; whole numbers
are the middles of cells. Without points there is one for each cell of the axis that the line
follows most. A series of tz.plot.

Returns a dict:
    x: list of numbers. distances from the first point, in cells
    y: list of numbers. the values there""",
    "Simulation.receivers": """Points at which a field is recorded after each iteration (points.md (docs/points.md)). Returns
receivers, with the members count, of points, and rows, of recorded steps.

Options:
    field: text, by default the first state field. a state field, of receivers also a derived one
    points: array or table, required. in cells from 0: { { x, y, z }, … }, or an array of rows
    interpolate: text, by default "grid". how a value between cells is made of cells: "grid",
        "linear" or "sinc". "grid": points are cells; "linear": of the two beside it along each
        axis; "sinc": of eight, by a sinc with a Kaiser window
    every: integer, from 1, by default 1. record after steps that are multiples of it
    file: text, by default none. a file of the run folder, .npy, .csv or .h5, written at the end: a
        row for each step, a column for each point""",
    "Simulation.residual": """The largest change that the next iteration would make, in double precision, times the stencil's
factor.""",
    "Simulation.rewind": """Sets the count of iterations to 0. Fields stay.""",
    "Simulation.run": """Advances the simulation: a number of iterations, or until something holds.

Options:
    steps: integer, from 0. iterations
    until_time: number or text. the simulated time at which the run ends, "2 ms"; a number is in the
        unit of the time step
    until_residual: number. the residual at which it ends
    until_update: number. the change of an iteration at which it ends
    until_true: function. a function(sim): the run ends where it returns true, asked every
        check_every iterations
    max_steps: integer, from 0, by default no limit. with until_true, until_residual or until_update
    check_every: integer, from 1, by default 8 to 1024, then 1/32 of those so far. iterations
        between two checks; with until_true 64, with dt 4
    accept_stagnation: boolean, by default false. a run whose precision ends first is no failure
    dt: text. "adaptive": the time step is chosen every check_every iterations, by tolerance or the
        stencil's output largest_dt (time steps (docs/time-steps.md))
    tolerance: number. with dt: by how much one step and two half ones may differ in any cell
    implicit: number or text. the time step of implicit steps (steady states
        (docs/steady.md#implicit-steps)), with until_time or steps
    order: integer, 1 to 2, by default 2. of implicit steps: 1, backward Euler, or 2
    by: text, by default "solver". "solver" or "direct", how they are solved: the last one by
        libumfpack

Returns a dict:
    status: text. "done", "converged", "stagnated", "max_steps", "inconsistent", "until" or
        "stopped"
    steps: integer. iterations of this call
    stages: integer
    seconds: number. spent in stages, without what a GPU's kernels take to compile
    residual: number. at the last check; NaN if there was none
    update: number. the same of the change of an iteration
    why: text. the reason, of status "until" and "stopped"
    converged: boolean
    gcells_per_s: number. useful cell updates
    energy_j: number. of the GPU, where it counts it""",
    "Simulation.scalar": """The value of a constant that changes with the iteration: in iteration step, 0 being the first, or in
the next one.""",
    "Simulation.set": """Sets the cells of a box, or all. A value is a number, function(x, y, z), tz.random, tz.read,
tz.array, an array or a floorplan. A box is { x = {low, high}, … }: low <= x < high; or a unit of a
floorplan, plan:unit "core0".""",
    "Simulation.slabs": """Rows of a streamed field as an array, from slab first on.""",
    "Simulation.sources": """Points at which each iteration adds a value to a field, after its update, in the order of the list.

Options:
    field: text, by default the first state field. a state field, of receivers also a derived one
    points: array or table, required. in cells from 0: { { x, y, z }, … }, or an array of rows
    interpolate: text, by default "grid". how a value between cells is made of cells: "grid",
        "linear" or "sinc". "grid": points are cells; "linear": of the two beside it along each
        axis; "sinc": of eight, by a sinc with a Kaiser window
    values: array, table or text, required. what the coming iterations add: a row for each step, a
        number for each point; or a formula of step, parameters and the time t
    scale: number or text, by default 1. a factor; "volume": one over the volume of a cell""",
    "Simulation.steady": """Computes the steady state of any linear update: the fields that an iteration leaves as they are
(steady states (docs/steady.md)). Returns the residual and a table. Steps and simulated time stay.
Fails if there is no such state: where waves never decay, or (inconsistent) a source has a mean that
nothing takes away.

Options:
    tolerance: number, by default as small as double precision can tell. the residual that is small
        enough
    by: text, by default "auto". "auto", "transform", "solver" or "direct": transforms where they
        apply, else the solver; the last one by libumfpack

Returns a dict:
    status: text. "converged" or "stagnated": the precision of the fields ends before tolerance
    residual: number. of the fields as they are
    solver: text. "conjugate gradients", "conjugate residuals", "UMFPACK" or "transform"
    iterations: integer. of the solver; 0 by a transform
    seconds: number. that it took""",
    "Simulation.sum": """The sum in double precision, in a fixed order. A region is a box, a mask (a field's name or an
array; cells that are not 0 count) or a unit of a floorplan.""",
    "Simulation.time": """The simulated time, in the unit of the stencil's time step.""",
    "Simulation.units": """A table of each unit's max and mean, by the unit's name.""",
    "Stencil": """A stencil, for plugin in tz.simulation and tz.predict. Give update, rate, passes or coefficients;
formulas.md (docs/formulas.md) is the language of formulas. A text instead of the table is the id of
a plugin's stencil.

Options:
    name: text, by default "stencil", "stencil2", …. its id, as a C identifier
    doc: text. one sentence
    dims: integer, 1 to 3, by default the depth of coefficients
    fields: table, by default {u = "real"}. NAME = type, or a table. Names in a list are real state
        fields, in this order; the others follow in alphabetical order, those whose update is just
        the name of another field last. Frames show the first one
    params: table, by default {}. NAME = number, the default, or a table
    spacing: number, text or table, by default 1. the width of a cell, by which differences divide
        (formulas.md (docs/formulas.md#derivatives)): a number becomes the parameter dx, a text
        names a parameter; {dx = …, dy = …} gives one for each axis
    dt: number or text. the time step: a number becomes the parameter dt, a text names a parameter
    scalars: table, by default {}. NAME = formula of step and the parameters: a constant that
        changes with the iteration
    let: table, by default {}. NAME = formula: a name for a part of formulas. NAME[1, 0] is the part
        at a neighbour
    outside: table, by default {}. FIELD = what it is past the sides of the grid (formulas.md
        (docs/formulas.md#past-sides)): a formula, or {value = …}, {flux = …}, {robin = {a, b, c}}
        or {absorbing = …, old = FIELD}; {x = …, y = {low, high}} gives one for each axis or side,
        false none
    domain: text, by default all of the grid. a static field of ints: cells where it is not 0 are
        computed (formulas.md (docs/formulas.md#domains))
    edge: formula or table, by default "inside". past the edge of the domain: a formula for all
        fields, or FIELD = formula; or {value = …}
    update: table. FIELD = formula of its new value. All formulas read the values from before. A
        formula alone is the only field's
    rate: table. in place of update: FIELD = formula of its rate of change, with dt (formulas.md
        (docs/formulas.md#rates))
    method: text, by default "euler". "euler", "rk2" or "rk4": how rates are advanced by a time step
    passes: list. of tables as update, or {name = …, update = {…}}: one after the other
    outputs: table, by default {}. FIELD = formula: derived fields, for frames, tables and
        reductions, which cost nothing else
    coefficients: list or text. an array with an odd number of elements along each axis, x fastest;
        in 2-D a list of rows, in 3-D of layers. An element is a number or a formula. Or the id of a
        plugin's stencil that is such a sum: "star2d1r". The update is a*old + b*field +
        v*scale*sum(c*field)
    scale: number, by default 1. of all coefficients
    field: text, by default the first state field. the field of the coefficients
    old: text. the field with the values of the iteration before, for a
    a: formula, by default no such term. of old
    b: formula, by default no such term. of the field itself
    v: formula, by default no such factor. of the sum: a parameter or a static field, for example
    augment: integer or text, 1 to 8, by default 1. how many iterations of the sum one iteration
        advances (augment.md (docs/augment.md)); "auto": as many as are predicted to be the fastest
    grid: {nx[, ny[, nz]]}. with augment = "auto": the grid that it is chosen for
    precision: text, by default that of tz.predict. likewise
    device: text, by default this machine's. likewise, as in tz.predict
    group: boolean, by default false. sum terms with equal coefficients first, of these cells that
        lie symmetrically
    fused: boolean, by default false. a product that is added becomes one operation that rounds once
    text: text. the cell updates in C, only with --unsafe; passes is then a list of {name = …,
        radius = …, writes = {FIELD, …}} and outputs one of fields
    storage: text or table, by default "single". how its fields lie in memory, as in tz.simulation,
        which may give another
    boundaries: list, by default all. those of "clamp", "periodic", "fixed" or "mirror" that a
        simulation may choose
    boundary: text, by default the first of these, for bits periodic. the one that it has if it
        chooses none

A dict in fields:
    type: text, by default "real". "real", "int" or "bits"
    role: text, by default "state". "state", "static", "derived" or "temporary". Temporaries:
        formulas.md (docs/formulas.md#temporaries)
    initial: number, by default 0. the value of each cell at first
    boundary_value: number, by default 0. what cells past fixed sides hold
    required: boolean, by default false. a scenario must give it values
    unit: text
    doc: text. one sentence

A dict in params:
    value: number, required. the default
    min: number, by default no limit; of integers that of 32 bits. the least value
    max: number, by default likewise. the largest value
    integer: boolean, by default false. only integers
    unit: text
    doc: text. one sentence
    role: text. "time_step", "spacing", "spacing_x", "spacing_y" or "spacing_z": the time of an
        iteration, or the width of a cell, along all axes or one""",
    "Stencil.text": """The text of its cell updates, in C.""",
    "box": """A rectangle or cuboid, likewise.

Options:
    x: {low, high}, by default all. low <= x < high, in cells; with high - low cells
    y: {low, high}, by default all. likewise
    z: {low, high}, by default all. likewise""",
    "circle": """A disc, a ball, or a cylinder along z: a function(x, y, z) that is true within, as a value of
fields, as a domain, or to be combined. Whole numbers are the middles of cells, so the middle of a
grid is at (nx - 1)/2.

Options:
    centre: {x, y[, z]}, required. in cells; with three numbers it is a sphere
    radius: number, required. in cells""",
    "difference": """What is in the first and in no other.""",
    "floorplan": """The units of a chip: a value of fields (the power of each cell, W), columns of tz.table, and
regions, in 2-D and 3-D. Several layers of a box have the same power. The trace may have units of
other plans. Row 0 of the grid is the chip's upper edge (which way y is up
(docs/boundaries.md#which-way-y-is-up)).

Options:
    flp: file, required. HotSpot's floorplan: units with their sizes and places in metres
    ptrace: file. HotSpot's power trace; without it the floorplan only names regions
    row: integer, from 1, by default the mean of all rows. the row of the trace
    width_m: number, by default that of the units. length of the chip along x; without it the plan
        is moved to the origin
    height_m: number, by default that of the units. length of the chip along y
    box: box, by default the grid. { x = {low, high}, y =, z = }: the cells that the chip fills
    overlap: number, 0 to 0.01, by default 0. the largest share of a unit that another one may cover""",
    "intersection": """What is in all of them.""",
    "polygon": """A polygon in x and y, likewise, by the even-odd rule: tz.polygon { { 10, 10 }, { 90, 10 }, { 50, 80
} }.""",
    "predict": """Predictions of all plans of a problem, without a run. The device need not be there.

Options:
    plugin: text, required. the stencil's name, or what tz.stencil returns; trapeze plugins lists
        names
    grid: {nx[, ny[, nz]]}, required. cells along each axis, x first; an integer in 1-D
    precision: text, by default "single". "single", "double" or "mixed"; the last one is of stencils
        that have it
    storage: text or table, by default "single". how fields of real numbers lie in memory: "single"
        or "half", or that of tz.stencil. { u = …, v = { "half", origin = 80, scale = 1 } } gives it
        for each field. Updates compute in single precision; every new value is rounded (when it is
        enough (docs/precision.md))
    copies: integer, 1 to 2, by default 2. 1: the cuda backend keeps one array of each state field,
        where the stencil allows it (one copy (docs/precision.md#one-copy))
    boundary: text or table, by default the stencil's. "clamp", "periodic", "fixed" or "mirror"; { x
        = …, y = … } gives one for each axis, { x = { "clamp", "fixed" } } one for each side. clamp:
        an insulated wall at the outer face of the last cell; the sum is conserved; periodic: no
        wall; the sum is conserved; fixed: the value holds at the centre of the first cell outside;
        nothing is conserved; mirror: an insulated wall through the centre of the last cell, which
        counts half in the sum that is conserved; more in boundaries (docs/boundaries.md)
    params: table. NAME = value: parameters of the stencil; trapeze plugins NAME lists them
    scalars: table, by default the stencil's. constants that change with the iteration: NAME = "a
        formula of step and parameters", or a list of numbers, whose last one stays
    backend: text, by default "auto". as in tz.simulation
    device: text, by default this machine's. a device record: a name or a file
    gpu: integer, 0 to 1023, by default that of --device, else 0. which GPU of this machine
    devices: integer or text, by default one device. so many such devices, each with a slab of the
        grid; or devices of this machine: "0,1", "cpu:2"
    link: text, by default the first that the device record has. what joins them: "peer", "host" or
        "mpi" of the device record; one that comes with Trapeze, such as "nvlink"; or the path of a
        link's record
    threads: integer, 1 to 1024, by default one for each core. of the cpu backend, or to compile
        kernels
    height: integer, 1 to 1048576, by default all. only plans of that height
    family: text, by default all. only plans of that family
    vector: integer, 1 to 64, by default chosen. adjacent elements that a lane holds
    ahead: integer, 1 to 16, by default chosen. rows or planes that are loaded before they are
        needed
    warps: integer, 1 to 32, by default chosen. warps of a block
    blocks: integer, 1 to 32, by default chosen. blocks that must fit on a multiprocessor at once;
        limits their registers
    unroll: integer, 1 to 16, by default chosen. rows of a chunk that the body of a kernel's loop
        computes, in 2-D
    lanes: integer, 16 to 32, by default chosen. lanes of a warp that lie along a row of a tile, in
        3-D: 32 or 16; with 16 a tile has half the columns and twice the rows
    swap: integer, 1 to 2, by default chosen. how lanes store that hold two packets of 16 bytes of a
        row, in 2-D: 1: they swap one with a neighbour, so that adjacent lanes store adjacent
        packets; 2: each stores its own
    lean: integer, 1 to 2, by default chosen. 1: the shortest text of the family direct, which
        compiles sooner and runs slower; 2: the whole one
    exchange: integer, 1 to 65536, by default chosen. iterations between two exchanges of ghost
        zones among devices
    block: {bx[, by[, bz]]}. only plans of that tile
    model: text, by default the first that the record allows. "meng2009", "meng2011", "roofs",
        "luo2011" or "tabik2015"
    halo: {x[, y[, z]]}, by default the stencil's. for the papers' models: another halo width, both
        sides together
    streamed: integer, from 0, by default the stencil's. for the papers' models: another number of
        streamed fields
    bank_conflicts: number, from 0, by default the stencil's, where it is known. for meng2011:
        conflicts in shared memory for each warp instruction
    fence: boolean, by default false. for the papers' models: stages synchronise inside one launch
    as_printed: boolean, by default false. for luo2011: equations 2 and 3 as the paper prints them
    trips: integer, 1 to 1000000, by default 1. for luo2011: turns of loops whose end depends on
        data
    record: table. KEY = value: numbers of the device's record (docs/devices.md) to replace: {
        memory_latency = "600 cycles" }
    measure: boolean, by default false. with a model of kernels of its own: run these on this
        machine's GPU, too; not under --check
    all: boolean, by default false. every plan, not only the best of a family and height
    compile: boolean, by default false. compile every kernel, not only those that may be best
    quick: boolean, by default false. estimates: compile one short kernel alone
    steps: integer, 1 to 9.22337204e+18, by default a long run. the best plan is that of a run of so
        many steps, or until its next output: no higher one, and its last stage may be shorter

A dict in storage:
    origin: number, by default the stencil's, else 0. a value of the field, rounded to 20 bits;
        elements are (value - origin) / scale
    scale: number, by default 1. a power of two

Returns a dict:
    rows: list. of plans: height, family, tile, knobs, registers, estimated, time_s (of an
        iteration), run_s (with steps: of all), stage_s, sustained_s, power_w (at the full clock),
        power_limit_w, gcells_per_s, limit, limit_text, components, details; of several devices also
        exchange, exchange_share (of the time) and efficiency (against one device)
    best: table. the row that is chosen
    devices: integer. several devices: how many
    link: text. several devices: what joins them
    alone_s: number. several devices: an iteration on one of them
    gains: list of tables. several devices: devices gain over fewer from the grid grid on (no grid:
        from none that was tried)
    choice: text. why, if that is not the fastest row
    model: text
    device: text
    title: text. the model's or device's name for a title
    backend: text
    counts: text. where the counts come from
    why: text. what limits the best plan
    limits: text. what limits which heights
    notes: list of texts. what was assumed
    passes: list of tables. by luo2011, one a pass: p, p_text, active_warps, cpd1, cpd2, cpd,
        rounds, clocks and periods, a list of { type, c, m, accesses, transactions, mpd, time, t_p,
        t_c }; by tabik2015, which predicts no times: pass, what it reads and writes, how many are
        chosen, and shapes, a list of { block, global_transactions, shared_transactions, occupancy,
        active_blocks, good, chosen }
    measured_s: number. with measure: an iteration
    accuracy: number. with measure: the smaller of the measured and the predicted time over the
        larger
    considered: integer. plans
    seconds: number. that it took""",
    "random": """Random values of a field. A cell's number depends on the seed and its place alone.

Options:
    seed: integer, required. the same seed gives the same numbers on every machine
    range: {low, high}, by default {0, 1}. real fields: low <= value < high; integers: both ends
        included
    density: number, 0 to 1, by default 0.5. of bits: the share that is 1""",
    "read": """An array from a file (see Formats). A relative path begins in the script's folder.

Options:
    at: {x[, y[, z]]}. the cell of the grid that gets the first element; without it the shape must
        be the grid's or the box's
    fit: text, by default "no". "no", "crop", "pad" or "scale": another shape than that of the grid
        or the box is an error; the middle of what is larger is taken; what is smaller lies in the
        middle; each cell takes the nearest element
    shape: {nx[, ny[, nz]]}. the extents: text files need them, others must have them
    type: text. the file holds raw numbers of that type, without a header: "bool", "int8", "uint8",
        "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64" or "float16"
    offset: integer, from 0. of raw numbers: bytes before the first one, as of a header; more may
        follow the last one. Files with the ending of a format, such as .npy, need it
    endian: text, by default that of this machine. of raw numbers: "little" or "big"
    order: text, by default x, then y and z. of text and raw numbers: the axes, the fastest first.
        "C" is "xyz", "F" is "zyx": what NumPy's tofile writes of an array a[z, y, x] in C or
        Fortran order. A Fortran program's a(x, y, z) is "xyz", Rodinia's 3-D chips are "zxy"
    skip: integer, from 0, by default 0. of text: lines at the beginning to leave out
    field: text, by default the only one. of .npz, .vti and .h5: the array's name, in .h5 also
        "group/name"
    channel: text, by default "grey". of .png: "grey", "r", "g", "b" or "a". "grey" is the
        brightness of colours
    y: text, by default "down". "down" or "up": which edge the file's first row is
    rule: text, by default the file's. of patterns: replaces the rule that the file names; "none":
        the cells alone, for a stencil without a rule""",
    "tune": """Measures all plans of a problem on this machine, as trapeze tune does, and compares them with their
predictions. Under --check nothing is measured: the predictions stand for the measurements.

Options:
    plugin: text, required. the stencil's name, or what tz.stencil returns; trapeze plugins lists
        names
    grid: {nx[, ny[, nz]]}, required. cells along each axis, x first; an integer in 1-D
    precision: text, by default "single". "single", "double" or "mixed"; the last one is of stencils
        that have it
    storage: text or table, by default "single". how fields of real numbers lie in memory: "single"
        or "half", or that of tz.stencil. { u = …, v = { "half", origin = 80, scale = 1 } } gives it
        for each field. Updates compute in single precision; every new value is rounded (when it is
        enough (docs/precision.md))
    copies: integer, 1 to 2, by default 2. 1: the cuda backend keeps one array of each state field,
        where the stencil allows it (one copy (docs/precision.md#one-copy))
    boundary: text or table, by default the stencil's. "clamp", "periodic", "fixed" or "mirror"; { x
        = …, y = … } gives one for each axis, { x = { "clamp", "fixed" } } one for each side. clamp:
        an insulated wall at the outer face of the last cell; the sum is conserved; periodic: no
        wall; the sum is conserved; fixed: the value holds at the centre of the first cell outside;
        nothing is conserved; mirror: an insulated wall through the centre of the last cell, which
        counts half in the sum that is conserved; more in boundaries (docs/boundaries.md)
    params: table. NAME = value: parameters of the stencil; trapeze plugins NAME lists them
    scalars: table, by default the stencil's. constants that change with the iteration: NAME = "a
        formula of step and parameters", or a list of numbers, whose last one stays
    backend: text, by default "auto". as in tz.simulation
    device: text, by default this machine's. a device record: a name or a file
    gpu: integer, 0 to 1023, by default that of --device, else 0. which GPU of this machine
    devices: integer or text, by default one device. so many such devices, each with a slab of the
        grid; or devices of this machine: "0,1", "cpu:2"
    link: text, by default the first that the device record has. what joins them: "peer", "host" or
        "mpi" of the device record; one that comes with Trapeze, such as "nvlink"; or the path of a
        link's record
    threads: integer, 1 to 1024, by default one for each core. of the cpu backend, or to compile
        kernels
    height: integer, 1 to 1048576, by default all. only plans of that height
    family: text, by default all. only plans of that family
    vector: integer, 1 to 64, by default chosen. adjacent elements that a lane holds
    ahead: integer, 1 to 16, by default chosen. rows or planes that are loaded before they are
        needed
    warps: integer, 1 to 32, by default chosen. warps of a block
    blocks: integer, 1 to 32, by default chosen. blocks that must fit on a multiprocessor at once;
        limits their registers
    unroll: integer, 1 to 16, by default chosen. rows of a chunk that the body of a kernel's loop
        computes, in 2-D
    lanes: integer, 16 to 32, by default chosen. lanes of a warp that lie along a row of a tile, in
        3-D: 32 or 16; with 16 a tile has half the columns and twice the rows
    swap: integer, 1 to 2, by default chosen. how lanes store that hold two packets of 16 bytes of a
        row, in 2-D: 1: they swap one with a neighbour, so that adjacent lanes store adjacent
        packets; 2: each stores its own
    lean: integer, 1 to 2, by default chosen. 1: the shortest text of the family direct, which
        compiles sooner and runs slower; 2: the whole one
    exchange: integer, 1 to 65536, by default chosen. iterations between two exchanges of ghost
        zones among devices
    block: {bx[, by[, bz]]}. only plans of that tile
    fields: table, by default random numbers. FIELD = value, as in tz.simulation. Other fields are
        random: within a tenth of the stencil's initial value or, where that is 0, from 0 to 1
    families: list of texts, by default all. only plans of these families
    model: text. only the plans that this model lists, and how good those are that it chooses:
        "tabik2015"
    rounds: integer, 1 to 32, by default 5. how often a plan that is near the fastest is measured
    seconds: number, 0.0001 to 100, by default 0.01 on a GPU, 0.2 if sustained; 0.05 on a CPU.
        length of a round
    sustained: boolean, by default false. no rests between rounds, and half a second of work before
        each plan: the speed of long runs
    check: boolean, by default true. compare the bits that each plan leaves with those of height 1;
        needs a copy of the fields

A dict in storage:
    origin: number, by default the stencil's, else 0. a value of the field, rounded to 20 bits;
        elements are (value - origin) / scale
    scale: number, by default 1. a power of two

Returns a dict:
    rows: list. of plans: height, family, tile, knobs, registers, predicted_s, measured_s, low_s,
        high_s (of an iteration), gcells_per_s, rounds, same_bits, clock_hz, throttled; refused: why
        a plan was not measured
    best: table. the row that was fastest
    predicted: table. the row whose prediction is best
    share: number. speed of the predicted plan / speed of the best one
    error_median: number. median of |predicted - measured| / measured
    error_p90: number. its 90 % quantile
    error_mean: number. mean of (predicted - measured) / measured
    set: table. with model: shapes that it lists, chosen ones, measured, measured_chosen, has_best
        (the fastest shape is chosen), best and worst (speed of the fastest and the slowest chosen
        shape / of the fastest of all); rows have in_set
    different: integer. plans that left other bits than height 1: a fault
    not_finite: integer. plans whose bits are not compared: fields become infinite or NaN
    infinite: boolean. fields are infinite or NaN after the last measurement
    backend: text
    device: text. name of the record""",
    "union": """What is in any of the shapes: those above, a function(x, y, z), or an array (cells that are not 0),
such as tz.read "shape.png".""",
}
KEYS = {
    "Simulation": ("plugin", "grid", "precision", "storage", "copies", "boundary", "params", "scalars", "y", "fields",
        "domain", "boundary_values", "threads", "backend", "devices", "name", "policy", "start", "height", "tile",
        "family", "vector", "ahead", "warps", "blocks", "unroll", "lanes", "swap", "lean", "exchange", "why",),
    "Simulation.histogram": ("bins", "range",),
    "Simulation.jump": ("steps", "until_time", "every",),
    "Simulation.picture": ("map", "colours", "range", "log", "size", "width_mm", "reduce", "region", "zoom", "bits",
        "bar", "axes", "y", "contours", "outline", "view", "cut", "level", "path", "path_rgb", "grid_lines", "mark",
        "unit", "caption", "data", "field", "file", "slice", "montage",),
    "Simulation.plan": ("height", "tile", "family", "vector", "ahead", "warps", "blocks", "unroll", "lanes", "swap",
        "lean", "exchange", "why",),
    "Simulation.policy": ("policy", "start", "height", "tile", "family", "vector", "ahead", "warps", "blocks",
        "unroll", "lanes", "swap", "lean", "exchange", "why",),
    "Simulation.receivers": ("field", "points", "interpolate", "every", "file",),
    "Simulation.run": ("steps", "until_time", "until_residual", "until_update", "until_true", "max_steps",
        "check_every", "accept_stagnation", "dt", "tolerance", "implicit", "order", "by",),
    "Simulation.sources": ("field", "points", "interpolate", "values", "scale",),
    "Simulation.steady": ("tolerance", "by",),
    "Stencil": ("name", "doc", "dims", "fields", "params", "spacing", "dt", "scalars", "let", "outside", "domain",
        "edge", "update", "rate", "method", "passes", "outputs", "coefficients", "scale", "field", "old", "a", "b",
        "v", "augment", "grid", "precision", "device", "group", "fused", "text", "storage", "boundaries",
        "boundary",),
    "box": ("x", "y", "z",),
    "circle": ("centre", "radius",),
    "floorplan": ("flp", "ptrace", "row", "width_m", "height_m", "box", "overlap",),
    "predict": ("plugin", "grid", "precision", "storage", "copies", "boundary", "params", "scalars", "backend",
        "device", "gpu", "devices", "link", "threads", "height", "family", "vector", "ahead", "warps", "blocks",
        "unroll", "lanes", "swap", "lean", "exchange", "block", "model", "halo", "streamed", "bank_conflicts",
        "fence", "as_printed", "trips", "record", "measure", "all", "compile", "quick", "steps",),
    "random": ("seed", "range", "density",),
    "read": ("at", "fit", "shape", "type", "offset", "endian", "order", "skip", "field", "channel", "y", "rule",),
    "tune": ("plugin", "grid", "precision", "storage", "copies", "boundary", "params", "scalars", "backend", "device",
        "gpu", "devices", "link", "threads", "height", "family", "vector", "ahead", "warps", "blocks", "unroll",
        "lanes", "swap", "lean", "exchange", "block", "fields", "families", "model", "rounds", "seconds", "sustained",
        "check",),
}
