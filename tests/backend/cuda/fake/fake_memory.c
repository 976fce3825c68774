/* Memory and copies of the stand-in for libcuda.so.1. */
#include "fake_impl.h"

static int block_make(size_t bytes, bool pinned, void **out)
{
    const bool shares = fake_shares() && !pinned;
    block *b = shares ? fake_shared_block(bytes) : malloc(sizeof *b + bytes);
    if (!b)
        return OUT_OF_MEMORY;
    *b = (block){.next = fake_current->blocks,
                 .bytes = bytes,
                 .pinned = pinned,
                 .shared = shares ? b->shared : NULL};
    fake_current->blocks = b;
    if (!pinned)                    /* which is large and short-lived */
        memset(b + 1, 0xcd, bytes); /* new memory is not zero */
    *out = b + 1;
    return 0;
}

void fake_block_free(block *b)
{
    if (b->shared)
        fake_shared_drop(b->shared);
    else
        free(b);
}

static int block_drop(const void *memory, bool pinned)
{
    for (block **b = &fake_current->blocks; *b; b = &(*b)->next)
        if (*b + 1 == memory && (*b)->pinned == pinned) {
            block *dropped = *b;
            fake_drain_all(fake_current);
            *b = dropped->next;
            fake_current->used -= pinned ? 0 : dropped->bytes;
            fake_block_free(dropped);
            return 0;
        }
    return INVALID_VALUE;
}

static bool is_pinned(const void *memory)
{
    for (const block *b = fake_current->blocks; b; b = b->next)
        if (b->pinned && (const char *)memory >= (const char *)(b + 1) &&
            (const char *)memory < (const char *)(b + 1) + b->bytes)
            return true;
    return false;
}

void fake_memory_list(fake_cuda_launch *launch)
{
    launch->memory_count = 0;
    for (block *b = fake_current->blocks; b && launch->memory_count < FAKE_CUDA_MEMORY_MAX;
         b = b->next)
        if (!b->pinned)
            launch->memory[launch->memory_count++] = (fake_cuda_memory){b + 1, b->bytes};
}

EXPORT(cuMemGetInfo_v2, (size_t * free_bytes, size_t *bytes))
{
    ENTER(cuMemGetInfo_v2);
    *bytes = (size_t)fake_number("FAKE_CUDA_MEMORY", 1 << 30);
    *free_bytes = *bytes - fake_current->used;
    return 0;
}

EXPORT(cuMemAlloc_v2, (pointer * out, size_t bytes))
{
    void *memory = NULL;
    ENTER(cuMemAlloc_v2);
    if (bytes == 0)
        return INVALID_VALUE;
    if (bytes > (size_t)fake_number("FAKE_CUDA_MEMORY", 1 << 30) - fake_current->used)
        return OUT_OF_MEMORY;
    const int result = block_make(bytes, false, &memory);
    if (result)
        return result;
    fake_current->used += bytes;
    fake_seen.allocations++;
    *out = (pointer)(uintptr_t)memory;
    return 0;
}

EXPORT(cuMemFree_v2, (pointer memory))
{
    ENTER(cuMemFree_v2);
    const int result = block_drop((void *)(uintptr_t)memory, false);
    fake_seen.allocations -= !result;
    return result;
}

EXPORT(cuMemHostAlloc, (void **out, size_t bytes, unsigned flags))
{
    ENTER(cuMemHostAlloc);
    if (bytes == 0 || flags != 0)
        return INVALID_VALUE;
    const int result = block_make(bytes, true, out);
    fake_seen.pinned += !result;
    return result;
}

EXPORT(cuMemFreeHost, (void *memory))
{
    ENTER(cuMemFreeHost);
    const int result = block_drop(memory, true);
    fake_seen.pinned -= !result;
    return result;
}

/* Puts a copy on a stream. A copy of host memory that is not pinned runs at once, after all earlier
 * operations of the stream. */
static int put_copy(void *handle, const operation *o, const void *host)
{
    stream *s = fake_stream(handle);
    const int result = fake_put(handle, o);
    if (!result && !s->noting && host && !is_pinned(host))
        fake_drain(s, s->put);
    return result;
}

EXPORT(cuMemcpyHtoDAsync_v2, (pointer to, const void *from, size_t bytes, void *handle))
{
    ENTER(cuMemcpyHtoDAsync_v2);
    const operation o = {.kind = COPY, .to = (void *)(uintptr_t)to, .from = from, .bytes = bytes};
    return put_copy(handle, &o, from);
}

EXPORT(cuMemcpyDtoHAsync_v2, (void *to, pointer from, size_t bytes, void *handle))
{
    ENTER(cuMemcpyDtoHAsync_v2);
    const operation o = {.kind = COPY, .to = to, .from = (void *)(uintptr_t)from, .bytes = bytes};
    return put_copy(handle, &o, to);
}

EXPORT(cuMemcpyDtoDAsync_v2, (pointer to, pointer from, size_t bytes, void *handle))
{
    ENTER(cuMemcpyDtoDAsync_v2);
    const operation o = {
        .kind = COPY, .to = (void *)(uintptr_t)to, .from = (void *)(uintptr_t)from, .bytes = bytes};
    return put_copy(handle, &o, NULL);
}

EXPORT(cuMemcpyPeerAsync, (pointer to, context *to_context, pointer from, context *from_context,
                           size_t bytes, void *handle))
{
    ENTER(cuMemcpyPeerAsync);
    if (to_context != fake_current || from_context == to_context || !from_context->retained)
        return INVALID_VALUE;
    fake_seen.peer_copies++;
    return put_copy(handle,
                    &(operation){.kind = COPY,
                                 .to = (void *)(uintptr_t)to,
                                 .from = (const void *)(uintptr_t)from,
                                 .bytes = bytes},
                    NULL);
}

EXPORT(cuMemcpy3DAsync_v2, (const copy_3d *copy, void *handle))
{
    ENTER(cuMemcpy3DAsync_v2);
    const struct side *sides[] = {&copy->from, &copy->to};
    for (int k = 0; k < 2; k++)
        if (sides[k]->pitch < copy->width || sides[k]->height < copy->height ||
            (sides[k]->memory != 1 && sides[k]->memory != 2))
            return INVALID_VALUE;
    return put_copy(handle, &(operation){.kind = COPY_3D, .box = *copy},
                    copy->from.memory == 1 ? copy->from.host : copy->to.host);
}

EXPORT(cuMemsetD32Async, (pointer to, unsigned word, size_t count, void *handle))
{
    ENTER(cuMemsetD32Async);
    if (to % 4)
        return INVALID_VALUE;
    return fake_put(
        handle,
        &(operation){.kind = FILL, .to = (void *)(uintptr_t)to, .word = word, .bytes = count});
}

/* These use the default stream. A copy from the host does not run at once. */
EXPORT(cuMemcpyHtoD_v2, (pointer to, const void *from, size_t bytes))
{
    ENTER(cuMemcpyHtoD_v2);
    return cuMemcpyHtoDAsync_v2(to, from, bytes, NULL);
}

EXPORT(cuMemcpyDtoH_v2, (void *to, pointer from, size_t bytes))
{
    ENTER(cuMemcpyDtoH_v2);
    const int result = cuMemcpyDtoHAsync_v2(to, from, bytes, NULL);
    fake_drain(&fake_current->standard, fake_current->standard.put);
    return result;
}

EXPORT(cuMemsetD8_v2, (pointer to, unsigned char value, size_t bytes))
{
    ENTER(cuMemsetD8_v2);
    fake_drain(&fake_current->standard, fake_current->standard.put);
    memset((void *)(uintptr_t)to, value, bytes);
    return 0;
}
