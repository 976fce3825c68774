/* Samples and their statistics; names; finding, keeping and writing device records. */
#include "calibrate/calibrate.h"
#include "calibrate/cpu_parts.h"
#include "calibrate/loops.h"
#include "calibrate/records.h"
#include "tests/unit.h"

#include <fcntl.h>
#include <sys/stat.h>

static char folder[] = "/tmp/trapeze-devices.XXXXXX";

/* ---- Samples --------------------------------------------------------------------------------- */

TEST(samples_have_median_least_and_spread)
{
    tz_samples samples = {0};
    tz_samples_add(&samples, 7);
    assert_true(tz_samples_median(&samples) == 7 && tz_samples_least(&samples) == 7);
    assert_true(tz_samples_spread(&samples) == 0);
    tz_samples_add(&samples, 1);
    assert_true(tz_samples_median(&samples) == 4);
    tz_samples_add(&samples, 3);
    tz_samples_add(&samples, 5);
    tz_samples_add(&samples, 1000); /* an outlier changes nothing */
    assert_true(tz_samples_median(&samples) == 5 && tz_samples_least(&samples) == 1);
    assert_true(tz_samples_quarter(&samples) == 3);
    assert_true(fabs(tz_samples_spread(&samples) - (7.0 - 3.0) / 5.0) < 1e-12);
    for (int i = 0; i < 2 * TZ_SAMPLES_MAX; i++)
        tz_samples_add(&samples, 2);
    assert_int_equal(samples.count, TZ_SAMPLES_MAX);
    assert_true(tz_samples_median(&samples) == 2);
}

TEST(numbers_are_rounded_to_four_digits)
{
    tz_model_number number;
    assert_true(tz_round_number(0) == 0);
    assert_true(tz_round_number(1.23456789) == 1.235);
    assert_true(tz_round_number(0.123456) == 0.1235);
    assert_true(tz_round_number(1980123456.0) == 1.98 * 1e9);
    assert_true(tz_round_number(4.2345678e12) == 4.235 * 1e12);
    assert_true(tz_round_number(3.4567891e-7) == 345.7 * 1e-9);
    assert_true(tz_round_number(3.4567891e-6) == 3.457 * 1e-6);
    assert_true(tz_round_number(-12.3456) == -12.35);
    memset(&number, 0, sizeof number);
    tz_number_set(&number, 2.00004, "measured: %d times", 7);
    assert_true(number.known && !number.assumed && number.value == 2);
    assert_string_equal(number.source, "measured: 7 times");
    tz_number_set_exactly(&number, 1048577, "assumed, as %200d", 1);
    assert_true(number.assumed && number.value == 1048577);
    assert_int_equal(strlen(number.source), TZ_MODEL_SOURCE_SIZE - 1);
}

TEST(names_are_short)
{
    static const struct {
        const char *title, *name;
    } cases[] = {{"NVIDIA H200", "h200"},
                 {"NVIDIA GeForce RTX 4090", "rtx-4090"},
                 {"NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"},
                 {"Tesla V100-PCIE-16GB", "v100-pcie-16gb"},
                 {"AMD EPYC", "amd-epyc"},
                 {"Intel(R) Xeon(R) Platinum 8480C CPU @ 2.00GHz", "intel-xeon-platinum-8480c"},
                 {"../../etc", "etc"},
                 {"", "device"},
                 {"NVIDIA", "device"}};
    char name[TZ_MODEL_NAME_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tz_calibration_name(cases[i].title, name, sizeof name);
        assert_string_equal(name, cases[i].name);
        assert_null(strchr(name, '/'));
        assert_true(name[0] != '.');
    }
    tz_calibration_name("abcdefgh", name, 4);
    assert_string_equal(name, "abc");
}

/* Times of the model itself: a cache of `size` bytes misses x^6 / (1 + x^6) with x = bytes /
 * size. */
static double modelled_size(double size, double near, double far, double last)
{
    double bytes[32], seconds[32];
    int count = 0;
    for (double b = 3; b < last && count < 32; b *= 1.4, count++) {
        const double x = pow(b / size, 6);
        bytes[count] = b;
        seconds[count] = near + (far - near) * x / (1 + x);
    }
    return tz__cache_size(bytes, seconds, count);
}

TEST(a_cache_ends_where_half_comes_from_memory)
{
    for (double size = 8; size < 60; size *= 1.1) {
        assert_true(fabs(modelled_size(size, 1, 3, 128) / size - 1) < 0.1);
        assert_true(fabs(modelled_size(size, 5e-12, 14e-12, 128) / size - 1) < 0.1);
    }
    assert_true(modelled_size(20, 1, 1.2, 128) == 0);        /* memory is as fast */
    assert_true(modelled_size(1e6, 1, 3, 128) == 0);         /* all arrays are in the cache */
    const double bytes[] = {1, 2, 4}, seconds[] = {1, 4, 3}; /* not monotonic */
    const double found = tz__cache_size(bytes, seconds, 3);
    assert_true(found > 1 && found < 2);
}

/* ---- Records --------------------------------------------------------------------------------- */

static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void drop(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

TEST(records_are_found_by_name)
{
    static tz_model_device device;
    char path[512];
    /* A shipped record, then a calibrated record of the same name. */
    assert_ok(tz_device_find("gtx280", &device, &failure));
    assert_true(device.sm_count.value == 30);
    put("gtx280.txt", "name = gtx280\nsm_count = 31 # mine\n");
    assert_ok(tz_device_find("gtx280", &device, &failure));
    assert_true(device.sm_count.value == 31);
    snprintf(path, sizeof path, "%s/gtx280.txt", folder);
    assert_ok(tz_device_find(path, &device, &failure));
    assert_true(device.sm_count.value == 31);
    drop("gtx280.txt");
    assert_int_equal(tz_device_find(path, &device, &failure), TZ_IO);
    assert_string_equal(failure.place, path);
    assert_non_null(strstr(failure.message, "cannot open"));
    check_error(tz_device_find("/tmp", &device, &failure), TZ_IO, "", "cannot read");

    check_error(tz_device_find("gtx208", &device, &failure), TZ_UNKNOWN, "",
                "did you mean 'gtx280'");
    assert_int_equal(tz_device_find("", &device, &failure), TZ_UNKNOWN);
    put("wrong.txt", "name = wrong\nsm_count = many # x\n");
    assert_int_equal(tz_device_find("wrong", &device, &failure), TZ_FORMAT);
    assert_non_null(strstr(failure.place, "wrong.txt:2"));
    drop("wrong.txt");
}

/* NAME.txt, a record of a CPU. */
static void put_cpu(const char *name, const char *title, int cores, int vector_bytes)
{
    char text[512], file[64];
    snprintf(text, sizeof text, "name = %s\ntitle = %.63s\ncores = %d # x\nvector = %d B # x\n",
             name, title, cores, vector_bytes);
    snprintf(file, sizeof file, "%s.txt", name);
    put(file, text);
}

TEST(the_newest_record_of_this_cpu_counts)
{
    static tz_model_device device;
    tz_machine machine;
    tz_machine_read(&machine);
    const tz_loop_set *loops = tz_loops_of(machine.isa);
    if (!loops)
        skip_test("no loops for this processor");
    check_error(tz_device_of(&tz_backend_cpu, 0, &device, &failure), TZ_UNSUPPORTED, "",
                "trapeze calibrate --cpu");
    put_cpu("a", machine.cpu, machine.cores + 1, loops->vector_bytes);
    put_cpu("b", machine.cpu, machine.cores, 8);
    put_cpu("c", "x", machine.cores, loops->vector_bytes);
    put("d.txt", "this is no record\n");
    assert_int_equal(tz_device_of(&tz_backend_cpu, 0, &device, &failure), TZ_UNSUPPORTED);
    put_cpu("old", machine.cpu, machine.cores, loops->vector_bytes);
    assert_ok(tz_device_of(&tz_backend_cpu, 0, &device, &failure));
    assert_string_equal(device.name, "old");
    put_cpu("new", machine.cpu, machine.cores, loops->vector_bytes);
    const struct timespec at[2] = {{1000000000, 0}, {1000000000, 0}};
    char path[512];
    snprintf(path, sizeof path, "%s/old.txt", folder);
    assert_int_equal(utimensat(AT_FDCWD, path, at, 0), 0);
    assert_ok(tz_device_of(&tz_backend_cpu, 0, &device, &failure));
    assert_string_equal(device.name, "new");
    static const char *const names[] = {"a.txt", "b.txt", "c.txt", "d.txt", "old.txt", "new.txt"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        drop(names[k]);
}

TEST(a_kept_record_leaves_the_previous)
{
    static tz_model_device device, again;
    char path[512], previous[520];
    snprintf(device.name, sizeof device.name, "mine");
    tz_number_set(&device.clock_hz, 1.5e9, "measured: first");
    assert_ok(tz_device_keep(&device, path, sizeof path, &failure));
    assert_non_null(strstr(path, "/mine.txt"));
    assert_ok(tz_device_find("mine", &again, &failure));
    assert_memory_equal(&device, &again, sizeof again);
    snprintf(previous, sizeof previous, "%s~", path);
    assert_int_equal(access(previous, F_OK), -1);
    for (int i = 0; i < 2; i++) {
        tz_number_set(&device.clock_hz, 2e9 + i * 1e9, "measured: again");
        assert_ok(tz_device_keep(&device, path, sizeof path, &failure));
        assert_ok(tz_device_find("mine", &again, &failure));
        assert_true(again.clock_hz.value == 2e9 + i * 1e9);
        assert_ok(tz_device_find(previous, &again, &failure));
        assert_true(again.clock_hz.value == (i ? 2e9 : 1.5e9));
    }
    /* A file that exists is not written over unless that is asked for. */
    assert_int_equal(tz_device_save(&device, path, false, &failure), TZ_IO);
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        assert_int_equal(tz_device_write(&device, full, &failure), TZ_IO);
        fclose(full);
    }
    /* A record that cannot be written leaves the file unchanged. */
    device.cpi.known = true;
    check_error(tz_device_keep(&device, path, sizeof path, &failure), TZ_FORMAT, "",
                "cpi does not say");
    assert_ok(tz_device_find("mine", &again, &failure));
    assert_true(again.clock_hz.value == 3e9);
    device.cpi.known = false;
    snprintf(device.name, sizeof device.name, "../mine");
    assert_int_equal(tz_device_keep(&device, path, sizeof path, &failure), TZ_RANGE);
    drop("mine.txt");
    drop("mine.txt~");
    assert_int_equal(rmdir(folder), 0); /* nothing else was left */
    assert_int_equal(mkdir(folder, 0700), 0);
}

static bool count_and_stop(void *context, double done, const char *what)
{
    int *left = context;
    assert_true(done >= 0 && done <= 1 && what[0] != '\0');
    return (*left)-- > 0;
}

TEST(better_numbers_are_kept)
{
    static tz_model_device best, now;
    tz_number_set(&now.fp32_rate, 0.5, "measured: first");
    tz_number_set(&now.span_s, 2e-8, "measured: first");
    tz_number_set(&now.copy_bandwidth_bytes_per_s, 3e10, "measured: first");
    tz_numbers_keep_better(&best, &now); /* what is there counts */
    assert_true(best.fp32_rate.value == 0.5 && best.span_s.value == 2e-8);
    assert_false(best.fp64_rate.known);
    tz_number_set(&now.fp32_rate, 0.25, "measured: disturbed");
    tz_number_set(&now.span_s, 1e-8, "measured: second");
    tz_number_set(&now.copy_bandwidth_bytes_per_s, 2e10, "measured: of both passes");
    tz_numbers_keep_better(&best, &now);
    assert_true(best.fp32_rate.value == 0.5);
    assert_string_equal(best.fp32_rate.source, "measured: first");
    assert_true(best.span_s.value == 1e-8);
    assert_true(best.copy_bandwidth_bytes_per_s.value == 2e10); /* the last one has all samples */
}

/* A number that is changed is the one that a record with that line would give. */
TEST(numbers_can_be_changed)
{
    tz_model_device shipped, d;
    assert_ok(tz_device_find("gtx280", &shipped, &failure));
    d = shipped;
    assert_ok(tz_device_change(&d, "cpi", "2", &failure));
    assert_ok(tz_device_change(&d, "memory_latency", "600 cycles", &failure));
    assert_true(d.cpi.value == 2 && d.cpi.assumed && d.cpi.known);
    assert_true(fabs(d.memory_latency_s.value - 600 / 1.3e9) < 1e-18);
    d.cpi = shipped.cpi;
    d.memory_latency_s = shipped.memory_latency_s;
    assert_memory_equal(&d, &shipped, sizeof d);
    static const struct {
        const char *key, *value;
        tz_status status;
    } wrong[] = {{"cip", "2", TZ_UNKNOWN},       {"cpi", "0", TZ_RANGE},
                 {"cpi", "2 cycles", TZ_FORMAT}, {"cpi", "2 # a\nsm_count = 3", TZ_FORMAT},
                 {"cpi", "2 # fast", TZ_FORMAT}, {"title", "another", TZ_UNKNOWN},
                 {"cpi = 3 #", "2", TZ_FORMAT},  {"name", "another", TZ_FORMAT}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(tz_device_change(&d, wrong[i].key, wrong[i].value, &failure),
                         wrong[i].status);
    assert_memory_equal(&d, &shipped, sizeof d);
}

TEST(a_calibration_can_be_stopped)
{
    static tz_model_device device;
    int left = 3;
    const tz_calibration how = {.seconds = 1, .go_on = count_and_stop, .context = &left};
    assert_int_equal(tz_calibrate_cpu(&device, &how, &failure), TZ_INTERRUPTED);
    assert_int_equal(left, -1);
    assert_false(device.clock_hz.known);
}

/* Clocks on which equal work takes a second each time, or one to two: other programs run. */
static double made_up_s;

static double quiet_clock_s(void)
{
    return made_up_s += 1.0;
}

static double busy_clock_s(void)
{
    static unsigned random = 1;
    random = random * 1664525u + 1013904223u;
    return made_up_s += 1.0 + (double)(random >> 16) / 65536.0;
}

TEST(a_busy_machine_shows_in_the_spread)
{
    static tz_model_device quiet, busy;
    tz_calibration how = {.seconds = 0.1, .far_bytes = 16 << 20, .clock_s = quiet_clock_s};
    const tz_status status = tz_calibrate_cpu(&quiet, &how, &failure);
    if (status == TZ_UNSUPPORTED)
        skip_test("%s", failure.message);
    assert_ok(status);
    how.clock_s = busy_clock_s;
    assert_ok(tz_calibrate_cpu(&busy, &how, &failure));
    assert_non_null(strstr(quiet.clock_hz.source, "median 0.0 % slower"));
    assert_null(strstr(busy.clock_hz.source, "median 0.0 % slower"));
    assert_true(tz_calibration_spread(&busy) > TZ_CALIBRATION_BUSY);
}

TEST(the_spread_is_what_sources_say)
{
    static tz_model_device record;
    assert_true(tz_calibration_spread(&record) == 0.0);
    tz_number_set(&record.clock_hz, 1e9, "measured: a chain, best of 9, median 3.0 %% slower");
    tz_number_set(&record.fp32_rate, 4, "measured: FADD, median of 20, spread 40.0 %%");
    tz_number_set(&record.l2_latency_s, 1e-7, "measured: loads, median of 20, spread up to 1 %%");
    tz_number_set(&record.fork_s, 1e-6, "measured: calls, best quarter of 9, median 3 us");
    assert_true(fabs(tz_calibration_spread(&record) - 0.215) < 1e-9); /* between 3 and 40 % */
    tz_number_set(&record.fp32_rate, 4, "measured: FADD, median of 20, spread 2.0 %%");
    assert_true(fabs(tz_calibration_spread(&record) - 0.025) < 1e-9);
    assert_true(tz_calibration_spread(&record) < TZ_CALIBRATION_BUSY);
}

static int set_up(void **state)
{
    if (!mkdtemp(folder))
        return -1;
    return setenv("TRAPEZE_DEVICES", folder, 1);
}

static int tear_down(void **state)
{
    return rmdir(folder);
}

TEST_GROUP(set_up, tear_down)
