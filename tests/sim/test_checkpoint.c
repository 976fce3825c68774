/* Checkpoints: their files, and simulations and runs that go on from them, on another backend and
 * plan. */
#include "base/file.h"
#include "sim/checkpoint.h"
#include "tests/oracle/oracle.h"
#include "tests/support.h"

#include <jansson.h>
#include <limits.h>

/* ---- Files ----------------------------------------------------------------------------------- */

enum { ARRAYS = 3 };

static const int64_t sizes[ARRAYS] = {5000, 0, 24};

static void fill(unsigned char *data, size_t bytes, int seed)
{
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(i * 7 + (size_t)seed * 31);
}

/* A file of three arrays; the first is written in pieces from its end. */
static const char *write_file(scratch *s)
{
    tz_checkpoint_array arrays[ARRAYS];
    unsigned char data[5000];
    tz_checkpoint_writer *writer;
    json_t *facts = json_pack("{s:i, s:s}", "number", 3, "text", "\xc3\xa9\n\"");
    for (int i = 0; i < ARRAYS; i++) {
        snprintf(arrays[i].name, sizeof arrays[i].name, "array %d", i);
        arrays[i].bytes = sizes[i];
    }
    snprintf(s->path, sizeof s->path, "%s/file", s->directory);
    const bool is_new = access(s->path, F_OK) != 0;
    assert_ok(tz_checkpoint_begin(&writer, s->path, facts, arrays, ARRAYS, &failure));
    fill(data, 5000, 0);
    assert_ok(tz_checkpoint_write(writer, 0, 4096, data + 4096, 904, &failure));
    assert_ok(tz_checkpoint_write(writer, 0, 0, data, 4096, &failure));
    fill(data, 24, 2);
    assert_ok(tz_checkpoint_write(writer, 2, 0, data, 24, &failure));
    if (is_new) /* not there before it is whole */
        assert_int_not_equal(access(s->path, F_OK), 0);
    assert_ok(tz_checkpoint_commit(writer, &failure));
    json_decref(facts);
    return s->path;
}

SCRATCH_TEST(test_file)
{
    tz_checkpoint_reader *reader;
    const tz_checkpoint_array *arrays;
    unsigned char data[5000], wanted[5000];
    assert_ok(tz_checkpoint_open(&reader, write_file(*state), true, &failure));
    assert_int_equal(json_integer_value(json_object_get(tz_checkpoint_facts(reader), "number")), 3);
    assert_int_equal(tz_checkpoint_arrays(reader, &arrays), ARRAYS);
    for (int i = 0; i < ARRAYS; i++) {
        assert_int_equal(arrays[i].bytes, sizes[i]);
        assert_int_equal(arrays[i].offset % 4096, 0);
        fill(wanted, (size_t)sizes[i], i);
        assert_ok(tz_checkpoint_read(reader, &arrays[i], 0, data, (size_t)sizes[i], &failure));
        assert_memory_equal(data, wanted, (size_t)sizes[i]);
    }
    assert_ptr_equal(tz_checkpoint_find(reader, "array 2"), &arrays[2]);
    assert_null(tz_checkpoint_find(reader, "array 3"));
    check_error(tz_checkpoint_read(reader, &arrays[2], 16, data, 16, &failure), TZ_RANGE, "file",
                "array 2 holds 24 bytes");
    check_error(tz_checkpoint_read(reader, &arrays[2], -8, data, 16, &failure), TZ_RANGE, "", "");
    tz_checkpoint_close(reader);
}

/* The sum of an array is that of its pieces. */
TEST(test_sum)
{
    unsigned char data[100];
    fill(data, 100, 5);
    const uint64_t whole = tz_file_sum(0, data, 100);
    assert_true(whole == tz_file_sum(0, data, 36) + tz_file_sum(36, data + 36, 64));
    for (int i = 0; i < 100; i++) {
        data[i] ^= 1;
        assert_true(tz_file_sum(0, data, 100) != whole);
        data[i] ^= 1;
    }
}

static void flip(const char *path, long at)
{
    FILE *file = fopen(path, "r+b");
    fseek(file, at, SEEK_SET);
    const int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 0x10, file);
    fclose(file);
}

/* A flipped bit anywhere but in what fills the file up is noticed. */
SCRATCH_TEST(test_damage)
{
    tz_checkpoint_reader *reader;
    const char *path = write_file(*state);
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    const long sums = facts.st_size - 8 * (ARRAYS + 1);
    const long places[] = {0, 20, 40, 50, 70, 120, 4096, 4096 + 4999, sums, sums + 31};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        flip(path, places[i]);
        check_error(tz_checkpoint_open(&reader, path, true, &failure), TZ_FORMAT, "file",
                    "checkpoint");
        flip(path, places[i]);
        assert_ok(tz_checkpoint_open(&reader, path, true, &failure));
        tz_checkpoint_close(reader);
    }
    /* Of the last array, which fills a part of the page before the sums, too. */
    int noticed = 0;
    for (long at = sums - 4096; at < sums; at += 509) {
        flip(path, at);
        if (tz_checkpoint_open(&reader, path, true, &failure) == TZ_OK)
            tz_checkpoint_close(reader);
        else
            noticed++;
        flip(path, at);
    }
    assert_true(noticed > 0);
    for (long size = 0; size < facts.st_size; size += size < 200 ? 13 : 1500) {
        path = write_file(*state);
        assert_int_equal(truncate(path, size), 0);
        check_error(tz_checkpoint_open(&reader, path, true, &failure), TZ_FORMAT, "file",
                    "damaged");
    }
    check_error(tz_checkpoint_open(&reader, "/nowhere/file", true, &failure), TZ_IO, "/nowhere",
                "");
}

/* ---- Simulations ----------------------------------------------------------------------------- */

typedef struct kind {
    const char *stencil;
    int64_t extent[TZ_AXES];
    bool mixed;
} kind;

static const kind kinds[] = {{"hotspot", {70, 45}, false},   {"life", {77, 40}, false},
                             {"grayscott", {33, 40}, false}, {"hotspot3d", {20, 17, 9}, false},
                             {"cell", {40, 13, 11}, false},  {"poisson", {45, 38}, true},
                             {"wave2d", {50, 41}, false}};

static tz_simulation *make(const kind *k, const char *backend, int height, int threads)
{
    oracle_config config = oracle(k->stencil, k->mixed ? TZ_DOUBLE : -1, NULL, k->extent[0],
                                  k->extent[1], k->extent[2]);
    config.mixed = k->mixed;
    config.backend = backend;
    config.height = height;
    config.threads = threads;
    tz_simulation *simulation = NULL;
    assert_ok(oracle_try(&simulation, &config, &failure));
    const tz_stencil *stencil = tz_simulation_stencil(simulation);
    for (int f = 0; f < stencil->fields_count; f++) {
        const tz_random random = {
            .seed = 7 + (uint64_t)f, .low = k->mixed ? -1 : 0, .high = 1, .density = 0.4};
        if (k->mixed ? f == 1 : stencil->fields[f].role == TZ_STATE)
            assert_ok(tz_simulation_fill_random(simulation, f, NULL, &random, &failure));
    }
    return simulation;
}

static void save(const tz_simulation *simulation, json_t *facts, const char *path)
{
    tz_checkpoint_array arrays[64];
    tz_checkpoint_writer *writer;
    const size_t count = tz_simulation_arrays(simulation, "0/", arrays, 64);
    assert_ok(tz_checkpoint_begin(&writer, path, facts, arrays, count, &failure));
    assert_ok(tz_simulation_save(simulation, writer, 0, &failure));
    assert_ok(tz_checkpoint_commit(writer, &failure));
}

/* Go on with a run to its end, or to its n-th pause: then all of it is kept in a file. */
static tz_status go_on(tz_simulation *simulation, tz_course *course, int pauses, const char *path)
{
    const tz_until until = {.step = INT64_MAX};
    tz_stop stop = TZ_STOP_DUE;
    tz_status status = TZ_OK;
    while (!status && stop != TZ_STOP_END) {
        status = tz_simulation_advance(simulation, course, &until, &stop, &failure);
        if (status || stop != TZ_STOP_PAUSE || pauses-- > 0)
            continue;
        json_t *facts =
            json_pack("{s:o, s:o, s:o}", "identity", tz_simulation_identity(simulation), "progress",
                      tz_simulation_progress(simulation), "run", tz_course_to_json(course));
        save(simulation, facts, path);
        json_decref(facts);
        status = TZ_INTERRUPTED;
    }
    return tz_simulation_end(simulation, course, status, &failure);
}

static void compare(const tz_simulation *a, const tz_simulation *b)
{
    const tz_stencil *stencil = tz_simulation_stencil(a);
    const double time = tz_simulation_time(a), other_time = tz_simulation_time(b);
    assert_int_equal(tz_simulation_step(a), tz_simulation_step(b));
    assert_true(time == other_time || (isnan(time) && isnan(other_time)));
    for (int f = 0; f < stencil->fields_count; f++) {
        tz_reduction one, other;
        if (stencil->fields[f].role == TZ_STREAMED)
            continue;
        assert_ok(tz_simulation_reduce(a, f, &one, &failure));
        assert_ok(tz_simulation_reduce(b, f, &other, &failure));
        assert_true(one.hash == other.hash);
    }
}

static void check_kind(const kind *k, const tz_run *run, int pauses, const char *path)
{
    tz_run_result wanted;
    tz_course course;
    tz_simulation *whole = make(k, "cpu", 4, 2), *cut = make(k, "cpu", 4, 2),
                  *other = make(k, pauses % 2 ? "reference" : "cpu", pauses % 2 ? 0 : 3, 1);
    assert_ok(run_simulation(whole, run, &wanted, &failure));
    assert_ok(tz_simulation_begin(cut, run, &course, &failure));
    const tz_status status = go_on(cut, &course, pauses, path);
    if (status != TZ_OK) {
        assert_int_equal(status, TZ_INTERRUPTED);
        tz_checkpoint_reader *reader;
        assert_ok(tz_checkpoint_open(&reader, path, true, &failure));
        const json_t *facts = tz_checkpoint_facts(reader);
        assert_ok(
            tz_simulation_check_identity(other, json_object_get(facts, "identity"), &failure));
        assert_ok(tz_simulation_restore(other, json_object_get(facts, "progress"), reader, "0/",
                                        &failure));
        assert_ok(tz_course_from_json(json_object_get(facts, "run"), run, &course, &failure));
        assert_ok(go_on(other, &course, INT_MAX, NULL));
        compare(whole, other);
        assert_int_equal(course.result.steps, wanted.steps);
        assert_int_equal(course.result.status, wanted.status);
        assert_true(memcmp(&course.result.residual, &wanted.residual, sizeof(double)) == 0);
        tz_checkpoint_close(reader);
    }
    tz_simulation_destroy(whole);
    tz_simulation_destroy(cut);
    tz_simulation_destroy(other);
}

SCRATCH_TEST(test_runs)
{
    scratch *s = *state;
    const tz_run steps = {.steps = 41, .until_residual = NAN};
    snprintf(s->path, sizeof s->path, "%s/file", s->directory);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int pauses = 0; pauses < 11; pauses += 3)
            check_kind(&kinds[i], &steps, pauses, s->path);
}

SCRATCH_TEST(test_until)
{
    scratch *s = *state;
    const tz_run residual = {.steps = 700, .until_residual = 1e-9},
                 update = {.steps = 90,
                           .until_residual = 1e-9,
                           .until_is_update = true,
                           .check_every = 10};
    snprintf(s->path, sizeof s->path, "%s/file", s->directory);
    for (int pauses = 1; pauses < 60; pauses += 40) {
        check_kind(&kinds[0], &residual, pauses, s->path);
        check_kind(&kinds[0], &update, pauses / 3, s->path);
        check_kind(&kinds[5], &residual, pauses / 2, s->path);
    }
}

TEST(test_identity)
{
    kind wider = kinds[0];
    wider.extent[0]++;
    tz_simulation *one = make(&kinds[0], "cpu", 4, 1), *other = make(&wider, "cpu", 4, 1);
    json_t *identity = tz_simulation_identity(one);
    assert_ok(tz_simulation_check_identity(one, identity, &failure));
    check_error(tz_simulation_check_identity(other, identity, &failure), TZ_RANGE, "", "its grid");
    json_object_set_new(identity, "plugin's version", json_string("0.0"));
    check_error(tz_simulation_check_identity(one, identity, &failure), TZ_RANGE, "",
                "its plugin's version was 0.0, and is ");
    json_decref(identity);
    tz_simulation_destroy(one);
    tz_simulation_destroy(other);
}

/* Facts of a wrong type or range are refused, whichever they are. */
SCRATCH_TEST(test_bad_facts)
{
    scratch *s = *state;
    tz_simulation *simulation = make(&kinds[0], "cpu", 4, 1);
    json_t *progress = tz_simulation_progress(simulation), *none = json_object();
    tz_checkpoint_reader *reader;
    const char *key;
    json_t *value;
    snprintf(s->path, sizeof s->path, "%s/file", s->directory);
    save(simulation, none, s->path);
    assert_ok(tz_checkpoint_open(&reader, s->path, true, &failure));
    json_object_foreach(progress, key, value)
    {
        if (strcmp(key, "origins") == 0) /* for other runs; of older ones it is not there */
            continue;
        json_t *bad = json_deep_copy(progress);
        /* nobody needs these two to be right */
        const bool needed = strcmp(key, "policy") != 0 && strcmp(key, "correction_ahead") != 0;
        json_object_set_new(bad, key, needed ? json_integer(-2) : json_object());
        const tz_status status = tz_simulation_restore(simulation, bad, reader, "0/", &failure);
        if (status != (needed ? TZ_FORMAT : TZ_OK))
            fail_msg("%s: status %d", key, (int)status);
        json_decref(bad);
    }
    check_error(tz_simulation_restore(simulation, progress, reader, "1/", &failure), TZ_FORMAT, "",
                "no field 1/temperature");
    json_decref(progress);
    json_decref(none);
    tz_checkpoint_close(reader);
    tz_simulation_destroy(simulation);
}

TEST_GROUP(open_plugins, close_plugins)
