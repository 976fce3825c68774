/* Averages on a coarser raster, against a plain sum of covered parts. */
#include "tests/support.h"

#include "base/average.h"

enum { CELLS_MAX = 200 };

/* The part of cell k that lies between two edges. */
static double covered(double from, double to, int64_t k)
{
    const double first = fmax(from, (double)k), last = fmin(to, (double)(k + 1));
    return last > first ? last - first : 0.0;
}

TEST(values_are_means_of_what_they_cover)
{
    double columns[CELLS_MAX], made[CELLS_MAX];
    tz_average_span spans[CELLS_MAX];
    for (int64_t cells = 1; cells <= CELLS_MAX; cells += 7)
        for (int values = 1; values <= cells; values += 3) {
            for (int64_t k = 0; k < cells; k++)
                columns[k] = 3.0 * sin((double)(k * k)) + 1.0;
            for (int i = 0; i < values; i++)
                spans[i] = tz_average_span_of(cells, values, i);
            tz_average_across(columns, spans, 1.0, made, values);
            for (int i = 0; i < values; i++) {
                const double a = tz_average_edge(cells, values, i);
                const double b = tz_average_edge(cells, values, i + 1);
                double sum = 0.0;
                for (int64_t k = 0; k < cells; k++)
                    sum += covered(a, b, k) * columns[k];
                assert_true(fabs(made[i] - sum / (b - a)) < 1e-12);
            }
        }
}

/* The same bits as the order of additions that average.h gives, for narrow and for wide spans. */
TEST(the_order_of_additions_is_fixed)
{
    double columns[CELLS_MAX], made[CELLS_MAX];
    for (int64_t k = 0; k < CELLS_MAX; k++)
        columns[k] = exp(sin(37.0 * (double)k) * 9.0);
    for (int values = 1; values <= 20; values++)
        for (int i = 0; i < values; i++) {
            const tz_average_span span = tz_average_span_of(CELLS_MAX, values, i);
            double sums[TZ_AVERAGE_LANES] = {0}, all = 0.0;
            for (int64_t k = span.first; k <= span.last; k++)
                sums[(k - span.first) % TZ_AVERAGE_LANES] += (k == span.first  ? span.first_weight
                                                              : k == span.last ? span.last_weight
                                                                               : 1.0) *
                                                             columns[k];
            for (int n = 0; n < TZ_AVERAGE_LANES; n++)
                all += sums[n];
            tz_average_across(columns, &span, 3.0, made, 1);
            assert_true(made[0] == all / (3.0 * span.width));
        }
}
