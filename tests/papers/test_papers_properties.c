/* Properties of any device and benchmark. */
#include "papers_support.h"

/* Calls `check` on every benchmark, device and version, with numbers scaled up and down, halos and
 * blocks of several sizes. */
static void over_the_grid(void (*check)(const tz_model_meng *m))
{
    static const double scales[] = {0.01, 0.3, 1, 5, 100};
    for (int i = 0; i < BENCHMARKS * DEVICES * 2; i++) {
        const tz_model_meng base = meng_of(i % 2 ? 2011 : 2009, benchmark_names[i / 2 % BENCHMARKS],
                                           device_names[i / 2 / BENCHMARKS]);
        for (int which = 0; which < 7; which++) {
            for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
                tz_model_meng m = base;
                double *const numbers[] = {&m.mem_bandwidth_bytes_per_s, &m.uncontended_lat_cycles,
                                           &m.cpi, &m.glb_sync_cycles, &m.multiprocessors};
                if (which < 5)
                    *numbers[which] *= scales[s];
                for (int k = 0; which == 5 && k < m.dims; k++)
                    m.halo_width[k] = (int)s; /* 0 to 4 */
                if (which == 6) {
                    m.glb_sync_per_block_cycles = scales[s];
                    m.blk_len[0] = base.blk_len[0] + 3 * (double)s;
                }
                if (tz_model_meng_height_max(&m) >= 1)
                    check(&m);
            }
        }
    }
}

static void check_sums(const tz_model_meng *m)
{
    for (int h = 1; h <= tz_model_meng_height_max(m) && h <= 20; h++) {
        const tz_model_meng_loop c = tz_model_meng_components_per_loop(m, h);
        assert_true(c.glb_sync > 0 && c.load_sten > 0 && c.commit > 0 && c.misc_comp > 0 &&
                    c.iter_comp > 0 && c.iter_mem >= 0);
        const double memory = tz_model_meng_load_sten(m, h) + tz_model_meng_iter_mem(m, h) +
                              tz_model_meng_commit(m, h);
        const double block = tz_model_meng_iter_comp(m, h) + tz_model_meng_misc_comp(m);
        const double stage =
            tz_model_meng_glb_sync(m, h) + memory +
            block * tz_model_meng_trapezoids(m, h) / m->multiprocessors; /* eq. 2 */
        assert_close(tz_model_meng_cpl(m, h), stage / h, 1e-12);         /* eq. 1 */
    }
}

TEST(components_are_positive_and_add_up)
{
    over_the_grid(check_sums);
}

static void check_convex(const tz_model_meng *m)
{
    const double end = fmin(tz_model_meng_height_bound(m), 40);
    for (int i = 1; i < 50; i++) {
        const double h = 0.5 + (end - 0.5) * i / 50, d = fmin(h, end - h) * 0.01;
        const double a = tz_model_meng_cpl(m, h - d), b = tz_model_meng_cpl(m, h),
                     c = tz_model_meng_cpl(m, h + d);
        if (!(a + c > 2 * b * (1 - 1e-14)))
            fail_msg("not convex at %g", h);
    }
}

TEST(cycles_are_convex_in_the_height)
{
    over_the_grid(check_convex);
}

/* What more of a number does: fewer cycles, more, or, where it cancels, none. */
static void check_monotone(const tz_model_meng *m)
{
    const int h = best_height(m);
    const double cycles = tz_model_meng_cpl(m, h);
    tz_model_meng n = *m;
    const struct {
        double *number, by;
        int sign;
    } changes[] = {{&n.mem_bandwidth_bytes_per_s, n.mem_bandwidth_bytes_per_s, -1},
                   {&n.multiprocessors, n.multiprocessors, -1},
                   {&n.uncontended_lat_cycles, 1000, 1},
                   {&n.cpi, 0.1 * n.cpi, 1},
                   {&n.num_warp_insts_ic, 0.1 * n.num_warp_insts_ic, 1},
                   {&n.glb_sync_cycles, 1e4, 1},
                   {&n.num_stencil_arrays, 1, 1},
                   {&n.data_length[0], 0.1 * n.data_length[0], 1},
                   {&n.coalesce_degree, n.coalesce_degree, 0}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        n = *m;
        *changes[i].number += changes[i].by;
        const double changed = tz_model_meng_cpl(&n, h);
        if (changes[i].sign == 0)
            assert_close(changed, cycles, 1e-13);
        else if (!((changed - cycles) * changes[i].sign > 0))
            fail_msg("change %d: %g cycles, and %g", (int)i, changed, cycles);
    }
    n = *m; /* these two cancel */
    n.clock_rate_hz *= 2;
    n.mem_bandwidth_bytes_per_s *= 2;
    assert_close(tz_model_meng_cpl(&n, h), cycles, 1e-13);
}

TEST(better_devices_are_faster)
{
    over_the_grid(check_monotone);
}

static void check_cost_effect(const tz_model_meng *m)
{
    double before = 2;
    for (int h = 1; h <= tz_model_meng_height_max(m) && h <= 50; h++) {
        const double c = tz_model_meng_cost_effect(m, h);
        assert_true(c > 0 && c <= 1 && c <= before);
        /* Eq. 16 says which part of IterComp' is redundant: what height 1 does not need. */
        const tz_model_meng_loop at = tz_model_meng_components_per_loop(m, h);
        const tz_model_meng_loop one = tz_model_meng_components_per_loop(m, 1);
        assert_close(at.iter_comp * c, one.iter_comp, 1e-12);
        before = c;
    }
}

TEST(cost_effect_is_the_useful_share)
{
    over_the_grid(check_cost_effect);
}
