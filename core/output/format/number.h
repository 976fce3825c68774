/* Numbers as text, independent of the locale. */
#ifndef TZ_CORE_OUTPUT_FORMAT_NUMBER_H
#define TZ_CORE_OUTPUT_FORMAT_NUMBER_H

#include "base/error.h"

/* Room for any number that tz_number_format writes. */
enum { TZ_NUMBER_SIZE = 32 };

/* Read text[0..length), all of it, as a decimal number, correctly rounded: sign, digits, '.',
 * exponent. "inf" and "nan" (and overflow) give a number that is not finite. Hexadecimal is
 * refused. False: not a number. */
bool tz_number_parse(const char *text, size_t length, double *value);

/* The shortest text that reads back as the same double, with '.' as the decimal point. */
const char *tz_number_format(char text[TZ_NUMBER_SIZE], double value);

/* printf "%.*f" (or "%.*e", "%.*g" by `style`), with '.' as the decimal point. */
const char *tz_number_format_style(char *text, size_t size, char style, int digits, double value);

/* "10⁻⁸": a power of ten, in UTF-8. */
const char *tz_number_power(char text[TZ_NUMBER_SIZE], int exponent);

/* Quote a token for a message: at most 40 bytes of it, unprintable ones as '?'. Returns `text`. */
const char *tz_token_quote(char *text, size_t size, const char *token, size_t length);

#endif
