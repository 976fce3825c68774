#include "cuda/source.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* kernels/cuda/tile.cuh, found by the assembler through the build's -Wa,-I. */
__asm__(
    ".pushsection .rodata\ntz_cuda_tile_text:\n.incbin \"cuda/tile.cuh\"\n.byte 0\n.popsection\n");
extern const char tz_cuda_tile_text[] __attribute__((visibility("hidden")));

/* ---- Arguments: offsets as the device compiler lays the struct out ----------------------------
 */

size_t tz_cuda_arguments_size(int fields)
{
    return (size_t)fields * 24 + TZ_CUDA_KERNEL_CONSTANTS * 8 + 8 + 6 * 4;
}

void tz_cuda_arguments_fill(const tz_problem *problem, int height, int64_t step,
                            const tz_cu_pointer *in, const tz_cu_pointer *out, void *arguments)
{
    const int fields = problem->stencil->fields_count;
    char *at = arguments;
    memset(at, 0, tz_cuda_arguments_size(fields));
    memcpy(at, in, (size_t)fields * 8);
    at += fields * 8;
    memcpy(at, out, (size_t)fields * 8);
    at += fields * 8;
    for (int f = 0; f < fields; f++, at += 8)
        tz_problem_element(problem, f, problem->boundary_value[f], at);
    memcpy(at, problem->constants, sizeof(tz_slot) * TZ_CUDA_KERNEL_CONSTANTS);
    at += TZ_CUDA_KERNEL_CONSTANTS * 8;
    memcpy(at, &step, 8);
    const int32_t numbers[] = {(int32_t)problem->elements[0],
                               (int32_t)problem->elements[1],
                               (int32_t)problem->elements[2],
                               (int32_t)problem->extent[0],
                               height,
                               0};
    memcpy(at + 8, numbers, sizeof numbers);
}

int64_t tz_cuda_tile_shared_bytes(const tz_problem *problem, const tz_plan *plan)
{
    const int64_t halo = (int64_t)plan->height * tz_stencil_reach(problem->stencil);
    int64_t elements = 1, bytes = 0;
    for (int d = 0; d < problem->dims; d++)
        elements *= plan->tile[d] + 2 * halo;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role == TZ_STATE)
            bytes += 2 * elements * (int64_t)tz_problem_element_size(problem, f);
    return bytes;
}

/* ---- Text ------------------------------------------------------------------------------------ */

typedef struct text {
    char *at;
    size_t length, room;
    bool failed;
} text;

__attribute__((format(printf, 2, 3))) static void say(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (t->length + (size_t)length + 1 > t->room) {
        const size_t room = 2 * (t->length + (size_t)length + 1024);
        char *larger = t->failed ? NULL : realloc(t->at, room);
        if (!larger) {
            t->failed = true;
            return;
        }
        t->at = larger;
        t->room = room;
    }
    va_start(arguments, format);
    vsnprintf(t->at + t->length, t->room - t->length, format, arguments);
    va_end(arguments);
    t->length += (size_t)length;
}

static const char *type_name(tz_type type)
{
    return type == TZ_REAL ? "real" : type == TZ_INT ? "int" : "tz_word";
}

static void say_sizes(text *t, const tz_problem *problem, const tz_plan *plan)
{
    const int halo = plan->height * tz_stencil_reach(problem->stencil);
    say(t,
        "typedef unsigned int tz_word;\n#define real %s\n#define TZ_FMA(a, b, c) %s((a), (b), "
        "(c))\n"
        "#define TZ_CLAMP 0\n#define TZ_PERIODIC 1\n#define TZ_FIXED 2\n#define TZ_MIRROR 3\n"
        "#define TZ_DIMS %d\n#define TZ_BITS_GRID %d\n#define TZ_FIELDS_COUNT %d\n"
        "#define TZ_CONSTANTS_MAX %d\n#define TZ_HEIGHT %d\n#define TZ_THREADS %d\n",
        problem->precision == TZ_DOUBLE ? "double" : "float",
        problem->precision == TZ_DOUBLE ? "__fma_rn" : "__fmaf_rn", problem->dims, problem->bits,
        problem->stencil->fields_count, TZ_CUDA_KERNEL_CONSTANTS, plan->height, TZ_CUDA_THREADS);
    for (int d = 0; d < TZ_AXES; d++) {
        const bool used = d < problem->dims;
        say(t, "#define TZ_BOUNDARY_%c %d\n#define TZ_TILE_%c %" PRId64 "\n#define TZ_HALO_%c %d\n",
            "XYZ"[d], (int)problem -> boundary[d], "XYZ"[d], used ? plan->tile[d] : 1, "XYZ"[d],
            used ? halo : 0);
    }
    for (int f = 0; f < problem->stencil->fields_count; f++)
        say(t, "#define TZ__KIND_%s %s\n", problem->stencil->fields[f].name,
            tz_role_name(problem->stencil->fields[f].role));
}

/* The cell update of a pass in a namespace of its own: two passes may share a text. */
static void say_pass_text(text *t, const tz_problem *problem, int p)
{
    const tz_pass *pass = &problem->stencil->passes[p];
    say(t,
        "#undef TZ_FIELDS\n#undef TZ_CONSTANTS\n#undef TZ_CELL_RADIUS\n#undef TZ_CELL_DIMS\n"
        "#define TZ_CELL_RADIUS %d\n#define TZ_CELL_DIMS %d\n",
        pass->radius, problem->dims);
    const char *at = pass->text_defines ? pass->text_defines : "";
    while (*at) {
        const size_t length = strcspn(at, " ");
        const size_t name = strcspn(at, "= ");
        say(t, "#undef %.*s\n#define %.*s %.*s\n", (int)name, at, (int)name, at,
            (int)(length > name ? length - name - 1 : 0), at + name + 1);
        at += length;
        at += strspn(at, " ");
    }
    /* #line: a compile error names the plugin's own file and line. */
    say(t, "namespace pass_%d {\n#line 1 \"%s\"\n%s\n}\n#line 1 \"kernel\"\n", p, pass->text_file,
        pass->text);
}

static void say_pass_loop(text *t, const tz_problem *problem, int p)
{
    const tz_stencil *s = problem->stencil;
    const tz_pass *pass = &s->passes[p];
    say(t, "    rest -= %d;\n    {\n      pass_%d::context_%s c;\n      c.arguments = &a;\n",
        pass->radius, p, pass->text_cell);
    for (int f = 0; f < s->fields_count; f++) {
        const char *name = s->fields[f].name;
        if (s->fields[f].role == TZ_STATE)
            say(t, "      c.%s = %s_now;\n      c.%s_out = %s_next;\n", name, name, name, name);
        else
            say(t, "      c.%s = (const %s *)a.in[%d];\n", name, type_name(s->fields[f].type), f);
        say(t, "      c.%s_edge = %s_edge;\n", name, name);
    }
    for (int k = 0; k < s->constants_count; k++) {
        if (s->constants[k].type == TZ_REAL)
            say(t, "      c.k_%s = a.constants[%d].%s;\n", s->constants[k].name, k,
                problem->precision == TZ_DOUBLE ? "d" : "f");
        else
            say(t, "      c.k_%s = (int)a.constants[%d].i;\n", s->constants[k].name, k);
    }
    say(t,
        "      for (int i = threadIdx.x; i < TZ_EXT; i += TZ_THREADS) {\n"
        "        tz_place p = tz_place_of(a, i);\n"
        "        if (!tz_wanted(a, p, rest))\n          continue;\n"
        "        tz_place_inside(a, p);\n        p.iteration = t;\n        p.step = a.step + t;\n"
        "        pass_%d::update_%s<BORDER>(c, p);\n",
        p, pass->text_cell);
    for (int f = 0; problem->bits && f < s->fields_count; f++)
        if (pass->writes >> f & 1)
            say(t, "        %s_next[i] = tz_mask_word(a, p.x, %s_next[i], %s_edge);\n",
                s->fields[f].name, s->fields[f].name, s->fields[f].name);
    say(t, "      }\n    }\n    __syncthreads();\n");
    for (int f = 0; f < s->fields_count; f++)
        if (pass->writes >> f & 1) {
            const char *name = s->fields[f].name, *type = type_name(s->fields[f].type);
            say(t, "    { %s *swap = %s_now; %s_now = %s_next; %s_next = swap; }\n", type, name,
                name, name, name);
        }
}

static void say_kernel(text *t, const tz_problem *problem)
{
    const tz_stencil *s = problem->stencil;
    say(t, "template <bool BORDER> static __device__ void tz_run(const tz_arguments &a)\n{\n"
           "  extern __shared__ unsigned long long tz_shared[];\n"
           "  unsigned char *shared = (unsigned char *)tz_shared;\n");
    for (int f = 0; f < s->fields_count; f++) {
        const char *name = s->fields[f].name, *type = type_name(s->fields[f].type);
        say(t, "  const %s %s_edge = *(const %s *)&a.edge[%d];\n", type, name, type, f);
        if (s->fields[f].role == TZ_STATE)
            say(t,
                "  %s *%s_now = (%s *)shared, *%s_next = %s_now + TZ_EXT;\n"
                "  shared += 2 * TZ_EXT * sizeof(%s);\n",
                type, name, type, name, name, type);
    }
    say(t, "  for (int i = threadIdx.x; i < TZ_EXT; i += TZ_THREADS) {\n"
           "    tz_place p = tz_place_of(a, i);\n"
           "    if (!tz_wanted(a, p, TZ_HALO_X))\n      continue;\n    tz_place_inside(a, p);\n");
    for (int f = 0; f < s->fields_count; f++) {
        const char *name = s->fields[f].name, *type = type_name(s->fields[f].type);
        if (s->fields[f].role != TZ_STATE)
            continue;
        say(t,
            "    { const %s *row = (const %s *)a.in[%d] + (long long)a.nx * (p.y_in + (long "
            "long)a.ny * p.z_in);\n",
            type, type, f);
        if (problem->bits)
            say(t, "      %s_now[i] = tz_load_word(a, row, p.x, %s_edge); }\n", name, name);
        else
            say(t, "      %s_now[i] = row[p.x_in]; }\n", name);
    }
    say(t,
        "  }\n  __syncthreads();\n  int rest = a.height * %d;\n"
        "  for (int t = 0; t < a.height; t++) {\n",
        tz_stencil_reach(problem->stencil));
    for (int p = 0; p < s->passes_count; p++)
        say_pass_loop(t, problem, p);
    say(t, "  }\n  for (int i = threadIdx.x; i < TZ_EXT; i += TZ_THREADS) {\n"
           "    const tz_place p = tz_place_of(a, i);\n"
           "    if (!tz_wanted(a, p, 0) || p.x >= a.nx || p.y >= a.ny || p.z >= a.nz)\n      "
           "continue;\n"
           "    const long long to = p.x + (long long)a.nx * (p.y + (long long)a.ny * p.z);\n");
    uint32_t written = 0;
    for (int p = 0; p < s->passes_count; p++)
        written |= s->passes[p].writes;
    for (int f = 0; f < s->fields_count; f++)
        if (written >> f & 1)
            say(t, "    ((%s *)a.out[%d])[to] = %s_now[i];\n", type_name(s->fields[f].type), f,
                s->fields[f].name);
    say(t, "  }\n}\n\n"
           "extern \"C\" __global__ void __launch_bounds__(TZ_THREADS) tz_tile(const tz_arguments "
           "a)\n{\n"
           "  const int x = blockIdx.x * TZ_TILE_X, y = blockIdx.y * TZ_TILE_Y, z = blockIdx.z * "
           "TZ_TILE_Z;\n"
           "  const bool border = x < TZ_HALO_X || x + TZ_TILE_X + TZ_HALO_X > a.nx ||\n"
           "      (TZ_DIMS > 1 && (y < TZ_HALO_Y || y + TZ_TILE_Y + TZ_HALO_Y > a.ny)) ||\n"
           "      (TZ_DIMS > 2 && (z < TZ_HALO_Z || z + TZ_TILE_Z + TZ_HALO_Z > a.nz));\n"
           "  if (border)\n    tz_run<true>(a);\n  else\n    tz_run<false>(a);\n}\n");
}

tz_status tz_cuda_source(const tz_problem *problem, const tz_plan *plan, char **source,
                         tz_cuda_header *header, tz_error *error)
{
    text t = {0};
    *header = (tz_cuda_header){"tile.cuh", tz_cuda_tile_text};
    say_sizes(&t, problem, plan);
    say(&t, "#include \"tile.cuh\"\n");
    for (int p = 0; p < problem->stencil->passes_count; p++)
        say_pass_text(&t, problem, p);
    say_kernel(&t, problem);
    if (t.failed) {
        free(t.at);
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a kernel's text");
    }
    *source = t.at;
    return TZ_OK;
}
