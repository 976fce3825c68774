/* kernels/cuda: the language of cell updates in the stream family in 2-D.
 *
 * A cell update reads a window of a field: TZ__ROWS_name rows before the cell's, and
 * TZ__COLUMNS_name columns more than the lane's own to each side. */
#define TZ__CONTEXT_FIELD(name, type)                                                              \
    const type(*name)[TZ_V + 2 * TZ__COLUMNS_##name];                                              \
    type *name##_out;
/* A cell update that begins with what several cells need (TZ_CELL_SHARED). tz_r: the row, 0 for the
 * update itself. */
#define TZ__CELL(cell, ONCE, SHARED)                                                               \
    TZ__ONCE_STRUCT(cell, ONCE)                                                                    \
    struct shared_##cell {                                                                         \
        SHARED(TZ__SHARED_ROWS)                                                                    \
    };                                                                                             \
    struct kept_##cell {                                                                           \
        SHARED(TZ__SHARED_KEPT)                                                                    \
    };                                                                                             \
    SHARED(TZ__SHARED_LOW)                                                                         \
    TZ__CONTEXT(cell, const once_##cell *once; shared_##cell * shared; int x, y; long long step;)  \
    SHARED(TZ__SHARED_DECLARE)                                                                     \
    template <bool BORDER, bool ENDS>                                                              \
    TZ_DEVICE void share_##cell(const context_##cell &tz_c, kept_##cell &kept)                     \
    {                                                                                              \
        (void)tz_c, (void)kept;                                                                    \
        SHARED(TZ__SHARED_MAKE);                                                                   \
    }                                                                                              \
    TZ__MAKE_ONCE(cell, ONCE, const int tz_e, const int tz_r = 0)                                  \
    TZ_DEVICE void body_##cell(const context_##cell &tz_c, const int tz_e, const int tz_r,         \
                               const once_##cell &tz_o);                                           \
    TZ_DEVICE void update_##cell(const context_##cell &tz_c, const int tz_e)                       \
    {                                                                                              \
        body_##cell(tz_c, tz_e, 0, tz_c.once[tz_e]);                                               \
    }                                                                                              \
    TZ_DEVICE void body_##cell(const context_##cell &tz_c, const int tz_e, const int tz_r,         \
                               const once_##cell &tz_o)
#define TZ_CELL_ONCE(cell, ONCE) TZ__CELL(cell, ONCE, TZ__SHARED_NOTHING)
#undef TZ_SHARES
#define TZ_SHARES 1
#define TZ_CELL_SHARED(cell, SHARED) TZ__CELL(cell, TZ__ONCE_NOTHING, SHARED)
#define TZ_SHARED_VALUE(cell, name, type)                                                          \
    TZ_DEVICE type value_##name(const context_##cell &tz_c, const int tz_e, const int tz_r)
#define TZ_SHARED(name, dx, dy)                                                                    \
    (tz_c.shared->name[(dy) + tz_r - low_y_##name][tz_e + (dx)-low_x_##name])
#define TZ__SHARED_NOTHING(D)
#define TZ__SHARED_ROWS(cell, name, type, xl, xh, yl, yh, before, after)                           \
    type name[(yh) - (yl) + 1][TZ_V + (xh) - (xl)];
/* The rows of the next step that this one has computed. */
#define TZ__SHARED_KEPT(cell, name, type, xl, xh, yl, yh, before, after)                           \
    type name[(yh) > (yl) ? (yh) - (yl) : 1][TZ_V];
#define TZ__SHARED_LOW(cell, name, type, xl, xh, yl, yh, before, after)                            \
    enum { low_x_##name = xl, low_y_##name = yl };
#define TZ__SHARED_DECLARE(cell, name, type, xl, xh, yl, yh, before, after)                        \
    TZ_SHARED_VALUE(cell, name, type);
#define TZ__SHARED_MAKE(cell, name, type, xl, xh, yl, yh, before, after)                           \
    tz_share<BORDER, ENDS, xl, xh, yl, yh, before, after>(                                         \
        tz_c.shared->name, kept.name, [&](int e, int row) { return value_##name(tz_c, e, row); });

/* Rows YL to YH of a value that cells share. Row YH is new; the others were new in earlier steps,
 * except where rows have changed since (ENDS). Columns XL to XH around those of the lane come from
 * other lanes, which have none past an end of the grid (BORDER); BEFORE and AFTER have a bit for
 * each row, from YL on, that is read there. */
template <bool BORDER, bool ENDS, int XL, int XH, int YL, int YH, int BEFORE, int AFTER, class T,
          int KEPT, class F>
TZ_DEVICE void tz_share(T (&to)[YH - YL + 1][TZ_V + XH - XL], T (&kept)[KEPT][TZ_V], F make)
{
#pragma unroll
    for (int r = 0; r <= YH - YL; r++) {
#pragma unroll
        for (int e = BORDER ? XL : 0; e < TZ_V + (BORDER ? XH : 0); e++) {
            const bool is_kept = !ENDS && r < YH - YL && e >= 0 && e < TZ_V;
            if (is_kept)
                to[r][e - XL] = kept[r < KEPT ? r : 0][e & (TZ_V - 1)];
            else
                to[r][e - XL] = make(e, r + YL);
        }
#pragma unroll
        for (int i = XL; !BORDER && (BEFORE >> r & 1) && i < 0; i++) {
            const int up = (TZ_V - 1 - i) / TZ_V;
            to[r][i - XL] = tz_shuffle_up(to[r][TZ_V * up + i - XL], up);
        }
#pragma unroll
        for (int i = 0; !BORDER && (AFTER >> r & 1) && i < XH; i++)
            to[r][TZ_V + i - XL] = tz_shuffle_down(to[r][i % TZ_V - XL], (TZ_V + i) / TZ_V);
    }
#pragma unroll
    for (int r = 0; r < YH - YL; r++)
#pragma unroll
        for (int e = 0; e < TZ_V; e++)
            kept[r][e] = to[r + 1][e - XL];
}
/* An update that is a sum over rows: a new row is added to 2 * TZ_CELL_RADIUS sums. tz_s[0] is then
 * complete, and a new sum begins. */
#undef TZ_CELL_ROWS_OF
#define TZ_CELL_ROWS_OF(cell, field, type, ROWS, RESULT)                                           \
    TZ__CELL_OF_ROWS(cell, field, type, ROWS, RESULT)                                              \
    TZ_DEVICE type push_##cell(const context_##cell &tz_c, const int tz_e,                         \
                               type(&tz_s)[2 * TZ_CELL_RADIUS][TZ_V])                              \
    {                                                                                              \
        enum { tz_r = 0 };                                                                         \
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
#define TZ__AT3(f, dx, dy, dz) (tz_c.f[(dy) + tz_r + TZ__ROWS_##f][tz_e + (dx) + TZ__COLUMNS_##f])
#define TZ_PUT(f, value) (tz_c.f##_out[tz_e] = (value))
#define TZ_X (tz_c.x)
#define TZ_Y TZ__WHOLE_Y((tz_c.y))
#define TZ_Z 0
#define TZ_STEP (tz_c.step)
