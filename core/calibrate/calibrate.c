#include "calibrate/calibrate.h"

#include <ctype.h>
#include <stdio.h>
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
