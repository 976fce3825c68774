/* Iterations of a linear update in exact arithmetic, or nearly: numbers of 113 bits. A grid of a
 * few cells is a matrix, with a last row and column for what is constant, and n iterations are its
 * power. */
#ifndef TZ_TEST_JUMP_EXACT_H
#define TZ_TEST_JUMP_EXACT_H

#include "sim/fields.h"
#include "sim/run.h"
#include "sim/solve.h"
#include "sim/state.h"
#include "tests/unit.h"

__extension__ typedef __float128 quad;

enum { EXACT_TERMS = 64 };

typedef struct exact_term {
    int to, from, offset[TZ_AXES];
    quad coefficient;
} exact_term;

typedef struct exact_system {
    tz_simulation *simulation;
    int fields, field[2];
    int terms_count;
    exact_term terms[EXACT_TERMS];
    int source;         /* a static field that is added to field 0; -1: none */
    quad source_weight; /* times this */
    quad constant;      /* added to field 0 everywhere */
} exact_system;

static inline void exact_add(exact_system *s, int to, int from, int dx, int dy, int dz,
                             quad coefficient)
{
    assert_true(s->terms_count < EXACT_TERMS);
    s->terms[s->terms_count++] = (exact_term){to, from, {dx, dy, dz}, coefficient};
}

/* All neighbours at a distance along an axis, on both sides. */
static inline void exact_pair(exact_system *s, int axis, int distance, quad coefficient)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        int o[TZ_AXES] = {0};
        o[axis] = sign * distance;
        exact_add(s, 0, 0, o[0], o[1], o[2], coefficient);
    }
}

/* The cell that a read at x gets; -1: the boundary value of the low side, -2: of the high one. */
static inline int64_t exact_map(tz_boundary boundary, int64_t x, int64_t n)
{
    while (x < 0 || x >= n) {
        if (boundary == TZ_FIXED)
            return x < 0 ? -1 : -2;
        if (boundary == TZ_CLAMP)
            return x < 0 ? 0 : n - 1;
        if (boundary == TZ_PERIODIC)
            x += x < 0 ? n : -n;
        else
            x = n == 1 ? 0 : x < 0 ? -x : 2 * (n - 1) - x;
    }
    return x;
}

static inline void exact_fill(const exact_system *s, int64_t cell, const exact_term *term,
                              quad *row, int64_t cells, int64_t size)
{
    const tz_problem *problem = &s->simulation->problem;
    const int64_t *n = problem->extent;
    int64_t at[TZ_AXES] = {cell % n[0], cell / n[0] % n[1], cell / (n[0] * n[1])};
    for (int axis = 0; axis < problem->dims; axis++) {
        at[axis] = exact_map(problem->boundary[axis][0], at[axis] + term->offset[axis], n[axis]);
        if (at[axis] < 0) {
            const int f = s->field[term->from];
            row[size - 1] +=
                term->coefficient * ((quad)problem->boundary_value[f][2 * axis + (at[axis] == -2)] -
                                     (quad)problem->origin[f]);
            return;
        }
    }
    row[term->from * cells + at[0] + n[0] * (at[1] + n[1] * at[2])] += term->coefficient;
}

/* The matrix, malloc'd; *size is its side. */
static inline quad *exact_matrix(const exact_system *s, int64_t *size)
{
    const int64_t cells = tz_simulation_cells(s->simulation);
    *size = s->fields * cells + 1;
    quad *matrix = calloc((size_t)(*size * *size), sizeof *matrix);
    double *source = calloc((size_t)cells, sizeof *source);
    assert_true(matrix && source);
    if (s->source >= 0)
        assert_ok(tz_simulation_read(s->simulation, s->source, NULL, source, &failure));
    for (int64_t cell = 0; cell < cells; cell++) {
        for (int t = 0; t < s->terms_count; t++)
            exact_fill(s, cell, &s->terms[t], matrix + (s->terms[t].to * cells + cell) * *size,
                       cells, *size);
        matrix[cell * *size + *size - 1] += s->source_weight * source[cell] + s->constant;
    }
    matrix[*size * *size - 1] = 1;
    free(source);
    return matrix;
}

/* values = matrix^n values, for each n of a growing list; results[i] gets a copy. Frees the
 * matrix. */
static inline void exact_powers(quad *matrix, int64_t size, const quad *start, const int64_t *steps,
                                int count, quad *const *results)
{
    const size_t bytes = (size_t)size * sizeof *matrix;
    quad *next = malloc((size_t)size * bytes), *moved = malloc(bytes);
    int64_t most = 0;
    assert_true(next && moved);
    for (int i = 0; i < count; i++) {
        memcpy(results[i], start, bytes);
        most = steps[i] > most ? steps[i] : most;
    }
    for (int64_t bit = 1; bit <= most; bit *= 2) {
        for (int i = 0; i < count; i++) {
            if (!(steps[i] & bit))
                continue;
            for (int64_t r = 0; r < size; r++) {
                moved[r] = 0;
                for (int64_t c = 0; c < size; c++)
                    moved[r] += matrix[r * size + c] * results[i][c];
            }
            memcpy(results[i], moved, bytes);
        }
        if (2 * bit > most)
            break;
        memset(next, 0, (size_t)size * bytes);
        for (int64_t r = 0; r < size; r++)
            for (int64_t k = 0; k < size; k++) {
                const quad f = matrix[r * size + k];
                for (int64_t c = 0; f != 0 && c < size; c++)
                    next[r * size + c] += f * matrix[k * size + c];
            }
        memcpy(matrix, next, (size_t)size * bytes);
    }
    free(next);
    free(moved);
    free(matrix);
}

#endif
