#include "cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Seconds between two showings. */
static const double redraw_s = 0.1, line_s = 3.0;

static double seconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

void tz_progress_begin(tz_progress *progress, bool quiet)
{
    memset(progress, 0, sizeof *progress);
    progress->quiet = quiet;
    progress->terminal = isatty(STDERR_FILENO) == 1;
}

void tz_progress_clear(tz_progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}

static void format_time(double seconds, char *text, size_t size)
{
    const long rounded = seconds < 0 || seconds > 1e8 ? 0 : (long)(seconds + 0.5);
    if (rounded >= 3600)
        snprintf(text, size, "%ld:%02ld:%02ld", rounded / 3600, rounded / 60 % 60, rounded % 60);
    else
        snprintf(text, size, "%ld:%02ld", rounded / 60, rounded % 60);
}

void tz_progress_show(tz_progress *progress, const tz_script_progress *now)
{
    if (progress->quiet)
        return;
    if (now->last) {
        tz_progress_clear(progress);
        progress->running = false;
        return;
    }
    if (!progress->running) {
        clock_gettime(CLOCK_MONOTONIC, &progress->begin);
        progress->last = progress->begin;
        progress->running = true;
        return;
    }
    if (seconds_since(&progress->last) < (progress->terminal ? redraw_s : line_s))
        return;
    clock_gettime(CLOCK_MONOTONIC, &progress->last);
    const double elapsed = seconds_since(&progress->begin);
    char rate[48] = "", part[80] = "", left[32];
    if (now->seconds > 0)
        snprintf(rate, sizeof rate, ", %.3g GCells/s",
                 1e-9 * (double)now->done * (double)now->cells / now->seconds);
    if (now->total > 0 && now->done > 0) {
        const double fraction = (double)now->done / (double)now->total;
        format_time(elapsed / fraction - elapsed, left, sizeof left);
        snprintf(part, sizeof part, " (%.0f %%), %s left", 100 * fraction, left);
    }
    fprintf(stderr, "%s%s: step %lld%s%s%s", progress->terminal ? "\r" : "", now->name,
            (long long)now->step, part, rate, progress->terminal ? "\033[K" : "\n");
    progress->drawn = progress->terminal;
    fflush(stderr);
}
