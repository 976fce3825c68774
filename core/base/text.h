/* Texts from files and scripts, made fit to be shown; and hashes of texts. */
#ifndef TZ_CORE_BASE_TEXT_H
#define TZ_CORE_BASE_TEXT_H

#include <stdint.h>

/* Bytes that are not part of a UTF-8 character become '?'. */
void tz_text_utf8(char *text);

/* The same, and control characters other than newline and tab become '?'. They could change a
 * terminal's state, and a text may come from a file that somebody made for that. */
void tz_text_printable(char *text);

/* FNV-1a: the hash of what was hashed before, TZ_HASH_NONE or another text's, and of `text`. NULL
 * is an empty text. */
#define TZ_HASH_NONE UINT64_C(0xcbf29ce484222325)
uint64_t tz_text_hash(uint64_t before, const char *text);

#endif
