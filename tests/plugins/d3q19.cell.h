/* Lattice Boltzmann on D3Q19, reduced to one conserved quantity: each direction is a field that is
 * read at one neighbour. */
// clang-format off
#define TZ_FIELDS(F) \
    F(f0, real) \
    F(f1, real) \
    F(f2, real) \
    F(f3, real) \
    F(f4, real) \
    F(f5, real) \
    F(f6, real) \
    F(f7, real) \
    F(f8, real) \
    F(f9, real) \
    F(f10, real) \
    F(f11, real) \
    F(f12, real) \
    F(f13, real) \
    F(f14, real) \
    F(f15, real) \
    F(f16, real) \
    F(f17, real) \
    F(f18, real) \
    F(open, real)
#define TZ_CONSTANTS(K) K(omega, real) K(rest, real) K(axis, real) K(diagonal, real)
#define TZ_READS(R) \
    R(d3q19, f0, 0, 0, 0, 0, 0, 0) \
    R(d3q19, f1, 0, 1, 0, 1, 0, 0) \
    R(d3q19, f2, 0, 1, 0, 0, 0, 1) \
    R(d3q19, f3, 0, 1, 0, 0, 0, 0) \
    R(d3q19, f4, 0, 1, 0, 0, -1, 0) \
    R(d3q19, f5, 0, 1, -1, 0, 0, 0) \
    R(d3q19, f6, 0, 0, 0, 1, 0, 1) \
    R(d3q19, f7, 0, 0, 0, 1, 0, 0) \
    R(d3q19, f8, 0, 0, 0, 1, -1, 0) \
    R(d3q19, f9, 0, 0, 0, 0, 0, 1) \
    R(d3q19, f10, 0, 0, 0, 0, -1, 0) \
    R(d3q19, f11, 0, 0, -1, 0, 0, 1) \
    R(d3q19, f12, 0, 0, -1, 0, 0, 0) \
    R(d3q19, f13, 0, 0, -1, 0, -1, 0) \
    R(d3q19, f14, -1, 0, 0, 1, 0, 0) \
    R(d3q19, f15, -1, 0, 0, 0, 0, 1) \
    R(d3q19, f16, -1, 0, 0, 0, 0, 0) \
    R(d3q19, f17, -1, 0, 0, 0, -1, 0) \
    R(d3q19, f18, -1, 0, -1, 0, 0, 0) \
    R(d3q19, open, 0, 0, 0, 0, 0, 0)
#define DIRECTIONS(D) \
    D(f0, 0, 0, 0, rest) \
    D(f1, 1, 1, 0, diagonal) \
    D(f2, 1, 0, 1, diagonal) \
    D(f3, 1, 0, 0, axis) \
    D(f4, 1, 0, -1, diagonal) \
    D(f5, 1, -1, 0, diagonal) \
    D(f6, 0, 1, 1, diagonal) \
    D(f7, 0, 1, 0, axis) \
    D(f8, 0, 1, -1, diagonal) \
    D(f9, 0, 0, 1, axis) \
    D(f10, 0, 0, -1, axis) \
    D(f11, 0, -1, 1, diagonal) \
    D(f12, 0, -1, 0, axis) \
    D(f13, 0, -1, -1, diagonal) \
    D(f14, -1, 1, 0, diagonal) \
    D(f15, -1, 0, 1, diagonal) \
    D(f16, -1, 0, 0, axis) \
    D(f17, -1, 0, -1, diagonal) \
    D(f18, -1, -1, 0, diagonal)
#define ARRIVE(f, dx, dy, dz, weight) const real f##_in = TZ_AT(f, dx, dy, dz); sum = sum + f##_in;
#define RELAX(f, dx, dy, dz, weight) \
    TZ_PUT(f, TZ_FMA(pull, TZ_FMA(TZ_K(weight), sum, -f##_in), f##_in));

TZ_CELL(d3q19)
{
    const real pull = TZ_K(omega) * TZ_AT(open, 0, 0, 0);
    real sum = 0;
    DIRECTIONS(ARRIVE)
    DIRECTIONS(RELAX)
}
#undef DIRECTIONS
#undef ARRIVE
#undef RELAX
// clang-format on
