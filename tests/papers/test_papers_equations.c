/* Each equation on numbers small enough to work out by hand. */
#include "papers_support.h"

/* 12 x 12 cells, blocks of 6 x 6, halo 2: after two iterations 2 x 2 are left. 2 bytes a cycle. */
static tz_model_meng small(void)
{
    return (tz_model_meng){
        .dims = 2,
        .data_length = {12, 12},
        .halo_width = {2, 2},
        .blk_len = {6, 6},
        .num_stencil_arrays = 2,
        .num_elem_per_op = 3,
        .num_commit_arrays = 1,
        .element_bytes = 4,
        .num_warp_insts_mc = 10,
        .num_warp_insts_ic = 5,
        .clock_rate_hz = 1e9,
        .mem_bandwidth_bytes_per_s = 2e9,
        .coalesce_degree = 16,
        .uncontended_lat_cycles = 100,
        .multiprocessors = 2,
        .blks_per_sm = 3,
        .warp_size = 4,
        .cpi = 4,
        .alpha = 0.5,
        .tau = 1,
        .glb_sync_cycles = 1000,
    };
}

TEST(equations_in_two_dimensions)
{
    const tz_model_meng m = small();
    assert_close(tz_model_meng_trapezoids(&m, 1), 9, 0);               /* 144 / 16 */
    assert_close(tz_model_meng_trapezoids(&m, 2), 36, 0);              /* 144 / 4 */
    assert_close(tz_model_meng_cycles_per_request(&m, 64), 32, 1e-15); /* eq. 4 */
    assert_close(tz_model_meng_concurrent_blocks(&m), 6, 0);
    assert_close(tz_model_meng_passes(&m, 2), 6, 0);
    assert_close(tz_model_meng_mem_cycles(&m, 2, 100), 700, 1e-15); /* 6 * 100 + 100 * 2 / 2 */
    assert_close(tz_model_meng_load_sten(&m, 2), 3792, 1e-15);      /* 2 (600 + 36 * 36) */
    assert_close(tz_model_meng_commit(&m, 2), 744, 1e-15);          /* 600 + 36 * 4 */
    assert_close(tz_model_meng_iter_mem(&m, 2), 7056, 1e-15);       /* 3 * 2 (600 + 36 * 16) */
    assert_close(tz_model_meng_comp_cycles(&m, 10, 9), 360, 0);
    assert_close(tz_model_meng_misc_comp(&m), 360, 0);    /* 10 * 36 / 4 * 4 */
    assert_close(tz_model_meng_iter_comp(&m, 2), 160, 0); /* 2 * 5 * 16 / 4 * 4 */
    assert_close(tz_model_meng_glb_sync(&m, 2), 1000, 0);
    assert_close(tz_model_meng_cost_effect(&m, 1), 1, 0);
    assert_close(tz_model_meng_cost_effect(&m, 2), 0.25, 0);
    assert_close(tz_model_meng_height_bound(&m), 3, 0);
    assert_int_equal(tz_model_meng_height_max(&m), 2); /* a tile of 0 x 0 at 3 */
    assert_close(2 * tz_model_meng_cpl(&m, 2), 21952, 1e-14);
    assert_close(tz_model_meng_cpl(&m, 2), 10976, 1e-15);
    const tz_model_meng_loop c = tz_model_meng_components_per_loop(&m, 2);
    assert_close(c.glb_sync, 500, 0);
    assert_close(c.load_sten, 1896, 1e-15);
    assert_close(c.commit, 372, 1e-15);
    assert_close(c.misc_comp, 3240, 1e-15);
    assert_close(c.iter_comp, 1440, 1e-15);
    assert_close(c.iter_mem, 3528, 1e-15);
}

TEST(equations_in_one_dimension)
{
    tz_model_meng m = small();
    m.dims = 1;
    m.data_length[0] = 100;
    m.blk_len[0] = 10;
    assert_close(tz_model_meng_trapezoids(&m, 3), 25, 0);
    assert_close(tz_model_meng_load_sten(&m, 3), 2 * (25.0 / 6 * 100 + 250), 1e-15);
    assert_close(tz_model_meng_iter_comp(&m, 3), 3 * 5 * 8 / 4.0 * 4, 1e-15);
    assert_int_equal(tz_model_meng_height_max(&m), 4);
    m.blk_len[0] = 11; /* 5 leaves one element */
    assert_int_equal(tz_model_meng_height_max(&m), 5);
    m.blk_len[0] = 2;
    assert_int_equal(tz_model_meng_height_max(&m), 0);
}

TEST(equations_in_three_dimensions)
{
    tz_model_meng m = small();
    m.dims = 3;
    for (int i = 0; i < 3; i++)
        m.data_length[i] = 48, m.halo_width[i] = 2, m.blk_len[i] = 8 - 2 * i; /* 8, 6, 4 */
    assert_close(tz_model_meng_trapezoids(&m, 1), 2304, 0); /* 48^3 / (6 * 4 * 2) */
    assert_close(tz_model_meng_misc_comp(&m), 10 * 192, 0);
    assert_int_equal(tz_model_meng_height_max(&m), 1);
    m.halo_width[2] = 0; /* the shortest axis no longer shrinks */
    assert_close(tz_model_meng_height_bound(&m), 3, 0);
    assert_close(tz_model_meng_trapezoids(&m, 2), 110592 / (4.0 * 2 * 4), 1e-15);
    m.halo_width[0] = m.halo_width[1] = 0;
    assert_true(isinf(tz_model_meng_height_bound(&m)));
    assert_int_equal(tz_model_meng_height_max(&m), TZ_MODEL_HEIGHT_MAX);
    assert_close(tz_model_meng_cost_effect(&m, 7), 1, 0);
}

TEST(eq_12_turns_profiles_into_instructions)
{
    /* PathFinder of table 2: 100,000 threads are 3125 warps, 104.17 an SM. */
    assert_close(tz_model_meng_num_warp_insts(1998, 100000, 32, 30), 19.1808, 1e-14);
}

TEST(several_state_fields_are_all_stored)
{
    tz_model_meng m = small();
    const double one = tz_model_meng_commit(&m, 2);
    m.num_commit_arrays = 3;
    assert_close(tz_model_meng_commit(&m, 2), 3 * one, 1e-15);
}

TEST(fences_grow_with_the_blocks)
{
    tz_model_meng m = small();
    m.glb_sync_per_block_cycles = 2;
    assert_close(tz_model_meng_glb_sync(&m, 1), 1018, 0);
    assert_close(tz_model_meng_glb_sync(&m, 2), 1072, 0);
    assert_close(2 * tz_model_meng_cpl(&m, 2), 21952 + 72, 1e-14);
}

TEST(alpha_and_tau_of_2011)
{
    tz_model_meng m = small();
    assert_close(tz_model_meng2011_alpha(1, 5), 1, 0);
    assert_close(tz_model_meng2011_alpha(2, 5), 5, 0);
    assert_close(tz_model_meng2011_alpha(3, 5), 25, 0);
    assert_close(tz_model_meng2011_tau(0.5, 0), 0.5, 0);
    assert_close(tz_model_meng2011_tau(0.5, 0.25), 0.625, 0);
    m.tau = 0.625;
    assert_close(tz_model_meng_misc_comp(&m), 225, 0);
    assert_close(tz_model_meng_iter_comp(&m, 2), 100, 0);
}

TEST(blocks_fill_the_limit_of_threads)
{
    assert_close(tz_model_meng_blk_len(1, 512), 512, 0);
    assert_close(tz_model_meng_blk_len(2, 512), 22, 0);
    assert_close(tz_model_meng_blk_len(3, 512), 8, 0);
    assert_close(tz_model_meng_blk_len(2, 1024), 32, 0);
    assert_close(tz_model_meng_blk_len(3, 1024), 10, 0);
    assert_close(tz_model_meng_blk_len(3, 1000), 10, 0);
    assert_close(tz_model_meng_blk_len(2, 0.5), 1, 0);
}
