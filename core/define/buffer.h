/* What source is made of, put into a buffer (base/buffer.h). */
#ifndef TZ_CORE_DEFINE_BUFFER_H
#define TZ_CORE_DEFINE_BUFFER_H

#include "base/buffer.h"

/* A string literal of C, with its quotes. */
void tz_buffer_add_literal(tz_buffer *buffer, const char *text);
/* Text of a comment: without line ends and ends of comments. */
void tz_buffer_add_comment(tz_buffer *buffer, const char *text);
/* A number that reads back as the same double: "0.25", "1e-06", "INFINITY". */
void tz_buffer_add_number(tz_buffer *buffer, double number);
/* Break lines of more than 96 characters at spaces, but not at a TZ_SPACE, which becomes a space.
 * Later lines are indented by 4 more; those of a macro end with a backslash. Literals have no space
 * at which a line may end. */
#define TZ_SPACE '\x1f'
void tz_buffer_wrap(tz_buffer *buffer);

#endif
