/* Parser of benchmark records, and the facts and the plan that they give to a model. Called by
 * meng_predict.c. */
#include "model/papers/benchmark.h"

#include "model/papers/meng.h"

#include <string.h>

static const tz_model_key keys[] = {TZ_MODEL_NAME_KEYS(tz_model_benchmark)
#define BENCHMARK_KEY(member, key, quantity, min, max, doc)                                        \
    {key, TZ_MODEL_##quantity, offsetof(tz_model_benchmark, member), min, max, doc, NAN},
                                        TZ_MODEL_BENCHMARK_TABLE(BENCHMARK_KEY)
#undef BENCHMARK_KEY
};

enum { KEYS = sizeof keys / sizeof *keys };
_Static_assert((int)KEYS <= (int)TZ_MODEL_KEYS_MAX, "TZ_MODEL_KEYS_MAX is too small");

tz_status tz_model_benchmark_parse(const char *path, const char *text, size_t length,
                                   tz_model_benchmark *out, tz_error *error)
{
    return tz__record_parse(keys, KEYS, out, sizeof *out, path, text, length, error);
}

static tz_status need(const tz_model_benchmark *benchmark, const tz_model_number *number,
                      const char *key, tz_error *error)
{
    if (number->known)
        return TZ_OK;
    return tz_error_set(error, TZ_FORMAT, benchmark->name, "the record of this benchmark has no %s",
                        key);
}

tz_status tz_model_benchmark_facts(const tz_model_benchmark *benchmark, tz_model_facts *facts,
                                   tz_model_plan *plan, tz_error *error)
{
    const tz_model_benchmark *b = benchmark;
    const tz_model_number *length[] = {&b->data_length_x, &b->data_length_y, &b->data_length_z};
    const tz_model_number *halo[] = {&b->halo_width_x, &b->halo_width_y, &b->halo_width_z};
    const tz_model_number *block[] = {&b->block_x, &b->block_y, &b->block_z};
    static const char *const length_keys[] = {"data_length_x", "data_length_y", "data_length_z"};
    static const char *const halo_keys[] = {"halo_width_x", "halo_width_y", "halo_width_z"};
    const struct {
        const tz_model_number *number;
        const char *key;
    } scalars[] = {
        {&b->dims, "dims"},
        {&b->element_bytes, "element"},
        {&b->stencil_arrays, "stencil_arrays"},
        {&b->elements_per_op, "elements_per_op"},
        {&b->profile_cells, "profile_cells"},
        {&b->profile_sm_count, "profile_sm_count"},
        {&b->profile_warp_size, "profile_warp_size"},
        {&b->insts_per_sm_misc, "insts_per_sm_misc"},
        {&b->insts_per_sm_iter, "insts_per_sm_iter"},
    };
    memset(facts, 0, sizeof *facts);
    memset(plan, 0, sizeof *plan);
    tz_status status = TZ_OK;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars && status == TZ_OK; i++)
        status = need(b, scalars[i].number, scalars[i].key, error);
    for (int i = 0; status == TZ_OK && i < (int)b->dims.value; i++) {
        status = need(b, length[i], length_keys[i], error);
        if (status == TZ_OK)
            status = need(b, halo[i], halo_keys[i], error);
    }
    if (status != TZ_OK)
        return status;
    memcpy(facts->name, b->name, sizeof facts->name);
    facts->dims = (int)b->dims.value;
    for (int i = 0; i < facts->dims; i++) {
        facts->extent[i] = length[i]->value;
        facts->halo_width[i] = halo[i]->value;
        plan->block[i] = block[i]->value;
    }
    facts->element_bytes = b->element_bytes.value;
    facts->cells_per_element = 1;
    facts->state_fields = 1;
    facts->static_fields = (int)b->stencil_arrays.value - 1;
    facts->streamed_fields = b->elements_per_op.value;
    facts->insts_per_setup =
        tz_model_meng_num_warp_insts(b->insts_per_sm_misc.value, b->profile_cells.value,
                                     b->profile_warp_size.value, b->profile_sm_count.value);
    facts->insts_per_update =
        tz_model_meng_num_warp_insts(b->insts_per_sm_iter.value, b->profile_cells.value,
                                     b->profile_warp_size.value, b->profile_sm_count.value);
    facts->bank_conflicts_known = b->bank_conflict_rate.known;
    facts->bank_conflict_rate = b->bank_conflict_rate.value;
    return TZ_OK;
}
