#include "cli/print_devices.h"

#include "cli/print_predictions.h"
#include <inttypes.h>
#include <stdio.h>

void tz_print_devices(const tz_workload *workload)
{
    char time[TZ_TEXT_SIZE];
    if (!workload->place.devices)
        return;
    tz_format_seconds(workload->joined.latency_s, time, sizeof time);
    printf(", %d %s\n  link     %s: %s and %.4g GB/s", workload->devices.count,
           workload->is_gpu || workload->devices.apart ? "of them" : "slabs", workload->link.name,
           time, workload->joined.bytes_per_s * 1e-9);
}

void tz_print_exchange_heads(const tz_workload *workload)
{
    if (workload->place.devices)
        printf(" exchange  share  efficiency");
}

void tz_print_exchange(const tz_workload *workload, const tz_prediction_table *table,
                       const tz_prediction_row *row)
{
    if (workload->place.devices)
        printf(" %8d %4.1f %% %8.1f %%", row->plan.exchange,
               100 * tz_prediction_exchange_share(&row->prediction),
               100 * tz_prediction_efficiency(table, row));
}

/* "512 x 512" */
static void grid_text(const tz_workload *workload, const int64_t *extent, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int axis = 0; axis < workload->problem.dims && used < size; axis++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, axis ? " x " : "",
                                 extent[axis]);
}

void tz_print_scaling(const tz_workload *workload, const tz_prediction_table *table)
{
    const tz_prediction_row *best = &table->rows[table->best];
    char time[TZ_TEXT_SIZE], grid[TZ_TEXT_SIZE];
    if (!workload->place.devices)
        return;
    tz_format_seconds(table->alone_s, time, sizeof time);
    printf("\n  devices  an exchange after %d iterations takes %.2g %% of the time; %.3g times as "
           "fast as\n           %s (%s an iteration): efficiency %.1f %%",
           best->plan.exchange, 100 * tz_prediction_exchange_share(&best->prediction),
           table->alone_s / best->prediction.time_s,
           table->devices > 1 ? "one device" : "one process with all threads", time,
           100 * tz_prediction_efficiency(table, best));
    for (int i = 0; i < table->scaling.count; i++) {
        const int devices = table->scaling.at[i].devices;
        grid_text(workload, table->scaling.at[i].extent, grid, sizeof grid);
        if (table->scaling.at[i].extent[0] > 0)
            printf("%s%d from %s on", i ? ", " : "\n  scaling  more devices gain: ", devices, grid);
        else
            printf("%s%d on none of the grids up to the largest possible",
                   i ? ", " : "\n  scaling  more devices gain: ", devices);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void tz_devices_json(const tz_workload *workload, const tz_prediction_table *table, json_t *object)
{
    json_t *gains = json_array(), *link = json_object();
    if (!workload->place.devices) {
        json_decref(gains);
        json_decref(link);
        return;
    }
    json_object_set_new(link, "name", json_string(workload->link.name));
    json_object_set_new(link, "latency_s", json_real(workload->joined.latency_s));
    json_object_set_new(link, "bytes_per_s", json_real(workload->joined.bytes_per_s));
    json_object_set_new(object, "devices", json_integer(workload->devices.count));
    json_object_set_new(object, "link", link);
    json_object_set_new(object, "alone_s", json_real(table->alone_s));
    for (int i = 0; i < table->scaling.count; i++) {
        json_t *entry = json_object(), *grid = json_array();
        for (int axis = 0; axis < workload->problem.dims; axis++)
            json_array_append_new(grid, json_integer(table->scaling.at[i].extent[axis]));
        json_object_set_new(entry, "devices", json_integer(table->scaling.at[i].devices));
        json_object_set_new(entry, "grid", grid);
        if (table->scaling.at[i].extent[0] == 0)
            json_object_set_new(entry, "grid", json_null());
        json_array_append_new(gains, entry);
    }
    json_object_set_new(object, "gains", gains);
}

void tz_exchange_json(const tz_workload *workload, const tz_prediction_table *table,
                      const tz_prediction_row *row, json_t *object)
{
    if (!workload->place.devices)
        return;
    json_object_set_new(object, "exchange_share",
                        json_real(tz_prediction_exchange_share(&row->prediction)));
    json_object_set_new(object, "efficiency", json_real(tz_prediction_efficiency(table, row)));
}
