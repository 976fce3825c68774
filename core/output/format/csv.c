/* Arrays as numbers with commas: a line for each row along x, a blank line between planes. They
 * read back as the same values. */
#include "base/number.h"
#include "output/format/format.h"
#include <stdlib.h>

typedef struct place {
    int64_t at, nx, plane; /* the next element; elements of a row and of a plane */
} place;

static tz_status encode(void *state, FILE *stream, const char *path, const tz_array *cells,
                        tz_error *error)
{
    (void)path;
    (void)error;
    place *p = state;
    const int64_t count = cells->shape[0];
    const bool real = cells->dtype == TZ_DTYPE_F32 || cells->dtype == TZ_DTYPE_F64;
    for (int64_t i = 0; i < count; i++, p->at++) {
        char text[TZ_NUMBER_SIZE];
        int64_t integer;
        if (p->at > 0)
            fputs(p->at % p->plane == 0 ? "\n\n" : p->at % p->nx == 0 ? "\n" : ",", stream);
        if (cells->dtype == TZ_DTYPE_U64)
            fprintf(stream, "%llu", ((const unsigned long long *)cells->data)[i]);
        else if (!real && tz_array_get_integer(cells, i, &integer))
            fprintf(stream, "%lld", (long long)integer);
        else {
            const double value = tz_array_get(cells, i);
            fputs(value == value ? tz_number_format(text, value) : "nan", stream);
        }
    }
    return TZ_OK;
}

static void finish(void *state, FILE *stream)
{
    (void)state;
    fputc('\n', stream);
}

static tz_status begin(tz_grid_file **out, const char *path, const tz_grid *grid, tz_error *error)
{
    static const tz_grid_encoder form = {encode, finish};
    *out = NULL;
    place *p = malloc(sizeof *p);
    if (!p)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory to write the array");
    *p = (place){0, grid->shape[0], grid->shape[0] * grid->shape[1]};
    const tz_status status = tz__grid_file_open(out, path, grid, error);
    if (status != TZ_OK) {
        free(p);
        return status;
    }
    (*out)->encoder = &form;
    (*out)->state = p;
    return status;
}

const tz_format tz_format_csv = {
    .name = "csv", .content = TZ_CONTENT_ARRAY, .suffix = ".csv", .begin = begin};
