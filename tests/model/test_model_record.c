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

TEST(units_and_sources_are_kept)
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
    /* Cycles may come before the clock. */
    assert_close(good("launch = 3000 cycles # x\nname = a\nclock = 1 GHz # x\n").launch_s.value,
                 3e-6, 1e-15);
}

TEST(bad_lines_are_named)
{
    static const struct {
        const char *text;
        int line;
        tz_status code;
        const char *words;
    } cases[] = {
        {"name = a\nclock 1.3 GHz # x\n", 2, TZ_FORMAT, "'clock 1.3 GHz' is no KEY = VALUE"},
        {"name = a\nclock = # x\n", 2, TZ_FORMAT, "clock wants a number, not ''"},
        {"name = a\nclock = fast # x\n", 2, TZ_FORMAT, "clock wants a number, not 'fast'"},
        {"name = a\ncpi = 0x10 # x\n", 2, TZ_FORMAT, "not '0x10'"},
        {"name = a\ncpi = inf # x\n", 2, TZ_FORMAT, "not 'inf'"},
        {"name = a\ncpi = 1,5 # x\n", 2, TZ_FORMAT, "not '1,5'"},
        {"name = a\ncpi = 1.2.3 # x\n", 2, TZ_FORMAT, "not '1.2.3'"},
        {"name = a\ncpi = 4\n", 2, TZ_FORMAT, "cpi does not say where its number is from"},
        {"name = a\ncpi = 4 #  \n", 2, TZ_FORMAT, "does not say where"},
        {"name = a\ncpi = 4 # x\n\ncpi = 4 # x\n", 4, TZ_FORMAT, "cpi is given in line 2 already"},
        {"name =\n", 1, TZ_FORMAT, "name is empty"},
        {"name = a\nname = b\n", 2, TZ_FORMAT, "name is given in line 1 already"},
        {"name = a\n\033[31m\n", 2, TZ_FORMAT, "byte 0x1b"},
        {"name = a\nclock = 1.3 # x\n", 2, TZ_FORMAT,
         "clock lacks its unit; one of Hz, kHz, MHz, GHz"},
        {"name = a\nclock = 1.3 ghz # x\n", 2, TZ_FORMAT, "'ghz' is no unit of clock"},
        {"name = a\nclock = 1.3 GB/s # x\n", 2, TZ_FORMAT, "'GB/s' is no unit of clock"},
        {"name = a\nlaunch = 1 us later # x\n", 2, TZ_FORMAT, "'us later' is no unit"},
        {"name = a\nlaunch = 1 hour # x\n", 2, TZ_FORMAT, "one of s, ms, us, ns, cycles"},
        {"name = a\nsm_count = 30 SMs # x\n", 2, TZ_FORMAT, "sm_count has no unit, and 'SMs'"},
        {"launch = 5 cycles # x\nname = a\n", 1, TZ_FORMAT,
         "launch is in cycles, and the record gives no clock"},
        {"name = a\ncpi = 0 # x\n", 2, TZ_RANGE, "cpi is 0, outside 0.001 to 1000"},
        {"name = a\ncpi = -4 # x\n", 2, TZ_RANGE, "cpi is -4"},
        {"name = a\ncpi = 1e999 # x\n", 2, TZ_RANGE, "cpi is inf"},
        {"name = a\nclock = 1.3 Hz # x\n", 2, TZ_RANGE, "outside 1e+06 to 1e+11 Hz"},
        {"name = a\nsm_count = 2.5 # x\n", 2, TZ_RANGE, "must be an integer"},
        {"launch = 1e9 cycles # x\nname = a\nclock = 1 MHz # x\n", 1, TZ_RANGE,
         "launch is 1000, outside 0 to 1 s"},
        {"name = a\nclok = 1.3 GHz # x\n", 2, TZ_UNKNOWN,
         "unknown key 'clok'; did you mean 'clock'?"},
        {"name = a\nmemory_bandwith = 1 GB/s # x\n", 2, TZ_UNKNOWN,
         "did you mean 'memory_bandwidth'?"},
        {"name = a\nSM_COUNT = 3 # x\n", 2, TZ_UNKNOWN, "did you mean 'sm_count'?"},
        {"name = a\ncolour = 1 # x\n", 2, TZ_UNKNOWN, "; known: name, title, clock"},
        {"name = a\n= 1 # x\n", 2, TZ_UNKNOWN, "unknown key ''"},
        {"", 0, TZ_FORMAT, "the record has no name"},
        {"cpi = 4 # x\n", 0, TZ_FORMAT, "the record has no name"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        bad(cases[c].text, cases[c].line, cases[c].code, cases[c].words);
    bad_bytes("name = a\ncpi\0= 4 # x\n", 20, 2, TZ_FORMAT, "byte 0x00");
}

/* A written record reads back as the same record. */
static void check_round_trip(const tz_model_device *device, char text[TZ_MODEL_DEVICE_TEXT_SIZE])
{
    tz_model_device again;
    assert_ok(tz_model_device_text(device, text, &failure));
    assert_ok(tz_model_device_parse(path, text, strlen(text), &again, &failure));
    assert_memory_equal(device, &again, sizeof again);
}

/* Each number in the unit that makes it short; any number reads back exactly. */
TEST(written_numbers_are_short_and_exact)
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

/* The shipped records read back, and numbers have a decimal point in any locale. Without another
 * locale on the machine this tests C. */
TEST(written_records_read_back_in_any_locale)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_NUMERIC, names[i]))
            break;
    for (int i = 0; i < DEVICES; i++) {
        static char text[TZ_MODEL_DEVICE_TEXT_SIZE];
        const tz_model_device device = device_named(device_names[i]);
        assert_string_equal(device.name, device_names[i]);
        check_round_trip(&device, text);
    }
    assert_close(good("name = a\nclock = 1.5 GHz # x\n").clock_hz.value, 1.5e9, 0);
    setlocale(LC_NUMERIC, "C");
}

/* Table 1 of 2009, and the other devices' tables. */
TEST(shipped_devices)
{
    const tz_model_device d = device_named("gtx280"), h = device_named("h200");
    const struct {
        double is, wanted, within;
    } numbers[] = {
        {d.clock_hz.value, 1.3e9, 1e-15},
        {d.coalesce_width.value, 16, 0},
        {d.warp_size.value, 32, 0},
        {d.sm_count.value, 30, 0},
        {d.blocks_per_sm.value, 8, 0},
        {d.sp_per_sm.value, 8, 0},
        {d.sp_pipeline_depth.value, 4, 0},
        {d.cpi.value, 4, 0},
        {d.memory_bandwidth_bytes_per_s.value, 141.7e9, 1e-15},
        {d.threads_per_block_max.value, 512, 0},
        {d.memory_pitch_max_bytes.value, 262144, 0},
        {d.launch_s.value * d.clock_hz.value, 3350, 1e-15},
        {d.memory_latency_s.value * d.clock_hz.value, 300, 1e-15},
        /* Measured numbers lie within the limits of the architecture. */
        {h.sm_count.value, 132, 0},
        {h.compute_capability.value, 90, 0},
        {h.fp32_rate.value, 4, 0.02},
        {h.fp64_rate.value, 2, 0.02},
        {h.integer_rate.value, 2, 0.02},
        {h.shared_rate.value, 1, 0.02},
        {h.fp32_latency_s.value * h.clock_hz.value, 4, 0.05},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_close(numbers[i].is, numbers[i].wanted, numbers[i].within);
    assert_string_equal(h.title, "NVIDIA H200");
    assert_true(h.memory_latency_s.value > h.l2_latency_s.value);
    assert_true(h.copy_bandwidth_bytes_per_s.value < h.memory_bandwidth_bytes_per_s.value);
    assert_true(h.l2_bandwidth_bytes_per_s.value > h.copy_bandwidth_bytes_per_s.value);
    assert_true(h.graph_launch_s.value < h.launch_queued_s.value);
    assert_int_equal(strncmp(h.fp32_rate.source, "measured: ", 10), 0);
    assert_true(device_named("gtx260").launch_s.assumed);
    assert_true(device_named("gtx-titan").memory_latency_s.assumed);
}
