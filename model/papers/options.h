/* Options of predict and tz.predict that only the papers' models take. core/papers.h includes
 * it. */
#ifndef TZ_MODEL_PAPERS_OPTIONS_H
#define TZ_MODEL_PAPERS_OPTIONS_H

/* Their numbers: the rows of tz_predictor_options (options.c). */
enum {
    TZ_PAPERS_HALO,
    TZ_PAPERS_STREAMED,
    TZ_PAPERS_BANK_CONFLICTS,
    TZ_PAPERS_FENCE,
    TZ_PAPERS_AS_PRINTED,
    TZ_PAPERS_TRIPS
};

/* X(key, type, otherwise, doc, least, most): the same as keys of tz.predict. */
#define TZ_PAPERS_KEYS(X)                                                                          \
    X("halo", "{x[, y[, z]]}", "the stencil's",                                                    \
      "for the papers' models: another halo width, both sides together", 0, 0)                     \
    X("streamed", "integer", "the stencil's",                                                      \
      "for the papers' models: another number of streamed fields", 0, INFINITY)                    \
    X("bank_conflicts", "number", "the stencil's, where it is known",                              \
      "for `meng2011`: conflicts in shared memory for each warp instruction", 0, INFINITY)         \
    X("fence", "boolean", "false", "for the papers' models: stages synchronise inside one launch", \
      0, 0)                                                                                        \
    X("as_printed", "boolean", "false",                                                            \
      "for `luo2011`: equations 2 and 3 as the paper prints them", 0, 0)                           \
    X("trips", "integer", "1", "for `luo2011`: turns of loops whose end depends on data", 1,       \
      1000000)

/* X(key, type, doc): keys of what tz.predict returns. */
#define TZ_PAPERS_RESULTS(X)                                                                       \
    X("passes", "list of tables",                                                                  \
      "by `luo2011`, one a pass: `p`, `p_text`, `active_warps`, `cpd1`, `cpd2`, `cpd`, `rounds`, " \
      "`clocks` and `periods`, a list of `{ type, c, m, accesses, transactions, mpd, time, t_p, "  \
      "t_c }`; by `tabik2015`, which predicts no times: `pass`, what it reads and writes, how "    \
      "many are `chosen`, and `shapes`, a list of `{ block, global_transactions, "                 \
      "shared_transactions, occupancy, active_blocks, good, chosen }`")

#endif
