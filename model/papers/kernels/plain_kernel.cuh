/* model/papers/kernels: the kernels of plain.cuh, one a pass: tz_plain_0 and so on. Included after
 * the passes. Elements whose neighbours are not all in the grid are left out. */

// clang-format off
#define TZ__PLAIN_ENTRY(role, name, type, index) c.name = (const type *)a.in[index];
#define TZ__PLAIN_STORE(role, name, type, index) ((type *)a.out[index])[p.at] = c.name##_new;
#define TZ__PLAIN_KERNEL(pass, cell, radius)                                                       \
    TZ_KERNEL(tz_plain_##pass, 1024)(const TZ_UNCOPIED tz_arguments a)                             \
    {                                                                                              \
        tz_place p;                                                                                \
        if (!tz_plain_place(a, p))                                                                 \
            return;                                                                                \
        pass_##pass::context_##cell c;                                                             \
        c.arguments = &a;                                                                          \
        TZ_FIELD_LIST(TZ__PLAIN_ENTRY)                                                             \
        TZ__CONTEXT_CONSTANTS(0)                                                                   \
        pass_##pass::update_##cell(c, p);                                                          \
        TZ_WRITES_##pass(TZ__PLAIN_STORE)                                                          \
    }
// clang-format on

TZ_DEVICE bool tz_plain_inside(int at, int extent)
{
    return at >= TZ_PLAIN_RADIUS && at < extent - TZ_PLAIN_RADIUS;
}

/* The element of this thread; false: its neighbours are not all in the grid. */
TZ_DEVICE bool tz_plain_place(const tz_arguments &a, tz_place &p)
{
    p.x = tz_element_of_thread(0);
    p.y = TZ_DIMS > 1 ? tz_element_of_thread(1) : 0;
    p.z = TZ_DIMS > 2 ? tz_element_of_thread(2) : 0;
    p.at = p.x;
    if (TZ_DIMS > 1)
        p.at += (TZ_PLAIN_INDEX)a.pitch * p.y;
    if (TZ_DIMS > 2)
        p.at += (TZ_PLAIN_INDEX)a.plane * p.z;
    return tz_plain_inside(p.x, a.nx) && (TZ_DIMS < 2 || tz_plain_inside(p.y, a.ny)) &&
           (TZ_DIMS < 3 || tz_plain_inside(p.z, a.nz));
}

TZ_PASS_LIST(TZ__PLAIN_KERNEL)
