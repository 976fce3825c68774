/* Asynchronous work of a run on a GPU, against the stand-ins (fake/fake.h): copies through pinned
 * buffers, snapshots, graphs of stages. Kernels do nothing there; copies and their order are real.
 */
#include "test_cuda_support.h"

#include "backend/cuda/snapshot.h"
#include "backend/cuda/state.h"
#include "lua/script.h"
#include "sim/fields.h"
#include "sim/snapshot.h"
#include "sim/state.h"
#include "tests/registry.h"
#include "tests/run.h"

/* ---- Copies ---------------------------------------------------------------------------------- */

static unsigned char byte_of(size_t i)
{
    return (unsigned char)(i * 2654435761u >> 13);
}

/* There and back, in a larger array whose other bytes stay as they are. */
static void check_box(tz_cuda *cuda, tz_cuda_staging *staging, tz_cuda_box box, size_t before)
{
    const size_t bytes = box.row_bytes * box.rows * box.planes;
    const size_t all = before + box.device_plane_pitch * box.planes + 64;
    unsigned char *from = malloc(bytes), *to = calloc(1, bytes), *memory = malloc(all);
    tz_cu_pointer device;
    assert_true(from && to && memory);
    for (size_t i = 0; i < bytes; i++)
        from[i] = byte_of(i);
    box.device_offset = before;
    assert_ok(tz_cuda_allocate(cuda, &device, all, &failure));
    assert_ok(tz_cuda_clear(cuda, device, all, &failure));
    assert_ok(tz_cuda_staging_upload(staging, device, &box, from, &failure));
    memset(from, 0xee, bytes); /* the caller may reuse it before the copy is done */
    assert_ok(tz_cuda_staging_download(staging, to, device, &box, &failure));
    assert_ok(tz_cuda_wait(cuda, &failure));
    assert_ok(tz_cuda_download(cuda, memory, device, all, &failure));
    size_t wrong = 0, i = 0, written = 0;
    for (; i < bytes; i++)
        wrong += to[i] != byte_of(i);
    assert_int_equal(wrong, 0);
    for (i = 0; i < all; i++)
        written += memory[i] != 0;
    for (i = 0; i < bytes; i++)
        wrong += byte_of(i) != 0;
    assert_int_equal(written, wrong);
    tz_cuda_free(cuda, device);
    free(from);
    free(to);
    free(memory);
}

FAKE_TEST(boxes_go_in_pieces)
{
    tz_cuda *cuda = NULL;
    tz_cuda_queue *stream = NULL;
    need_fake();
    assert_ok(tz_cuda_open(&cuda, 0, &failure));
    assert_ok(tz_cuda_queue_create(cuda, &stream, &failure));
    const size_t mib = 1 << 20;
    const tz_cuda_box boxes[] = {
        {.row_bytes = 12, .rows = 1, .planes = 1},
        {.row_bytes = 1000, .rows = 700, .planes = 1, .device_row_pitch = 1024},
        {.row_bytes = 1000, .rows = 9000, .planes = 1, .device_row_pitch = 1000},
        {.row_bytes = 1000, .rows = 9001, .planes = 1, .device_row_pitch = 1024},
        {.row_bytes = 9 * mib + 8, .rows = 2, .planes = 1, .device_row_pitch = 9 * mib + 128},
        {.row_bytes = 200, .rows = 40, .planes = 1200, .device_row_pitch = 256},
        {.row_bytes = 4096, .rows = 1500, .planes = 3, .device_row_pitch = 4096},
        {.row_bytes = 4 * mib, .rows = 1, .planes = 3, .device_row_pitch = 4 * mib},
    };
    for (int way = 0; way < 2; way++) {
        tz_cuda_staging *staging;
        assert_ok(tz_cuda_staging_create(&staging, cuda, way ? stream : NULL, &failure));
        assert_int_equal(seen->pinned, 0);
        for (size_t k = 0; k < sizeof boxes / sizeof *boxes; k++) {
            tz_cuda_box box = boxes[k];
            if (!box.device_row_pitch)
                box.device_row_pitch = box.row_bytes;
            box.device_plane_pitch = box.device_row_pitch * box.rows;
            check_box(cuda, staging, box, 0);
            check_box(cuda, staging, box, 64);
        }
        assert_int_equal(seen->pinned, 2);
        tz_cuda_staging_destroy(staging);
        assert_int_equal(seen->pinned, 0);
    }
    tz_cuda_queue_destroy(cuda, stream);
    tz_cuda_close(cuda);
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

static tz_simulation *create(const char *stencil, bool sync, const char *family, int height)
{
    tz_simulation *sim = NULL;
    tz_simulation_config config = {.registry = registry,
                                   .stencil = stencil,
                                   .dims = 2,
                                   .extent = {70, 50, 1},
                                   .precision = -1,
                                   .backend = "cuda",
                                   .sync = sync,
                                   .plan = {.height = height}};
    need_fake();
    snprintf(config.plan.family, sizeof config.plan.family, "%s", family);
    assert_ok(tz_simulation_create(&sim, &config, &failure));
    return sim;
}

typedef struct reader {
    const tz_snapshot *snapshot;
    int field;
    double cells[70 * 50];
    tz_status status;
    tz_error error;
} reader;

static void *read_field(void *any)
{
    reader *r = any;
    r->status = tz_simulation_read(tz_snapshot_simulation(r->snapshot), r->field, NULL, r->cells,
                                   &r->error);
    return NULL;
}

/* Reads in another thread, like outputs. */
static void check_field(const tz_snapshot *snapshot, int field, double value)
{
    reader r = {.snapshot = snapshot, .field = field};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_field, &r), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (r.status)
        fail_msg("%s", r.error.message);
    for (size_t i = 0; i < sizeof r.cells / sizeof *r.cells; i++)
        assert_true(fabs(r.cells[i] - value) < 1e-5); /* a difference of 182 K has steps of 2e-5 */
}

FAKE_TEST(snapshots_keep_what_was)
{
    tz_simulation *sim = create("hotspot", false, "", 1); /* temperature changes, power does not */
    tz_snapshot *first = NULL, *second = NULL, *third = (tz_snapshot *)&third;
    assert_ok(tz_simulation_fill(sim, 0, NULL, 300, &failure));
    assert_ok(tz_simulation_fill(sim, 1, NULL, 0.25, &failure));
    assert_ok(tz_snapshot_take(sim, 1, false, &first, &failure));
    assert_ok(tz_simulation_fill(sim, 0, NULL, 400, &failure));
    assert_ok(tz_snapshot_take(sim, 1, true, &second, &failure));
    assert_ok(tz_simulation_fill(sim, 0, NULL, 500, &failure));
    assert_ok(tz_snapshot_take(sim, 1, false, &third, &failure));
    assert_null(third); /* two at most */
    check_field(second, 0, 400);
    check_field(first, 0, 300);
    check_field(first, 1, 0.25);
    tz_snapshot_hold(first);
    tz_snapshot_release(first);
    assert_ok(tz_snapshot_take(sim, 1, false, &third, &failure));
    assert_null(third); /* still held once */
    tz_snapshot_release(first);
    assert_ok(tz_snapshot_take(sim, 1, false, &third, &failure));
    assert_non_null(third);
    check_field(third, 0, 500);
    check_field(second, 0, 400);
    tz_snapshot_release(second);
    tz_snapshot_release(third);
    tz_snapshot_release(NULL);

    /* The snapshot has only the requested fields. */
    double cells[70 * 50];
    assert_ok(tz_snapshot_take(sim, 0, false, &first, &failure));
    check_error(tz_simulation_read_cells(tz_snapshot_simulation(first), 0, NULL, cells, &failure),
                TZ_UNSUPPORTED, "temperature", "not part of the snapshot");
    check_field(first, 1, 0.25);
    tz_snapshot_release(first);
    tz_simulation_destroy(sim);
}

FAKE_TEST(snapshots_wait_for_room_or_say_so)
{
    tz_snapshot *snapshot = NULL;
    tz_simulation *sim = create("hotspot", true, "", 1);
    assert_int_equal(tz_snapshot_take(sim, 1, true, &snapshot, &failure), TZ_UNSUPPORTED);
    assert_null(snapshot);
    tz_simulation_destroy(sim);

    sim = create("hotspot", false, "", 1);
    setenv("FAKE_CUDA_MEMORY", "70000", 1); /* its fields take 57,600 bytes */
    check_error(tz_snapshot_take(sim, 1, true, &snapshot, &failure), TZ_MEMORY, "",
                "a copy of the fields on the GPU");
    assert_null(snapshot);
    setenv("FAKE_CUDA_MEMORY", "70000000", 1);
    assert_ok(tz_snapshot_take(sim, 1, true, &snapshot, &failure));
    tz_snapshot_release(snapshot);
    tz_simulation_destroy(sim);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* A scenario that writes an array every 4 iterations, and every 8 calls a function, which finds all
 * arrays so far on the disk: outputs that were queued before it are waited for. */
static const char script[] =
    "local tz = require 'trapeze'\n"
    "local sim = tz.simulation { plugin = 'star2d1r', grid = { 70, 50 }, backend = 'cuda',\n"
    "  family = 'stream', height = 2 }\n"
    "sim:every(4, tz.npy { name = 'a' })\n"
    "sim:every(8, function(s)\n"
    "  print(s.step)\n"
    "  for step = 0, s.step, 4 do tz.read(('out/a-%06d.npy'):format(step)) end\n"
    "end)\n"
    "sim:run(12)\n";

typedef struct told {
    char text[256];  /* what the function has printed */
    char waits[256]; /* that the run waits for its outputs */
    bool breaks;     /* the array of step 12 cannot be written */
} told;

static void on_print(void *context, const char *text, size_t bytes)
{
    told *t = context;
    strncat(t->text, text, sizeof t->text - strlen(t->text) - 1);
    if (t->breaks)
        mkdir("out/a-000012.npy", 0700);
}

static void on_note(void *context, tz_note note, const char *line)
{
    told *t = context;
    if (strstr(line, "the run waits for its outputs: "))
        snprintf(t->waits, sizeof t->waits, "%s", line);
}

static tz_status run_script(scratch *s, bool sync, told *t, tz_error *error)
{
    tz_script_result result;
    const tz_script_options options = {.path = "s.lua",
                                       .registry = registry,
                                       .out = "out",
                                       .sync = sync,
                                       .sink = {t, .print = on_print, .note = on_note}};
    scratch_empty(s->directory);
    FILE *file = fopen("s.lua", "w");
    assert_non_null(file);
    fputs(script, file);
    assert_int_equal(fclose(file), 0);
    return tz_script_run(&options, &result, error);
}

/* An output that reads the simulation itself waits for all outputs that were queued before. */
FAKE_TEST(outputs_keep_their_order)
{
    scratch *s = *state;
    need_fake();
    assert_int_equal(chdir(s->directory), 0);
    for (int way = 0; way < 3; way++) {
        told t = {.text = ""};
        if (way == 2)
            setenv("FAKE_CUDA_MEMORY", "44000", 1); /* a snapshot finds no room */
        assert_ok(run_script(s, way == 1, &t, &failure));
        assert_string_equal(t.text, "0\n8\n");
        assert_int_equal(access("out/a-000012.npy", F_OK), 0);
        assert_int_equal(t.waits[0] != '\0', way == 2);
        unsetenv("FAKE_CUDA_MEMORY");
    }
    told t = {.breaks = true};
    check_error(run_script(s, false, &t, &failure), TZ_SCRIPT, "",
                "out/a-000012.npy: cannot write");
    assert_string_equal(t.text, "0\n8\n");
    assert_int_equal(chdir("/"), 0);
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

static int launches_of(tz_simulation *sim, int64_t steps)
{
    const int before = seen->launches;
    tz_run_result result;
    /* Fewer than 256 iterations: the checks between would launch too. */
    assert_ok(
        run_simulation(sim, &(tz_run){.steps = steps, .until_residual = NAN}, &result, &failure));
    assert_int_equal(result.steps, steps);
    return seen->launches - before - 1; /* the check at the end */
}

FAKE_TEST(short_stages_go_in_graphs)
{
    tz_simulation *sim = create("star2d1r", false, "stream", 2);
    const tz_plan_use *uses;
    assert_int_equal(launches_of(sim, 2 * 15), 15);
    assert_int_equal(seen->graphs, 0);
    assert_int_equal(launches_of(sim, 2 * 34 + 1), 35);
    assert_int_equal(seen->graphs, 1); /* from the copies that 15 stages ended in */
    assert_int_equal(launches_of(sim, 2 * 16), 16);
    assert_int_equal(seen->graphs, 2); /* from the others */
    assert_int_equal(launches_of(sim, 2 * 32), 32);
    assert_int_equal(seen->graphs, 2);
    assert_int_equal(tz_simulation_plan_uses(sim, &uses), 2);
    assert_int_equal(uses[0].stages, 15 + 34 + 16 + 32);
    assert_int_equal(uses[1].stages, 1);
    assert_int_equal(uses[1].plan.height, 1);
    tz_simulation_destroy(sim);
    assert_int_equal(seen->graphs, 0);

    sim = create("star2d1r", true, "stream", 2);
    assert_int_equal(launches_of(sim, 2 * 35), 35);
    assert_int_equal(seen->graphs, 0);
    tz_simulation_destroy(sim);
}

/* Constants are arguments: a graph is made anew when they change, and not where TZ_STEP is read. */
FAKE_TEST(graphs_follow_their_arguments)
{
    tz_simulation *sim = create("hotspot", false, "stream", 1);
    launches_of(sim, 16);
    assert_int_equal(seen->graphs, 1);
    const int noted = seen->graphs_made;
    launches_of(sim, 16);
    assert_int_equal(seen->graphs_made, noted);
    assert_ok(tz_simulation_set_params(sim, 1, &(tz_assignment){.name = "ambient_k", .number = 300},
                                       &failure));
    launches_of(sim, 16);
    assert_int_equal(seen->graphs_made, noted + 1);
    assert_int_equal(seen->graphs, 1);
    tz_simulation_destroy(sim);

    sim = create("integers_2d", false, "stream", 1);
    launches_of(sim, 64);
    assert_int_equal(seen->graphs_made, noted + 1);
    tz_simulation_destroy(sim);
}

/* ---- Errors of the device -------------------------------------------------------------------- */

static tz_status run_to(tz_simulation *sim, tz_run what, tz_error *error)
{
    tz_run_result result;
    *error = (tz_error){0};
    return run_simulation(sim, &what, &result, error);
}

/* Only numbers of whole fields come back by this call, so the fault hits the first
 * reduction of a run. */
static const char *const FIRST_NUMBERS = "cuMemcpyDtoHAsync_v2:1:0:1";

FAKE_TEST(an_error_in_the_finite_check_ends_the_run)
{
    tz_simulation *sim = create("star2d1r", false, "stream", 2);
    fault(FIRST_NUMBERS);
    check_error(run_to(sim, (tz_run){.steps = 3, .until_residual = NAN}, &failure), TZ_BACKEND, "",
                "cannot copy 56 bytes from the GPU");
    fault(NULL);
    assert_ok(run_to(sim, (tz_run){.steps = 3, .until_residual = NAN}, &failure));
    fault(FIRST_NUMBERS); /* in the middle of a run, too */
    check_error(run_to(sim, (tz_run){.steps = 600, .until_residual = NAN}, &failure), TZ_BACKEND,
                "", "cannot copy 56 bytes from the GPU");
    assert_int_equal(tz_simulation_step(sim), 256); /* a look whether the fields move */
    fault(NULL);
    tz_simulation_destroy(sim);
}

/* Of an update norm; of a residual: a record of 16 bytes, and a sum for each of the 50 rows. */
FAKE_TEST(an_error_in_the_residual_ends_the_run)
{
    for (int is_update = 0; is_update < 2; is_update++) {
        const tz_run what = {
            .steps = 8, .until_residual = 1e-30, .until_is_update = is_update, .check_every = 8};
        tz_simulation *sim = create("star2d1r", false, "stream", 2);
        fault(FIRST_NUMBERS);
        check_error(run_to(sim, what, &failure), TZ_BACKEND, "",
                    is_update ? "cannot copy 56 bytes from the GPU"
                              : "cannot copy 416 bytes from the GPU");
        fault(NULL);
        assert_ok(run_to(sim, what, &failure));
        tz_simulation_destroy(sim);
    }
}

FAKE_TEST(an_error_in_the_snapshot_check_is_reported)
{
    tz_simulation *sim = create("star2d1r", false, "stream", 2);
    tz_snapshot *snapshot = NULL;
    tz_run_result result;
    assert_ok(run_simulation(sim, &(tz_run){.steps = 3, .until_residual = NAN}, &result, &failure));
    sim->steps_unchecked = 3;
    assert_ok(tz_snapshot_take(sim, 0, false, &snapshot, &failure));
    fault(FIRST_NUMBERS);
    check_error(tz_snapshot_check(snapshot, &failure), TZ_BACKEND, "",
                "cannot copy 56 bytes from the GPU");
    fault(NULL);
    assert_ok(tz_snapshot_check(snapshot, &failure));
    tz_snapshot_release(snapshot);
    tz_simulation_destroy(sim);
}

static tz_status never_finite(const void *state, bool *finite, tz_error *error)
{
    *finite = false;
    return TZ_OK;
}

/* The check has found a number that is not finite. The reduction that locates it fails, or
 * does not find it: in both cases the run fails. */
FAKE_TEST(a_field_that_is_not_finite_never_ends_well)
{
    tz_backend backend = tz_backend_cuda;
    tz_simulation *sim = create("star2d1r", false, "stream", 2);
    backend.all_finite = never_finite;
    sim->backend = &backend;
    fault(FIRST_NUMBERS);
    check_error(run_to(sim, (tz_run){.steps = 3, .until_residual = NAN}, &failure), TZ_BACKEND, "",
                "cannot copy 56 bytes from the GPU");
    fault(NULL);
    check_error(run_to(sim, (tz_run){.steps = 3, .until_residual = NAN}, &failure), TZ_BACKEND,
                "star2d1r", "disagree");
    tz_simulation_destroy(sim);
}

/* ---- The device's limits --------------------------------------------------------------------- */

FAKE_TEST(plans_know_the_device)
{
    tz_device_identity device, none;
    need_fake();
    assert_ok(tz_backend_cuda.identify(0, &device, &failure));
    assert_int_equal(device.units, 132);
    assert_int_equal(device.limits.multiprocessors, 132);
    assert_int_equal(device.limits.shared_bytes, 232448);
    check_error(tz_backend_cuda.identify(1, &none, &failure), TZ_BACKEND, "", "there is no GPU 1");
    assert_int_equal(none.units + none.limits.multiprocessors + none.limits.shared_bytes, 0);
    tz_simulation *sim = create("star2d1r", false, "", 0);
    assert_string_equal(tz_simulation_plan(sim)->family, "resident");
    tz_plan plan = {.vector = 4};
    assert_ok(tz_simulation_set_plan(sim, &plan, &failure));
    assert_string_equal(tz_simulation_plan(sim)->family, "stream");
    tz_simulation_destroy(sim);
}

static int open_all(void **state)
{
    return open_fake(state) || open_all_plugins(state);
}

static int close_all(void **state)
{
    return close_plugins(state) || close_fake(state);
}

TEST_GROUP(open_all, close_all)
