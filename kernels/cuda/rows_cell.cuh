/* kernels/cuda: the language of cell updates in the stream family in 2-D.
 *
 * A cell update reads a window of a field: TZ__ROWS_name rows before the cell's, and
 * TZ__COLUMNS_name columns more than the lane's own to each side. */
#define TZ__CONTEXT_FIELD(name, type)                                                              \
    const type(*name)[TZ_V + 2 * TZ__COLUMNS_##name];                                              \
    type *name##_out;
#define TZ_CELL_ONCE(cell, ONCE)                                                                   \
    TZ__ONCE_STRUCT(cell, ONCE)                                                                    \
    TZ__CONTEXT(cell, const once_##cell *once; int x, y; long long step;)                          \
    TZ__MAKE_ONCE(cell, ONCE, const int tz_e)                                                      \
    TZ_DEVICE void body_##cell(const context_##cell &tz_c, const int tz_e,                         \
                               const once_##cell &tz_o);                                           \
    TZ_DEVICE void update_##cell(const context_##cell &tz_c, const int tz_e)                       \
    {                                                                                              \
        body_##cell(tz_c, tz_e, tz_c.once[tz_e]);                                                  \
    }                                                                                              \
    TZ_DEVICE void body_##cell(const context_##cell &tz_c, const int tz_e, const once_##cell &tz_o)
/* An update that is a sum over rows: a new row is added to 2 * TZ_CELL_RADIUS sums. tz_s[0] is then
 * complete, and a new sum begins. */
#undef TZ_CELL_ROWS_OF
#define TZ_CELL_ROWS_OF(cell, field, type, ROWS, RESULT)                                           \
    TZ__CELL_OF_ROWS(cell, field, type, ROWS, RESULT)                                              \
    TZ_DEVICE type push_##cell(const context_##cell &tz_c, const int tz_e,                         \
                               type(&tz_s)[2 * TZ_CELL_RADIUS][TZ_V])                              \
    {                                                                                              \
        type tz_new[2 * TZ_CELL_RADIUS + 1];                                                       \
        ROWS(TZ__ROWS_PUSH)                                                                        \
        TZ_UNROLL for (int k = 0; k < 2 * TZ_CELL_RADIUS; k++) tz_s[k][tz_e] = tz_new[k + 1];      \
        return RESULT(tz_new[0]);                                                                  \
    }
#define TZ__ROWS_PUSH(dy, row)                                                                     \
    if ((dy) == -TZ_CELL_RADIUS)                                                                   \
        tz_new[2 * TZ_CELL_RADIUS] = row(0);                                                       \
    else                                                                                           \
        tz_new[TZ_CELL_RADIUS - (dy)] =                                                            \
            tz_s[(TZ_CELL_RADIUS - (dy)) % (2 * TZ_CELL_RADIUS)][tz_e] + row(0);
#define TZ__AT3(f, dx, dy, dz) (tz_c.f[(dy) + TZ__ROWS_##f][tz_e + (dx) + TZ__COLUMNS_##f])
#define TZ_PUT(f, value) (tz_c.f##_out[tz_e] = (value))
#define TZ_X (tz_c.x)
#define TZ_Y TZ__WHOLE_Y((tz_c.y))
#define TZ_Z 0
#define TZ_STEP (tz_c.step)
