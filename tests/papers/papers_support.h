/* The papers' benchmarks and models, for their tests. */
#ifndef TZ_TEST_PAPERS_SUPPORT_H
#define TZ_TEST_PAPERS_SUPPORT_H

#include "model/papers/benchmark.h"
#include "model/papers/meng2009.h"
#include "model/papers/meng2011.h"
#include "model/papers/papers.h"
#include "tests/model/model_support.h"

static const char *const benchmark_names[] = {"pathfinder", "hotspot", "poisson", "cell"};
enum { BENCHMARKS = 4 };

typedef struct bench {
    tz_model_benchmark record;
    tz_model_facts facts;
    tz_model_plan plan;
} bench;

static inline bench bench_named(const char *name)
{
    char path[512];
    size_t length;
    char *text = shipped_text("papers/benchmarks", name, path, &length);
    bench b;
    assert_ok(tz_model_benchmark_parse(path, text, length, &b.record, &failure));
    assert_ok(tz_model_benchmark_facts(&b.record, &b.facts, &b.plan, &failure));
    free(text);
    return b;
}

/* A benchmark on a device in the papers' words, by 2009 or 2011. */
static inline tz_model_meng meng_of(int year, const char *benchmark, const char *device)
{
    const bench b = bench_named(benchmark);
    const tz_model_device d = device_named(device);
    tz_model_meng m;
    if ((year == 2009 ? tz_model_meng2009_fill : tz_model_meng2011_fill)(&b.facts, &d, &b.plan, &m,
                                                                         NULL, &failure))
        fail_msg("%s: %s", failure.place, failure.message);
    return m;
}

static inline int best_height(const tz_model_meng *m)
{
    int best = 1;
    for (int h = 2; h <= tz_model_meng_height_max(m); h++)
        if (tz_model_meng_cpl(m, h) < tz_model_meng_cpl(m, best))
            best = h;
    return best;
}

/* Speedup over height 1 at height h, and at the best. */
static inline double speedup_at(const tz_model_meng *m, double h)
{
    return tz_model_meng_cpl(m, 1) / tz_model_meng_cpl(m, h);
}

static inline double speedup_best(const tz_model_meng *m)
{
    return speedup_at(m, best_height(m));
}

static inline const tz_equations *model_named(const char *name)
{
    return strcmp(name, "meng2009") == 0 ? &tz_model_meng2009 : &tz_model_meng2011;
}

#endif
