/* Captions with placeholders: {step}, {time}, {field} and {simulation} become what a picture shows.
 * "{{" and "}}" stand for a brace. */
#ifndef TZ_CORE_OUTPUT_CAPTION_H
#define TZ_CORE_OUTPUT_CAPTION_H

#include "base/error.h"
#include "sim/simulation.h"

enum { TZ_CAPTION_SIZE = 512 };

/* A word that outputs know, and a phrase about it. */
typedef struct tz_output_word {
    const char *name, *doc;
} tz_output_word;
/* The placeholders; ends with a name NULL. */
extern const tz_output_word tz_caption_words[];

/* Check the placeholders of a caption. TZ_UNKNOWN with the nearest name; TZ_FORMAT: a brace that is
 * not closed. */
tz_status tz_caption_check(const char *caption, tz_error *error);
/* Has a caption that passed the check this placeholder? */
bool tz_caption_has(const char *caption, const char *placeholder);

/* Take the braces of a caption that shows no simulation. TZ_UNSUPPORTED: it has a placeholder. */
tz_status tz_caption_fill_none(char out[TZ_CAPTION_SIZE], const char *caption, tz_error *error);
/* Fill the placeholders of a caption that passed the check: with the present step and time of
 * `source`, which has a time step if the caption has {time}; with the names of a field and of a
 * simulation. What does not fit is cut off. */
void tz_caption_fill(char out[TZ_CAPTION_SIZE], const char *caption, const tz_simulation *source,
                     const char *field, const char *simulation);

#endif
