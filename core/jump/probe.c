/* Finds the linear operator of a problem by trying its update on a patch. Called by jump.c and by
 * predictions. */
#include "jump/probe.h"

#include "base/random.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char AXES[] = "xyz";
static const double EPSILON = 0x1p-52;
/* In units of rounding: what the operations of an update may come to. */
static const double ROUNDING = 64.0;

enum { TZ_PROBE_ARRAYS = 3 * TZ_LINEAR_FIELDS_MAX };

/* The operator as it is found: a term for each offset, of both signs. */
typedef struct tz_probe {
    tz_patch patch;
    const tz_problem *problem; /* in double precision */
    const tz_jump_range *ranges;
    int reach;          /* no offset is larger */
    double size;        /* the largest |value| of the state fields as they are; 1 if all are 0 */
    double scale;       /* of impulses: a power of two so large that s is below their rounding */
    double source_size; /* the largest |s| of the patch */
    tz_linear_term *terms;
    int terms_count;
    double weight; /* the largest sum of |coefficients| that give a value */
    double *memory;
    double *in[TZ_LINEAR_FIELDS_MAX], *out[TZ_LINEAR_FIELDS_MAX], *zero[TZ_LINEAR_FIELDS_MAX];
} tz_probe;

/* ---- What the description tells -------------------------------------------------------------- */

static tz_status check_fields(tz_linear *out, const tz_problem *problem, tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    int states = 0;
    for (int f = 0; f < stencil->fields_count; f++) {
        const tz_field *field = &stencil->fields[f];
        if (field->role == TZ_STREAMED)
            return tz_error_set(error, TZ_UNSUPPORTED, stencil->id,
                                "it cannot be jumped, because field '%s' is streamed: each "
                                "iteration adds something else; use sim:run",
                                field->name);
        if (field->role == TZ_STATE && !tz_type_is_real(field->type))
            return tz_error_set(error, TZ_UNSUPPORTED, stencil->id,
                                "it cannot be jumped, because field '%s' holds %s and not real "
                                "numbers, so its update is not linear; use sim:run",
                                field->name, tz_type_is_bits(field->type) ? "bits" : "integers");
        if (field->role == TZ_STATE && states < TZ_LINEAR_FIELDS_MAX)
            out->field[states] = f;
        states += field->role == TZ_STATE;
    }
    if (states > TZ_LINEAR_FIELDS_MAX)
        return tz_error_set(error, TZ_UNSUPPORTED, stencil->id,
                            "it cannot be jumped, because it has %d coupled state fields: at most "
                            "%d can be; use sim:run",
                            states, TZ_LINEAR_FIELDS_MAX);
    out->fields_count = states;
    return TZ_OK;
}

static tz_status check_boundary(tz_linear *out, const tz_problem *problem, int axis,
                                tz_error *error)
{
    static const tz_transform fitting[] = {[TZ_RULE_REPEATS] = TZ_DCT_II,
                                           [TZ_RULE_WRAPS] = TZ_DFT,
                                           [TZ_RULE_HAS_VALUE] = TZ_DST_I,
                                           [TZ_RULE_REFLECTS] = TZ_DCT_I};
    const tz_boundary *sides = problem->boundary[axis];
    char text[TZ_BOUNDARY_TEXT_SIZE];
    if (sides[0] != sides[1])
        return tz_error_set(error, TZ_UNSUPPORTED, problem->stencil->id,
                            "it cannot be jumped, because the sides of axis %c differ (%s), and no "
                            "transform fits that: give both the same boundary, or use sim:run",
                            AXES[axis], tz_boundary_text(sides, text));
    out->transform[axis] = fitting[tz_boundary_rule_of(sides[0])];
    return TZ_OK;
}

tz_status tz_jump_describe(tz_linear *out, const tz_problem *problem, tz_error *error)
{
    *out = (tz_linear){.dims = problem->dims, .extent = {1, 1, 1}};
    tz_status status = check_fields(out, problem, error);
    if (!status && tz_problem_varies(problem))
        status = tz_error_set(error, TZ_UNSUPPORTED, problem->stencil->id,
                              "it cannot be jumped, because it has scalars that vary from "
                              "iteration to iteration; use sim:run");
    for (int axis = 0; !status && axis < problem->dims; axis++) {
        out->extent[axis] = problem->extent[axis];
        status = check_boundary(out, problem, axis, error);
    }
    return status;
}

/* ---- Impulses -------------------------------------------------------------------------------- */

static void apply_patch(tz_probe *probe, int64_t step)
{
    tz_patch_apply(&probe->patch, (const double *const *)probe->in, probe->out, step);
}

/* ---- Sums of coefficients -------------------------------------------------------------------- */

/* The sum of coefficients, to more digits than a double has near 1.
 *
 * A mode that hardly changes has a symbol near 1, and its power depends on how far that is from 1.
 * The sum of the coefficients, as impulses give them, and what the update makes of a field of ones
 * both are rounded, each in its own way: with weights the first is exact, with u + c (W + E - 2 u)
 * the second. To see which is right, the update is tried on many values near 1. Its results are
 * rounded by chance, so their mean tells the true sum to some 18 digits. */
enum { SAMPLES = 1 << 16, ROUNDS_MAX = 256, WORK_MAX = 1 << 26 };

static const double NEAR = 0x1p-8; /* how far values are from 1 */
/* In standard deviations, as if samples were independent: adjacent cells share some of their
 * rounding. */
static const double CERTAIN = 12.0;

static int sign_of(const tz_patch *patch, int64_t cell, bool alternating)
{
    const int64_t *n = patch->extent;
    const int64_t sum = cell % n[0] + cell / n[0] % n[1] + cell / (n[0] * n[1]);
    return alternating && sum % 2 ? -1 : 1;
}

static int sign_of_offset(const tz_linear_term *term, bool alternating)
{
    return alternating && (term->offset[0] + term->offset[1] + term->offset[2]) % 2 ? -1 : 1;
}

/* Set the cells to signs, times 1 or nearly 1. */
static void set_cells(tz_probe *probe, bool alternating, double near, uint64_t *counter)
{
    for (int i = 0; i < probe->patch.fields_count; i++)
        for (int64_t cell = 0; cell < probe->patch.cells; cell++)
            probe->in[i][cell] = probe->scale * sign_of(&probe->patch, cell, alternating) *
                                 (1.0 + near * tz_random_real(counter));
}

typedef struct moments {
    int64_t count;
    long double sum, squares; /* of differences from `about` */
} moments;

/* Add what each cell tells of the sum: its result without what its values have above 1. */
static void add_cells(const tz_probe *probe, bool alternating, const long double *about,
                      moments found[TZ_LINEAR_FIELDS_MAX], int64_t stride)
{
    const tz_patch *patch = &probe->patch;
    for (int64_t cell = 0; cell < patch->cells; cell += stride) {
        long double rest[TZ_LINEAR_FIELDS_MAX];
        const int sign = sign_of(patch, cell, alternating);
        for (int to = 0; to < patch->fields_count; to++)
            rest[to] = sign * (long double)(probe->out[to][cell] / probe->scale);
        for (int t = 0; t < probe->terms_count; t++) {
            const tz_linear_term *term = &probe->terms[t];
            const int64_t at = tz_patch_cell(patch, cell, term->offset);
            const int mark = sign_of_offset(term, alternating);
            const long double above =
                (long double)(probe->in[term->from][at] / probe->scale) * sign * mark - 1.0L;
            rest[term->to] -= mark * (long double)term->coefficient * above;
        }
        for (int to = 0; to < patch->fields_count; to++) {
            const long double difference = rest[to] - about[to];
            found[to].count++;
            found[to].sum += difference;
            found[to].squares += difference * difference;
        }
    }
}

/* The nearer candidate, unless the samples contradict it; else what they say. */
static long double choose(const moments *found, long double about, const long double candidates[2])
{
    const long double mean = found->sum / (long double)found->count;
    const long double variance = found->squares / (long double)found->count - mean * mean;
    const double deviation = sqrt((double)fmaxl(variance, 0.0L) / (double)found->count);
    const long double apart[2] = {fabsl(candidates[0] - about - mean),
                                  fabsl(candidates[1] - about - mean)};
    const int nearer = apart[1] < apart[0];
    if (apart[nearer] <= CERTAIN * deviation + 0x1p-64)
        return candidates[nearer];
    return about + mean;
}

static void find_sums(tz_probe *probe, bool alternating, long double sums[TZ_LINEAR_FIELDS_MAX])
{
    const int fields = probe->patch.fields_count;
    const int64_t cells = probe->patch.cells, work = cells * (probe->terms_count + 1);
    long double added[TZ_LINEAR_FIELDS_MAX] = {0}, given[TZ_LINEAR_FIELDS_MAX];
    moments found[TZ_LINEAR_FIELDS_MAX] = {{0}};
    uint64_t counter = 4711;
    for (int t = 0; t < probe->terms_count; t++)
        added[probe->terms[t].to] += sign_of_offset(&probe->terms[t], alternating) *
                                     (long double)probe->terms[t].coefficient;
    set_cells(probe, alternating, 0.0, &counter);
    apply_patch(probe, 0);
    for (int to = 0; to < fields; to++)
        given[to] = probe->out[to][0] / probe->scale;
    const int64_t stride = work / WORK_MAX + 1;
    for (int round = 0; round < ROUNDS_MAX && found[0].count < SAMPLES &&
                        (round == 0 || round * work / stride < WORK_MAX);
         round++) {
        set_cells(probe, alternating, NEAR, &counter);
        apply_patch(probe, 0);
        add_cells(probe, alternating, given, found, stride);
    }
    for (int to = 0; to < fields; to++) {
        /* Of two that fit, a sum that rounding made simple is the better one. */
        const long double candidates[2] = {given[to], added[to]};
        sums[to] = choose(&found[to], given[to], candidates);
    }
}

/* ---- Terms ----------------------------------------------------------------------------------- */

static void clear(tz_probe *probe)
{
    for (int i = 0; i < probe->patch.fields_count; i++)
        memset(probe->in[i], 0, (size_t)probe->patch.cells * sizeof **probe->in);
}

/* zero = F(0), and from it the scale of impulses. */
static tz_status find_source(tz_probe *probe, tz_error *error)
{
    clear(probe);
    apply_patch(probe, 0);
    for (int i = 0; i < probe->patch.fields_count; i++)
        for (int64_t cell = 0; cell < probe->patch.cells; cell++) {
            const double value = probe->zero[i][cell] = probe->out[i][cell];
            if (!isfinite(value) || fabs(value) > 1e150)
                return tz_error_set(error, TZ_UNSUPPORTED, probe->problem->stencil->id,
                                    "it cannot be jumped, because it is not linear: fields of 0 "
                                    "become %g",
                                    value);
            probe->source_size = fmax(probe->source_size, fabs(value));
        }
    probe->scale = probe->source_size > 0.0 ? ldexp(1.0, ilogb(probe->source_size) + 130) : 1.0;
    return TZ_OK;
}

/* The offset at which `cell` reads the cell at `impulse`. */
static void offset_of(const tz_patch *patch, int64_t cell, int64_t impulse, int offset[TZ_AXES])
{
    const int64_t *n = patch->extent;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        int64_t o = impulse % n[axis] - cell % n[axis];
        o = o > n[axis] / 2 ? o - n[axis] : o < -n[axis] / 2 ? o + n[axis] : o;
        offset[axis] = (int)o;
        impulse /= n[axis];
        cell /= n[axis];
    }
}

static tz_status add_term(tz_probe *probe, int *room, const tz_linear_term *term, tz_error *error)
{
    if (probe->terms_count == *room) {
        tz_linear_term *more =
            realloc(probe->terms, (size_t)(*room = 2 * *room + 32) * sizeof *more);
        if (!more)
            return tz_error_set(error, TZ_MEMORY, "jump", "not enough memory");
        probe->terms = more;
    }
    probe->terms[probe->terms_count++] = *term;
    return TZ_OK;
}

/* The coefficients: what an impulse in a cell of a field does around it. */
static tz_status find_terms(tz_probe *probe, tz_error *error)
{
    const tz_patch *patch = &probe->patch;
    double weights[TZ_LINEAR_FIELDS_MAX] = {0};
    int room = 0;
    tz_status status = TZ_OK;
    for (int from = 0; !status && from < patch->fields_count; from++) {
        const int64_t impulse = patch->cells / 2;
        clear(probe);
        probe->in[from][impulse] = probe->scale;
        apply_patch(probe, 0);
        for (int to = 0; to < patch->fields_count; to++)
            for (int64_t cell = 0; !status && cell < patch->cells; cell++) {
                tz_linear_term term = {.to = to, .from = from};
                /* Values of 0 that do not feel the impulse are s alone. */
                if (probe->out[to][cell] == probe->zero[to][cell])
                    continue;
                term.coefficient = probe->out[to][cell] / probe->scale;
                offset_of(patch, cell, impulse, term.offset);
                weights[to] += fabs(term.coefficient);
                for (int axis = 0; axis < TZ_AXES; axis++)
                    if (abs(term.offset[axis]) > probe->reach)
                        probe->reach = abs(term.offset[axis]);
                status = add_term(probe, &room, &term, error);
            }
    }
    for (int to = 0; to < patch->fields_count; to++)
        probe->weight = fmax(probe->weight, weights[to]);
    if (!status && !isfinite(probe->weight))
        status = tz_error_set(error, TZ_UNSUPPORTED, probe->problem->stencil->id,
                              "it cannot be jumped, because it is not linear: it makes an impulse "
                              "of %g infinite",
                              probe->scale);
    return status;
}

/* ---- Is it linear? --------------------------------------------------------------------------- */

/* Compare F of random values between two with the sum of the terms, at a step. */
static tz_status compare(tz_probe *probe, double low, double high, int64_t step, tz_error *error)
{
    enum { CELLS = 512 };
    const tz_patch *patch = &probe->patch;
    const double size = fmax(fabs(low), fabs(high));
    uint64_t counter = 12345;
    for (int i = 0; i < patch->fields_count; i++)
        for (int64_t cell = 0; cell < patch->cells; cell++)
            probe->in[i][cell] = low + (high - low) * (0.5 + 0.5 * tz_random_real(&counter));
    apply_patch(probe, step);
    const int64_t stride = patch->cells / CELLS + 1;
    for (int64_t cell = 0; cell < patch->cells; cell += stride) {
        double sums[TZ_LINEAR_FIELDS_MAX] = {0};
        for (int t = 0; t < probe->terms_count; t++) {
            const tz_linear_term *term = &probe->terms[t];
            sums[term->to] +=
                term->coefficient * probe->in[term->from][tz_patch_cell(patch, cell, term->offset)];
        }
        for (int i = 0; i < patch->fields_count; i++) {
            const double wanted = sums[i] + probe->zero[i][cell], got = probe->out[i][cell];
            const double room =
                ROUNDING * EPSILON * ((1.0 + probe->weight) * size + probe->source_size);
            if (fabs(got - wanted) <= room)
                continue;
            if (step > 0)
                return tz_error_set(error, TZ_UNSUPPORTED, probe->problem->stencil->id,
                                    "it cannot be jumped, because iterations differ: number "
                                    "%" PRId64 " makes %.6g of what becomes %.6g in number 0; use "
                                    "sim:run",
                                    step, got, wanted);
            return tz_error_set(error, TZ_UNSUPPORTED, probe->problem->stencil->id,
                                "it cannot be jumped, because it is not linear: of values between "
                                "%.3g and %.3g an iteration makes %.6g, and the sum of what each "
                                "of them adds is %.6g; use sim:run",
                                low, high, got, wanted);
        }
    }
    return TZ_OK;
}

static tz_status check_linear(tz_probe *probe, double low, double high, tz_error *error)
{
    static const double sizes[] = {1.0, 1.0 / TZ_PROBE_SIZES, TZ_PROBE_SIZES};
    tz_status status = compare(probe, low, high, 0, error); /* as the fields are */
    for (size_t k = 0; !status && k < sizeof sizes / sizeof *sizes; k++)
        status = compare(probe, -sizes[k] * probe->size, sizes[k] * probe->size, 0, error);
    if (!status)
        status = compare(probe, -1.0, 1.0, 0, error);
    for (int64_t step = 1; !status && step < 10000; step = 31 * step + 6)
        status = compare(probe, -probe->size, probe->size, step, error);
    return status;
}

/* ---- Static fields --------------------------------------------------------------------------- */

/* Large random values, of which s is no visible part, and what becomes of them. */
static void apply_large(tz_probe *probe)
{
    uint64_t counter = 99;
    for (int i = 0; i < probe->patch.fields_count; i++)
        for (int64_t cell = 0; cell < probe->patch.cells; cell++)
            probe->in[i][cell] = probe->scale * tz_random_real(&counter);
    apply_patch(probe, 0);
}

/* Whether coefficients follow a static field: they must not, unless it is the same everywhere. */
static tz_status check_static(tz_probe *probe, int field, tz_error *error)
{
    tz_patch *patch = &probe->patch;
    const tz_jump_range *range = &probe->ranges[field];
    const size_t bytes = (size_t)patch->cells * sizeof(double);
    tz_status status = TZ_OK;
    double *before[TZ_LINEAR_FIELDS_MAX] = {NULL};
    apply_large(probe);
    for (int i = 0; i < patch->fields_count; i++) {
        before[i] = malloc(bytes);
        if (before[i])
            memcpy(before[i], probe->out[i], bytes);
        else if (!status)
            status = tz_error_set(error, TZ_MEMORY, "jump", "not enough memory");
    }
    tz_patch_set(patch, field, range->low, range->high, 77);
    apply_large(probe);
    for (int i = 0; !status && i < patch->fields_count; i++)
        for (int64_t cell = 0; !status && cell < patch->cells; cell++) {
            const double change = fabs(probe->out[i][cell] - before[i][cell]);
            if (!(change <= ROUNDING * EPSILON * probe->scale * fmax(1.0, probe->weight)))
                status = tz_error_set(
                    error, TZ_UNSUPPORTED, probe->problem->stencil->id,
                    "it cannot be jumped, because its coefficients follow field '%s', which "
                    "differs "
                    "from cell to cell (from %.6g to %.6g): give it one value, or use sim:run",
                    probe->problem->stencil->fields[field].name, range->low, range->high);
        }
    for (int i = 0; i < patch->fields_count; i++)
        free(before[i]);
    return status;
}

static tz_status set_static(tz_probe *probe, tz_error *error)
{
    const tz_stencil *stencil = probe->problem->stencil;
    for (int f = 0; f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STATIC)
            tz_patch_set(&probe->patch, f, probe->ranges[f].low, probe->ranges[f].high,
                         (uint64_t)f);
    tz_status status = find_source(probe, error);
    for (int f = 0; !status && f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STATIC && probe->ranges[f].low < probe->ranges[f].high)
            status = check_static(probe, f, error);
    /* s has the last values. */
    return status ? status : find_source(probe, error);
}

/* ---- Evenness -------------------------------------------------------------------------------- */

static double coefficient_at(const tz_probe *probe, const tz_linear_term *like,
                             const int offset[TZ_AXES])
{
    for (int t = 0; t < probe->terms_count; t++) {
        const tz_linear_term *term = &probe->terms[t];
        if (term->to == like->to && term->from == like->from &&
            memcmp(term->offset, offset, sizeof term->offset) == 0)
            return term->coefficient;
    }
    return 0.0;
}

static tz_status check_even(const tz_probe *probe, tz_linear *out, int axis, tz_error *error)
{
    char text[TZ_BOUNDARY_TEXT_SIZE];
    out->even[axis] = true;
    for (int t = 0; t < probe->terms_count; t++) {
        const tz_linear_term *term = &probe->terms[t];
        int other[TZ_AXES];
        memcpy(other, term->offset, sizeof other);
        other[axis] = -other[axis];
        const double coefficient = coefficient_at(probe, term, other);
        if (fabs(coefficient - term->coefficient) <= 8.0 * EPSILON * probe->weight)
            continue;
        out->even[axis] = false;
        if (out->transform[axis] != TZ_DFT)
            return tz_error_set(
                error, TZ_UNSUPPORTED, probe->problem->stencil->id,
                "it cannot be jumped, because it is not even along axis %c, whose sides are %s: "
                "the "
                "cell at (%d, %d, %d) has the weight %.6g, and that at (%d, %d, %d) has %.6g; use "
                "periodic sides or sim:run",
                AXES[axis], tz_boundary_text(probe->problem->boundary[axis], text), term->offset[0],
                term->offset[1], term->offset[2], term->coefficient, other[0], other[1], other[2],
                coefficient);
    }
    return TZ_OK;
}

/* The terms with both signs of even axes together. */
static tz_status fold(const tz_probe *probe, tz_linear *out, tz_error *error)
{
    out->terms = calloc((size_t)probe->terms_count + 1, sizeof *out->terms);
    if (!out->terms)
        return tz_error_set(error, TZ_MEMORY, "jump", "not enough memory");
    for (int t = 0; t < probe->terms_count; t++) {
        tz_linear_term term = probe->terms[t];
        int k = 0;
        for (int axis = 0; axis < TZ_AXES; axis++)
            if (out->even[axis])
                term.offset[axis] = abs(term.offset[axis]);
        for (; k < out->terms_count; k++)
            if (out->terms[k].to == term.to && out->terms[k].from == term.from &&
                memcmp(out->terms[k].offset, term.offset, sizeof term.offset) == 0)
                break;
        if (k == out->terms_count)
            out->terms[out->terms_count++] = term;
        else
            out->terms[k].coefficient += term.coefficient;
    }
    return TZ_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static tz_status conclude(tz_probe *probe, tz_linear *out, tz_error *error)
{
    long double sums[TZ_LINEAR_FIELDS_MAX];
    out->real = true;
    out->radius = probe->reach;
    tz_status status = TZ_OK;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        out->even[axis] = true;
        if (!status && axis < out->dims)
            status = check_even(probe, out, axis, error);
        out->real = out->real && out->even[axis];
    }
    if (!status)
        status = fold(probe, out, error);
    if (!status)
        find_sums(probe, false, sums);
    for (int to = 0; !status && to < out->fields_count; to++)
        out->rest[to] = (double)(1.0L - sums[to]);
    if (status || !out->real || out->fields_count > 1)
        return status;
    find_sums(probe, true, sums);
    out->alternating_rest = (double)(1.0L + sums[0]);
    return status;
}

static tz_status make_arrays(tz_probe *probe, tz_error *error)
{
    const size_t cells = (size_t)probe->patch.cells;
    double *next = probe->memory = calloc(TZ_PROBE_ARRAYS * cells, sizeof *next);
    if (!next)
        return tz_error_set(error, TZ_MEMORY, "jump", "not enough memory");
    for (int i = 0; i < TZ_LINEAR_FIELDS_MAX; i++) {
        probe->in[i] = next;
        probe->out[i] = next + cells;
        probe->zero[i] = next + 2 * cells;
        next += 3 * cells;
    }
    return TZ_OK;
}

tz_status tz_jump_probe(tz_linear *out, const tz_problem *in_double, const tz_jump_range *ranges,
                        tz_error *error)
{
    tz_probe probe = {.problem = in_double, .ranges = ranges};
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < out->fields_count; i++) {
        low = fmin(low, ranges[out->field[i]].low);
        high = fmax(high, ranges[out->field[i]].high);
    }
    probe.size = fmax(fabs(low), fabs(high));
    if (!(probe.size > 0.0))
        probe.size = 1.0;
    tz_status status = tz_patch_create(&probe.patch, in_double, error);
    if (!status)
        status = make_arrays(&probe, error);
    if (!status)
        status = set_static(&probe, error);
    if (!status)
        status = find_terms(&probe, error);
    if (!status)
        status = check_linear(&probe, low, high, error);
    if (!status)
        status = conclude(&probe, out, error);
    tz_patch_destroy(&probe.patch);
    free(probe.terms);
    free(probe.memory);
    return status;
}
