/* Who touched which word of memory when: how races are found. */
#ifndef TZ_SIMT_MEMORY_H
#define TZ_SIMT_MEMORY_H

#include "simt.h"

/* An access, and between which barriers it was. */
typedef struct simt_access {
    int block; /* in the launch, from 1; 0: no access yet */
    int thread;
    int round;         /* grid barriers before it */
    int interval;      /* of the block's barriers */
    int warp_interval; /* warp barriers passed */
    int arrived;       /* tz_adjacent_arrive before it */
    int waited;        /* tz_adjacent_wait before it */
    simt_place place;
} simt_access;

/* 4 bytes. Two readers suffice: an access that races with any reader races with one of them. */
typedef struct simt_cell {
    simt_access writer;
    simt_access reader[2];
} simt_cell;

/* Records `now`. Returns what it races with, and fills `other`. */
enum { SIMT_NO_RACE, SIMT_RACES_WITH_WRITER, SIMT_RACES_WITH_READER };
int simt_cell_read(simt_cell *cell, const simt_access *now, simt_access *other);
int simt_cell_write(simt_cell *cell, const simt_access *now, simt_access *other);

#endif
