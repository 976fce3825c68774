/* The rows that the papers' models add to tables of the product (core/papers.c). */
#ifndef TZ_MODEL_PAPERS_PAPERS_H
#define TZ_MODEL_PAPERS_PAPERS_H

#include "backend/cuda/family/family.h"
#include "calibrate/cuda.h"
#include "policy/class.h"
#include "predict/prediction_table.h"

/* meng_predict.c, luo2011_predict.c, tabik2015_predict.c */
extern const tz_predictor tz_predictor_meng2009, tz_predictor_meng2011, tz_predictor_luo2011,
    tz_predictor_tabik2015;
/* meng_policy.c */
extern const tz_policy_class tz_policy_class_meng;
/* tile.c, block.c */
extern const tz_cuda_family tz_cuda_family_tile, tz_cuda_family_whole, tz_cuda_family_block;
/* costs.c */
extern const tz_cuda_part tz_cuda_part_costs;

#endif
