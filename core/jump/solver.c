/* Steady states and implicit steps. Called by core/sim/solve.c. */
#include "jump/solver.h"

#include "backend/host/reduce.h"
#include "base/machine.h"
#include "base/random.h"
#include "base/ranks.h"
#include "jump/patch.h"
#include "jump/system.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES_MAX = 6 };

static const double EPSILON = 0x1p-52;
/* An update of so many units in the last place of the largest value is rounding. */
static const double ROUNDING = 8.0;
/* What one solution leaves of the residual: for a steady state, and for a step. */
static const double STEADY_REDUCTION = 1e-12;
static const double STEP_REDUCTION = 1e-10;
/* Less than that is no solution. */
static const double FAILED_REDUCTION = 1e-3;
/* Steps that differ by this part have the same preconditioner. */
static const double SIMILAR = 0.25;

struct tz_solver {
    tz_jump_context context;
    tz_backend_context double_context;
    tz_problem in_double;
    tz_plan plan;
    void *state; /* in double precision */
    tz_grid_state grid;
    tz_operator op;
    tz_system *steady, *step; /* NULL: not made yet */
    double step_scale;        /* for which `step` was made */
    double *u, *r, *x, *y;    /* of all rows */
    bool doubted, is_euler, direct;
};

/* ---- Creation -------------------------------------------------------------------------------- */

static tz_status check_memory(const tz_solver *solver, tz_error *error)
{
    const double gib = 1.0 / (double)(INT64_C(1) << 30);
    const tz_ranks *ranks = solver->context.context->ranks;
    const int64_t available = tz_machine_memory_available() / (ranks ? ranks->local_count : 1);
    const int64_t bytes = tz_operator_bytes(&solver->in_double);
    if (bytes <= available)
        return TZ_OK;
    return tz_error_set(error, TZ_MEMORY, "solver",
                        "solving on this grid needs %.2f GiB of memory beside the fields, and "
                        "%.2f GiB are available: use a smaller grid or sim:run",
                        (double)bytes * gib, (double)available * gib);
}

/* The largest value of the state fields. */
static tz_status find_size(const tz_solver *solver, double *size, tz_error *error)
{
    const tz_jump_context *c = &solver->context;
    tz_status status = TZ_OK;
    *size = 0.0;
    for (int f = 0; !status && f < c->problem->stencil->fields_count; f++) {
        tz_reduction r;
        if (c->problem->stencil->fields[f].role != TZ_STATE)
            continue;
        status = tz_backend_reduce(c->backend, c->state, c->problem, f, &r, error);
        if (!status && r.not_finite > 0)
            status = tz_error_set(error, TZ_DIVERGED, c->problem->stencil->fields[f].name,
                                  "a cell of the field is not finite, so nothing can be solved");
        if (!status)
            *size = fmax(*size, fmax(fabs(r.min), fabs(r.max)));
    }
    *size = *size > 0.0 ? *size : 1.0;
    return status;
}

/* The simulation's state, where the solver's own is in double precision. */
static tz_grid_state outer_grid(const tz_solver *solver)
{
    const tz_jump_context *c = &solver->context;
    return (tz_grid_state){c->problem, c->backend, c->state, solver->double_context.threads};
}

static tz_status copy_static(tz_solver *solver, tz_error *error)
{
    const tz_grid_state from = outer_grid(solver);
    return tz_grid_copy_static(&from, &solver->grid, error);
}

static tz_status create(tz_solver *solver, tz_error *error)
{
    const tz_jump_context *c = &solver->context;
    double size;
    tz_status status = tz_operator_describe(c->problem, error);
    if (!status)
        status = check_memory(solver, error);
    if (!status)
        status = find_size(solver, &size, error);
    if (!status)
        status = c->backend->plan(&solver->in_double, c->place, &solver->plan, error);
    if (!status)
        status = c->backend->create(&solver->state, &solver->double_context, error);
    solver->grid = (tz_grid_state){&solver->in_double, c->backend, solver->state,
                                   solver->double_context.threads};
    if (!status)
        status = copy_static(solver, error);
    if (!status)
        status = tz_operator_find(&solver->op, &solver->grid, &solver->plan, size, error);
    if (status)
        return status;
    const size_t bytes = ((size_t)solver->op.rows + 1) * sizeof(double);
    solver->u = malloc(bytes);
    solver->r = malloc(bytes);
    solver->x = malloc(bytes);
    solver->y = malloc(bytes);
    return solver->u && solver->r && solver->x && solver->y
               ? TZ_OK
               : tz_error_set(error, TZ_MEMORY, "solver", "not enough memory");
}

tz_status tz_solver_create(tz_solver **out, const tz_jump_context *context, tz_error *error)
{
    tz_solver *solver = *out = calloc(1, sizeof *solver);
    if (!solver)
        return tz_error_set(error, TZ_MEMORY, "solver", "not enough memory");
    solver->context = *context;
    solver->in_double = tz_problem_in_double(context->problem);
    solver->in_double.narrow = NULL; /* fields have double precision in memory, too */
    solver->double_context = *context->context;
    solver->double_context.problem = &solver->in_double;
    solver->context.context = &solver->double_context;
    solver->plan.height = 1;
    const tz_status status = create(solver, error);
    solver->context.place = NULL;
    if (status) {
        tz_solver_destroy(solver);
        *out = NULL;
    }
    return status;
}

static void forget_systems(tz_solver *solver)
{
    tz_system_destroy(solver->steady);
    tz_system_destroy(solver->step);
    solver->steady = solver->step = NULL;
}

void tz_solver_destroy(tz_solver *solver)
{
    if (!solver)
        return;
    forget_systems(solver);
    tz_operator_clear(&solver->op);
    if (solver->state)
        solver->context.backend->destroy(solver->state);
    free(solver->u);
    free(solver->r);
    free(solver->x);
    free(solver->y);
    free(solver);
}

void tz_solver_use_factors(tz_solver *solver, bool direct)
{
    if (solver->direct != direct)
        forget_systems(solver);
    solver->direct = direct;
}

void tz_solver_doubt(tz_solver *solver)
{
    if (solver)
        solver->doubted = true;
}

/* The operator for static fields that have changed: b is another one, and A only if it must be. */
static tz_status look_again(tz_solver *solver, tz_error *error)
{
    double size;
    bool same = true;
    if (!solver->doubted)
        return TZ_OK;
    tz_status status = find_size(solver, &size, error);
    if (!status)
        status = copy_static(solver, error);
    if (!status)
        status = tz_operator_renew(&solver->op, size, &same, error);
    if (!status && !same) {
        forget_systems(solver);
        tz_operator_clear(&solver->op);
        status = tz_operator_find(&solver->op, &solver->grid, &solver->plan, size, error);
    }
    solver->doubted = status != TZ_OK;
    return status;
}

/* ---- Fields and vectors ---------------------------------------------------------------------- */

static tz_status move_fields(tz_solver *solver, bool writes, tz_error *error)
{
    const tz_grid_state grid = outer_grid(solver);
    tz_status status = TZ_OK;
    for (int i = 0; !status && i < solver->op.fields_count; i++) {
        double *u = solver->u + i * solver->op.cells;
        status = writes ? tz_grid_write(&grid, solver->op.field[i], u, error)
                        : tz_grid_read(&grid, solver->op.field[i], u, error);
    }
    return status;
}

/* r = F(u) - u. */
static tz_status find_update(tz_solver *solver, tz_error *error)
{
    const tz_status status = tz_operator_iterate(&solver->op, solver->u, solver->r, error);
    for (int64_t i = 0; !status && i < solver->op.rows; i++)
        solver->r[i] -= solver->u[i];
    return status;
}

static double largest_of(const double *v, int64_t count)
{
    double largest = 0.0;
    for (int64_t i = 0; i < count; i++)
        largest = fabs(v[i]) > largest ? fabs(v[i]) : largest;
    return largest;
}

static void begin_facts(const tz_solver *solver, const tz_system *system, tz_solver_facts *facts)
{
    *facts = (tz_solver_facts){.method = tz_system_method(system),
                               .bytes = tz_operator_bytes(&solver->in_double)};
}

static tz_status solve(tz_solver *solver, tz_system *system, const double *r, double *x,
                       double reduction, const tz_cancel *cancel, tz_solver_facts *facts,
                       tz_error *error)
{
    tz_system_facts found;
    const tz_status status = tz_system_solve(system, r, x, reduction, cancel, &found, error);
    facts->iterations += found.iterations;
    facts->systems++;
    if (status || found.reduction <= FAILED_REDUCTION)
        return status;
    return tz_error_set(error, TZ_DIVERGED, solver->context.problem->stencil->id,
                        "%s does not find a solution: %" PRId64 " iterations leave %.3g of the "
                        "residual; take explicit steps (sim:run)",
                        facts->method, found.iterations, found.reduction);
}

/* ---- Steady states --------------------------------------------------------------------------- */

/* Sides beside which cells count less. */
static bool has_mirrors(const tz_problem *problem)
{
    bool mirrors = false;
    for (int axis = 0; axis < problem->dims; axis++)
        for (int side = 0; side < 2; side++)
            mirrors = mirrors || (tz_boundary_reflects(problem->boundary[axis][side]) &&
                                  problem->extent[axis] > 1);
    return mirrors;
}

/* Whether what iterations add has a mean that nothing takes away. *mean: what rounding leaves. */
static tz_status check_consistent(tz_solver *solver, double *mean, tz_error *error)
{
    const tz_problem *problem = solver->context.problem;
    const double of_fields = tz_problem_real(problem)->epsilon;
    const double room = 4.0 * of_fields * largest_of(solver->op.constant, solver->op.rows) +
                        ROUNDING * EPSILON * largest_of(solver->u, solver->op.rows);
    int64_t row;
    if (!tz_system_mean(solver->steady, solver->r, &row, mean) || fabs(*mean) <= room)
        return TZ_OK;
    const int64_t *n = problem->extent, cell = row % solver->op.cells;
    return tz_error_set(
        error, TZ_DIVERGED, problem->stencil->id,
        "inconsistent: there is no steady state. Nothing takes away what iterations add to field "
        "'%s' around cell (%" PRId64 ", %" PRId64 ", %" PRId64 "): its weighted sum%s must be 0, "
        "and the mean is %.6g; take the mean from the source, or give the grid a fixed side",
        problem->stencil->fields[solver->op.field[row / solver->op.cells]].name, cell % n[0],
        cell / n[0] % n[1], cell / (n[0] * n[1]),
        has_mirrors(problem) ? " (a cell at a mirror side counts half, at two of them a quarter)"
                             : "",
        *mean);
}

/* Newton's iteration with a matrix that is right but for rounding: one or two passes. */
static tz_status improve(tz_solver *solver, double update, const tz_cancel *cancel,
                         tz_solver_facts *facts, tz_error *error)
{
    double mean = 0.0, before = INFINITY;
    tz_status status = find_update(solver, error);
    for (int pass = 0; !status; pass++) {
        const double size = largest_of(solver->u, solver->op.rows);
        const double rounding = ROUNDING * EPSILON * size + 2.0 * fabs(mean);
        facts->largest = largest_of(solver->r, solver->op.rows);
        if (!isfinite(facts->largest))
            return tz_error_set(error, TZ_DIVERGED, solver->context.problem->stencil->id,
                                "the solution is not finite");
        if (facts->largest <= fmax(update, rounding) || facts->largest > 0.5 * before ||
            pass == PASSES_MAX)
            return TZ_OK;
        before = facts->largest;
        status = check_consistent(solver, &mean, error);
        if (!status)
            status = solve(solver, solver->steady, solver->r, solver->x, STEADY_REDUCTION, cancel,
                           facts, error);
        if (!status)
            tz_vector_add(solver->u, 1.0, solver->x, solver->op.rows,
                          solver->double_context.threads);
        if (!status)
            status = find_update(solver, error);
    }
    return status;
}

tz_status tz_solver_steady(tz_solver *solver, double update, const tz_cancel *cancel,
                           tz_solver_facts *facts, tz_error *error)
{
    tz_status status = look_again(solver, error);
    if (!status && !solver->steady)
        status = tz_system_create(&solver->steady, &solver->op, 0.0, 1.0, solver->direct,
                                  solver->double_context.threads, error);
    if (!status)
        status = move_fields(solver, false, error);
    if (status)
        return status;
    begin_facts(solver, solver->steady, facts);
    status = improve(solver, update, cancel, facts, error);
    return status ? status : move_fields(solver, true, error);
}

/* ---- Implicit steps -------------------------------------------------------------------------- */

/* The system 1 + scale (1 - A). */
static tz_status need_step(tz_solver *solver, double scale, tz_error *error)
{
    if (solver->step && fabs(scale - solver->step_scale) > SIMILAR * solver->step_scale) {
        tz_system_destroy(solver->step);
        solver->step = NULL;
    }
    if (solver->step) {
        tz_system_change(solver->step, 1.0, scale);
        return TZ_OK;
    }
    solver->step_scale = scale;
    return tz_system_create(&solver->step, &solver->op, 1.0, scale, solver->direct,
                            solver->double_context.threads, error);
}

/* With f = F(u) - u, an iteration is u + f(u), and a step is as long as h of them. Order 1 is
 * backward Euler: (1 + h (1 - A)) x = f(u), u += h x. Order 2 has two such stages (Alexander, SIAM
 * J. Numer. Anal. 14, 1977), and damps what is fast as the first does. */
static tz_status step(tz_solver *solver, double h, double gamma, const tz_cancel *cancel,
                      tz_solver_facts *facts, tz_error *error)
{
    tz_threads *threads = solver->double_context.threads;
    const int64_t rows = solver->op.rows;
    const double rest = 1.0 - gamma; /* of the step, after the first stage */
    tz_status status =
        solve(solver, solver->step, solver->r, solver->x, STEP_REDUCTION, cancel, facts, error);
    if (!status && rest > 0.0) {
        tz_matrix_multiply(&solver->op.matrix, NULL, solver->x, solver->y, threads);
        tz_vector_add(solver->r, -h * rest, solver->y, rows, threads);
        status =
            solve(solver, solver->step, solver->r, solver->y, STEP_REDUCTION, cancel, facts, error);
        tz_vector_add(solver->u, h * rest, solver->x, rows, threads);
    }
    if (!status)
        tz_vector_add(solver->u, h * gamma, rest > 0.0 ? solver->y : solver->x, rows, threads);
    return status;
}

tz_status tz_solver_step(tz_solver *solver, double iterations, int order, const tz_cancel *cancel,
                         tz_solver_facts *facts, tz_error *error)
{
    const double gamma = order == 1 ? 1.0 : 1.0 - sqrt(0.5);
    tz_status status = look_again(solver, error);
    if (!status)
        status = need_step(solver, gamma * iterations, error);
    if (!status)
        status = move_fields(solver, false, error);
    if (!status)
        status = find_update(solver, error);
    if (status)
        return status;
    begin_facts(solver, solver->step, facts);
    status = step(solver, iterations, gamma, cancel, facts, error);
    return status ? status : move_fields(solver, true, error);
}

/* ---- Is an iteration an explicit Euler step? ------------------------------------------------- */

/* Two patches on which it is tried, with the time step and with half of it. */
typedef struct halves {
    tz_problem whole, half, in_double;
    tz_patch patch[2];
    double *in[TZ_FIELDS_MAX], *out[2][TZ_FIELDS_MAX];
} halves;

static tz_status fill_patches(const tz_solver *solver, halves *h, tz_error *error)
{
    const tz_jump_context *c = &solver->context;
    const tz_stencil *stencil = c->problem->stencil;
    uint64_t counter = 5;
    tz_status status = TZ_OK;
    for (int f = 0; !status && f < stencil->fields_count; f++) {
        tz_reduction r;
        status = tz_backend_reduce(c->backend, c->state, c->problem, f, &r, error);
        for (int i = 0; !status && i < 2; i++)
            if (stencil->fields[f].role == TZ_STATIC)
                tz_patch_set(&h->patch[i], f, r.min, r.max, (uint64_t)f);
    }
    const size_t bytes = (size_t)h->patch[0].cells * sizeof(double);
    for (int i = 0; !status && i < h->patch[0].fields_count; i++) {
        h->in[i] = malloc(bytes);
        h->out[0][i] = malloc(bytes);
        h->out[1][i] = malloc(bytes);
        if (!h->in[i] || !h->out[0][i] || !h->out[1][i])
            return tz_error_set(error, TZ_MEMORY, "solver", "not enough memory");
        for (int64_t k = 0; k < h->patch[0].cells; k++)
            h->in[i][k] = tz_random_real(&counter);
    }
    return status;
}

static tz_status compare_halves(halves *h, const char *dt, tz_error *error)
{
    for (int i = 0; i < 2; i++)
        tz_patch_apply(&h->patch[i], (const double *const *)h->in, h->out[i], 0);
    double differs = 0.0, size = 1.0;
    for (int i = 0; i < h->patch[0].fields_count; i++)
        for (int64_t k = 0; k < h->patch[0].cells; k++) {
            const double one = h->out[0][i][k] - h->in[i][k], half = h->out[1][i][k] - h->in[i][k];
            differs = fmax(differs, fabs(one - 2.0 * half));
            size = fmax(size, fabs(one));
        }
    if (differs <= 1e-12 * size)
        return TZ_OK;
    return tz_error_set(error, TZ_UNSUPPORTED, h->whole.stencil->id,
                        "implicit steps need iterations of the form u + %s * f(u), and with half "
                        "the %s one does not change half as much; use sim:run without implicit",
                        dt, dt);
}

tz_status tz_solver_check_euler(tz_solver *solver, const char *dt, tz_error *error)
{
    const tz_problem *problem = solver->context.problem;
    const int param = tz_stencil_param_index(problem->stencil, dt);
    const tz_assignment half = {.name = dt, .number = 0.5 * problem->params[param].number};
    halves h = {.whole = *problem};
    if (solver->is_euler)
        return TZ_OK;
    tz_status status = tz_problem_copy_with(&h.half, problem, &half, error);
    if (status)
        return status;
    h.in_double = tz_problem_in_double(&h.half);
    status = tz_patch_create(&h.patch[0], &solver->in_double, error);
    if (!status)
        status = tz_patch_create(&h.patch[1], &h.in_double, error);
    if (!status)
        status = fill_patches(solver, &h, error);
    if (!status)
        status = compare_halves(&h, dt, error);
    solver->is_euler = !status;
    for (int i = 0; i < TZ_FIELDS_MAX; i++) {
        free(h.in[i]);
        free(h.out[0][i]);
        free(h.out[1][i]);
    }
    tz_patch_destroy(&h.patch[0]);
    tz_patch_destroy(&h.patch[1]);
    tz_problem_clear(&h.half);
    return status;
}
