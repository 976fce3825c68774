#include "model/exchange.h"

#include <math.h>

double tz_exchange_s(const tz_exchanges *exchange)
{
    if (exchange->devices < 2)
        return 0.0;
    return exchange->link.latency_s + exchange->bytes / exchange->link.bytes_per_s;
}

double tz_exchange_stage_s(const tz_exchanges *exchange, int height)
{
    if (exchange->devices < 2)
        return 0.0;
    return exchange->start_s + tz_exchange_s(exchange) * height / exchange->iterations;
}

double tz_exchange_redundant(const tz_exchange_costs *costs, int exchange)
{
    return costs->shrinks ? costs->reach * (exchange - 1) / 2 : costs->reach * exchange;
}

double tz_exchange_iteration_s(const tz_exchange_costs *costs, int exchange)
{
    /* As many slices move as the ghost zone has: for an iteration `reach`, whatever the depth. */
    return (costs->slices + tz_exchange_redundant(costs, exchange)) * costs->slice_s +
           costs->fixed_s / exchange + costs->reach * costs->moving_s;
}

int tz_exchange_best(const tz_exchange_costs *costs, int height, int most)
{
    /* a + b k + c / k is least at sqrt(c / b), and convex: one of the multiples beside that. */
    const double more_s = costs->reach * costs->slice_s * (costs->shrinks ? 0.5 : 1.0);
    const double least = more_s > 0 ? sqrt(costs->fixed_s / more_s) : most;
    const int stages_most = most / height > 1 ? most / height : 1;
    const int low = least / height < 1.0           ? 1
                    : least / height > stages_most ? stages_most
                                                   : (int)(least / height);
    const int high = low < stages_most ? low + 1 : low;
    return height * (tz_exchange_iteration_s(costs, high * height) <
                             tz_exchange_iteration_s(costs, low * height)
                         ? high
                         : low);
}
