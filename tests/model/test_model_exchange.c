/* Exchanges of ghost zones between devices, against closed forms; records of links. */

#include "model/exchange.h"
#include "model/link.h"
#include "model_support.h"

static const char *const links[] = {"nvlink", "pcie"};

TEST(redundant_slices)
{
    /* A star of radius r, of which a step reads r slices at each end: r (k - 1) a step on average,
     * if the ghost zone shrinks; else all of it, 2 r k. Stages of several steps leave out what the
     * stages after them do not read. */
    for (int r = 1; r <= 8; r++)
        for (int k = 1; k <= 32; k++)
            for (int height = 1; height <= k; height++) {
                tz_exchange_costs costs = {.reach = 2.0 * r, .height = height, .shrinks = true};
                double sum = 0;
                if (k % height != 0)
                    continue;
                for (int step = height; step <= k; step += height)
                    sum += 2.0 * r * (k - step) * height;
                assert_true(fabs(tz_exchange_redundant(&costs, k) - r * (k - height)) < 1e-12);
                assert_true(fabs(tz_exchange_redundant(&costs, k) - sum / k) < 1e-9);
                costs.shrinks = false;
                assert_true(tz_exchange_redundant(&costs, k) == 2.0 * r * k);
            }
}

TEST(bytes_do_not_depend_on_the_depth)
{
    /* 2 r Nx Ny bytes a step, however deep: only the fixed cost is shared by more steps. */
    const tz_exchange_costs costs = {
        .slices = 100, .reach = 4, .height = 1, .fixed_s = 3, .moving_s = 0.5};
    for (int k = 1; k < 50; k++)
        assert_true(fabs(tz_exchange_iteration_s(&costs, k) - (3.0 / k + 2.0)) < 1e-12);
}

static double random_of(unsigned *seed, double low, double high)
{
    *seed = *seed * 1664525u + 1013904223u;
    return low * pow(high / low, (*seed >> 8) / 16777216.0);
}

TEST(the_best_depth_is_the_best)
{
    unsigned seed = 1;
    for (int i = 0; i < 3000; i++) {
        const tz_exchange_costs costs = {.slices = random_of(&seed, 1, 1e5),
                                         .slice_s = random_of(&seed, 1e-8, 1e-3),
                                         .reach = random_of(&seed, 1, 16),
                                         .height = 1 + i % 7,
                                         .shrinks = i % 2,
                                         .hides = i % 4 == 3,
                                         .fixed_s = random_of(&seed, 1e-6, 1e-2),
                                         .moving_s = random_of(&seed, 1e-8, 1e-3)};
        const int height = costs.height, most = (int)random_of(&seed, 1, 300);
        const int best = tz_exchange_best(&costs, most);
        assert_true(best % height == 0 && best >= height && (best <= most || best == height));
        for (int k = height; k <= most; k += height)
            assert_true(tz_exchange_iteration_s(&costs, best) <=
                        tz_exchange_iteration_s(&costs, k) * (1 + 1e-12));
    }
    /* Without bounds the square root of the fixed cost over that of another iteration of depth. */
    tz_exchange_costs costs = {.slices = 10, .slice_s = 1, .reach = 4, .height = 1, .fixed_s = 400};
    assert_int_equal(tz_exchange_best(&costs, 1000), 10);
    assert_int_equal(tz_exchange_best(&costs, 7), 7);
    costs.height = 5;
    assert_int_equal(tz_exchange_best(&costs, 1000), 10);
    const tz_exchange_costs idle = {.slices = 10, .height = 3, .fixed_s = 1};
    assert_int_equal(tz_exchange_best(&idle, 100), 99); /* redundant slices cost nothing */
    const tz_exchange_costs free_link = {.slices = 10, .slice_s = 1, .reach = 2, .height = 3};
    assert_int_equal(tz_exchange_best(&free_link, 100), 3);
}

static tz_model_link link_of(const char *text)
{
    tz_model_link link;
    assert_ok(tz_model_link_parse("a.txt", text, strlen(text), &link, &failure));
    return link;
}

TEST(records_of_links)
{
    tz_model_link link = link_of("name = a\nlatency = 3 us # x\nbandwidth = 2 GB/s # assumed\n");
    assert_true(fabs(link.latency_s.value - 3e-6) < 1e-18);
    assert_true(link.bandwidth_bytes_per_s.value == 2e9 && link.bandwidth_bytes_per_s.assumed);
    const char *half = "name = a\nlatency = 3 us # x\n";
    check_error(tz_model_link_parse("a.txt", half, strlen(half), &link, &failure), TZ_FORMAT,
                "a.txt", "has no bandwidth");
    const char *typo = "name = a\nlatncy = 3 us # x\n";
    check_error(tz_model_link_parse("a.txt", typo, strlen(typo), &link, &failure), TZ_UNKNOWN,
                "a.txt:2", "did you mean 'latency'?");
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        char path[512];
        size_t length;
        char *text = shipped_text("links", links[i], path, &length);
        assert_ok(tz_model_link_parse(path, text, length, &link, &failure));
        assert_string_equal(link.name, links[i]);
        free(text);
    }
}

TEST(links_of_a_device)
{
    tz_model_device device = device_named("h200");
    tz_model_link link;
    bool assumed = true;
    assert_ok(tz_model_link_of(&device, NULL, &link, &assumed, &failure));
    assert_string_equal(link.name, "peer");
    assert_true(link.bandwidth_bytes_per_s.value == 486.2e9 && !assumed);
    check_error(tz_model_link_of(&device, "mpi", &link, &assumed, &failure), TZ_UNSUPPORTED, "h200",
                "has no mpi_latency");
    check_error(tz_model_link_of(&device, "pear", &link, &assumed, &failure), TZ_UNKNOWN, "link",
                "did you mean 'peer'?");
    device.peer_latency_s.known = false;
    assert_ok(tz_model_link_of(&device, "", &link, &assumed, &failure));
    assert_string_equal(link.name, "host");
    assert_true(assumed && link.latency_s.value > 0 && link.bandwidth_bytes_per_s.value > 0);
}
