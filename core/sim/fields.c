/* Checks boxes and values, then reads, fills and reduces fields through pieces.c, derived.c or the
 * backend. Called by core/lua for scripts and by core/output for frames. */
#include "sim/fields.h"

#include "backend/slabs/slabs.h"
#include "base/minmax.h"
#include "sim/points.h"
#include "sim/state.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static tz_status check_inside(const tz_problem *problem, int field, const tz_box *box,
                              tz_error *error)
{
    const tz_field *description = &problem->stencil->fields[field];
    for (int d = 0; d < TZ_AXES; d++)
        if (box->low[d] < 0 || box->high[d] > problem->extent[d] || box->low[d] >= box->high[d])
            return tz_error_set(error, TZ_RANGE, description->name,
                                "%" PRId64 " to %" PRId64 " along %c is not inside the grid's 0 "
                                "to %" PRId64,
                                box->low[d], box->high[d], "xyz"[d], problem -> extent[d]);
    return TZ_OK;
}

static tz_status check_box(const tz_simulation *simulation, int field, const tz_box *box,
                           tz_error *error)
{
    const tz_field *description = &simulation->problem.stencil->fields[field];
    tz_status status = tz__simulation_need_fields(simulation, error);
    if (status)
        return status;
    if (description->role == TZ_STREAMED)
        return tz_error_set(error, TZ_UNSUPPORTED, description->name,
                            "a streamed field has one slab an iteration, not cells: give it an "
                            "array of slabs or a generator");
    return check_inside(&simulation->problem, field, box, error);
}

/* A box that is to be written. */
static tz_status check_target(const tz_simulation *simulation, int field, const tz_box *box,
                              tz_error *error)
{
    const tz_field *description = &simulation->problem.stencil->fields[field];
    if (description->role == TZ_DERIVED)
        return tz_error_set(error, TZ_UNSUPPORTED, description->name,
                            "the field is derived: it is computed from others and cannot be set");
    return check_box(simulation, field, box, error);
}

static tz_box whole(const tz_problem *problem)
{
    tz_box box = {{0}, {0}};
    memcpy(box.high, problem->extent, sizeof box.high);
    return box;
}

static tz_status check_value(const tz_problem *problem, int field, double value, int64_t x,
                             int64_t y, int64_t z, const char *place, tz_error *error)
{
    const char *fault = tz_problem_fault(problem, field, value);
    if (!fault)
        return TZ_OK;
    return tz_error_set(error, isfinite(value) ? TZ_TYPE : TZ_RANGE,
                        place ? place : problem->stencil->fields[field].name,
                        "the value at cell (%" PRId64 ", %" PRId64 ", %" PRId64
                        ") is %.10g; it %s: field '%s' is of type %s",
                        x, y, z, value, fault, problem->stencil->fields[field].name,
                        tz_type_name(problem->stencil->fields[field].type));
}

static void constant_values(const void *value, int64_t i, int64_t cell, int64_t count,
                            double *values)
{
    (void)i;
    (void)cell;
    for (int64_t k = 0; k < count; k++)
        values[k] = *(const double *)value;
}

static void array_values(const void *array, int64_t i, int64_t cell, int64_t count, double *values)
{
    (void)cell;
    tz_array_values(array, i, count, values);
}

tz_status tz_simulation_check_value(const tz_simulation *simulation, int field, double value,
                                    tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    const char *fault = tz_problem_fault(problem, field, value);
    if (!fault)
        return TZ_OK;
    return tz_error_set(error, isfinite(value) ? TZ_TYPE : TZ_RANGE,
                        problem->stencil->fields[field].name,
                        "the value is %.10g; it %s: the field is of type %s", value, fault,
                        tz_type_name(problem->stencil->fields[field].type));
}

tz_status tz_simulation_fill(tz_simulation *simulation, int field, const tz_box *box, double value,
                             tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    const tz_box all = whole(problem);
    tz_status status = check_target(simulation, field, box ? box : &all, error);
    if (!status)
        status = tz_simulation_check_value(simulation, field, value, error);
    if (status)
        return status;
    if (!box || memcmp(box, &all, sizeof all) == 0) {
        uint64_t element = 0;
        tz_problem_element(problem, field, value, &element);
        status = tz__points_before_write(simulation, field, error);
        if (status)
            return status;
        tz__simulation_field_changes(simulation, field);
        return simulation->backend->fill(simulation->state, field, &element, error);
    }
    return tz__cells_write(simulation, field, box, constant_values, &value, error);
}

/* The box of an array whose first element is at a cell. */
static tz_box box_at(const tz_problem *problem, const int64_t *at, const int64_t *shape)
{
    tz_box box;
    for (int d = 0; d < TZ_AXES; d++) {
        box.low[d] = d < problem->dims ? at[d] : 0;
        if (__builtin_add_overflow(box.low[d], shape[d], &box.high[d]))
            box.high[d] = INT64_MAX; /* outside the grid as well */
    }
    return box;
}

/* Check the numbers of an array that fills a box. */
static tz_status check_numbers(const tz_problem *problem, int field, const tz_array *array,
                               const tz_box *box, const char *place, tz_error *error)
{
    enum { BLOCK = 1024 };
    const int64_t nx = box->high[0] - box->low[0], ny = box->high[1] - box->low[1];
    const int64_t count = tz_shape_count(array->dims, array->shape);
    double values[BLOCK];
    for (int64_t i = 0; i < count; i += BLOCK) {
        const int64_t n = count - i < BLOCK ? count - i : BLOCK;
        tz_array_values(array, i, n, values);
        for (int64_t k = 0; k < n; k++)
            if (tz_problem_fault(problem, field, values[k]))
                return check_value(problem, field, values[k], box->low[0] + (i + k) % nx,
                                   box->low[1] + (i + k) / nx % ny, box->low[2] + (i + k) / nx / ny,
                                   place, error);
    }
    return TZ_OK;
}

/* All values are checked before the first is stored: a refused write changes nothing. */
static tz_status write_checked(tz_simulation *simulation, int field, const tz_box *box,
                               const tz_array *array, const char *place, tz_error *error)
{
    tz_status status = check_target(simulation, field, box, error);
    if (!status)
        status = check_numbers(&simulation->problem, field, array, box, place, error);
    return status ? status : tz__cells_write(simulation, field, box, array_values, array, error);
}

tz_status tz_simulation_write(tz_simulation *simulation, int field, const tz_box *box,
                              const double *values, const char *place, tz_error *error)
{
    const tz_box all = whole(&simulation->problem);
    tz_array array = {.dtype = TZ_DTYPE_F64, .dims = TZ_AXES, .data = (void *)values};
    box = box ? box : &all;
    for (int d = 0; d < TZ_AXES; d++)
        array.shape[d] = box->high[d] - box->low[d];
    return write_checked(simulation, field, box, &array, place, error);
}

tz_status tz_simulation_check_array(const tz_simulation *simulation, int field,
                                    const tz_array *array, const int64_t *at, const char *place,
                                    tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    const tz_box box = box_at(problem, at, array->shape);
    const tz_status status = check_inside(problem, field, &box, error);
    return status ? status : check_numbers(problem, field, array, &box, place, error);
}

tz_status tz_simulation_write_array(tz_simulation *simulation, int field, const tz_array *array,
                                    const int64_t *at, const char *place, tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    const tz_field *description = &problem->stencil->fields[field];
    const int64_t count = tz_shape_count(array->dims, array->shape);
    tz_box box = whole(problem);
    if (at) {
        box = box_at(problem, at, array->shape);
    } else if (memcmp(array->shape, problem->extent, sizeof array->shape) != 0 &&
               !(array->dims == 1 && count == tz_shape_count(TZ_AXES, problem->extent))) {
        return tz_error_set(error, TZ_SHAPE, place ? place : description->name,
                            "the array is %" PRId64 " x %" PRId64 " x %" PRId64
                            ", the grid %" PRId64 " x %" PRId64 " x %" PRId64
                            " (nx, ny, nz): make them the same",
                            array->shape[0], array->shape[1], array->shape[2], problem->extent[0],
                            problem->extent[1], problem->extent[2]);
    }
    return write_checked(simulation, field, &box, array, place, error);
}

/* Elements as doubles (tz_problem_to_values), or as cells (tz_problem_to_cells). */
typedef void convert_fn(const tz_problem *problem, int field, const void *elements, int64_t count,
                        void *out);

static void to_doubles(const tz_problem *problem, int field, const void *elements, int64_t count,
                       void *out)
{
    double *values = out;
    if (!problem->bits)
        tz_problem_to_values(problem, field, elements, count, values);
    for (int64_t i = 0; problem->bits && i < count; i++)
        values[i] = ((const uint8_t *)elements)[i];
}

/* Reads values of a box in pieces, each of `size` bytes; of bits a row at a time, at most. */
static tz_status read_values(const tz_simulation *simulation, int field, const tz_box *box,
                             convert_fn *convert, size_t size, void *values, tz_error *error)
{
    enum { CELLS = 1 << 18 };
    const tz_problem *problem = &simulation->problem;
    const int64_t cells =
        (box->high[0] - box->low[0]) * (box->high[1] - box->low[1]) * (box->high[2] - box->low[2]);
    tz_box_parts p = {.whole = *box, .most = CELLS};
    void *elements = malloc((size_t)tz_min(cells, CELLS) * tz_problem_element_size(problem, field));
    if (!elements)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for rows of cells");
    tz_status status = TZ_OK;
    for (char *to = values; !status && tz_box_next(&p); to += (size_t)p.count * size) {
        status = problem->bits ? tz__cells_read_bits(simulation, field, &p.part, elements, error)
                               : tz__field_load(simulation, field, &p.part, elements, error);
        if (!status)
            convert(problem, field, elements, p.count, to);
    }
    free(elements);
    return status;
}

tz_status tz_simulation_read(const tz_simulation *simulation, int field, const tz_box *box,
                             double *values, tz_error *error)
{
    const tz_box all = whole(&simulation->problem);
    box = box ? box : &all;
    const tz_status status = check_box(simulation, field, box, error);
    return status ? status
                  : read_values(simulation, field, box, to_doubles, sizeof *values, values, error);
}

tz_dtype tz_simulation_dtype(const tz_simulation *simulation, int field)
{
    return tz_problem_value_dtype(&simulation->problem, field);
}

tz_status tz_simulation_read_cells(const tz_simulation *simulation, int field, const tz_box *box,
                                   void *cells, tz_error *error)
{
    const tz_box all = whole(&simulation->problem);
    box = box ? box : &all;
    tz_status status = check_box(simulation, field, box, error);
    if (status)
        return status;
    if (simulation->problem.bits)
        return tz__cells_read_bits(simulation, field, box, cells, error);
    if (!tz_problem_values_are_elements(&simulation->problem, field))
        return read_values(simulation, field, box, tz_problem_to_cells,
                           tz_dtype_size(tz_simulation_dtype(simulation, field)), cells, error);
    return tz__field_load(simulation, field, box, cells, error);
}

tz_status tz_simulation_memory(const tz_simulation *simulation, int field, tz_field_memory *out,
                               tz_error *error)
{
    const tz_field *about = &simulation->problem.stencil->fields[field];
    const tz_backend *backend = simulation->backend;
    if (tz__is_derived(simulation, field) || about->role == TZ_STREAMED)
        return tz_error_set(error, TZ_UNSUPPORTED, about->name, "a %s field has no memory",
                            tz_role_name(about->role));
    if (!backend->memory || simulation->dry)
        return tz_error_set(error, TZ_UNSUPPORTED, about->name,
                            "several devices or processes hold the field");
    const tz_status status = backend->wait ? backend->wait(simulation->state, error) : TZ_OK;
    if (!status)
        *out = backend->memory(simulation->state, field);
    return status;
}

tz_field_elements tz_simulation_elements(const tz_simulation *simulation, int field)
{
    const tz_problem *problem = &simulation->problem;
    const tz_storage *storage = &problem->storage[field];
    tz_field_elements e = {.dtype = tz_dtype_code(tz_problem_dtype(problem, field)),
                           .scale = 1,
                           .add = tz_simulation_origin(simulation, field),
                           .plain = tz_problem_values_are_elements(problem, field)};
    memcpy(e.extent, problem->elements, sizeof e.extent);
    if (storage->as == TZ_STORED_HALF) {
        e.dtype = "f2";
        e.scale = storage->scale;
        e.add += storage->add;
        e.plain = false;
    }
    if (problem->bits) {
        e.dtype = "u4";
        e.plain = false;
    }
    return e;
}

bool tz_simulation_is_parted(const tz_simulation *simulation, int field)
{
    return simulation->backend == &simulation->slabs && !tz__is_derived(simulation, field) &&
           tz_slabs_have_parts(simulation->state);
}

tz_status tz_simulation_write_file(const tz_simulation *simulation, int field, const char *path,
                                   int64_t offset, tz_error *error)
{
    uint64_t ignored;
    if (!tz_simulation_is_parted(simulation, field))
        return TZ_UNSUPPORTED;
    return tz_slabs_save(simulation->state, field, true, path, offset, &ignored, error);
}

tz_status tz_simulation_shrink(const tz_simulation *simulation, int field, int64_t z, int nx,
                               int ny, double *values, tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    tz_box box = whole(problem);
    box.low[2] = z;
    box.high[2] = z + 1;
    if (!simulation->backend->shrink || tz__is_derived(simulation, field))
        return TZ_UNSUPPORTED;
    tz_status status = check_box(simulation, field, &box, error);
    if (status)
        return status;
    if (nx < 1 || nx > problem->extent[0] || ny < 1 || ny > problem->extent[1])
        return tz_error_set(error, TZ_RANGE, problem->stencil->fields[field].name,
                            "a plane of %" PRId64 " x %" PRId64
                            " cells cannot be averaged down to %d x %d values",
                            problem->extent[0], problem->extent[1], nx, ny);
    status = simulation->backend->shrink(simulation->state, field, z, nx, ny, values, error);
    const double origin = problem->origin[field];
    for (int64_t i = 0; !status && origin != 0.0 && i < (int64_t)nx * ny; i++)
        values[i] += origin;
    return status;
}

tz_status tz_simulation_read_array(const tz_simulation *simulation, int field, tz_array **out,
                                   tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    tz_array *array;
    *out = NULL;
    tz_status status = tz_array_create(&array, tz_problem_value_dtype(problem, field),
                                       problem->dims, problem->extent, error);
    if (status)
        return status;
    status = tz_simulation_read_cells(simulation, field, NULL, array->data, error);
    if (status)
        tz_array_destroy(array);
    else
        *out = array;
    return status;
}

/* ---- Random numbers, streamed fields --------------------------------------------------------- */

tz_status tz_simulation_check_random(const tz_simulation *simulation, int field,
                                     const tz_random *random, tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    const tz_field *description = &problem->stencil->fields[field];
    if (tz_type_is_bits(description->type))
        return random->density >= 0.0 && random->density <= 1.0
                   ? TZ_OK
                   : tz_error_set(error, TZ_RANGE, description->name,
                                  "a random density of %g; it must be 0 to 1", random->density);
    const char *fault = tz_problem_fault(problem, field, random->low);
    fault = fault ? fault : tz_problem_fault(problem, field, random->high);
    if (fault || random->low > random->high)
        return tz_error_set(error, TZ_RANGE, description->name,
                            "a random range from %.10g to %.10g: a bound %s", random->low,
                            random->high, fault ? fault : "must not be above the other");
    return TZ_OK;
}

static double random_value(const tz_problem *problem, int field, const tz_random *random,
                           int64_t index)
{
    const uint64_t bits = tz_random_bits(random->seed, 0, index);
    const double unit = (double)(bits >> 11) * 0x1p-53;
    switch (tz_type_kind(problem->stencil->fields[field].type)) {
    case TZ_KIND_INTEGERS:
        return tz_random_int(random, 0, index);
    case TZ_KIND_WORDS:
        return unit < random->density;
    case TZ_KIND_REALS:
        break;
    }
    return random->low + unit * (random->high - random->low);
}

typedef struct random_context {
    const tz_problem *problem;
    int field;
    const tz_random *random;
} random_context;

static void random_values(const void *context, int64_t i, int64_t cell, int64_t count,
                          double *values)
{
    (void)i;
    const random_context *c = context;
    for (int64_t k = 0; k < count; k++)
        values[k] = random_value(c->problem, c->field, c->random, cell + k);
}

tz_status tz_simulation_fill_random(tz_simulation *simulation, int field, const tz_box *box,
                                    const tz_random *random, tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    const tz_box all = whole(problem);
    box = box ? box : &all;
    tz_status status = check_target(simulation, field, box, error);
    if (!status)
        status = tz_simulation_check_random(simulation, field, random, error);
    const random_context context = {problem, field, random};
    return status ? status
                  : tz__cells_write(simulation, field, box, random_values, &context, error);
}

static tz_status set_streamed(tz_simulation *simulation, int field,
                              const tz_streamed_source *source, tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    if (problem->stencil->fields[field].role != TZ_STREAMED)
        return tz_error_set(error, TZ_UNSUPPORTED, problem->stencil->fields[field].name,
                            "the field is not streamed");
    const uint64_t generation = simulation->streamed[field].generation + 1;
    simulation->streamed[field] = *source;
    simulation->streamed[field].generation = generation;
    simulation->streamed[field].cells = problem->extent[0];
    simulation->streamed[field].boundary = problem->boundary[0][0];
    simulation->streamed_pointers[field] = &simulation->streamed[field];
    return TZ_OK;
}

tz_status tz_simulation_streamed_array(tz_simulation *simulation, int field, const int32_t *data,
                                       int64_t slabs, tz_error *error)
{
    if (slabs < 1)
        return tz_error_set(error, TZ_RANGE, NULL, "a streamed field needs one slab or more");
    const tz_streamed_source source = {.data = data, .slabs = slabs};
    return set_streamed(simulation, field, &source, error);
}

tz_status tz_simulation_streamed_random(tz_simulation *simulation, int field,
                                        const tz_random *random, tz_error *error)
{
    tz_status status = tz_simulation_check_random(simulation, field, random, error);
    if (status)
        return status;
    const tz_streamed_source source = {.slabs = -1, .random = *random};
    return set_streamed(simulation, field, &source, error);
}

int64_t tz_simulation_streamed_slabs(const tz_simulation *simulation, int field)
{
    return simulation->streamed_pointers[field] ? simulation->streamed[field].slabs : 0;
}

tz_status tz_simulation_streamed_read(const tz_simulation *simulation, int field, int64_t step,
                                      int64_t x, int64_t count, double *values, tz_error *error)
{
    const tz_streamed_source *source = simulation->streamed_pointers[field];
    if (!source || step < 0 || (source->slabs >= 0 && step >= source->slabs) || x < 0 ||
        count < 1 || x + count > source->cells)
        return tz_error_set(error, TZ_RANGE, simulation->problem.stencil->fields[field].name,
                            "cells %" PRId64 " to %" PRId64 " of slab %" PRId64 " do not exist", x,
                            x + count, step);
    enum { PIECE_CELLS = 1 << 16 };
    const size_t room = count < PIECE_CELLS ? (size_t)count : PIECE_CELLS;
    int32_t *scratch = malloc(room * sizeof *scratch); /* a small block costs little time */
    if (!scratch)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a slab");
    for (int64_t done = 0, part; done < count; done += part) {
        part = count - done < PIECE_CELLS ? count - done : PIECE_CELLS;
        const int32_t *row = tz_streamed_source_row(source, step, x + done, part, scratch);
        for (int64_t i = 0; i < part; i++)
            values[done + i] = row[i];
    }
    free(scratch);
    return TZ_OK;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

void tz_precise_add(tz_precise_sum *s, double value)
{
    const double next = s->sum + value;
    s->lost += fabs(s->sum) >= fabs(value) ? (s->sum - next) + value : (value - next) + s->sum;
    s->sum = next;
}

double tz_precise_result(const tz_precise_sum *s)
{
    /* Infinities and NaN make `lost` NaN. */
    return isfinite(s->sum) ? s->sum + s->lost : s->sum;
}

int tz_simulation_domain_of(const tz_simulation *simulation, int field)
{
    const int domain = tz_stencil_domain(simulation->problem.stencil);
    return domain == field ? -1 : domain;
}

/* Values that count come first, in their order. `at`: the piece's first cell in the region's box.
 * Returns how many. `masks`: of fields; NULL: there is none. */
static int64_t select_cells(const tz_region *region, double *values, double *const masks[2],
                            int64_t count, int64_t at)
{
    int64_t kept = 0;
    if (!masks[0] && !masks[1] && !region->mask)
        return count;
    for (int64_t i = 0; i < count; i++)
        if ((!masks[0] || masks[0][i] != 0) && (!masks[1] || masks[1][i] != 0) &&
            (!region->mask || tz_array_get(region->mask, at + i) != 0))
            values[kept++] = values[i];
    return kept;
}

tz_status tz_simulation_each_cell(const tz_simulation *simulation, int field,
                                  const tz_region *region, tz_take_cells *take, void *context,
                                  tz_error *error)
{
    /* A row of bits is read whole for each piece of it: at most 32 pieces. */
    const int64_t most = tz_max(1 << 16, simulation->problem.extent[0] / 32 + 1);
    const int masks[] = {region->mask_field, tz_simulation_domain_of(simulation, field)};
    tz_box_parts p = {.whole = region->box, .most = most};
    double *values = malloc(3 * (size_t)most * sizeof *values), *given[2] = {NULL, NULL};
    tz_status status =
        values ? TZ_OK : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for cells");
    for (int k = 0; k < 2; k++)
        given[k] = values && masks[k] >= 0 ? values + (k + 1) * most : NULL;
    while (!status && tz_box_next(&p)) {
        status = tz_simulation_read(simulation, field, &p.part, values, error);
        for (int k = 0; k < 2 && !status; k++)
            if (given[k])
                status = tz_simulation_read(simulation, masks[k], &p.part, given[k], error);
        if (!status)
            take(context, values, select_cells(region, values, given, p.count, p.first));
    }
    free(values);
    return status;
}

typedef struct summing {
    tz_precise_sum sum;
    tz_region_facts *out;
} summing;

static void add_cells(void *context, const double *values, int64_t count)
{
    summing *s = context;
    tz_region_facts *out = s->out;
    out->cells += count;
    for (int64_t i = 0; i < count; i++) {
        const double value = values[i];
        tz_precise_add(&s->sum, value);
        out->population += value != 0.0;
        if (isfinite(value)) {
            out->min = value < out->min ? value : out->min;
            out->max = value > out->max ? value : out->max;
        }
    }
}

static tz_status sum_region(const tz_simulation *simulation, int field, const tz_region *region,
                            tz_region_facts *out, tz_error *error)
{
    summing s = {.out = out};
    *out = (tz_region_facts){.min = INFINITY, .max = -INFINITY};
    const tz_status status =
        tz_simulation_each_cell(simulation, field, region, add_cells, &s, error);
    out->sum = tz_precise_result(&s.sum);
    return status;
}

/* The numbers of a domain are those of its cells. */
tz_status tz_simulation_reduce(const tz_simulation *simulation, int field, tz_reduction *out,
                               tz_error *error)
{
    const int domain = tz_simulation_domain_of(simulation, field);
    const tz_region all = {.box = whole(&simulation->problem), .mask_field = -1};
    const double origin = simulation->problem.origin[field];
    tz_region_facts facts;
    tz_status status = check_box(simulation, field, &all.box, error);
    if (!status)
        status = tz__field_reduce(simulation, field, out, error);
    out->cells = tz_simulation_cells(simulation);
    if (!status && domain >= 0) {
        status = sum_region(simulation, field, &all, &facts, error);
        out->min = facts.min;
        out->max = facts.max;
        out->sum = facts.sum;
        out->population = facts.population;
        out->cells = facts.cells;
        return status || facts.cells > 0
                   ? status
                   : tz_error_set(error, TZ_RANGE, simulation->problem.stencil->fields[domain].name,
                                  "the domain has no cell: all of this field is 0");
    }
    if (status || origin == 0.0)
        return status;
    const double cells = (double)tz_simulation_cells(simulation);
    out->min += origin;
    out->max += origin;
    out->sum = fma(cells, origin, out->sum);
    out->population = tz_simulation_cells(simulation);
    if (out->min <= 0.0 && out->max >= 0.0) {
        status = sum_region(simulation, field, &all, &facts, error);
        out->population = facts.population;
    }
    return status;
}

tz_status tz_simulation_reduce_region(const tz_simulation *simulation, int field,
                                      const tz_region *region, tz_region_facts *out,
                                      tz_error *error)
{
    const tz_box all = whole(&simulation->problem);
    if (!region->mask && region->mask_field < 0 && memcmp(&region->box, &all, sizeof all) == 0) {
        tz_reduction r;
        const tz_status status = tz_simulation_reduce(simulation, field, &r, error);
        *out = (tz_region_facts){r.cells, r.population, r.min, r.max, r.sum};
        return status;
    }
    const tz_status status = sum_region(simulation, field, region, out, error);
    return status || out->cells > 0
               ? status
               : tz_error_set(error, TZ_RANGE, NULL, "%s",
                              tz_simulation_domain_of(simulation, field) >= 0
                                  ? "the region has no cell of the domain"
                                  : "the mask selects no cell: all of it is 0");
}

bool tz_simulation_repeats(const tz_simulation *simulation)
{
    return tz_problem_repeats(&simulation->problem);
}

/* Are nine cells of a field, spread over the grid, equal? */
static tz_status compare_some(const tz_simulation *simulation, int field, bool *equal,
                              double *first, tz_error *error)
{
    enum { CELLS = 9 };
    const int64_t *extent = simulation->problem.extent;
    tz_status status = TZ_OK;
    *equal = true;
    for (int k = 0; k < CELLS && *equal && !status; k++) {
        double value;
        const int64_t at[] = {(extent[0] - 1) * k / (CELLS - 1), (extent[1] - 1) * (k % 3) / 2,
                              (extent[2] - 1) * (k / 3) / 2};
        const tz_box box = {{at[0], at[1], at[2]}, {at[0] + 1, at[1] + 1, at[2] + 1}};
        status = tz_simulation_read(simulation, field, &box, &value, error);
        *first = k == 0 ? value : *first;
        *equal = value == *first;
    }
    return status;
}

tz_status tz_simulation_uniform(const tz_simulation *simulation, bool *uniform, double *values,
                                tz_error *error)
{
    const tz_stencil *s = simulation->problem.stencil;
    tz_status status = TZ_OK;
    *uniform = true;
    for (int f = 0; f < s->fields_count && *uniform && !status; f++) {
        tz_reduction all;
        if (s->fields[f].role != TZ_STATE)
            continue;
        status = compare_some(simulation, f, uniform, &values[f], error);
        if (status || !*uniform)
            break;
        status = tz_simulation_reduce(simulation, f, &all, error);
        *uniform = !status && all.not_finite == 0 && all.min == all.max;
    }
    return status;
}
