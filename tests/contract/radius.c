/* The declared radius is the real one: traced read by read. */
#include "contract.h"

#include "stencil/probe.h"
#include "stencil/stencil.h"
#include <string.h>

static bool is_listed(const tz_pass *pass, int field)
{
    for (int i = 0; i < pass->reads_count; i++)
        if (pass->reads[i].field == field && strcmp(pass->reads[i].cell, pass->text_cell) == 0)
            return true;
    return false;
}

/* The text reads no farther than it declares, or the plugin would not have been loaded; here, also
 * not less far. What TZ_READS lists must be exact. */
static void trace_pass(contract *c, const tz_pass *pass, tz_precision precision,
                       int field_reach[TZ_FIELDS_MAX])
{
    const tz_stencil *s = c->stencil;
    tz_probe_seen seen[TZ_FIELDS_MAX];
    tz_error error = {0};
    if (tz_probe_cell(s, pass, precision, c->plugin->id, seen, &error) != TZ_OK) {
        contract_fail(c, "%s", error.message);
        return;
    }
    int reach = 0;
    for (int f = 0; f < s->fields_count; f++) {
        const tz_reads declared = tz_stencil_reads(s, pass, f);
        c->compared++;
        if (seen[f].read_when_written && s->fields[f].role == TZ_STATE)
            contract_fail(c, "pass '%s' reads '%s' after it wrote it: put all TZ_PUT at the end",
                          pass->name, s->fields[f].name);
        for (int axis = 0; axis < TZ_AXES; axis++) {
            const int low = seen[f].low[axis], high = seen[f].high[axis];
            const int far = -low > high ? -low : high;
            reach = far > reach ? far : reach;
            if (s->fields[f].role != TZ_STATE && far > field_reach[f])
                field_reach[f] = far;
            if (is_listed(pass, f) && (low > declared.low[axis] || high < declared.high[axis]))
                contract_fail(
                    c,
                    "pass '%s' reads '%s' from %d to %d on axis %c, but its TZ_READS says "
                    "%d to %d: ghost zones are larger than they need to be",
                    pass->name, s->fields[f].name, low, high, "xyz"[axis], declared.low[axis],
                    declared.high[axis]);
        }
    }
    if (reach < pass->radius)
        contract_fail(c,
                      "pass '%s' declares radius %d, but reads at most %d cells away: ghost zones "
                      "are larger than they need to be",
                      pass->name, pass->radius, reach);
}

static void trace_stencil(contract *c, int precision)
{
    const tz_stencil *s = c->stencil;
    int reach[TZ_FIELDS_MAX] = {0};
    for (int pass = 0; pass < s->passes_count + s->outputs_count; pass++)
        trace_pass(c,
                   pass < s->passes_count ? &s->passes[pass] : &s->outputs[pass - s->passes_count],
                   precision == TZ_DOUBLE ? TZ_DOUBLE : TZ_SINGLE, reach);
    for (int f = 0; f < s->fields_count; f++)
        if (s->fields[f].role != TZ_STATE && s->fields[f].role != TZ_DERIVED &&
            reach[f] != s->fields[f].radius)
            contract_fail(c, "field '%s' declares radius %d, but is read %d cells away",
                          s->fields[f].name, s->fields[f].radius, reach[f]);
}

void contract_radius(contract *c)
{
    int precisions[TZ_PRECISIONS];
    const int count = contract_precisions(c, precisions);
    for (int p = 0; p < count; p++)
        trace_stencil(c, precisions[p]);
}
