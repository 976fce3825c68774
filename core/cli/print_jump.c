#include "cli/print_jump.h"

#include "cli/print_predictions.h"
#include <inttypes.h>
#include <stdio.h>

static const double GIB = 1.0 / (double)(INT64_C(1) << 30);

/* "62 times faster than its steps, and faster from 161 steps on" */
static void print_gain(double jump_s, double iteration_s, int64_t steps, int64_t from)
{
    const double gain = (double)steps * iteration_s / jump_s;
    if (from == INT64_MAX)
        printf("never faster than steps\n");
    else
        printf("%.4g times %s than its steps; a jump is faster from %" PRId64 " steps on\n",
               gain >= 1 ? gain : 1 / gain, gain >= 1 ? "faster" : "slower", from);
}

static void print_times(double jump_s, double iteration_s, int64_t steps)
{
    char jump[TZ_TEXT_SIZE], all[TZ_TEXT_SIZE], one[TZ_TEXT_SIZE];
    tz_format_seconds(jump_s, jump, sizeof jump);
    tz_format_seconds((double)steps * iteration_s, all, sizeof all);
    tz_format_seconds(iteration_s, one, sizeof one);
    printf("%s for %" PRId64 " steps; one by one %s, %s each\n", jump, steps, all, one);
}

void tz_jump_print(const tz_workload *workload, const tz_prediction_table *table,
                   const tz_jump_prediction *jump)
{
    const tz_prediction_row *best = &table->rows[table->best];
    char plan[2 * TZ_TEXT_SIZE], time[TZ_TEXT_SIZE];
    tz_plan_text(&best->plan, workload->problem.dims, plan, sizeof plan);
    printf("%s on %s, %s, %s\n  device   %s (%s)", workload->problem.stencil->id, workload->grid,
           workload->precision, workload->boundary, tz_workload_title(workload),
           workload->device.name);
    if (!workload->is_gpu)
        printf(", %d thread%s", workload->place.threads, workload->place.threads == 1 ? "" : "s");
    printf("\n  steps by %s\n  jump     ", plan);
    print_times(jump->jump.seconds, jump->iteration_s, jump->steps);
    printf("           ");
    print_gain(jump->jump.seconds, jump->iteration_s, jump->steps, jump->from);
    printf("           moves %.4g GB%s; needs %.3g GiB beside the fields\n",
           1e-9 * jump->jump.bytes, jump->affine ? ", with a source" : "",
           GIB * jump->jump.memory_bytes);
    if (jump->rounds == 0)
        return;
    printf("  measured ");
    print_times(jump->measured_s, jump->measured_iteration_s, jump->steps);
    printf("           ");
    print_gain(jump->measured_s, jump->measured_iteration_s, jump->steps, jump->measured_from);
    tz_format_seconds(jump->create_s, time, sizeof time);
    printf("           by %s, %d rounds, %.4g to %.4g ms; the first took %s; %.3g GiB\n",
           jump->facts.library, jump->rounds, 1e3 * jump->low_s, 1e3 * jump->high_s, time,
           GIB * (double)jump->facts.bytes);
}

static json_t *from_json(int64_t from)
{
    return from == INT64_MAX ? json_null() : json_integer(from);
}

json_t *tz_jump_json(const tz_workload *workload, const tz_prediction_table *table,
                     const tz_jump_prediction *jump)
{
    const tz_prediction_row *best = &table->rows[table->best];
    json_t *object = tz_workload_json(workload), *predicted = json_object(), *measured = NULL;
    json_object_set_new(object, "model", json_string(table->by->name));
    json_object_set_new(object, "plan", tz_plan_to_json(&best->plan, workload->problem.dims));
    json_object_set_new(object, "steps", json_integer(jump->steps));
    json_object_set_new(object, "source", json_boolean(jump->affine));
    const tz_named_double forecast[] = {{"jump_s", jump->jump.seconds},
                                        {"iteration_s", jump->iteration_s},
                                        {"bytes", jump->jump.bytes},
                                        {"operations", jump->jump.operations},
                                        {"memory_bytes", jump->jump.memory_bytes}};
    tz_json_set_reals(predicted, forecast, sizeof forecast / sizeof *forecast);
    json_object_set_new(predicted, "faster_from", from_json(jump->from));
    json_object_set_new(object, "predicted", predicted);
    if (jump->rounds > 0) {
        measured = json_object();
        const tz_named_double times[] = {{"jump_s", jump->measured_s},
                                         {"low_s", jump->low_s},
                                         {"high_s", jump->high_s},
                                         {"first_s", jump->create_s},
                                         {"iteration_s", jump->measured_iteration_s}};
        tz_json_set_reals(measured, times, sizeof times / sizeof *times);
        json_object_set_new(measured, "rounds", json_integer(jump->rounds));
        json_object_set_new(measured, "faster_from", from_json(jump->measured_from));
        json_object_set_new(measured, "library", json_string(jump->facts.library));
        json_object_set_new(measured, "memory_bytes", json_integer(jump->facts.bytes));
    }
    json_object_set_new(object, "measured", measured ? measured : json_null());
    return object;
}
