/* Expressions as C text: in a cell update, and in double on the host; and the literals, comments
 * and lines that source has beside them. */
#ifndef TZ_CORE_DEFINE_EMIT_H
#define TZ_CORE_DEFINE_EMIT_H

#include "base/text.h"
#include "define/expr.h"

/* The largest name of a constant that we make: "k" and a number. */
enum { TZ_CONSTANT_NAME_MAX = 64 };

/* A constant of the cell text. */
typedef struct tz_emit_constant {
    int node; /* of its value, or of a scalar */
    char name[TZ_CONSTANT_NAME_MAX];
} tz_emit_constant;

typedef struct tz_emit {
    tz_expr *e;
    int constants_count;
    tz_emit_constant constants[TZ_CONSTANTS_MAX];
    int nodes;     /* length of the arrays below */
    int *constant; /* of each node: its number in `constants`, or -1 */
    int *uses;     /* of each node, in the pass that is written */
    int *local;    /* of each node: the number of its variable in that pass, or 0 */
    int locals;    /* variables so far */
    int indent;    /* of statements, more than one level */
    bool divides, takes_modulo, cuts; /* which helper functions the text needs */
    int axis;                         /* with `macro`: the axis of its argument */
    const char *macro;     /* the name of the argument "dy" or "dz" in a macro for a row or plane */
    const char *sums_name; /* the names of these macros without their numbers */
    tz_buffer *out;
} tz_emit;

/* Find the constants of these expressions, and which helpers they need. Errors: TZ_RANGE for too
 * many constants, TZ_MEMORY. `context` is for messages. */
tz_status tz_emit_begin(tz_emit *emit, tz_expr *e, const int *roots, int count, tz_error *error);
void tz_emit_end(tz_emit *emit);

/* Begin a pass: count the uses of nodes in these expressions. */
void tz_emit_pass(tz_emit *emit, const int *roots, int count);
/* Write the variables that an expression needs and that are not there yet, each in a line. */
void tz_emit_locals(tz_emit *emit, int node);
/* The same, and one for the expression itself. */
void tz_emit_value(tz_emit *emit, int node);
/* The expression as text. */
void tz_emit_expression(tz_emit *emit, tz_buffer *out, int node);

/* An expression without reads, in double: as C of derive(), or for a comment in the words of
 * formulas. */
void tz_emit_host(tz_emit *emit, tz_buffer *out, int node, bool comment);

/* ---- Literals, comments and lines ------------------------------------------------------------ */

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
