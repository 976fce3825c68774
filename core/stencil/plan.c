/* Plans: names, texts and comparison of their knobs. */
#include "stencil/plan.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

bool tz_plan_equal(const tz_plan *a, const tz_plan *b)
{
    bool equal = a->height == b->height && memcmp(a->tile, b->tile, sizeof a->tile) == 0 &&
                 strcmp(a->family, b->family) == 0;
    for (int k = 0; k < TZ_PLAN_KNOBS_COUNT; k++)
        equal = equal && tz_plan_get(a, k) == tz_plan_get(b, k);
    return equal;
}

/* ---- Knobs ----------------------------------------------------------------------------------- */

#define KNOB(name, least, most, doc) {#name, least, most, doc, offsetof(tz_plan, name)},
const tz_plan_knob tz_plan_knobs[TZ_PLAN_KNOBS_COUNT] = {TZ_PLAN_KNOBS(KNOB)};
#undef KNOB

int tz_plan_get(const tz_plan *plan, int knob)
{
    return *(const int *)((const char *)plan + tz_plan_knobs[knob].offset);
}

void tz_plan_set(tz_plan *plan, int knob, int value)
{
    *(int *)((char *)plan + tz_plan_knobs[knob].offset) = value;
}

const char *tz_plan_first_knob(const tz_plan *plan)
{
    for (int k = 0; k < TZ_PLAN_KNOBS_COUNT; k++)
        if (tz_plan_get(plan, k) != 0)
            return tz_plan_knobs[k].name;
    return NULL;
}

/* ---- Text ------------------------------------------------------------------------------------ */

void tz_plan_tile_text(const tz_plan *plan, int dims, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "-");
    for (int axis = 0; axis < dims && used < size; axis++)
        if (plan->tile[axis] > 0)
            used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, used ? " x " : "",
                                     plan->tile[axis]);
}

void tz_plan_text(const tz_plan *plan, int dims, char *text, size_t size)
{
    char tile[TZ_PLAN_TEXT_SIZE];
    tz_plan_tile_text(plan, dims, tile, sizeof tile);
    size_t used =
        (size_t)snprintf(text, size, "%s, height %d, tile %s", plan->family, plan->height, tile);
    for (int k = 0; k < TZ_PLAN_KNOBS_COUNT && used < size; k++)
        if (tz_plan_get(plan, k) != 0)
            used += (size_t)snprintf(text + used, size - used, ", %s %d", tz_plan_knobs[k].name,
                                     tz_plan_get(plan, k));
}

/* ---- Columns --------------------------------------------------------------------------------- */

TZ_GETTER(get_tile, int, tz_plan, tz_cell_integers(*c, r->tile));

#define KNOB_COLUMN(name, least, most, doc) TZ_MEMBER(#name, tz_plan, name, .sparse = true),
const tz_sheet_column tz_plan_columns[] = {
    TZ_MEMBER("family", tz_plan, family, .forms = TZ_IN_JSON | TZ_IN_LUA),
    TZ_MEMBER("height", tz_plan, height),
    TZ_MEMBER("family", tz_plan, family, .forms = TZ_IN_CSV),
    {.key = "tile", .get = get_tile, .forms = TZ_IN_JSON | TZ_IN_LUA},
    TZ_MEMBER("tile_x", tz_plan, tile[0], .forms = TZ_IN_CSV),
    TZ_MEMBER("tile_y", tz_plan, tile[1], .forms = TZ_IN_CSV),
    TZ_MEMBER("tile_z", tz_plan, tile[2], .forms = TZ_IN_CSV),
    TZ_PLAN_KNOBS(KNOB_COLUMN){.key = NULL}};

/* ---- JSON ------------------------------------------------------------------------------------ */

json_t *tz_plan_to_json(const tz_plan *plan, int dims)
{
    return tz_row_json(tz_plan_columns, &dims, plan);
}

static bool read_integer(const json_t *value, int64_t least, int64_t most, int64_t *out)
{
    *out = json_integer_value(value);
    return json_is_integer(value) && *out >= least && *out <= most;
}

bool tz_plan_from_json(const json_t *object, tz_plan *out)
{
    const char *family = json_string_value(json_object_get(object, "family"));
    const json_t *tile = json_object_get(object, "tile");
    const size_t axes = json_array_size(tile);
    tz_plan plan = {.height = 0};
    int64_t value;
    *out = plan;
    if (!family || strlen(family) >= sizeof plan.family || axes < 1 || axes > TZ_AXES ||
        !read_integer(json_object_get(object, "height"), 1, TZ_PLAN_HEIGHT_MAX, &value))
        return false;
    strcpy(plan.family, family);
    plan.height = (int)value;
    for (size_t axis = 0; axis < axes; axis++)
        if (!read_integer(json_array_get(tile, axis), 0, INT64_MAX, &plan.tile[axis]))
            return false;
    for (int k = 0; k < TZ_PLAN_KNOBS_COUNT; k++) {
        const json_t *entry = json_object_get(object, tz_plan_knobs[k].name);
        if (!entry)
            continue;
        if (!read_integer(entry, 0, tz_plan_knobs[k].most, &value))
            return false;
        tz_plan_set(&plan, k, (int)value);
    }
    *out = plan;
    return true;
}
