/* Formulas for the time and the redundant updates of exchanges. Called by core/backend/slabs to
 * choose how often to exchange, and by roofs.c. */
#include "model/exchange.h"

#include "model/constants.h"

double tz_exchange_s(const tz_exchanges *exchange, double stage_s)
{
    if (exchange->devices < 2)
        return 0.0;
    const double alone_s = exchange->link.latency_s + exchange->bytes / exchange->link.bytes_per_s;
    const double more_s = alone_s - exchange->beside * stage_s;
    return exchange->ends * stage_s + (more_s > 0.0 ? more_s : 0.0);
}

double tz_exchange_stage_s(const tz_exchanges *exchange, int height, double stage_s)
{
    if (exchange->devices < 2)
        return 0.0;
    return (exchange->start_s + tz_exchange_s(exchange, stage_s)) * height / exchange->iterations;
}

double tz_exchange_redundant(const tz_exchange_costs *costs, int exchange)
{
    return costs->shrinks ? costs->reach * (exchange - costs->height) / 2 : costs->reach * exchange;
}

bool tz_exchange_beside(const tz_exchange_costs *costs, int exchange, double *beside, double *ends)
{
    const double first = costs->reach * exchange;
    *beside = costs->slices - first;
    *ends = TZ_FIT_EXCHANGE_ENDS * costs->reach * costs->height;
    return costs->hides && *beside >= first;
}

double tz_exchange_iteration_s(const tz_exchange_costs *costs, int exchange)
{
    /* As many slices move as the ghost zone has: for an iteration `reach`, whatever the depth. */
    double exchange_s = costs->fixed_s + costs->reach * costs->moving_s * exchange, beside, ends;
    if (tz_exchange_beside(costs, exchange, &beside, &ends)) {
        const double slice_s = costs->height * costs->slice_s; /* of a stage */
        exchange_s = exchange_s > beside * slice_s ? exchange_s - beside * slice_s : 0.0;
        exchange_s += ends * slice_s;
    }
    return (costs->slices + tz_exchange_redundant(costs, exchange)) * costs->slice_s +
           exchange_s / exchange;
}

int tz_exchange_best(const tz_exchange_costs *costs, int most)
{
    int best = costs->height;
    double best_s = tz_exchange_iteration_s(costs, best);
    for (int k = 2 * costs->height; k <= most; k += costs->height) {
        const double time_s = tz_exchange_iteration_s(costs, k);
        if (time_s < best_s) {
            best = k;
            best_s = time_s;
        }
    }
    return best;
}
