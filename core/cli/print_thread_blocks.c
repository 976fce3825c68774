#include "cli/print_thread_blocks.h"

#include "cli/print_predictions.h"
#include <stdio.h>

static const char *const titles[] = {"global", "shared", "occupancy", "active"};

/* "+" where the shape is good by the criterion. */
static char flag(const tz_tabik_shape *shape, tz_tabik_criterion criterion)
{
    return shape->good >> criterion & 1 ? '+' : ' ';
}

static void print_pass(const tz_thread_blocks_pass *pass)
{
    const tz_tabik_kernel *k = &pass->kernel;
    const tz_tabik_space *space = &pass->space;
    printf("\n  pass %s: reads %d field%s, writes %d; ", pass->name, k->loads,
           k->loads == 1 ? "" : "s", k->stores);
    if (k->tiles > 0)
        printf("%d tile%s with a halo of %d:%d along x and %d:%d along y%s\n", k->tiles,
               k->tiles == 1 ? "" : "s", k->low[0], k->high[0], k->low[1], k->high[1],
               k->diagonals && k->low[0] + k->high[0] > 0 && k->low[1] + k->high[1] > 0
                   ? ", with its corners"
                   : "");
    else
        printf("no tile: it reads no neighbour in the plane\n");
    printf("    %9s  %14s  %14s  %9s  %7s\n", "block", titles[0], titles[1], titles[2], titles[3]);
    for (int i = 0; i < space->count; i++) {
        const tz_tabik_shape *s = &space->shapes[i];
        printf("  %c %4d x %-3d %14.0f%c %14.0f%c %7.1f %%%c %7d%c\n", s->chosen ? '*' : ' ', s->x,
               s->y, s->global_transactions, flag(s, TZ_TABIK_GLOBAL), s->shared_transactions,
               flag(s, TZ_TABIK_SHARED), 100 * s->occupancy, flag(s, TZ_TABIK_OCCUPANCY),
               s->active_blocks, flag(s, TZ_TABIK_EFFICIENT));
    }
    printf("    chosen: %d of %d shapes\n", space->chosen, space->count);
}

static void print_stencil(const tz_workload *workload)
{
    printf("stencil  %s, %s, %s\n", workload->problem.stencil->id, workload->grid,
           workload->precision);
}

static void print_notes(const tz_thread_blocks *blocks)
{
    for (int n = 0; n < blocks->notes.count; n++)
        printf("note     %s\n", blocks->notes.text[n]);
}

void tz_thread_blocks_sum_up(const tz_workload *workload, const tz_thread_blocks *blocks)
{
    print_stencil(workload);
    printf("device   %s, by the model %s\n", tz_workload_title(workload), TZ_THREAD_BLOCKS_MODEL);
    for (int p = 0; p < blocks->count; p++) {
        const tz_thread_blocks_pass *pass = &blocks->passes[p];
        printf("pass %s, chosen: %d of %d shapes:", pass->name, pass->space.chosen,
               pass->space.count);
        for (int i = 0, named = 0; i < pass->space.count; i++)
            if (pass->space.shapes[i].chosen)
                printf("%s %d x %d", named++ ? "," : "", pass->space.shapes[i].x,
                       pass->space.shapes[i].y);
        printf("\n");
    }
    print_notes(blocks);
}

void tz_thread_blocks_print(const tz_workload *workload, const tz_thread_blocks *blocks)
{
    const tz_tabik_gpu *gpu = &blocks->gpu;
    print_stencil(workload);
    printf("device   %s: %d-byte transactions, %d banks of %d bytes, %d threads and %.4g KiB of "
           "shared memory a multiprocessor\n",
           tz_workload_title(workload), gpu->transaction_bytes, gpu->banks, gpu->bank_bytes,
           gpu->threads_per_sm, gpu->shared_bytes / 1024);
    printf("model    %s: one thread a cell of a plane, marching along z, in shared memory\n",
           TZ_THREAD_BLOCKS_MODEL);
    for (int p = 0; p < blocks->count; p++)
        print_pass(&blocks->passes[p]);
    printf("    (global, shared: transactions of a sweep; active: blocks of a multiprocessor at "
           "once;\n     + good by that number, * by all four: worth trying)\n");
    print_notes(blocks);
}

void tz_thread_blocks_print_csv(const tz_workload *workload, const tz_thread_blocks *blocks)
{
    printf("stencil,nx,ny,nz,precision,boundary,device,pass,block_x,block_y,global_transactions,"
           "shared_transactions,occupancy,active_blocks,good_global,good_shared,good_occupancy,"
           "efficient,chosen\n");
    for (int p = 0; p < blocks->count; p++)
        for (int i = 0; i < blocks->passes[p].space.count; i++) {
            const tz_tabik_shape *s = &blocks->passes[p].space.shapes[i];
            tz_print_csv_workload(workload);
            printf("%s,%d,%d,%.0f,%.0f,%.9g,%d", blocks->passes[p].name, s->x, s->y,
                   s->global_transactions, s->shared_transactions, s->occupancy, s->active_blocks);
            for (int c = 0; c < TZ_TABIK_CRITERIA; c++)
                printf(",%u", s->good >> c & 1);
            printf(",%d\n", s->chosen);
        }
}

static json_t *shape_json(const tz_tabik_shape *s)
{
    json_t *good = json_object();
    for (int c = 0; c < TZ_TABIK_CRITERIA; c++)
        json_object_set_new(good, tz_tabik_criterion_text((tz_tabik_criterion)c),
                            json_boolean(s->good >> c & 1));
    return json_pack("{s:[i,i],s:I,s:I,s:f,s:i,s:o,s:b}", "block", s->x, s->y,
                     "global_transactions", (json_int_t)s->global_transactions,
                     "shared_transactions", (json_int_t)s->shared_transactions, "occupancy",
                     s->occupancy, "active_blocks", s->active_blocks, "good", good, "chosen",
                     s->chosen);
}

json_t *tz_thread_blocks_json(const tz_workload *workload, const tz_thread_blocks *blocks)
{
    json_t *object = tz_workload_json(workload), *passes = json_array(), *notes = json_array();
    json_object_set_new(object, "model", json_string(TZ_THREAD_BLOCKS_MODEL));
    for (int p = 0; p < blocks->count; p++) {
        const tz_thread_blocks_pass *pass = &blocks->passes[p];
        const tz_tabik_kernel *k = &pass->kernel;
        json_t *shapes = json_array();
        for (int i = 0; i < pass->space.count; i++)
            json_array_append_new(shapes, shape_json(&pass->space.shapes[i]));
        json_array_append_new(
            passes, json_pack("{s:s,s:i,s:i,s:i,s:[i,i],s:[i,i],s:b,s:i,s:o}", "pass", pass->name,
                              "loads", k->loads, "stores", k->stores, "tiles", k->tiles, "low",
                              k->low[0], k->low[1], "high", k->high[0], k->high[1], "diagonals",
                              k->diagonals, "chosen", pass->space.chosen, "shapes", shapes));
    }
    for (int n = 0; n < blocks->notes.count; n++)
        json_array_append_new(notes, json_string(blocks->notes.text[n]));
    json_object_set_new(object, "passes", passes);
    json_object_set_new(object, "notes", notes);
    return object;
}
