/* Facts of this machine. */
#include "tests/support.h"

#include "base/machine.h"
#include <sys/resource.h>

TEST(a_machine_has_a_name_and_cores)
{
    tz_machine machine, again;
    memset(&machine, 0xee, sizeof machine);
    tz_machine_read(&machine);
    assert_true(strlen(machine.cpu) > 0 && strlen(machine.cpu) < sizeof machine.cpu);
    assert_true(machine.cores >= 1);
    assert_true(machine.l1_bytes >= 0 && machine.l2_bytes >= 0 && machine.l3_bytes >= 0);
#if defined(__GLIBC__) &&                                                                          \
    defined(__x86_64__) /* which knows them where the kernel names no caches */
    assert_in_range(machine.l1_bytes, 8 << 10, 1 << 20);
    assert_in_range(machine.l2_bytes, 64 << 10, 64 << 20);
#endif
    tz_machine_read(&again);
    assert_string_equal(again.cpu, machine.cpu);
    assert_int_equal(again.cores, machine.cores);
    assert_int_equal(again.isa, machine.isa);
}

TEST(the_instruction_set_can_be_lowered)
{
    tz_machine machine;
    const char *given = getenv("TZ_ISA");
    char *kept = given ? strdup(given) : NULL;
    unsetenv("TZ_ISA");
    tz_machine_read(&machine);
    const tz_isa best = machine.isa;
    for (int i = 0; i < TZ_ISA_COUNT; i++) {
        setenv("TZ_ISA", tz_isa_name((tz_isa)i), 1);
        tz_machine_read(&machine);
        assert_int_equal(machine.isa, i < (int)best ? i : (int)best); /* never raised */
    }
    setenv("TZ_ISA", "v9", 1);
    tz_machine_read(&machine);
    assert_int_equal(machine.isa, best);
    if (kept)
        setenv("TZ_ISA", kept, 1);
    else
        unsetenv("TZ_ISA");
    free(kept);
    assert_string_equal(tz_isa_name(TZ_ISA_BASE), "base");
    assert_int_equal(tz_isa_vector_bytes(TZ_ISA_BASE), 16);
    assert_int_equal(tz_isa_vector_bytes(TZ_ISA_V3), 32);
    assert_int_equal(tz_isa_vector_bytes(TZ_ISA_V4), 64);
    assert_int_equal(tz_isa_of_vectors(16), TZ_ISA_BASE);
    assert_int_equal(tz_isa_of_vectors(63), TZ_ISA_V3);
    assert_int_equal(tz_isa_of_vectors(128), TZ_ISA_COUNT - 1);
}

TEST(memory_is_limited_by_the_address_space)
{
    assert_true(tz_machine_memory_available() > 0);
#ifndef __SANITIZE_ADDRESS__ /* its shadow memory exceeds such a limit */
    const int64_t limit = 256 << 20;
    struct rlimit before, low;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    low = before;
    low.rlim_cur = (rlim_t)limit;
    assert_int_equal(setrlimit(RLIMIT_AS, &low), 0);
    const int64_t available = tz_machine_memory_available();
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_true(available > 0 && available < limit); /* minus the memory of the process */
#endif
}

TEST(the_clock_goes_forward)
{
    double before = tz_machine_clock_s();
    for (int i = 0; i < 1000; i++) {
        const double now = tz_machine_clock_s();
        assert_true(now >= before);
        before = now;
    }
}
