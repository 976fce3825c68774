/* A chip with its package, from the conductances between cells:
 *   T' = T + dt warming (power + convection (T_amb - T) + sum of conductance (T_neighbour - T))
 * A cell's conductances lead to the next cells of each axis. Coolant flows between cells: a cell
 * gains flow (T_neighbour - T) from each neighbour from which some comes, and inlet (T_inlet - T)
 * where it enters the grid. */
#define TZ_FIELDS(F)                                                                               \
    F(temperature, real)                                                                           \
    F(power, real)                                                                                 \
    F(conductance_x, real)                                                                         \
    F(conductance_y, real)                                                                         \
    F(conductance_z, real)                                                                         \
    F(convection, real)                                                                            \
    F(warming, real)                                                                               \
    F(flow_x, real)                                                                                \
    F(flow_y, real)                                                                                \
    F(inlet, real)                                                                                 \
    F(decay, real)
#define TZ_CONSTANTS(K) K(dt, real) K(ambient, real) K(coolant, real)
#define TZ_READS(R)                                                                                \
    R(chip, temperature, -1, 1, -1, 1, -1, 1)                                                      \
    R(chip, power, 0, 0, 0, 0, 0, 0)                                                               \
    R(chip, conductance_x, -1, 0, 0, 0, 0, 0)                                                      \
    R(chip, conductance_y, 0, 0, -1, 0, 0, 0)                                                      \
    R(chip, conductance_z, 0, 0, 0, 0, -1, 0)                                                      \
    R(chip, convection, 0, 0, 0, 0, 0, 0)                                                          \
    R(chip, warming, 0, 0, 0, 0, 0, 0)                                                             \
    R(chip, flow_x, -1, 0, 0, 0, 0, 0)                                                             \
    R(chip, flow_y, 0, 0, -1, 0, 0, 0)                                                             \
    R(chip, inlet, 0, 0, 0, 0, 0, 0)
/* What heat comes through from the neighbours in a layer: W/K. */
#define CHIP_WEST (TZ_AT(conductance_x, -1, 0, 0) + TZ_MAX(TZ_AT(flow_x, -1, 0, 0), 0))
#define CHIP_EAST (TZ_AT(conductance_x, 0, 0, 0) + TZ_MAX(-TZ_AT(flow_x, 0, 0, 0), 0))
#define CHIP_NORTH (TZ_AT(conductance_y, 0, -1, 0) + TZ_MAX(TZ_AT(flow_y, 0, -1, 0), 0))
#define CHIP_SOUTH (TZ_AT(conductance_y, 0, 0, 0) + TZ_MAX(-TZ_AT(flow_y, 0, 0, 0), 0))

TZ_CELL(chip)
{
    const real t = TZ_AT(temperature, 0, 0, 0);
    real heat = TZ_FMA(TZ_AT(convection, 0, 0, 0), TZ_K(ambient) - t, TZ_AT(power, 0, 0, 0));
    heat = TZ_FMA(TZ_AT(inlet, 0, 0, 0), TZ_K(coolant) - t, heat);
    heat = TZ_FMA(CHIP_WEST, TZ_AT(temperature, -1, 0, 0) - t, heat);
    heat = TZ_FMA(CHIP_EAST, TZ_AT(temperature, 1, 0, 0) - t, heat);
    heat = TZ_FMA(CHIP_NORTH, TZ_AT(temperature, 0, -1, 0) - t, heat);
    heat = TZ_FMA(CHIP_SOUTH, TZ_AT(temperature, 0, 1, 0) - t, heat);
    heat = TZ_FMA(TZ_AT(conductance_z, 0, 0, -1), TZ_AT(temperature, 0, 0, -1) - t, heat);
    heat = TZ_FMA(TZ_AT(conductance_z, 0, 0, 0), TZ_AT(temperature, 0, 0, 1) - t, heat);
    TZ_PUT(temperature, TZ_FMA(TZ_K(dt) * TZ_AT(warming, 0, 0, 0), heat, t));
}

TZ_CELL(chip_decay)
{
    const real x = CHIP_WEST + CHIP_EAST;
    const real y = CHIP_NORTH + CHIP_SOUTH;
    const real z = TZ_AT(conductance_z, 0, 0, -1) + TZ_AT(conductance_z, 0, 0, 0);
    const real out = TZ_AT(convection, 0, 0, 0) + TZ_AT(inlet, 0, 0, 0);
    TZ_PUT(decay, TZ_AT(warming, 0, 0, 0) * ((x + y) + (z + out)));
}
