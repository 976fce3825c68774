#include "contract.h"
#include "sim/fields.h"
#include "sim/points.h"
#include "stencil/problem.h"
#include "tests/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Odd, prime and tiny extents, all orders of long and short; a few cells suffice to find a wrong
 * edge. Bit fields need rows of more than one word of 32 cells. */
static const int64_t sizes_1d[][TZ_AXES] = {
    {1, 1, 1},  {2, 1, 1},  {3, 1, 1},  {5, 1, 1},   {7, 1, 1},   {13, 1, 1},   {17, 1, 1},
    {33, 1, 1}, {40, 1, 1}, {64, 1, 1}, {129, 1, 1}, {257, 1, 1}, {1000, 1, 1}, {2049, 1, 1},
};
static const int64_t sizes_2d[][TZ_AXES] = {
    {1, 1, 1},   {1, 7, 1},  {7, 1, 1},  {2, 3, 1},    {3, 2, 1},   {5, 5, 1},
    {7, 17, 1},  {17, 7, 1}, {2, 33, 1}, {33, 2, 1},   {33, 17, 1}, {40, 33, 1},
    {17, 41, 1}, {1, 40, 1}, {40, 1, 1}, {129, 19, 1},
};
static const int64_t sizes_2d_bits[][TZ_AXES] = {
    {1, 1, 1},  {1, 7, 1},   {7, 1, 1},   {2, 3, 1},    {31, 5, 1},
    {32, 3, 1}, {33, 7, 1},  {63, 2, 1},  {64, 17, 1},  {65, 33, 1},
    {95, 9, 1}, {129, 5, 1}, {40, 33, 1}, {161, 17, 1}, {257, 40, 1},
};
static const int64_t sizes_3d[][TZ_AXES] = {
    {1, 1, 1},  {2, 1, 3},  {1, 5, 1},   {3, 2, 5},    {5, 3, 2},   {7, 5, 3},
    {5, 7, 17}, {17, 5, 7}, {7, 17, 5},  {17, 7, 1},   {1, 17, 7},  {33, 5, 3},
    {3, 33, 5}, {5, 3, 33}, {13, 11, 9}, {17, 17, 17}, {40, 29, 5},
};
static const int64_t sizes_3d_bits[][TZ_AXES] = {
    {1, 1, 1},  {2, 1, 3}, {31, 5, 1},  {33, 2, 5},  {32, 3, 2},   {65, 5, 3},
    {40, 7, 9}, {3, 9, 7}, {95, 3, 11}, {129, 9, 5}, {1100, 3, 4},
};
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

bool contract_has_bits(const tz_stencil *stencil)
{
    for (int f = 0; f < stencil->fields_count; f++)
        if (stencil->fields[f].type == TZ_BITS)
            return true;
    return false;
}

int contract_sizes(const contract *c, const int64_t (**sizes)[TZ_AXES])
{
    const bool bits = contract_has_bits(c->stencil);
    switch (c->stencil->dims) {
    case 1:
        *sizes = sizes_1d;
        return COUNT(sizes_1d);
    case 2:
        *sizes = bits ? sizes_2d_bits : sizes_2d;
        return bits ? COUNT(sizes_2d_bits) : COUNT(sizes_2d);
    default:
        *sizes = bits ? sizes_3d_bits : sizes_3d;
        return bits ? COUNT(sizes_3d_bits) : COUNT(sizes_3d);
    }
}

int contract_precisions(const contract *c, int precisions[TZ_PRECISIONS])
{
    if (!tz_stencil_has_real(c->stencil)) {
        precisions[0] = -1;
        return 1;
    }
    int count = 0;
    for (int p = 0; p < TZ_PRECISIONS; p++) {
        bool all = true;
        for (int i = 0; i < c->stencil->passes_count; i++)
            all = all && c->stencil->passes[i].kernels->cell[p];
        if (all)
            precisions[count++] = p;
    }
    return count;
}

int contract_storages(const contract *c, int precisions[TZ_PRECISIONS + 1])
{
    int count = contract_precisions(c, precisions);
    if (precisions[0] == TZ_SINGLE)
        precisions[count++] = CONTRACT_HALF;
    return count;
}

int contract_boundaries(const contract *c, tz_boundary boundaries[][TZ_AXES][2])
{
    tz_boundary allowed[TZ_BOUNDARIES], open[TZ_BOUNDARIES]; /* open: they do not wrap */
    int n = 0, open_count = 0, count = 0;
    for (int b = 0; b < TZ_BOUNDARIES; b++)
        if (c->stencil->boundaries & TZ_ALLOW(b)) {
            allowed[n++] = (tz_boundary)b;
            if (!tz_boundary_wraps((tz_boundary)b))
                open[open_count++] = (tz_boundary)b;
        }
    for (int i = 0; i < n; i++, count++)
        for (int side = 0; side < TZ_SIDES; side++)
            boundaries[count][side / 2][side % 2] = allowed[i];
    if (c->stencil->dims > 1 && n > 1)
        for (int i = 0; i < n; i++, count++)
            for (int side = 0; side < TZ_SIDES; side++)
                boundaries[count][side / 2][side % 2] = allowed[(i + side / 2) % n];
    /* Opposite sides differ. So that each rule meets each on some side, axes begin elsewhere. */
    if (open_count > 1)
        for (int i = 0; i < open_count; i++, count++)
            for (int side = 0; side < TZ_SIDES; side++)
                boundaries[count][side / 2][side % 2] =
                    open[(i + side / 2 * (side / 2 + 1) / 2 + side % 2) % open_count];
    return count;
}

void contract_surround(contract_case *k, tz_boundary boundary)
{
    for (int side = 0; side < TZ_SIDES; side++)
        k->boundary[side / 2][side % 2] = boundary;
}

int contract_isas(const char *isas[TZ_ISA_COUNT])
{
    int count = 0;
    for (; count <= (int)tz_machine_isa(); count++)
        isas[count] = tz_isa_name((tz_isa)count);
    return count;
}

const char *contract_case_text(const contract *c, const contract_case *k, char *text, size_t size)
{
    char names[80] = "", grid[80] = "", sides[TZ_BOUNDARY_TEXT_SIZE];
    for (int axis = 0; axis < c->stencil->dims; axis++) {
        const size_t a = strlen(names), b = strlen(grid);
        snprintf(names + a, sizeof names - a, "%s%s", axis > 0 ? "," : "",
                 tz_boundary_text(k->boundary[axis], sides));
        snprintf(grid + b, sizeof grid - b, "%s%lld", axis > 0 ? "x" : "",
                 (long long)k->extent[axis]);
    }
    const char *precision = k->precision == TZ_SINGLE       ? "single"
                            : k->precision == TZ_DOUBLE     ? "double"
                            : k->precision == CONTRACT_HALF ? "half"
                                                            : "none";
    snprintf(text, size, "boundary %s precision %s grid %s", names, precision, grid);
    if (k->devices || k->mixed || k->points) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s%s%s", k->mixed ? " mixed" : "",
                 k->points ? " points" : "", k->devices ? " devices " : "",
                 k->devices ? k->devices : "");
    }
    if (k->assignment) {
        const size_t used = strlen(text);
        if (k->assignment->text)
            snprintf(text + used, size - used, " %s = '%s'", k->assignment->name,
                     k->assignment->text);
        else
            snprintf(text + used, size - used, " %s = %g", k->assignment->name,
                     k->assignment->number);
    }
    return text;
}

tz_random contract_values(const tz_field *field, uint64_t seed)
{
    /* Around the value that the plugin itself starts from: what is sane there stays finite. */
    tz_random random = {.seed = seed, .density = 0.4};
    if (field->type == TZ_REAL) {
        random.low = field->initial - 1.0;
        random.high = field->initial + 1.0;
    } else {
        random.high = 9.0;
    }
    return random;
}

static tz_status fill_fields(const contract *c, const contract_case *k, tz_simulation *sim,
                             tz_error *error)
{
    for (int f = 0; f < c->stencil->fields_count; f++) {
        const tz_field *field = &c->stencil->fields[f];
        const tz_random random = contract_values(field, k->seed + 1000u * (uint64_t)f);
        tz_status status;
        if (field->role == TZ_STREAMED)
            status = tz_simulation_streamed_random(sim, f, &random, error);
        else if (field->role == TZ_STATIC && k->constant_statics)
            status = tz_simulation_fill(sim, f, NULL, field->type == TZ_REAL ? 0.75 : 1.0, error);
        else
            status = tz_simulation_fill_random(sim, f, NULL, &random, error);
        if (status != TZ_OK)
            return status;
    }
    return TZ_OK;
}

/* Of small numbers that depend on the step. */
static double give_value(const void *context, const tz_value *params, int64_t step, double time)
{
    (void)context;
    (void)params;
    (void)time;
    return (double)((step * 37 + 11) % 23 - 9) / 512;
}

/* Points near all sides and in the middle: on cells, or between them. No two are the same. */
static size_t list_points(const contract *c, const contract_case *k, bool between, double *at)
{
    static const double shares[] = {0, 1, 0.5, 0.31, 0.77, 0.05, 0.93};
    const size_t dims = (size_t)c->stencil->dims;
    size_t count = 0;
    for (size_t i = 0; i < COUNT(shares); i++) {
        bool known = false;
        for (size_t axis = 0; axis < dims; axis++) {
            const double last = (double)(k->extent[axis] - 1);
            const double x = shares[(i * (axis + 1) + axis) % COUNT(shares)] * last;
            at[count * dims + axis] = between ? x : floor(x);
        }
        for (size_t j = 0; j < count; j++)
            known = known || memcmp(&at[j * dims], &at[count * dims], dims * sizeof *at) == 0;
        count += !known;
    }
    return count;
}

/* A state field that iterations write, or one that is computed from such fields. */
static bool is_recorded(const tz_stencil *stencil, int field)
{
    const uint32_t sources = tz_stencil_sources(stencil, UINT32_C(1) << field);
    for (int p = 0; p < stencil->passes_count; p++)
        if (stencil->passes[p].writes & sources)
            return true;
    return false;
}

bool contract_serves_points(const contract *c)
{
    if (strcmp(c->backend, "cuda") != 0 || !c->family)
        return true;
    return strcmp(c->family, "direct") == 0 ||
           (strcmp(c->family, "stream") == 0 && c->stencil->dims > 1);
}

static tz_status add_points(const contract *c, const contract_case *k, tz_simulation *sim,
                            tz_error *error)
{
    double at[COUNT(sizes_1d) * TZ_AXES];
    tz_status status = TZ_OK;
    for (int f = 0; f < tz_stencil_fields_all(c->stencil) && !status; f++)
        for (int how = 0; how < 3 && !status; how++) {
            const tz_points_config points = {.field = f,
                                             .count = list_points(c, k, how > 0, at),
                                             .at = at,
                                             .interpolation = (tz_interpolation)how};
            tz_receivers *receivers;
            if (!is_recorded(c->stencil, f))
                continue;
            if (f < c->stencil->fields_count && c->stencil->fields[f].type == TZ_REAL &&
                (k->seed + (uint64_t)f) % 4 != 0) {
                const tz_source_config source = {.scale = how + 1, .value = give_value};
                status = tz_simulation_add_sources(sim, &points, &source, error);
            }
            if (!status)
                status = tz_simulation_add_receivers(sim, &points, 1 + how, &receivers, error);
        }
    return status;
}

size_t contract_scalars(const tz_stencil *stencil, tz_series scalars[TZ_CONSTANTS_MAX])
{
    static const double values[] = {1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0};
    size_t count = 0;
    for (int k = 0; k < stencil->constants_count && !stencil->at_step; k++)
        if (stencil->constants[k].varies)
            scalars[count++] = (tz_series){
                .name = stencil->constants[k].name, .count = COUNT(values), .values = values};
    return count;
}

tz_status contract_create(const contract *c, const contract_case *k, const char *backend,
                          int threads, const char *isa, tz_simulation **out, tz_error *error)
{
    const tz_stencil *stencil = c->stencil;
    tz_side_value outside[TZ_FIELDS_MAX * TZ_SIDES];
    char names[TZ_AXES][TZ_BOUNDARY_TEXT_SIZE];
    size_t outside_count = 0;
    const bool half = k->precision == CONTRACT_HALF, moves = k->seed % 2;
    const tz_storage_wish storage = {
        .as = TZ_STORED_HALF, .origin = moves ? 0.3125 : NAN, .scale = moves ? 0.125 : 1};
    for (int f = 0; k->other_outside && f < stencil->fields_count; f++) {
        const tz_field *field = &stencil->fields[f];
        for (int side = 0; side < TZ_SIDES; side++)
            if (field->role == TZ_STATE || field->role == TZ_STATIC)
                outside[outside_count++] = (tz_side_value){
                    .field = field->name,
                    .sides = 1u << side,
                    .value = field->type == TZ_REAL  ? 0.375 - f - 0.125 * side
                             : field->type == TZ_INT ? 1.0 + side
                                                     : (f + side + side / 3) % 2 == 0};
    }
    tz_simulation_config config = {.registry = c->registry,
                                   .stencil = stencil->id,
                                   .dims = stencil->dims,
                                   .precision = half ? TZ_SINGLE : k->precision,
                                   .storage_count = half,
                                   .storage = &storage,
                                   .boundary_values_count = outside_count,
                                   .boundary_values = outside,
                                   .params_count = k->assignment ? 1 : 0,
                                   .params = k->assignment,
                                   .backend = backend,
                                   .devices = k->devices,
                                   .mixed = k->mixed,
                                   .threads = threads};
    for (int axis = 0; axis < TZ_AXES; axis++) {
        config.extent[axis] = k->extent[axis];
        if (axis < stencil->dims)
            config.boundary[axis] = tz_boundary_text(k->boundary[axis], names[axis]);
    }
    tz_series scalars[TZ_CONSTANTS_MAX];
    config.scalars_count = contract_scalars(stencil, scalars);
    config.scalars = scalars;
    if (isa)
        setenv("TZ_ISA", isa, 1);
    tz_status status = tz_simulation_create(out, &config, error);
    if (isa)
        unsetenv("TZ_ISA");
    if (status != TZ_OK)
        return status;
    status = fill_fields(c, k, *out, error);
    if (!status && k->points)
        status = add_points(c, k, *out, error);
    if (status != TZ_OK) {
        tz_simulation_destroy(*out);
        *out = NULL;
    }
    return status;
}

tz_status contract_run(tz_simulation *sim, int64_t steps, tz_error *error)
{
    const tz_run run = {.steps = steps, .until_residual = NAN, .unchecked = true};
    tz_run_result result;
    return run_simulation(sim, &run, &result, error);
}

/* ---- What a run leaves ----------------------------------------------------------------------- */

bool contract_is_state(const contract *c, int field)
{
    return c->stencil->fields[field].role == TZ_STATE;
}

tz_status contract_read(const contract *c, tz_simulation *sim, contract_cells *cells,
                        tz_error *error)
{
    tz_status status = TZ_OK;
    memset(cells, 0, sizeof *cells);
    for (int f = 0; f < c->stencil->fields_count && !status; f++) {
        if (!contract_is_state(c, f))
            continue;
        status = tz_simulation_read_array(sim, f, &cells->at[f], error);
        if (!status)
            status = tz_simulation_reduce(sim, f, &cells->reduction[f], error);
    }
    if (!status)
        status = tz_simulation_receive(sim, error);
    tz_receivers *r;
    for (size_t i = 0; !status && (r = tz_simulation_receivers(sim, i)); i++) {
        const tz_received got = tz_receivers_get(r);
        const size_t more = got.count * (size_t)got.rows;
        cells->received =
            realloc(cells->received, (cells->received_count + more + 1) * sizeof(double));
        if (more)
            if (more > 0)
                memcpy(cells->received + cells->received_count, got.values, more * sizeof(double));
        cells->received_count += more;
        tz_receivers_drop(r, got.rows);
    }
    return status;
}

void contract_cells_clear(contract_cells *cells)
{
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        tz_array_destroy(cells->at[f]);
    free(cells->received);
    memset(cells, 0, sizeof *cells);
}

void contract_print_hashes(const contract *c, const char *what, const tz_reduction *reductions)
{
    for (int f = 0; c->hashes && f < c->stencil->fields_count; f++)
        if (contract_is_state(c, f))
            printf("hash %s %s, %s: %016" PRIx64 " sum %a\n", c->stencil->id, what,
                   c->stencil->fields[f].name, reductions[f].hash, reductions[f].sum);
}

bool contract_same_number(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

bool contract_same_reduction(const tz_reduction *a, const tz_reduction *b)
{
    return a->hash == b->hash && contract_same_number(a->min, b->min) &&
           contract_same_number(a->max, b->max) && contract_same_number(a->sum, b->sum) &&
           a->population == b->population;
}

static void compare_field(contract *c, const contract_case *k, const char *what, int field,
                          const tz_array *got, const tz_array *want)
{
    const size_t size = tz_dtype_size(want->dtype);
    const int64_t *n = k->extent;
    int64_t first = -1, count = 0;
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++)
        if (memcmp((const char *)got->data + (size_t)i * size,
                   (const char *)want->data + (size_t)i * size, size) != 0) {
            first = first < 0 ? i : first;
            count++;
        }
    if (count > 0)
        contract_fail(c,
                      "%s: %" PRId64 " cells of '%s' differ, first (%" PRId64 ", %" PRId64
                      ", %" PRId64 "): %.17g (%a) instead of %.17g (%a)",
                      what, count, c->stencil->fields[field].name, first % n[0],
                      first / n[0] % n[1], first / n[0] / n[1], tz_array_get(got, first),
                      tz_array_get(got, first), tz_array_get(want, first),
                      tz_array_get(want, first));
}

void contract_compare(contract *c, const contract_case *k, const char *what,
                      const contract_cells *got, const contract_cells *want)
{
    for (int f = 0; f < c->stencil->fields_count; f++) {
        if (!contract_is_state(c, f))
            continue;
        const int failures = c->failures;
        compare_field(c, k, what, f, got->at[f], want->at[f]);
        if (c->failures == failures &&
            !contract_same_reduction(&got->reduction[f], &want->reduction[f]))
            contract_fail(c,
                          "%s: the same cells of '%s' reduce to another hash, min, max, sum or "
                          "population",
                          what, c->stencil->fields[f].name);
    }
    if (got->received_count != want->received_count) {
        contract_fail(c, "%s: %zu values received instead of %zu", what, got->received_count,
                      want->received_count);
        return;
    }
    for (size_t i = 0; i < got->received_count; i++)
        if (!contract_same_number(got->received[i], want->received[i])) {
            contract_fail(c, "%s: received value %zu is %.17g instead of %.17g", what, i,
                          got->received[i], want->received[i]);
            return;
        }
}
