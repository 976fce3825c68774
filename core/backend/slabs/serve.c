/* Rank 0's commands (commands.h): how they are sent, and how the other ranks serve them. slabs.c
 * sends those of the backend's functions, core/sim the others, and the command line lets the other
 * ranks serve. */
#include "backend/slabs/commands.h"
#include "backend/slabs/slabs.h"
#include "base/file.h"
#include "define/plugin.h"
#include "stencil/registry.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLUGIN_BYTES_MAX = 1 << 30, ID_SIZE = 256 };

void tz__slabs_pass(const tz_ranks *ranks, void *bytes, int64_t count)
{
    if (ranks && count > 0)
        ranks->broadcast(ranks, 0, bytes, count);
}

static tz_status (*const bodies[])(tz__slabs *, const tz__slabs_call *, tz_error *) = {
#define BODY(name) [TZ__SLABS_##name] = tz__slabs_do_##name,
    TZ__SLABS_COMMANDS(BODY)
#undef BODY
};

/* ---- A problem as bytes ---------------------------------------------------------------------- */

/* In this order: the problem; its narrow one, if it has one (mixed precision); the values of each
 * scalar in `count` iterations; texts. NULL: not enough memory. */
static char *write_problem(const tz_problem *problem, int64_t first, int64_t count, size_t *bytes)
{
    char *written = NULL;
    FILE *out = open_memstream(&written, bytes);
    if (!out)
        return NULL;
    fwrite(problem, sizeof *problem, 1, out);
    if (problem->narrow)
        fwrite(problem->narrow, sizeof *problem, 1, out);
    for (size_t i = 0; i < problem->scalars_count; i++)
        for (int64_t k = 0; k < count; k++) {
            const double value = tz_series_at(&problem->scalars[i], problem->params, first + k);
            fwrite(&value, sizeof value, 1, out);
        }
    for (int p = 0; p < problem->stencil->params_count; p++)
        if (problem->params[p].text)
            fwrite(problem->params[p].text, strlen(problem->params[p].text) + 1, 1, out);
    for (size_t i = 0; i < problem->scalars_count; i++)
        fwrite(problem->scalars[i].name, strlen(problem->scalars[i].name) + 1, 1, out);
    if (fclose(out) == 0)
        return written;
    free(written);
    return NULL;
}

/* Values of a scalar in some iterations. */
typedef struct window {
    int64_t first, count;
    const double *values;
} window;

static double value_in_window(const void *context, const tz_value *params, int64_t step)
{
    const window *w = context;
    (void)params;
    return step >= w->first && step < w->first + w->count ? w->values[step - w->first] : NAN;
}

/* A problem read from bytes. Pointers to its members stay valid when it is read again. */
typedef struct copy {
    char *bytes;
    tz_problem problem, narrow;
    tz_series *scalars;
    window *windows;
    tz_points *points;
    tz_point_values values;
} copy;

static void clear_copy(copy *c)
{
    free(c->bytes);
    free(c->scalars);
    free(c->windows);
    tz_points_destroy(c->points);
    free(c->values.added);
    free(c->values.recorded);
}

/* Takes the bytes, also after an error. */
static tz_status read_problem(copy *c, char *bytes, const tz_stencil *stencil, int64_t first,
                              int64_t count, tz_error *error)
{
    free(c->bytes);
    c->bytes = bytes;
    memcpy(&c->problem, bytes, sizeof c->problem);
    bytes += sizeof c->problem;
    if (c->problem.narrow) {
        memcpy(&c->narrow, bytes, sizeof c->narrow);
        bytes += sizeof c->narrow;
    }
    const size_t scalars = c->problem.scalars_count;
    c->scalars = c->scalars ? c->scalars : calloc(scalars + 1, sizeof *c->scalars);
    c->windows = c->windows ? c->windows : calloc(scalars + 1, sizeof *c->windows);
    if (!c->scalars || !c->windows)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a problem");
    for (size_t i = 0; i < scalars; i++, bytes += (size_t)count * sizeof(double))
        c->windows[i] = (window){first, count, (const double *)(const void *)bytes};
    const tz_value *led = ((const tz_problem *)(const void *)c->bytes)->params;
    for (int p = 0; p < stencil->params_count; p++)
        if (led[p].text) {
            c->problem.params[p].text = bytes;
            bytes += strlen(bytes) + 1;
        }
    for (size_t i = 0; i < scalars; i++, bytes += strlen(bytes) + 1)
        c->scalars[i] =
            (tz_series){.name = bytes, .value = value_in_window, .context = &c->windows[i]};
    c->problem.stencil = stencil;
    c->problem.scalars = c->scalars;
    c->problem.points = c->points;
    if (c->problem.narrow) {
        memcpy(c->narrow.params, c->problem.params, sizeof c->narrow.params);
        c->narrow.stencil = stencil;
        c->narrow.scalars = c->scalars;
        c->narrow.narrow = NULL;
        c->problem.narrow = &c->narrow;
    }
    return TZ_OK;
}

/* ---- Points as bytes: in all ranks ----------------------------------------------------------- */

/* Of lists whose counts are known. */
static void pass_lists(const tz_ranks *ranks, const tz_problem *problem, const tz_points *points)
{
    const int64_t rows = problem->elements[1] * problem->elements[2];
    for (int f = 0; f < 2 * TZ_FIELDS_MAX; f++) {
        const tz_point_list *list =
            f < TZ_FIELDS_MAX ? &points->added[f] : &points->recorded[f - TZ_FIELDS_MAX];
        if (list->count == 0)
            continue;
        tz__slabs_pass(ranks, list->of, (int64_t)(list->count * sizeof *list->of));
        tz__slabs_pass(ranks, list->first, (rows + 1) * (int64_t)sizeof *list->first);
    }
}

static void pass_values(const tz_ranks *ranks, const tz_problem *problem,
                        const tz_point_values *values, int64_t first, int64_t end)
{
    const int64_t row = values->adds * (int64_t)tz_problem_real(problem)->size;
    tz__slabs_pass(ranks, values->added + first * row, (end - first) * row);
}

/* ---- Rank 0 ---------------------------------------------------------------------------------- */

static void tell(const tz_ranks *ranks, const tz__slabs_call *call)
{
    if (ranks)
        ranks->tell(ranks, call, sizeof *call);
}

/* What another rank needs to make the same problem: devices, stencil, plugin, parameters. */
typedef struct parcel {
    tz_devices devices;
    char stencil[ID_SIZE];
    char *image, *problem;
    size_t image_bytes, problem_bytes;
    bool defined; /* the image is a definition (define/plugin.h), not a library */
} parcel;

static void clear_parcel(parcel *p)
{
    free(p->image);
    free(p->problem);
}

static tz_status pack(parcel *p, const tz_devices *devices, const tz_problem *problem,
                      const char *plugin, tz_error *error)
{
    *p = (parcel){.devices = *devices};
    snprintf(p->stencil, sizeof p->stencil, "%s", problem->stencil->id);
    const tz_late_rows *late = problem->stencil->engine;
    tz_status status = TZ_OK;
    p->defined = !plugin;
    if (plugin)
        status = tz_file_read(plugin, PLUGIN_BYTES_MAX, &p->image, &p->image_bytes, error);
    else if ((p->image = malloc(late->definition_bytes)))
        memcpy(p->image, late->definition, p->image_bytes = late->definition_bytes);
    if (status)
        return status;
    if (!p->image)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a stencil");
    p->problem = write_problem(problem, 0, 1, &p->problem_bytes);
    return p->problem ? TZ_OK
                      : tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a problem");
}

/* In all ranks, with the sizes of the call. */
static void pass_parcel(const tz_ranks *ranks, parcel *p)
{
    tz__slabs_pass(ranks, &p->devices, sizeof p->devices);
    tz__slabs_pass(ranks, p->stencil, sizeof p->stencil);
    tz__slabs_pass(ranks, p->image, (int64_t)p->image_bytes);
    tz__slabs_pass(ranks, p->problem, (int64_t)p->problem_bytes);
}

static int number_of(const tz_backend *backend)
{
    int number = -1;
    for (int i = 0; tz_backends[i]; i++)
        number = tz_backends[i] == backend ? i : number;
    return number;
}

static tz_status create_in_all(tz__slabs *slabs, const tz_backend_context *context, tz_error *error)
{
    const tz_ranks *ranks = context->ranks;
    parcel p;
    tz_status status = pack(&p, context->devices, context->problem, context->plugin, error);
    if (!status) {
        const tz__slabs_call call = {.command = TZ__SLABS_CREATE,
                                     .state = (uintptr_t)slabs,
                                     .counts = {(int64_t)p.image_bytes, (int64_t)p.problem_bytes},
                                     .sync = context->sync,
                                     .defined = p.defined,
                                     .backend = number_of(context->devices->inner),
                                     .exchange = context->exchange,
                                     .plan =
                                         context->plan ? *context->plan : (tz_plan){.height = 0}};
        tell(ranks, &call);
        pass_parcel(ranks, &p);
        status = tz_ranks_agree(ranks, TZ_OK, error);
        if (!status)
            status = tz__slabs_do_create(slabs, context, error);
        slabs->told = p.problem;
        slabs->defined = p.defined;
        p.problem = NULL;
    }
    clear_parcel(&p);
    return status;
}

tz_status tz__slabs_create(void **out, const tz_backend_context *context, tz_error *error)
{
    *out = NULL;
    tz__slabs *slabs = calloc(1, sizeof *slabs);
    if (!slabs)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    const bool several = context->ranks && context->ranks->count > 1;
    const tz_status status =
        several ? create_in_all(slabs, context, error) : tz__slabs_do_create(slabs, context, error);
    if (status)
        tz__slabs_do_destroy(slabs);
    else
        *out = slabs;
    return status;
}

void tz__slabs_destroy(void *any)
{
    const tz__slabs_call call = {.command = TZ__SLABS_DESTROY, .state = (uintptr_t)any};
    if (any)
        tell(tz__slabs_ranks(any), &call);
    tz__slabs_do_destroy(any);
}

tz_status tz__slabs_call_all(tz__slabs *slabs, tz__slabs_call call, tz_error *error)
{
    call.state = (uintptr_t)slabs;
    call.other = (uintptr_t)call.correction;
    tell(tz__slabs_ranks(slabs), &call);
    return bodies[call.command](slabs, &call, error);
}

/* Have the other ranks the present problem? */
static bool is_told(const tz__slabs *slabs)
{
    const tz_problem *problem = slabs->context.problem;
    const char *text = slabs->told + sizeof *problem * (problem->narrow ? 2 : 1);
    bool same = memcmp(slabs->told, problem, sizeof *problem) == 0 && problem->scalars_count == 0;
    for (int p = 0; same && p < problem->stencil->params_count; p++)
        if (problem->params[p].text) {
            same = strcmp(problem->params[p].text, text) == 0;
            text += strlen(text) + 1;
        }
    return same;
}

/* A mask of the streamed fields whose source has changed since it was sent. */
static uint32_t new_sources(const tz__slabs *slabs)
{
    uint32_t fields = 0;
    for (int f = 0; f < slabs->context.problem->stencil->fields_count; f++)
        if (slabs->context.streamed && slabs->context.streamed[f] &&
            slabs->context.streamed[f]->generation != slabs->generations[f])
            fields |= UINT32_C(1) << f;
    return fields;
}

/* The library of a stencil that has been compiled since the state was made. Should it not be read,
 * the others go on without. */
static void send_rows(tz__slabs *slabs)
{
    const char *file = slabs->defined ? tz_stencil_file(slabs->context.problem->stencil) : NULL;
    char *image;
    size_t bytes;
    if (!file)
        return;
    slabs->defined = false;
    if (tz_file_read(file, PLUGIN_BYTES_MAX, &image, &bytes, NULL))
        return;
    const tz__slabs_call news = {
        .command = TZ__SLABS_ROWS, .state = (uintptr_t)slabs, .counts = {(int64_t)bytes}};
    tell(tz__slabs_ranks(slabs), &news);
    tz__slabs_pass(tz__slabs_ranks(slabs), image, (int64_t)bytes);
    free(image);
}

static tz_status renew(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error)
{
    const tz_ranks *ranks = tz__slabs_ranks(slabs);
    const tz_problem *problem = slabs->context.problem;
    tz_slot constants[TZ_CONSTANTS_MAX];
    if (!ranks)
        return TZ_OK;
    send_rows(slabs);
    const uint32_t fields = new_sources(slabs);
    if (fields == 0 && is_told(slabs))
        return TZ_OK;
    /* An error of the script, before others compute with it. */
    tz_status status = TZ_OK;
    for (int i = 0; i < call->iterations && problem->scalars_count > 0 && !status; i++)
        status = tz_problem_constants_at(problem, call->at + i, constants, error);
    size_t bytes = 0;
    char *fresh = status ? NULL : write_problem(problem, call->at, call->iterations, &bytes);
    if (!status && !fresh)
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a problem");
    if (status)
        return status;
    const tz__slabs_call news = {.command = TZ__SLABS_RENEW,
                                 .state = (uintptr_t)slabs,
                                 .counts = {(int64_t)bytes},
                                 .at = call->at,
                                 .iterations = call->iterations,
                                 .fields = fields};
    tell(ranks, &news);
    tz__slabs_pass(ranks, fresh, (int64_t)bytes);
    free(slabs->told);
    slabs->told = fresh;
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        if (fields >> f & 1) {
            tz_streamed_source source = *slabs->context.streamed[f];
            slabs->generations[f] = source.generation;
            tz__slabs_pass(ranks, &source, sizeof source);
            if (source.data)
                tz__slabs_pass(ranks, (void *)source.data,
                               source.slabs * source.cells * (int64_t)sizeof *source.data);
        }
    return TZ_OK;
}

/* Points that are new, and what sources add in the next stages. */
static void send_points(tz__slabs *slabs)
{
    const tz_ranks *ranks = tz__slabs_ranks(slabs);
    const tz_problem *problem = slabs->context.problem;
    const tz_points *points = problem->points;
    if (!ranks || !points)
        return;
    const tz_point_values *values = points->values;
    if (slabs->told_points != points || slabs->told_lists != points->generation) {
        const tz__slabs_call news = {.command = TZ__SLABS_POINTS, .state = (uintptr_t)slabs};
        tell(ranks, &news);
        tz_points head = *points;
        tz_point_values rows = *values;
        tz__slabs_pass(ranks, &head, sizeof head);
        tz__slabs_pass(ranks, &rows, sizeof rows);
        pass_lists(ranks, problem, &head);
        slabs->told_points = points;
        slabs->told_lists = points->generation;
        slabs->told_values = 0;
    }
    const bool fresh = slabs->told_values != values->generation;
    const int64_t first = fresh ? 0 : slabs->told_rows;
    if (!fresh && (values->adds == 0 || first == values->ready))
        return;
    const tz__slabs_call news = {.command = TZ__SLABS_VALUES,
                                 .state = (uintptr_t)slabs,
                                 .at = values->begin,
                                 .counts = {first, values->ready}};
    tell(ranks, &news);
    pass_values(ranks, problem, values, first, values->ready);
    slabs->told_values = values->generation;
    slabs->told_rows = values->ready;
}

tz_status tz__slabs_compute_all(tz__slabs *slabs, tz__slabs_call call, tz_error *error)
{
    tz_status status = renew(slabs, &call, error);
    if (!status && call.correction)
        status = renew(call.correction, &call, error);
    if (!status)
        send_points(slabs);
    return status ? status : tz__slabs_call_all(slabs, call, error);
}

/* ---- Devices --------------------------------------------------------------------------------- */

tz_status tz_slabs_devices(const tz_ranks *ranks, const tz_devices_wish *wish,
                           const tz_backend **backend, tz_devices *out, tz_error *error)
{
    if (ranks && ranks->count > 1) {
        const int64_t bytes = wish->names ? (int64_t)strlen(wish->names) + 1 : 0;
        const tz__slabs_call call = {.command = TZ__SLABS_DEVICES,
                                     .counts = {bytes},
                                     .backend = number_of(wish->backend),
                                     .threads = wish->threads,
                                     .device = wish->device};
        tell(ranks, &call);
        tz__slabs_pass(ranks, (void *)wish->names, bytes);
    }
    return tz_devices_find(ranks, wish, backend, out, error);
}

tz_status tz_slabs_shares(const tz_ranks *ranks, tz_slabs_find_shares *find, tz_devices *devices,
                          const tz_backend *inner, const tz_problem *problem, const char *plugin,
                          tz_error *error)
{
    parcel p = {.image = NULL};
    tz_status status = TZ_OK;
    if (ranks && ranks->count > 1)
        status = pack(&p, devices, problem, plugin, error);
    if (!status && p.image) {
        const tz__slabs_call call = {.command = TZ__SLABS_SHARES,
                                     .counts = {(int64_t)p.image_bytes, (int64_t)p.problem_bytes},
                                     .defined = p.defined,
                                     .backend = number_of(inner)};
        tell(ranks, &call);
        pass_parcel(ranks, &p);
        status = tz_ranks_agree(ranks, TZ_OK, error);
    }
    if (!status)
        find(devices, inner, problem, ranks);
    clear_parcel(&p);
    return status;
}

void tz_slabs_end(const tz_ranks *ranks, int code)
{
    const tz__slabs_call call = {.command = TZ__SLABS_END, .iterations = code};
    tell(ranks, &call);
}

/* ---- Other ranks ----------------------------------------------------------------------------- */

/* A state that rank 0 has made. */
typedef struct served {
    struct served *next;
    uint64_t number;
    tz__slabs *slabs;
    copy problem;
    tz_devices devices;
    tz_streamed_source sources[TZ_FIELDS_MAX];
    const tz_streamed_source *pointers[TZ_FIELDS_MAX];
} served;

typedef struct plugin {
    struct plugin *next;
    tz_registry *registry;
    uint64_t sum;
    size_t bytes;
} plugin;

typedef struct server {
    const tz_ranks *ranks;
    tz_slabs_find_shares *find;
    served *states;
    plugin *plugins;
} server;

static void *need(const server *s, void *memory)
{
    if (!memory)
        s->ranks->abort(s->ranks, "not enough memory for a command of rank 0");
    return memory;
}

/* What rank 0 sends after a call. */
static void *receive(const server *s, int64_t bytes)
{
    char *received = need(s, calloc(1, (size_t)bytes + 1));
    tz__slabs_pass(s->ranks, received, bytes);
    return received;
}

/* The stencil of a parcel; its plugin is made once. */
static tz_status find_stencil(server *s, const parcel *p, const tz_stencil **out, tz_error *error)
{
    const uint64_t sum = tz_file_sum(0, p->image, p->image_bytes);
    const tz_plugin *loaded;
    plugin *known = s->plugins;
    while (known && (known->sum != sum || known->bytes != p->image_bytes))
        known = known->next;
    tz_status status = TZ_OK;
    if (!known) {
        tz_registry *registry = NULL;
        status = tz_registry_create(&registry, NULL, 0, error);
        if (!status && p->defined)
            status = tz_define_again(registry, p->image, p->stencil, error);
        else if (!status)
            status =
                tz_registry_add(registry, p->stencil, p->image, p->image_bytes, &loaded, error);
        if (status) {
            tz_registry_destroy(registry);
            return status;
        }
        known = need(s, calloc(1, sizeof *known));
        *known = (plugin){s->plugins, registry, sum, p->image_bytes};
        s->plugins = known;
    }
    return tz_registry_find(known->registry, p->stencil, out, NULL, error);
}

/* The problem of a parcel, which is released. The same status for all ranks. */
static tz_status unpack(server *s, const tz__slabs_call *call, copy *problem, tz_devices *devices,
                        tz_error *error)
{
    const tz_stencil *stencil = NULL;
    parcel p = {.image_bytes = (size_t)call->counts[0],
                .problem_bytes = (size_t)call->counts[1],
                .defined = call->defined};
    p.image = need(s, malloc(p.image_bytes + 1));
    p.problem = need(s, malloc(p.problem_bytes + 1));
    pass_parcel(s->ranks, &p);
    tz_status status = find_stencil(s, &p, &stencil, error);
    if (!status) {
        status = read_problem(problem, p.problem, stencil, 0, 1, error);
        p.problem = NULL;
    }
    *devices = p.devices;
    devices->rank = s->ranks->rank;
    devices->inner = tz_backends[call->backend];
    clear_parcel(&p);
    return tz_ranks_agree(s->ranks, status, error);
}

static served *find_state(server *s, uint64_t number)
{
    served *state = s->states;
    while (state && state->number != number)
        state = state->next;
    return state;
}

static void remove_state(server *s, served *state)
{
    served **link = &s->states;
    while (*link != state)
        link = &(*link)->next;
    *link = state->next;
    tz__slabs_do_destroy(state->slabs);
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        free((void *)state->sources[f].data);
    clear_copy(&state->problem);
    free(state);
}

static void serve_create(server *s, const tz__slabs_call *call)
{
    tz_error error = {0};
    served *state = need(s, calloc(1, sizeof *state));
    state->number = call->state;
    state->next = s->states;
    s->states = state;
    tz_status status = unpack(s, call, &state->problem, &state->devices, &error);
    if (!status) {
        const tz_backend_context context = {.problem = &state->problem.problem,
                                            .streamed = state->pointers,
                                            .sync = call->sync,
                                            .devices = &state->devices,
                                            .exchange = call->exchange,
                                            .plan = &call->plan,
                                            .ranks = s->ranks};
        state->slabs = need(s, calloc(1, sizeof *state->slabs));
        status = tz__slabs_do_create(state->slabs, &context, &error);
        state->slabs->context.plan = NULL;
    }
    if (status)
        remove_state(s, state);
}

static void serve_renew(const server *s, served *state, const tz__slabs_call *call)
{
    char *bytes = receive(s, call->counts[0]);
    if (read_problem(&state->problem, bytes, state->problem.problem.stencil, call->at,
                     call->iterations, NULL) != TZ_OK)
        need(s, NULL);
    for (int f = 0; f < TZ_FIELDS_MAX; f++) {
        if (!(call->fields >> f & 1))
            continue;
        tz_streamed_source *source = &state->sources[f];
        free((void *)source->data);
        tz__slabs_pass(s->ranks, source, sizeof *source);
        if (source->data)
            source->data =
                receive(s, source->slabs * source->cells * (int64_t)sizeof *source->data);
        state->pointers[f] = source;
    }
}

static void serve_points(const server *s, served *state)
{
    copy *c = &state->problem;
    const tz_problem *problem = &c->problem;
    const int64_t rows = problem->elements[1] * problem->elements[2];
    tz_points head, *old = c->points;
    tz_point_values *values = &c->values;
    tz__slabs_pass(s->ranks, &head, sizeof head);
    free(values->added);
    free(values->recorded);
    tz__slabs_pass(s->ranks, values, sizeof *values);
    values->added =
        need(s, calloc((size_t)(values->rows * values->adds) + 1, tz_problem_real(problem)->size));
    values->recorded = need(s, calloc((size_t)(values->rows * values->records) + 1, values->slot));
    c->points = need(s, tz_points_create(head.fields, values));
    c->points->generation = old ? old->generation + 1 : 1;
    for (int f = 0; f < 2 * TZ_FIELDS_MAX; f++) {
        const int i = f % TZ_FIELDS_MAX;
        const size_t count = f == i ? head.added[i].count : head.recorded[i].count;
        tz_point_list *list = f == i ? &c->points->added[i] : &c->points->recorded[i];
        if (count > 0)
            *list = (tz_point_list){count, need(s, malloc(count * sizeof *list->of)),
                                    need(s, malloc((size_t)(rows + 1) * sizeof *list->first))};
    }
    pass_lists(s->ranks, problem, c->points);
    tz_points_destroy(old);
    c->problem.points = c->points;
}

static void serve_values(const server *s, served *state, const tz__slabs_call *call)
{
    tz_point_values *values = &state->problem.values;
    values->begin = call->at;
    values->ready = call->counts[1];
    values->generation += call->counts[0] == 0;
    pass_values(s->ranks, &state->problem.problem, values, call->counts[0], call->counts[1]);
}

static void serve_rows(const server *s, const served *state, const tz__slabs_call *call)
{
    char *image = receive(s, call->counts[0]);
    tz_stencil_take(state->problem.problem.stencil, image, (size_t)call->counts[0]);
    free(image);
}

static void serve_devices(const server *s, const tz__slabs_call *call)
{
    tz_error error = {0};
    const tz_backend *found;
    tz_devices devices;
    char *names = receive(s, call->counts[0]);
    const tz_devices_wish wish = {.names = call->counts[0] > 0 ? names : NULL,
                                  .backend = call->backend >= 0 ? tz_backends[call->backend] : NULL,
                                  .threads = call->threads,
                                  .device = call->device};
    tz_devices_find(s->ranks, &wish, &found, &devices, &error);
    free(names);
}

static void serve_shares(server *s, const tz__slabs_call *call)
{
    tz_error error = {0};
    tz_devices devices;
    copy problem = {.bytes = NULL};
    if (unpack(s, call, &problem, &devices, &error) == TZ_OK)
        s->find(&devices, tz_backends[call->backend], &problem.problem, s->ranks);
    clear_copy(&problem);
}

static void serve_command(server *s, tz__slabs_call *call)
{
    tz_error error = {0};
    served *state = find_state(s, call->state), *other = find_state(s, call->other);
    call->correction = other ? other->slabs : NULL;
    call->from = NULL;
    call->to = NULL;
    switch (call->command) {
    case TZ__SLABS_DEVICES:
        serve_devices(s, call);
        break;
    case TZ__SLABS_SHARES:
        serve_shares(s, call);
        break;
    case TZ__SLABS_CREATE:
        serve_create(s, call);
        break;
    case TZ__SLABS_RENEW:
        serve_renew(s, state, call);
        break;
    case TZ__SLABS_ROWS:
        serve_rows(s, state, call);
        break;
    case TZ__SLABS_POINTS:
        serve_points(s, state);
        break;
    case TZ__SLABS_VALUES:
        serve_values(s, state, call);
        break;
    case TZ__SLABS_DESTROY:
        remove_state(s, state);
        break;
    default:
        bodies[call->command](state->slabs, call, &error);
    }
}

int tz_slabs_serve(const tz_ranks *ranks, tz_slabs_find_shares *find)
{
    server s = {.ranks = ranks, .find = find};
    tz__slabs_call call;
    do {
        ranks->hear(ranks, &call, sizeof call);
        if (call.command != TZ__SLABS_END)
            serve_command(&s, &call);
    } while (call.command != TZ__SLABS_END);
    while (s.states)
        remove_state(&s, s.states);
    for (plugin *next; s.plugins; s.plugins = next) {
        next = s.plugins->next;
        tz_registry_destroy(s.plugins->registry);
        free(s.plugins);
    }
    return call.iterations;
}
