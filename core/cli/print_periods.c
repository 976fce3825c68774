#include "cli/print_periods.h"

#include "cli/print_predictions.h"
#include <stdio.h>

enum { LINES_MAX = 40 };

static bool same(const tz_luo2011_period *a, const tz_luo2011_period *b)
{
    return a->type == b->type && a->accesses == b->accesses && a->computation == b->computation &&
           a->memory == b->memory && a->transactions == b->transactions && a->mpd == b->mpd &&
           a->before == b->before && a->after == b->after;
}

static void print_pass(const tz_luo2011_result *r, int pass, int passes)
{
    printf("  periods  ");
    if (passes > 1)
        printf("of pass %d: ", pass);
    printf("clocks of %g active warps; %g rounds; P %.2f %% (of the text %.2f %%), CPD %.4g\n"
           "    %6s  %4s %10s %8s %8s %12s %5s %10s %10s %10s\n",
           r->active, r->rounds, 100 * r->share, 100 * r->text_share, r->cpd, "times", "type", "c",
           "m", "accesses", "transactions", "MPD", "T", "T_p", "T_c");
    int lines = 0;
    for (int i = 0; i < r->count;) {
        const tz_luo2011_period *p = &r->periods[i];
        int times = 1;
        while (i + times < r->count && same(p, &r->periods[i + times]))
            times++;
        if (lines++ == LINES_MAX) {
            printf("    and %d more periods (--json has them all)\n", r->count - i);
            return;
        }
        printf("    %6d  %4d %10.5g %8.5g %8d %12g %5g %10.6g %10.6g %10.6g\n", times, p->type,
               p->computation, p->memory, p->accesses, p->transactions, p->mpd, p->time, p->before,
               p->after);
        i += times;
    }
}

static double accuracy(const tz_prediction_table *table)
{
    return tz_luo2011_accuracy(table->plain->measured.taken_s, table->rows[0].prediction.time_s);
}

void tz_print_measured(const tz_prediction_table *table)
{
    const tz_measured *measured = table->plain ? &table->plain->measured : NULL;
    if (measured && measured->rounds > 0) {
        char time[TZ_TEXT_SIZE];
        tz_format_seconds(measured->taken_s, time, sizeof time);
        printf(
            "  measured %s an iteration, median of %d rounds, %.4g to %.4g us; accuracy %.1f %%\n",
            time, measured->rounds, 1e6 * measured->low_s, 1e6 * measured->high_s,
            100 * accuracy(table));
    }
}

void tz_print_periods(const tz_prediction_table *table)
{
    for (int p = 0; table->plain && p < table->plain->plain.count; p++)
        print_pass(&table->plain->results[p], p, table->plain->plain.count);
}

static json_t *period_json(const tz_luo2011_period *p)
{
    return json_pack("{s:i, s:f, s:f, s:i, s:f, s:f, s:f, s:f, s:f}", "type", p->type, "c",
                     p->computation, "m", p->memory, "accesses", p->accesses, "transactions",
                     p->transactions, "mpd", p->mpd, "time", p->time, "t_p", p->before, "t_c",
                     p->after);
}

void tz_periods_json(const tz_prediction_table *table, json_t *object)
{
    if (!table->plain)
        return;
    json_t *passes = json_array();
    for (int k = 0; k < table->plain->plain.count; k++) {
        const tz_luo2011_result *r = &table->plain->results[k];
        json_t *periods = json_array();
        for (int i = 0; i < r->count; i++)
            json_array_append_new(periods, period_json(&r->periods[i]));
        json_array_append_new(passes, json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o}",
                                                "p", r->share, "p_text", r->text_share,
                                                "active_warps", r->active, "cpd1", r->cpd1, "cpd2",
                                                r->cpd2, "cpd", r->cpd, "rounds", r->rounds,
                                                "clocks", r->time, "periods", periods));
    }
    json_object_set_new(object, "passes", passes);
    const tz_measured *measured = &table->plain->measured;
    if (measured->rounds > 0)
        json_object_set_new(object, "measured",
                            json_pack("{s:f, s:f, s:f, s:i, s:f}", "time_s", measured->taken_s,
                                      "low_s", measured->low_s, "high_s", measured->high_s,
                                      "rounds", measured->rounds, "accuracy", accuracy(table)));
}
