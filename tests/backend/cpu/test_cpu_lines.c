/* Copies past the caches: rows of any length at any element, with 64-byte vectors and without. */
#include "base/machine.h"
#include "kernels/cpu/lines.h"
#include "tests/unit.h"

enum { ROOM = 512, FROM = 64, ELEMENT = 4 };

/* Copies `count` elements from element `from` of one array to element `to` of another, and compares
 * both whole. */
static void check_copy(int from, int to, int count, bool wide)
{
    _Alignas(64) unsigned char source[ROOM], target[ROOM], expected[ROOM];
    for (int i = 0; i < ROOM; i++) {
        source[i] = (unsigned char)(7 * i + 1);
        target[i] = expected[i] = (unsigned char)(255 - i);
    }
    memcpy(expected + ELEMENT * to, source + ELEMENT * from, (size_t)(ELEMENT * count));
    tz__copy_past((char *)target + ELEMENT * to, (char *)source + ELEMENT * from, ELEMENT * count,
                  wide);
    tz__past_done();
    if (memcmp(target, expected, ROOM) != 0)
        fail_msg("%d elements from %d to %d%s", count, from, to, wide ? ", wide" : "");
}

TEST(test_rows_arrive_whole)
{
    const int widths = tz_machine_isa() >= TZ_ISA_V4 ? 2 : 1;
    for (int wide = 0; wide < widths; wide++)
        for (int to = 0; to < 17; to++)
            for (int from = 0; from < 3; from++)
                for (int count = 0; count <= FROM; count++)
                    check_copy(from, to, count, wide == 1);
}
