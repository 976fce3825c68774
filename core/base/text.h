/* Texts from files and scripts, made fit to be shown. */
#ifndef TZ_CORE_BASE_TEXT_H
#define TZ_CORE_BASE_TEXT_H

/* Bytes that are not part of a UTF-8 character become '?'. */
void tz_text_utf8(char *text);

/* The same, and control characters other than newline and tab become '?'. They could change a
 * terminal's state, and a text may come from a file that somebody made for that. */
void tz_text_printable(char *text);

#endif
