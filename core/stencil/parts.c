/* Goes through a box part by part. Called where fields are read and written: core/sim, core/jump,
 * core/output and core/backend/slabs. */
#include "stencil/parts.h"

#include "base/minmax.h"

bool tz_box_next(tz_box_parts *p)
{
    int64_t room = p->most;
    const bool begins = p->count == 0;
    p->first += p->count;
    p->count = 1;
    for (int a = 0; a < TZ_AXES; a++) {
        const int64_t n = p->whole.high[a] - p->whole.low[a];
        p->length[a] = tz_min(n, room);
        room = n <= room ? room / n : 1;
    }
    for (int a = 0, carry = !begins; a < TZ_AXES; a++) {
        int64_t *low = &p->part.low[a];
        *low = begins ? p->whole.low[a] : *low + (carry ? p->length[a] : 0);
        carry = carry && *low >= p->whole.high[a];
        if (carry && a == TZ_AXES - 1)
            return false;
        if (carry)
            *low = p->whole.low[a];
        p->part.high[a] = tz_min(*low + p->length[a], p->whole.high[a]);
        p->count *= p->part.high[a] - *low;
    }
    return true;
}
