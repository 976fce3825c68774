#include "backend/cpu/outside.h"

#include "backend/host/store.h"
#include <stdlib.h>
#include <string.h>

/* Has a field memory, and does a side give values to it? */
static bool is_needed(const tz_problem *problem, int field, int side)
{
    const tz_role role = problem->stencil->fields[field].role;
    return (role == TZ_STATE || role == TZ_STATIC) && side / 2 < problem->dims &&
           tz_boundary_has_value(problem->boundary[side / 2][side % 2]);
}

/* Has an axis a fixed side whose value is not that of `side`? */
static bool is_other(const tz_problem *problem, int field, int axis, int side)
{
    const double *values = problem->boundary_value[field];
    for (int i = 0; i < 2; i++)
        if (tz_boundary_has_value(problem->boundary[axis][i]) &&
            values[2 * axis + i] != values[side])
            return true;
    return false;
}

/* Rows that differ from each other: those of the ghosts in y, past the last axis of 3-D. */
static int64_t rows_of(const tz_problem *problem, int ghost, int field, int side)
{
    return side / 2 == 2 && is_other(problem, field, 1, side) ? problem->elements[1] + 2 * ghost
                                                              : 1;
}

/* The value of a column that lies past `side` and at row y: the first axis with a fixed side gives
 * it. */
static double value_at(const tz_problem *problem, int field, int side, int64_t column, int64_t y)
{
    const int64_t at[] = {column, y};
    for (int axis = 0; axis < side / 2; axis++) {
        const int64_t from =
            tz_boundary_map(problem->boundary[axis], at[axis], problem->extent[axis]);
        if (from < 0)
            return problem->boundary_value[field][2 * axis + (from == -1 ? 0 : 1)];
    }
    return problem->boundary_value[field][side];
}

/* The element that holds column x of the grid and, for bits, every W-th after it. */
static void put_element(const tz_problem *problem, int field, int side, int64_t x, int64_t y,
                        char *row)
{
    const size_t size = tz_problem_element_size(problem, field);
    if (!problem->bits) {
        tz_problem_element(problem, field, value_at(problem, field, side, x, y),
                           row + x * (int64_t)size);
        return;
    }
    uint32_t word = 0;
    for (int64_t b = 0; b < 32; b++) {
        const int64_t column = b * problem->elements[0] + x;
        word |= (uint32_t)(value_at(problem, field, side, column, y) != 0.0) << b;
    }
    memcpy(row + x * (int64_t)size, &word, sizeof word);
}

static char *create_side(const tz_problem *problem, int ghost, int field, int side)
{
    const int64_t rows = rows_of(problem, ghost, field, side), nx = problem->elements[0];
    const int64_t row_bytes = tz_constant_row_bytes(problem, field);
    const int64_t start = TZ_ALIGN_ELEMENTS * (int64_t)tz_problem_element_size(problem, field);
    char *memory = aligned_alloc(64, (size_t)tz_round_up(rows * row_bytes, 64));
    for (int64_t r = 0; memory && r < rows; r++) {
        const int64_t y = rows > 1 ? r - ghost : 0;
        char *row = memory + r * row_bytes;
        uint64_t element = 0;
        tz_problem_element(problem, field, value_at(problem, field, side, 0, y), &element);
        tz_constant_row_fill(problem, field, &element, row);
        if (side / 2 == 0 || !is_other(problem, field, 0, side))
            continue;
        /* All words of bits have columns past an edge of the grid, or padding. */
        for (int64_t x = -ghost; x < (problem->bits ? nx : 0); x++)
            put_element(problem, field, side, x, y, row + start);
        for (int64_t x = nx; x < nx + ghost; x++)
            put_element(problem, field, side, x, y, row + start);
    }
    return memory;
}

tz_status tz_cpu_outside_create(tz_cpu_outside *outside, const tz_problem *problem, int ghost,
                                tz_error *error)
{
    memset(outside, 0, sizeof *outside);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        for (int side = 0; side < TZ_SIDES; side++) {
            if (!is_needed(problem, f, side))
                continue;
            const int64_t rows = rows_of(problem, ghost, f, side);
            const size_t size = tz_problem_element_size(problem, f);
            char *memory = create_side(problem, ghost, f, side);
            if (!memory)
                return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a simulation");
            const int64_t row_bytes = tz_constant_row_bytes(problem, f);
            outside->memory[f][side] = memory;
            outside->view[f][side] =
                (tz_view){memory + TZ_ALIGN_ELEMENTS * size + (rows > 1 ? ghost * row_bytes : 0),
                          rows > 1 ? (ptrdiff_t)(row_bytes / (int64_t)size) : 0};
        }
    return TZ_OK;
}

void tz_cpu_outside_clear(tz_cpu_outside *outside)
{
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        for (int side = 0; side < TZ_SIDES; side++)
            free(outside->memory[f][side]);
    memset(outside, 0, sizeof *outside);
}

int64_t tz_cpu_outside_bytes(const tz_problem *problem, int ghost)
{
    int64_t bytes = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        for (int side = 0; side < TZ_SIDES; side++)
            if (is_needed(problem, f, side))
                bytes += rows_of(problem, ghost, f, side) * tz_constant_row_bytes(problem, f);
    return bytes;
}
