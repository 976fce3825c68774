/* The words of a formula. Included by the parser only. */
#ifndef TZ_CORE_DEFINE_TOKEN_H
#define TZ_CORE_DEFINE_TOKEN_H

#include "define/syntax.h"

typedef enum tz_token_kind {
    TZ_TOKEN_END,
    TZ_TOKEN_NUMBER,
    TZ_TOKEN_NAME,
    TZ_TOKEN_OPERATOR, /* joins two operands */
    TZ_TOKEN_NOT,
    TZ_TOKEN_SIGN /* one of ^ ~ ( ) [ ] , ? : */
} tz_token_kind;

typedef struct tz_token {
    tz_token_kind kind;
    tz_operator op;
    char sign;
    int at, length;
    double number;
    bool integer;
} tz_token;

/* Read the word at or after byte `at`. A '~' is a TZ_TOKEN_SIGN. Errors: TZ_FORMAT, TZ_RANGE. */
tz_status tz_token_read(const tz_formula *formula, int at, tz_token *out);

#endif
