/* What the next iteration would change: the cpu backend against the reference backend, in every
 * bit, for all stencils, boundaries, precisions, instruction sets and numbers of threads. */
#include "tests/backend/update_support.h"

#include "base/machine.h"
#include "stencil/registry.h"

static const int64_t grids[TZ_AXES + 1][5][TZ_AXES] = {
    {{0}},
    {{1, 1, 1}, {33, 1, 1}, {1024, 1, 1}, {1025, 1, 1}, {9000, 1, 1}},
    {{1, 1, 1}, {3, 40, 1}, {1025, 5, 1}, {1100, 17, 1}, {66, 130, 1}},
    {{1, 1, 1}, {5, 3, 7}, {1030, 2, 3}, {20, 13, 17}, {70, 21, 5}},
};
static const tz_boundary boundaries[][TZ_AXES] = {
    {TZ_CLAMP, TZ_CLAMP, TZ_CLAMP},     {TZ_PERIODIC, TZ_PERIODIC, TZ_PERIODIC},
    {TZ_FIXED, TZ_FIXED, TZ_FIXED},     {TZ_MIRROR, TZ_MIRROR, TZ_MIRROR},
    {TZ_FIXED, TZ_PERIODIC, TZ_MIRROR}, {TZ_PERIODIC, TZ_CLAMP, TZ_FIXED},
    {TZ_MIRROR, TZ_FIXED, TZ_PERIODIC},
};
enum { BOUNDARIES = sizeof boundaries / sizeof *boundaries };
static int compared;

static void compare(const update_case *k, const tz_problem *problem, const tz_update *want,
                    int threads)
{
    tz_update got = {0};
    tz_threads *pool = NULL;
    assert_ok(tz_threads_create(&pool, threads, &failure));
    void *state = update_state(&tz_backend_cpu, problem, pool, k->seed);
    assert_ok(tz_backend_update(&tz_backend_cpu, state, problem, 3, &got, &failure));
    if (!update_same(&got, want))
        fail_msg("%s %s, %d %d %d, %lld x %lld x %lld, %d threads, TZ_ISA %s: %a %a %a instead of "
                 "%a %a %a",
                 k->stencil->id, k->precision == TZ_DOUBLE ? "double" : "single", k->boundary[0],
                 k->boundary[1], k->boundary[2], (long long)k->extent[0], (long long)k->extent[1],
                 (long long)k->extent[2], threads, getenv("TZ_ISA"), got.largest, got.sum,
                 got.magnitude, want->largest, want->sum, want->magnitude);
    tz_backend_cpu.destroy(state);
    tz_threads_destroy(pool);
    compared++;
}

static void check_case(const update_case *k)
{
    tz_problem problem;
    tz_update want = {0};
    if (update_problem(&problem, k))
        return; /* a boundary that the stencil does not have */
    void *reference = update_state(&tz_backend_reference, &problem, NULL, k->seed);
    assert_ok(tz_backend_update(&tz_backend_reference, reference, &problem, 3, &want, &failure));
    tz_backend_reference.destroy(reference);
    setenv("TZ_ISA", tz_isa_name((tz_isa)(k->seed % TZ_ISA_COUNT)), 1);
    compare(k, &problem, &want, 1 + (int)(k->seed % 3));
    unsetenv("TZ_ISA");
    if (k->seed % 4 == 0)
        compare(k, &problem, &want, 2);
    tz_problem_clear(&problem);
}

static void check_stencil(const tz_stencil *stencil)
{
    const bool real = tz_stencil_has_real(stencil);
    uint64_t seed = 0;
    for (int g = 0; g < 5; g++)
        for (int b = 0; b < BOUNDARIES; b++, seed++) {
            update_case k = {stencil, real ? TZ_SINGLE : -1, {0}, {0}, seed};
            memcpy(k.boundary, boundaries[b], sizeof k.boundary);
            memcpy(k.extent, grids[stencil->dims][g], sizeof k.extent);
            /* Large grids take long with the reference backend, and so do many fields. */
            if (g + (stencil->fields_count > 8) > 2 && b % 4 != g % 4)
                continue;
            check_case(&k);
            k.precision = TZ_DOUBLE;
            if (real && (g + b) % 2 == 0)
                check_case(&k);
        }
}

TEST(all_bits_are_the_references)
{
    update_each_stencil(check_stencil);
    assert_true(compared > 500);
    print_message("%d comparisons\n", compared);
}

/* A change that is NaN is not lost among others, and neither is one in a row's remainder. */
TEST(nan_is_found)
{
    static const char *const folder = TZ_TEST_PLUGIN_DIR;
    tz_registry *registry;
    const tz_stencil *stencil;
    assert_ok(tz_registry_create(&registry, &folder, 1, &failure));
    assert_ok(tz_registry_find(registry, "star2d1r", &stencil, NULL, &failure));
    for (int64_t x = 0; x < 70; x += 23)
        for (int precision = TZ_SINGLE; precision <= TZ_DOUBLE; precision++) {
            const update_case k = {stencil, precision, {0}, {70, 9, 1}, 2};
            const tz_backend *const backends[] = {&tz_backend_reference, &tz_backend_cpu};
            tz_problem problem;
            assert_ok(update_problem(&problem, &k));
            for (int b = 0; b < 2; b++) {
                void *state_of = update_state(backends[b], &problem, NULL, 1);
                const tz_box box = {{x, 4, 0}, {x + 1, 5, 1}};
                const double odd = NAN;
                const float odd_single = NAN;
                tz_update got;
                assert_ok(backends[b]->store(state_of, 0, &box,
                                             precision == TZ_DOUBLE ? (const void *)&odd
                                                                    : (const void *)&odd_single,
                                             &failure));
                assert_ok(tz_backend_update(backends[b], state_of, &problem, 0, &got, &failure));
                assert_true(isnan(got.largest) && isnan(got.sum) && got.magnitude <= 1.0);
                backends[b]->destroy(state_of);
            }
            tz_problem_clear(&problem);
        }
    tz_registry_destroy(registry);
}
