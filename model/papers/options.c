/* The options of predict that only the papers' models take. Commands read them by this table. */
#include "model/papers/options.h"

#include "predict/predictor.h"
#include <math.h>

static const char counts[] =
    "counts the stencil's own kernels: use meng2009 or meng2011 for another "
    "halo, streamed fields or fences",
                  printed[] = "has no equation to take as printed and follows no loops: that is "
                              "luo2011";

const tz_predictor_option tz_predictor_options[] = {
    [TZ_PAPERS_HALO] = {"halo", TZ_PREDICTOR_EXTENTS, 1e-9, 1e6,
                        "one to three numbers of cells, both sides together",
                        "  --halo N[,N[,N]]      for the papers' models: another halo width, both "
                        "sides together\n",
                        counts},
    [TZ_PAPERS_STREAMED] =
        {"streamed", TZ_PREDICTOR_NUMBER, 0, 64, "a number from 0 to 64",
         "  --streamed N          for the papers' models: another number of streamed fields\n",
         counts},
    [TZ_PAPERS_BANK_CONFLICTS] = {"bank_conflicts", TZ_PREDICTOR_NUMBER, 0, INFINITY, NULL, NULL,
                                  NULL},
    [TZ_PAPERS_FENCE] =
        {"fence", TZ_PREDICTOR_FLAG, 0, 1, NULL,
         "  --fence               for the papers' models: stages synchronise inside one launch\n",
         counts},
    [TZ_PAPERS_AS_PRINTED] =
        {"as_printed", TZ_PREDICTOR_FLAG, 0, 1, NULL,
         "  --as-printed          for luo2011: equations 2 and 3 as the paper prints them\n",
         printed},
    [TZ_PAPERS_TRIPS] =
        {"trips", TZ_PREDICTOR_INTEGER, 1, 1000000, NULL,
         "  --trips N             for luo2011: turns of loops whose end depends on data (default "
         "1)\n",
         printed},
    {.name = NULL}};
