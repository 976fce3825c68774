/* The columns of predictions and measurements. Called by the commands predict and tune, and by
 * tz.predict and tz.tune. */
#include "predict/sheets.h"

enum { IN_JSON_AND_LUA = TZ_IN_JSON | TZ_IN_LUA, IN_CSV_AND_LUA = TZ_IN_CSV | TZ_IN_LUA };

/* ---- Workloads ------------------------------------------------------------------------------- */

#define OF_WORKLOAD(name, expression) TZ_GETTER(workload_##name, void, tz_workload, expression)
OF_WORKLOAD(stencil, tz_cell_text(r->problem.stencil->id));
OF_WORKLOAD(grid, tz_cell_integers(r->problem.dims, r->problem.extent));
OF_WORKLOAD(backend, tz_cell_text(r->backend->name));
OF_WORKLOAD(title, tz_cell_text(r->device.title[0] ? r->device.title : r->device.name));

static tz_cell workload_first_boundary(const void *context, const void *row)
{
    char text[TZ_BOUNDARY_TEXT_SIZE];
    (void)context;
    return tz_cell_made("%s",
                        tz_boundary_text(((const tz_workload *)row)->problem.boundary[0], text));
}

const tz_sheet_column tz_workload_columns[] = {
    {.key = "stencil", .forms = TZ_IN_JSON, .get = workload_stencil},
    {.key = "grid", .forms = TZ_IN_JSON, .get = workload_grid},
    TZ_MEMBER("precision", tz_workload, precision, .forms = TZ_IN_JSON),
    TZ_MEMBER("boundary", tz_workload, boundary, .forms = TZ_IN_JSON),
    TZ_MEMBER("device", tz_workload, device.name, .forms = IN_JSON_AND_LUA),
    {.key = "backend", .forms = IN_JSON_AND_LUA, .get = workload_backend},
    TZ_MEMBER("threads", tz_workload, place.threads, .forms = TZ_IN_JSON),
    {.key = NULL}};

const tz_sheet_column tz_workload_csv_columns[] = {
    {.key = "stencil", .forms = TZ_IN_CSV, .get = workload_stencil},
    TZ_MEMBER("nx", tz_workload, problem.extent[0], .forms = TZ_IN_CSV),
    TZ_MEMBER("ny", tz_workload, problem.extent[1], .forms = TZ_IN_CSV),
    TZ_MEMBER("nz", tz_workload, problem.extent[2], .forms = TZ_IN_CSV),
    TZ_MEMBER("precision", tz_workload, precision, .forms = TZ_IN_CSV),
    {.key = "boundary", .forms = TZ_IN_CSV, .get = workload_first_boundary},
    TZ_MEMBER("device", tz_workload, device.name, .forms = TZ_IN_CSV),
    {.key = NULL}};

double tz_workload_rate(const tz_workload *workload, double seconds)
{
    const int64_t *n = workload->problem.extent;
    return (double)n[0] * (double)n[1] * (double)n[2] / seconds;
}

/* ---- Rows of predictions --------------------------------------------------------------------- */

#define OF_ROW(name, expression)                                                                   \
    TZ_GETTER(row_##name, tz_prediction_sheet, tz_prediction_row, expression)

OF_ROW(workload, tz_cell_row(tz_workload_csv_columns, NULL, c->workload));
OF_ROW(model, tz_cell_text(c->table->by->name));
OF_ROW(plan, tz_cell_row(tz_plan_columns, &c->workload->problem.dims, &r->plan));
OF_ROW(registers, r->work ? tz_cell_integer(r->work->registers) : TZ_NO_CELL);
OF_ROW(registers_or_0, tz_cell_integer(r->work ? r->work->registers : 0));
OF_ROW(local_bytes, tz_cell_integer(r->work ? r->work->local_bytes : 0));
OF_ROW(shared_bytes, tz_cell_integer(r->work ? r->work->shared_bytes : 0));
OF_ROW(estimated, r->work ? tz_cell_flag(r->work->estimated) : TZ_NO_CELL);
OF_ROW(estimated_or_0, tz_cell_flag(r->work && r->work->estimated));
OF_ROW(gcells_per_s, tz_cell_real(r->prediction.cells_per_s * 1e-9));
OF_ROW(exchange_share, c->workload->place.devices
                           ? tz_cell_real(tz_prediction_exchange_share(&r->prediction))
                           : TZ_NO_CELL);
OF_ROW(efficiency, c->workload->place.devices ? tz_cell_real(tz_prediction_efficiency(c->table, r))
                                              : TZ_NO_CELL);
OF_ROW(run_s, r->run_s > 0 ? tz_cell_real(r->run_s) : TZ_NO_CELL);
OF_ROW(best, tz_cell_flag(r == &c->table->rows[c->table->best]));

/* Of any row with a prediction. */
#define OF_PREDICTION(name, expression)                                                            \
    TZ_GETTER(prediction_##name, void, tz_model_prediction, expression)
#define WHERE_KNOWN(member) r->sustained_s > 0 ? tz_cell_real(r->member) : TZ_NO_CELL

OF_PREDICTION(sustained_s, WHERE_KNOWN(sustained_s));
OF_PREDICTION(sustained_hz, WHERE_KNOWN(sustained_hz));
OF_PREDICTION(power_w, WHERE_KNOWN(power_w));
OF_PREDICTION(power_limit_w, WHERE_KNOWN(power_limit_w));
OF_PREDICTION(limit, tz_cell_text(tz_model_resource_text(r->limit)));
OF_PREDICTION(named, TZ_CELL_NAMED_OF(r->component_count, r->components, tz_model_component, name,
                                      seconds));
OF_PREDICTION(details, TZ_CELL_NAMED_OF(r->detail_count, r->details, tz_model_detail, name, value));

TZ_GETTER(component_resource, void, tz_model_component,
          tz_cell_text(tz_model_resource_text(r->resource)));
TZ_GETTER(component_doc, void, tz_model_component, tz_cell_text(r->doc ? r->doc : ""));

static const tz_sheet_column component_columns[] = {
    TZ_MEMBER("name", tz_model_component, name),
    {.key = "resource", .get = component_resource},
    TZ_MEMBER("seconds", tz_model_component, seconds),
    {.key = "doc", .get = component_doc},
    {.key = NULL}};

OF_PREDICTION(components, tz_cell_rows((tz_sheet){.columns = component_columns,
                                                  .rows = r->components,
                                                  .stride = sizeof *r->components,
                                                  .count = r->component_count}));

static const tz_sheet_column prediction_columns[] = {
    TZ_MEMBER("time_s", tz_model_prediction, time_s),
    TZ_MEMBER("stage_s", tz_model_prediction, stage_s, .forms = IN_JSON_AND_LUA),
    {.key = "sustained_s", .forms = IN_JSON_AND_LUA, .get = prediction_sustained_s},
    {.key = "sustained_hz", .forms = TZ_IN_JSON, .get = prediction_sustained_hz},
    {.key = "power_w", .forms = IN_JSON_AND_LUA, .get = prediction_power_w},
    {.key = "power_limit_w", .forms = IN_JSON_AND_LUA, .get = prediction_power_limit_w},
    TZ_MEMBER("cells_per_s", tz_model_prediction, cells_per_s, .forms = TZ_IN_CSV | TZ_IN_JSON),
    {.key = NULL}};

static const tz_sheet_column limit_columns[] = {
    {.key = "limit", .get = prediction_limit},
    TZ_MEMBER("limit_text", tz_model_prediction, limit_text, .forms = IN_JSON_AND_LUA),
    {.key = "components", .forms = TZ_IN_LUA, .get = prediction_named},
    {.key = "components", .forms = TZ_IN_JSON, .get = prediction_components},
    {.key = "details", .forms = IN_JSON_AND_LUA, .get = prediction_details},
    {.key = NULL}};

/* The last columns of CSV. */
static const tz_sheet_column power_columns[] = {
    {.key = "sustained_s", .forms = TZ_IN_CSV, .get = prediction_sustained_s},
    {.key = "power_w", .forms = TZ_IN_CSV, .get = prediction_power_w, .digits = 4},
    {.key = NULL}};

OF_ROW(prediction, tz_cell_row(prediction_columns, NULL, &r->prediction));
OF_ROW(limit, tz_cell_row(limit_columns, NULL, &r->prediction));
OF_ROW(power, tz_cell_row(power_columns, NULL, &r->prediction));
OF_ROW(named, prediction_named(NULL, &r->prediction));

static const tz_sheet_column row_columns[] = {
    {.part = tz_workload_csv_columns, .get = row_workload},
    {.key = "model", .forms = TZ_IN_CSV, .get = row_model},
    {.part = tz_plan_columns, .get = row_plan},
    {.key = "registers",
     .forms = TZ_IN_CSV | TZ_IN_JSON,
     .get = row_registers_or_0,
     .sparse = true},
    {.key = "registers", .forms = TZ_IN_LUA, .get = row_registers},
    {.key = "local_bytes", .forms = TZ_IN_JSON, .get = row_local_bytes, .sparse = true},
    {.key = "shared_bytes", .forms = TZ_IN_JSON, .get = row_shared_bytes, .sparse = true},
    {.key = "estimated", .forms = TZ_IN_CSV, .get = row_estimated_or_0},
    {.key = "estimated", .forms = IN_JSON_AND_LUA, .get = row_estimated},
    {.part = prediction_columns, .get = row_prediction},
    {.key = "run_s", .forms = IN_JSON_AND_LUA, .get = row_run_s},
    {.key = "gcells_per_s", .forms = TZ_IN_LUA, .get = row_gcells_per_s},
    {.key = "exchange_share", .forms = IN_JSON_AND_LUA, .get = row_exchange_share},
    {.key = "efficiency", .forms = IN_JSON_AND_LUA, .get = row_efficiency},
    {.part = limit_columns, .get = row_limit},
    {.key = "best", .forms = TZ_IN_CSV, .get = row_best},
    {.part = power_columns, .get = row_power},
    {.key = "components", .forms = TZ_IN_CSV, .get = row_named},
    {.key = NULL}};

tz_sheet tz_prediction_rows(const tz_prediction_sheet *sheet)
{
    return (tz_sheet){.columns = row_columns,
                      .context = sheet,
                      .rows = sheet->table->rows,
                      .stride = sizeof *sheet->table->rows,
                      .count = sheet->table->count};
}

/* ---- A table of predictions ------------------------------------------------------------------ */

TZ_GETTER(gain_grid, tz_workload, tz_gain,
          r->extent[0] > 0 ? tz_cell_integers(c->problem.dims, r->extent) : TZ_NULL_CELL);

static const tz_sheet_column gain_columns[] = {
    TZ_MEMBER("devices", tz_gain, devices), {.key = "grid", .get = gain_grid}, {.key = NULL}};

static const tz_sheet_column link_columns[] = {
    TZ_MEMBER("name", tz_workload, link.name),
    TZ_MEMBER("latency_s", tz_workload, joined.latency_s),
    TZ_MEMBER("bytes_per_s", tz_workload, joined.bytes_per_s),
    {.key = NULL}};

#define OF_TABLE(name, expression)                                                                 \
    TZ_GETTER(table_##name, tz_prediction_sheet, tz_prediction_table, expression)
#define OF_DEVICES(name, expression)                                                               \
    OF_TABLE(name, c->workload->place.devices ? (expression) : TZ_NO_CELL)

OF_TABLE(workload, tz_cell_row(tz_workload_columns, NULL, c->workload));
OF_TABLE(title, workload_title(NULL, c->workload));
OF_DEVICES(devices, tz_cell_integer(c->workload->devices.count));
OF_DEVICES(link, tz_cell_row(link_columns, NULL, c->workload));
OF_DEVICES(link_name, tz_cell_text(c->workload->link.name));
OF_DEVICES(alone_s, tz_cell_real(r->alone_s));
OF_DEVICES(gains, tz_cell_rows((tz_sheet){.columns = gain_columns,
                                          .context = c->workload,
                                          .rows = r->scaling.at,
                                          .stride = sizeof *r->scaling.at,
                                          .count = r->scaling.count}));
OF_TABLE(model, tz_cell_text(r->by->name));
OF_TABLE(best, tz_cell_row(row_columns, c, &r->rows[r->best]));
OF_TABLE(choice, r->choice[0] ? tz_cell_text(r->choice) : TZ_NULL_CELL);
OF_TABLE(notes, tz_cell_texts(r->notes.count, r->notes.text, sizeof r->notes.text[0]));
OF_TABLE(rows, tz_cell_rows(tz_prediction_rows(c)));
OF_TABLE(accuracy, tz_cell_real(tz_prediction_accuracy(r)));
OF_TABLE(accuracy_lua,
         r->measured.rounds > 0 ? tz_cell_real(tz_prediction_accuracy(r)) : TZ_NO_CELL);
OF_TABLE(measured_s, r->measured.rounds > 0 ? tz_cell_real(r->measured.taken_s) : TZ_NO_CELL);

static const tz_sheet_column measured_columns[] = {
    TZ_MEMBER("time_s", tz_prediction_table, measured.taken_s),
    TZ_MEMBER("low_s", tz_prediction_table, measured.low_s),
    TZ_MEMBER("high_s", tz_prediction_table, measured.high_s),
    TZ_MEMBER("rounds", tz_prediction_table, measured.rounds),
    {.key = "accuracy", .get = table_accuracy},
    {.key = NULL}};

OF_TABLE(measured, r->measured.rounds > 0 ? tz_cell_row(measured_columns, c, r) : TZ_NO_CELL);

const tz_sheet_column tz_prediction_columns[] = {
    {.part = tz_workload_columns, .get = table_workload},
    {.key = "title", .forms = TZ_IN_LUA, .get = table_title},
    {.key = "devices", .get = table_devices},
    {.key = "link", .forms = TZ_IN_JSON, .get = table_link},
    {.key = "link", .forms = TZ_IN_LUA, .get = table_link_name},
    {.key = "alone_s", .get = table_alone_s},
    {.key = "gains", .get = table_gains},
    {.key = "model", .get = table_model},
    TZ_MEMBER("counts", tz_prediction_table, counts),
    {.key = "best", .forms = TZ_IN_JSON, .get = table_best},
    TZ_MEMBER("why", tz_prediction_table, why),
    {.key = "choice", .get = table_choice},
    TZ_MEMBER("limits", tz_prediction_table, limits),
    TZ_MEMBER("considered", tz_prediction_table, considered),
    TZ_MEMBER("seconds", tz_prediction_table, seconds),
    {.key = "notes", .get = table_notes},
    {.key = "rows", .get = table_rows},
    {.key = "measured", .forms = TZ_IN_JSON, .get = table_measured},
    {.key = "measured_s", .forms = TZ_IN_LUA, .get = table_measured_s},
    {.key = "accuracy", .forms = TZ_IN_LUA, .get = table_accuracy_lua},
    {.key = NULL}};

const tz_sheet_column tz_answer_columns[] = {{.part = tz_workload_columns, .get = table_workload},
                                             {.key = "model", .get = table_model},
                                             {.key = "notes", .get = table_notes},
                                             {.key = NULL}};

/* ---- Rows of measurements -------------------------------------------------------------------- */

#define OF_TUNED(name, expression) TZ_GETTER(tuned_##name, tz_tune_sheet, tz_tune_row, expression)
#define WHERE_MEASURED(member)                                                                     \
    r->measured.rounds > 0 ? tz_cell_real(r->measured.member) : TZ_NULL_CELL
#define WHERE_CLOCKED(cell) r->measured.clocks > 0 ? (cell) : TZ_NO_CELL

OF_TUNED(workload, tz_cell_row(tz_workload_csv_columns, NULL, c->workload));
OF_TUNED(backend, tz_cell_text(c->workload->backend->name));
OF_TUNED(threads, tz_cell_integer(c->workload->place.threads));
OF_TUNED(plan, tz_cell_row(tz_plan_columns, &c->workload->problem.dims, &r->plan));
OF_TUNED(predicted_s, tz_cell_real(tz_tune_predicted_s(c->tune, r)));
OF_TUNED(sustained_s, prediction_sustained_s(NULL, &r->prediction));
OF_TUNED(power_w, prediction_power_w(NULL, &r->prediction));
OF_TUNED(exchange_s,
         c->workload->place.devices ? tz_cell_real(r->measured.exchange_s) : TZ_NO_CELL);
OF_TUNED(measured_s, WHERE_MEASURED(taken_s));
OF_TUNED(low_s, WHERE_MEASURED(low_s));
OF_TUNED(high_s, WHERE_MEASURED(high_s));
OF_TUNED(gcells_per_s, r->measured.rounds > 0
                           ? tz_cell_real(tz_workload_rate(c->workload, r->measured.taken_s) * 1e-9)
                           : TZ_NO_CELL);
OF_TUNED(throttled, WHERE_CLOCKED(tz_cell_integer(r->measured.throttled)));
OF_TUNED(clock_hz, WHERE_CLOCKED(tz_cell_real(r->measured.clock_hz)));
OF_TUNED(same_bits, r->checked ? tz_cell_flag(r->equal) : TZ_NO_CELL);
OF_TUNED(bits, r->checked ? tz_cell_text(r->equal ? "same" : "other") : TZ_NO_CELL);
OF_TUNED(in_set, c->tune->set.shapes > 0 ? tz_cell_flag(r->chosen) : TZ_NO_CELL);
OF_TUNED(best, tz_cell_flag(r == &c->tune->rows[c->tune->best]));
OF_TUNED(chosen, tz_cell_flag(r == &c->tune->rows[c->tune->predicted]));
OF_TUNED(power, tz_cell_row(power_columns, NULL, &r->prediction));
OF_TUNED(limit, prediction_limit(NULL, &r->prediction));
OF_TUNED(named, prediction_named(NULL, &r->prediction));

static const tz_sheet_column tuned_columns[] = {
    {.part = tz_workload_csv_columns, .get = tuned_workload},
    {.key = "backend", .forms = TZ_IN_CSV, .get = tuned_backend},
    {.key = "threads", .forms = TZ_IN_CSV, .get = tuned_threads},
    {.part = tz_plan_columns, .get = tuned_plan},
    TZ_MEMBER("registers", tz_tune_row, work.registers, .forms = IN_CSV_AND_LUA),
    TZ_MEMBER("local_bytes", tz_tune_row, work.local_bytes, .forms = TZ_IN_CSV),
    {.key = "predicted_s", .get = tuned_predicted_s},
    {.key = "sustained_s", .forms = TZ_IN_JSON, .get = tuned_sustained_s},
    {.key = "power_w", .forms = TZ_IN_JSON, .get = tuned_power_w},
    {.key = "exchange_s", .forms = TZ_IN_JSON, .get = tuned_exchange_s},
    {.key = "measured_s", .get = tuned_measured_s},
    {.key = "low_s", .forms = IN_CSV_AND_LUA, .get = tuned_low_s},
    {.key = "high_s", .forms = IN_CSV_AND_LUA, .get = tuned_high_s},
    {.key = "gcells_per_s", .forms = TZ_IN_LUA, .get = tuned_gcells_per_s},
    TZ_MEMBER("rounds", tz_tune_row, measured.rounds, .forms = IN_CSV_AND_LUA),
    {.key = "throttled", .get = tuned_throttled},
    {.key = "clock_hz", .get = tuned_clock_hz, .digits = 4},
    TZ_MEMBER("refused", tz_tune_row, refusal, .forms = IN_JSON_AND_LUA, .sparse = true),
    {.key = "same_bits", .forms = IN_JSON_AND_LUA, .get = tuned_same_bits},
    {.key = "bits", .forms = TZ_IN_CSV, .get = tuned_bits},
    {.key = "in_set", .get = tuned_in_set},
    {.key = "best", .forms = TZ_IN_CSV, .get = tuned_best},
    {.key = "chosen", .forms = TZ_IN_CSV, .get = tuned_chosen},
    {.part = power_columns, .get = tuned_power},
    {.key = "limit", .forms = TZ_IN_CSV, .get = tuned_limit},
    {.key = "components", .forms = TZ_IN_CSV, .get = tuned_named},
    {.key = NULL}};

tz_sheet tz_tune_rows(const tz_tune_sheet *sheet)
{
    return (tz_sheet){.columns = tuned_columns,
                      .context = sheet,
                      .rows = sheet->tune->rows,
                      .stride = sizeof *sheet->tune->rows,
                      .count = sheet->tune->count};
}

/* ---- A table of measurements ----------------------------------------------------------------- */

TZ_GETTER(set_best, void, tz_tune_set, r->measured_chosen > 0 ? tz_cell_real(r->best) : TZ_NO_CELL);
TZ_GETTER(set_worst, void, tz_tune_set,
          r->measured_chosen > 0 ? tz_cell_real(r->worst) : TZ_NO_CELL);

static const tz_sheet_column set_columns[] = {
    TZ_MEMBER("shapes", tz_tune_set, shapes),
    TZ_MEMBER("chosen", tz_tune_set, chosen),
    TZ_MEMBER("measured", tz_tune_set, measured),
    TZ_MEMBER("measured_chosen", tz_tune_set, measured_chosen),
    TZ_MEMBER("has_best", tz_tune_set, has_best),
    {.key = "best", .get = set_best},
    {.key = "worst", .get = set_worst},
    {.key = NULL}};

TZ_GETTER(tune_workload, tz_tune_sheet, tz_tune,
          tz_cell_row(tz_workload_columns, NULL, c->workload));
TZ_GETTER(tune_rows, tz_tune_sheet, tz_tune, tz_cell_rows(tz_tune_rows(c)));
TZ_GETTER(tune_set, tz_tune_sheet, tz_tune,
          r->set.shapes > 0 ? tz_cell_row(set_columns, NULL, &r->set) : TZ_NO_CELL);

const tz_sheet_column tz_tune_columns[] = {
    {.part = tz_workload_columns, .get = tune_workload},
    TZ_MEMBER("best", tz_tune, best, .forms = TZ_IN_JSON),
    TZ_MEMBER("predicted", tz_tune, predicted, .forms = TZ_IN_JSON),
    TZ_MEMBER("share", tz_tune, share),
    TZ_MEMBER("error_median", tz_tune, error_median),
    TZ_MEMBER("error_p90", tz_tune, error_p90),
    TZ_MEMBER("error_mean", tz_tune, error_mean),
    TZ_MEMBER("different", tz_tune, different, .forms = TZ_IN_LUA),
    TZ_MEMBER("not_finite", tz_tune, not_finite, .forms = TZ_IN_LUA),
    TZ_MEMBER("infinite", tz_tune, infinite, .forms = TZ_IN_LUA),
    TZ_MEMBER("forecast_s", tz_tune, predicting_s, .forms = TZ_IN_JSON),
    TZ_MEMBER("sustained", tz_tune, sustained, .forms = TZ_IN_JSON),
    TZ_MEMBER("clock_unknown", tz_tune, clock_refusal, .forms = TZ_IN_JSON, .sparse = true),
    {.key = "rows", .get = tune_rows},
    {.key = "set", .get = tune_set},
    {.key = NULL}};

/* ---- Jumps ----------------------------------------------------------------------------------- */

static tz_cell from_cell(int64_t from)
{
    return from == INT64_MAX ? TZ_NULL_CELL : tz_cell_integer(from);
}

#define OF_JUMP(name, expression)                                                                  \
    TZ_GETTER(jump_##name, tz_prediction_sheet, tz_jump_prediction, expression)

OF_JUMP(from, from_cell(r->from));
OF_JUMP(measured_from, from_cell(r->measured_from));

static const tz_sheet_column predicted_jump_columns[] = {
    TZ_MEMBER("jump_s", tz_jump_prediction, jump.seconds),
    TZ_MEMBER("iteration_s", tz_jump_prediction, iteration_s),
    TZ_MEMBER("bytes", tz_jump_prediction, jump.bytes),
    TZ_MEMBER("operations", tz_jump_prediction, jump.operations),
    TZ_MEMBER("memory_bytes", tz_jump_prediction, jump.memory_bytes),
    {.key = "faster_from", .get = jump_from},
    {.key = NULL}};

static const tz_sheet_column measured_jump_columns[] = {
    TZ_MEMBER("jump_s", tz_jump_prediction, measured_s),
    TZ_MEMBER("low_s", tz_jump_prediction, low_s),
    TZ_MEMBER("high_s", tz_jump_prediction, high_s),
    TZ_MEMBER("first_s", tz_jump_prediction, create_s),
    TZ_MEMBER("iteration_s", tz_jump_prediction, measured_iteration_s),
    TZ_MEMBER("rounds", tz_jump_prediction, rounds),
    {.key = "faster_from", .get = jump_measured_from},
    TZ_MEMBER("library", tz_jump_prediction, facts.library),
    TZ_MEMBER("memory_bytes", tz_jump_prediction, facts.bytes),
    {.key = NULL}};

OF_JUMP(workload, tz_cell_row(tz_workload_columns, NULL, c->workload));
OF_JUMP(csv_workload, tz_cell_row(tz_workload_csv_columns, NULL, c->workload));
OF_JUMP(model, tz_cell_text(c->table->by->name));
OF_JUMP(plan, tz_cell_row(tz_plan_columns, &c->workload->problem.dims,
                          &c->table->rows[c->table->best].plan));
OF_JUMP(predicted, tz_cell_row(predicted_jump_columns, c, r));
OF_JUMP(measured, r->rounds > 0 ? tz_cell_row(measured_jump_columns, c, r) : TZ_NULL_CELL);

const tz_sheet_column tz_jump_columns[] = {
    {.part = tz_workload_columns, .get = jump_workload},
    {.part = tz_workload_csv_columns, .get = jump_csv_workload},
    {.key = "model", .get = jump_model},
    {.key = "plan", .part = tz_plan_columns, .get = jump_plan},
    TZ_MEMBER("steps", tz_jump_prediction, steps),
    TZ_MEMBER("source", tz_jump_prediction, affine),
    {.key = "predicted", .part = predicted_jump_columns, .get = jump_predicted},
    {.key = "measured", .part = measured_jump_columns, .get = jump_measured},
    {.key = NULL}};
