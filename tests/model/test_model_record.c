/* Devices as text files: values and errors. */
#include "model_support.h"

#include <locale.h>

static const char path[] = "folder/record.txt";

static tz_model_device good(const char *text)
{
    tz_model_device device;
    assert_ok(tz_model_device_parse(path, text, strlen(text), &device, &failure));
    return device;
}

/* `text` is refused in `line` (0: no line) with a message that contains `words`. */
static void bad_bytes(const char *text, size_t length, int line, tz_status code, const char *words)
{
    tz_model_device device, zero;
    char place[128];
    memset(&zero, 0, sizeof zero);
    assert_int_equal(tz_model_device_parse(path, text, length, &device, &failure), code);
    assert_int_equal(failure.code, code);
    if (line)
        snprintf(place, sizeof place, "%s:%d", path, line);
    else
        snprintf(place, sizeof place, "%s", path);
    assert_string_equal(failure.place, place);
    if (!strstr(failure.message, words))
        fail_msg("'%s' does not contain '%s'", failure.message, words);
    assert_memory_equal(&device, &zero, sizeof zero);
    assert_int_equal(tz_model_device_parse(path, text, length, &device, NULL), code);
}

static void bad(const char *text, int line, tz_status code, const char *words)
{
    bad_bytes(text, strlen(text), line, code, words);
}

static void units_and_sources_are_kept(void **state)
{
    const tz_model_device d = good("# a comment\n\n"
                                   "  name = mine # called so\r\n"
                                   "title=My device\n"
                                   "\tclock =  1.5 GHz   # a data sheet, page 3 # of 4 \r\n"
                                   "sm_count = 30 # counted\n"
                                   "cpi = 2.5e-1 # assumed: as others\n"
                                   "memory_bandwidth = 1.5 GiB/s # x\n"
                                   "shared_per_sm = 48 KiB # x\n"
                                   "l2 = 0 B # x\n"
                                   "launch = 2.5 us # x\n"
                                   "memory_latency = 300 cycles # x"); /* no newline */
    assert_string_equal(d.name, "mine");
    assert_string_equal(d.title, "My device");
    assert_close(d.clock_hz.value, 1.5e9, 0);
    assert_string_equal(d.clock_hz.source, "a data sheet, page 3 # of 4");
    assert_true(d.clock_hz.known && !d.clock_hz.assumed);
    assert_close(d.sm_count.value, 30, 0);
    assert_close(d.cpi.value, 0.25, 0);
    assert_true(d.cpi.assumed);
    assert_close(d.memory_bandwidth_bytes_per_s.value, 1.5 * 1073741824, 0);
    assert_close(d.shared_per_sm_bytes.value, 49152, 0);
    assert_true(d.l2_bytes.known && d.l2_bytes.value == 0);
    assert_close(d.launch_s.value, 2.5e-6, 1e-15);
    assert_close(d.memory_latency_s.value, 2e-7, 1e-15);
    assert_false(d.warp_size.known);
}

static void cycles_may_come_before_the_clock(void **state)
{
    const tz_model_device d = good("launch = 3000 cycles # x\nname = a\nclock = 1 GHz # x\n");
    assert_close(d.launch_s.value, 3e-6, 1e-15);
}

static void malformed_lines_are_named(void **state)
{
    bad("name = a\nclock 1.3 GHz # x\n", 2, TZ_FORMAT, "'clock 1.3 GHz' is no KEY = VALUE");
    bad("name = a\nclock = # x\n", 2, TZ_FORMAT, "clock wants a number, not ''");
    bad("name = a\nclock = fast # x\n", 2, TZ_FORMAT, "clock wants a number, not 'fast'");
    bad("name = a\ncpi = 0x10 # x\n", 2, TZ_FORMAT, "not '0x10'");
    bad("name = a\ncpi = inf # x\n", 2, TZ_FORMAT, "not 'inf'");
    bad("name = a\ncpi = 1,5 # x\n", 2, TZ_FORMAT, "not '1,5'");
    bad("name = a\ncpi = 1.2.3 # x\n", 2, TZ_FORMAT, "not '1.2.3'");
    bad("name = a\ncpi = 4\n", 2, TZ_FORMAT, "cpi does not say where its number is from");
    bad("name = a\ncpi = 4 #  \n", 2, TZ_FORMAT, "does not say where");
    bad("name = a\ncpi = 4 # x\n\ncpi = 4 # x\n", 4, TZ_FORMAT, "cpi is given in line 2 already");
    bad("name =\n", 1, TZ_FORMAT, "name is empty");
    bad("name = a\nname = b\n", 2, TZ_FORMAT, "name is given in line 1 already");
    bad_bytes("name = a\ncpi\0= 4 # x\n", 20, 2, TZ_FORMAT, "byte 0x00");
    bad("name = a\n\033[31m\n", 2, TZ_FORMAT, "byte 0x1b");
}

static void units_are_checked(void **state)
{
    bad("name = a\nclock = 1.3 # x\n", 2, TZ_FORMAT,
        "clock lacks its unit; one of Hz, kHz, MHz, GHz");
    bad("name = a\nclock = 1.3 ghz # x\n", 2, TZ_FORMAT, "'ghz' is no unit of clock");
    bad("name = a\nclock = 1.3 GB/s # x\n", 2, TZ_FORMAT, "'GB/s' is no unit of clock");
    bad("name = a\nlaunch = 1 us later # x\n", 2, TZ_FORMAT, "'us later' is no unit");
    bad("name = a\nlaunch = 1 hour # x\n", 2, TZ_FORMAT, "one of s, ms, us, ns, cycles");
    bad("name = a\nsm_count = 30 SMs # x\n", 2, TZ_FORMAT, "sm_count has no unit, and 'SMs'");
    bad("launch = 5 cycles # x\nname = a\n", 1, TZ_FORMAT,
        "launch is in cycles, and the record gives no clock");
}

static void ranges_are_checked(void **state)
{
    bad("name = a\ncpi = 0 # x\n", 2, TZ_RANGE, "cpi is 0, outside 0.001 to 1000");
    bad("name = a\ncpi = -4 # x\n", 2, TZ_RANGE, "cpi is -4");
    bad("name = a\ncpi = 1e999 # x\n", 2, TZ_RANGE, "cpi is inf");
    bad("name = a\nclock = 1.3 Hz # x\n", 2, TZ_RANGE, "outside 1e+06 to 1e+11 Hz");
    bad("name = a\nsm_count = 2.5 # x\n", 2, TZ_RANGE, "must be an integer");
    bad("launch = 1e9 cycles # x\nname = a\nclock = 1 MHz # x\n", 1, TZ_RANGE,
        "launch is 1000, outside 0 to 1 s");
}

static void unknown_keys_name_the_nearest(void **state)
{
    bad("name = a\nclok = 1.3 GHz # x\n", 2, TZ_UNKNOWN,
        "unknown key 'clok'; did you mean 'clock'?");
    bad("name = a\nmemory_bandwith = 1 GB/s # x\n", 2, TZ_UNKNOWN,
        "did you mean 'memory_bandwidth'?");
    bad("name = a\nSM_COUNT = 3 # x\n", 2, TZ_UNKNOWN, "did you mean 'sm_count'?");
    bad("name = a\ncolour = 1 # x\n", 2, TZ_UNKNOWN, "; known: name, title, clock");
    bad("name = a\n= 1 # x\n", 2, TZ_UNKNOWN, "unknown key ''");
}

static void lengths_are_checked(void **state)
{
    char text[2400];
    snprintf(text, sizeof text, "name = %064d\n", 0);
    bad(text, 1, TZ_FORMAT, "name is longer than 63 bytes");
    snprintf(text, sizeof text, "name = a\ncpi = 4 # %0160d\n", 0);
    bad(text, 2, TZ_FORMAT, "the source of cpi is longer than 159 bytes");
    snprintf(text, sizeof text, "name = a\ncpi = 4 # %0159d\n", 0);
    assert_int_equal(strlen(good(text).cpi.source), 159);
    snprintf(text, sizeof text, "#%01500d\n", 0);
    bad(text, 1, TZ_FORMAT, "longer than 1023 bytes");
}

static void records_without_a_name(void **state)
{
    bad("", 0, TZ_FORMAT, "the record has no name");
    bad("cpi = 4 # x\n", 0, TZ_FORMAT, "the record has no name");
}

/* A written record reads back as the same record. */
static void check_round_trip(const tz_model_device *device, char text[TZ_MODEL_DEVICE_TEXT_SIZE])
{
    tz_model_device again;
    assert_ok(tz_model_device_text(device, text, &failure));
    assert_ok(tz_model_device_parse(path, text, strlen(text), &again, &failure));
    assert_memory_equal(device, &again, sizeof again);
}

static void written_records_read_back(void **state)
{
    static char text[TZ_MODEL_DEVICE_TEXT_SIZE];
    for (int i = 0; i < DEVICES; i++) {
        const tz_model_device device = device_named(device_names[i]);
        check_round_trip(&device, text);
    }
}

/* Each number in the unit that makes it short; any number reads back exactly. */
static void written_numbers_are_short_and_exact(void **state)
{
    static const char record[] = "name                     = a\n"
                                 "clock                    = 1.98 GHz # x\n"
                                 "registers_per_sm         = 65536 # x\n"
                                 "shared_per_sm            = 228 KiB # x\n"
                                 "l2                       = 60 MiB # x\n"
                                 "memory_latency           = 339.8 ns # x\n"
                                 "launch                   = 2.9 us # x\n"
                                 "hidden_share             = 0 # x\n"
                                 "compute_capability       = 90 # x\n"
                                 "fp32_rate                = 3.965 # x\n"
                                 "copy_bandwidth           = 4.06 TB/s # x\n"
                                 "power_limit              = 700 W # x\n"
                                 "energy_fp32              = 351.2 pJ # x\n"
                                 "energy_fp64              = 1.25 nJ # x\n";
    static char text[TZ_MODEL_DEVICE_TEXT_SIZE];
    uint64_t random = 88172645463325252u;
    tz_model_device device = good(record);
    check_round_trip(&device, text);
    assert_string_equal(text, record);
    for (int i = 0; i < 300; i++) {
        tz_model_number *const numbers[] = {&device.clock_hz, &device.launch_s, &device.l2_bytes,
                                            &device.copy_bandwidth_bytes_per_s, &device.fp32_rate};
        static const double most[] = {1e11, 1, 1e12, 1e15, 64};
        for (int k = 0; k < 5; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            const double share = (double)(random >> 11) / 9007199254740992.0;
            /* Over three orders of magnitude below the greatest that the key allows. */
            numbers[k]->value = most[k] * pow(10, -3.0 * share) * (i % 2 ? 1 : share * 0.9 + 0.1);
            numbers[k]->known = true;
            strcpy(numbers[k]->source, "x");
        }
        check_round_trip(&device, text);
    }
}

static void what_cannot_be_read_back_is_not_written(void **state)
{
    static char text[TZ_MODEL_DEVICE_TEXT_SIZE];
    tz_model_device device;
    memset(&device, 0, sizeof device);
    assert_int_equal(tz_model_device_text(&device, text, &failure), TZ_FORMAT);
    strcpy(device.name, "a");
    device.cpi.known = true;
    device.cpi.value = 4;
    check_error(tz_model_device_text(&device, text, &failure), TZ_FORMAT, "", "cpi does not say");
    assert_string_equal(text, "");
    strcpy(device.cpi.source, "x");
    assert_ok(tz_model_device_text(&device, text, &failure));
}

/* Numbers have a decimal point in any locale. Without another locale on the machine this tests C.
 */
static void the_locale_does_not_matter(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_NUMERIC, names[i]))
            break;
    written_records_read_back(state);
    assert_close(good("name = a\nclock = 1.5 GHz # x\n").clock_hz.value, 1.5e9, 0);
    setlocale(LC_NUMERIC, "C");
}

/* Table 1 of 2009, and the other devices' tables. */
static void shipped_devices(void **state)
{
    const tz_model_device d = device_named("gtx280");
    assert_string_equal(d.name, "gtx280");
    assert_close(d.clock_hz.value, 1.3e9, 1e-15);
    assert_close(d.coalesce_width.value, 16, 0);
    assert_close(d.warp_size.value, 32, 0);
    assert_close(d.sm_count.value, 30, 0);
    assert_close(d.blocks_per_sm.value, 8, 0);
    assert_close(d.sp_per_sm.value, 8, 0);
    assert_close(d.sp_pipeline_depth.value, 4, 0);
    assert_close(d.cpi.value, 4, 0);
    assert_close(d.memory_bandwidth_bytes_per_s.value, 141.7e9, 1e-15);
    assert_close(d.threads_per_block_max.value, 512, 0);
    assert_close(d.memory_pitch_max_bytes.value, 262144, 0);
    assert_close(d.launch_s.value * d.clock_hz.value, 3350, 1e-15);
    assert_close(d.memory_latency_s.value * d.clock_hz.value, 300, 1e-15);
    for (int i = 0; i < DEVICES; i++)
        assert_string_equal(device_named(device_names[i]).name, device_names[i]);
    /* Measured numbers lie within the limits of the architecture. */
    const tz_model_device h = device_named("h200");
    assert_string_equal(h.title, "NVIDIA H200");
    assert_close(h.sm_count.value, 132, 0);
    assert_close(h.compute_capability.value, 90, 0);
    assert_close(h.fp32_rate.value, 4, 0.02);
    assert_close(h.fp64_rate.value, 2, 0.02);
    assert_close(h.integer_rate.value, 2, 0.02);
    assert_close(h.shared_rate.value, 1, 0.02);
    assert_close(h.fp32_latency_s.value * h.clock_hz.value, 4, 0.05);
    assert_true(h.memory_latency_s.value > h.l2_latency_s.value);
    assert_true(h.copy_bandwidth_bytes_per_s.value < h.memory_bandwidth_bytes_per_s.value);
    assert_true(h.l2_bandwidth_bytes_per_s.value > h.copy_bandwidth_bytes_per_s.value);
    assert_true(h.graph_launch_s.value < h.launch_queued_s.value);
    assert_int_equal(strncmp(h.fp32_rate.source, "measured: ", 10), 0);
    assert_true(device_named("gtx260").launch_s.assumed);
    assert_true(device_named("gtx-titan").memory_latency_s.assumed);
}

TEST_MAIN(NULL, NULL, TEST(units_and_sources_are_kept), TEST(cycles_may_come_before_the_clock),
          TEST(malformed_lines_are_named), TEST(units_are_checked), TEST(ranges_are_checked),
          TEST(unknown_keys_name_the_nearest), TEST(lengths_are_checked),
          TEST(records_without_a_name), TEST(written_records_read_back),
          TEST(written_numbers_are_short_and_exact), TEST(what_cannot_be_read_back_is_not_written),
          TEST(the_locale_does_not_matter), TEST(shipped_devices))
