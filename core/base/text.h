/* Texts: from files and scripts, made fit to be shown; hashes; buffers that grow. */
#ifndef TZ_CORE_BASE_TEXT_H
#define TZ_CORE_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes that are not part of a UTF-8 character become '?'. */
void tz_text_utf8(char *text);

/* The same, and control characters other than newline and tab become '?'. They could change a
 * terminal's state, and a text may come from a file that somebody made for that. */
void tz_text_printable(char *text);

/* FNV-1a: the hash of what was hashed before, TZ_HASH_NONE or another text's, and of `text`. NULL
 * is an empty text. */
#define TZ_HASH_NONE UINT64_C(0xcbf29ce484222325)
uint64_t tz_text_hash(uint64_t before, const char *text);

/* Write a text in XML: & < > " are escaped, bytes that are no UTF-8 become '?', control characters
 * blanks. */
void tz_text_xml(FILE *out, const char *text);
/* Write bytes as base64. */
void tz_text_base64(FILE *out, const void *bytes, size_t count);

/* ---- Texts that grow ------------------------------------------------------------------------- */

/* A text, or bytes, that grow. Begin with zeros. After a failure (memory) they stay as they are,
 * and `failed` is set. */

typedef struct tz_buffer {
    char *text; /* terminated, unless bytes were put; or NULL; free() it */
    size_t length, capacity;
    bool failed;
} tz_buffer;

/* Append text, formatted as by printf. */
void tz_buffer_add(tz_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tz_buffer_add_v(tz_buffer *buffer, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Append bytes, as they are. */
void tz_buffer_put(tz_buffer *buffer, const void *bytes, size_t count);

#endif
