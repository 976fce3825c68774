/* Derived fields: what is read to compute them. Their values: tests/contract/outputs.c. */
#include "sim/state.h"
#include "stencil/probe.h"
#include "tests/oracle/oracle.h"

enum { NX = 40, NY = 30 };

/* Elements of each field that were loaded. */
static int64_t loaded[TZ_FIELDS_MAX];
static const tz_backend *real;

static tz_status count_load(const void *state, int field, const tz_box *box, void *elements,
                            tz_error *error)
{
    int64_t count = 1;
    for (int axis = 0; axis < TZ_AXES; axis++)
        count *= box->high[axis] - box->low[axis];
    loaded[field] += count;
    return real->load(state, field, box, elements, error);
}

static tz_simulation *make(tz_backend *counting, const char *stencil)
{
    oracle_config config = oracle(stencil, TZ_SINGLE, NULL, NX, NY, 0);
    config.threads = 1;
    tz_simulation *simulation = oracle_create(config);
    real = simulation->backend;
    *counting = *real;
    counting->load = count_load;
    simulation->backend = counting;
    memset(loaded, 0, sizeof loaded);
    return simulation;
}

static void read_box(tz_simulation *simulation, const char *field, tz_box box)
{
    double values[NX * NY];
    const int f = oracle_field(simulation, field);
    assert_ok(tz_simulation_read(simulation, f, &box, values, &failure));
}

/* swirl2d lists u and v for its speed, and for its turn u, v and drag; "kind" is another output of
 * that. */
TEST(only_what_is_listed_is_read)
{
    tz_backend counting;
    tz_simulation *simulation = make(&counting, "swirl2d");
    const tz_stencil *s = tz_simulation_stencil(simulation);
    const int u = tz_stencil_field_index(s, "u"), v = tz_stencil_field_index(s, "v");
    const int drag = tz_stencil_field_index(s, "drag");
    const int speed = tz_stencil_field_index(s, "speed"), kind = tz_stencil_field_index(s, "kind");
    assert_int_equal(tz_stencil_sources(s, 1u << speed), 1u << u | 1u << v);
    assert_int_equal(tz_stencil_sources(s, 1u << kind | 1u << u), 1u << u | 1u << v | 1u << drag);
    assert_int_equal(tz_stencil_sources(s, 1u << drag), 1u << drag);
    read_box(simulation, "speed", (tz_box){{0, 0, 0}, {NX, NY, 1}});
    assert_int_equal(loaded[u], NX * NY);
    assert_int_equal(loaded[v], NX * NY);
    assert_int_equal(loaded[drag], 0);
    memset(loaded, 0, sizeof loaded);
    read_box(simulation, "turn", (tz_box){{10, 12, 0}, {14, 13, 1}});
    assert_int_equal(loaded[u], 4 * 4); /* rows 11 to 14 */
    assert_int_equal(loaded[v], 7);     /* columns 8 to 14 */
    assert_int_equal(loaded[drag], 4 * 2);
    simulation->backend = real;
}

/* A text that lists some of what an output reads is refused if that reads more. */
TEST(what_is_not_listed_is_refused)
{
    const tz_stencil *s = NULL;
    tz_probe_seen seen[TZ_FIELDS_MAX];
    assert_ok(tz_registry_find(registry, "swirl2d", &s, NULL, &failure));
    tz_pass turn = s->outputs[1];
    tz_reads few[8];
    assert_int_equal(turn.reads_count, 5);
    memcpy(few, turn.reads, 4 * sizeof *few); /* without drag */
    turn.reads = few;
    turn.reads_count = 4;
    check_error(tz_probe_cell(s, &turn, TZ_SINGLE, "swirl.so", seen, &failure), TZ_PLUGIN,
                "swirl.so", "it reads 'drag', which its TZ_READS does not list");
}

TEST_GROUP(open_test_plugins, close_plugins)
