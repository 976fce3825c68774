/* Probes which neighbours a cell update reads: for the families of GPUs that keep only those, and
 * for the work of the cpu backend. */
#include "stencil/footprint.h"

#include <string.h>

enum { TRIALS = 96, SLOTS = 256 };

typedef struct probe {
    tz_cell_access access;
    const tz_problem *problem;
    tz_footprint *footprint;
    uint64_t random;
    int trial;
    tz_slot slot[SLOTS]; /* the last values read: one expression may use several */
    unsigned next;
    tz_slot written[TZ_FIELDS_MAX];
} probe;

static uint64_t draw(probe *p)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return p->random;
}

/* Small and large values of both signs, many of them equal. */
static double draw_real(probe *p)
{
    static const double scales[] = {1.0, 1e-3, 300.0, 1e6};
    const double unit = (double)(draw(p) >> 11) / 9007199254740992.0;
    const double sign = p->trial & 4 ? -1.0 : 1.0;
    switch (p->trial & 3) {
    case 0:
        return sign * scales[p->trial / 8 % 4] * unit;
    case 1:
        return scales[p->trial / 8 % 4] * (unit - 0.5);
    case 2:
        return (double)(draw(p) % 3) - 1.0;
    default:
        return p->trial & 8 ? 0.0 : sign;
    }
}

static uint32_t draw_bits(probe *p)
{
    const uint64_t bits = draw(p);
    switch (p->trial & 3) {
    case 0:
        return (uint32_t)(bits >> 32);
    case 1:
        return (uint32_t)(bits >> 32) & (uint32_t)bits;
    case 2:
        return (uint32_t)(bits % 5) - 2u;
    default:
        return p->trial & 8 ? 0u : ~0u;
    }
}

static const void *probe_read(const tz_cell_access *access, int field, int dx, int dy, int dz)
{
    probe *p = (probe *)access;
    tz_slot *slot = &p->slot[p->next++ % SLOTS];
    const int r = TZ_RADIUS_MAX;
    if (dx >= -r && dx <= r && dy >= -r && dy <= r && dz >= -r && dz <= r)
        p->footprint->row[field][r + dz][r + dy] |= 1u << (r + dx);
    memset(slot, 0, sizeof *slot);
    if (!tz_type_is_real(p->problem->stencil->fields[field].type)) {
        uint32_t bits = draw_bits(p);
        if (!tz_type_is_bits(p->problem->stencil->fields[field].type)) /* their sums fit */
            bits = (uint32_t)((int32_t)(bits % 2001u) - 1000);
        memcpy(slot, &bits, sizeof bits);
    } else {
        *slot = tz_slot_of(p->problem->stencil->fields[field].type, p->problem->precision,
                           draw_real(p));
    }
    return slot;
}

static void *probe_write(const tz_cell_access *access, int field)
{
    return &((probe *)access)->written[field];
}

void tz_footprint_probe(const tz_problem *problem, const tz_pass *pass, tz_footprint *footprint)
{
    probe p = {
        .access = {.read = probe_read, .write = probe_write},
        .problem = problem,
        .footprint = footprint,
        .random = UINT64_C(0x9e3779b97f4a7c15),
    };
    tz_slot constants[TZ_CONSTANTS_MAX];
    memset(footprint, 0, sizeof *footprint);
    for (p.trial = 0; p.trial < TRIALS; p.trial++) {
        /* Constants may change later, so flags that are 0 are also tried as 1. Other constants
         * stay, since they may be divisors. */
        if (tz_problem_constants_at(problem, 7 * p.trial, constants, NULL))
            memcpy(constants, problem->constants, sizeof constants);
        for (int k = 0; k < problem->stencil->constants_count; k++)
            if (!tz_type_is_real(problem->stencil->constants[k].type) && constants[k].i == 0)
                constants[k].i = p.trial & 1;
        p.access.constants = constants;
        p.access.engine = pass->engine;
        p.access.x = (int64_t)(draw(&p) % 7);
        p.access.y = (int64_t)(draw(&p) % 7);
        p.access.z = (int64_t)(draw(&p) % 7);
        p.access.step = (int64_t)(draw(&p) % 7);
        pass->kernels->cell[problem->precision](&p.access);
    }
}

uint32_t tz_footprint_row(const tz_footprint *footprint, int field, int dz, int dy)
{
    const int r = TZ_RADIUS_MAX;
    if (dz < -r || dz > r || dy < -r || dy > r)
        return 0;
    return footprint->row[field][r + dz][r + dy];
}
