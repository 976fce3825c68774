/* The text for GPUs: NVRTC compiles it, where it is found; the executor of device text
 * (tests/backend/cuda/simt) runs it on this machine, and its cells are those of the reference. */
#include "contract.h"

#include "backend/backend.h"
#include "backend/cuda/compile/compile.h"
#include "backend/cuda/family/family.h"
#include "tests/backend/cuda/simt/cases.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_note(contract *c, const char *what, const char *why)
{
    const size_t used = strlen(c->note);
    snprintf(c->note + used, sizeof c->note - used, "%sskipped: %s: %s", used > 0 ? "; " : "", what,
             why);
}

/* ---- NVRTC ----------------------------------------------------------------------------------- */

/* A device that need not be there. */
static const char architecture[] = "sm_90";

static tz_status compile(const tz_problem *problem, const char *family, tz_error *error)
{
    const tz_place place = {.threads = 1};
    const tz_limits limits = tz_place_limits(&place);
    tz_plan plan = {0};
    char *source = NULL;
    void *cubin = NULL;
    size_t bytes;
    bool cached;
    snprintf(plan.family, sizeof plan.family, "%s", family);
    tz_status status = tz_backend_cuda.plan(problem, &place, &plan, error);
    if (status)
        return TZ_RANGE; /* the family refuses it */
    status = tz_cuda_source(problem, &limits, &plan, &source, error);
    if (!status)
        status = tz_cuda_compile(NULL, true, architecture, source, tz_cuda_headers,
                                 tz_cuda_headers_count, &cached, &cubin, &bytes, error);
    free(source);
    free(cubin);
    return status;
}

static void check_compiler(contract *c)
{
    const tz_stencil *s = c->stencil;
    int precisions[TZ_PRECISIONS];
    const int count = contract_precisions(c, precisions);
    const tz_cuda_family *family;
    for (int p = 0; p < count; p++) {
        tz_problem problem;
        tz_error error = {0};
        tz_simulation_config config = {
            .stencil = s->id, .dims = s->dims, .precision = precisions[p]};
        for (int axis = 0; axis < TZ_AXES; axis++)
            config.extent[axis] = axis < s->dims ? 40 : 1;
        if (tz_problem_resolve(&problem, s, &config, &error) != TZ_OK) {
            contract_refuse(c, &error);
            continue;
        }
        int families = 0;
        bool enough = false;
        while (tz_cuda_family_at(families, s->dims, &family))
            families++;
        /* Quick: one family for each precision, another one for the next. */
        for (int i = 0; i < families && !enough; i++) {
            tz_cuda_family_at((i + p) % families, s->dims, &family);
            const tz_status status = family ? compile(&problem, family->name, &error) : TZ_RANGE;
            enough = c->quick && !status;
            if (status == TZ_UNSUPPORTED) {
                add_note(c, "NVRTC", error.message);
                tz_problem_clear(&problem);
                return;
            }
            c->compared += !status;
            if (status && status != TZ_RANGE)
                contract_fail(c, "family %s: %s", family->name, error.message);
        }
        tz_problem_clear(&problem);
        if (c->failures > 0)
            return; /* the executor's compiler would say it once more */
    }
}

/* ---- The executor ---------------------------------------------------------------------------- */

static void run_group(contract *c, const simt_group *g, simt_build *build, simt *machine)
{
    static simt_outcome outcome;
    char text[512];
    simt_case k = g->k;
    for (int i = 0; i < g->grids; i++) {
        memcpy(k.extent, g->extent[i], sizeof k.extent);
        simt_compare(&k, build, machine, 1, &outcome);
        if (outcome.verdict == SIMT_REFUSED) {
            tz_error refusal = {.code = TZ_RANGE};
            snprintf(refusal.message, sizeof refusal.message, "%.*s",
                     (int)strcspn(outcome.message, "\n"), outcome.message);
            contract_refuse(c, &refusal);
        } else {
            c->compared++;
        }
        if (outcome.verdict == SIMT_DIFFERENT || outcome.verdict == SIMT_FAILED)
            contract_fail(c, "%s:%s%s", simt_case_text(&k, &outcome.plan, text, sizeof text),
                          outcome.verdict == SIMT_FAILED ? " " : "\n", outcome.message);
    }
}

static bool is_its(const char *stencil, const void *id)
{
    return strcmp(stencil, id) == 0;
}

static void check_executor(contract *c)
{
    simt_build *build = NULL;
    simt_groups groups = {0};
    simt *machine = simt_create();
    tz_error error = {0};
    const tz_status status = simt_build_create(&build, NULL, &error);
    if (status == TZ_UNSUPPORTED) {
        add_note(c, "the executor", error.message);
    } else if (status || !machine) {
        contract_fail(c, "the executor: %s", status ? error.message : "not enough memory");
    } else {
        simt_groups_make(&groups, c->registry, SIMT_FEW, is_its, c->stencil->id, c->family);
        for (int i = 0; i < groups.count && c->failures == 0; i++)
            if (i == 0 || /* one of each family */
                strcmp(groups.at[i].k.plan.family, groups.at[i - 1].k.plan.family) != 0)
                run_group(c, &groups.at[i], build, machine);
        if (groups.count == 0)
            contract_fail(c, "no family of kernels takes it: %s", groups.none);
    }
    free(groups.at);
    simt_build_destroy(build);
    simt_destroy(machine);
}

void contract_device(contract *c)
{
    if (strcmp(c->backend, "cuda") == 0) {
        snprintf(c->note, sizeof c->note, "the section identity runs it on a GPU");
        return;
    }
    check_compiler(c);
    if (c->failures == 0)
        check_executor(c);
}
