/* Derived fields equal what their outputs' cell functions compute, one cell after the other, from
 * the fields and the definition of boundaries. */
#include "contract.h"
#include "sim/fields.h"
#include "sim/state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 3, SLOTS = 256 };

/* A cell function's fields: all cells of each as memory holds them. */
typedef struct cells {
    tz_cell_access access; /* first: callbacks cast a pointer to it */
    const tz_problem *problem;
    tz_array *array[TZ_FIELDS_MAX];
    uint64_t slot[SLOTS], written[TZ_FIELDS_MAX];
    unsigned next;
} cells;

/* The value at a coordinate; *side: -1, or the fixed side past which it lies. */
static double value_at(const cells *from, int field, int64_t x, int64_t y, int64_t z, int *side)
{
    const tz_problem *p = from->problem;
    const int64_t at[TZ_AXES] = {x, y, z};
    int64_t index = 0, stride = 1;
    *side = -1;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        const int64_t i = tz_boundary_map(p->boundary[axis], at[axis], p->extent[axis]);
        if (i < 0 && *side < 0)
            *side = 2 * axis + (i == -2);
        index += i * stride;
        stride *= p->extent[axis];
    }
    return *side < 0 ? tz_array_get(from->array[field], index) : p->boundary_value[field][*side];
}

static const void *read_cell(const tz_cell_access *access, int field, int dx, int dy, int dz)
{
    cells *from = (cells *)(uintptr_t)access;
    const tz_problem *p = from->problem;
    uint64_t *slot = &from->slot[from->next++ % SLOTS];
    int side;
    if (!p->bits) {
        double value = value_at(from, field, access->x + dx, access->y + dy, access->z + dz, &side);
        if (side >= 0) {
            tz_problem_element(p, field, value, slot);
            tz_problem_to_computed(p, field, slot, 1, &value);
        }
        const float narrow = (float)value;
        const int32_t integer = (int32_t)value;
        *slot = 0;
        if (p->stencil->fields[field].type == TZ_INT)
            memcpy(slot, &integer, sizeof integer);
        else if (p->precision == TZ_SINGLE)
            memcpy(slot, &narrow, sizeof narrow);
        else
            memcpy(slot, &value, sizeof value);
        return slot;
    }
    uint32_t word = 0;
    *slot = 0;
    for (int64_t b = 0; b < 32; b++)
        word |= (uint32_t)(value_at(from, field, b * p->elements[0] + access->x + dx,
                                    access->y + dy, access->z + dz, &side) != 0.0)
                << b;
    memcpy(slot, &word, sizeof word);
    return slot;
}

static void *write_cell(const tz_cell_access *access, int field)
{
    return &((cells *)(uintptr_t)access)->written[field];
}

/* Cell number i as the cell function has computed it. */
static double computed(const cells *from, int field, int64_t x)
{
    const tz_problem *p = from->problem;
    double value;
    uint32_t word;
    if (!p->bits) {
        tz_problem_to_values(p, field, &from->written[field], 1, &value);
        return value;
    }
    memcpy(&word, &from->written[field], sizeof word);
    return word >> (x / p->elements[0]) & 1;
}

static void compare(contract *c, const contract_case *k, tz_simulation *sim, cells *from, int field)
{
    const tz_problem *p = from->problem;
    const tz_pass *output = tz_stencil_output(p->stencil, field);
    tz_array *got = NULL;
    tz_error error = {0};
    tz_reduction facts;
    char what[256];
    contract_case_text(c, k, what, sizeof what);
    if (tz_simulation_read_array(sim, field, &got, &error) ||
        tz_simulation_reduce(sim, field, &facts, &error)) {
        contract_fail(c, "%s: %s", what, error.message);
        tz_array_destroy(got);
        return;
    }
    int64_t wrong = 0, population = 0, cell = 0;
    from->access.engine = output->engine;
    for (int64_t z = 0; z < p->extent[2]; z++)
        for (int64_t y = 0; y < p->extent[1]; y++)
            for (int64_t x = 0; x < p->extent[0]; x++, cell++) {
                from->access.x = x % p->elements[0];
                from->access.y = y;
                from->access.z = z;
                output->kernels->cell[p->precision](&from->access);
                const double want = computed(from, field, x), is = tz_array_get(got, cell);
                population += want != 0.0;
                if (memcmp(&want, &is, sizeof is) != 0 && wrong++ == 0)
                    contract_fail(c,
                                  "%s: '%s' is %.17g at (%" PRId64 ", %" PRId64 ", %" PRId64
                                  "), its cell function computes %.17g",
                                  what, p->stencil->fields[field].name, is, x, y, z, want);
            }
    if (!wrong && population != facts.population)
        contract_fail(c, "%s: %" PRId64 " cells of '%s' are not 0, its reduction says %" PRId64,
                      what, population, p->stencil->fields[field].name, facts.population);
    c->compared++;
    tz_array_destroy(got);
}

/* All cells of a field as updates compute with them: less its origin. */
static tz_status read_all(tz_simulation *sim, int field, tz_array **out, tz_error *error)
{
    const tz_problem *p = &sim->problem;
    const tz_box all = {{0}, {p->extent[0], p->extent[1], p->extent[2]}};
    if (p->bits)
        return tz_simulation_read_array(sim, field, out, error);
    const int64_t count = p->extent[0] * p->extent[1] * p->extent[2];
    void *elements = malloc((size_t)count * tz_problem_element_size(p, field));
    if (!elements)
        abort();
    tz_status status = tz_array_create(out, TZ_DTYPE_F64, p->dims, p->extent, error);
    if (!status)
        status = sim->backend->load(sim->state, field, &all, elements, error);
    if (!status)
        tz_problem_to_computed(p, field, elements, count, (*out)->data);
    free(elements);
    return status;
}

static void check_case(contract *c, const contract_case *k)
{
    tz_simulation *sim = NULL;
    tz_error error = {0};
    char what[256];
    tz_status status = contract_create(c, k, c->backend, 2, NULL, &sim, &error);
    if (status) {
        contract_refuse(c, &error); /* the plugin may refuse a grid */
        return;
    }
    cells from = {.access = {.read = read_cell, .write = write_cell}, .problem = &sim->problem};
    status = contract_run(sim, STEPS, &error);
    for (int f = 0; !status && f < c->stencil->fields_count; f++)
        status = read_all(sim, f, &from.array[f], &error);
    tz_slot constants[TZ_CONSTANTS_MAX];
    if (!status)
        status = tz_problem_constants_at(&sim->problem, tz_simulation_step(sim), constants, &error);
    from.access.constants = constants;
    from.access.step = tz_simulation_step(sim);
    if (status)
        contract_fail(c, "%s: %s", contract_case_text(c, k, what, sizeof what), error.message);
    for (int f = c->stencil->fields_count; !status && f < tz_stencil_fields_all(c->stencil); f++)
        compare(c, k, sim, &from, f);
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        tz_array_destroy(from.array[f]);
    tz_simulation_destroy(sim);
}

void contract_outputs(contract *c)
{
    int precisions[TZ_PRECISIONS + 1];
    tz_boundary boundaries[CONTRACT_BOUNDARIES_MAX][TZ_AXES][2];
    const int64_t(*sizes)[TZ_AXES];
    const int precisions_count = contract_storages(c, precisions);
    const int boundaries_count = contract_boundaries(c, boundaries);
    const int sizes_count = contract_sizes(c, &sizes);
    if (c->stencil->outputs_count == 0) {
        strcpy(c->note, "it has no outputs");
        return;
    }
    for (int b = 0; b < boundaries_count; b++)
        for (int size = 0; size < sizes_count; size++)
            for (int p = 0; p < precisions_count; p++) {
                if (c->smoke ? c->compared > 0 : c->quick && (size + b + p) % 4 != 0)
                    continue;
                contract_case k = {.seed = (uint64_t)(b * sizes_count + size),
                                   .precision = precisions[p],
                                   .other_outside = (size + b) % 2 == 1};
                memcpy(k.boundary, boundaries[b], sizeof k.boundary);
                memcpy(k.extent, sizes[size], sizeof k.extent);
                check_case(c, &k);
            }
}
