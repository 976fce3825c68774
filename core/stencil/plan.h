/* A plan: what executes a stage, and how.
 *
 * The table below lists every knob. Comparing plans, printing them, reading them from Lua and
 * writing them to JSON all use it, so a new knob is one line here. */
#ifndef TZ_CORE_STENCIL_PLAN_H
#define TZ_CORE_STENCIL_PLAN_H

#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>
#include <trapeze/plugin.h>

typedef struct tz_plan {
    int height;            /* iterations between two exchanges */
    int64_t tile[TZ_AXES]; /* useful cells (words for TZ_BITS) of a tile; the last axis is the
                            * length of a stream's chunk */
    char family[16];       /* "reference", "stream", "tile", "resident" */
    /* Of GPU families that stream; others take 0 alone. */
    int vector;    /* elements side by side that a lane holds */
    int ahead;     /* rows or planes that are loaded before they are needed */
    int slack;     /* 1: levels lag a slab more than they must, and so are independent in a step */
    int warps;     /* of a block */
    int blocks;    /* of a multiprocessor at once, at least: what registers must leave room for */
    int span;      /* iterations that a launch may run, several stages: chosen; 0: height */
    char why[160]; /* how height and tile were chosen */
} tz_plan;

#endif
