/* Facts of this machine. */
#include "tests/support.h"

#include "base/machine.h"
#include <sys/resource.h>

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
    assert_string_equal(tz_isa_form(TZ_ISA_BASE), "base");
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
