/* The stencils of Tabik and others, 2015: the pipeline of anisotropic nonlinear diffusion as one
 * stencil, four of its stages alone, and two wide stars. What the paper does not print is ours:
 * central differences, and the diffusion tensor. */
#include <trapeze/plugin.h>

#define TZ_CELL_TEXT "blur.cell.h"
#define TZ_CELL_ID gx
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "blur.cell.h"
#define TZ_CELL_ID gy
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "blur.cell.h"
#define TZ_CELL_ID gz
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 2
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "tensor.cell.h"
#define TZ_CELL_ID st
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "fdd.cell.h"
#define TZ_CELL_NAME fdd
#define TZ_CELL_ID fdd5
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 5
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "fdd.cell.h"
#define TZ_CELL_NAME fdd
#define TZ_CELL_ID fdd7
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 7
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "diffusion.cell.h"
#define TZ_CELL_ID blur_x
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "diffusion.cell.h"
#define TZ_CELL_ID blur_y
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "diffusion.cell.h"
#define TZ_CELL_ID blur_z
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "diffusion.cell.h"
#define TZ_CELL_ID edges
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "diffusion.cell.h"
#define TZ_CELL_ID conduct
#define TZ_CELL_DIMS 3
#define TZ_CELL_RADIUS 0
#include <trapeze/rows.h>

#define TZ_CELL_TEXT "diffusion.cell.h"
#define TZ_CELL_ID diffuse
#define TZ_CELL_DIMS 3
#include <trapeze/rows.h>

/* The parameters of most stencils are their constants, in the same order. */
static int derive_one(tz_setup *setup)
{
    setup->constants[0] = setup->params[0].number;
    return 0;
}
static int derive_two(tz_setup *setup)
{
    setup->constants[1] = setup->params[1].number;
    return derive_one(setup);
}

static const tz_param blur_params[] = {
    TZ_REAL_PARAM("middle", 0.5, -1e6, 1e6, "", "weight of the middle cell"),
    TZ_REAL_PARAM("side", 0.25, -1e6, 1e6, "", "weight of the cells on both sides of it"),
};
/* The largest rate is 2 / (3 * what the second difference makes of a checkerboard). */
static const tz_param fdd5_params[] = {
    TZ_REAL_PARAM("rate", 0.05, 0, 0.0976, "", "how fast u spreads; more would diverge"),
};
static const tz_param fdd7_params[] = {
    TZ_REAL_PARAM("rate", 0.05, 0, 0.0917, "", "how fast u spreads; more would diverge"),
};

static const tz_field u_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "the volume"),
};

#define EVERY_BOUNDARY TZ_ALLOW_ALL

/* A stencil ID of passes ID_passes. Its constants are those of the text with the pass `cell`; then
 * come the members of its picture. */
#define STENCIL(ID, its_fields, its_params, cell, its_derive, sentence, ...)                       \
    static const tz_stencil ID##_stencil = {                                                       \
        TZ_STENCIL_HEADER,                                                                         \
        .id = #ID,                                                                                 \
        .doc = sentence,                                                                           \
        .dims = 3,                                                                                 \
        TZ_STENCIL_TABLES(cell, its_fields, its_params, ID##_passes),                              \
        .boundaries = EVERY_BOUNDARY,                                                              \
        .boundary = TZ_CLAMP,                                                                      \
        .picture = {__VA_ARGS__},                                                                  \
        .derive = its_derive,                                                                      \
    };

#define ONE_FIELD(ID, its_params, its_derive, sentence)                                            \
    static const tz_pass ID##_passes[] = {                                                         \
        {.name = #ID, .writes = TZ_WRITES(ID, u), TZ_PASS(ID)},                                    \
    };                                                                                             \
    STENCIL(ID, u_fields, its_params, ID, its_derive, sentence, "u", "gray", 0.0, 1.0)

ONE_FIELD(gx, blur_params, derive_two,
          "Gaussian of three cells along x: the cell and the next two.")
ONE_FIELD(gy, blur_params, derive_two,
          "Gaussian of three cells along y: the cell and the next two.")
ONE_FIELD(gz, blur_params, derive_two,
          "Gaussian of three cells along z: the cell and the next two.")
ONE_FIELD(fdd5, fdd5_params, derive_one,
          "Diffusion with differences of order 10: a 3-D star of radius 5.")
ONE_FIELD(fdd7, fdd7_params, derive_one,
          "Diffusion with differences of order 14: a 3-D star of radius 7.")

/* ---- The structure tensor -------------------------------------------------------------------- */

#define PRODUCT(name, axes) TZ_STATE_FIELD(name, TZ_REAL, "", "product of the gradient along " axes)
static const tz_field st_fields[] = {
    PRODUCT("xx", "x with itself"),
    PRODUCT("xy", "x and y"),
    PRODUCT("xz", "x and z"),
    PRODUCT("yy", "y with itself"),
    PRODUCT("yz", "y and z"),
    PRODUCT("zz", "z with itself"),
    TZ_STATIC_FIELD("image", TZ_REAL, "", "the volume", .radius = 1),
};

static const tz_param st_params[] = {
    TZ_REAL_PARAM("half", 0.5, -1e6, 1e6, "", "what a difference over two cells is multiplied by"),
};

static const tz_pass st_passes[] = {
    {.name = "st", .writes = (1u << 6) - 1u, TZ_PASS(st)},
};

STENCIL(st, st_fields, st_params, st, derive_one,
        "Structure tensor: the six products of a volume's gradient.", "xx", "viridis", 0.0, 0.05)

/* ---- Anisotropic nonlinear diffusion --------------------------------------------------------- */

static const tz_param diffusion_params[] = {
    TZ_REAL_PARAM("dt", 0.1, 0, 0.16, "", "time step, where cells are 1 wide; more would diverge",
                  .role = TZ_PARAM_ROLE_TIME_STEP),
    TZ_REAL_PARAM("contrast", 0.05, 1e-12, 1e12, "",
                  "change of the blurred volume from cell to cell from which on it is an edge"),
};

static int derive_diffusion(tz_setup *setup)
{
    const double contrast = setup->params[1].number;
    setup->constants[TZ_CONSTANT(diffuse, dt)] = setup->params[0].number;
    setup->constants[TZ_CONSTANT(diffuse, contrast2)] = contrast * contrast;
    return 0;
}

#define ENTRY(name) TZ_STATE_FIELD(name, TZ_REAL, "", "an entry of the diffusion tensor")
static const tz_field diffusion_fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "the volume"),
    TZ_STATE_FIELD("smooth", TZ_REAL, "", "the volume, blurred"),
    TZ_STATE_FIELD("half_smooth", TZ_REAL, "", "the volume, blurred along x and y"),
    ENTRY("xx"),
    ENTRY("xy"),
    ENTRY("xz"),
    ENTRY("yy"),
    ENTRY("yz"),
    ENTRY("zz"),
};

#define TENSOR(ID)                                                                                 \
    (TZ_WRITES(ID, xx) | TZ_WRITES(ID, xy) | TZ_WRITES(ID, xz) | TZ_WRITES(ID, yy) |               \
     TZ_WRITES(ID, yz) | TZ_WRITES(ID, zz))

static const tz_pass diffusion_passes[] = {
    {.name = "gx", .writes = TZ_WRITES(blur_x, smooth), TZ_PASS(blur_x)},
    {.name = "gy", .writes = TZ_WRITES(blur_y, half_smooth), TZ_PASS(blur_y)},
    {.name = "gz", .writes = TZ_WRITES(blur_z, smooth), TZ_PASS(blur_z)},
    {.name = "st", .writes = TENSOR(edges), TZ_PASS(edges)},
    {.name = "dt", .writes = TENSOR(conduct), TZ_PASS(conduct)},
    {.name = "pde", .writes = TZ_WRITES(diffuse, u), TZ_PASS(diffuse)},
};

STENCIL(diffusion, diffusion_fields, diffusion_params, diffuse, derive_diffusion,
        "Anisotropic nonlinear diffusion: takes noise out of a volume and keeps its edges.", "u",
        "gray", 0.0, 1.0)

TZ_PLUGIN_DEFINE("tabik", "1.0.0", "anisotropic diffusion of volumes, and its stages",
                 &diffusion_stencil, &gx_stencil, &gy_stencil, &gz_stencil, &st_stencil,
                 &fdd5_stencil, &fdd7_stencil)
