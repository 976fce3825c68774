/* What the device texts of all families begin with: definitions, lists of fields, passes and
 * constants. */
#include "backend/cuda/family/text.h"

#include "backend/cuda/family/arguments.h"
#include "backend/host/store.h"
#include "stencil/points.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tz_cuda_emit(tz_cuda_text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tz_buffer_add_v(t, format, arguments);
    va_end(arguments);
}

const char *tz_cuda_memory_type(const tz_problem *problem, int field,
                                char text[TZ_CUDA_MEMORY_TYPE_SIZE])
{
    const tz_storage *storage = &problem->storage[field];
    const tz_type type = problem->stencil->fields[field].type;
    uint32_t add, scale;
    memcpy(&add, &storage->add, sizeof add);
    memcpy(&scale, &storage->scale, sizeof scale);
    if (!tz_problem_as_computed(problem, field))
        snprintf(text, TZ_CUDA_MEMORY_TYPE_SIZE, "tz_half<0x%08x%08xull>", add, scale);
    else
        snprintf(text, TZ_CUDA_MEMORY_TYPE_SIZE, "%s",
                 tz_type_is_real(type) ? tz_problem_real(problem)->c_type : tz_type_keyword(type));
    return text;
}

void tz_cuda_emit_sizes(tz_cuda_text *t, const tz_problem *problem, int height,
                        const int64_t tile[TZ_AXES])
{
    const int halo = height * tz_stencil_reach(problem->stencil);
    char kinds[TZ_BOUNDARIES * 40] = "";
    for (int b = 0; b < TZ_BOUNDARIES; b++)
        snprintf(kinds + strlen(kinds), 40, "#define %s %d\n", tz_boundary_c_name((tz_boundary)b),
                 b);
    tz_cuda_emit(t,
                 "#define real %s\n#define TZ_FMA(a, b, c) %s((a), (b), "
                 "(c))\n"
                 "%s#define TZ_DIMS %d\n#define TZ_BITS_GRID %d\n#define TZ_FIELDS_COUNT "
                 "%d\n#define TZ_EDGES "
                 "%d\n"
                 "#define TZ_CONSTANTS_MAX %d\n#define TZ_HEIGHT %d\n",
                 tz_problem_real(problem)->c_type, tz_problem_real(problem)->fma, kinds,
                 problem->dims, problem->bits, problem->stencil->fields_count,
                 tz_cuda_edges(problem), tz_cuda_arguments_constants(problem->stencil), height);
    for (int d = 0; d < TZ_AXES; d++) {
        const bool used = d < problem->dims;
        tz_cuda_emit(t,
                     "#define TZ_LOW_%c %d\n#define TZ_HIGH_%c %d\n#define TZ_TILE_%c %" PRId64
                     "\n#define TZ_HALO_%c %d\n",
                     "XYZ"[d], (int)problem -> boundary[d][0], "XYZ"[d],
                     (int)problem -> boundary[d][1], "XYZ"[d], used ? tile[d] : 1, "XYZ"[d],
                     used ? halo : 0);
    }
    if (problem->slab.of)
        tz_cuda_emit(t, "#define TZ_SLAB\n");
    /* Texts list derived fields, too. No kernel has them. */
    for (int f = 0; f < tz_stencil_fields_all(problem->stencil); f++) {
        char memory[TZ_CUDA_MEMORY_TYPE_SIZE];
        tz_cuda_emit(t, "#define TZ__KIND_%s %s\n#define TZ__MEMORY_%s %s\n",
                     tz_text_field(problem->stencil, f),
                     tz_role_name(problem->stencil->fields[f].role),
                     tz_text_field(problem->stencil, f),
                     tz_cuda_memory_type(problem->narrow ? problem->narrow : problem, f, memory));
    }
}

void tz_cuda_emit_points(tz_cuda_text *t, const tz_problem *problem)
{
    const tz_stencil *s = problem->stencil;
    if (!problem->points)
        return;
    tz_cuda_emit(t, "#define TZ_POINTS 1\n#define TZ_DUE_LIST ");
    for (int p = 0; p < s->passes_count; p++) {
        uint32_t due = 0;
        for (int f = 0; f < s->fields_count; f++)
            due |= (uint32_t)tz_points_due(problem->points, s, p, f) << f;
        tz_cuda_emit(t, "%s0x%xu", p > 0 ? ", " : "", due);
    }
    tz_cuda_emit(t, "\n");
}

void tz_cuda_emit_pass(tz_cuda_text *t, const tz_problem *problem, int p)
{
    const tz_pass *pass = &problem->stencil->passes[p];
    tz_cuda_emit(t,
                 "#undef TZ_FIELDS\n#undef TZ_CONSTANTS\n#undef TZ_READS\n#undef "
                 "TZ_CELL_RADIUS\n#undef TZ_CELL_DIMS\n#undef TZ_CELL_FRAME\n"
                 "#define TZ_CELL_RADIUS %d\n#define TZ_CELL_DIMS %d\n",
                 pass->radius, problem->dims);
    const char *at = pass->text_defines ? pass->text_defines : "";
    while (*at) {
        const size_t length = strcspn(at, " ");
        const size_t name = strcspn(at, "= ");
        tz_cuda_emit(t, "#undef %.*s\n#define %.*s %.*s\n", (int)name, at, (int)name, at,
                     (int)(length > name ? length - name - 1 : 0), at + name + 1);
        at += length;
        at += strspn(at, " ");
    }
    tz_cuda_emit(
        t,
        "#include \"trapeze/rows_names.h\"\nnamespace pass_%d {\n#line 1 \"%s\"\n%s\n}\n#line 1 "
        "\"kernel\"\n",
        p, pass->text_file, pass->text);
}

void tz_cuda_emit_fields(tz_cuda_text *t, const tz_problem *problem, const char *list,
                         uint32_t fields)
{
    const tz_stencil *s = problem->stencil;
    tz_cuda_emit(t, "#define %s(D)", list);
    for (int f = 0; f < s->fields_count; f++)
        if (fields >> f & 1)
            tz_cuda_emit(t, " \\\n    D(%s, %s, %s, %d)", tz_role_name(s->fields[f].role),
                         tz_text_field(s, f), tz_type_keyword(s->fields[f].type), f);
    tz_cuda_emit(t, "\n");
}

/* Constants that vary are in slots of their own: tz_t is the iteration of the launch. */
static void emit_constants(tz_cuda_text *t, const tz_problem *problem)
{
    const tz_stencil *s = problem->stencil;
    int varying = 0;
    tz_cuda_emit(t, "#define TZ_CONSTANT_LIST(D)");
    for (int k = 0; k < s->constants_count; k++) {
        const char *name = tz_text_constant(s, k);
        const char *member = tz_element_type_of(s->constants[k].type, problem->precision)->member;
        if (s->constants[k].varies)
            tz_cuda_emit(t, " \\\n    D(%s, (%s)a.varying[tz_t * TZ_VARYING + %d].%s)", name,
                         tz_type_keyword(s->constants[k].type), varying++, member);
        else if (tz_type_is_real(s->constants[k].type))
            tz_cuda_emit(t, " \\\n    D(%s, a.constants[%d].%s)", name, k, member);
        else
            tz_cuda_emit(t, " \\\n    D(%s, (int)%" PRId64 "LL)", name, problem->constants[k].i);
    }
    tz_cuda_emit(t, "\n#define TZ_VARYING %d\n#define TZ_VARYING_SLOTS %d\n", varying,
                 tz_cuda_varying_slots(problem));
}

void tz_cuda_emit_lists(tz_cuda_text *t, const tz_problem *problem)
{
    const tz_stencil *s = problem->stencil;
    tz_cuda_emit_fields(t, problem, "TZ_FIELD_LIST", ~0u);
    tz_cuda_emit_fields(t, problem, "TZ_WRITTEN_LIST", tz_problem_written(problem));
    tz_cuda_emit(t, "#define TZ_PASS_LIST(D)");
    for (int p = 0; p < s->passes_count; p++)
        tz_cuda_emit(t, " \\\n    D(%d, %s, %d)", p, s->passes[p].text_cell, s->passes[p].radius);
    tz_cuda_emit(t, "\n");
    for (int p = 0; p < s->passes_count; p++) {
        char list[32];
        snprintf(list, sizeof list, "TZ_WRITES_%d", p);
        tz_cuda_emit_fields(t, problem, list, s->passes[p].writes);
    }
    emit_constants(t, problem);
}
