/* Written values read back. Values that the type cannot hold are refused and change nothing. */
#include "sim/fields.h"
#include "contract.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench {
    contract *c;
    tz_simulation *sim;
    const char *what;
    int field;
    int64_t extent[TZ_AXES];
    int64_t cells;
    double origin;             /* of what memory holds */
    bool half;                 /* it is stored so */
    double *expected, *actual; /* [cells] */
    uint64_t random;
} bench;

static double next_value(bench *b)
{
    /* xorshift: any numbers do, as long as the element type holds them exactly. */
    b->random ^= b->random << 13;
    b->random ^= b->random >> 7;
    b->random ^= b->random << 17;
    const int64_t small = (int64_t)(b->random >> 40) % 20001 - 10000;
    switch (b->c->stencil->fields[b->field].type) {
    case TZ_BITS:
        return small & 1;
    case TZ_INT:
        return (double)small;
    default: /* the difference from the origin is what must be exact */
        return b->origin + (double)(b->half ? small % 1001 : small) / 1024.0;
    }
}

static tz_box whole(const bench *b)
{
    return (tz_box){{0, 0, 0}, {b->extent[0], b->extent[1], b->extent[2]}};
}

/* Writes values into a box, and into the expected values of the whole field. */
static void write_box(bench *b, const tz_box *box)
{
    int64_t count = 1;
    for (int axis = 0; axis < TZ_AXES; axis++)
        count *= box->high[axis] - box->low[axis];
    double *values = malloc((size_t)count * sizeof *values);
    if (!values)
        abort();
    int64_t n = 0;
    for (int64_t z = box->low[2]; z < box->high[2]; z++)
        for (int64_t y = box->low[1]; y < box->high[1]; y++)
            for (int64_t x = box->low[0]; x < box->high[0]; x++) {
                values[n] = next_value(b);
                b->expected[(z * b->extent[1] + y) * b->extent[0] + x] = values[n++];
            }
    tz_error error;
    if (tz_simulation_write(b->sim, b->field, box, values, "contract", &error) != TZ_OK)
        contract_fail(b->c, "%s: write: %s", b->what, error.message);
    free(values);
}

/* The field holds the expected values, read whole and as an array, and the reduction agrees. */
static void check_whole(bench *b, const char *after)
{
    b->c->compared++;
    tz_error error;
    const char *name = b->c->stencil->fields[b->field].name;
    if (tz_simulation_read(b->sim, b->field, NULL, b->actual, &error) != TZ_OK) {
        contract_fail(b->c, "%s: %s: read after %s: %s", b->what, name, after, error.message);
        return;
    }
    for (int64_t i = 0; i < b->cells; i++)
        if (b->actual[i] != b->expected[i]) {
            contract_fail(b->c, "%s: %s after %s: cell %" PRId64 " is %.17g, not %.17g", b->what,
                          name, after, i, b->actual[i], b->expected[i]);
            return;
        }
    tz_array *array = NULL;
    if (tz_simulation_read_array(b->sim, b->field, &array, &error) != TZ_OK) {
        contract_fail(b->c, "%s: %s: read_array: %s", b->what, name, error.message);
        return;
    }
    for (int64_t i = 0; i < b->cells; i++)
        if (tz_array_get(array, i) != b->expected[i]) {
            contract_fail(b->c,
                          "%s: %s after %s: element %" PRId64 " of the array is %.17g, not %.17g",
                          b->what, name, after, i, tz_array_get(array, i), b->expected[i]);
            break;
        }
    tz_array_destroy(array);
    tz_reduction r;
    if (tz_simulation_reduce(b->sim, b->field, &r, &error) != TZ_OK) {
        contract_fail(b->c, "%s: %s: reduce: %s", b->what, name, error.message);
        return;
    }
    double low = INFINITY, high = -INFINITY, sum = 0.0;
    int64_t population = 0;
    for (int64_t i = 0; i < b->cells; i++) {
        low = fmin(low, b->expected[i]);
        high = fmax(high, b->expected[i]);
        sum += b->expected[i]; /* exact without an origin: small multiples of 1/1024 */
        population += b->expected[i] != 0.0;
    }
    const double inexact = b->origin != 0.0 ? 1e-12 * fabs(sum) : 0.0;
    if (r.min != low || r.max != high || fabs(r.sum - sum) > inexact ||
        r.population != population || r.not_finite != 0)
        contract_fail(b->c,
                      "%s: %s after %s: min %g max %g sum %.17g population %" PRId64
                      ", expected %g %g %.17g %" PRId64,
                      b->what, name, after, r.min, r.max, r.sum, r.population, low, high, sum,
                      population);
}

static void check_boxes(bench *b)
{
    tz_box box = whole(b);
    write_box(b, &box);
    check_whole(b, "a whole write");
    for (int round = 0; round < 12; round++) {
        for (int axis = 0; axis < TZ_AXES; axis++) {
            b->random = b->random * 6364136223846793005u + 1442695040888963407u;
            box.low[axis] = (int64_t)((b->random >> 33) % (uint64_t)b->extent[axis]);
            const int64_t room = b->extent[axis] - box.low[axis];
            /* Every other box is one cell. */
            box.high[axis] =
                box.low[axis] + 1 + (round % 2 ? 0 : (int64_t)((b->random >> 20) % (uint64_t)room));
        }
        write_box(b, &box);
        check_whole(b, round % 2 ? "a cell" : "a box");
        double value;
        tz_box cell = box;
        for (int axis = 0; axis < TZ_AXES; axis++)
            cell.high[axis] = cell.low[axis] + 1;
        tz_error error;
        const int64_t i = (cell.low[2] * b->extent[1] + cell.low[1]) * b->extent[0] + cell.low[0];
        if (tz_simulation_read(b->sim, b->field, &cell, &value, &error) != TZ_OK ||
            value != b->expected[i])
            contract_fail(b->c, "%s: reading one cell gives another value", b->what);
    }
    tz_error error;
    const double value = b->c->stencil->fields[b->field].type == TZ_BITS ? 1.0 : b->origin + 3.0;
    box = whole(b);
    box.low[0] = b->extent[0] / 2;
    if (tz_simulation_fill(b->sim, b->field, &box, value, &error) != TZ_OK)
        contract_fail(b->c, "%s: fill: %s", b->what, error.message);
    for (int64_t i = 0; i < b->cells; i++)
        if (i % b->extent[0] >= box.low[0])
            b->expected[i] = value;
    check_whole(b, "filling a box");
    if (tz_simulation_fill(b->sim, b->field, NULL, value, &error) != TZ_OK)
        contract_fail(b->c, "%s: fill: %s", b->what, error.message);
    for (int64_t i = 0; i < b->cells; i++)
        b->expected[i] = value;
    check_whole(b, "filling the field");
    /* A field that one value describes may be stored as one: it must grow again. */
    box.high[0] = box.low[0] + 1;
    write_box(b, &box);
    check_whole(b, "a write after filling");
}

static void must_refuse(bench *b, tz_status status, const tz_error *error, const char *what)
{
    b->c->compared++;
    if (status == TZ_OK)
        contract_fail(b->c, "%s: %s was not refused", b->what, what);
    else if (error->message[0] == '\0' || error->code != status)
        contract_fail(b->c, "%s: %s was refused without a message", b->what, what);
}

static void check_refusals(bench *b)
{
    tz_error error = {0};
    tz_box box = whole(b);
    write_box(b, &box);
    double *values = calloc((size_t)b->cells * 2 + 64, sizeof *values);
    if (!values)
        abort();
    for (int axis = 0; axis < TZ_AXES; axis++) {
        tz_box outside = whole(b);
        outside.high[axis]++;
        must_refuse(b, tz_simulation_write(b->sim, b->field, &outside, values, NULL, &error),
                    &error, "a box that ends outside the grid");
        must_refuse(b, tz_simulation_fill(b->sim, b->field, &outside, 0.0, &error), &error,
                    "filling a box that ends outside the grid");
        must_refuse(b, tz_simulation_read(b->sim, b->field, &outside, values, &error), &error,
                    "reading a box that ends outside the grid");
        outside = whole(b);
        outside.low[axis] = -1;
        must_refuse(b, tz_simulation_fill(b->sim, b->field, &outside, 0.0, &error), &error,
                    "filling a box that starts outside the grid");
    }
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    const tz_type type = b->c->stencil->fields[b->field].type;
    for (int i = 0; i < 3; i++) {
        memcpy(values, b->expected, (size_t)b->cells * sizeof *values);
        values[b->cells - 1] = bad[i];
        must_refuse(b, tz_simulation_fill(b->sim, b->field, NULL, bad[i], &error), &error,
                    "filling with NaN or infinity");
        must_refuse(b, tz_simulation_write(b->sim, b->field, NULL, values, "there", &error), &error,
                    "writing NaN or infinity");
        tz_array *array = NULL;
        if (tz_array_create(&array, TZ_DTYPE_F64, b->c->stencil->dims, b->extent, &error) != TZ_OK)
            abort();
        for (int64_t k = 0; k < b->cells; k++)
            tz_array_set(array, k, values[k]);
        must_refuse(b, tz_simulation_write_array(b->sim, b->field, array, NULL, "there", &error),
                    &error, "an array with NaN or infinity");
        tz_array_destroy(array);
    }
    if (type != TZ_REAL) {
        must_refuse(b, tz_simulation_fill(b->sim, b->field, NULL, 0.5, &error), &error,
                    "half an integer");
        must_refuse(b, tz_simulation_fill(b->sim, b->field, NULL, 3e9, &error), &error,
                    "a number beyond 32 bits");
    } else if (strcmp(tz_simulation_precision(b->sim), "single") == 0) {
        must_refuse(b, tz_simulation_fill(b->sim, b->field, NULL, 1e300, &error), &error,
                    "a number beyond single precision");
    }
    if (b->half)
        must_refuse(b, tz_simulation_fill(b->sim, b->field, NULL, 1e6, &error), &error,
                    "a number beyond half");
    free(values);
    check_whole(b, "refusals");
}

/* A run reads the given slabs, and fails after the last one. */
static void check_stream(contract *c, const contract_case *k, int field, const char *what)
{
    enum { SLABS = 7 };
    tz_simulation *made = NULL, *given = NULL;
    tz_error error = {0};
    const int64_t cells = k->extent[0];
    int32_t *slabs = malloc((size_t)(cells * SLABS) * sizeof *slabs);
    double *row = malloc((size_t)cells * sizeof *row);
    if (!slabs || !row)
        abort();
    if (contract_create(c, k, c->backend, 2, NULL, &made, &error) != TZ_OK ||
        contract_create(c, k, c->backend, 2, NULL, &given, &error) != TZ_OK) {
        contract_fail(c, "%s: %s", what, error.message);
        goto done;
    }
    for (int64_t slab = 0; slab < SLABS; slab++) {
        if (tz_simulation_streamed_read(made, field, slab, 0, cells, row, &error) != TZ_OK) {
            contract_fail(c, "%s: stream_read: %s", what, error.message);
            goto done;
        }
        for (int64_t x = 0; x < cells; x++)
            slabs[slab * cells + x] = (int32_t)row[x];
    }
    c->compared++;
    if (tz_simulation_streamed_slabs(made, field) != -1)
        contract_fail(c, "%s: random slabs should have no end", what);
    if (tz_simulation_streamed_array(given, field, slabs, SLABS, &error) != TZ_OK ||
        tz_simulation_streamed_slabs(given, field) != SLABS)
        contract_fail(c, "%s: stream_array does not hold %d slabs", what, SLABS);
    if (contract_run(made, SLABS, &error) != TZ_OK || contract_run(given, SLABS, &error) != TZ_OK) {
        contract_fail(c, "%s: %s", what, error.message);
        goto done;
    }
    for (int f = 0; f < c->stencil->fields_count; f++) {
        tz_reduction a, b;
        if (c->stencil->fields[f].role == TZ_STATE &&
            (tz_simulation_reduce(made, f, &a, &error) != TZ_OK ||
             tz_simulation_reduce(given, f, &b, &error) != TZ_OK || a.hash != b.hash))
            contract_fail(c, "%s: the same slabs, made and given, lead to other results", what);
    }
    if (contract_run(given, 1, &error) != TZ_RANGE)
        contract_fail(c, "%s: a run past the last slab does not end with 'out of range'", what);
    c->compared += 2;
done:
    tz_simulation_destroy(made);
    tz_simulation_destroy(given);
    free(slabs);
    free(row);
}

static void check_field(contract *c, const contract_case *k, const char *backend, int field)
{
    char what[256];
    contract_case_text(c, k, what, sizeof what);
    const size_t used = strlen(what);
    snprintf(what + used, sizeof what - used, " backend %s field %s", backend,
             c->stencil->fields[field].name);
    bench b = {.c = c, .what = what, .field = field, .random = 88172645463325252u + k->seed};
    memcpy(b.extent, k->extent, sizeof b.extent);
    b.cells = k->extent[0] * k->extent[1] * k->extent[2];
    b.expected = calloc((size_t)b.cells, sizeof *b.expected);
    b.actual = calloc((size_t)b.cells, sizeof *b.actual);
    if (!b.expected || !b.actual)
        abort();
    tz_error error = {0};
    if (contract_create(c, k, backend, 2, NULL, &b.sim, &error) != TZ_OK) {
        contract_fail(c, "%s: %s", what, error.message);
    } else {
        tz_storage_wish storage;
        b.half = tz_simulation_storage(b.sim, field, &storage);
        b.origin = b.half ? storage.origin : tz_simulation_origin(b.sim, field);
        check_boxes(&b);
        check_refusals(&b);
    }
    tz_simulation_destroy(b.sim);
    free(b.expected);
    free(b.actual);
}

void contract_fields(contract *c)
{
    static const int64_t extents[][TZ_AXES] = {{1, 1, 1}, {33, 7, 5}, {70, 3, 2}};
    int precisions[TZ_PRECISIONS + 1];
    const int count = contract_storages(c, precisions);
    for (int p = 0; p < count; p++)
        for (int e = 0; e < 3; e++) {
            contract_case k = {.precision = precisions[p], .seed = (uint64_t)e};
            contract_surround(&k, c->stencil->boundary);
            for (int axis = 0; axis < TZ_AXES; axis++) {
                k.extent[axis] = axis < c->stencil->dims ? extents[e][axis] : 1;
            }
            char what[256];
            contract_case_text(c, &k, what, sizeof what);
            for (int f = 0; f < c->stencil->fields_count; f++) {
                if (c->stencil->fields[f].role == TZ_STREAMED) {
                    check_stream(c, &k, f, what);
                } else {
                    check_field(c, &k, "reference", f);
                    check_field(c, &k, c->backend, f);
                }
            }
        }
}
