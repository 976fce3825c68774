/* Facts about a stencil that follow from its description. */
#include "stencil/stencil.h"

#include "base/names.h"
#include <string.h>

const char *tz_role_name(tz_role role)
{
    static const char *const names[] = {"state", "static", "streamed", "derived"};
    return names[role];
}

const char *tz_param_type_name(tz_param_type type)
{
    static const char *const names[] = {"real", "integer", "flag", "text", "choice"};
    return names[type];
}

const char *tz_param_role_name(tz_param_role role)
{
    static const char *const names[] = {
        "",           "rule",    "extent_x_m", "extent_y_m", "allow_unstable", "time_step",
        "extent_z_m", "spacing", "spacing_x",  "spacing_y",  "spacing_z"};
    return names[role];
}

int tz_stencil_radius(const tz_stencil *stencil)
{
    int radius = 0;
    for (int p = 0; p < stencil->passes_count; p++)
        if (stencil->passes[p].radius > radius)
            radius = stencil->passes[p].radius;
    return radius;
}

bool tz_stencil_may_read(const tz_stencil *stencil, const tz_pass *pass, int field)
{
    bool any = false;
    for (int i = 0; i < pass->reads_count; i++) {
        const bool own = strcmp(pass->reads[i].cell, pass->text_cell) == 0;
        if (own && pass->reads[i].field == field)
            return true;
        any = any || own;
    }
    const bool is_output = (uint64_t)pass->writes >> stencil->fields_count != 0;
    return !(any && is_output);
}

tz_reads tz_stencil_reads(const tz_stencil *stencil, const tz_pass *pass, int field)
{
    const tz_field *f = &stencil->fields[field];
    const int radius = f->role == TZ_STATE ? pass->radius : f->radius;
    tz_reads reads = {.field = field};
    for (int i = 0; i < pass->reads_count; i++) {
        const tz_reads *listed = &pass->reads[i];
        if (listed->field == field && strcmp(listed->cell, pass->text_cell) == 0) {
            reads = *listed;
            reads.cell = NULL;
            return reads;
        }
    }
    for (int axis = 0; axis < stencil->dims; axis++) {
        reads.low[axis] = -radius;
        reads.high[axis] = radius;
    }
    return reads;
}

/* Whether a pass reads a field beside the cell. */
static bool is_read_around(const tz_stencil *stencil, int field)
{
    for (int p = 0; p < stencil->passes_count; p++) {
        const tz_reads reads = tz_stencil_reads(stencil, &stencil->passes[p], field);
        for (int axis = 0; axis < stencil->dims; axis++)
            if (reads.low[axis] != 0 || reads.high[axis] != 0)
                return true;
    }
    return false;
}

int tz_stencil_takes(const tz_stencil *stencil, const tz_pass *pass, int field)
{
    const int from = pass->takes[field] - 1;
    uint32_t written = 0;
    if (from < 0 || is_read_around(stencil, field))
        return -1;
    for (int p = 0; p < stencil->passes_count; p++) {
        const tz_pass *other = &stencil->passes[p];
        written |= other->writes;
        for (int f = 0; f < stencil->fields_count; f++)
            if ((f != field && other->takes[f] - 1 == from) ||
                (stencil->passes_count > 1 && other->takes[f] - 1 == field))
                return -1;
    }
    return written >> from & 1 ? from : -1;
}

tz_reach tz_pass_reach(const tz_stencil *stencil, const tz_pass *pass)
{
    tz_reach reach = {{0}, {0}};
    for (int f = 0; f < stencil->fields_count; f++) {
        if (stencil->fields[f].role != TZ_STATE)
            continue;
        const tz_reads reads = tz_stencil_reads(stencil, pass, f);
        for (int axis = 0; axis < TZ_AXES; axis++) {
            if (-reads.low[axis] > reach.low[axis])
                reach.low[axis] = -reads.low[axis];
            if (reads.high[axis] > reach.high[axis])
                reach.high[axis] = reads.high[axis];
        }
    }
    return reach;
}

int tz_stencil_reach_along(const tz_stencil *stencil, int axis)
{
    int most = 0;
    for (int p = 0; p < stencil->passes_count; p++) {
        const tz_reach reach = tz_pass_reach(stencil, &stencil->passes[p]);
        most = reach.low[axis] > most ? reach.low[axis] : most;
        most = reach.high[axis] > most ? reach.high[axis] : most;
    }
    return most;
}

tz_reach tz_stencil_reach_sides(const tz_stencil *stencil)
{
    tz_reach sum = {{0}, {0}};
    for (int p = 0; p < stencil->passes_count; p++) {
        const tz_reach reach = tz_pass_reach(stencil, &stencil->passes[p]);
        for (int axis = 0; axis < TZ_AXES; axis++) {
            sum.low[axis] += reach.low[axis];
            sum.high[axis] += reach.high[axis];
        }
    }
    return sum;
}

int tz_stencil_reach(const tz_stencil *stencil)
{
    int sum = 0;
    for (int p = 0; p < stencil->passes_count; p++)
        sum += stencil->passes[p].radius;
    return sum;
}

int tz_pass_slabs(const tz_pass *pass, int dims)
{
    return pass->slabs > 0 ? pass->slabs : TZ_SLABS_IN_PLACE(dims);
}

tz_row_fn *tz_kernels_rows(const tz_kernels *kernels, tz_isa isa, tz_precision precision)
{
    for (int i = 0; i < kernels->forms_count; i++)
        if (strcmp(kernels->forms[i].isa, tz_isa_form(isa)) == 0)
            return kernels->forms[i].rows[precision];
    return NULL;
}

int tz_stencil_has_real(const tz_stencil *stencil)
{
    for (int f = 0; f < stencil->fields_count; f++)
        if (tz_type_is_real(stencil->fields[f].type))
            return 1;
    for (int c = 0; c < stencil->constants_count; c++)
        if (tz_type_is_real(stencil->constants[c].type))
            return 1;
    return 0;
}

int tz_stencil_precisions(const tz_stencil *stencil)
{
    return tz_stencil_has_real(stencil) ? TZ_PRECISIONS : 1;
}

/* Records what a cell update reads. */
typedef struct recorder {
    tz_cell_access access; /* first: the cell function gets a pointer to it */
    bool diagonal;
    int64_t one; /* as an integer; as a real it is next to 0 */
    double written[TZ_FIELDS_MAX];
} recorder;

static const void *record_read(const tz_cell_access *access, int field, int dx, int dy, int dz)
{
    recorder *r = (recorder *)(uintptr_t)access; /* the object is not const */
    (void)field;
    r->diagonal = r->diagonal || (dx != 0) + (dy != 0) + (dz != 0) > 1;
    return &r->one;
}

static void *record_write(const tz_cell_access *access, int field)
{
    return &((recorder *)(uintptr_t)access)->written[field];
}

bool tz_pass_reads_diagonals(const tz_pass *pass)
{
    tz_slot constants[TZ_CONSTANTS_MAX];
    recorder r = {.access = {record_read, record_write, constants, .engine = pass->engine},
                  .one = 1};
    for (int k = 0; k < TZ_CONSTANTS_MAX; k++)
        constants[k].i = 1;
    pass->kernels->cell[0](&r.access);
    return r.diagonal;
}

bool tz_stencil_reads_diagonals(const tz_stencil *stencil)
{
    for (int p = 0; p < stencil->passes_count; p++)
        if (tz_pass_reads_diagonals(&stencil->passes[p]))
            return true;
    return false;
}

int tz_stencil_fields_all(const tz_stencil *stencil)
{
    int count = stencil->fields_count;
    for (int p = 0; p < stencil->outputs_count; p++)
        while (count < TZ_FIELDS_MAX && stencil->outputs[p].writes >> count)
            count++;
    return count;
}

const tz_pass *tz_stencil_output(const tz_stencil *stencil, int field)
{
    for (int p = 0; p < stencil->outputs_count; p++)
        if (stencil->outputs[p].writes >> field & 1)
            return &stencil->outputs[p];
    return NULL;
}

uint32_t tz_stencil_sources(const tz_stencil *stencil, uint32_t fields)
{
    uint32_t sources = (uint32_t)(fields & ((UINT64_C(1) << stencil->fields_count) - 1));
    for (int derived = stencil->fields_count; derived < tz_stencil_fields_all(stencil); derived++)
        for (int f = 0; f < stencil->fields_count && fields >> derived & 1; f++)
            if (tz_stencil_may_read(stencil, tz_stencil_output(stencil, derived), f))
                sources |= 1u << f;
    return sources;
}

int tz_stencil_field_index(const tz_stencil *stencil, const char *name)
{
    for (int f = 0; f < tz_stencil_fields_all(stencil); f++)
        if (strcmp(stencil->fields[f].name, name) == 0)
            return f;
    return -1;
}

int tz_stencil_param_index(const tz_stencil *stencil, const char *name)
{
    for (int p = 0; p < stencil->params_count; p++)
        if (strcmp(stencil->params[p].name, name) == 0)
            return p;
    return -1;
}

tz_status tz_stencil_find_param(const tz_stencil *stencil, const char *name, int *out,
                                tz_error *error)
{
    char hint[512];
    *out = tz_stencil_param_index(stencil, name);
    return *out >= 0
               ? TZ_OK
               : tz_error_set(error, TZ_UNKNOWN, NULL, "%s has no parameter '%.60s'%s", stencil->id,
                              name,
                              TZ_NAMES_HINT(hint, name, stencil->params, stencil->params_count));
}

tz_status tz_stencil_unknown_field(const tz_stencil *stencil, const char *name, const char *place,
                                   tz_error *error)
{
    char hint[512];
    return tz_error_set(error, TZ_UNKNOWN, place, "unknown field '%s' of '%s'%s", name, stencil->id,
                        TZ_NAMES_HINT(hint, name, stencil->fields, stencil->fields_count));
}

int tz_stencil_param_of_role(const tz_stencil *stencil, tz_param_role role)
{
    for (int p = 0; p < stencil->params_count; p++)
        if (stencil->params[p].role == role)
            return p;
    return -1;
}

static int excluding(const tz_stencil *stencil, bool outside)
{
    for (int f = 0; f < stencil->fields_count; f++)
        if (stencil->fields[f].excludes &&
            (stencil->fields[f].excludes == TZ_EXCLUDES_OUTSIDE) == outside)
            return f;
    return -1;
}

int tz_stencil_excluding(const tz_stencil *stencil)
{
    return excluding(stencil, false);
}

int tz_stencil_domain(const tz_stencil *stencil)
{
    return excluding(stencil, true);
}
