/* Runs a case on the machine and on the reference backend, and compares all cells. */
#include "compare.h"

#include "stage.h"

#include "backend/backend.h"
#include "stencil/points.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AMPLITUDE_LEAST 1e-3

/* Both runs of a case. */
typedef struct pair {
    const simt_case *k;
    simt_outcome *outcome;
    int show;
    double amplitude; /* real fields begin with random values from -amplitude to amplitude */
    tz_problem whole, problem; /* the same but for slabs */
    tz_points *points, *points_of_slab;
    tz_point_values values;
    char *recorded; /* by the device; values.recorded: by the reference */
    tz_streamed_source sources[TZ_FIELDS_MAX];
    const tz_streamed_source *streams[TZ_FIELDS_MAX];
    simt_device *device;
    void *reference;
    void *got, *want; /* elements of a field */
} pair;

void simt_append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

void simt_append_boundary(char *text, size_t size, const tz_boundary sides[2])
{
    simt_append(text, size, "%s", tz_boundary_name(sides[0]));
    if (sides[1] != sides[0])
        simt_append(text, size, ":%s", tz_boundary_name(sides[1]));
}

const char *simt_case_text(const simt_case *k, const tz_plan *plan, char *text, size_t size)
{
    char names[128] = "", grid[80] = "", knobs[120] = "";
    for (int axis = 0; axis < k->stencil->dims; axis++) {
        const char *comma = axis > 0 ? "," : "";
        simt_append(names, sizeof names, "%s", comma);
        simt_append_boundary(names, sizeof names, k->boundary[axis]);
        simt_append(grid, sizeof grid, "%s%" PRId64, comma, k->extent[axis]);
    }
    for (int i = 0; i < TZ_PLAN_KNOBS_COUNT; i++)
        if (tz_plan_get(plan, i) != 0)
            simt_append(knobs, sizeof knobs, " --%s %d", tz_plan_knobs[i].name,
                        tz_plan_get(plan, i));
    snprintf(text, size,
             "--stencil %s --family %s --grid %s --boundary %s%s --height %d --tile %" PRId64
             ",%" PRId64 ",%" PRId64 "%s --room %d,%d --slab %d --seed %" PRIu64,
             k->stencil->id, plan->family, grid, names,
             k->precision == TZ_DOUBLE ? " --precision double"
             : k->half == 1            ? " --precision half"
             : k->half > 1             ? " --precision moved"
                                       : "",
             plan->height, plan->tile[0], plan->tile[1], plan->tile[2], knobs,
             k->room.multiprocessors, k->room.blocks_per_multiprocessor, k->slab, k->seed);
    return text;
}

/* ---- The problem ----------------------------------------------------------------------------- */

/* A plugin's constants may weight neighbours below a rounding error. With these each neighbour
 * matters, and a few iterations stay finite. */
static void replace_constants(tz_problem *problem, uint64_t seed)
{
    for (int c = 0; c < problem->stencil->constants_count; c++) {
        const uint64_t bits = tz_random_bits(seed, 77, c);
        const double value =
            (0.06 + 0.1 * (double)(bits >> 11) * 0x1p-53) * (bits & 4 ? -1.0 : 1.0);
        if (problem->stencil->constants[c].type != TZ_REAL)
            continue;
        if (problem->precision == TZ_DOUBLE)
            problem->constants[c].d = value;
        else
            problem->constants[c].f = (float)value;
    }
}

tz_problem simt_slab_of(const simt_case *k, const tz_problem *whole)
{
    const int axis = whole->dims - 1;
    const int64_t n = k->extent[axis];
    const bool first = k->slab == 1, ring = tz_boundary_wraps(whole->boundary[axis][0]);
    const int64_t before = first && !ring ? 0 : n / 3, after = n / 4;
    const int64_t low = first ? 0 : before + 2;
    return tz_problem_slab(whole, low, low + n - before - after, before, after);
}

tz_status simt_resolve(const simt_case *k, tz_problem *whole, tz_error *error)
{
    const tz_storage_wish half = {.as = TZ_STORED_HALF,
                                  .origin = k->half > 1 ? 0.3125 : NAN,
                                  .scale = k->half > 1 ? 0.125 : 1};
    tz_simulation_config config = {.dims = k->stencil->dims,
                                   .precision = k->precision,
                                   .storage_count = k->half != 0,
                                   .storage = &half};
    tz_assignment params[TZ_PARAMS_MAX];
    memcpy(config.extent, k->extent, sizeof config.extent);
    config.extent[config.dims - 1] += k->slab ? 5 : 0;
    for (int d = 0; d < TZ_AXES; d++)
        config.boundary[d] = tz_boundary_name(k->boundary[d][0]);
    for (config.params = params; config.params_count < k->params_count; config.params_count++)
        params[config.params_count] = k->params[config.params_count];
    if (tz_stencil_param_index(k->stencil, "allow_unstable") >= 0)
        params[config.params_count++] = (tz_assignment){"allow_unstable", 1.0, NULL};
    const tz_status status = tz_problem_resolve(whole, k->stencil, &config, error);
    memcpy(whole->boundary, k->boundary, sizeof whole->boundary);
    return status;
}

enum { POINT_ROWS = 256 };

/* Points in random cells, some of them in one, and values that are small. */
static tz_status make_points(pair *p, tz_error *error)
{
    const simt_case *k = p->k;
    const tz_problem *whole = &p->whole;
    const int fields = whole->stencil->fields_count;
    tz_point_at *added = calloc((size_t)(fields * k->points + 1), sizeof *added);
    tz_point_at *recorded = calloc((size_t)(fields * k->points + 1), sizeof *recorded);
    size_t adds = 0, records = 0;
    for (int f = 0; f < fields && added && recorded; f++)
        for (int i = 0; i < k->points; i++) {
            tz_point_at at = {.field = f};
            if (whole->stencil->fields[f].role != TZ_STATE)
                continue;
            for (int axis = 0; axis < TZ_AXES; axis++)
                at.at[axis] = (int64_t)(tz_random_bits(k->seed + 9, 10 * f + axis, i / 2 * 2) %
                                        (uint64_t)whole->elements[axis]);
            at.index = (int64_t)adds;
            if (whole->stencil->fields[f].type == TZ_REAL)
                added[adds++] = at;
            at.index = (int64_t)records;
            if (i % 2 == 0) /* each cell once */
                recorded[records++] = at;
        }
    const size_t real = tz_problem_real(whole)->size;
    p->values = (tz_point_values){.rows = POINT_ROWS,
                                  .adds = (int64_t)adds,
                                  .records = (int64_t)records,
                                  .slot = 8,
                                  .ready = POINT_ROWS};
    p->values.added = calloc(POINT_ROWS * adds + 1, real);
    p->values.recorded = calloc(POINT_ROWS * records + 1, 8);
    p->recorded = calloc(POINT_ROWS * records + 1, 8);
    for (size_t i = 0; p->values.added && i < POINT_ROWS * adds; i++) {
        const double value = (double)(int)(tz_random_bits(k->seed, 5, (int64_t)i) % 63) / 64 - 0.5;
        tz_problem_real(whole)->put(&value, 0, 1, p->values.added + i * real);
    }
    uint32_t mask = 0;
    for (size_t i = 0; i < records; i++)
        mask |= UINT32_C(1) << recorded[i].field;
    p->points = tz_points_create(mask, &p->values);
    const tz_status status =
        p->points ? tz_points_fill(p->points, whole, adds, added, records, recorded, error)
                  : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for points");
    free(added);
    free(recorded);
    p->whole.points = p->points;
    return status;
}

static void clear_points(pair *p)
{
    tz_points_destroy(p->points);
    tz_points_destroy(p->points_of_slab);
    free(p->values.added);
    free(p->values.recorded);
    free(p->recorded);
}

static void compare_points(pair *p)
{
    if (!p->points || memcmp(p->recorded, p->values.recorded,
                             (size_t)(p->values.rows * p->values.records) * 8) == 0)
        return;
    p->outcome->differences++;
    simt_append(p->outcome->message, sizeof p->outcome->message,
                "  recorded values differ before step %" PRId64 "\n", p->outcome->steps);
}

static tz_status resolve(pair *p, tz_error *error)
{
    const simt_case *k = p->k;
    const tz_status status = simt_resolve(k, &p->whole, error);
    if (status)
        return status;
    if (!k->own_constants)
        replace_constants(&p->whole, k->seed);
    for (int f = 0; f < k->stencil->fields_count; f++) {
        const tz_type type = k->stencil->fields[f].type;
        for (int side = 0; side < TZ_SIDES; side++) {
            const int differs = k->seed % 4 == 3 ? side : 0;
            if (k->seed % 2 == 1)
                p->whole.boundary_value[f][side] = type == TZ_REAL  ? 0.375 - f + 0.25 * differs
                                                   : type == TZ_INT ? differs - 5
                                                                    : (differs + 1) % 2;
        }
        if (k->stencil->fields[f].role != TZ_STREAMED)
            continue;
        p->sources[f] = (tz_streamed_source){
            .slabs = -1,
            .cells = p->whole.extent[0],
            .boundary = p->whole.boundary[0][0],
            .random = {.seed = k->seed + (uint64_t)f, .low = -1000.0, .high = 1000.0},
        };
        p->streams[f] = &p->sources[f];
    }
    const tz_status made = k->points > 0 ? make_points(p, error) : TZ_OK;
    p->problem = k->slab ? simt_slab_of(k, &p->whole) : p->whole;
    if (!made && k->slab && k->points > 0 &&
        (p->points_of_slab = tz_points_create(p->points->fields, &p->values)) &&
        !tz_points_fill_slab(p->points_of_slab, &p->problem, error))
        p->problem.points = p->points_of_slab;
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        p->sources[f].first = p->problem.slab.first;
    return made;
}

/* Is element i in the domain? Pieces of the grid are, others are not, and of some only cells. */
static bool is_within(const pair *p, int64_t i, uint64_t bits)
{
    const int64_t *n = p->problem.elements;
    const int64_t piece[] = {i % n[0] / 16, i / n[0] % n[1] / 12, i / n[0] / n[1] / 4};
    const uint64_t kind =
        tz_random_bits(p->k->seed, 3, piece[0] + 97 * piece[1] + 9973 * piece[2]) % 4;
    return kind == 0 ? bits % 2 : kind > 1;
}

static void fill(const pair *p, int f, void *elements)
{
    const tz_type type = p->k->stencil->fields[f].type;
    const uint64_t seed = p->k->seed + 1000u * (uint64_t)f;
    for (int64_t i = 0; i < tz_problem_elements(&p->problem); i++) {
        const uint64_t bits = tz_random_bits(seed, 0, i);
        const double value = p->amplitude * ((double)(bits >> 11) * 0x1p-52 - 1.0);
        if (type == TZ_BITS)
            ((uint32_t *)elements)[i] =
                (uint32_t)bits & (uint32_t)((bits >> 32) | tz_random_bits(seed, 1, i));
        else if (type == TZ_INT && f == tz_stencil_domain(p->k->stencil))
            ((int32_t *)elements)[i] = is_within(p, i, bits);
        else if (type == TZ_INT)
            ((int32_t *)elements)[i] = (int32_t)(bits % 2001) - 1000;
        else if (p->problem.precision == TZ_DOUBLE)
            ((double *)elements)[i] = value;
        else if (p->k->half)
            tz_problem_element(&p->problem, f, value, (uint16_t *)elements + i);
        else
            ((float *)elements)[i] = (float)value;
    }
}

static tz_box full_box(const tz_problem *problem)
{
    tz_box box = {{0}, {0}};
    memcpy(box.high, problem->elements, sizeof box.high);
    return box;
}

static tz_status create(pair *p, simt_build *build, simt *machine, tz_error *error)
{
    const simt_context context = {&p->problem, p->streams, build, machine, p->k->room, p->recorded};
    const tz_backend_context reference = {.problem = &p->problem, .streamed = p->streams};
    const tz_box box = full_box(&p->problem);
    tz_status status = simt_device_create(&p->device, &context, error);
    if (!status)
        status = tz_backend_reference.create(&p->reference, &reference, error);
    p->got = malloc((size_t)tz_problem_elements(&p->problem) * 8);
    p->want = malloc((size_t)tz_problem_elements(&p->problem) * 8);
    if (!status && (!p->got || !p->want))
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a field");
    for (int f = 0; f < p->k->stencil->fields_count && !status; f++) {
        if (p->k->stencil->fields[f].role == TZ_STREAMED)
            continue;
        fill(p, f, p->want);
        simt_device_store(p->device, f, p->want);
        status = tz_backend_reference.store(p->reference, f, &box, p->want, error);
    }
    return status;
}

/* ---- Comparison ------------------------------------------------------------------------------ */

static void print_element(const tz_problem *problem, int f, const void *element, char *text,
                          size_t size)
{
    uint32_t word;
    uint64_t wide;
    memcpy(&word, element, tz_problem_element_size(problem, f) == 2 ? 2 : 4);
    if (simt_is_poison(problem, f, element))
        snprintf(text, size, "nothing written");
    else if (problem->stencil->fields[f].type == TZ_INT)
        snprintf(text, size, "%" PRId32, (int32_t)word);
    else if (problem->stencil->fields[f].type == TZ_BITS)
        snprintf(text, size, "0x%08" PRIx32, word);
    else if (problem->precision == TZ_DOUBLE) {
        memcpy(&wide, element, 8);
        snprintf(text, size, "%.17g (0x%016" PRIx64 ")", *(const double *)element, wide);
    } else if (tz_problem_element_size(problem, f) == 2)
        snprintf(text, size, "%.9g (0x%04x)", (double)tz_half_value((uint16_t)word),
                 (unsigned)(uint16_t)word);
    else
        snprintf(text, size, "%.9g (0x%08" PRIx32 ")", (double)*(const float *)element, word);
}

static void compare_field(pair *p, int f, int64_t steps)
{
    const tz_problem *problem = &p->problem;
    const size_t size = tz_problem_element_size(problem, f);
    const int64_t nx = problem->elements[0], ny = problem->elements[1];
    for (int64_t i = 0; i < tz_problem_elements(problem); i++) {
        const char *got = (const char *)p->got + (size_t)i * size;
        const char *want = (const char *)p->want + (size_t)i * size;
        bool same = memcmp(got, want, size) == 0;
        if (problem->bits && !same) {
            uint32_t a, b;
            memcpy(&a, got, 4);
            memcpy(&b, want, 4);
            same = ((a ^ b) & simt_columns(problem, i % nx)) == 0;
        }
        if (same)
            continue;
        if (p->outcome->differences++ < p->show) {
            char a[64], b[64];
            print_element(problem, f, got, a, sizeof a);
            print_element(problem, f, want, b, sizeof b);
            simt_append(
                p->outcome->message, sizeof p->outcome->message,
                "  step %" PRId64 ", %s at %" PRId64 ",%" PRId64 ",%" PRId64 ": %s, expected %s\n",
                steps, problem->stencil->fields[f].name, i % nx, i / nx % ny, i / nx / ny, a, b);
        }
    }
}

static tz_status compare_fields(pair *p, int64_t steps, tz_error *error)
{
    const tz_box box = full_box(&p->problem);
    for (int f = 0; f < p->k->stencil->fields_count; f++) {
        if (p->k->stencil->fields[f].role != TZ_STATE)
            continue;
        simt_device_load(p->device, f, p->got);
        const tz_status status = tz_backend_reference.load(p->reference, f, &box, p->want, error);
        if (status)
            return status;
        compare_field(p, f, steps);
    }
    return TZ_OK;
}

static tz_status run_stages(pair *p, tz_error *error)
{
    simt_outcome *o = p->outcome;
    const int height = o->plan.height;
    /* A launch of several stages, if the family has such launches: with four exchanges, so that a
     * set of slots is used again. */
    const int most = o->plan.launch_iterations >= 5 * height ? 5 * height : height;
    const int several = most > height ? most : 0;
    const int64_t steps =
        p->k->steps > 0 ? p->k->steps : several + 2 * height + p->k->rest % height;
    tz_status status = TZ_OK;
    bool finite;
    while (!status && o->steps < steps && o->differences == 0) {
        const int rest = (int)(steps - o->steps < most ? steps - o->steps : most);
        status = tz_backend_reference.stage(p->reference, &o->plan, rest, o->steps, error);
        /* What is not finite has bits of its own choice. */
        if (!status)
            status = tz_backend_reference.all_finite(p->reference, &finite, error);
        if (!status && !finite)
            break;
        if (!status)
            status = simt_device_stage(p->device, &o->plan, rest, o->steps, o->stages % 2 == 1,
                                       &o->report, error);
        if (status)
            break;
        o->steps += rest;
        o->stages++;
        status = compare_fields(p, o->steps, error);
        compare_points(p);
    }
    return status;
}

/* Compares one run. */
static void attempt(pair *p, simt_build *build, simt *machine)
{
    const simt_case *k = p->k;
    simt_outcome *outcome = p->outcome;
    tz_error error = {0};
    tz_status status = create(p, build, machine, &error);
    if (!status)
        status = run_stages(p, &error);
    const long long findings = simt_report_total(&outcome->report);
    const bool crowded =
        k->alike > 0 && (outcome->report.alike < 1 || outcome->report.alike > k->alike);
    if (crowded)
        simt_append(
            outcome->message, sizeof outcome->message,
            "  %d lanes of a warp copy the same cells to shared memory at once, of at most %d\n",
            outcome->report.alike, k->alike);
    const simt_report *report = &outcome->report;
    const bool split =
        k->split > 0 && (report->packets == 0 || 100 * report->split > k->split * report->packets);
    if (split)
        simt_append(outcome->message, sizeof outcome->message,
                    "  %lld of %lld copies of 16 bytes to shared memory split a sector, more than "
                    "%d %%\n",
                    report->split, report->packets, k->split);
    outcome->verdict = outcome->differences || findings || crowded || split ? SIMT_DIFFERENT
                       : (status == TZ_RANGE || status == TZ_UNSUPPORTED) && !outcome->stages
                           ? SIMT_REFUSED
                       : status ? SIMT_FAILED
                                : SIMT_SAME;
    if (status && !findings)
        simt_append(outcome->message, sizeof outcome->message, "  %s\n", error.message);
    tz_backend_reference.destroy(p->reference);
    simt_device_destroy(p->device);
    free(p->got);
    free(p->want);
    p->reference = NULL;
    p->device = NULL;
    p->got = p->want = NULL;
}

void simt_compare(const simt_case *k, simt_build *build, simt *machine, int show,
                  simt_outcome *outcome)
{
    pair p = {.k = k, .outcome = outcome, .show = show, .amplitude = 1.0};
    tz_error error = {0};
    memset(outcome, 0, sizeof *outcome);
    outcome->plan = k->plan;
    outcome->report.counts_alike = k->alike > 0;
    const tz_limits limits = simt_limits(&k->room);
    tz_status status = resolve(&p, &error);
    const bool resolved = !status;
    if (!status)
        status = tz_cuda_plan(&p.problem, &limits, &outcome->plan, &error);
    if (status) {
        outcome->verdict = SIMT_REFUSED;
        simt_append(outcome->message, sizeof outcome->message, "  %s\n", error.message);
        if (resolved)
            tz_problem_clear(&p.whole);
        clear_points(&p);
        return;
    }
    /* Values that a stencil makes infinite or NaN before anything is compared: smaller ones may
     * stay finite. */
    attempt(&p, build, machine);
    while (outcome->verdict == SIMT_SAME && outcome->stages == 0 && p.amplitude > AMPLITUDE_LEAST) {
        p.amplitude /= 4.0;
        attempt(&p, build, machine);
    }
    if (outcome->verdict == SIMT_SAME && outcome->stages == 0) {
        outcome->verdict = SIMT_FAILED;
        simt_append(outcome->message, sizeof outcome->message,
                    "  nothing is compared: the stencil makes all random fields infinite or NaN\n");
    }
    for (int i = 0; i < outcome->report.messages; i++)
        simt_append(outcome->message, sizeof outcome->message, "  %s\n",
                    outcome->report.message[i]);
    const long long findings = simt_report_total(&outcome->report);
    if (findings > outcome->report.messages)
        simt_append(outcome->message, sizeof outcome->message, "  and %lld findings more\n",
                    findings - outcome->report.messages);
    if (outcome->differences > show)
        simt_append(outcome->message, sizeof outcome->message, "  %" PRId64 " elements differ\n",
                    outcome->differences);
    clear_points(&p);
    tz_problem_clear(&p.whole);
}
