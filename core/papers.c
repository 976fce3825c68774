/* The tables that model/papers adds rows to. Their owners declare them: predict/predictor.h,
 * policy/class.h, calibrate/cuda.h, backend/cuda/family/family.h. */
#include "papers.h"

#include "backend/cuda/family/family.h"
#include "calibrate/cuda.h"
#include "policy/class.h"
#include "policy/policy.h"
#include "predict/predictor.h"

#ifdef TRAPEZE_PAPERS
#include "model/papers/papers.h"
#define PAPERS(...) __VA_ARGS__,
#define LEFT_OUT(what) ""
#else
const tz_predictor_option tz_predictor_options[] = {
    {.name = NULL}}; /* else model/papers/options.c */
#define PAPERS(...)
#define LEFT_OUT(what) " (this program was built without the papers' " what ")"
#endif

const tz_predictor *const tz_predictors[] = {
    PAPERS(&tz_predictor_meng2009, &tz_predictor_meng2011) & tz_predictor_roofs,
    PAPERS(&tz_predictor_luo2011, &tz_predictor_tabik2015) NULL};
const char tz_predictors_left_out[] = LEFT_OUT("models");

const tz_policy_class *const tz_policy_classes[] = {
    &tz_policy_class_auto,     &tz_policy_class_predicted,
    &tz_policy_class_adaptive, PAPERS(&tz_policy_class_meng) & tz_policy_class_exhaustive,
    &tz_policy_class_fixed,    NULL};
const char tz_policies_left_out[] = LEFT_OUT("policies");

const tz_cuda_family *const tz_cuda_families_added[] = {
    PAPERS(&tz_cuda_family_tile, &tz_cuda_family_whole, &tz_cuda_family_block) NULL};
const char tz_cuda_families_left_out[] = LEFT_OUT("families");

const tz_cuda_part *const tz_cuda_parts_added[] = {PAPERS(&tz_cuda_part_costs) NULL};
