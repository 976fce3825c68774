/* The reference backend. It is serial and does one pass of one iteration at a time. Every read goes
 * through the definition of boundaries, tz_boundary_map(). It is slow and simple: tests compare all
 * other backends with it. */
#include "backend/backend.h"
#include "backend/host/reduce.h"
#include "backend/host/slab.h"
#include "backend/host/store.h"
#include "base/machine.h"
#include "kernels/cpu/update.h"
#include "stencil/points.h"
#include "stencil/streamed_source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct reference {
    tz_backend_context context;
    tz_host_store store;
    char *before[TZ_FIELDS_MAX]; /* values before the last iteration, when it has several passes */
    bool norm_known;
} reference;

typedef struct cell_reader {
    tz_cell_access access; /* first: callbacks cast a pointer to it */
    int64_t at[TZ_AXES];   /* the cell in memory; access has its coordinates in the whole grid */
    reference *state;
    uint64_t slot[256]; /* values that read() returned; an expression uses several at once */
    unsigned next;
    bool widens; /* real numbers are stored in single precision and read in double */
    uint64_t written[TZ_FIELDS_MAX];
    double *changes; /* of a refinement: new - old of each element; else NULL */
} cell_reader;

static const char *element_at(const tz_host_field *host, size_t size, int64_t x, int64_t y,
                              int64_t z)
{
    return host->origin + (x + y * host->row_stride + z * host->plane_stride) * (ptrdiff_t)size;
}

/* Sizes of which the compiler makes loads. */
static void copy_element(void *to, const char *from, size_t size)
{
    if (size == 8)
        memcpy(to, from, 8);
    else if (size == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, size);
}

/* The side whose boundary value a read at these coordinates gets; -1: none, all from axis `first`
 * on are then mapped into the grid. */
static int map_axes(const tz_problem *problem, int first, int64_t at[TZ_AXES])
{
    for (int axis = first; axis < problem->dims; axis++) {
        const int64_t extent = problem->extent[axis];
        at[axis] = tz_boundary_map(problem->boundary[axis], at[axis], extent);
        if (at[axis] < 0)
            return 2 * axis + (at[axis] == -1 ? 0 : 1);
    }
    return -1;
}

static bool is_inside(const tz_problem *problem, int64_t x, int64_t y, int64_t z)
{
    const int64_t *extent = problem->extent;
    return x >= 0 && x < extent[0] && y >= 0 && y < extent[1] && z >= 0 && z < extent[2];
}

/* A word of a bit field, column by column. They share their row. */
static uint32_t read_word(const tz_problem *problem, const tz_host_field *host, int field,
                          int64_t word, int64_t y, int64_t z)
{
    const int64_t words = problem->elements[0];
    int64_t row[TZ_AXES] = {0, y, z};
    const int side_of_row = map_axes(problem, 1, row);
    uint32_t value = 0, here = 0;
    const bool stored = word >= 0 && word < words && side_of_row < 0;
    if (stored)
        memcpy(&here, element_at(host, 4, word, row[1], row[2]), 4);
    for (int64_t b = 0; b < 32; b++) {
        const int64_t column = b * words + word;
        if (stored && column < problem->extent[0]) { /* a column of the grid */
            value |= here & UINT32_C(1) << b;
            continue;
        }
        const int64_t x = tz_boundary_map(problem->boundary[0], column, problem->extent[0]);
        const int side = x < 0 ? (x == -1 ? 0 : 1) : side_of_row;
        uint32_t bit = side >= 0 && problem->boundary_value[field][side] != 0.0;
        if (side < 0) {
            uint32_t from;
            memcpy(&from, element_at(host, 4, x % words, row[1], row[2]), 4);
            bit = from >> (x / words) & 1;
        }
        value |= bit << b;
    }
    return value;
}

static void read_element(const cell_reader *reader, int field, int dx, int dy, int dz, void *slot)
{
    const tz_cell_access *access = &reader->access;
    const reference *state = reader->state;
    const tz_problem *problem = state->context.problem;
    const int64_t x = reader->at[0] + dx, y = reader->at[1] + dy, z = reader->at[2] + dz;
    if (problem->stencil->fields[field].role == TZ_STREAMED) {
        int32_t scratch[1];
        memcpy(slot,
               tz_streamed_source_row(state->context.streamed[field], access->step, x, 1, scratch),
               4);
        return;
    }
    const tz_host_field *host = tz_host_store_current(&state->store, field);
    const size_t size = tz_problem_element_size(problem, field);
    if (problem->bits) {
        const uint32_t word = read_word(problem, host, field, x, y, z);
        memcpy(slot, &word, sizeof word);
        return;
    }
    if (is_inside(problem, x, y, z)) {
        copy_element(slot, element_at(host, size, x, y, z), size);
        return;
    }
    int64_t at[TZ_AXES] = {x, y, z};
    const int side = map_axes(problem, 0, at);
    if (side >= 0)
        tz_problem_element(problem, field, problem->boundary_value[field][side], slot);
    else
        copy_element(slot, element_at(host, size, at[0], at[1], at[2]), size);
}

static const void *read_cell(const tz_cell_access *access, int field, int dx, int dy, int dz)
{
    cell_reader *reader = (cell_reader *)access;
    void *slot = &reader->slot[reader->next++ % 256];
    const tz_problem *problem = reader->state->context.problem;
    read_element(reader, field, dx, dy, dz, slot);
    if (!tz_type_is_real(problem->stencil->fields[field].type))
        return slot;
    if (reader->widens) {
        double wide;
        tz_problem_to_computed(problem, field, slot, 1, &wide);
        memcpy(slot, &wide, sizeof wide);
    } else if (!tz_problem_as_computed(problem, field)) {
        float value;
        tz_stored_load(&problem->storage[field], TZ_ISA_BASE, slot, 1, &value);
        memcpy(slot, &value, sizeof value);
    }
    return slot;
}

static void *write_cell(const tz_cell_access *access, int field)
{
    return &((cell_reader *)access)->written[field];
}

static void move_to(cell_reader *reader, int64_t x, int64_t y, int64_t z)
{
    const tz_problem *problem = reader->state->context.problem;
    int64_t whole[TZ_AXES] = {x, y, z};
    memcpy(reader->at, whole, sizeof whole);
    whole[problem->dims - 1] = tz_problem_coordinate(problem, whole[problem->dims - 1]);
    reader->access.x = whole[0];
    reader->access.y = whole[1];
    reader->access.z = whole[2];
}

/* A new value, to the array that is being written. */
static void put_element(reference *state, int field, int64_t x, int64_t y, int64_t z,
                        const void *value)
{
    const tz_problem *problem = state->context.problem;
    const size_t size = tz_problem_element_size(problem, field);
    char *to = (char *)element_at(tz_host_store_other(&state->store, field), size, x, y, z);
    if (tz_problem_as_computed(problem, field))
        memcpy(to, value, size);
    else
        tz_stored_store(&problem->storage[field], TZ_ISA_BASE, value, 1, to);
}

static void run_pass(reference *state, const tz_pass *pass, const tz_slot *constants, int64_t step,
                     const tz_box *box)
{
    const tz_problem *problem = state->context.problem;
    cell_reader reader = {
        .access = {.read = read_cell,
                   .write = write_cell,
                   .constants = constants,
                   .step = step,
                   .engine = pass->engine},
        .state = state,
    };
    for (int64_t z = box->low[2]; z < box->high[2]; z++)
        for (int64_t y = box->low[1]; y < box->high[1]; y++)
            for (int64_t x = box->low[0]; x < box->high[0]; x++) {
                move_to(&reader, x, y, z);
                pass->kernels->cell[problem->precision](&reader.access);
                for (int f = 0; f < problem->stencil->fields_count; f++)
                    if (pass->writes >> f & 1)
                        put_element(state, f, x, y, z, &reader.written[f]);
            }
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (pass->writes >> f & 1)
            tz_host_store_swap(&state->store, f);
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* The element of a point in row `row`. */
static char *point_at(reference *state, int field, int64_t row, const tz_point *point)
{
    const tz_problem *problem = state->context.problem;
    return (char *)element_at(tz_host_store_current(&state->store, field),
                              tz_problem_element_size(problem, field), point->x,
                              row % problem->elements[1], row / problem->elements[1]);
}

static void add_to(const tz_problem *problem, int field, char *element, const char *value)
{
    const tz_element_type *real = tz_problem_real(problem);
    const tz_storage *storage = &problem->storage[field];
    double sum, more;
    float single;
    tz_problem_to_computed(problem, field, element, 1, &sum);
    real->get(value, 1, &more);
    sum += more; /* rounds to single precision as a sum in that precision does */
    if (tz_problem_as_computed(problem, field)) {
        real->put(&sum, 0, 1, element);
    } else {
        real->put(&sum, 0, 1, &single);
        tz_stored_store(storage, TZ_ISA_BASE, &single, 1, element);
    }
}

/* After a pass: the points of the fields that no later pass of iteration `step` changes. Those of a
 * slab are recorded from `low` to `high` along the last axis. */
static void apply_points(reference *state, int pass, int64_t step, int64_t low, int64_t high)
{
    const tz_problem *problem = state->context.problem;
    const tz_points *points = problem->points;
    const int64_t rows = problem->elements[1] * problem->elements[2];
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        if (!tz_points_due(points, problem->stencil, pass, f))
            continue;
        const tz_point_values *values = points->values;
        const int64_t k = step - values->begin;
        const size_t size = tz_problem_element_size(problem, f),
                     real = tz_problem_real(problem)->size;
        const tz_point_list *added = &points->added[f], *recorded = &points->recorded[f];
        for (int64_t r = 0; added->count > 0 && r < rows; r++)
            for (int32_t i = added->first[r]; i < added->first[r + 1]; i++)
                add_to(problem, f, point_at(state, f, r, &added->of[i]),
                       values->added + (size_t)(k * values->adds + added->of[i].index) * real);
        for (int64_t r = 0; recorded->count > 0 && r < rows; r++)
            for (int32_t i = recorded->first[r]; i < recorded->first[r + 1]; i++) {
                const int64_t at[] = {recorded->of[i].x, r % problem->elements[1],
                                      r / problem->elements[1]};
                const int64_t along = at[problem->dims - 1];
                if (along >= low && along < high)
                    memcpy(values->recorded +
                               (size_t)(k * values->records + recorded->of[i].index) * values->slot,
                           point_at(state, f, r, &recorded->of[i]), size);
            }
    }
}

static tz_status reference_plan(const tz_problem *problem, const tz_place *place, tz_plan *plan,
                                tz_error *error)
{
    (void)place;
    const tz_status status = tz_backend_check_plan(plan, &tz_backend_reference, error);
    if (status)
        return status;
    strcpy(plan->family, "reference");
    strcpy(plan->why, "the reference backend has no ghost zones");
    plan->height = 1;
    memcpy(plan->tile, problem->elements, sizeof plan->tile);
    return TZ_OK;
}

static bool needs_before(const tz_problem *problem)
{
    return problem->stencil->passes_count > 1;
}

static size_t before_bytes(const tz_problem *problem, int f)
{
    return (size_t)tz_problem_elements(problem) * tz_problem_element_size(problem, f);
}

static int64_t reference_bytes(const tz_problem *problem, const tz_place *place,
                               const tz_plan *plan)
{
    (void)place;
    (void)plan;
    int64_t bytes = tz_host_store_bytes(problem, 0);
    for (int f = 0; needs_before(problem) && f < problem->stencil->fields_count; f++)
        if (tz_problem_written(problem) >> f & 1)
            bytes += (int64_t)before_bytes(problem, f);
    return bytes;
}

static void reference_destroy(void *any)
{
    reference *state = any;
    if (!state)
        return;
    tz_host_store_destroy(&state->store);
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        free(state->before[f]);
    free(state);
}

static tz_status reference_create(void **out, const tz_backend_context *context, tz_error *error)
{
    const tz_problem *problem = context->problem;
    reference *state = calloc(1, sizeof *state);
    if (!state)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    state->context = *context;
    tz_status status = tz_host_store_create(&state->store, problem, 0, NULL, false, error);
    for (int f = 0; !status && needs_before(problem) && f < problem->stencil->fields_count; f++)
        if (tz_problem_written(problem) >> f & 1) {
            state->before[f] = malloc(before_bytes(problem, f));
            if (!state->before[f])
                status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
        }
    if (status) {
        reference_destroy(state);
        return status;
    }
    *out = state;
    return TZ_OK;
}

/* The elements that pass p of the iteration before the last `rest` ones computes: those of the
 * span, and what later passes read beside it. */
static tz_box box_of_pass(const tz_problem *problem, const tz_slab_span *span, int rest, int p)
{
    const tz_stencil *stencil = problem->stencil;
    const int axis = problem->dims - 1;
    tz_box box = {{0}, {0}};
    int64_t low = 0, high = 0;
    memcpy(box.high, problem->elements, sizeof box.high);
    for (int k = 0; k < stencil->passes_count; k++) {
        const tz_reach reach = tz_pass_reach(stencil, &stencil->passes[k]);
        low += reach.low[axis] * (rest + (k > p));
        high += reach.high[axis] * (rest + (k > p));
    }
    box.low[axis] = span->low > low ? span->low - low : 0;
    if (span->high + high < box.high[axis])
        box.high[axis] = span->high + high;
    return box;
}

static tz_status stage_of_span(void *any, const tz_plan *plan, int height, int64_t step,
                               const tz_slab_span *span, tz_error *error)
{
    (void)plan;
    reference *state = any;
    const tz_problem *problem = state->context.problem;
    tz_box all = {{0}, {0}};
    memcpy(all.high, problem->elements, sizeof all.high);
    tz_slot constants[TZ_CONSTANTS_MAX];
    for (int i = 0; i < height; i++) {
        const tz_status status = tz_problem_constants_at(problem, step + i, constants, error);
        if (status)
            return status;
        for (int f = 0; f < problem->stencil->fields_count; f++)
            if (state->before[f])
                tz_host_store_get(&state->store, f, &all, state->before[f], error);
        for (int p = 0; p < problem->stencil->passes_count; p++) {
            const tz_box box = box_of_pass(problem, span, height - 1 - i, p);
            run_pass(state, &problem->stencil->passes[p], constants, step + i, &box);
            apply_points(state, p, step + i, span->low, span->high);
        }
    }
    state->norm_known = true;
    return TZ_OK;
}

static tz_status reference_stage(void *any, const tz_plan *plan, int height, int64_t step,
                                 tz_error *error)
{
    const tz_problem *problem = ((const reference *)any)->context.problem;
    const tz_slab_span all = {.high = problem->elements[problem->dims - 1]};
    return stage_of_span(any, plan, height, step, &all, error);
}

static bool leaves_out(const tz_problem *problem, const tz_plan *plan)
{
    (void)problem;
    (void)plan;
    return true;
}

static tz_status reference_store(void *any, int field, const tz_box *box, const void *elements,
                                 tz_error *error)
{
    reference *state = any;
    state->norm_known &= tz_problem_is_ghost(state->context.problem, box);
    return tz_host_store_put(&state->store, field, box, elements, error);
}

static tz_status reference_load(const void *any, int field, const tz_box *box, void *elements,
                                tz_error *error)
{
    return tz_host_store_get(&((const reference *)any)->store, field, box, elements, error);
}

static tz_field_memory reference_memory(const void *any, int field)
{
    return tz_host_store_memory(&((const reference *)any)->store, field);
}

static tz_status reference_fill(void *any, int field, const void *element, tz_error *error)
{
    reference *state = any;
    state->norm_known = false;
    return tz_host_store_fill(&state->store, field, element, false, error);
}

static tz_status reference_reduce(const void *any, int field, tz_reduce_sums *sums, tz_error *error)
{
    const reference *state = any;
    return tz_reduce_add_own(sums, state->context.problem,
                             tz_host_store_current(&state->store, field), NULL, error);
}

static tz_status reference_all_finite(const void *any, bool *finite, tz_error *error)
{
    (void)error;
    *finite = tz_host_store_all_finite(&((const reference *)any)->store, NULL);
    return TZ_OK;
}

static tz_status reference_update_norm(const void *any, double *norm, tz_error *error)
{
    const reference *state = any;
    const tz_problem *problem = state->context.problem;
    (void)error;
    *norm = state->norm_known ? 0.0 : NAN;
    if (state->norm_known && !needs_before(problem))
        *norm = tz_host_store_difference(&state->store, tz_problem_written(problem), NULL);
    for (int f = 0; state->norm_known && f < problem->stencil->fields_count; f++)
        if (state->before[f]) {
            const tz_host_field before = {
                .origin = state->before[f],
                .row_stride = problem->elements[0],
                .plane_stride = problem->elements[0] * problem->elements[1],
            };
            *norm =
                fmax(*norm, tz_reduce_difference(problem, f, &before,
                                                 tz_host_store_current(&state->store, f), NULL));
        }
    return TZ_OK;
}

/* ---- What an iteration would change ---------------------------------------------------------- */

/* An element as read_cell and write_cell have it. Of a word, the bits that are cells. */
static double number_of(const tz_problem *problem, int field, const void *element)
{
    double number;
    tz_element_type_of(problem->stencil->fields[field].type, TZ_PRECISION_RESIDUAL)
        ->get(element, 1, &number);
    return number;
}

static double change_of(const tz_problem *problem, int field, int64_t x, const void *now,
                        const void *old, double *magnitude)
{
    if (!problem->bits) {
        *magnitude = fabs(number_of(problem, field, old));
        return fabs(number_of(problem, field, now) - number_of(problem, field, old));
    }
    uint32_t now_bits, old_bits, cells = 0;
    memcpy(&now_bits, now, sizeof now_bits);
    memcpy(&old_bits, old, sizeof old_bits);
    for (int64_t b = 0; b < 32; b++)
        if (b * problem->elements[0] + x < problem->extent[0])
            cells |= UINT32_C(1) << b;
    *magnitude = old_bits & cells ? 1.0 : 0.0;
    return __builtin_popcount((now_bits ^ old_bits) & cells);
}

static bool is_excluded(const cell_reader *reader)
{
    const int f = tz_stencil_excluding(reader->state->context.problem->stencil);
    return f >= 0 && *(const int32_t *)read_cell(&reader->access, f, 0, 0, 0) != 0;
}

/* The changes of one field in a segment of a row: the sum of kernels/cpu/update.h. */
static double update_segment(cell_reader *reader, const tz_pass *pass, tz_precision precision,
                             int field, int64_t x_low, int64_t x_high, tz_update_sums *out)
{
    const tz_problem *problem = reader->state->context.problem;
    double lanes[TZ_UPDATE_LANES] = {0};
    for (int64_t i = 0; i < TZ_UPDATE_SEGMENT && x_low + i < x_high; i++) {
        double value;
        move_to(reader, x_low + i, reader->at[1], reader->at[2]);
        pass->kernels->cell[precision](&reader->access);
        const void *old = read_cell(&reader->access, field, 0, 0, 0);
        const void *now = is_excluded(reader) ? old : &reader->written[field];
        const double change = change_of(problem, field, x_low + i, now, old, &value);
        if (reader->changes)
            reader->changes[x_low + i +
                            problem->elements[0] *
                                (reader->at[1] + problem->elements[1] * reader->at[2])] =
                number_of(problem, field, now) - number_of(problem, field, old);
        const double largest = problem->bits && change > 1.0 ? 1.0 : change;
        lanes[i % TZ_UPDATE_LANES] += change;
        out->largest = largest > out->largest ? largest : out->largest;
        out->magnitude = value > out->magnitude ? value : out->magnitude;
    }
    for (int half = TZ_UPDATE_LANES / 2; half >= 1; half /= 2)
        for (int i = 0; i < half; i++)
            lanes[i] += lanes[i + half];
    return lanes[0];
}

static void update_row(cell_reader *reader, const tz_pass *pass, tz_precision precision,
                       int64_t x_low, int64_t x_high, double *sums, tz_update_sums *out)
{
    const tz_stencil *stencil = reader->state->context.problem->stencil;
    for (int64_t x = x_low; x < x_high; x += TZ_UPDATE_SEGMENT)
        for (int f = 0; f < stencil->fields_count; f++)
            if (pass->writes >> f & 1)
                sums[(x - x_low) / TZ_UPDATE_SEGMENT] +=
                    update_segment(reader, pass, precision, f, x, x_high, out);
}

static tz_status add_update(reference *state, int64_t step, double *changes, tz_update_sums *out,
                            tz_error *error)
{
    const tz_problem *problem = state->context.problem;
    const tz_problem in_double = tz_problem_in_double(problem);
    int64_t low[TZ_AXES] = {0}, high[TZ_AXES];
    memcpy(high, problem->elements, sizeof high);
    tz_problem_own(problem, &low[problem->dims - 1], &high[problem->dims - 1]);
    const int64_t segments = (high[0] - low[0] + TZ_UPDATE_SEGMENT - 1) / TZ_UPDATE_SEGMENT;
    tz_slot constants[TZ_CONSTANTS_MAX];
    const tz_status status = tz_problem_constants_at(&in_double, step, constants, error);
    if (status)
        return status;
    cell_reader reader = {
        .access = {.read = read_cell, .write = write_cell, .constants = constants, .step = step},
        .state = state,
        .widens = in_double.precision != problem->precision,
        .changes = changes,
    };
    for (int p = 0; p < problem->stencil->passes_count; p++) {
        double *sums = out->sums + tz_update_first(problem);
        reader.access.engine = problem->stencil->passes[p].engine;
        for (int64_t z = low[2]; z < high[2]; z++)
            for (int64_t y = low[1]; y < high[1]; y++, sums += segments) {
                reader.at[1] = y;
                reader.at[2] = z;
                update_row(&reader, &problem->stencil->passes[p], in_double.precision, low[0],
                           high[0], sums, out);
            }
    }
    return TZ_OK;
}

static tz_status reference_update(void *any, int64_t step, tz_update_sums *out, tz_error *error)
{
    return add_update(any, step, NULL, out, error);
}

static tz_status reference_refine(void *any, void *any_correction, int64_t step,
                                  tz_update_sums *out, tz_error *error)
{
    reference *state = any, *correction = any_correction;
    const tz_problem *problem = state->context.problem;
    const tz_refinement *fields = problem->stencil->refinement;
    double *changes = tz_host_store_scratch(&state->store, fields->solution);
    tz_host_refine_add(&state->store, &correction->store, fields->solution, NULL);
    state->norm_known = correction->norm_known = false;
    const tz_status status = add_update(state, step, changes, out, error);
    return status ? status
                  : tz_host_refine_source(&correction->store, fields->source, changes,
                                          problem->source_per_update, NULL, error);
}

static const char *reference_family(int index)
{
    return index == 0 ? "reference" : NULL;
}

static const tz_slab_functions slab_functions = {.leaves_out = leaves_out, .stage = stage_of_span};

const tz_backend tz_backend_reference = {
    .name = "reference",
    .doc = "serial, one step at a time; the oracle of the tests",
    .serial = true,
    .identify = tz_host_identify,
    .family = reference_family,
    .plan = reference_plan,
    .bytes = reference_bytes,
    .create = reference_create,
    .destroy = reference_destroy,
    .store = reference_store,
    .load = reference_load,
    .memory = reference_memory,
    .fill = reference_fill,
    .stage = reference_stage,
    .points = true,
    .reduce = reference_reduce,
    .all_finite = reference_all_finite,
    .update_norm = reference_update_norm,
    .update = reference_update,
    .refine = reference_refine,
    .slab = &slab_functions,
};
