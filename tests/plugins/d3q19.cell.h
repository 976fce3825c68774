/* Lattice Boltzmann on D3Q19, reduced to one conserved quantity: each direction is a field that is
 * read at one neighbour. */
// clang-format off
#define D3Q19(D, X) \
    D(X, f0, 0, 0, 0, rest) \
    D(X, f1, 1, 1, 0, diagonal) \
    D(X, f2, 1, 0, 1, diagonal) \
    D(X, f3, 1, 0, 0, axis) \
    D(X, f4, 1, 0, -1, diagonal) \
    D(X, f5, 1, -1, 0, diagonal) \
    D(X, f6, 0, 1, 1, diagonal) \
    D(X, f7, 0, 1, 0, axis) \
    D(X, f8, 0, 1, -1, diagonal) \
    D(X, f9, 0, 0, 1, axis) \
    D(X, f10, 0, 0, -1, axis) \
    D(X, f11, 0, -1, 1, diagonal) \
    D(X, f12, 0, -1, 0, axis) \
    D(X, f13, 0, -1, -1, diagonal) \
    D(X, f14, -1, 1, 0, diagonal) \
    D(X, f15, -1, 0, 1, diagonal) \
    D(X, f16, -1, 0, 0, axis) \
    D(X, f17, -1, 0, -1, diagonal) \
    D(X, f18, -1, -1, 0, diagonal)
#define D3Q19_LOW(d) ((d) < 0 ? (d) : 0)
#define D3Q19_HIGH(d) ((d) > 0 ? (d) : 0)
#define D3Q19_FIELD(F, f, dx, dy, dz, weight) F(f, real)
#define D3Q19_READ(R, f, dx, dy, dz, weight) \
    R(d3q19, f, D3Q19_LOW(dx), D3Q19_HIGH(dx), D3Q19_LOW(dy), D3Q19_HIGH(dy), D3Q19_LOW(dz), \
      D3Q19_HIGH(dz))
#define TZ_FIELDS(F) D3Q19(D3Q19_FIELD, F) F(open, real)
#define TZ_CONSTANTS(K) K(omega, real) K(rest, real) K(axis, real) K(diagonal, real)
#define TZ_READS(R) D3Q19(D3Q19_READ, R) R(d3q19, open, 0, 0, 0, 0, 0, 0)
#define ARRIVE(X, f, dx, dy, dz, weight) \
    const real f##_in = TZ_AT(f, dx, dy, dz); sum = sum + f##_in;
#define RELAX(X, f, dx, dy, dz, weight) \
    TZ_PUT(f, TZ_FMA(pull, TZ_FMA(TZ_K(weight), sum, -f##_in), f##_in));

TZ_CELL(d3q19)
{
    const real pull = TZ_K(omega) * TZ_AT(open, 0, 0, 0);
    real sum = 0;
    D3Q19(ARRIVE, )
    D3Q19(RELAX, )
}
#undef ARRIVE
#undef RELAX
// clang-format on
