/* Runs a stage of a plan on the machine: arguments, memory, launches. */
#include "stage.h"

#include "backend/cuda/points.h"

#include "backend/host/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 16 << 10, ALIGNED = 512, SCRATCH_BYTES = 4 };

/* Device memory: [GUARD][bytes][GUARD]. */
typedef struct guarded {
    char *memory, *at;
    size_t bytes;
    char name[72];
} guarded;

struct simt_device {
    simt_context context;
    guarded copy[TZ_FIELDS_MAX][2]; /* static fields have the first alone */
    int current[TZ_FIELDS_MAX];
    guarded between[TZ_FIELDS_MAX]; /* of fields that several passes write */
    guarded scratch;
    bool noted; /* an iteration is done */
};

/* ---- Poison ---------------------------------------------------------------------------------- */

/* NaN for reals; for integers a large negative number, which minima choose. */
static const uint32_t poison_single = UINT32_C(0x7fc0dead), poison_word = UINT32_C(0x9e3779b9);
static const uint16_t poison_half = 0x7ead;
static const uint64_t poison_double = UINT64_C(0x7ff8deaddeaddead);

static const void *poison_of(const tz_problem *problem, int field)
{
    if (problem->stencil->fields[field].type != TZ_REAL)
        return &poison_word;
    const size_t size = tz_problem_element_size(problem, field);
    return size == 8   ? (const void *)&poison_double
           : size == 2 ? (const void *)&poison_half
                       : (const void *)&poison_single;
}

bool simt_is_poison(const tz_problem *problem, int field, const void *element)
{
    return memcmp(element, poison_of(problem, field), tz_problem_element_size(problem, field)) == 0;
}

uint32_t simt_columns(const tz_problem *problem, int64_t x)
{
    uint32_t bits = 0;
    for (int64_t b = 0; b < 32; b++)
        if (b * problem->elements[0] + x < problem->extent[0])
            bits |= UINT32_C(1) << b;
    return bits;
}

static void poison(const tz_problem *problem, int field, char *at, int64_t elements)
{
    const size_t size = tz_problem_element_size(problem, field);
    for (int64_t i = 0; i < elements; i++)
        memcpy(at + (size_t)i * size, poison_of(problem, field), size);
}

/* The same of cells in the domain, which is the field at `mask`: others were computed before, and
 * launches may leave them out. */
static void poison_domain(const tz_problem *problem, const char *mask, int field, char *at,
                          int64_t elements)
{
    const size_t size = tz_problem_element_size(problem, field);
    for (int64_t i = 0; i < elements; i++)
        if (memcmp(mask + 4 * i, &(int32_t){0}, 4) != 0)
            memcpy(at + (size_t)i * size, poison_of(problem, field), size);
}

/* Memory outside the grid: the ends of rows, and bits beyond the last column. */
static void poison_padding(const tz_problem *problem, int field, char *at, int64_t rows)
{
    const size_t size = tz_problem_element_size(problem, field);
    const int64_t nx = problem->elements[0], pitch = tz_cuda_pitch(problem);
    for (int64_t row = 0; row < rows; row++, at += (size_t)pitch * size) {
        poison(problem, field, at + (size_t)nx * size, pitch - nx);
        for (int64_t x = 0; problem->bits && x < nx; x++) {
            const uint32_t inside = simt_columns(problem, x);
            uint32_t word;
            memcpy(&word, at + x * 4, 4);
            word = (word & inside) | (poison_word & ~inside);
            memcpy(at + x * 4, &word, 4);
        }
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static int64_t rows_of(const tz_problem *problem)
{
    return problem->elements[1] * problem->elements[2];
}

static void guard_fill(char *at)
{
    for (size_t i = 0; i < GUARD; i += 4)
        memcpy(at + i, &poison_single, 4);
}

static bool guard_intact(const char *at, int64_t *where)
{
    for (size_t i = 0; i < GUARD; i += 4)
        if (memcmp(at + i, &poison_single, 4) != 0) {
            *where = (int64_t)i;
            return false;
        }
    return true;
}

static tz_status guarded_create(guarded *g, size_t bytes, const char *kind, const char *name,
                                tz_error *error)
{
    const size_t room = (bytes + 2 * GUARD + 2 * ALIGNED) / ALIGNED * ALIGNED;
    g->memory = aligned_alloc(ALIGNED, room);
    if (!g->memory)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a field");
    g->at = g->memory + GUARD;
    g->bytes = bytes;
    memset(g->at, 0, bytes);
    guard_fill(g->memory);
    guard_fill(g->at + bytes);
    snprintf(g->name, sizeof g->name, "%s%s'%.48s'", kind, *kind ? " " : "", name);
    return TZ_OK;
}

static void guarded_check(const guarded *g, simt_report *report)
{
    int64_t where;
    if (!guard_intact(g->memory, &where))
        simt_report_add(report, SIMT_FOUND_ADDRESS, "write %lld bytes before the start of %s",
                        (long long)(GUARD - where), g->name);
    if (!guard_intact(g->at + g->bytes, &where))
        simt_report_add(report, SIMT_FOUND_ADDRESS, "write %lld bytes after the end of %s",
                        (long long)where, g->name);
}

/* ---- Life and cells -------------------------------------------------------------------------- */

void simt_device_destroy(simt_device *device)
{
    if (!device)
        return;
    for (int f = 0; f < TZ_FIELDS_MAX; f++) {
        free(device->copy[f][0].memory);
        free(device->copy[f][1].memory);
        free(device->between[f].memory);
    }
    free(device->scratch.memory);
    free(device);
}

tz_status simt_device_create(simt_device **out, const simt_context *context, tz_error *error)
{
    const tz_problem *problem = context->problem;
    simt_device *device = calloc(1, sizeof *device);
    if (!device)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    device->context = *context;
    tz_status status = guarded_create(&device->scratch, SCRATCH_BYTES, "", "scratch", error);
    for (int f = 0; f < problem->stencil->fields_count && !status; f++) {
        const tz_field *field = &problem->stencil->fields[f];
        const size_t bytes = (size_t)(tz_cuda_pitch(problem) * rows_of(problem)) *
                             tz_problem_element_size(problem, f);
        const int copies = field->role == TZ_STATE ? 2 : field->role == TZ_STATIC ? 1 : 0;
        for (int c = 0; c < copies && !status; c++)
            status = guarded_create(&device->copy[f][c], bytes, tz_role_name(field->role),
                                    field->name, error);
        if (!status && tz_cuda_between(problem, f + 1) > tz_cuda_between(problem, f))
            status =
                guarded_create(&device->between[f], bytes, "between passes", field->name, error);
    }
    if (status) {
        simt_device_destroy(device);
        return status;
    }
    *out = device;
    return TZ_OK;
}

void simt_device_store(simt_device *device, int field, const void *elements)
{
    const tz_problem *problem = device->context.problem;
    const size_t size = tz_problem_element_size(problem, field);
    const size_t row = (size_t)problem->elements[0] * size;
    const size_t pitch = (size_t)tz_cuda_pitch(problem) * size;
    char *at = device->copy[field][device->current[field]].at;
    for (int64_t i = 0; i < rows_of(problem); i++)
        memcpy(at + (size_t)i * pitch, (const char *)elements + (size_t)i * row, row);
}

void simt_device_load(const simt_device *device, int field, void *elements)
{
    const tz_problem *problem = device->context.problem;
    const size_t size = tz_problem_element_size(problem, field);
    const size_t row = (size_t)problem->elements[0] * size;
    const size_t pitch = (size_t)tz_cuda_pitch(problem) * size;
    const char *at = device->copy[field][device->current[field]].at;
    for (int64_t i = 0; i < rows_of(problem); i++)
        memcpy((char *)elements + (size_t)i * row, at + (size_t)i * pitch, row);
}

/* ---- Stages ---------------------------------------------------------------------------------- */

/* The memory of a launch. */
typedef struct stage {
    const tz_cuda_family *family;
    tz_plan plan; /* the kernel's own */
    const simt_entry *kernel;
    tz_cuda_shape shape;
    guarded slabs[TZ_FIELDS_MAX];
    const guarded *in[TZ_FIELDS_MAX], *out[TZ_FIELDS_MAX];
    guarded rows[TZ_FIELDS_MAX]; /* of slabs: those of the launch; no memory of their own */
    char *before[TZ_FIELDS_MAX]; /* of inputs */
    tz_cuda_turn turn;
    int turns;
} stage;

static void stage_clear(stage *s)
{
    for (int f = 0; f < TZ_FIELDS_MAX; f++) {
        free(s->slabs[f].memory);
        free(s->before[f]);
    }
}

tz_limits simt_limits(const simt_room *room)
{
    return tz_place_limits(&(tz_place){.limits = {.multiprocessors = room->multiprocessors}});
}

static tz_status find_kernel(simt_device *device, stage *s, const tz_plan *plan, int height,
                             tz_error *error)
{
    const tz_problem *problem = device->context.problem;
    const tz_limits limits = simt_limits(&device->context.room);
    char *source = NULL;
    s->plan = *plan;
    tz_status status = tz_cuda_family_find(plan->family, problem, &s->family, error);
    if (!status && s->family->exact)
        s->plan.height = height;
    if (!status)
        status = tz_cuda_source(problem, &limits, &s->plan, &source, error);
    if (!status)
        status = simt_build_kernel(device->context.build, source, TZ_CUDA_ENTRY, &s->kernel, error);
    free(source);
    if (!status)
        status =
            tz_cuda_shape_all(s->family, problem, &limits, &s->plan,
                              device->context.room.blocks_per_multiprocessor, &s->shape, error);
    if (!status && (size_t)s->shape.scratch_bytes > device->scratch.bytes) {
        free(device->scratch.memory);
        device->scratch.memory = NULL;
        status =
            guarded_create(&device->scratch, (size_t)s->shape.scratch_bytes, "", "scratch", error);
    }
    return status;
}

static tz_status make_slabs(simt_device *device, guarded *slabs, int f, int height, int64_t step,
                            tz_error *error)
{
    const tz_problem *problem = device->context.problem;
    const int64_t nx = problem->elements[0], pitch = tz_cuda_pitch(problem);
    tz_status status = guarded_create(slabs, (size_t)(pitch * height) * sizeof(int32_t), "streamed",
                                      problem->stencil->fields[f].name, error);
    int32_t *scratch = malloc((size_t)nx * sizeof *scratch);
    if (!status && !scratch)
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a row");
    for (int t = 0; t < height && !status; t++)
        memcpy(slabs->at + (size_t)(t * pitch) * sizeof *scratch,
               tz_streamed_source_row(device->context.streamed[f], step + t, 0, nx, scratch),
               (size_t)nx * sizeof *scratch);
    if (!status)
        poison_padding(problem, f, slabs->at, height);
    free(scratch);
    return status;
}

static tz_status make_all_slabs(simt_device *device, stage *s, int height, int64_t step,
                                tz_error *error)
{
    const tz_problem *problem = device->context.problem;
    tz_status status = TZ_OK;
    for (int f = 0; f < problem->stencil->fields_count && !status; f++)
        if (problem->stencil->fields[f].role == TZ_STREAMED)
            status = make_slabs(device, &s->slabs[f], f, height, step, error);
    return status;
}

/* The array of a field that a launch reads or writes. */
static const guarded *array_of(simt_device *device, int f, tz_cuda_copy copy)
{
    return copy == TZ_CUDA_BETWEEN ? &device->between[f]
                                   : &device->copy[f][device->current[f] ^ (copy == TZ_CUDA_NEXT)];
}

/* The arrays of a launch; what it writes is poison before. */
static tz_status prepare_fields(simt_device *device, stage *s, tz_error *error)
{
    const tz_problem *problem = device->context.problem;
    const int64_t pitch = tz_cuda_pitch(problem), elements = pitch * rows_of(problem);
    const int pass = s->turn.pass;
    tz_status status = TZ_OK;
    for (int f = 0; f < problem->stencil->fields_count && !status; f++) {
        const tz_role role = problem->stencil->fields[f].role;
        const uint32_t written =
            pass < 0 ? tz_problem_written(problem) : problem->stencil->passes[pass].writes;
        s->out[f] = NULL;
        if (role == TZ_STREAMED) {
            s->rows[f] = s->slabs[f];
            s->rows[f].at += (int64_t)s->turn.first * pitch * (int64_t)sizeof(int32_t);
            s->rows[f].bytes = (size_t)(s->turn.height * pitch) * sizeof(int32_t);
            s->in[f] = &s->rows[f];
        } else {
            s->in[f] = array_of(device, f, tz_cuda_reads(problem, pass, f));
            poison_padding(problem, f, s->in[f]->at, rows_of(problem));
        }
        if (role == TZ_STATE && (pass < 0 || written >> f & 1)) {
            s->out[f] = array_of(device, f, tz_cuda_writes(problem, pass, f));
            if (device->noted && s->family->apart && tz_stencil_domain(problem->stencil) >= 0)
                poison_domain(problem, device->copy[tz_stencil_domain(problem->stencil)][0].at, f,
                              s->out[f]->at, elements);
            else
                poison(problem, f, s->out[f]->at, elements);
        }
        char *before = realloc(s->before[f], s->in[f]->bytes);
        if (!before)
            return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a copy");
        s->before[f] = before;
        memcpy(before, s->in[f]->at, s->in[f]->bytes);
    }
    return status;
}

static void check_fields(const simt_device *device, const stage *s, simt_report *report)
{
    const tz_problem *problem = device->context.problem;
    guarded_check(&device->scratch, report);
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        guarded_check(s->slabs[f].memory ? &s->slabs[f] : s->in[f], report);
        if (s->out[f])
            guarded_check(s->out[f], report);
        size_t at = 0;
        while (at < s->in[f]->bytes && s->before[f][at] == s->in[f]->at[at])
            at++;
        if (at < s->in[f]->bytes)
            simt_report_add(report, SIMT_FOUND_ADDRESS,
                            "write of byte %zu of %s, which is an input", at, s->in[f]->name);
    }
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* Lists and values as kernels find them, in one piece of memory. */
typedef struct points {
    char *memory;
    char *records;
    int base[2 * TZ_FIELDS_MAX];
    int64_t adds, records_count;
    tz_cuda_point_arguments arguments;
} points;

/* The values of `height` iterations from `step` on. Elements that are not recorded stay poison. */
static void make_points(const tz_problem *problem, int height, int64_t step, points *p)
{
    const tz_points *of = problem->points;
    const tz_point_values *values = of->values;
    const int fields = problem->stencil->fields_count;
    const size_t real = tz_problem_real(problem)->size;
    for (int f = 0; f < fields; f++) {
        p->base[f] = (int)p->adds;
        p->base[fields + f] = (int)p->records_count;
        p->adds += (int64_t)of->added[f].count;
        p->records_count += (int64_t)of->recorded[f].count;
    }
    const size_t lists = (tz_cuda_point_rows(problem, p->base, 0, NULL, NULL) + 15) & ~(size_t)15;
    const size_t values_row = (size_t)p->adds * real;
    const size_t records_row = (size_t)p->records_count * values->slot;
    p->memory = calloc(1, lists + (size_t)height * (values_row + records_row) + 16);
    p->arguments = TZ_CUDA_NO_POINTS;
    p->arguments.lists = (tz_cu_pointer)(uintptr_t)p->memory;
    tz_cuda_point_rows(problem, p->base, p->arguments.lists, p->memory, &p->arguments);
    char *added = p->memory + lists;
    p->records = added + (size_t)height * values_row;
    memset(p->records, 0xa5, (size_t)height * records_row);
    for (int k = 0; k < height; k++)
        for (int f = 0; f < fields; f++)
            for (size_t i = 0; i < of->added[f].count; i++)
                memcpy(added + (size_t)k * values_row + ((size_t)p->base[f] + i) * real,
                       values->added + (size_t)((step - values->begin + k) * values->adds +
                                                of->added[f].of[i].index) *
                                           real,
                       real);
    p->arguments.values = (tz_cu_pointer)(uintptr_t)added;
    p->arguments.records = (tz_cu_pointer)(uintptr_t)p->records;
    p->arguments.values_row = (int64_t)values_row;
    p->arguments.records_row = (int64_t)records_row;
    p->arguments.slot = (int32_t)values->slot;
}

/* What was recorded goes to simt_context.recorded. A part of a stage records its own cells. */
static void take_points(const simt_device *device, int height, int64_t step, points *p)
{
    const tz_problem *problem = device->context.problem;
    const tz_points *of = problem->points;
    const tz_point_values *values = of->values;
    const int fields = problem->stencil->fields_count;
    for (int k = 0; k < height; k++)
        for (int f = 0; f < fields; f++)
            for (size_t i = 0; i < of->recorded[f].count; i++) {
                const size_t at =
                    (size_t)k * (size_t)p->records_count + (size_t)p->base[fields + f] + i;
                const char *from = p->records + at * values->slot;
                const uint32_t none = UINT32_C(0xa5a5a5a5);
                if (memcmp(from, &none, sizeof none) != 0)
                    memcpy(device->context.recorded +
                               (size_t)((step - values->begin + k) * values->records +
                                        of->recorded[f].of[i].index) *
                                   values->slot,
                           from, tz_problem_element_size(problem, f));
            }
    free(p->memory);
}

static bool launch(simt_device *device, const stage *s, int64_t step, bool backwards,
                   simt_report *report)
{
    const tz_problem *problem = device->context.problem;
    const int fields = problem->stencil->fields_count;
    simt_buffer buffers[2 * TZ_FIELDS_MAX + 1];
    tz_cu_pointer in[TZ_FIELDS_MAX] = {0}, out[TZ_FIELDS_MAX] = {0};
    int count = 0;
    for (int f = 0; f < fields; f++) {
        in[f] = (tz_cu_pointer)(uintptr_t)s->in[f]->at;
        buffers[count++] = (simt_buffer){s->in[f]->name, s->in[f]->at, s->in[f]->bytes, false};
        if (!s->out[f])
            continue;
        out[f] = (tz_cu_pointer)(uintptr_t)s->out[f]->at;
        buffers[count++] = (simt_buffer){s->out[f]->name, s->out[f]->at, s->out[f]->bytes, true};
    }
    buffers[count++] =
        (simt_buffer){device->scratch.name, device->scratch.at, device->scratch.bytes, true};
    simt_launch what = {
        .grid = {s->shape.grid[0], s->shape.grid[1], s->shape.grid[2]},
        .threads = s->shape.threads,
        .shared_bytes = s->shape.shared_bytes,
        .cooperative = s->shape.cooperative,
        .backwards = backwards,
        .buffers = buffers,
        .buffers_count = count,
    };
    const simt_room *room = &device->context.room;
    const tz_limits limits = simt_limits(room);
    const int64_t blocks = (int64_t)what.grid[0] * what.grid[1] * what.grid[2];
    if (what.cooperative &&
        blocks > (int64_t)room->multiprocessors * room->blocks_per_multiprocessor)
        simt_report_add(report, SIMT_FOUND_LAUNCH,
                        "a cooperative launch of %lld blocks where %d fit", (long long)blocks,
                        room->multiprocessors * room->blocks_per_multiprocessor);
    if (what.threads != tz_cuda_threads(s->family, &s->plan) ||
        what.shared_bytes != s->family->shared_bytes(problem, &limits, &s->plan))
        simt_report_add(report, SIMT_FOUND_LAUNCH,
                        "the family's threads() and shared_bytes() are not its shape's");
    if (s->kernel->arguments_count != 1 ||
        s->kernel->arguments_bytes != (int)tz_cuda_arguments_size(problem)) {
        simt_report_add(report, SIMT_FOUND_LAUNCH,
                        "the kernel takes %d bytes of arguments, not %zu",
                        s->kernel->arguments_bytes, tz_cuda_arguments_size(problem));
        return false;
    }
    union {
        uint64_t align;
        char bytes[TZ_CUDA_ARGUMENTS_MAX];
    } arguments;
    tz_error error;
    tz_cuda_shape shape = s->shape;
    if (s->turn.pass >= 0)
        shape.geometry[TZ_CUDA_PASS] = s->turn.pass;
    if (tz_cuda_arguments_fill(problem, &shape, s->turn.height, step + s->turn.first, in, out,
                               (tz_cu_pointer)(uintptr_t)device->scratch.at, arguments.bytes,
                               &error)) {
        simt_report_add(report, SIMT_FOUND_LAUNCH, "%s", error.message);
        return false;
    }
    points p = {0};
    if (problem->points) {
        make_points(problem, s->turn.height, step + s->turn.first, &p);
        memcpy(arguments.bytes + tz_cuda_arguments_size(problem) - sizeof p.arguments, &p.arguments,
               sizeof p.arguments);
    }
    void *pointers[] = {arguments.bytes};
    const bool done = simt_run(device->context.machine, s->kernel, &what, pointers, report);
    if (problem->points)
        take_points(device, s->turn.height, step + s->turn.first, &p);
    return done;
}

/* Nothing has written elements `low` to `high` along the last axis. */
static void check_untouched(const tz_problem *problem, const stage *s, int64_t low, int64_t high,
                            simt_report *report)
{
    const int axis = problem->dims - 1;
    const int64_t pitch = tz_cuda_pitch(problem), nx = problem->elements[0];
    for (int f = 0; f < problem->stencil->fields_count; f++)
        for (int64_t i = 0;
             tz_problem_written(problem) >> f & 1 && i < tz_problem_elements(problem); i++) {
            const int64_t at[] = {i % nx, i / nx % problem->elements[1],
                                  i / nx / problem->elements[1]};
            const char *element = s->out[f]->at + (size_t)(i / nx * pitch + at[0]) *
                                                      tz_problem_element_size(problem, f);
            if (at[axis] < low || at[axis] >= high || simt_is_poison(problem, f, element))
                continue;
            simt_report_add(report, SIMT_FOUND_ADDRESS,
                            "write of element %lld of %s along the last axis, outside the span",
                            (long long)at[axis], s->out[f]->name);
            return;
        }
}

/* The ends of a slab, of a few elements, and then the rest. */
static bool launch_spans(simt_device *device, stage *s, int64_t step, simt_report *report,
                         tz_error *error)
{
    const tz_problem *problem = device->context.problem;
    const tz_limits limits = simt_limits(&device->context.room);
    const int64_t n = problem->elements[problem->dims - 1];
    const int64_t cuts[] = {0, n / 7 + (n > 2), n - n / 5, n};
    static const int order[] = {0, 2, 1};
    for (int i = 0; i < 3; i++) {
        const int64_t low = cuts[order[i]], high = cuts[order[i] + 1];
        if (low >= high)
            continue;
        if (tz_cuda_shape_span(s->family, problem, &limits, &s->plan,
                               device->context.room.blocks_per_multiprocessor, low, high, &s->shape,
                               error) ||
            !launch(device, s, step, i == 1, report))
            return false;
        if (i < 2)
            check_untouched(problem, s, cuts[1], i == 0 ? n : cuts[2], report);
    }
    return true;
}

static void swap_copies(simt_device *device, const tz_cuda_family *family)
{
    const tz_problem *problem = device->context.problem;
    const uint32_t written = tz_problem_written(problem);
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const int other = tz_cuda_handed(family, problem, f);
        if (other < 0)
            continue;
        guarded *const to = &device->copy[f][1 - device->current[f]], unused = *to;
        guarded *const from = &device->copy[other][device->current[other]];
        *to = *from;
        *from = unused;
    }
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (written >> f & 1)
            device->current[f] = 1 - device->current[f];
}

tz_status simt_device_stage(simt_device *device, const tz_plan *plan, int height, int64_t step,
                            bool backwards, simt_report *report, tz_error *error)
{
    const tz_problem *problem = device->context.problem;
    stage s = {0};
    tz_status status = find_kernel(device, &s, plan, height, error);
    if (!status)
        status = make_all_slabs(device, &s, height, step, error);
    const int turns = status ? 0 : tz_cuda_turns(s.family, problem, height);
    const bool in_spans =
        !status && problem->slab.of && !backwards && tz_cuda_in_spans(s.family, problem, height);
    for (int i = 0; i < turns && !status; i++) {
        s.turn = tz_cuda_turn_of(s.family, problem, height, i);
        status = prepare_fields(device, &s, error);
        if (!status && !(in_spans ? launch_spans(device, &s, step, report, error)
                                  : launch(device, &s, step, backwards, report)))
            status = tz_error_set(error, TZ_BACKEND, NULL, "the launch ended early: %s",
                                  report->messages ? report->message[report->messages - 1] : "?");
        if (!status)
            check_fields(device, &s, report);
        if (!status && s.turn.ends) {
            swap_copies(device, s.family);
            device->noted = true;
        }
    }
    stage_clear(&s);
    return status;
}
