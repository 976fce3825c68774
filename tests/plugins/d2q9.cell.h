/* Lattice Boltzmann with nine directions: each population comes from the cell against its
 * direction, walls send it back. Relaxation to a linear equilibrium. */
#define TZ_FIELDS(F)                                                                               \
    F(f0, real)                                                                                    \
    F(fe, real)                                                                                    \
    F(fn, real)                                                                                    \
    F(fw, real) F(fs, real) F(fne, real) F(fnw, real) F(fsw, real) F(fse, real) F(wall, int)
#define TZ_CONSTANTS(K) K(keep, real) K(share, real)
#define TZ_READS(R)                                                                                \
    R(d2q9, f0, 0, 0, 0, 0)                                                                        \
    R(d2q9, fe, -1, 0, 0, 0)                                                                       \
    R(d2q9, fn, 0, 0, -1, 0)                                                                       \
    R(d2q9, fw, 0, 1, 0, 0)                                                                        \
    R(d2q9, fs, 0, 0, 0, 1)                                                                        \
    R(d2q9, fne, -1, 0, -1, 0)                                                                     \
    R(d2q9, fnw, 0, 1, -1, 0) R(d2q9, fsw, 0, 1, 0, 1) R(d2q9, fse, -1, 0, 0, 1)

#define RELAX(f, weight, flow) TZ_FMA(TZ_K(keep), (f), (weight)*TZ_FMA((real)3.0, (flow), mass))
#define PUT(field, back, f, weight, flow)                                                          \
    TZ_PUT(field, solid ? (back) : RELAX(f, (real)(weight), (flow)))

TZ_CELL(d2q9)
{
    const real f0 = TZ_AT(f0, 0, 0);
    const real e = TZ_AT(fe, -1, 0), n = TZ_AT(fn, 0, -1), w = TZ_AT(fw, 1, 0), s = TZ_AT(fs, 0, 1);
    const real ne = TZ_AT(fne, -1, -1), nw = TZ_AT(fnw, 1, -1), sw = TZ_AT(fsw, 1, 1),
               se = TZ_AT(fse, -1, 1);
    const int solid = TZ_AT(wall, 0, 0) > 4;
    const real east = (e + ne) + se, west = (w + nw) + sw, upright = (n + s) + f0;
    const real mass = TZ_K(share) * ((east + west) + upright);
    const real u = TZ_K(share) * (east - west);
    const real v = TZ_K(share) * (((n + ne) + nw) - ((s + se) + sw));
    TZ_PUT(f0, solid ? f0 : TZ_FMA(TZ_K(keep), f0, (real)(4.0 / 9.0) * mass));
    PUT(fe, w, e, 1.0 / 9.0, u);
    PUT(fn, s, n, 1.0 / 9.0, v);
    PUT(fw, e, w, 1.0 / 9.0, -u);
    PUT(fs, n, s, 1.0 / 9.0, -v);
    PUT(fne, sw, ne, 1.0 / 36.0, u + v);
    PUT(fnw, se, nw, 1.0 / 36.0, v - u);
    PUT(fsw, ne, sw, 1.0 / 36.0, -(u + v));
    PUT(fse, nw, se, 1.0 / 36.0, u - v);
}
