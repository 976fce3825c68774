/* The library as programs use it: linked with libtrapeze.so alone. */
#include "tests/unit.h"

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>
#include <trapeze/trapeze.h>

enum { NX = 20, NY = 12 };

static const char heat[] = "{\"name\": \"warm\", \"dims\": 2, \"fields\": [\"t\"],"
                           " \"params\": {\"rate\": 0.2},"
                           " \"update\": {\"t\": \"t + rate*lap(t)\"}}";

static void destroy(void *session)
{
    tz_session_destroy(session);
}

static tz_session *open_session(const tz_session_options *options)
{
    tz_session *session = NULL;
    assert_ok(tz_session_create(&session, options, &failure));
    at_end(destroy, session);
    return session;
}

static tz_sim *create(tz_session *session, const char *options)
{
    tz_sim *sim = NULL;
    assert_ok(tz_sim_create(&sim, session, options, &failure));
    return sim;
}

static tz_sim *create_warm(tz_session *session, const char *more)
{
    char options[400];
    const char *id;
    assert_ok(tz_session_define(session, heat, &id, &failure));
    assert_string_equal(id, "warm");
    snprintf(options, sizeof options, "{\"plugin\": \"warm\", \"grid\": [%d, %d]%s}", NX, NY, more);
    return create(session, options);
}

static tz_memory memory_of(void *data, const char *dtype, int64_t nx, int64_t ny)
{
    return (tz_memory){
        .data = data, .dtype = dtype, .dims = 2, .device = TZ_HOST, .shape = {nx, ny, 1}};
}

/* Values that single precision holds. */
static double start_of(int64_t x, int64_t y)
{
    return (double)((x * 7 + y * 13) % 11) - 3.5;
}

static void set_start(tz_sim *sim)
{
    double cells[NY][NX];
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
            cells[y][x] = start_of(x, y);
    const tz_memory memory = memory_of(cells, "f8", NX, NY);
    assert_ok(tz_sim_set(sim, "t", NULL, &memory, &failure));
}

static uint64_t hash_of(const tz_sim *sim, const char *field)
{
    tz_sim_numbers numbers;
    assert_ok(tz_sim_reduce(sim, field, &numbers, &failure));
    return numbers.hash;
}

/* ---- Bits ------------------------------------------------------------------------------------ */

/* What a script gives as JSON. Called in threads, too. */
static tz_status try_script(tz_session *session, const char *text, char *printed, size_t size,
                            tz_error *error)
{
    char path[] = "/tmp/trapeze-library-XXXXXX.lua", options[100], command[200];
    const char *result = "";
    const int file = mkstemps(path, 4);
    const bool written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    close(file);
    snprintf(options, sizeof options, "{\"out\": \"%s.run\", \"set\": {\"steps\": 30}}", path);
    const tz_status status =
        written ? tz_session_scenario(session, path, options, &result, error) : TZ_IO;
    snprintf(command, sizeof command, "rm -rf %s %s.run", path, path);
    snprintf(printed, size, "%s", result);
    return system(command) == 0 ? status : TZ_IO;
}

static void run_script(tz_session *session, const char *text, char *printed, size_t size)
{
    assert_ok(try_script(session, text, printed, size, &failure));
}

TEST(bits_are_those_of_a_script_with_the_reference)
{
    tz_session *session = open_session(NULL);
    char printed[2000], wanted[32];
    run_script(session,
               "local tz = require 'trapeze'\n"
               "local warm = tz.stencil { dims = 2, fields = { 't' }, params = { rate = 0.2 },\n"
               "    update = { t = 't + rate*lap(t)' } }\n"
               "local sim = tz.simulation { plugin = warm, grid = { 20, 12 }, backend = "
               "'reference' }\n"
               "sim:set('t', function(x, y) return (x*7 + y*13) % 11 - 3.5 end)\n"
               "sim:run(tz.args.steps)\n"
               "local life = tz.simulation { plugin = 'life', grid = { 64, 40 }, backend = "
               "'reference',\n"
               "    fields = { alive = tz.random { seed = 3, density = 0.4 } } }\n"
               "life:run(tz.args.steps)\n"
               "print(sim:hash(), life:hash())\n",
               printed, sizeof printed);
    for (int k = 0; k < 3; k++) {
        static const char *const plans[] = {"", ", \"backend\": \"reference\"",
                                            ", \"backend\": \"cpu\", \"height\": 3"};
        tz_sim *sim = create_warm(session, plans[k]);
        set_start(sim);
        assert_ok(tz_sim_advance(sim, 10, &failure));
        assert_ok(tz_sim_run(sim, "{\"steps\": 20}", NULL, &failure));
        snprintf(wanted, sizeof wanted, "%016llx", (unsigned long long)hash_of(sim, "t"));
        assert_non_null(strstr(printed, wanted));
        tz_sim_destroy(sim);
    }
    tz_sim *life =
        create(session, "{\"plugin\": \"life\", \"grid\": [64, 40], \"fields\": {\"alive\":"
                        " {\"tz.random\": {\"seed\": 3, \"density\": 0.4}}}}");
    assert_ok(tz_sim_advance(life, 30, &failure));
    snprintf(wanted, sizeof wanted, "%016llx", (unsigned long long)hash_of(life, "alive"));
    assert_non_null(strstr(printed, wanted));
}

/* ---- Memory ---------------------------------------------------------------------------------- */

TEST(memory_has_any_strides_and_types)
{
    tz_session *session = open_session(NULL);
    tz_sim *sim = create_warm(session, "");
    /* Columns first, every second one, from the last row up. */
    static float room[NX][2 * NY];
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
            room[x][2 * (NY - 1 - y)] = (float)start_of(x, y);
    tz_memory turned = memory_of(&room[0][2 * (NY - 1)], "f4", NX, NY);
    turned.strides[0] = sizeof room[0];
    turned.strides[1] = -2 * (int64_t)sizeof(float);
    assert_ok(tz_sim_set(sim, "t", NULL, &turned, &failure));
    tz_sim *plain = create_warm(session, "");
    set_start(plain);
    assert_int_equal(hash_of(sim, "t"), hash_of(plain, "t"));

    memset(room, 0, sizeof room);
    assert_ok(tz_sim_get(sim, "t", NULL, &turned, &failure));
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
            assert_true(room[x][2 * (NY - 1 - y)] == (float)start_of(x, y));

    /* A box, whose bytes lie at odd addresses. */
    char bytes[1 + 3 * 2 * sizeof(double)];
    const tz_memory odd = memory_of(bytes + 1, "f8", 3, 2);
    assert_ok(tz_sim_get(sim, "t", (int64_t[]){5, 4, 0}, &odd, &failure));
    double value;
    memcpy(&value, bytes + 1 + 5 * sizeof value, sizeof value);
    assert_true(value == start_of(7, 5));
    int8_t small[2][3] = {{1, 2, 3}, {4, 5, -6}};
    const tz_memory integers = memory_of(small, "i1", 3, 2);
    assert_ok(tz_sim_set(sim, "t", (int64_t[]){0, 10, 0}, &integers, &failure));
    memset(small, 0, sizeof small);
    assert_ok(tz_sim_get(sim, "t", (int64_t[]){0, 10, 0}, &integers, &failure));
    assert_int_equal(small[1][2], -6);
}

TEST(memory_that_repeats_elements_is_read_and_not_written)
{
    tz_session *session = open_session(NULL);
    tz_sim *sim = create_warm(session, "");
    float row[NX], cells[NY][NX];
    for (int x = 0; x < NX; x++)
        row[x] = (float)x;
    tz_memory repeated = memory_of(row, "f4", NX, NY);
    repeated.strides[0] = sizeof *row;
    assert_ok(tz_sim_set(sim, "t", NULL, &repeated, &failure));
    const tz_memory whole = memory_of(cells, "f4", NX, NY);
    assert_ok(tz_sim_get(sim, "t", NULL, &whole, &failure));
    for (int x = 0; x < NX; x++)
        assert_true(cells[0][x] == (float)x && cells[NY - 1][x] == (float)x);
    check_error(tz_sim_get(sim, "t", NULL, &repeated, &failure), TZ_SHAPE, "memory",
                "its elements share bytes: the stride along y is 0");
    repeated.strides[1] = -(int64_t)sizeof row + 4; /* a row begins within the one before */
    check_error(tz_sim_get(sim, "t", NULL, &repeated, &failure), TZ_SHAPE, "memory",
                "its elements share bytes");
}

TEST(memory_that_does_not_fit_is_refused)
{
    tz_session *session = open_session(NULL);
    tz_sim *sim = create_warm(session, "");
    set_start(sim);
    const uint64_t before = hash_of(sim, "t");
    double cells[NY * NX] = {0.0};
    int32_t integers[NY * NX];
    tz_memory memory = memory_of(cells, "f8", NX, NY);
    check_error(tz_sim_set(sim, "u", NULL, &memory, &failure), TZ_UNKNOWN, "", "'u'");
    cells[25] = NAN;
    check_error(tz_sim_set(sim, "t", NULL, &memory, &failure), TZ_RANGE, "t", "cell (5, 1, 0)");
    memory.shape[0] = NX - 1;
    check_error(tz_sim_set(sim, "t", NULL, &memory, &failure), TZ_SHAPE, "t", "make them the same");
    check_error(tz_sim_get(sim, "t", NULL, &memory, &failure), TZ_SHAPE, "memory", "19 x 12");
    check_error(tz_sim_get(sim, "t", (int64_t[]){2, 0, 0}, &memory, &failure), TZ_RANGE, "t",
                "not inside the grid");
    memory.dtype = "f3";
    check_error(tz_sim_get(sim, "t", NULL, &memory, &failure), TZ_TYPE, "memory", "'f3'");
    memory = memory_of(integers, "i4", NX, NY);
    check_error(tz_sim_get(sim, "t", NULL, &memory, &failure), TZ_TYPE, "memory", "int32");
    memory.data = NULL;
    check_error(tz_sim_get(sim, "t", NULL, &memory, &failure), TZ_USAGE, "memory", "NULL");
    assert_int_equal(hash_of(sim, "t"), before);
}

TEST(views_end_at_the_next_change)
{
    tz_session *session = open_session(NULL);
    tz_sim *sim = create_warm(session, ", \"backend\": \"cpu\"");
    set_start(sim);
    tz_sim_cells view;
    assert_ok(tz_sim_view(sim, "t", 0, &view, &failure));
    assert_string_equal(view.memory.dtype, "f4");
    assert_int_equal(view.memory.device, TZ_HOST);
    const char *first = view.memory.data;
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
            assert_true(*(const float *)(first + x * view.memory.strides[0] +
                                         y * view.memory.strides[1]) == (float)start_of(x, y));
    /* Reading keeps it. */
    double residual;
    hash_of(sim, "t");
    assert_ok(tz_sim_residual(sim, &residual, &failure));
    assert_ok(tz_sim_call(sim, "max", NULL, NULL, &failure));
    assert_int_equal(tz_sim_generation(sim), view.generation);
    assert_ok(tz_sim_advance(sim, 1, &failure));
    assert_int_not_equal(tz_sim_generation(sim), view.generation);
    assert_ok(tz_sim_view(sim, "t", 0, &view, &failure));
    assert_ok(tz_sim_call(sim, "set", "[\"t\", 4]", NULL, &failure));
    assert_int_not_equal(tz_sim_generation(sim), view.generation);

    /* Halves and bits are values only when they are copied. */
    tz_sim *half = create_warm(session, ", \"storage\": \"half\"");
    check_error(tz_sim_view(half, "t", 0, &view, &failure), TZ_UNSUPPORTED, "t", "tz_sim_get()");
    assert_ok(tz_sim_view(half, "t", TZ_VIEW_RAW, &view, &failure));
    assert_string_equal(view.memory.dtype, "f2");
    tz_sim *life = create(session, "{\"plugin\": \"life\", \"grid\": [64, 8]}");
    assert_ok(tz_sim_view(life, "alive", TZ_VIEW_RAW, &view, &failure));
    assert_string_equal(view.memory.dtype, "u4");
    assert_int_equal(view.memory.shape[0], 2);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

TEST(calls_say_what_is_wrong)
{
    tz_session *session = open_session(NULL);
    const char *result;
    tz_sim *sim = NULL;
    check_error(tz_sim_create(&sim, session, "{\"plugin\": \"life\"}", &failure), TZ_USAGE, "",
                "grid");
    check_error(tz_sim_create(&sim, session, "{\"plugin\": \"lifee\", \"grid\": [8, 8]}", &failure),
                TZ_UNKNOWN, "", "'life'");
    check_error(tz_sim_create(&sim, session, "{\"plugin\": \"life\", \"gird\": [8, 8]}", &failure),
                TZ_USAGE, "", "did you mean 'grid'");
    check_error(tz_sim_create(&sim, session, "{\"plugin\": \"life\", ", &failure), TZ_FORMAT,
                "arguments", "");
    check_error(tz_session_call(session, "tz.predit", NULL, NULL, &failure), TZ_USAGE, "",
                "predict");
    check_error(tz_session_call(session, "tz.png", "{}", &result, &failure), TZ_UNSUPPORTED, "",
                "not in the library");
    check_error(tz_session_describe(session, "lifee", &result, &failure), TZ_UNKNOWN, "", "life");
    sim = create(session, "{\"plugin\": \"life\", \"grid\": [32, 8]}");
    check_error(tz_sim_call(sim, "runn", "5", NULL, &failure), TZ_USAGE, "", "'run'");
    check_error(tz_sim_run(sim, "{\"step\": 5}", NULL, &failure), TZ_USAGE, "", "'steps'");
    check_error(tz_sim_call(sim, "set", "[\"alive\", {\"tz.memory\": \"no\"}]", NULL, &failure),
                TZ_USAGE, "", "no memory 'no'");
    check_error(tz_object_call(session, 7, "array", NULL, &result, &failure), TZ_USAGE, "",
                "no object 7");
    tz_sim *path = create(session, "{\"plugin\": \"pathfinder\", \"grid\": [16]}");
    check_error(tz_sim_advance(path, 1, &failure), TZ_USAGE, "", "needs the field weights");
    int32_t slabs[3][16] = {{1, 2, 3}, {4}, {5}};
    const tz_memory memory = memory_of(slabs, "i4", 16, 3);
    assert_ok(tz_sim_set(path, "weights", NULL, &memory, &failure));
    assert_ok(tz_sim_advance(path, 3, &failure));
    check_error(tz_sim_advance(path, 1, &failure), TZ_RANGE, "", "weights");
}

TEST(null_is_refused)
{
    tz_session *session = open_session(NULL), *other;
    tz_sim *sim = create_warm(session, ""), *none = NULL;
    double cells[NY * NX] = {0.0};
    const tz_memory memory = memory_of(cells, "f8", NX, NY);
    const char *result;
    const tz_session_options options = {.struct_size = sizeof options, .plugins_count = 1};
    const tz_status refused[] = {tz_session_create(NULL, NULL, &failure),
                                 tz_session_create(&other, &options, &failure),
                                 tz_session_call(NULL, "tz.backends", NULL, &result, &failure),
                                 tz_session_define(session, NULL, &result, &failure),
                                 tz_session_describe(session, "life", NULL, &failure),
                                 tz_session_give(NULL, "a", &memory, &failure),
                                 tz_session_scenario(session, NULL, NULL, &result, &failure),
                                 tz_object_call(NULL, 1, "array", NULL, &result, &failure),
                                 tz_object_array(session, 1, NULL, &failure),
                                 tz_sim_create(NULL, session, "{}", &failure),
                                 tz_sim_create(&none, NULL, "{}", &failure),
                                 tz_sim_create(&none, session, NULL, &failure),
                                 tz_sim_call(sim, NULL, "5", NULL, &failure),
                                 tz_sim_set(sim, "t", NULL, NULL, &failure),
                                 tz_sim_view(sim, "t", 0, NULL, &failure),
                                 tz_sim_residual(NULL, cells, &failure),
                                 tz_sim_param(sim, "rate", NULL, &failure),
                                 tz_sim_advance(NULL, 1, &failure),
                                 tz_sim_advance(sim, -1, NULL),
                                 tz_sim_run(sim, NULL, &result, NULL),
                                 tz_sim_checkpoint(sim, NULL, NULL),
                                 tz_sim_resume(NULL, "a", NULL)};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i] != TZ_USAGE)
            fail_msg("call %zu: status %d", i, refused[i]);
    check_error(tz_sim_get(sim, NULL, NULL, &memory, &failure), TZ_UNKNOWN, "", "t");
    tz_sim_facts facts;
    tz_sim_get_facts(NULL, &facts);
    assert_int_equal(facts.cells, 0);
    tz_session_cancel(NULL);
    tz_session_set_turn(NULL, NULL);
    tz_object_release(NULL, 1);
    tz_sim_destroy(NULL);
    tz_session_destroy(NULL);
}

TEST(values_go_both_ways)
{
    tz_session *session = open_session(NULL);
    const char *result;
    assert_ok(tz_session_call(session, "tz.backends", NULL, &result, &failure));
    assert_non_null(strstr(result, "\"reference\""));
    assert_ok(tz_session_describe(session, "life", &result, &failure));
    assert_non_null(strstr(result, "\"name\":\"alive\""));
    tz_sim *sim = create_warm(session, "");
    double ones[NY][NX];
    for (int i = 0; i < NX * NY; i++)
        ones[i / NX][i % NX] = 1.0;
    tz_memory memory = memory_of(ones, "f8", NX, NY);
    assert_ok(tz_session_give(session, "ones", &memory, &failure));
    assert_ok(tz_sim_call(sim, "set", "[\"t\", {\"tz.memory\": \"ones\"}]", &result, &failure));
    assert_string_equal(result, "null");
    assert_ok(tz_session_give(session, "ones", NULL, &failure));
    assert_ok(tz_sim_call(sim, "sum", "[\"t\", {\"x\": [0, 5]}]", &result, &failure));
    assert_string_equal(result, "60.0");
    assert_ok(tz_sim_call(sim, "array", NULL, &result, &failure));
    assert_non_null(strstr(result, "\"type\":\"array\""));
    const int64_t array = strtoll(strchr(result, ':') + 1, NULL, 10);
    assert_ok(tz_object_array(session, array, &memory, &failure));
    assert_int_equal(memory.shape[1], NY);
    assert_true(((const float *)memory.data)[NX * NY - 1] == 1.0f);
    tz_object_release(session, array);
    check_error(tz_object_array(session, array, &memory, &failure), TZ_USAGE, "", "array");

    int64_t receivers;
    assert_ok(
        tz_sim_receivers(sim, "{\"field\": \"t\", \"points\": [[3, 3]]}", &receivers, &failure));
    assert_ok(tz_sim_advance(sim, 4, &failure));
    assert_ok(tz_object_call(session, receivers, "rows", NULL, &result, &failure));
    assert_true(atoi(result) >= 4);
    double rate;
    assert_ok(tz_sim_set_param(sim, "rate", 0.125, &failure));
    assert_ok(tz_sim_param(sim, "rate", &rate, &failure));
    assert_true(rate == 0.125);
    tz_sim_facts facts;
    tz_sim_get_facts(sim, &facts);
    assert_int_equal(facts.step, 4);
    assert_int_equal(facts.grid[1], NY);
    assert_string_equal(facts.plugin, "warm");
}

TEST(a_checkpoint_goes_on_with_the_same_bits)
{
    tz_session *session = open_session(NULL);
    char path[] = "/tmp/trapeze-library-XXXXXX";
    close(mkstemp(path));
    tz_sim *sim = create_warm(session, "");
    set_start(sim);
    assert_ok(tz_sim_advance(sim, 7, &failure));
    assert_ok(tz_sim_checkpoint(sim, path, &failure));
    assert_ok(tz_sim_advance(sim, 9, &failure));
    tz_sim *again = create_warm(session, ", \"backend\": \"reference\"");
    assert_ok(tz_sim_resume(again, path, &failure));
    tz_sim_facts facts;
    tz_sim_get_facts(again, &facts);
    assert_int_equal(facts.step, 7);
    assert_ok(tz_sim_advance(again, 9, &failure));
    assert_int_equal(hash_of(again, "t"), hash_of(sim, "t"));
    tz_sim *other = create_warm(session, ", \"params\": {\"rate\": 0.1}");
    check_error(tz_sim_resume(other, path, &failure), TZ_RANGE, "", "parameters differ");
    unlink(path);
    check_error(tz_sim_resume(other, path, &failure), TZ_IO, "", "");
}

/* ---- Threads, cancelling, many --------------------------------------------------------------- */

static void *compute(void *hash)
{
    tz_session *session = NULL;
    tz_sim *sim = NULL;
    const char *id;
    char options[200];
    double cells[NY * NX];
    snprintf(options, sizeof options, "{\"plugin\": \"warm\", \"grid\": [%d, %d], \"threads\": 2}",
             NX, NY);
    if (tz_session_create(&session, NULL, NULL) || tz_session_define(session, heat, &id, NULL) ||
        tz_sim_create(&sim, session, options, NULL))
        return NULL;
    for (int i = 0; i < NX * NY; i++)
        cells[i] = start_of(i % NX, i / NX);
    const tz_memory memory = memory_of(cells, "f8", NX, NY);
    bool good = tz_sim_set(sim, "t", NULL, &memory, NULL) == TZ_OK;
    for (int i = 0; i < 40; i++)
        good = good && tz_sim_advance(sim, 2, NULL) == TZ_OK;
    tz_sim_numbers numbers;
    if (good && tz_sim_reduce(sim, "t", &numbers, NULL) == TZ_OK)
        *(uint64_t *)hash = numbers.hash;
    tz_session_destroy(session);
    return NULL;
}

TEST(two_threads_compute_at_once)
{
    pthread_t threads[2];
    uint64_t hashes[2] = {1, 2};
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compute, &hashes[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(hashes[0], hashes[1]);
    assert_int_not_equal(hashes[0], 1);
}

/* Run a script with outputs of every kind; its numbers. */
static void *run_scenario(void *numbers)
{
    char printed[2000];
    tz_session *session = NULL;
    tz_error error = {.code = TZ_OK};
    if (tz_session_create(&session, NULL, &error) ||
        try_script(session,
                   "local tz = require 'trapeze'\n"
                   "local sim = tz.simulation { plugin = 'hotspot', grid = { 24, 16 }, fields =\n"
                   "    { temperature = function(x, y) return 300 + x + y end, power = 0.1 } }\n"
                   "sim:every(4, tz.npy 'temperature')\n"
                   "sim:every(8, tz.png 'temperature')\n"
                   "sim:every(1, tz.table { 'max(temperature)' })\n"
                   "sim:every(10, tz.checkpoint())\n"
                   "sim:run(tz.args.steps)\n"
                   "print(sim:hash 'temperature')\n",
                   printed, sizeof printed, &error))
        snprintf(numbers, 100, "%.20s %.70s", error.place, error.message);
    else
        snprintf(numbers, 100, "%.90s", strstr(printed, "\"printed\""));
    tz_session_destroy(session);
    return NULL;
}

TEST(two_sessions_run_scenarios_at_once)
{
    pthread_t threads[2];
    char numbers[2][100];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_scenario, numbers[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_string_equal(numbers[0], numbers[1]);
    assert_int_equal(strncmp(numbers[0], "\"printed\":\"", 11), 0);
}

static void *cancel_soon(void *session)
{
    const struct timespec pause = {.tv_nsec = 30000000};
    nanosleep(&pause, NULL);
    tz_session_cancel(session);
    return NULL;
}

static int on_turn(void *user, const tz_turn *turn)
{
    int *calls = user;
    return turn->done > 0 && ++*calls == 2;
}

TEST(a_run_is_cancelled)
{
    int calls = 0;
    const tz_session_options options = {
        .struct_size = sizeof options, .user = &calls, .turn = on_turn};
    tz_session *session = open_session(&options);
    tz_sim *sim = create_warm(session, "");
    check_error(tz_sim_advance(sim, INT64_C(1) << 40, &failure), TZ_INTERRUPTED, "", "at step");
    assert_int_equal(calls, 2);
    assert_ok(tz_sim_advance(sim, 1, &failure));
    tz_session_set_turn(session, NULL);
    calls = 0;
    assert_ok(tz_sim_advance(sim, 20, &failure));
    assert_int_equal(calls, 0);
    tz_session_set_turn(session, on_turn);
    check_error(tz_sim_advance(sim, INT64_C(1) << 40, &failure), TZ_INTERRUPTED, "", "at step");

    tz_session *other = open_session(NULL);
    sim = create_warm(other, "");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, other), 0);
    const tz_status status = tz_sim_advance(sim, INT64_C(1) << 40, &failure);
    pthread_join(thread, NULL);
    assert_int_equal(status, TZ_INTERRUPTED);
    assert_ok(tz_sim_advance(sim, 1, &failure));
}

static void on_message(void *user, int level, const char *text)
{
    char *last = user;
    snprintf(last, 200, "%d %s", level, text);
}

TEST(messages_go_to_the_program)
{
    char last[200] = "";
    const tz_session_options options = {
        .struct_size = sizeof options, .user = last, .message = on_message};
    tz_session *session = open_session(&options);
    assert_ok(tz_session_call(session, "tz.log", "[\"a line\", 3]", NULL, &failure));
    assert_string_equal(last, "0 a line 3");
    tz_sim *sim = create_warm(session, "");
    assert_ok(tz_sim_advance(sim, 3, &failure));
    assert_non_null(strstr(last, "1 sim1: nothing happened"));
}

TEST(a_thousand_simulations)
{
    tz_session *session = open_session(NULL);
    for (int i = 0; i < 1000; i++) {
        tz_sim *sim =
            create(session, i % 50 ? "{\"plugin\": \"life\", \"grid\": [32, 4], \"backend\": "
                                     "\"reference\"}"
                                   : "{\"plugin\": \"life\", \"grid\": [32, 4], \"threads\": 2}");
        if (i % 100 == 0)
            assert_ok(tz_sim_advance(sim, 1, &failure));
        if (i % 10 != 9) /* the session frees the others */
            tz_sim_destroy(sim);
    }
}

/* ---- What the pages say ---------------------------------------------------------------------- */

static char *read_page(const char *name)
{
    char path[400];
    snprintf(path, sizeof path, TZ_TEST_ROOT "/%s", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    enum { MOST = 1 << 20 };
    char *text = test_room(MOST);
    assert_true(fread(text, 1, MOST - 1, file) > 0);
    fclose(file);
    return text;
}

/* Does docs/library.md have a row of a table for it? */
static bool is_listed(const char *page, const char *name)
{
    char row[100];
    snprintf(row, sizeof row, "\n| `%s`", name);
    return strstr(page, row) != NULL;
}

/* Call a function without arguments, on an object of its kind. */
static tz_status call_bare(tz_session *session, tz_sim *sim, const char *kind, const char *name)
{
    const char *result, *maker = strcmp(kind, "array") == 0       ? "{\"data\": [1, 2]}"
                                 : strcmp(kind, "receivers") == 0 ? "{\"points\": [[1, 1]]}"
                                                                  : NULL;
    if (strcmp(kind, "sim") == 0)
        return tz_sim_call(sim, name, NULL, &result, &failure);
    if (strcmp(kind, "stencil") == 0)
        assert_ok(tz_session_call(session, "tz.stencil", "\"life\"", &result, &failure));
    else if (strcmp(kind, "array") == 0)
        assert_ok(tz_session_call(session, "tz.array", maker, &result, &failure));
    else if (strcmp(kind, "receivers") == 0)
        assert_ok(tz_sim_call(sim, "receivers", maker, &result, &failure));
    else if (strcmp(kind, "tz") == 0)
        return tz_session_call(session, name, NULL, &result, &failure);
    else
        return TZ_OK; /* floorplans read files */
    const int64_t object = strtoll(strstr(result, "tz.object") + 11, NULL, 10);
    return tz_object_call(session, object, name, NULL, &result, &failure);
}

/* Every function of scenarios can be called, or is refused with the words of the page. */
TEST(the_page_lists_what_is_left_out)
{
    tz_session *session = open_session(NULL);
    const char *scenario = read_page("docs/scenario.md"), *page = read_page("docs/library.md");
    int functions = 0, refused = 0;
    for (const char *at = scenario; (at = strstr(at, "\n### `")); functions++) {
        char kind[20], name[40], whole[60];
        at += strlen("\n### `");
        if (sscanf(at, "%19[a-z]%*1[.:]%39[a-z0-9_]", kind, name) != 2)
            fail_msg("no function: %.40s", at);
        tz_sim *sim = create(session, "{\"plugin\": \"life\", \"grid\": [32, 4]}");
        snprintf(whole, sizeof whole, "%s%c%s", kind, strcmp(kind, "tz") == 0 ? '.' : ':', name);
        failure = (tz_error){0};
        const tz_status status = call_bare(session, sim, kind, name);
        const bool left_out =
            status == TZ_UNSUPPORTED && strstr(failure.message, "in the library: ");
        if (strstr(failure.message, "has no '"))
            fail_msg("%s: %s", whole, failure.message);
        const char *why = strstr(failure.message, "in the library: ");
        char row[200];
        snprintf(row, sizeof row, "\n| `%s` | %.120s |", whole, why ? why + 16 : "");
        if (left_out != is_listed(page, whole) || (left_out && !strstr(page, row)))
            fail_msg("%s: %s; docs/library.md says otherwise", whole, failure.message);
        refused += left_out;
        tz_sim_destroy(sim);
    }
    assert_true(functions > 60 && refused > 8);
}

/* JSON has no functions: keys that take them are on the page. */
TEST(the_page_lists_keys_of_functions)
{
    const char *page = read_page("docs/library.md");
    char *scenario = read_page("docs/scenario.md"), *rest = NULL;
    int keys = 0;
    for (char *line = strtok_r(scenario, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char key[40], type[60];
        if (sscanf(line, "- `%39[a-z0-9_]` (%59[a-z ,.0-9]", key, type) != 2 ||
            !strstr(type, "function"))
            continue;
        keys++;
        if (!is_listed(page, key))
            fail_msg("docs/library.md does not list '%s' of type '%s'", key, type);
    }
    assert_true(keys > 0);
}

/* Each function of the header has a text before it, or before the group that it is in, and is in
 * the library. */
TEST(functions_of_the_header_are_there)
{
    const char *header = read_page("core/include/trapeze/trapeze.h");
    void *program = dlopen(NULL, RTLD_NOW);
    int functions = 0;
    for (const char *at = header; (at = strstr(at, "\nTZ_PUBLIC ")); functions++) {
        const char *before = at;
        char name[60];
        while (before > header && before[-1] != '\n')
            before--;
        if (!memmem(before, (size_t)(at - before), "*/", 2) &&
            strncmp(before, "TZ_PUBLIC", 9) != 0 && before[0] != ' ')
            fail_msg("no text before: %.60s", at + 1);
        at++;
        const char *end = strchr(at, '('), *first = end;
        while (first[-1] != ' ' && first[-1] != '*')
            first--;
        snprintf(name, sizeof name, "%.*s", (int)(end - first), first);
        if (!dlsym(program, name))
            fail_msg("the library has no %s", name);
    }
    dlclose(program);
    assert_true(functions >= 30);
}
