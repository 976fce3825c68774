#include "output/frame/ticks.h"

#include "base/number.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void tz_ticks_make(tz_ticks *ticks, double lo, double hi, int most)
{
    memset(ticks, 0, sizeof *ticks);
    most = most < 2 ? 2 : most > TZ_TICKS_MAX ? TZ_TICKS_MAX : most;
    if (!isfinite(lo) || !isfinite(hi) || hi < lo)
        return;
    const double largest = fmax(fabs(lo), fabs(hi));
    const int power = largest > 0.0 ? (int)floor(log10(largest)) : 0;
    if (power >= 5 || power <= -4)
        ticks->exponent = power;
    const double unit = pow(10.0, ticks->exponent);
    /* Is the range too narrow or too wide for steps in double precision? */
    if (hi - lo <= largest * 1e-12 || !isfinite(hi - lo) || hi - lo < 1e-290) {
        ticks->count = 1;
        ticks->values[0] = lo;
        tz_number_format_style(ticks->labels[0], TZ_TICK_LABEL_SIZE, 'g', 6, lo / unit);
        return;
    }
    static const double steps[] = {1.0, 2.0, 5.0};
    int decade = (int)floor(log10((hi - lo) / most)), k = 0;
    double step, first, last;
    for (;;) {
        step = steps[k] * pow(10.0, decade);
        first = ceil(lo / step - 1e-6);
        last = floor(hi / step + 1e-6);
        if (last - first + 1.0 <= most)
            break;
        k = (k + 1) % 3;
        decade += k == 0;
    }
    int digits = ticks->exponent - decade;
    digits = digits < 0 ? 0 : digits > 12 ? 12 : digits;
    ticks->count = (int)(last - first) + 1;
    for (int i = 0; i < ticks->count; i++) {
        const double v = (first + i) * step;
        ticks->values[i] = v < lo ? lo : v > hi ? hi : v;
        tz_number_format_style(ticks->labels[i], TZ_TICK_LABEL_SIZE, 'f', digits,
                               first + i == 0.0 ? 0.0 : v / unit);
    }
}

/* ---- Logarithmic ----------------------------------------------------------------------------- */

/* Numbers from 0.01 to 1000 are easier to read than powers. */
enum { PLAIN_LOW = -2, PLAIN_HIGH = 3 };

static void add_log(tz_ticks *ticks, int factor, int exponent, bool plain)
{
    char power[TZ_NUMBER_SIZE];
    char *label = ticks->labels[ticks->count];
    ticks->values[ticks->count++] = log10(factor) + exponent;
    if (plain)
        tz_number_format_style(label, TZ_TICK_LABEL_SIZE, 'f', exponent < 0 ? -exponent : 0,
                               factor * pow(10, exponent));
    else if (factor == 1)
        snprintf(label, TZ_TICK_LABEL_SIZE, "%s", tz_number_power(power, exponent));
    else
        snprintf(label, TZ_TICK_LABEL_SIZE, "%d×%s", factor, tz_number_power(power, exponent));
}

void tz_ticks_make_log(tz_ticks *ticks, double lo, double hi, int most)
{
    static const int factors[] = {1, 2, 5};
    const double slack = 1e-9;
    memset(ticks, 0, sizeof *ticks);
    most = most < 2 ? 2 : most > TZ_TICKS_MAX ? TZ_TICKS_MAX : most;
    if (!isfinite(lo) || !isfinite(hi) || hi < lo)
        return;
    const int first = (int)ceil(lo - slack), last = (int)floor(hi + slack);
    const bool plain = floor(lo + slack) >= PLAIN_LOW && hi <= PLAIN_HIGH + 1 - slack;
    const int decades = last - first + 1, stride = decades > most ? (decades + most - 1) / most : 1;
    const bool between = 3 * (hi - lo + 1) <= most;
    for (int e = (int)floor(lo); e <= last && ticks->count < TZ_TICKS_MAX; e++)
        for (int k = 0; k < (between ? 3 : 1) && ticks->count < TZ_TICKS_MAX; k++) {
            const double at = e + log10(factors[k]);
            if (at >= lo - slack && at <= hi + slack && (e - first) % stride == 0)
                add_log(ticks, factors[k], e, plain);
        }
    if (ticks->count > 1 || hi - lo > 1)
        return;
    tz_ticks_make(ticks, pow(10, lo), pow(10, hi), most);
    for (int i = 0; i < ticks->count; i++)
        ticks->values[i] = ticks->values[i] > 0 ? log10(ticks->values[i]) : lo;
}
