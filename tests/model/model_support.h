/* Shipped records, and comparisons. Include once a test program. */
#ifndef TZ_TEST_MODEL_SUPPORT_H
#define TZ_TEST_MODEL_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/read_file.h"
#include "model/meng2009.h"
#include "model/meng2011.h"
#include "model/model.h"
#include "model/roofs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const device_names[] = {"gtx280", "gtx260", "gtx-titan", "h200"};
static const char *const benchmark_names[] = {"pathfinder", "hotspot", "poisson", "cell"};
enum { DEVICES = 4, BENCHMARKS = 4 };

/* The text of model/FOLDER/NAME.txt; free() it. */
static inline char *shipped_text(const char *folder, const char *name, char path[512],
                                 size_t *length)
{
    char *text;
    tz_error error;
    snprintf(path, 512, "%s/%s/%s.txt", TZ_TEST_MODEL_DIR, folder, name);
    if (tz_file_read(&text, length, path, TZ_MODEL_RECORD_BYTES_MAX, &error) != TZ_OK)
        fail_msg("%s: %s", error.place, error.message);
    return text;
}

static inline tz_model_device device_named(const char *name)
{
    char path[512];
    size_t length;
    char *text = shipped_text("devices", name, path, &length);
    tz_model_device device;
    tz_error error;
    if (tz_model_device_parse(path, text, length, &device, &error) != TZ_OK)
        fail_msg("%s: %s", error.place, error.message);
    free(text);
    return device;
}

typedef struct bench {
    tz_model_benchmark record;
    tz_model_facts facts;
    tz_model_plan plan;
} bench;

static inline bench bench_named(const char *name)
{
    char path[512];
    size_t length;
    char *text = shipped_text("benchmarks", name, path, &length);
    bench b;
    tz_error error;
    if (tz_model_benchmark_parse(path, text, length, &b.record, &error) != TZ_OK ||
        tz_model_benchmark_facts(&b.record, &b.facts, &b.plan, &error) != TZ_OK)
        fail_msg("%s: %s", error.place, error.message);
    free(text);
    return b;
}

/* A benchmark on a device in the papers' words, by 2009 or 2011. */
static inline tz_model_meng meng_of(int year, const char *benchmark, const char *device)
{
    const bench b = bench_named(benchmark);
    const tz_model_device d = device_named(device);
    tz_model_meng m;
    tz_error error;
    if ((year == 2009 ? tz_model_meng2009_fill : tz_model_meng2011_fill)(&b.facts, &d, &b.plan, &m,
                                                                         NULL, &error))
        fail_msg("%s: %s", error.place, error.message);
    return m;
}

#define assert_close(value, expected, relative)                                                    \
    do {                                                                                           \
        const double v_ = (value), e_ = (expected);                                                \
        if (!(fabs(v_ - e_) <= (relative)*fabs(e_)))                                               \
            fail_msg("%s is %.17g, not %.17g", #value, v_, e_);                                    \
    } while (0)

/* Speedup over height 1 at height h, and at the best. */
static inline double speedup_at(const tz_model_meng *m, double h)
{
    return tz_model_meng_cpl(m, 1) / tz_model_meng_cpl(m, h);
}

static inline double speedup_best(const tz_model_meng *m)
{
    return speedup_at(m, tz_model_meng_height_best(m));
}

#endif
