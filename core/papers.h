/* Where the product and the papers' models meet, with papers.c: nothing else outside model/papers
 * names anything of it. Built with TRAPEZE_PAPERS the tables have their rows, without it they have
 * none. */
#ifndef TZ_CORE_PAPERS_H
#define TZ_CORE_PAPERS_H

#ifdef TRAPEZE_PAPERS
#include "model/papers/options.h"
#else
/* X(key, type, otherwise, doc, least, most): keys of tz.predict. */
#define TZ_PAPERS_KEYS(X)
/* X(key, type, doc): keys of what it returns. */
#define TZ_PAPERS_RESULTS(X)
#endif

#endif
