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
