/* A grid on several devices: each holds a slab, and between two exchanges of ghost zones it
 * advances `exchange` iterations alone. Deeper ghost zones are exchanged less often, and cost
 * redundant updates: the trade of Meng and Skadron, between devices instead of tiles.
 *
 * A slice is a row of a 2-D grid, a plane of a 3-D one. */
#ifndef TZ_MODEL_EXCHANGE_H
#define TZ_MODEL_EXCHANGE_H

#include <stdbool.h>

/* What joins two devices. An exchange takes latency_s, and the bytes that a device receives at
 * bytes_per_s. */
typedef struct tz_link {
    double latency_s, bytes_per_s;
} tz_link;

/* The exchanges of a plan. */
typedef struct tz_exchanges {
    int devices;    /* 0 or 1: one device holds the grid, there are none */
    int iterations; /* between two exchanges; a multiple of the height */
    double bytes;   /* that the slowest device receives in an exchange */
    double cells;   /* useful cell updates of all devices in a stage */
    double start_s; /* what it costs to begin the stages up to an exchange on all devices */
    tz_link link;
    /* Of the time of a stage: what computes beside the exchange, in the stage before it, and what
     * it costs that this stage computes its ends first. Both 0: stages and exchanges take turns. */
    double beside, ends;
} tz_exchanges;

/* Seconds that an exchange adds, if the slowest device takes stage_s for a stage; 0 without
 * devices. */
double tz_exchange_s(const tz_exchanges *exchange, double stage_s);
/* What slabs add to a stage of `height` iterations: its share of an exchange, and its start. */
double tz_exchange_stage_s(const tz_exchanges *exchange, int height, double stage_s);

/* What an iteration of a slab costs, as a function of the exchange depth. */
typedef struct tz_exchange_costs {
    double slices;   /* the slab's own */
    double slice_s;  /* an iteration of a slice */
    double reach;    /* slices of the ghost zone of one iteration: of both ends together */
    int height;      /* iterations of a stage */
    bool shrinks;    /* slices that the slab no longer needs are left out, of each stage */
    bool hides;      /* the stage before an exchange computes its ends first */
    double fixed_s;  /* an exchange, without bytes */
    double moving_s; /* a slice of an exchange */
} tz_exchange_costs;

/* Redundant slices of an iteration, on average: reach * exchange; if the ghost zone shrinks,
 * reach * (exchange - height) / 2. */
double tz_exchange_redundant(const tz_exchange_costs *costs, int exchange);
/* Of the slices of the stage before an exchange: those that compute beside the exchange, and those
 * that it costs to compute the ends first. False: the slab is too thin, or the backend does not do
 * that. */
bool tz_exchange_beside(const tz_exchange_costs *costs, int exchange, double *beside, double *ends);
/* Seconds of an iteration: its slices and its share of an exchange. */
double tz_exchange_iteration_s(const tz_exchange_costs *costs, int exchange);
/* The depth with the least time: a multiple of the height from it to `most`; of equals the
 * smallest. At least the height. */
int tz_exchange_best(const tz_exchange_costs *costs, int most);

#endif
