/* Receivers and sources: weights of points between cells, the lists for the backend, the values
 * before a call of it and after. Called by core/lua and run.c. */
#include "sim/points.h"

#include "base/minmax.h"
#include "sim/derived_points.h"
#include "sim/simulated_time.h"
#include "sim/state.h"
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    SINC_HALF = 4, /* cells to each side */
    AXIS_TERMS = 2 * SINC_HALF,
    ROWS_BYTES = 32 << 20, /* of recorded and added values, about */
    ROWS_LEAST = 64,       /* iterations, at least */
    ROWS_MOST = 4096,
    ROWS_AHEAD = 64 /* of values that are computed together, before they are needed */
};

/* The window's parameter for four cells (Hicks, Geophysics 67, 2002). */
static const double KAISER = 6.31;

/* One cell of a point. */
typedef struct term {
    tz_point_at cell; /* an element; its index is that of the value */
    int bit;          /* of a word */
    double weight;
} term;

/* The points of one call. */
typedef struct point_set {
    int field;
    size_t count;
    size_t *first; /* of each point: its first term; then their number */
    term *terms;
    double *outside; /* of each point: what fixed sides add; NULL: nothing */
    double *at;      /* coordinates, for messages about the same point */
} point_set;

typedef struct source_set {
    point_set points;
    tz_source_config source;
    int64_t start; /* the iteration of row 0 */
} source_set;

struct tz_receivers {
    point_set points;
    bool jumps; /* as tz_points_config has it */
    int64_t every;
    int64_t rows, room;
    int64_t *steps;
    double *values;
};

struct tz_point_sets {
    source_set *sources;
    size_t sources_count;
    tz_receivers **receivers;
    size_t receivers_count;
    /* The last one is the problem's. Copies of the problem, which other threads compile for, may
     * have those before it: their masks are smaller, and they have no lists. */
    tz_points *of[TZ_FIELDS_MAX];
    size_t of_count;
    bool stale;                 /* the lists are not of all sets */
    tz_derived_points *derived; /* their values follow the recorded ones */
    size_t derived_count;
    tz_point_values values;
    int64_t filled; /* rows of recorded values that were not brought in */
};

static tz_status no_memory(tz_error *error)
{
    return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for points");
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* The modified Bessel function of order 0. */
static double bessel(double x)
{
    double sum = 1.0, part = 1.0;
    for (int k = 1; k < 64 && part > 1e-17 * sum; k++) {
        part *= x / 2 / k * (x / 2 / k);
        sum += part;
    }
    return sum;
}

static double windowed_sinc(double x)
{
    const double share = x / SINC_HALF;
    if (fabs(share) >= 1)
        return 0;
    return sin(M_PI * x) / (M_PI * x) * bessel(KAISER * sqrt(1 - share * share)) / bessel(KAISER);
}

/* The cells along an axis that a coordinate is made of, which may lie outside the grid, and their
 * weights. Returns how many. */
static int axis_terms(tz_interpolation how, double x, int64_t *cells, double *weights)
{
    const int64_t cell = (int64_t)floor(x);
    const double rest = x - (double)cell;
    cells[0] = cell;
    weights[0] = 1;
    if (rest == 0)
        return 1;
    if (how == TZ_LINEAR) {
        cells[1] = cell + 1;
        weights[0] = 1 - rest;
        weights[1] = rest;
        return 2;
    }
    for (int k = 0; k < AXIS_TERMS; k++) {
        cells[k] = cell - SINC_HALF + 1 + k;
        weights[k] = windowed_sinc((double)(k - SINC_HALF + 1) - rest);
    }
    return AXIS_TERMS;
}

/* The element of a cell that may lie outside the grid; a fixed side's value counts as `outside`. */
static void add_term(const tz_problem *problem, point_set *set, const int64_t cell[TZ_AXES],
                     double weight, size_t point)
{
    int64_t at[TZ_AXES] = {0};
    for (int axis = 0; axis < problem->dims; axis++) {
        at[axis] = tz_boundary_map(problem->boundary[axis], cell[axis], problem->extent[axis]);
        if (at[axis] < 0) {
            set->outside[point] +=
                weight * problem->boundary_value[set->field][2 * axis + (at[axis] == -1 ? 0 : 1)];
            return;
        }
    }
    term *t = &set->terms[set->first[point + 1]++];
    *t = (term){.cell = {.field = set->field, .at = {at[0], at[1], at[2]}}, .weight = weight};
    if (problem->bits) {
        t->bit = (int)(at[0] / problem->elements[0]);
        t->cell.at[0] = at[0] % problem->elements[0];
    }
}

static void add_point(const tz_problem *problem, point_set *set, tz_interpolation how, size_t point)
{
    int64_t cells[TZ_AXES][AXIS_TERMS] = {{0}};
    double weights[TZ_AXES][AXIS_TERMS];
    int counts[TZ_AXES] = {1, 1, 1};
    for (int axis = 0; axis < TZ_AXES; axis++)
        weights[axis][0] = 1;
    for (int axis = 0; axis < problem->dims; axis++)
        counts[axis] = axis_terms(how, set->at[point * (size_t)problem->dims + (size_t)axis],
                                  cells[axis], weights[axis]);
    set->first[point + 1] = set->first[point];
    for (int z = 0; z < counts[2]; z++)
        for (int y = 0; y < counts[1]; y++)
            for (int x = 0; x < counts[0]; x++)
                add_term(problem, set, (const int64_t[]){cells[0][x], cells[1][y], cells[2][z]},
                         weights[2][z] * weights[1][y] * weights[0][x], point);
}

/* ---- Sets of points -------------------------------------------------------------------------- */

static void clear_set(point_set *set)
{
    free(set->first);
    free(set->terms);
    free(set->outside);
    free(set->at);
}

static void write_point(const tz_problem *problem, const double *at, char *text, size_t size)
{
    size_t used = 0;
    for (int axis = 0; axis < problem->dims && used < size; axis++) {
        char number[32] = "NaN";
        if (!isnan(at[axis]))
            snprintf(number, sizeof number, "%.10g", at[axis]);
        used += (size_t)snprintf(text + used, size - used, "%s%s", axis > 0 ? ", " : "", number);
    }
}

static tz_status check_point(const tz_problem *problem, const tz_points_config *config,
                             size_t point, tz_error *error)
{
    const double *at = &config->at[point * (size_t)problem->dims];
    char text[100];
    write_point(problem, at, text, sizeof text);
    for (int axis = 0; axis < problem->dims; axis++) {
        const int64_t n = problem->extent[axis];
        const double last = tz_boundary_wraps(problem->boundary[axis][0]) ? nextafter((double)n, 0)
                                                                          : (double)(n - 1);
        if (!(at[axis] >= 0 && at[axis] <= last))
            return tz_error_set(error, TZ_RANGE, "points",
                                "point %zu, (%s), is outside the grid: %c is from 0 to %" PRId64,
                                point + 1, text, "xyz"[axis], n - 1);
        if (config->interpolation == TZ_ON_GRID && at[axis] != floor(at[axis]))
            return tz_error_set(error, TZ_RANGE, "points",
                                "point %zu, (%s), is between cells: use interpolate = \"linear\" "
                                "or \"sinc\"",
                                point + 1, text);
    }
    return TZ_OK;
}

typedef struct placed {
    double at[TZ_AXES];
    size_t number;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *p = a, *q = b;
    for (int axis = 0; axis < TZ_AXES; axis++)
        if (p->at[axis] != q->at[axis])
            return p->at[axis] < q->at[axis] ? -1 : 1;
    return p->number < q->number ? -1 : p->number > q->number;
}

static tz_status check_twice(const tz_problem *problem, const tz_points_config *config,
                             tz_error *error)
{
    placed *all = calloc(config->count + 1, sizeof *all);
    if (!all)
        return no_memory(error);
    for (size_t i = 0; i < config->count; i++) {
        all[i].number = i + 1;
        for (int axis = 0; axis < problem->dims; axis++) /* + 0: -0 and 0 are the same */
            all[i].at[axis] = config->at[i * (size_t)problem->dims + (size_t)axis] + 0.0;
    }
    qsort(all, config->count, sizeof *all, by_place);
    tz_status status = TZ_OK;
    for (size_t i = 1; i < config->count && !status; i++)
        if (memcmp(all[i].at, all[i - 1].at, sizeof all[i].at) == 0) {
            char text[100];
            write_point(problem, all[i].at, text, sizeof text);
            status =
                tz_error_set(error, TZ_RANGE, "points", "points %zu and %zu are the same: (%s)",
                             all[i - 1].number, all[i].number, text);
        }
    free(all);
    return status;
}

/* The fields whose elements are added to or recorded for a field, of which passes write all. */
static uint32_t recorded_fields(const tz_problem *problem, int field)
{
    uint32_t written = 0;
    for (int p = 0; p < problem->stencil->passes_count; p++)
        written |= problem->stencil->passes[p].writes;
    return tz_stencil_sources(problem->stencil, UINT32_C(1) << field) & written;
}

static tz_status check_field(const tz_simulation *simulation, int field, bool adds, tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    const tz_field *f = &problem->stencil->fields[field];
    if (simulation->correction)
        return tz_error_set(error, TZ_UNSUPPORTED, f->name,
                            "precision \"mixed\" has no receivers and no sources: use \"double\"");
    if (adds && (f->role != TZ_STATE || recorded_fields(problem, field) == 0))
        return tz_error_set(error, TZ_UNSUPPORTED, f->name,
                            "'%s' is %s: only a state field has sources", f->name,
                            tz_role_name(f->role));
    if (recorded_fields(problem, field) == 0)
        return tz_error_set(error, TZ_UNSUPPORTED, f->name,
                            "'%s' is %s: only a field that iterations change "
                            "has receivers",
                            f->name, tz_role_name(f->role));
    if (adds && !tz_type_is_real(f->type))
        return tz_error_set(error, TZ_UNSUPPORTED, f->name,
                            "'%s' has the type %s: sources add to real numbers", f->name,
                            tz_type_name(f->type));
    if (!simulation->backend->points)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "the backend %s has no receivers and no sources: use backend = "
                            "\"cpu\"",
                            simulation->backend->name);
    return TZ_OK;
}

/* Leave out the cells of a point that are outside of the domain; the others have their weight. */
static tz_status keep_inside(const tz_problem *problem, const int32_t *mask, point_set *set,
                             size_t point, size_t *kept, tz_error *error)
{
    static const double LEAST = 1.0 / 16;
    const int64_t *n = problem->extent;
    const double *at = &set->at[point * (size_t)problem->dims];
    double all = 0, inside = 0;
    const size_t begin = *kept;
    for (size_t i = set->first[point]; i < set->first[point + 1]; i++) {
        const term *t = &set->terms[i];
        const int64_t cell = (t->cell.at[2] * n[1] + t->cell.at[1]) * n[0] + t->cell.at[0];
        all += t->weight;
        if (mask[cell] == 0)
            continue;
        inside += t->weight;
        set->terms[(*kept)++] = *t;
    }
    if (*kept == begin || !(inside >= LEAST * all)) {
        char text[100];
        write_point(problem, at, text, sizeof text);
        return tz_error_set(error, TZ_RANGE, "points",
                            "point %zu, (%s), is outside of the domain: no cell around it is "
                            "computed",
                            point + 1, text);
    }
    for (size_t i = begin; i < *kept && inside != all; i++)
        set->terms[i].weight *= all / inside;
    return TZ_OK;
}

static tz_status keep_domain(const tz_simulation *simulation, point_set *set, tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    const int domain = tz_stencil_domain(problem->stencil);
    const tz_box all = {{0, 0, 0}, {problem->extent[0], problem->extent[1], problem->extent[2]}};
    size_t kept = 0;
    if (domain < 0 || simulation->dry)
        return TZ_OK;
    int32_t *mask = malloc((size_t)(all.high[0] * all.high[1] * all.high[2]) * sizeof *mask);
    tz_status status =
        mask ? tz__field_load(simulation, domain, &all, mask, error) : no_memory(error);
    for (size_t i = 0; i < set->count && !status; i++) {
        const size_t begin = kept;
        status = keep_inside(problem, mask, set, i, &kept, error);
        set->first[i] = begin;
    }
    if (!status)
        set->first[set->count] = kept;
    free(mask);
    return status;
}

static tz_status make_set(const tz_simulation *simulation, const tz_points_config *config,
                          bool adds, point_set *set, tz_error *error)
{
    const tz_problem *problem = &simulation->problem;
    const size_t dims = (size_t)problem->dims;
    size_t most = 1; /* terms of a point */
    *set = (point_set){.field = config->field, .count = config->count};
    tz_status status = check_field(simulation, config->field, adds, error);
    for (size_t i = 0; i < config->count && !status; i++)
        status = check_point(problem, config, i, error);
    if (!status)
        status = check_twice(problem, config, error);
    if (status)
        return status;
    for (size_t axis = 0; axis < dims; axis++)
        most *= config->interpolation == TZ_ON_GRID  ? 1
                : config->interpolation == TZ_LINEAR ? 2
                                                     : AXIS_TERMS;
    set->first = calloc(config->count + 1, sizeof *set->first);
    set->terms = calloc(config->count * most + 1, sizeof *set->terms);
    set->outside = calloc(config->count + 1, sizeof *set->outside);
    set->at = malloc((config->count * dims + 1) * sizeof *set->at);
    if (!set->first || !set->terms || !set->outside || !set->at)
        return no_memory(error);
    memcpy(set->at, config->at, config->count * dims * sizeof *set->at);
    for (size_t i = 0; i < config->count; i++)
        add_point(problem, set, config->interpolation, i);
    return keep_domain(simulation, set, error);
}

/* ---- Lists for the backend ------------------------------------------------------------------- */

static int by_element(const void *a, const void *b)
{
    const tz_point_at *p = a, *q = b;
    if (p->field != q->field)
        return p->field < q->field ? -1 : 1;
    for (int axis = TZ_AXES; axis-- > 0;)
        if (p->at[axis] != q->at[axis])
            return p->at[axis] < q->at[axis] ? -1 : 1;
    return 0;
}

/* Each element once, in order, numbered from `first` on. */
static void make_unique(tz_point_elements *all, int64_t first)
{
    size_t unique = 0;
    if (all->count > 0)
        qsort(all->at, all->count, sizeof *all->at, by_element);
    for (size_t i = 0; i < all->count; i++)
        if (unique == 0 || by_element(&all->at[i], &all->at[unique - 1]) != 0) {
            all->at[unique] = all->at[i];
            all->at[unique].index = first + (int64_t)unique;
            unique++;
        }
    all->count = unique;
}

/* The elements that receivers read: those of derived fields, and those that iterations record. */
static tz_status list_elements(const tz_simulation *simulation, tz_point_elements *recorded,
                               tz_point_elements *derived, tz_error *error)
{
    const tz_point_sets *sets = simulation->points;
    tz_status status = TZ_OK;
    for (size_t r = 0; r < sets->receivers_count; r++) {
        const point_set *set = &sets->receivers[r]->points;
        tz_point_elements *to = tz__is_derived(simulation, set->field) ? derived : recorded;
        for (size_t t = 0; t < set->first[set->count] && !status; t++)
            status = tz__point_elements_add(to, &set->terms[t].cell, error);
    }
    return status;
}

/* The numbers of the elements in the terms. */
static void number_terms(tz_simulation *simulation, const tz_point_elements *recorded,
                         const tz_point_elements *derived)
{
    tz_point_sets *sets = simulation->points;
    for (size_t r = 0; r < sets->receivers_count; r++) {
        point_set *set = &sets->receivers[r]->points;
        const tz_point_elements *of = tz__is_derived(simulation, set->field) ? derived : recorded;
        for (size_t t = 0; t < set->first[set->count]; t++) {
            const tz_point_at *found =
                bsearch(&set->terms[t].cell, of->at, of->count, sizeof *of->at, by_element);
            set->terms[t].cell.index = found->index;
        }
    }
}

static tz_status make_elements(tz_simulation *simulation, tz_point_elements *recorded,
                               tz_error *error)
{
    tz_point_sets *sets = simulation->points;
    tz_point_elements derived = {.count = 0};
    tz_status status = list_elements(simulation, recorded, &derived, error);
    tz__derived_points_destroy(sets->derived);
    sets->derived = NULL;
    make_unique(&derived, 0);
    if (!status && derived.count > 0)
        status = tz__derived_points_create(&sets->derived, simulation, derived.count, derived.at,
                                           recorded, error);
    make_unique(recorded, 0);
    make_unique(&derived, (int64_t)recorded->count);
    sets->derived_count = derived.count;
    if (!status)
        number_terms(simulation, recorded, &derived);
    free(derived.at);
    return status;
}

/* Room for the values of some iterations. */
static tz_status make_values(const tz_problem *problem, tz_point_values *values, size_t adds,
                             size_t records, tz_error *error)
{
    const size_t real = tz_problem_real(problem)->size;
    size_t slot = 1;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role == TZ_STATE)
            slot = (size_t)tz_max((int64_t)slot, (int64_t)tz_problem_element_size(problem, f));
    const size_t row = adds * real + records * slot;
    const int64_t rows = tz_max(ROWS_LEAST, tz_min(ROWS_MOST, ROWS_BYTES / (int64_t)(row + 1)));
    char *added = calloc((size_t)rows * adds + 1, real);
    char *recorded = calloc((size_t)rows * records + 1, slot);
    if (!added || !recorded) {
        free(added);
        free(recorded);
        return no_memory(error);
    }
    free(values->added);
    free(values->recorded);
    *values = (tz_point_values){.rows = rows,
                                .generation = values->generation + 1,
                                .adds = (int64_t)adds,
                                .records = (int64_t)records,
                                .slot = slot,
                                .added = added,
                                .recorded = recorded};
    return TZ_OK;
}

/* Lists of all sets, for stages from now on. */
static tz_status make_lists(tz_simulation *simulation, tz_error *error)
{
    tz_point_sets *sets = simulation->points;
    tz_problem *problem = &simulation->problem;
    tz_point_elements added = {.count = 0}, recorded = {.count = 0};
    tz_status status = make_elements(simulation, &recorded, error);
    for (size_t s = 0; s < sets->sources_count; s++) {
        const point_set *set = &sets->sources[s].points;
        for (size_t t = 0; t < set->first[set->count] && !status; t++) {
            tz_point_at cell = set->terms[t].cell;
            cell.index = (int64_t)added.count;
            status = tz__point_elements_add(&added, &cell, error);
        }
    }
    if (!status)
        status = make_values(problem, &sets->values, added.count, recorded.count, error);
    if (!status)
        status = tz_points_fill(sets->of[sets->of_count - 1], problem, added.count, added.at,
                                recorded.count, recorded.at, error);
    sets->stale = status != TZ_OK;
    sets->values.begin = simulation->step;
    sets->filled = 0;
    free(added.at);
    free(recorded.at);
    return status;
}

/* The problem has points of a field. The next stage makes the lists. */
static tz_status need_field(tz_simulation *simulation, int field, tz_error *error)
{
    tz_point_sets *sets = simulation->points;
    tz_points *old = sets->of_count > 0 ? sets->of[sets->of_count - 1] : NULL;
    const uint32_t had = old ? old->fields : 0;
    const uint32_t fields = had | recorded_fields(&simulation->problem, field);
    sets->stale = true;
    if (fields == had)
        return TZ_OK;
    tz_points *more = tz_points_create(fields, &sets->values);
    if (!more)
        return no_memory(error);
    if (old)
        tz_points_clear(old);
    sets->of[sets->of_count++] = more;
    simulation->problem.points = more;
    return TZ_OK;
}

/* The sets, with what has been recorded brought in: lists may change. */
static tz_status need_sets(tz_simulation *simulation, tz_error *error)
{
    if (!simulation->points)
        simulation->points = calloc(1, sizeof *simulation->points);
    return simulation->points ? tz_simulation_receive(simulation, error) : no_memory(error);
}

/* ---- Sources --------------------------------------------------------------------------------- */

static tz_status check_values(const tz_source_config *source, size_t points, tz_error *error)
{
    for (int64_t i = 0; i < source->steps * (int64_t)points; i++)
        if (!isfinite(source->values[i]))
            return tz_error_set(error, TZ_RANGE, "values",
                                "the value of step %" PRId64 ", point %" PRId64 " is %s",
                                i / (int64_t)points + 1, i % (int64_t)points + 1,
                                isnan(source->values[i]) ? "NaN" : "infinite");
    return TZ_OK;
}

static tz_status add_sources(tz_simulation *simulation, const tz_points_config *points,
                             const tz_source_config *source, tz_error *error)
{
    source_set set = {.source = *source, .start = simulation->step};
    tz_status status = need_sets(simulation, error);
    tz_point_sets *sets = simulation->points;
    if (!status)
        status = make_set(simulation, points, true, &set.points, error);
    if (!status)
        status = check_values(source, points->count, error);
    source_set *all =
        status ? NULL : realloc(sets->sources, (sets->sources_count + 1) * sizeof *all);
    if (!status && !all)
        status = no_memory(error);
    if (!status) {
        sets->sources = all;
        status = need_field(simulation, points->field, error);
    }
    if (!status)
        all[sets->sources_count++] = set;
    if (status)
        clear_set(&set.points);
    return status;
}

tz_status tz_simulation_add_sources(tz_simulation *simulation, const tz_points_config *points,
                                    const tz_source_config *source, tz_error *error)
{
    const tz_status status = add_sources(simulation, points, source, error);
    if (status)
        free(source->values);
    return status;
}

bool tz_simulation_can_record(const tz_simulation *simulation, int field)
{
    static const tz_points none = {.fields = 0};
    const tz_place place = tz__simulation_place(simulation, NULL);
    tz_problem problem = simulation->problem;
    tz_plan plan = simulation->plan;
    problem.points = problem.points ? problem.points : &none;
    return check_field(simulation, field, false, NULL) == TZ_OK &&
           simulation->backend->plan(&problem, &place, &plan, NULL) == TZ_OK;
}

bool tz_simulation_points_jump(const tz_simulation *simulation)
{
    const tz_point_sets *sets = simulation->points;
    bool jump = !sets || sets->sources_count == 0;
    for (size_t i = 0; jump && sets && i < sets->receivers_count; i++)
        jump = sets->receivers[i]->jumps;
    return jump;
}

static double value_of(const tz_simulation *simulation, const source_set *set, size_t point,
                       int64_t step)
{
    const tz_source_config *source = &set->source;
    const int64_t row = step - set->start;
    if (row < 0 || (source->values && row >= source->steps))
        return 0;
    if (source->values)
        return source->values[row * (int64_t)set->points.count + (int64_t)point];
    return source->value(source->context, simulation->problem.params, step,
                         tz_simulation_time_at(simulation, step));
}

/* The values for iteration `step`. */
static tz_status add_row(tz_simulation *simulation, int64_t step, tz_error *error)
{
    tz_point_sets *sets = simulation->points;
    const tz_element_type *real = tz_problem_real(&simulation->problem);
    char *to =
        sets->values.added + (size_t)((step - sets->values.begin) * sets->values.adds) * real->size;
    for (size_t s = 0; s < sets->sources_count; s++) {
        const source_set *set = &sets->sources[s];
        double value = 0;
        for (size_t i = 0; i < set->points.count; i++) {
            if (i == 0 || set->source.values)
                value = value_of(simulation, set, i, step);
            if (!isfinite(value))
                return tz_error_set(error, TZ_SCRIPT, "values",
                                    "the formula of a source is %s at step %" PRId64,
                                    isnan(value) ? "NaN" : "infinite", step);
            for (size_t t = set->points.first[i]; t < set->points.first[i + 1];
                 t++, to += real->size) {
                const double part = value * set->source.scale * set->points.terms[t].weight;
                real->put(&part, 0, 1, to);
            }
        }
    }
    sets->values.ready++;
    return TZ_OK;
}

/* ---- Receivers ------------------------------------------------------------------------------- */

static void destroy_receivers(tz_receivers *r)
{
    clear_set(&r->points);
    free(r->steps);
    free(r->values);
    free(r);
}

tz_status tz_simulation_add_receivers(tz_simulation *simulation, const tz_points_config *points,
                                      int64_t every, tz_receivers **out, tz_error *error)
{
    *out = NULL;
    tz_receivers *r = calloc(1, sizeof *r);
    tz_status status = r ? need_sets(simulation, error) : no_memory(error);
    tz_point_sets *sets = simulation->points;
    if (!status)
        status = make_set(simulation, points, false, &r->points, error);
    tz_receivers **all =
        status ? NULL : realloc(sets->receivers, (sets->receivers_count + 1) * sizeof(void *));
    if (!status && !all)
        status = no_memory(error);
    if (!status) {
        r->every = every;
        r->jumps = points->jumps;
        sets->receivers = all;
        status = need_field(simulation, points->field, error);
    }
    if (!status)
        all[sets->receivers_count++] = r;
    if (status && r)
        destroy_receivers(r);
    else
        *out = r;
    return status;
}

tz_receivers *tz_simulation_receivers(const tz_simulation *simulation, size_t i)
{
    const tz_point_sets *sets = simulation->points;
    return sets && i < sets->receivers_count ? sets->receivers[i] : NULL;
}

static tz_status need_rows(tz_receivers *r, int64_t more, tz_error *error)
{
    if (r->rows + more <= r->room)
        return TZ_OK;
    const int64_t room = tz_max(2 * r->room, r->rows + more);
    int64_t *steps = realloc(r->steps, (size_t)room * sizeof *steps);
    r->steps = steps ? steps : r->steps;
    double *values = realloc(r->values, (size_t)room * (r->points.count + 1) * sizeof *values);
    r->values = values ? values : r->values;
    if (!steps || !values)
        return tz_error_set(error, TZ_MEMORY, NULL,
                            "not enough memory for %" PRId64 " steps of %zu receivers: give them a "
                            "file",
                            r->rows + more, r->points.count);
    r->room = room;
    return TZ_OK;
}

/* ---- Bringing in ----------------------------------------------------------------------------- */

static double sum_point(const tz_problem *problem, const point_set *set, size_t point,
                        const double *values)
{
    double sum = 0;
    for (size_t t = set->first[point]; t < set->first[point + 1]; t++) {
        const term *of = &set->terms[t];
        double value = values[of->cell.index];
        if (problem->bits)
            value = (uint32_t)value >> of->bit & 1;
        sum = t == set->first[point] ? of->weight * value : sum + of->weight * value;
    }
    return set->outside[point] != 0 ? sum + set->outside[point] : sum;
}

typedef struct reception {
    const tz_simulation *simulation;
    double *room;   /* of each thread: the values of an iteration */
    int64_t values; /* so many */
    atomic_bool failed;
} reception;

/* Rows of receivers up to a step, since the one at which recorded values begin. */
static int64_t rows_until(const tz_point_values *values, int64_t every, int64_t step)
{
    return step / every - values->begin / every;
}

/* The recorded elements of an iteration as numbers: values, or words. */
static void take_values(const tz_simulation *simulation, const char *recorded, double *values)
{
    const tz_problem *problem = &simulation->problem;
    const tz_point_sets *sets = simulation->points;
    int64_t i = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const int64_t end = i + (int64_t)problem->points->recorded[f].count;
        const bool dense = tz_problem_element_size(problem, f) == sets->values.slot;
        for (int64_t count; i < end; i += count) {
            const char *from = recorded + (size_t)i * sets->values.slot;
            count = dense ? end - i : 1;
            if (problem->bits)
                tz_problem_element_type(problem, f)->get(from, count, values + i);
            else
                tz_problem_to_values(problem, f, from, count, values + i);
        }
    }
}

static void receive_rows(void *any, int64_t begin, int64_t end, int thread)
{
    reception *r = any;
    const tz_simulation *simulation = r->simulation;
    const tz_point_sets *sets = simulation->points;
    const tz_point_values *values = &sets->values;
    double *numbers = r->room + thread * r->values;
    for (int64_t k = begin; k < end; k++) {
        const int64_t step = values->begin + k + 1;
        take_values(simulation, values->recorded + (size_t)(k * values->records) * values->slot,
                    numbers);
        if (sets->derived &&
            tz__derived_points_compute(sets->derived, k, numbers + values->records, NULL)) {
            atomic_store(&r->failed, true);
            return;
        }
        for (size_t i = 0; i < sets->receivers_count; i++) {
            tz_receivers *to = sets->receivers[i];
            const point_set *set = &to->points;
            if (step % to->every != 0)
                continue;
            const int64_t row = to->rows + rows_until(values, to->every, step) - 1;
            to->steps[row] = step;
            for (size_t point = 0; point < set->count; point++)
                to->values[row * (int64_t)set->count + (int64_t)point] =
                    sum_point(&simulation->problem, set, point, numbers);
        }
    }
}

static tz_status bring_in(tz_simulation *simulation, tz_error *error)
{
    const tz_point_sets *sets = simulation->points;
    const tz_point_values *values = &sets->values;
    const int64_t end = values->begin + sets->filled;
    tz_status status = simulation->backend->recorded
                           ? simulation->backend->recorded(simulation->state, error)
                           : TZ_OK;
    for (size_t i = 0; i < sets->receivers_count && !status; i++)
        status = need_rows(sets->receivers[i], rows_until(values, sets->receivers[i]->every, end),
                           error);
    if (!status && sets->derived)
        status = tz__derived_points_begin(sets->derived, values->begin + 1, sets->filled, error);
    if (status)
        return status;
    reception r = {.simulation = simulation,
                   .values = values->records + (int64_t)sets->derived_count};
    r.room = malloc((size_t)(tz_threads_count(simulation->pool) * r.values) * sizeof(double));
    if (!r.room)
        return no_memory(error);
    tz_threads_for(simulation->pool, sets->filled, receive_rows, &r);
    free(r.room);
    if (atomic_load(&r.failed))
        return no_memory(error);
    for (size_t i = 0; i < sets->receivers_count; i++)
        sets->receivers[i]->rows += rows_until(values, sets->receivers[i]->every, end);
    return TZ_OK;
}

tz_status tz__points_before_write(tz_simulation *simulation, int field, tz_error *error)
{
    return simulation->problem.stencil->fields[field].role == TZ_STATE
               ? TZ_OK
               : tz_simulation_receive(simulation, error);
}

void tz__points_renew(tz_simulation *simulation)
{
    tz_point_sets *sets = simulation->points;
    if (!sets)
        return;
    sets->values.ready = sets->filled;
    sets->values.generation++;
}

tz_status tz_simulation_receive(tz_simulation *simulation, tz_error *error)
{
    tz_point_sets *sets = simulation->points;
    if (!sets || sets->filled == 0)
        return TZ_OK;
    const tz_status status = sets->values.records > 0 ? bring_in(simulation, error) : TZ_OK;
    sets->values.begin += sets->filled;
    sets->filled = 0;
    tz__points_renew(simulation);
    return status;
}

tz_received tz_receivers_get(const tz_receivers *r)
{
    return (tz_received){
        .count = r->points.count, .rows = r->rows, .steps = r->steps, .values = r->values};
}

void tz_receivers_drop(tz_receivers *r, int64_t rows)
{
    const size_t count = r->points.count, rest = (size_t)(r->rows - rows);
    if (rows == 0)
        return;
    memmove(r->steps, r->steps + rows, rest * sizeof *r->steps);
    memmove(r->values, r->values + rows * (int64_t)count, rest * count * sizeof *r->values);
    r->rows -= rows;
}

/* ---- Calls of the backend -------------------------------------------------------------------- */

tz_status tz__points_check(tz_simulation *simulation, int64_t steps, tz_error *error)
{
    const tz_point_sets *sets = simulation->points;
    for (size_t s = 0; sets && s < sets->sources_count; s++) {
        const source_set *set = &sets->sources[s];
        const int64_t end = simulation->step + steps - set->start;
        if (set->source.values && end > set->source.steps)
            return tz_error_set(error, TZ_SHAPE, "values",
                                "sources have values for %" PRId64 " steps, and the run needs "
                                "%" PRId64,
                                set->source.steps, end);
    }
    return sets && sets->stale ? make_lists(simulation, error) : TZ_OK;
}

int64_t tz__points_longest(const tz_simulation *simulation)
{
    const tz_point_sets *sets = simulation->points;
    return !sets || sets->of_count == 0 ? INT64_MAX : sets->stale ? ROWS_LEAST : sets->values.rows;
}

tz_status tz__points_begin(tz_simulation *simulation, int64_t iterations, tz_error *error)
{
    tz_point_sets *sets = simulation->points;
    if (!simulation->problem.points)
        return TZ_OK;
    tz_status status = tz__points_check(simulation, iterations, error);
    if (!status && (sets->filled + iterations > sets->values.rows ||
                    sets->values.begin + sets->filled != simulation->step)) {
        status = tz_simulation_receive(simulation, error);
        sets->values.begin = simulation->step;
        tz__points_renew(simulation);
    }
    const int64_t need = sets->filled + iterations;
    const int64_t more = tz_min(need + ROWS_AHEAD, sets->values.rows);
    while (!status && sets->values.ready < need)
        status = add_row(simulation, sets->values.begin + sets->values.ready, error);
    while (!status && sets->values.ready < more && sets->values.adds > 0)
        if (add_row(simulation, sets->values.begin + sets->values.ready, NULL))
            break; /* perhaps the run ends before */
    return status;
}

void tz__points_end(tz_simulation *simulation, int64_t iterations)
{
    if (simulation->points)
        simulation->points->filled += iterations;
}

void tz__points_destroy(tz_simulation *simulation)
{
    tz_point_sets *sets = simulation->points;
    if (!sets)
        return;
    for (size_t i = 0; i < sets->sources_count; i++) {
        clear_set(&sets->sources[i].points);
        free(sets->sources[i].source.values);
    }
    for (size_t i = 0; i < sets->receivers_count; i++)
        destroy_receivers(sets->receivers[i]);
    for (size_t i = 0; i < sets->of_count; i++)
        tz_points_destroy(sets->of[i]);
    free(sets->sources);
    free(sets->receivers);
    tz__derived_points_destroy(sets->derived);
    free(sets->values.added);
    free(sets->values.recorded);
    free(sets);
}
