/* Shipped records, made-up work, predictions by the roofs, comparisons. */
#ifndef TZ_TEST_MODEL_SUPPORT_H
#define TZ_TEST_MODEL_SUPPORT_H

#include "base/file.h"
#include "model/model.h"
#include "model/roofs.h"
#include "tests/unit.h"

static const char *const device_names[] = {"gtx280", "gtx260", "gtx480", "gtx-titan", "h200"};
enum { DEVICES = 5 };

/* The text of model/FOLDER/NAME.txt; free() it. */
static inline char *shipped_text(const char *folder, const char *name, char path[512],
                                 size_t *length)
{
    char *text;
    snprintf(path, 512, "%s/%s/%s.txt", TZ_TEST_MODEL_DIR, folder, name);
    assert_ok(tz_file_read(path, TZ_MODEL_RECORD_BYTES_MAX, &text, length, &failure));
    return text;
}

static inline tz_model_device device_named(const char *name)
{
    char path[512];
    size_t length;
    char *text = shipped_text("devices", name, path, &length);
    tz_model_device device;
    assert_ok(tz_model_device_parse(path, text, length, &device, &failure));
    free(text);
    return device;
}

#define assert_close(value, expected, relative)                                                    \
    do {                                                                                           \
        const double v_ = (value), e_ = (expected);                                                \
        if (!(fabs(v_ - e_) <= (relative)*fabs(e_)))                                               \
            fail_msg("%s is %.17g, not %.17g", #value, v_, e_);                                    \
    } while (0)

static inline void set(tz_model_number *number, double value)
{
    *number = (tz_model_number){.value = value, .known = true, .source = "test"};
}

/* Made-up work of a kernel on a GPU: one part, bound by nothing in particular. */
static inline tz_model_work some_work(void)
{
    tz_model_work w = {.kind = TZ_WORK_GPU,
                       .height = 8,
                       .cells = 8 * 1e8,
                       .redundancy = 1.1,
                       .parts_count = 1,
                       .read_bytes = 4e8,
                       .write_bytes = 4e8,
                       .ghost_bytes = 4e7,
                       .resident_bytes = 8e8,
                       .registers = 121,
                       .threads = 64,
                       .blocks = 10000,
                       .ahead_bytes = 1536};
    w.parts[0] = (tz_work_part){.name = "inner",
                                .warps = 20000,
                                .steps = 400,
                                .clocks = 200,
                                .bytes = 512,
                                .shared_wavefronts = 8};
    w.parts[0].step.of[TZ_WORK_FP32] = 160;
    w.parts[0].step.of[TZ_WORK_INTEGER] = 30;
    w.parts[0].step.of[TZ_WORK_SHUFFLE] = 16;
    return w;
}

/* The roofs' prediction, which must succeed. Its components are the time, none of them negative. */
static inline tz_model_prediction predicted(const tz_model_work *work,
                                            const tz_model_device *device)
{
    tz_model_prediction p = {0};
    assert_ok(tz_roofs_predict(work, device, &p, &failure));
    double sum = 0.0;
    for (int k = 0; k < p.component_count; k++) {
        assert_true(p.components[k].seconds >= 0.0);
        sum += p.components[k].seconds;
    }
    assert_true(fabs(sum / p.time_s - 1.0) < 1e-9);
    assert_true(fabs(p.cells_per_s * p.stage_s / work->cells - 1.0) < 1e-9);
    assert_true(p.limit_text[0] != '\0');
    return p;
}

/* A detail of a prediction, which must be there. */
static inline double detail_of(const tz_model_prediction *p, const char *name)
{
    for (int d = 0; d < p->detail_count; d++)
        if (strcmp(p->details[d].name, name) == 0)
            return p->details[d].value;
    fail_msg("no detail '%s'", name);
    return 0;
}

#endif
