/* Thread blocks (model tabik2015) as text, CSV, JSON and a heat map. */
#ifndef TZ_CORE_CLI_PRINT_THREAD_BLOCKS_H
#define TZ_CORE_CLI_PRINT_THREAD_BLOCKS_H

#include "predict/thread_blocks.h"
#include <jansson.h>

/* The chosen shapes of each pass, or all shapes with their numbers. */
void tz_thread_blocks_sum_up(const tz_workload *workload, const tz_thread_blocks *blocks);
void tz_thread_blocks_print(const tz_workload *workload, const tz_thread_blocks *blocks);
void tz_thread_blocks_print_csv(const tz_workload *workload, const tz_thread_blocks *blocks);
json_t *tz_thread_blocks_json(const tz_workload *workload, const tz_thread_blocks *blocks);

/* A PNG file: for each pass four tables of colours, one for each number, with block widths across and
 * heights down. Yellow is good; chosen shapes have a frame. TZ_IO, TZ_RANGE, TZ_MEMORY. */
tz_status tz_thread_blocks_plot(const tz_workload *workload, const tz_thread_blocks *blocks,
                                const char *path, tz_error *error);

#endif
