/* PathFinder (Rodinia): one row of a grid of weights an iteration,
 * cost'[x] = weight[x] + min(cost[x-1], cost[x], cost[x+1]). The sum wraps at 32 bits. */
#define TZ_FIELDS(F) F(cost, int) F(weights, int)
#define TZ_CONSTANTS(K)

TZ_CELL(pathfinder)
{
    const int west = TZ_AT(cost, -1), here = TZ_AT(cost, 0), east = TZ_AT(cost, 1);
    const int side = west < east ? west : east;
    const int least = side < here ? side : here;
    TZ_PUT(cost, (int)((tz_word)TZ_AT(weights, 0) + (tz_word)least));
}
