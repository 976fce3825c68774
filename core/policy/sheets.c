/* The columns of what policies have done. run.json and scenarios have them. */
#include "policy/policy.h"
#include <math.h>

#define JSON TZ_IN_JSON
#define LUA TZ_IN_LUA
#define REAL_OR_NULL(value) (isfinite(value) ? tz_cell_real(value) : TZ_NULL_CELL)

TZ_GETTER(plan_itself, int, tz_plan, tz_cell_row(tz_plan_columns, c, r));

static const tz_sheet_column plan_columns[] = {{.part = tz_plan_columns, .get = plan_itself},
                                               TZ_MEMBER("why", tz_plan, why, .forms = LUA),
                                               {.key = NULL}};

#define OF_DECISION(name, expression)                                                              \
    TZ_GETTER(decision_##name, int, tz_policy_decision, expression)
OF_DECISION(last_step, r->times > 1 ? tz_cell_integer(r->last_step) : TZ_NO_CELL);
OF_DECISION(times, r->times > 1 ? tz_cell_integer(r->times) : TZ_NO_CELL);
OF_DECISION(from, r->from.height > 0 ? tz_cell_row(plan_columns, c, &r->from) : TZ_NULL_CELL);
OF_DECISION(to, tz_cell_row(plan_columns, c, &r->to));
OF_DECISION(time_s, REAL_OR_NULL(r->time_s));

static const tz_sheet_column decision_columns[] = {
    TZ_MEMBER("step", tz_policy_decision, step),
    {.key = "last_step", .forms = JSON, .get = decision_last_step},
    {.key = "times", .forms = JSON, .get = decision_times},
    TZ_MEMBER("times", tz_policy_decision, times, .forms = LUA),
    {.key = "from", .get = decision_from},
    {.key = "to", .get = decision_to},
    {.key = "seconds_per_iteration", .forms = JSON, .get = decision_time_s},
    {.key = "time_s", .forms = LUA, .get = decision_time_s},
    TZ_MEMBER("reason", tz_policy_decision, reason),
    {.key = NULL}};

#define OF_MEASUREMENT(name, expression)                                                           \
    TZ_GETTER(measurement_##name, int, tz_policy_measurement, expression)
OF_MEASUREMENT(plan, tz_cell_row(plan_columns, c, &r->plan));
OF_MEASUREMENT(remembered, r->remembered ? tz_cell_flag(true) : TZ_NO_CELL);
OF_MEASUREMENT(time_s, REAL_OR_NULL(r->time_s));
OF_MEASUREMENT(predicted_s, r->estimated ? TZ_NO_CELL : REAL_OR_NULL(r->predicted_s));
OF_MEASUREMENT(estimated_s, r->estimated ? REAL_OR_NULL(r->predicted_s) : TZ_NO_CELL);

const tz_sheet_column tz_policy_measurement_columns[] = {
    {.part = plan_columns, .get = measurement_plan},
    {.key = "seconds_per_iteration", .forms = JSON, .get = measurement_time_s},
    {.key = "predicted_seconds_per_iteration", .forms = JSON, .get = measurement_predicted_s},
    {.key = "estimated_seconds_per_iteration", .forms = JSON, .get = measurement_estimated_s},
    {.key = "time_s", .forms = LUA, .get = measurement_time_s},
    {.key = "predicted_s", .forms = LUA, .get = measurement_predicted_s},
    {.key = "estimated_s", .forms = LUA, .get = measurement_estimated_s},
    TZ_MEMBER("tie", tz_policy_measurement, tie),
    {.key = "remembered", .forms = JSON, .get = measurement_remembered},
    TZ_MEMBER("remembered", tz_policy_measurement, remembered, .forms = LUA),
    TZ_MEMBER("note", tz_policy_measurement, note, .sparse = true),
    {.key = NULL}};

tz_sheet tz_policy_decision_sheet(const tz_policy *policy, const int *dims, int64_t *left_out)
{
    const tz_policy_decision *decisions = NULL;
    const size_t count = tz_policy_decisions(policy, &decisions, left_out);
    return (tz_sheet){.columns = decision_columns,
                      .context = dims,
                      .rows = decisions,
                      .stride = sizeof *decisions,
                      .count = (int)count};
}
