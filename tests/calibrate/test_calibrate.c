/* Samples and their statistics; names; finding, keeping and writing device records. */
#include "calibrate/calibrate.h"
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
