/* Equations of both models, the inputs that they need from facts and device, and the report of a
 * prediction. Called by meng2009.c and meng2011.c, and by meng_predict.c and benchmark.c. */
#include "model/papers/meng.h"

#include <math.h>
#include <string.h>

static double product(const tz_model_meng *m, double halos)
{
    double p = 1;
    for (int i = 0; i < m->dims; i++)
        p *= m->blk_len[i] - m->halo_width[i] * halos;
    return p;
}

static double block_elements(const tz_model_meng *m)
{
    return product(m, 0);
}

static double data_elements(const tz_model_meng *m)
{
    double p = 1;
    for (int i = 0; i < m->dims; i++)
        p *= m->data_length[i];
    return p;
}

double tz_model_meng_height_bound(const tz_model_meng *m)
{
    double bound = INFINITY;
    for (int i = 0; i < m->dims; i++)
        if (m->halo_width[i] > 0)
            bound = fmin(bound, m->blk_len[i] / m->halo_width[i]);
    return bound;
}

int tz_model_meng_height_max(const tz_model_meng *m)
{
    const double bound = tz_model_meng_height_bound(m);
    if (bound > TZ_MODEL_HEIGHT_MAX)
        return TZ_MODEL_HEIGHT_MAX;
    return (int)ceil(bound) - 1; /* strictly below */
}

double tz_model_meng_trapezoids(const tz_model_meng *m, double h)
{
    return data_elements(m) / product(m, h);
}

double tz_model_meng_cycles_per_request(const tz_model_meng *m, double bytes)
{
    return bytes / (m->mem_bandwidth_bytes_per_s / m->clock_rate_hz);
}

double tz_model_meng_concurrent_blocks(const tz_model_meng *m)
{
    return m->blks_per_sm * m->multiprocessors;
}

double tz_model_meng_passes(const tz_model_meng *m, double h)
{
    return tz_model_meng_trapezoids(m, h) / tz_model_meng_concurrent_blocks(m);
}

/* alpha * CyclesPerReq(x * CoalesceDegree) / CoalesceDegree: an element's share of eq. 7. */
static double cycles_per_element(const tz_model_meng *m)
{
    return m->alpha * tz_model_meng_cycles_per_request(m, m->element_bytes * m->coalesce_degree) /
           m->coalesce_degree;
}

double tz_model_meng_mem_cycles(const tz_model_meng *m, double h, double n)
{
    return tz_model_meng_passes(m, h) * m->uncontended_lat_cycles + n * cycles_per_element(m);
}

double tz_model_meng_load_sten(const tz_model_meng *m, double h)
{
    const double n = tz_model_meng_trapezoids(m, h) * block_elements(m);
    return m->num_stencil_arrays * tz_model_meng_mem_cycles(m, h, n);
}

double tz_model_meng_commit(const tz_model_meng *m, double h)
{
    const double n = tz_model_meng_trapezoids(m, h) * product(m, h);
    return m->num_commit_arrays * tz_model_meng_mem_cycles(m, h, n);
}

double tz_model_meng_iter_mem(const tz_model_meng *m, double h)
{
    const double n = tz_model_meng_trapezoids(m, h) * product(m, 1);
    return m->num_elem_per_op * h * tz_model_meng_mem_cycles(m, h, n);
}

double tz_model_meng_comp_cycles(const tz_model_meng *m, double num_warp_insts,
                                 double active_warps_per_block)
{
    return num_warp_insts * m->tau * active_warps_per_block * m->cpi;
}

double tz_model_meng_num_warp_insts(double insts_per_sm, double cells, double warp_size,
                                    double multiprocessors)
{
    return insts_per_sm / (cells / (warp_size * multiprocessors));
}

double tz_model_meng_misc_comp(const tz_model_meng *m)
{
    return tz_model_meng_comp_cycles(m, m->num_warp_insts_mc, block_elements(m) / m->warp_size);
}

double tz_model_meng_iter_comp(const tz_model_meng *m, double h)
{
    return h * tz_model_meng_comp_cycles(m, m->num_warp_insts_ic, product(m, 1) / m->warp_size);
}

double tz_model_meng_glb_sync(const tz_model_meng *m, double h)
{
    return m->glb_sync_cycles + m->glb_sync_per_block_cycles * tz_model_meng_trapezoids(m, h);
}

double tz_model_meng_cost_effect(const tz_model_meng *m, double h)
{
    return product(m, h) / product(m, 1);
}

tz_model_meng_loop tz_model_meng_components_per_loop(const tz_model_meng *m, double h)
{
    const double blocks = tz_model_meng_trapezoids(m, h) / (h * m->multiprocessors);
    return (tz_model_meng_loop){
        .glb_sync = tz_model_meng_glb_sync(m, h) / h,
        .load_sten = tz_model_meng_load_sten(m, h) / h,
        .commit = tz_model_meng_commit(m, h) / h,
        .misc_comp = tz_model_meng_misc_comp(m) * blocks,
        .iter_comp = tz_model_meng_iter_comp(m, h) * blocks,
        .iter_mem = tz_model_meng_iter_mem(m, h) / h,
    };
}

double tz_model_meng_cpl(const tz_model_meng *m, double h)
{
    const tz_model_meng_loop c = tz_model_meng_components_per_loop(m, h);
    return c.glb_sync + c.load_sten + c.commit + c.misc_comp + c.iter_comp + c.iter_mem;
}

double tz_model_meng_blk_len(int dims, double threads_per_block_max)
{
    double length = 1;
    while (pow(length + 1, dims) <= threads_per_block_max)
        length++;
    return length;
}

/* ---- From facts, and back to a prediction ---------------------------------------------------- */

static tz_status fill_block(const tz_model_facts *facts, const tz_model_device *device,
                            const tz_model_plan *plan, tz_model_meng *m, tz_model_notes *notes,
                            tz_error *error)
{
    static const char axes[] = "xyz";
    const double limit = device->threads_per_block_max.value;
    double threads = 1;
    int open = 0; /* axes without a given length: they get equal lengths */
    for (int i = 0; i < m->dims; i++) {
        if (!(plan->block[i] >= 0 && plan->block[i] <= 1e9))
            return tz_error_set(error, TZ_RANGE, facts->name, "a block of %g in %c", plan->block[i],
                                axes[i]);
        open += plan->block[i] == 0;
        threads *= plan->block[i] > 0 ? plan->block[i] : 1;
    }
    if (open > 0 && !device->threads_per_block_max.known)
        return tz_error_set(error, TZ_UNSUPPORTED, device->name,
                            "the record of this device has no threads_per_block_max, which "
                            "the choice of a block needs: give one");
    const double length = open > 0 ? tz_model_meng_blk_len(open, limit / threads) : 0;
    threads = 1;
    for (int i = 0; i < m->dims; i++) {
        m->blk_len[i] = plan->block[i] > 0 ? plan->block[i] : length;
        if (m->blk_len[i] <= m->halo_width[i])
            return tz_error_set(error, TZ_RANGE, facts->name,
                                "a block of %g elements in %c is not wider than the halo, %g",
                                m->blk_len[i], axes[i], m->halo_width[i]);
        threads *= m->blk_len[i];
    }
    if (device->threads_per_block_max.known && threads > limit)
        tz_model_note(notes, "a block of %g threads is beyond the device's limit, %g", threads,
                      limit);
    return TZ_OK;
}

static tz_status fill_instructions(const tz_model_facts *facts, tz_model_meng *m,
                                   tz_model_notes *notes, tz_error *error)
{
    m->num_warp_insts_ic = facts->insts_per_update;
    m->num_warp_insts_mc = facts->insts_per_setup;
    if (m->num_warp_insts_ic == 0) {
        m->num_warp_insts_ic =
            facts->ops_per_update + facts->reads_per_update + facts->state_fields;
        if (facts->ops_per_update + facts->reads_per_update == 0)
            return tz_error_set(error, TZ_UNSUPPORTED, facts->name,
                                "neither the instructions nor the operations and reads of "
                                "an update are known");
        tz_model_note(notes, "instructions of an update not known: taken as operations, reads and "
                             "stores");
    }
    if (m->num_warp_insts_mc == 0) {
        m->num_warp_insts_mc = m->num_warp_insts_ic;
        tz_model_note(notes, "instructions of the set-up not known: taken as those of an update");
    }
    return TZ_OK;
}

tz_status tz_model_meng_fill(const tz_model_facts *facts, const tz_model_device *device,
                             const tz_model_plan *plan, tz_model_meng *m, tz_model_notes *notes,
                             tz_error *error)
{
    memset(m, 0, sizeof *m);
    m->dims = facts->dims;
    memcpy(m->data_length, facts->extent, sizeof m->data_length);
    memcpy(m->halo_width, facts->halo_width, sizeof m->halo_width);
    m->num_stencil_arrays = facts->state_fields + facts->static_fields;
    m->num_commit_arrays = facts->state_fields;
    m->num_elem_per_op = facts->streamed_fields;
    m->element_bytes = facts->element_bytes;
    m->clock_rate_hz = device->clock_hz.value;
    m->mem_bandwidth_bytes_per_s = device->memory_bandwidth_bytes_per_s.value;
    m->coalesce_degree = device->coalesce_width.value;
    m->uncontended_lat_cycles = device->memory_latency_s.value * m->clock_rate_hz;
    m->multiprocessors = device->sm_count.value;
    m->blks_per_sm = device->blocks_per_sm.value;
    m->warp_size = device->warp_size.value;
    m->cpi = device->cpi.value;
    const tz_status status = fill_block(facts, device, plan, m, notes, error);
    if (status != TZ_OK)
        return status;
    if (tz_model_meng_passes(m, 1) < 1)
        tz_model_note(notes,
                      "%.3g blocks do not fill the device, which runs %g at once: the model "
                      "assumes that they do",
                      tz_model_meng_trapezoids(m, 1), tz_model_meng_concurrent_blocks(m));
    return fill_instructions(facts, m, notes, error);
}

void tz_model_meng_report(const tz_model_meng *m, const tz_model_facts *facts, int height,
                          tz_model_prediction *out)
{
    const double h = height, s = 1 / m->clock_rate_hz; /* seconds of a cycle */
    const tz_model_meng_loop c = tz_model_meng_components_per_loop(m, h);
    const double blocks = tz_model_meng_trapezoids(m, h), data = data_elements(m);
    const double elements = m->num_stencil_arrays * blocks * block_elements(m) +
                            m->num_commit_arrays * blocks * product(m, h) +
                            m->num_elem_per_op * h * blocks * product(m, 1);
    const double warp_insts =
        blocks / m->warp_size *
        (m->num_warp_insts_mc * block_elements(m) + m->num_warp_insts_ic * product(m, 1) * h);
    for (int i = 0; i < TZ_MODEL_AXES; i++)
        out->block[i] = i < m->dims ? m->blk_len[i] : 1;
    out->height = height;
    out->time_s = tz_model_meng_cpl(m, h) * s;
    out->stage_s = out->time_s * h;
    out->cells_per_s =
        data * (facts->cells_per_element > 0 ? facts->cells_per_element : 1) / out->time_s;
    tz_model_component_add(out, TZ_MODEL_SYNCHRONISATION, "glb_sync", c.glb_sync * s,
                           "GlbSync': synchronising all blocks between two stages");
    tz_model_component_add(out, TZ_MODEL_MEMORY, "load_sten", c.load_sten * s,
                           "LoadSten': loading the blocks with their ghost zones");
    tz_model_component_add(out, TZ_MODEL_MEMORY, "commit", c.commit * s,
                           "Commit': storing the valid results");
    tz_model_component_add(out, TZ_MODEL_MEMORY, "iter_mem", c.iter_mem * s,
                           "IterMem': elements loaded in every operation");
    tz_model_component_add(out, TZ_MODEL_COMPUTATION, "misc_comp", c.misc_comp * s,
                           "MiscComp': what a thread computes once a stage");
    tz_model_component_add(out, TZ_MODEL_COMPUTATION, "iter_comp", c.iter_comp * s,
                           "IterComp': the updates, redundant ones included");
    tz_model_detail_add(out, "trapezoids", blocks, "", "T (eq. 3): blocks of a stage");
    tz_model_detail_add(out, "passes", tz_model_meng_passes(m, h), "",
                        "rounds of concurrent blocks in a stage (eq. 6)");
    tz_model_detail_add(out, "requests", elements / m->coalesce_degree, "",
                        "coalesced memory requests of a stage");
    tz_model_detail_add(out, "warp_insts", warp_insts, "", "warp instructions of a stage");
    tz_model_detail_add(out, "cost_effect", tz_model_meng_cost_effect(m, h), "",
                        "useful share of the computed elements (eq. 16)");
    tz_model_detail_add(out, "load_redundancy", blocks * block_elements(m) / data, "",
                        "elements loaded for each of the grid, an array");
    tz_model_detail_add(out, "redundancy", c.iter_comp * (1 - tz_model_meng_cost_effect(m, h)) * s,
                        "s", "the part of iter_comp that computes ghost zones");
    tz_model_detail_add(out, "latency",
                        tz_model_meng_passes(m, h) * m->uncontended_lat_cycles / h * s *
                            (m->num_stencil_arrays + m->num_commit_arrays + m->num_elem_per_op * h),
                        "s", "the part of the memory's time that is latency, not bandwidth");
}
