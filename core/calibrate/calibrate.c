/* What all measurements share: progress, names, samples and the numbers made from them. */
#include "calibrate/calibrate.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tz_status tz_calibration_step(const tz_calibration *calibration, double done, const char *what,
                              tz_error *error)
{
    if (!calibration->go_on || calibration->go_on(calibration->context, done, what))
        return TZ_OK;
    return tz_error_set(error, TZ_INTERRUPTED, NULL, "interrupted; nothing was written");
}

void tz_calibration_name(const char *title, char *name, size_t size)
{
    static const char *const dropped[] = {"nvidia", "geforce", "(r)",       "(tm)",
                                          "tesla",  "cpu",     "processor", "quadro"};
    char text[256];
    size_t used = 0;
    snprintf(text, sizeof text, "%s", title);
    for (char *at = text; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    for (size_t k = 0; k < sizeof dropped / sizeof *dropped; k++)
        for (char *at; (at = strstr(text, dropped[k]));)
            memset(at, ' ', strlen(dropped[k]));
    text[strcspn(text, "@")] = '\0';
    for (const char *at = text; *at && used + 1 < size; at++) {
        if (isalnum((unsigned char)*at) || (*at == '.' && used > 0))
            name[used++] = *at;
        else if (used > 0 && name[used - 1] != '-')
            name[used++] = '-';
    }
    while (used > 0 && name[used - 1] == '-')
        used--;
    if (size > 0)
        name[used] = '\0';
    if (used == 0)
        snprintf(name, size, "device");
}

/* ---- Samples and numbers --------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double tz_quantile(double *values, int count, double share)
{
    if (count == 0)
        return 0;
    qsort(values, (size_t)count, sizeof *values, ascending);
    const double at = share * (count - 1);
    const int low = (int)at, high = low + 1 < count ? low + 1 : low;
    return values[low] + (at - low) * (values[high] - values[low]);
}

void tz_samples_add(tz_samples *samples, double value)
{
    if (samples->count < TZ_SAMPLES_MAX)
        samples->at[samples->count++] = value;
}

/* 0 to 1, as tz_quantile(). */
static double quantile(const tz_samples *samples, double share)
{
    double sorted[TZ_SAMPLES_MAX];
    memcpy(sorted, samples->at, (size_t)samples->count * sizeof *sorted);
    return tz_quantile(sorted, samples->count, share);
}

double tz_samples_median(const tz_samples *samples)
{
    return quantile(samples, 0.5);
}

double tz_samples_quarter(const tz_samples *samples)
{
    return quantile(samples, 0.25);
}

double tz_samples_least(const tz_samples *samples)
{
    return quantile(samples, 0);
}

double tz_samples_spread(const tz_samples *samples)
{
    const double median = tz_samples_median(samples);
    return median > 0 ? (quantile(samples, 0.75) - quantile(samples, 0.25)) / median : 0;
}

double tz_round_number(double value)
{
    /* The powers of ten that units stand for: the reader multiplies by these very numbers. */
    static const double units[] = {1e12, 1e9, 1e6, 1e3, 1, 1e-6, 1e-9};
    enum { UNITS = sizeof units / sizeof *units };
    char text[32];
    int i = 0;
    if (!(fabs(value) > 0) || !isfinite(value))
        return value;
    while (i < UNITS - 1 && fabs(value) < (units[i] == 1 ? 1e-3 : 0.99995 * units[i]))
        i++; /* shares keep their unit, which is none */
    snprintf(text, sizeof text, "%.4g", value / units[i]);
    return strtod(text, NULL) * units[i];
}

/* What a source says of its samples: "…, spread up to 3 %", "…, median 3 % slower"; -1: nothing. */
static double spread_of(const char *source)
{
    static const char spread[] = "spread ", up[] = "up to ", median[] = "median ";
    double percent = -1;
    int end = 0;
    const char *at = strstr(source, spread);
    if (at) {
        at += sizeof spread - 1;
        at += strncmp(at, up, sizeof up - 1) == 0 ? sizeof up - 1 : 0;
        return sscanf(at, "%lf %%", &percent) == 1 ? percent / 100 : -1;
    }
    at = strstr(source, median);
    if (!at || sscanf(at + sizeof median - 1, "%lf %% slower%n", &percent, &end) != 1 || end == 0)
        return -1;
    return percent / 100;
}

double tz_calibration_spread(const tz_model_device *record)
{
    enum { MAX = 256 };
    double spreads[MAX];
    int found = 0;
    size_t count;
    const tz_model_key *keys = tz_model_device_keys(&count);
    for (size_t k = 0; k < count && found < MAX; k++) {
        if (keys[k].quantity == TZ_MODEL_TEXT)
            continue;
        const tz_model_number *number =
            (const tz_model_number *)(const void *)((const char *)record + keys[k].offset);
        spreads[found] = number->known ? spread_of(number->source) : -1;
        found += spreads[found] >= 0;
    }
    return tz_quantile(spreads, found, 0.75);
}

static void set(tz_model_number *number, double value, const char *format, va_list arguments)
{
    number->value = value;
    number->known = true;
    vsnprintf(number->source, sizeof number->source, format, arguments);
    number->assumed = strncmp(number->source, "assumed", 7) == 0;
}

void tz_number_set(tz_model_number *number, double value, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set(number, tz_round_number(value), format, arguments);
    va_end(arguments);
}

void tz_number_set_exactly(tz_model_number *number, double value, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set(number, value, format, arguments);
    va_end(arguments);
}

void tz_numbers_keep_better(tz_model_device *best, const tz_model_device *now)
{
    size_t count;
    const tz_model_key *keys = tz_model_device_keys(&count);
    for (size_t k = 0; k < count; k++) {
        if (keys[k].quantity == TZ_MODEL_TEXT)
            continue;
        tz_model_number *kept = (tz_model_number *)(void *)((char *)best + keys[k].offset);
        const tz_model_number *fresh =
            (const tz_model_number *)(const void *)((const char *)now + keys[k].offset);
        const bool less = keys[k].quantity == TZ_MODEL_TIME;
        /* Of memory the last pass has the samples of all. */
        const bool pooled =
            fresh == &now->core_copy_bandwidth_bytes_per_s ||
            fresh == &now->core_read_bandwidth_bytes_per_s || fresh == &now->small_page_s ||
            fresh == &now->copy_bandwidth_bytes_per_s || fresh == &now->read_bandwidth_bytes_per_s;
        if (fresh->known && (!kept->known || pooled ||
                             (less ? fresh->value < kept->value : fresh->value > kept->value)))
            *kept = *fresh;
    }
}
