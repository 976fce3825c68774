/* Round numbers for axes and colour bars. */
#ifndef TZ_CORE_OUTPUT_FRAME_TICKS_H
#define TZ_CORE_OUTPUT_FRAME_TICKS_H

enum { TZ_TICKS_MAX = 16, TZ_TICK_LABEL_SIZE = 32 };

/* Round numbers (1, 2, 5 times a power of ten apart) inside lo..hi. */
typedef struct tz_ticks {
    int count;
    double values[TZ_TICKS_MAX];
    char labels[TZ_TICKS_MAX][TZ_TICK_LABEL_SIZE];
    int exponent; /* labels are values / 10^exponent; 0 unless they are very large or small */
} tz_ticks;

/* Choose at most `most` (2 or more) ticks. An empty range gives one, a range that is not finite
 * none. */
void tz_ticks_make(tz_ticks *ticks, double lo, double hi, int most);

/* The same from 10^lo to 10^hi on a logarithmic scale: values are logarithms. Powers of ten, "10⁻⁸",
 * or 1, 2 and 5 times powers where the range is short, or round numbers where it is very short. */
void tz_ticks_make_log(tz_ticks *ticks, double lo, double hi, int most);

#endif
