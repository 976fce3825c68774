/* A plugin that does not do what it declares: a SLIP_ macro selects how. Without one there is no
 * slip, although it divides by an integer that may be 0. */
#include <trapeze/plugin.h>
#ifdef SLIP_LEAVES
#include <unistd.h>
#endif
#ifdef SLIP_ENVIRONMENT
#include <fenv.h>
#endif

#define TZ_CELL_TEXT "slip.cell.h"
#define TZ_CELL_ID slip
#ifdef SLIP_DIMS
#define TZ_CELL_DIMS 3
#else
#define TZ_CELL_DIMS 2
#endif
#define TZ_CELL_RADIUS 1
#define TZ_CELL_REAL 1
#include <trapeze/rows.h>

#ifdef SLIP_ENVIRONMENT
/* As a start of a program that is linked with -ffast-math. */
__attribute__((constructor)) static void change_environment(void)
{
    fesetround(FE_TOWARDZERO);
}
#endif

static const tz_field fields[] = {
    TZ_STATE_FIELD("u", TZ_REAL, "", "what spreads"),
    TZ_STATE_FIELD("v", TZ_REAL, "", "what is counted"),
    TZ_STATIC_FIELD("f", TZ_REAL, "", "what is added"),
    TZ_STATIC_FIELD("n", TZ_INT, "", "what divides"),
};

#if defined SLIP_ROWS || defined SLIP_ROWS_CRASH || defined SLIP_UNKNOWN_ISA || defined SLIP_NO_BASE
/* Forms that are written by hand. */
static void other_rows(const tz_span *span)
{
#ifdef SLIP_ROWS_CRASH
    *(volatile float *)(span->count + 4) = 0.0f;
#endif
    slip_rows_base_single(span);
    for (int64_t i = 0; i < span->count; i++)
        ((float *)span->out[TZ_FIELD(slip, u)].at)[i] *= 1.0000001f;
}
static const tz_row_form forms[] = {
#if defined SLIP_ROWS || defined SLIP_ROWS_CRASH
    {"base", {other_rows, slip_rows_base_double}},
#elif defined SLIP_UNKNOWN_ISA
    {"abacus", {other_rows, slip_rows_base_double}},
    {"base", {slip_rows_base_single, slip_rows_base_double}},
#else
    {"x86-64-v3", {other_rows, slip_rows_base_double}},
#endif
};
static const tz_kernels other_kernels = {
    .forms_count = sizeof forms / sizeof *forms,
    .forms = forms,
    .cell = {slip_cell_any_single, slip_cell_any_double},
};
#define KERNELS .kernels = &other_kernels,
#elif defined SLIP_TOGETHER || defined SLIP_OLDER
/* The second of several slabs. */
static void other_together(const tz_span *span)
{
    enum { FIELDS = sizeof fields / sizeof *fields, WINDOW = 3 };
    tz_view in[FIELDS * WINDOW];
    tz_target out[FIELDS];
    tz_span one = *span;
    one.in = in;
    one.out = out;
    for (int s = 0; s < TZ_SLABS_TOGETHER; s++, one.y++) {
        for (int f = 0; f < FIELDS; f++) {
            for (int k = 0; k < WINDOW; k++)
                in[f * WINDOW + k] = span->in[f * (WINDOW + TZ_SLABS_TOGETHER - 1) + s + k];
            out[f] = span->out[f * TZ_SLABS_TOGETHER + s];
        }
        slip_rows_base_single(&one);
    }
    ((float *)span->out[TZ_FIELD(slip, u) * TZ_SLABS_TOGETHER + 1].at)[0] *= 1.0000001f;
}
static const tz_row_form forms[] = {{"base", {other_together, 0}}};
static const tz_kernels other_together_kernels = {.forms_count = 1, .forms = forms};
#define KERNELS .together = &other_together_kernels,
#elif defined SLIP_IN_PLACE
/* The last of several rows. */
static void other_in_place(const tz_span *span)
{
    const int last = slip_slabs - 1;
    slip_in_place_base_single(span);
    ((float *)span->out[TZ_FIELD(slip, u) * (last + 1) + last].at)[0] *= 1.0000001f;
}
static const tz_row_form forms[] = {{"base", {other_in_place, slip_in_place_base_double}}};
static const tz_kernels other_in_place_kernels = {.forms_count = 1, .forms = forms};
#define KERNELS .in_place = &other_in_place_kernels,
#elif defined SLIP_CELL_CRASH || defined SLIP_LEAVES
static void crash(const tz_cell_access *access)
{
#ifdef SLIP_LEAVES
    _exit(access->x > 0 ? 0 : 1);
#else
    *(volatile float *)(access->x + 4) = 0.0f;
#endif
}
static const tz_row_form forms[] = {{"base", {slip_rows_base_single, slip_rows_base_double}}};
static const tz_kernels other_kernels = {.forms_count = 1, .forms = forms, .cell = {crash, crash}};
#define KERNELS .kernels = &other_kernels,
#else
#define KERNELS
#endif

#ifdef SLIP_TEXT_CELL
#define TEXT_CELL .text_cell = "slop",
#else
#define TEXT_CELL
#endif

#ifdef SLIP_UNDECLARED
#define WRITES TZ_WRITES(slip, u)
#elif defined SLIP_TEXT_NAME
#define WRITES (TZ_WRITES(slip, u) | TZ_WRITES(slip, w))
#else
#define WRITES (TZ_WRITES(slip, u) | TZ_WRITES(slip, v))
#endif

#ifdef SLIP_TAKES
#define TAKES TZ_TAKES(slip, v, u),
#elif defined SLIP_TAKES_STATIC
#define TAKES TZ_TAKES(slip, v, f),
#else
#define TAKES
#endif

#pragma GCC diagnostic ignored "-Woverride-init" /* of a member that TZ_PASS() sets */
static const tz_pass passes[] = {
    {.name = "spread", .writes = WRITES, TAKES TZ_PASS(slip), TEXT_CELL KERNELS},
};

static const tz_constant constants[] = {
    {"share", TZ_REAL, 0}, {"rate", TZ_REAL, 0}, {"most", TZ_INT, 0}};

static int derive(tz_setup *setup)
{
    setup->constants[0] = 0.2;
#ifndef SLIP_CONSTANT_UNSET
    setup->constants[1] = 0.1;
#endif
    setup->constants[2] = 3;
    return 0;
}

#ifdef SLIP_OLDER
static int refuse_all(const tz_run_facts *facts)
{
    (void)facts;
    return TZ_REFUSED;
}
#endif

static const tz_stencil stencil = {
    TZ_STENCIL_HEADER,
#ifdef SLIP_OLDER /* as in ABI 2.0, which had no `together` and no check_run() */
    .passes_stride = offsetof(tz_pass, together),
    .struct_size = offsetof(tz_stencil, check_run),
    .check_run = refuse_all,
#endif
    .id = ID,
    .doc = "Test-only: spreads and counts.",
    .dims = 2,
    .fields_count = sizeof fields / sizeof *fields,
    .fields = fields,
    .constants_count = 3,
    .constants = constants,
    .passes_count = 1,
    .passes = passes,
    .boundaries = TZ_ALLOW(TZ_CLAMP),
    .boundary = TZ_CLAMP,
    .derive = derive,
};

TZ_PLUGIN_DEFINE(ID, "1.0.0", "test-only", &stencil)
