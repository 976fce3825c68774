/* Finds the operator and the source of an update, and does the jump on the backend or on the host.
 * Called by core/sim/solve.c, and by core/predict/measure.c to time jumps. */
#include "jump/jump.h"

#include "backend/host/reduce.h"
#include "base/machine.h"
#include "base/ranks.h"
#include "jump/host.h"
#include "jump/operator.h"
#include "jump/probe.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tz_jump {
    tz_jump_context context;
    tz_backend_context double_context;
    tz_problem in_double;
    tz_linear linear;
    int64_t cells;
    tz_plan plan; /* of one iteration in double precision */
    void *source; /* a state in double precision: s, for backends with jump(); or NULL */
    tz_jump_host host;
    bool is_host;     /* the work is done there */
    tz_symbol symbol; /* for the condition; that of the host, or with tables of its own */
    double *tables;
    double tested;    /* values up to this size were tried */
    tz_error missing; /* because of this, if the backend could do it with a library */
};

static tz_status check_memory(const tz_jump *jump, int64_t bytes, tz_error *error)
{
    const double gib = 1.0 / (double)(INT64_C(1) << 30);
    const tz_ranks *ranks = jump->context.context->ranks;
    const int64_t available = tz_machine_memory_available() / (ranks ? ranks->local_count : 1);
    if (bytes <= available)
        return TZ_OK;
    return tz_error_set(error, TZ_MEMORY, "jump",
                        "a jump of this grid needs %.2f GiB of memory beside the fields, and %.2f "
                        "GiB are available: use a smaller grid or sim:run",
                        (double)bytes * gib, (double)available * gib);
}

/* At most three tables for each axis. */
static int64_t table_bytes(const tz_linear *linear)
{
    int64_t numbers = 0;
    for (int axis = 0; axis < linear->dims; axis++)
        numbers += 3 * linear->extent[axis] * linear->radius;
    return numbers * (int64_t)sizeof(double);
}

static int64_t array_bytes(const tz_jump *jump)
{
    return jump->cells * (int64_t)sizeof(double);
}

/* ---- The operator ---------------------------------------------------------------------------- */

static tz_status find_ranges(const tz_jump *jump, tz_jump_range *ranges, tz_error *error)
{
    const tz_jump_context *c = &jump->context;
    const tz_stencil *stencil = c->problem->stencil;
    tz_status status = TZ_OK;
    for (int f = 0; !status && f < stencil->fields_count; f++) {
        tz_reduction r;
        status = tz_backend_reduce(c->backend, c->state, c->problem, f, &r, error);
        if (!status && r.not_finite > 0)
            status = tz_error_set(error, TZ_DIVERGED, stencil->fields[f].name,
                                  "a cell of the field is not finite, so nothing can be jumped");
        ranges[f] = (tz_jump_range){r.min, r.max};
    }
    return status;
}

/* The largest value of the fields that are jumped. */
static double largest(const tz_jump *jump, const tz_jump_range *ranges)
{
    double size = 0.0;
    for (int i = 0; i < jump->linear.fields_count; i++) {
        const tz_jump_range *range = &ranges[jump->linear.field[i]];
        size = fmax(size, fmax(fabs(range->low), fabs(range->high)));
    }
    return size;
}

/* ---- The constant part ----------------------------------------------------------------------- */

static tz_grid_state grid_of(const tz_jump *jump)
{
    return (tz_grid_state){&jump->in_double, jump->context.backend, jump->source,
                           jump->double_context.threads};
}

/* A state in double precision with the static fields; the others are 0. */
static tz_status create_source(tz_jump *jump, tz_error *error)
{
    const tz_jump_context *c = &jump->context;
    const tz_grid_state from = {c->problem, c->backend, c->state, jump->double_context.threads};
    tz_status status = c->backend->plan(&jump->in_double, c->place, &jump->plan, error);
    const int64_t bytes = status ? 0 : c->backend->bytes(&jump->in_double, c->place, &jump->plan);
    if (!status)
        status =
            check_memory(jump, bytes + (jump->linear.fields_count + 1) * array_bytes(jump), error);
    if (!status)
        status = c->backend->create(&jump->source, &jump->double_context, error);
    const tz_grid_state to = grid_of(jump);
    return status ? status : tz_grid_copy_static(&from, &to, error);
}

/* Make the state fields of the source s = F(0). */
static tz_status step_from_zero(tz_jump *jump, tz_error *error)
{
    const tz_jump_context *c = &jump->context;
    const double zero = 0.0;
    tz_status status = TZ_OK;
    for (int i = 0; !status && i < jump->linear.fields_count; i++)
        status = c->backend->fill(jump->source, jump->linear.field[i], &zero, error);
    if (!status)
        status = c->backend->stage(jump->source, &jump->plan, 1, 0, error);
    if (!status && c->backend->wait)
        status = c->backend->wait(jump->source, error);
    return status;
}

/* Read s into arrays; NULL where it is 0 everywhere. */
static tz_status read_source(tz_jump *jump, double *source[TZ_LINEAR_FIELDS_MAX], double *size,
                             tz_error *error)
{
    const tz_jump_context *c = &jump->context;
    const tz_grid_state from = grid_of(jump);
    tz_status status = TZ_OK;
    for (int i = 0; !status && i < jump->linear.fields_count; i++) {
        tz_reduction r;
        status = tz_backend_reduce(c->backend, jump->source, &jump->in_double,
                                   jump->linear.field[i], &r, error);
        if (status)
            break;
        if (r.not_finite > 0)
            return tz_error_set(error, TZ_UNSUPPORTED, c->problem->stencil->id,
                                "it cannot be jumped, because it is not linear: an iteration of "
                                "fields of 0 gives values that are not finite");
        *size = fmax(*size, fmax(fabs(r.min), fabs(r.max)));
        if (r.min == 0.0 && r.max == 0.0)
            continue;
        jump->linear.affine = true;
        source[i] = tz_jump_host_array(jump->cells);
        status = source[i] ? tz_grid_read(&from, jump->linear.field[i], source[i], error)
                           : tz_error_set(error, TZ_MEMORY, "jump", "not enough memory");
    }
    return status;
}

/* Check the operator on the whole grid; it needs arrays where s is 0, too. */
static tz_status verify(tz_jump *jump, double *source[TZ_LINEAR_FIELDS_MAX], double size,
                        tz_error *error)
{
    const tz_grid_state in = grid_of(jump);
    const double *all[TZ_LINEAR_FIELDS_MAX] = {source[0], source[1]};
    double *zeros = NULL;
    for (int i = 0; jump->linear.affine && i < jump->linear.fields_count; i++)
        if (!all[i]) {
            zeros = zeros ? zeros : calloc((size_t)jump->cells, sizeof *zeros);
            if (!zeros)
                return tz_error_set(error, TZ_MEMORY, "jump", "not enough memory");
            all[i] = zeros;
        }
    const tz_status status = tz_grid_verify(&in, &jump->plan, &jump->linear,
                                            jump->linear.affine ? all : NULL, size, error);
    free(zeros);
    return status;
}

/* What has to be there for the work itself. */
static tz_status prepare(tz_jump *jump, double *source[TZ_LINEAR_FIELDS_MAX], tz_error *error)
{
    const tz_backend *backend = jump->context.backend;
    tz_status status = TZ_OK;
    if (!jump->is_host && jump->linear.affine)
        return step_from_zero(jump, error);
    backend->destroy(jump->source);
    jump->source = NULL;
    for (int i = 0; !status && jump->is_host && i < jump->linear.fields_count; i++)
        if (source[i]) {
            status = tz_jump_host_source(&jump->host, i, source[i], error);
            source[i] = NULL;
        }
    return status;
}

static tz_status find_source(tz_jump *jump, double values, tz_error *error)
{
    double *source[TZ_LINEAR_FIELDS_MAX] = {NULL}, size = 0.0;
    tz_status status = create_source(jump, error);
    if (!status)
        status = step_from_zero(jump, error);
    if (!status)
        status = read_source(jump, source, &size, error);
    /* The mean of a source is no better known than its values. */
    jump->linear.source_none = 4.0 * tz_problem_real(jump->context.problem)->epsilon * size;
    const double most = fmax(values, size);
    if (!status)
        status = verify(jump, source, most > 0.0 ? most : 1.0, error);
    if (!status)
        status = prepare(jump, source, error);
    for (int i = 0; i < TZ_LINEAR_FIELDS_MAX; i++)
        free(source[i]);
    return status;
}

/* ---- Creation -------------------------------------------------------------------------------- */

/* Whether the backend does the work itself. */
static bool can_there(tz_jump *jump)
{
    const tz_backend *backend = jump->context.backend;
    char library[64];
    return backend->jump &&
           (!backend->jump_library ||
            backend->jump_library(library, sizeof library, &jump->missing) == TZ_OK);
}

static tz_status create_host(tz_jump *jump, tz_error *error)
{
    tz_error none;
    const tz_status status =
        tz_jump_host_create(&jump->host, &jump->linear, jump->double_context.threads, &none);
    if (status && jump->missing.code && !jump->host.fftw.plan_r2r)
        return tz_error_set(error, status, "jump",
                            "%s; nor is there libfftw3, by which it could "
                            "be done in host memory",
                            jump->missing.message);
    if (status && error)
        *error = none;
    return status;
}

static tz_status find(tz_jump *jump, tz_error *error)
{
    tz_jump_range ranges[TZ_FIELDS_MAX];
    int64_t count;
    tz_status status = tz_jump_describe(&jump->linear, jump->context.problem, error);
    if (status)
        return status;
    jump->cells = jump->linear.extent[0] * jump->linear.extent[1] * jump->linear.extent[2];
    status = find_ranges(jump, ranges, error);
    if (!status)
        status = tz_jump_probe(&jump->linear, &jump->in_double, ranges, error);
    if (!status)
        status = check_memory(jump, table_bytes(&jump->linear), error);
    if (!status && jump->is_host)
        status = create_host(jump, error);
    if (status)
        return status;
    if (jump->is_host)
        jump->symbol = jump->host.symbol;
    else
        status = tz_symbol_create(&jump->symbol, &jump->tables, &count, &jump->linear, error);
    const double size = largest(jump, ranges);
    jump->tested = TZ_PROBE_SIZES * (size > 0.0 ? size : 1.0);
    return status ? status : find_source(jump, size, error);
}

tz_status tz_jump_covers(const tz_jump *jump, bool *covers, tz_error *error)
{
    const tz_jump_context *c = &jump->context;
    tz_status status = TZ_OK;
    *covers = true;
    for (int i = 0; !status && i < jump->linear.fields_count; i++) {
        tz_reduction r;
        status =
            tz_backend_reduce(c->backend, c->state, c->problem, jump->linear.field[i], &r, error);
        *covers = *covers && !(fabs(r.min) > jump->tested || fabs(r.max) > jump->tested);
    }
    return status;
}

tz_status tz_jump_create(tz_jump **out, const tz_jump_context *context, tz_error *error)
{
    *out = NULL;
    if (!tz_problem_all_as_computed(context->problem))
        return tz_error_set(error, TZ_UNSUPPORTED, "jump",
                            "a jump needs fields that are stored as they are computed: leave "
                            "storage out");
    tz_jump *jump = calloc(1, sizeof *jump);
    if (!jump)
        return tz_error_set(error, TZ_MEMORY, "jump", "not enough memory");
    jump->context = *context;
    jump->in_double = tz_problem_in_double(context->problem);
    jump->in_double.narrow = NULL; /* fields have double precision in memory, too */
    jump->double_context = *context->context;
    jump->double_context.problem = &jump->in_double;
    jump->context.context = &jump->double_context;
    jump->plan.height = 1;
    jump->is_host = !can_there(jump);
    const tz_status status = find(jump, error);
    jump->context.place = NULL;
    if (status) {
        tz_jump_destroy(jump);
        return status;
    }
    *out = jump;
    return TZ_OK;
}

void tz_jump_destroy(tz_jump *jump)
{
    if (!jump)
        return;
    if (jump->source)
        jump->context.backend->destroy(jump->source);
    tz_jump_host_destroy(&jump->host);
    tz_linear_clear(&jump->linear);
    free(jump->tables);
    free(jump);
}

/* ---- The work -------------------------------------------------------------------------------- */

static tz_status advance_here(tz_jump *jump, int64_t steps, tz_jump_facts *facts, tz_error *error)
{
    const tz_jump_context *c = &jump->context;
    const tz_grid_state grid = {c->problem, c->backend, c->state, jump->double_context.threads};
    const int count = jump->linear.fields_count;
    double *fields[TZ_LINEAR_FIELDS_MAX] = {NULL};
    facts->bytes = count * array_bytes(jump);
    tz_status status = check_memory(jump, facts->bytes, error);
    for (int i = 0; i < count; i++) {
        if (!status && !(fields[i] = tz_jump_host_array(jump->cells)))
            status = tz_error_set(error, TZ_MEMORY, "jump", "not enough memory");
        if (!status)
            status = tz_grid_read(&grid, jump->linear.field[i], fields[i], error);
    }
    if (!status)
        status = tz_jump_host_advance(&jump->host, fields, steps, error);
    for (int i = 0; !status && i < count; i++)
        status = tz_grid_write(&grid, jump->linear.field[i], fields[i], error);
    for (int i = 0; i < count; i++) {
        facts->bytes += jump->host.source[i] ? array_bytes(jump) : 0;
        free(fields[i]);
    }
    snprintf(facts->library, sizeof facts->library, "%s", jump->host.fftw.version);
    return status;
}

tz_status tz_jump_advance(tz_jump *jump, int64_t steps, tz_jump_facts *facts, tz_error *error)
{
    *facts = (tz_jump_facts){.bytes = 0};
    if (jump->is_host)
        return advance_here(jump, steps, facts, error);
    return jump->context.backend->jump(jump->context.state, &jump->linear, steps, jump->source,
                                       facts, error);
}

/* ---- The condition --------------------------------------------------------------------------- */

static double condition_at(const tz_symbol *symbol, const long long k[TZ_AXES], double n)
{
    double size = 0.0, turns = 0.0;
    if (symbol->fields == 2) {
        const tz_symbol_pair pair = tz_symbol_pair_at(symbol, k);
        tz_complex trace, det, mu[2];
        tz_spectral_pair_roots(&pair, &trace, &det, mu);
        for (int i = 0; i < 2; i++) {
            const tz_complex none[2] = {{0.0, 0.0}, {0.0, 0.0}};
            tz_complex u[2] = {{i == 0, 0.0}, {i == 1, 0.0}};
            tz_spectral_pair_power(&pair, n, u, none);
            size = fmax(size, hypot(u[0].re, u[0].im) + hypot(u[1].re, u[1].im));
            turns = fmax(turns, fabs(atan2(-mu[i].im, 1.0 - mu[i].re)));
        }
        return size * (1.0 + n * turns);
    }
    const tz_complex d = tz_symbol_complex(symbol, k);
    const tz_complex lambda = tz_complex_of(1.0 - d.re, -d.im);
    tz_complex power, sum;
    tz_spectral_power_complex(d, n, &power, &sum);
    size = hypot(power.re, power.im);
    turns = lambda.im == 0.0 ? 0.0 : fabs(atan2(lambda.im, lambda.re));
    return size * (1.0 + n * turns);
}

double tz_jump_condition(const tz_jump *jump, int64_t steps)
{
    enum { SAMPLES = 9 };
    const tz_linear *linear = &jump->linear;
    double most = 1.0;
    if (steps == TZ_JUMP_LIMIT)
        return 1.0;
    for (int i = 0; i < SAMPLES * SAMPLES * SAMPLES; i++) {
        const int at[TZ_AXES] = {i % SAMPLES, i / SAMPLES % SAMPLES, i / (SAMPLES * SAMPLES)};
        long long k[TZ_AXES];
        for (int axis = 0; axis < TZ_AXES; axis++) {
            const int64_t n = linear->extent[axis];
            k[axis] = at[axis] < 3 ? (at[axis] < n ? at[axis] : 0)
                                   : (n - 1) * (at[axis] - 2) / (SAMPLES - 3);
        }
        const double one = condition_at(&jump->symbol, k, (double)steps);
        if (one > most)
            most = one;
    }
    return most;
}
