/* The ghost zones of slabs: their exchange among devices and ranks, and their depth. */
#ifndef TZ_CORE_BACKEND_SLABS_EXCHANGE_H
#define TZ_CORE_BACKEND_SLABS_EXCHANGE_H

#include "backend/host/slab.h"
#include "backend/slabs/state.h"

/* Fill the ghost zones of the fields in the mask, for `exchange` iterations. */
tz_status tz__slabs_exchange(tz__slabs *slabs, uint32_t fields, int exchange, tz_error *error);
/* Offer the ends of slab i for an exchange of the state fields, after a stage: if all slabs do
 * that, the exchange begins with the copies. Only where tz__slabs_is_direct(): devices of this
 * process copy. */
bool tz__slabs_is_direct(const tz__slabs *slabs);
tz_status tz__slabs_offer_ends(tz__slabs *slabs, int i, int exchange, tz_error *error);
/* What slab i computes in a stage after which `rest` iterations follow until an exchange for `next`
 * ones: its own cells, and those of its ghost zone that the rest needs. If the exchange follows at
 * once, its ends come first where other devices copy them. */
tz_slab_span tz__slabs_span(const tz__slabs *slabs, int i, int rest, int next);
/* Give all slabs ghost zones for `depth` iterations. The ghost zones of static fields are
 * filled. */
tz_status tz__slabs_deepen(tz__slabs *slabs, int depth, tz_error *error);
/* Make ghost zones current for that many iterations at least, by an exchange for `exchange`. */
tz_status tz__slabs_need(tz__slabs *slabs, int iterations, int exchange, tz_error *error);
/* Before a state that is linked goes, with all copies. [all ranks] */
void tz__slabs_close_links(tz__slabs *slabs);

#endif
