/* Counts transactions and occupancy of every block shape, and marks the best ones. Called by
 * tabik2015_predict.c. */
#include "model/papers/tabik2015.h"

#include <math.h>
#include <stddef.h>

enum { X, Y };

/* Which threads of a block take part in a request, and where they access, relative to their own
 * cell. */
typedef struct request {
    int x_from, x_to, y_from, y_to; /* threads from, up to and without */
    int dx, dy;
} request;

static int at_most(int a, int b)
{
    return a < b ? a : b;
}

static int at_least(int a, int b)
{
    return a > b ? a : b;
}

static int divide_down(int a, int b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* ---- Requests of warps ----------------------------------------------------------------------- */

/* Addresses, in elements, that threads `from` to `to` of a block access; returns how many. */
static int addresses(const request *r, int block_x, int from, int to, int columns[], int rows[])
{
    int count = 0;
    for (int thread = from; thread < to; thread++) {
        const int x = thread % block_x, y = thread / block_x;
        if (x < r->x_from || x >= r->x_to || y < r->y_from || y >= r->y_to)
            continue;
        columns[count] = x + r->dx;
        rows[count++] = y + r->dy;
    }
    return count;
}

/* Segments of global memory that a request touches. A row of the grid and a block begin at the
 * boundary of a segment; a narrower block's neighbours share a segment with it. */
static int segments_touched(int count, const int columns[], const int rows[], int per_segment)
{
    int touched = 0;
    for (int i = 0; i < count; i++) {
        bool seen = false;
        for (int k = 0; k < i && !seen; k++)
            seen = rows[k] == rows[i] &&
                   divide_down(columns[k], per_segment) == divide_down(columns[i], per_segment);
        touched += !seen;
    }
    return touched;
}

/* The most words of one bank that a request touches: its passes. An element may be several words,
 * which take as many passes (ours). */
static int bank_passes(int count, const int columns[], const int rows[], int pitch,
                       const tz_tabik_gpu *gpu, int element_bytes)
{
    const int words = at_least(1, element_bytes / gpu->bank_bytes);
    const int per_word = at_least(1, gpu->bank_bytes / element_bytes);
    int passes = 0, distinct = 0, word[TZ_TABIK_WARP_MAX];
    for (int i = 0; i < count; i++) {
        const int its = (rows[i] * pitch + columns[i]) / per_word;
        int in_bank = 1;
        bool seen = false;
        for (int k = 0; k < distinct && !seen; k++) {
            seen = word[k] == its;
            in_bank += word[k] % gpu->banks == its % gpu->banks;
        }
        if (seen)
            continue;
        word[distinct++] = its;
        passes = at_least(passes, in_bank);
    }
    return passes * words;
}

/* All transactions of a block for one request of its threads. pitch 0: to global memory. */
static double transactions(const request *r, const tz_tabik_kernel *kernel, const tz_tabik_gpu *gpu,
                           int x, int y, int pitch)
{
    int columns[TZ_TABIK_WARP_MAX], rows[TZ_TABIK_WARP_MAX];
    double sum = 0;
    for (int from = 0; from < x * y; from += gpu->request_threads) {
        const int to = at_most(from + gpu->request_threads, x * y);
        const int count = addresses(r, x, from, to, columns, rows);
        sum += pitch
                   ? bank_passes(count, columns, rows, pitch, gpu, kernel->element_bytes)
                   : segments_touched(count, columns, rows,
                                      at_least(1, gpu->transaction_bytes / kernel->element_bytes));
    }
    /* An element larger than a segment takes several. */
    return pitch ? sum : sum * at_least(1, kernel->element_bytes / gpu->transaction_bytes);
}

/* The requests that fetch a tile's halo, as in algorithm 3: the threads next to a side read on from
 * there. With diagonals also the corners. Returns how many. */
static int halo_requests(const tz_tabik_kernel *kernel, int x, int y, request out[8])
{
    const int *low = kernel->low, *high = kernel->high;
    int count = 0;
    for (int sy = -1; sy <= 1; sy++)
        for (int sx = -1; sx <= 1; sx++) {
            const int nx = sx < 0 ? low[X] : high[X], ny = sy < 0 ? low[Y] : high[Y];
            if ((sx == 0 && sy == 0) || (sx && nx == 0) || (sy && ny == 0) ||
                (sx && sy && !kernel->diagonals))
                continue;
            request r = {.x_to = x, .y_to = y, .dx = sx * nx, .dy = sy * ny};
            if (sx)
                *(sx < 0 ? &r.x_to : &r.x_from) = sx < 0 ? nx : x - nx;
            if (sy)
                *(sy < 0 ? &r.y_to : &r.y_from) = sy < 0 ? ny : y - ny;
            out[count++] = r;
        }
    return count;
}

double tz_tabik_global_transactions(const tz_tabik_kernel *kernel, const tz_tabik_gpu *gpu, int x,
                                    int y)
{
    const request all = {.x_to = x, .y_to = y};
    request halo[8];
    double sum = (kernel->loads + kernel->stores) * transactions(&all, kernel, gpu, x, y, 0);
    const int count = halo_requests(kernel, x, y, halo);
    for (int i = 0; i < count; i++)
        sum += kernel->tiles * transactions(&halo[i], kernel, gpu, x, y, 0);
    return sum;
}

double tz_tabik_shared_transactions(const tz_tabik_kernel *kernel, const tz_tabik_gpu *gpu, int x,
                                    int y)
{
    const int *low = kernel->low, *high = kernel->high;
    const int pitch = x + at_least(2, low[X] + high[X]);
    request halo[8], all = {.x_to = x, .y_to = y, .dx = low[X], .dy = low[Y]};
    if (kernel->tiles == 0)
        return 0;
    double sum = transactions(&all, kernel, gpu, x, y, pitch);
    const int count = halo_requests(kernel, x, y, halo);
    for (int i = 0; i < count; i++) {
        halo[i].dx += low[X];
        halo[i].dy += low[Y];
        sum += transactions(&halo[i], kernel, gpu, x, y, pitch);
    }
    /* The update reads each cell of its star or box in the plane, its own among them. */
    for (int dy = -low[Y]; dy <= high[Y]; dy++)
        for (int dx = -low[X]; dx <= high[X]; dx++) {
            if (dx && dy && !kernel->diagonals)
                continue;
            all.dx = low[X] + dx;
            all.dy = low[Y] + dy;
            sum += transactions(&all, kernel, gpu, x, y, pitch);
        }
    return sum * kernel->tiles;
}

/* ---- Occupancy ------------------------------------------------------------------------------- */

double tz_tabik_shared_bytes(const tz_tabik_kernel *kernel, int x, int y)
{
    return (double)kernel->tiles * kernel->element_bytes * (x + kernel->low[X] + kernel->high[X]) *
           (y + kernel->low[Y] + kernel->high[Y]);
}

int tz_tabik_active_blocks(const tz_tabik_kernel *kernel, const tz_tabik_gpu *gpu, int x, int y)
{
    const double bytes = tz_tabik_shared_bytes(kernel, x, y);
    const int active = at_most(gpu->blocks_per_sm, gpu->threads_per_sm / (x * y));
    return bytes > 0 ? (int)fmin(active, floor(gpu->shared_bytes / bytes)) : active;
}

static void measure(const tz_tabik_kernel *kernel, const tz_tabik_gpu *gpu, tz_tabik_shape *shape)
{
    const double blocks =
        ceil(kernel->extent[0] / shape->x) * ceil(kernel->extent[1] / shape->y) * kernel->extent[2];
    const int warps = (shape->x * shape->y + gpu->warp_size - 1) / gpu->warp_size;
    shape->global_transactions =
        blocks * tz_tabik_global_transactions(kernel, gpu, shape->x, shape->y);
    shape->shared_transactions =
        blocks * tz_tabik_shared_transactions(kernel, gpu, shape->x, shape->y);
    shape->occupancy =
        (double)(shape->active_blocks * warps) / at_least(1, gpu->threads_per_sm / gpu->warp_size);
}

/* ---- Which are chosen ------------------------------------------------------------------------ */

static double number_of(const tz_tabik_shape *shape, tz_tabik_criterion criterion)
{
    return criterion == TZ_TABIK_GLOBAL ? shape->global_transactions : shape->shared_transactions;
}

/* Mark the best half by a number of transactions: groups of equal shapes, the least first, while
 * all together are at most half. The first group is always good. */
static void mark_half(tz_tabik_space *space, tz_tabik_criterion criterion)
{
    double limit = -1;
    for (int taken = 0;;) {
        double next = INFINITY;
        int size = 0;
        for (int i = 0; i < space->count; i++) {
            const double number = number_of(&space->shapes[i], criterion);
            if (number > limit)
                next = fmin(next, number);
        }
        for (int i = 0; i < space->count; i++)
            size += number_of(&space->shapes[i], criterion) == next;
        if (size == 0 || (taken > 0 && 2 * (taken + size) > space->count))
            break;
        taken += size;
        limit = next;
    }
    for (int i = 0; i < space->count; i++)
        if (number_of(&space->shapes[i], criterion) <= limit)
            space->shapes[i].good |= 1u << criterion;
}

static void mark(const tz_tabik_kernel *kernel, tz_tabik_space *space)
{
    double highest = 0;
    int fewest = space->shapes[0].active_blocks;
    mark_half(space, TZ_TABIK_GLOBAL);
    mark_half(space, TZ_TABIK_SHARED);
    for (int i = 0; i < space->count; i++) {
        highest = fmax(highest, space->shapes[i].occupancy);
        fewest = at_most(fewest, space->shapes[i].active_blocks);
    }
    for (int i = 0; i < space->count; i++) {
        tz_tabik_shape *shape = &space->shapes[i];
        if (shape->occupancy == highest)
            shape->good |= 1u << TZ_TABIK_OCCUPANCY;
        if (kernel->tiles == 0 || shape->active_blocks > fewest)
            shape->good |= 1u << TZ_TABIK_EFFICIENT;
        shape->chosen = shape->good == (1u << TZ_TABIK_CRITERIA) - 1;
        space->chosen += shape->chosen;
    }
}

static tz_status check(const tz_tabik_kernel *kernel, tz_error *error)
{
    for (int axis = 0; axis < 3; axis++)
        if (!(kernel->extent[axis] >= 1 && kernel->extent[axis] <= 1e9))
            return tz_error_set(error, TZ_RANGE, "grid",
                                "tabik2015 needs 1 to 1e9 elements on every axis");
    for (int axis = 0; axis < 2; axis++)
        if (kernel->low[axis] < 0 || kernel->low[axis] > TZ_TABIK_HALO_MAX ||
            kernel->high[axis] < 0 || kernel->high[axis] > TZ_TABIK_HALO_MAX)
            return tz_error_set(error, TZ_RANGE, "halo", "tabik2015 knows halos of 0 to %d cells",
                                TZ_TABIK_HALO_MAX);
    if (kernel->element_bytes < 1 || kernel->element_bytes > 64 || kernel->loads < kernel->tiles ||
        kernel->tiles < 0 || kernel->stores < 0)
        return tz_error_set(error, TZ_RANGE, "kernel",
                            "tabik2015 needs elements of 1 to 64 bytes, and no more tiles than "
                            "fields that are read");
    return TZ_OK;
}

tz_status tz_tabik_choose(const tz_tabik_kernel *kernel, const tz_tabik_gpu *gpu,
                          tz_tabik_space *out, tz_error *error)
{
    const int least_x = at_least(1, at_least(kernel->low[X], kernel->high[X]));
    const int least_y = at_least(1, at_least(kernel->low[Y], kernel->high[Y]));
    *out = (tz_tabik_space){.count = 0};
    const tz_status status = check(kernel, error);
    if (status)
        return status;
    for (int y = 1; y <= gpu->threads_per_block; y *= 2)
        for (int x = 1; x * y <= gpu->threads_per_block; x *= 2) {
            const int active = tz_tabik_active_blocks(kernel, gpu, x, y);
            if (x * y >= gpu->warp_size && x >= least_x && y >= least_y && x <= kernel->extent[0] &&
                y <= kernel->extent[1] && active > 0 && out->count < TZ_TABIK_SHAPES_MAX)
                out->shapes[out->count++] =
                    (tz_tabik_shape){.x = x, .y = y, .active_blocks = active};
        }
    if (out->count == 0)
        return tz_error_set(
            error, TZ_RANGE, "grid",
            "no block of %d to %d threads fits a plane of %.0f x %.0f elements with "
            "a side of at least %d x %d and a tile within %.0f bytes",
            gpu->warp_size, gpu->threads_per_block, kernel->extent[0], kernel->extent[1], least_x,
            least_y, gpu->shared_bytes);
    for (int i = 0; i < out->count; i++)
        measure(kernel, gpu, &out->shapes[i]);
    mark(kernel, out);
    return TZ_OK;
}

/* ---- Records --------------------------------------------------------------------------------- */

tz_status tz_tabik_gpu_of(const tz_model_device *device, tz_tabik_gpu *out, tz_error *error)
{
    const struct {
        const char *key;
        const tz_model_number *number;
    } needed[] = {
        {"warp_size", &device->warp_size},
        {"coalesce_width", &device->coalesce_width},
        {"blocks_per_sm", &device->blocks_per_sm},
        {"threads_per_block_max", &device->threads_per_block_max},
        {"threads_per_sm_max", &device->threads_per_sm_max},
        {"shared_per_sm", &device->shared_per_sm_bytes},
    };
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!needed[i].number->known)
            return tz_error_set(error, TZ_UNSUPPORTED, device->name,
                                "tabik2015 needs %s, which the record %s lacks: add it",
                                needed[i].key, device->name);
    *out = (tz_tabik_gpu){
        .warp_size = (int)device->warp_size.value,
        .request_threads = (int)fmin(device->coalesce_width.value, device->warp_size.value),
        .transaction_bytes = (int)tz_model_device_value(device, &device->memory_transaction_bytes),
        .banks = (int)tz_model_device_value(device, &device->shared_banks),
        .bank_bytes = (int)tz_model_device_value(device, &device->shared_bank_bytes),
        .blocks_per_sm = (int)device->blocks_per_sm.value,
        .threads_per_sm = (int)device->threads_per_sm_max.value,
        .threads_per_block = (int)device->threads_per_block_max.value,
        .shared_bytes = device->shared_per_sm_bytes.value,
    };
    if (out->warp_size > TZ_TABIK_WARP_MAX || out->threads_per_block > TZ_TABIK_THREADS_MAX)
        return tz_error_set(error, TZ_UNSUPPORTED, device->name,
                            "tabik2015 knows warps of at most %d threads and blocks of at most %d",
                            TZ_TABIK_WARP_MAX, TZ_TABIK_THREADS_MAX);
    return TZ_OK;
}

const char *tz_tabik_criterion_text(tz_tabik_criterion criterion)
{
    static const char *const texts[] = {"global", "shared", "occupancy", "efficient"};
    return texts[criterion];
}
