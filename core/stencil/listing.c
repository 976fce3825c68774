/* Rows and columns of descriptions of stencils. Called by cli/cmd_plugins.c and
 * library/session.c. */
#include "stencil/listing.h"

#include <math.h>

void tz_listed_stencil_of(tz_listed_stencil *out, const tz_plugin *plugin,
                          const tz_stencil *stencil)
{
    out->plugin = plugin;
    out->stencil = stencil;
    for (int i = 0; i < TZ_BOUNDARIES; i++)
        if (stencil->boundaries & TZ_ALLOW(i))
            out->boundaries[out->boundaries_count++] = tz_boundary_name((tz_boundary)i);
    for (int i = 0; i < stencil->constants_count; i++)
        if (stencil->constants[i].varies)
            out->scalars[out->scalars_count++] = stencil->constants[i].name;
}

static tz_cell finite_cell(double value)
{
    return isfinite(value) ? tz_cell_real(value) : TZ_NULL_CELL;
}

static bool is_number(const tz_param *param)
{
    return param->type == TZ_PARAM_REAL || param->type == TZ_PARAM_INTEGER;
}

static tz_cell default_cell(const tz_param *param)
{
    return is_number(param)               ? finite_cell(param->value)
           : param->type == TZ_PARAM_FLAG ? tz_cell_flag(param->value != 0)
                                          : tz_cell_text(param->text);
}

#define OF_PARAM(name, expression) TZ_GETTER(param_##name, void, tz_param, expression)
OF_PARAM(type, tz_cell_text(tz_param_type_name(r->type)));
OF_PARAM(role,
         r->role != TZ_PARAM_ROLE_NONE ? tz_cell_text(tz_param_role_name(r->role)) : TZ_NO_CELL);
OF_PARAM(choices, r->type == TZ_PARAM_CHOICE ? tz_cell_text(r->choices) : TZ_NO_CELL);
OF_PARAM(default, default_cell(r));
OF_PARAM(min, is_number(r) ? finite_cell(r->min) : TZ_NO_CELL);
OF_PARAM(max, is_number(r) ? finite_cell(r->max) : TZ_NO_CELL);

static const tz_sheet_column param_columns[] = {
    TZ_MEMBER("name", tz_param, name),        {.key = "type", .get = param_type},
    TZ_MEMBER("unit", tz_param, unit),        TZ_MEMBER("doc", tz_param, doc),
    {.key = "role", .get = param_role},       {.key = "choices", .get = param_choices},
    {.key = "default", .get = param_default}, {.key = "min", .get = param_min},
    {.key = "max", .get = param_max},         {.key = NULL}};

#define OF_FIELD(name, expression) TZ_GETTER(field_##name, void, tz_field, expression)
OF_FIELD(role, tz_cell_text(tz_role_name(r->role)));
OF_FIELD(type, tz_cell_text(tz_type_name(r->type)));
OF_FIELD(required, tz_cell_flag(r->required));
OF_FIELD(initial, finite_cell(r->initial));

static const tz_sheet_column field_columns[] = {
    TZ_MEMBER("name", tz_field, name),        {.key = "role", .get = field_role},
    {.key = "type", .get = field_type},       TZ_MEMBER("unit", tz_field, unit),
    TZ_MEMBER("doc", tz_field, doc),          {.key = "required", .get = field_required},
    {.key = "default", .get = field_initial}, {.key = NULL}};

static const tz_sheet_column method_columns[] = {
    TZ_MEMBER("name", tz_method, name), TZ_MEMBER("doc", tz_method, doc), {.key = NULL}};

#define OF_STENCIL(name, expression) TZ_GETTER(stencil_##name, void, tz_listed_stencil, expression)
OF_STENCIL(plugin, tz_cell_text(r->plugin->id));
OF_STENCIL(id, tz_cell_text(r->stencil->id));
OF_STENCIL(doc, tz_cell_text(r->stencil->doc));
OF_STENCIL(dims, tz_cell_integer(r->stencil->dims));
OF_STENCIL(radius, tz_cell_integer(tz_stencil_radius(r->stencil)));
OF_STENCIL(passes, tz_cell_integer(r->stencil->passes_count));
OF_STENCIL(steps, tz_cell_integer(r->stencil->steps > 1 ? r->stencil->steps : 1));
OF_STENCIL(boundary, tz_cell_text(tz_boundary_name(r->stencil->boundary)));
OF_STENCIL(boundaries, tz_cell_names(r->boundaries_count, r->boundaries, sizeof *r->boundaries));
OF_STENCIL(fields,
           TZ_ROWS_OF(field_columns, r->stencil->fields, tz_stencil_fields_all(r->stencil)));
OF_STENCIL(params, TZ_ROWS_OF(param_columns, r->stencil->params, r->stencil->params_count));
OF_STENCIL(scalars, tz_cell_names(r->scalars_count, r->scalars, sizeof *r->scalars));
OF_STENCIL(methods, TZ_ROWS_OF(method_columns, r->stencil->methods, r->stencil->methods_count));

const tz_sheet_column tz_stencil_columns[] = {
    {.key = "plugin", .forms = TZ_IN_CSV, .get = stencil_plugin},
    {.key = "id", .get = stencil_id},
    {.key = "doc", .get = stencil_doc},
    {.key = "dims", .get = stencil_dims},
    {.key = "radius", .get = stencil_radius},
    {.key = "passes", .get = stencil_passes},
    {.key = "steps", .get = stencil_steps},
    {.key = "boundary", .get = stencil_boundary},
    {.key = "boundaries", .get = stencil_boundaries},
    {.key = "fields", .forms = TZ_IN_JSON, .get = stencil_fields},
    {.key = "parameters", .forms = TZ_IN_JSON, .get = stencil_params},
    {.key = "scalars", .get = stencil_scalars},
    {.key = "methods", .forms = TZ_IN_JSON, .get = stencil_methods},
    {.key = NULL}};

struct json_t *tz_listed_stencil_json(const tz_stencil *stencil)
{
    tz_listed_stencil row = {.plugin = NULL};
    tz_listed_stencil_of(&row, NULL, stencil);
    return tz_row_json(tz_stencil_columns, NULL, &row);
}
