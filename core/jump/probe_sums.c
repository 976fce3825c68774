/* The sum of coefficients, to more digits than a double has near 1.
 *
 * A mode that hardly changes has a symbol near 1, and its power depends on how far that is from 1. The sum
 * of the coefficients, as impulses give them, and what the update makes of a field of ones both are
 * rounded, each in its own way: with weights the first is exact, with u + c (W + E - 2 u) the second. To
 * see which is right, the update is tried on many values near 1. Its results are rounded by chance, so
 * their mean tells the true sum to some 18 digits. */
#include "jump/probe_impl.h"

#include <math.h>

enum { SAMPLES = 1 << 16, ROUNDS_MAX = 256, WORK_MAX = 1 << 26 };

static const double NEAR = 0x1p-8; /* how far values are from 1 */
/* In standard deviations, as if samples were independent: adjacent cells share some of their rounding. */
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
                                 (1.0 + near * tz_patch_random(counter));
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

void tz__probe_sums(tz_probe *probe, bool alternating, long double sums[TZ_LINEAR_FIELDS_MAX])
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
    tz__probe_apply(probe, 0);
    for (int to = 0; to < fields; to++)
        given[to] = probe->out[to][0] / probe->scale;
    const int64_t stride = work / WORK_MAX + 1;
    for (int round = 0; round < ROUNDS_MAX && found[0].count < SAMPLES &&
                        (round == 0 || round * work / stride < WORK_MAX);
         round++) {
        set_cells(probe, alternating, NEAR, &counter);
        tz__probe_apply(probe, 0);
        add_cells(probe, alternating, given, found, stride);
    }
    for (int to = 0; to < fields; to++) {
        /* Of two that fit, a sum that rounding made simple is the better one. */
        const long double candidates[2] = {given[to], added[to]};
        sums[to] = choose(&found[to], given[to], candidates);
    }
}
