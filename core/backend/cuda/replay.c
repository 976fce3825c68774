#include "backend/cuda/replay.h"

#include <string.h>

void tz_cuda_replay_clear(tz_cuda_replay *replay, tz_cuda *cuda)
{
    tz_cuda_graph_destroy(cuda, replay->graph);
    memset(replay, 0, sizeof *replay);
}

static tz_status record(tz_cuda *cuda, tz_cuda_queue *scratch, const tz_cuda_kernel *kernel,
                        const tz_cuda_shape *shape, void *const arguments[2], tz_error *error)
{
    const int block[3] = {shape->threads, 1, 1};
    tz_status status = TZ_OK;
    for (int i = 0; !status && i < TZ_CUDA_REPLAY_STAGES; i++) {
        void *pointers[] = {arguments[i % 2]};
        status = tz_cuda_launch(cuda, scratch, kernel, shape->grid, block, shape->shared_bytes,
                                false, pointers, error);
    }
    return status;
}

tz_status tz_cuda_replay_launch(tz_cuda_replay *replay, tz_cuda *cuda, tz_cuda_queue *scratch,
                                const tz_cuda_kernel *kernel, const tz_cuda_shape *shape,
                                void *const arguments[2], size_t bytes, tz_error *error)
{
    if (!replay->graph || memcmp(replay->arguments[0], arguments[0], bytes) != 0 ||
        memcmp(replay->arguments[1], arguments[1], bytes) != 0) {
        tz_cuda_replay_clear(replay, cuda);
        tz_status status = tz_cuda_graph_begin(cuda, scratch, error);
        if (status)
            return status;
        status = record(cuda, scratch, kernel, shape, arguments, error);
        if (status)
            tz_cuda_graph_end(cuda, scratch, NULL, NULL);
        else
            status = tz_cuda_graph_end(cuda, scratch, &replay->graph, error);
        if (status)
            return status;
        for (int i = 0; i < 2; i++)
            memcpy(replay->arguments[i], arguments[i], bytes);
    }
    return tz_cuda_graph_launch(cuda, replay->graph, NULL, error);
}
