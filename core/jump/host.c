/* The work of a jump in host memory, with FFTW. Called by jump.c. */
#include "jump/host.h"

#include "base/library.h"
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The library ----------------------------------------------------------------------------- */

static const char *const known[] = {"libfftw3.so.3", "libfftw3.so", NULL};

tz_status tz_fftw_open(tz_fftw *fftw, const char *const *names, tz_error *error)
{
    static const tz_library_symbol symbols[] = {
        {"fftw_plan_r2r", offsetof(tz_fftw, plan_r2r), false},
        {"fftw_execute_r2r", offsetof(tz_fftw, execute_r2r), false},
        {"fftw_destroy_plan", offsetof(tz_fftw, destroy_plan), false}};
    *fftw = (tz_fftw){.version = ""};
    const tz_library library =
        tz_library_open(names ? names : known, fftw, symbols, sizeof symbols / sizeof *symbols);
    if (!library.handle)
        return tz_error_set(error, TZ_UNSUPPORTED, "jump",
                            "jumps on a CPU need libfftw3, which is not found: install it (Debian, "
                            "Ubuntu: apt-get install libfftw3-double3) or use sim:run");
    if (library.missing)
        return tz_error_set(error, TZ_UNSUPPORTED, library.name, "this libfftw3 has no %s",
                            library.missing);
    const char *version = dlsym(library.handle, "fftw_version");
    if (version)
        snprintf(fftw->version, sizeof fftw->version, "%.47s", version);
    return TZ_OK;
}

bool tz_fftw_describe(char *text, size_t size)
{
    tz_fftw fftw;
    const bool there = tz_fftw_open(&fftw, NULL, NULL) == TZ_OK;
    if (!there)
        snprintf(text, size,
                 "jumps on a CPU (sim:jump): libfftw3 is missing, optional: apt-get install "
                 "libfftw3-double3 (free software under the GPL)");
    else
        snprintf(text, size, "jumps on a CPU (sim:jump): by libfftw3, %s", fftw.version);
    return there;
}

/* ---- Creation -------------------------------------------------------------------------------- */

double *tz_jump_host_array(int64_t cells)
{
    return aligned_alloc(64, ((size_t)cells * sizeof(double) + 63) / 64 * 64);
}

tz_status tz_jump_host_create(tz_jump_host *host, const tz_linear *linear, tz_threads *threads,
                              tz_error *error)
{
    int64_t count;
    *host = (tz_jump_host){.linear = linear, .threads = threads, .cells = 1, .scale = 1.0};
    for (int axis = 0; axis < linear->dims; axis++) {
        const int64_t n = linear->extent[axis];
        const tz_transform transform = linear->transform[axis];
        host->cells *= n;
        if (n > INT32_MAX)
            return tz_error_set(error, TZ_UNSUPPORTED, "jump",
                                "libfftw3 takes at most %d cells along an axis", INT32_MAX);
        if (n > 1) /* else there is no transform */
            host->scale *= transform == TZ_DFT      ? (double)n
                           : transform == TZ_DCT_II ? 2.0 * (double)n
                           : transform == TZ_DCT_I  ? 2.0 * (double)(n - 1)
                                                    : 2.0 * (double)(n + 1);
    }
    const tz_status status = tz_fftw_open(&host->fftw, NULL, error);
    return status ? status : tz_symbol_create(&host->symbol, &host->tables, &count, linear, error);
}

void tz_jump_host_destroy(tz_jump_host *host)
{
    for (int i = 0; i < TZ_LINEAR_FIELDS_MAX; i++)
        free(host->source[i]);
    free(host->tables);
    *host = (tz_jump_host){.cells = 0};
}

/* ---- Transforms ------------------------------------------------------------------------------ */

enum {
    BLOCK = 8,     /* lines across rows that are transformed together: a cache line */
    LONG = 1 << 20 /* lines longer than that are transformed one by one */
};

/* The lines of an axis: `count` numbers, `stride` apart. */
typedef struct lines {
    const tz_fftw *fftw;
    const tz_fftw_plan *plan;
    double *array;
    int64_t count, stride;
    int64_t width;               /* lines of a block */
    int64_t blocks, blocks_each; /* of all, and of each slice of stride * count numbers */
    double *room;                /* `each` numbers for each thread */
    int64_t each;
} lines;

/* Lines that lie across rows are copied, so that each is in one piece. */
static void transform_block(const lines *l, int64_t block, double *room)
{
    const int64_t n = l->count, pitch = n + BLOCK;
    const int64_t first = block % l->blocks_each * l->width;
    double *from = l->array + block / l->blocks_each * l->stride * n + first;
    const int64_t width = l->stride - first < l->width ? l->stride - first : l->width;
    if (l->stride == 1) {
        l->fftw->execute_r2r(l->plan, from, from);
        return;
    }
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < width; i++)
            room[i * pitch + k] = from[k * l->stride + i];
    for (int64_t i = 0; i < width; i++)
        l->fftw->execute_r2r(l->plan, room + i * pitch, room + i * pitch);
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < width; i++)
            from[k * l->stride + i] = room[i * pitch + k];
}

static void transform_blocks(void *any, int64_t begin, int64_t end, int thread)
{
    const lines *l = any;
    for (int64_t block = begin; block < end; block++)
        transform_block(l, block, l->room + thread * l->each);
}

static pthread_mutex_t planning = PTHREAD_MUTEX_INITIALIZER;

static tz_status transform_axis(const tz_jump_host *host, int axis, double *array, bool back,
                                tz_error *error)
{
    static const int kinds[][2] = {[TZ_DFT] = {TZ_FFTW_R2HC, TZ_FFTW_HC2R},
                                   [TZ_DCT_II] = {TZ_FFTW_REDFT10, TZ_FFTW_REDFT01},
                                   [TZ_DCT_I] = {TZ_FFTW_REDFT00, TZ_FFTW_REDFT00},
                                   [TZ_DST_I] = {TZ_FFTW_RODFT00, TZ_FFTW_RODFT00}};
    const tz_linear *linear = host->linear;
    const int n = (int)linear->extent[axis], kind = kinds[linear->transform[axis]][back];
    lines l = {.fftw = &host->fftw, .array = array, .count = n, .stride = 1};
    for (int a = 0; a < axis; a++)
        l.stride *= linear->extent[a];
    l.width = n > LONG ? 1 : BLOCK;
    l.blocks_each = (l.stride + l.width - 1) / l.width;
    l.blocks = l.blocks_each * (host->cells / (l.stride * n));
    l.each = l.stride > 1 ? l.width * (n + BLOCK) : 0;
    l.room = tz_jump_host_array(tz_threads_count(host->threads) * l.each + 1);
    tz_fftw_plan *plan = NULL;
    pthread_mutex_lock(&planning);
    if (l.room) /* planning of this kind leaves the array as it is */
        plan =
            host->fftw.plan_r2r(1, &n, array, array, &kind, TZ_FFTW_ESTIMATE | TZ_FFTW_UNALIGNED);
    pthread_mutex_unlock(&planning);
    l.plan = plan;
    if (plan)
        tz_threads_for(host->threads, l.blocks, transform_blocks, &l);
    free(l.room);
    if (!plan)
        return tz_error_set(error, TZ_MEMORY, "jump",
                            "libfftw3 makes no plan for %d cells: there may be too little memory",
                            n);
    pthread_mutex_lock(&planning);
    host->fftw.destroy_plan(plan);
    pthread_mutex_unlock(&planning);
    return TZ_OK;
}

/* Of all axes, in place. Along a periodic axis the real and the imaginary part of frequency k are
 * at k and n - k. */
static tz_status transform(const tz_jump_host *host, double *array, bool back, tz_error *error)
{
    tz_status status = TZ_OK;
    for (int axis = 0; !status && axis < host->linear->dims; axis++)
        if (host->linear->extent[axis] > 1)
            status = transform_axis(host, axis, array, back, error);
    return status;
}

tz_status tz_jump_host_source(tz_jump_host *host, int i, double *source, tz_error *error)
{
    host->source[i] = source;
    return transform(host, source, false, error);
}

/* ---- Frequencies ----------------------------------------------------------------------------- */

typedef struct work {
    const tz_jump_host *host;
    double *const *fields;
    int64_t steps;
    double n;           /* steps, or 0 for the limit */
    double none;        /* sources of this size are rounding */
    atomic_int reasons; /* why there is no limit; 0: there is one */
} work;

static double source_at(const work *w, int i, int64_t at)
{
    return w->host->source[i] ? w->host->source[i][at] : 0.0;
}

/* One field, real symbols: each number for itself. */
static void advance_real(const work *w, const int64_t k[TZ_AXES], int64_t at, int *reasons)
{
    const long long frequency[TZ_AXES] = {k[0], k[1], k[2]};
    double *u = &w->fields[0][at], d, e, power, sum;
    const double s = source_at(w, 0, at);
    tz_symbol_real(&w->host->symbol, frequency, &d, &e);
    if (w->steps == TZ_JUMP_LIMIT) {
        *u = tz_spectral_limit(tz_complex_of(d, 0.0), tz_complex_of(*u, 0.0), tz_complex_of(s, 0.0),
                               w->none, reasons)
                 .re;
        return;
    }
    tz_spectral_power(d, e, w->n, &power, &sum);
    *u = s == 0.0 ? power * *u : power * *u + sum * s;
}

/* Any fields and symbols, at one frequency. */
static void advance_complex(const work *w, const int64_t k[TZ_AXES], tz_complex u[2],
                            const tz_complex s[2], int *reasons)
{
    const tz_symbol *symbol = &w->host->symbol;
    const long long frequency[TZ_AXES] = {k[0], k[1], k[2]};
    if (symbol->fields == 2) {
        const tz_symbol_pair pair = tz_symbol_pair_at(symbol, frequency);
        if (w->steps == TZ_JUMP_LIMIT)
            tz_spectral_pair_limit(&pair, u, s, w->none, reasons);
        else
            tz_spectral_pair_power(&pair, w->n, u, s);
        return;
    }
    const tz_complex d = tz_symbol_complex(symbol, frequency);
    tz_complex power, sum;
    if (w->steps == TZ_JUMP_LIMIT) {
        u[0] = tz_spectral_limit(d, u[0], s[0], w->none, reasons);
        return;
    }
    tz_spectral_power_complex(d, w->n, &power, &sum);
    u[0] = tz_complex_add(tz_complex_mul(power, u[0]), tz_complex_mul(sum, s[0]));
}

/* A group of numbers that the operator mixes: one, or, if it is not even, along each periodic axis
 * the real and the imaginary part of frequency k. Bit `axis` of a member's number: the imaginary
 * part; after combine(): the frequency -k. */
typedef struct group {
    int64_t at[8];         /* in the arrays; -1: there is no such number, it is 0 */
    int64_t k[8][TZ_AXES]; /* the frequency of a member after combine() */
} group;

static bool is_mixed(const tz_linear *linear, int axis)
{
    return !linear->real && axis < linear->dims && linear->transform[axis] == TZ_DFT &&
           linear->extent[axis] > 1;
}

static void find_group(const tz_linear *linear, const int64_t k[TZ_AXES], group *out)
{
    for (int member = 0; member < 8; member++) {
        int64_t stride = 1;
        out->at[member] = 0;
        for (int axis = 0; axis < TZ_AXES; axis++) {
            const int64_t n = linear->extent[axis];
            const bool other = member >> axis & 1;
            const bool alone = !is_mixed(linear, axis) || k[axis] == 0 || 2 * k[axis] == n;
            const int64_t to = other && k[axis] > 0 ? n - k[axis] : k[axis];
            out->k[member][axis] = to;
            if (other && alone)
                out->at[member] = -1;
            if (out->at[member] >= 0)
                out->at[member] += to * stride;
            stride *= n;
        }
    }
}

/* Parts (real, imaginary) along an axis to (k, -k): real + i imaginary and real - i imaginary; or
 * back. */
static void combine(tz_complex values[8], int axis, bool back)
{
    for (int member = 0; member < 8; member++) {
        if (member >> axis & 1)
            continue;
        tz_complex *a = &values[member], *b = &values[member | 1 << axis];
        const tz_complex one = *a, two = *b;
        if (back) {
            *a = tz_complex_scale(0.5, tz_complex_add(one, two));
            const tz_complex apart = tz_complex_scale(0.5, tz_complex_sub(one, two));
            *b = tz_complex_of(apart.im, -apart.re);
        } else {
            const tz_complex turned = tz_complex_of(-two.im, two.re);
            *a = tz_complex_add(one, turned);
            *b = tz_complex_sub(one, turned);
        }
    }
}

/* `values`: 8, of the members of the group. */
static void gather(const tz_linear *linear, const group *g, const double *from, tz_complex *values)
{
    for (int member = 0; member < 8; member++)
        values[member] = tz_complex_of(from && g->at[member] >= 0 ? from[g->at[member]] : 0.0, 0.0);
    for (int axis = 0; axis < TZ_AXES; axis++)
        if (is_mixed(linear, axis))
            combine(values, axis, false);
}

static void advance_group(const work *w, const int64_t k[TZ_AXES], int *reasons)
{
    const tz_linear *linear = w->host->linear;
    tz_complex values[TZ_LINEAR_FIELDS_MAX][8], sources[TZ_LINEAR_FIELDS_MAX][8];
    group g;
    find_group(linear, k, &g);
    for (int i = 0; i < linear->fields_count; i++) {
        gather(linear, &g, w->fields[i], values[i]);
        gather(linear, &g, w->host->source[i], sources[i]);
    }
    for (int member = 0; member < 8; member++) {
        bool mixed = true;
        for (int axis = 0; axis < TZ_AXES; axis++)
            mixed = mixed && (is_mixed(linear, axis) || !(member >> axis & 1));
        if (!mixed)
            continue;
        tz_complex u[2] = {values[0][member]}, s[2] = {sources[0][member]};
        if (linear->fields_count == 2) {
            u[1] = values[1][member];
            s[1] = sources[1][member];
        }
        advance_complex(w, g.k[member], u, s, reasons);
        for (int i = 0; i < linear->fields_count; i++)
            values[i][member] = u[i];
    }
    for (int i = 0; i < linear->fields_count; i++) {
        for (int axis = 0; axis < TZ_AXES; axis++)
            if (is_mixed(linear, axis))
                combine(values[i], axis, true);
        for (int member = 0; member < 8; member++)
            if (g.at[member] >= 0)
                w->fields[i][g.at[member]] = values[i][member].re;
    }
}

static void advance_row(const work *w, int64_t row, int *reasons)
{
    const tz_linear *linear = w->host->linear;
    const int64_t *n = linear->extent;
    int64_t last[TZ_AXES];
    for (int axis = 0; axis < TZ_AXES; axis++)
        last[axis] = is_mixed(linear, axis) ? n[axis] / 2 : n[axis] - 1;
    int64_t k[TZ_AXES] = {0, row % n[1], row / n[1]};
    if (k[1] > last[1] || k[2] > last[2])
        return;
    for (; k[0] <= last[0]; k[0]++) {
        if (linear->real && linear->fields_count == 1)
            advance_real(w, k, row * n[0] + k[0], reasons);
        else
            advance_group(w, k, reasons);
    }
}

static void advance_rows(void *any, int64_t begin, int64_t end, int thread)
{
    work *w = any;
    int reasons = 0;
    (void)thread;
    for (int64_t row = begin; row < end; row++)
        advance_row(w, row, &reasons);
    atomic_fetch_or(&w->reasons, reasons);
}

typedef struct product {
    double *cells, factor;
} product;

static void multiply(void *any, int64_t begin, int64_t end, int thread)
{
    const product *p = any;
    (void)thread;
    for (int64_t cell = begin; cell < end; cell++)
        p->cells[cell] *= p->factor;
}

tz_status tz_jump_host_advance(const tz_jump_host *host, double *const *fields, int64_t steps,
                               tz_error *error)
{
    const tz_linear *linear = host->linear;
    work w = {.host = host,
              .fields = fields,
              .steps = steps,
              .n = steps == TZ_JUMP_LIMIT ? 0.0 : (double)steps,
              .none = linear->source_none * host->scale};
    const int64_t rows = linear->extent[1] * linear->extent[2];
    const double unit = 1.0 / host->scale;
    tz_status status = TZ_OK;
    for (int i = 0; !status && i < linear->fields_count; i++)
        status = transform(host, fields[i], false, error);
    if (status)
        return status;
    tz_threads_for(host->threads, rows, advance_rows, &w);
    if (w.reasons)
        return tz_spectral_no_limit(w.reasons, error);
    for (int i = 0; !status && i < linear->fields_count; i++) {
        status = transform(host, fields[i], true, error);
        tz_threads_for(host->threads, host->cells, multiply, &(product){fields[i], unit});
    }
    return status;
}
