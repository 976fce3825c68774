/* A grid on several devices: each holds a slab, and between two exchanges of ghost zones it advances
 * `exchange` iterations alone. Deeper ghost zones are exchanged less often, and cost redundant
 * updates: the trade of Meng and Skadron, between devices instead of tiles.
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
    double start_s; /* what it costs to begin a stage on all devices and to wait for them */
    tz_link link;
} tz_exchanges;

/* Seconds of an exchange; 0 without devices. */
double tz_exchange_s(const tz_exchanges *exchange);
/* What slabs add to a stage of `height` iterations: its share of an exchange, and its start. */
double tz_exchange_stage_s(const tz_exchanges *exchange, int height);

/* What an iteration of a slab costs, as a function of the exchange depth. */
typedef struct tz_exchange_costs {
    double slices;   /* the slab's own */
    double slice_s;  /* an iteration of a slice */
    double reach;    /* slices of the ghost zone of one iteration: of both ends together */
    bool shrinks;    /* slices that the slab no longer needs are left out */
    double fixed_s;  /* an exchange, without bytes */
    double moving_s; /* a slice of an exchange */
} tz_exchange_costs;

/* Redundant slices of an iteration, on average: reach * exchange; if the ghost zone shrinks,
 * reach * (exchange - 1) / 2. */
double tz_exchange_redundant(const tz_exchange_costs *costs, int exchange);
/* Seconds of an iteration: its slices and its share of an exchange. */
double tz_exchange_iteration_s(const tz_exchange_costs *costs, int exchange);
/* The depth with the least time: a multiple of `height` from it to `most`; of equals the smallest.
 * At least `height`. */
int tz_exchange_best(const tz_exchange_costs *costs, int height, int most);

#endif
