/* Predictions for stencils of the plugins that a test has opened. What is made is destroyed when
 * the test ends. */
#ifndef TZ_TEST_PREDICTIONS_H
#define TZ_TEST_PREDICTIONS_H

#include "predict/prediction_table.h"
#include "tests/registry.h"

/* n cells along each axis. */
static inline tz_simulation_config config_of(const char *stencil, int dims, int64_t n)
{
    return (tz_simulation_config){.registry = registry,
                                  .stencil = stencil,
                                  .dims = dims,
                                  .extent = {n, dims > 1 ? n : 1, dims > 2 ? n : 1},
                                  .precision = -1};
}

static inline tz_workload *workload_for(const tz_simulation_config *simulation, const char *device)
{
    const tz_workload_config config = {
        .simulation = simulation, .device = device, .let_unstable = true};
    tz_workload *workload = NULL;
    assert_ok(tz_workload_create(&workload, &config, &failure));
    at_end(tz_workload_destroy, workload);
    return workload;
}

static inline tz_workload *workload_of(const char *stencil, int dims, int64_t n, const char *device)
{
    const tz_simulation_config simulation = config_of(stencil, dims, n);
    return workload_for(&simulation, device);
}

static inline tz_prediction_table *table_of(const tz_workload *workload,
                                            const tz_prediction_request *request)
{
    tz_prediction_table *table = NULL;
    assert_ok(tz_prediction_table_create(&table, workload, request, &failure));
    at_end(tz_prediction_table_destroy, table);
    return table;
}

static inline void check_no_table(const tz_workload *workload, const tz_prediction_request *request,
                                  tz_status status, const char *words)
{
    tz_prediction_table *table = (tz_prediction_table *)&status;
    check_error(tz_prediction_table_create(&table, workload, request, &failure), status, "", words);
    assert_null(table);
}

static inline bool is_noted(const tz_model_notes *notes, const char *words)
{
    for (int i = 0; i < notes->count; i++)
        if (strstr(notes->text[i], words))
            return true;
    return false;
}

#endif
