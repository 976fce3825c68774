/* Values in the JSON of checkpoints: doubles are texts such as "0x1.8p+1", without loss; integers
 * are integers. */
#ifndef TZ_CORE_BASE_JSON_VALUES_H
#define TZ_CORE_BASE_JSON_VALUES_H

#include "base/named.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Set a key. Failures (no memory) become *failed = true, which is never set to false. */
void tz_json_put_double(json_t *object, const char *key, double value, bool *failed);
void tz_json_put_integer(json_t *object, const char *key, int64_t value, bool *failed);
void tz_json_put_text(json_t *object, const char *key, const char *value, bool *failed);
void tz_json_put_doubles(json_t *object, const tz_named_double *values, size_t count, bool *failed);
void tz_json_put_integers(json_t *object, const tz_named_integer *values, size_t count,
                          bool *failed);
/* Takes `value` in any case; NULL is a failure. */
void tz_json_put(json_t *object, const char *key, json_t *value, bool *failed);

/* Read a key. A wrong type or value becomes *failed = true, and 0. */
double tz_json_get_double(const json_t *object, const char *key, bool *failed);
int64_t tz_json_get_integer(const json_t *object, const char *key, int64_t least, int64_t most,
                            bool *failed);
bool tz_json_get_flag(const json_t *object, const char *key, bool *failed);
/* Borrowed; "" after a failure. */
const char *tz_json_get_text(const json_t *object, const char *key, bool *failed);

#endif
