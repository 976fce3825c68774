/* What commands share when they print. */
#include "cli/print.h"

#include <math.h>
#include <stdio.h>

static const char *const units[] = {"s", "ms", "us", "ns"};

const char *tz_time_unit(double seconds, double *scale)
{
    int unit = 0;
    *scale = 1;
    while (unit < 3 && seconds * *scale < 1) {
        *scale *= 1000;
        unit++;
    }
    return units[unit];
}

void tz_format_seconds(double seconds, char *text, size_t size)
{
    int unit = 0;
    while (unit < 3 && fabs(seconds) < 0.9995) {
        seconds *= 1000;
        unit++;
    }
    snprintf(text, size, "%.4g %s", seconds, units[unit]);
}

void tz_format_bytes(double bytes, char *text, size_t size)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, size, unit == 0 ? "%.0f %s" : "%.4g %s", bytes, names[unit]);
}

void tz_print_json(json_t *json, int digits)
{
    if (json)
        json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(digits));
    else
        fprintf(stderr, "trapeze: not enough memory\n");
    printf("\n");
    json_decref(json);
}

void tz_print_sheet(const tz_sheet *sheet, tz_form form)
{
    if (form == TZ_FORM_JSON)
        tz_print_json(tz_sheet_json(sheet), 9);
    else if (form == TZ_FORM_CSV)
        tz_sheet_csv(sheet, true, stdout);
    else
        tz_sheet_text(sheet, stdout);
}
