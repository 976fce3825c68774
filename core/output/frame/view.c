/* Isometric views of volumes: frame.c draws them. */
#include "output/frame/view.h"

#include "output/frame/image.h"
#include <math.h>
#include <stdlib.h>

/* Directions: to the right and up in the picture, and away from the eye. */
static const double right[3] = {-0.70710678118654752, 0.70710678118654752, 0};
static const double up[3] = {-0.40824829046386302, -0.40824829046386302, 0.81649658092772603};
static const double away[3] = {-0.57735026918962576, -0.57735026918962576, -0.57735026918962576};
/* How bright faces are whose normals point along x, y and z, and back walls. */
static const double face_light[3] = {0.62, 0.8, 1.0};
static const float wall_shades[3] = {TZ_SHADE_WALL_X, TZ_SHADE_WALL_Y, TZ_SHADE_WALL_Z};
static const double light[3] = {0.48, 0.64, 0.6};
/* What the furthest cell loses of its light. */
static const double FADING = 0.4;

static void size_of(int nx, int ny, int nz, double cell_width, double *width, double *height)
{
    *width = (nx + ny) * fabs(right[0]) * cell_width;
    *height = ((nx + ny) * fabs(up[0]) + nz * up[2]) * cell_width;
}

double tz_view_extent(int nx, int ny, int nz, double cell_width)
{
    double width, height;
    size_of(nx, ny, nz, cell_width, &width, &height);
    return fmax(width, height);
}

static double value_at(const tz_volume *v, const int *cell)
{
    return v->values[((size_t)cell[2] * (size_t)v->ny + (size_t)cell[1]) * (size_t)v->nx +
                     (size_t)cell[0]];
}

/* Is a cell in the eighth that is left out? It begins in the middle of each axis. */
static bool is_cut(const tz_volume *v, const tz_solid_view *view, const int *cell)
{
    return view->cut && cell[0] >= v->nx / 2 && cell[1] >= v->ny / 2 && cell[2] >= v->nz / 2;
}

/* Is a face at the side of the volume, or of what is cut out of it? */
static bool is_side(const tz_volume *v, const tz_solid_view *view, const int *cell, int face)
{
    const int extents[3] = {v->nx, v->ny, v->nz};
    int before[3] = {cell[0], cell[1], cell[2]};
    before[face]++;
    return before[face] == extents[face] || is_cut(v, view, before);
}

/* The light on a cell: of its face, or of a surface across the gradient. */
static double light_on(const tz_volume *v, const tz_solid_view *view, const int *cell, int face)
{
    const int extents[3] = {v->nx, v->ny, v->nz};
    double gradient[3], length = 0, lit = 0;
    if (view->by_height || is_side(v, view, cell, face))
        return face_light[face];
    for (int a = 0; a < 3; a++) {
        int before[3] = {cell[0], cell[1], cell[2]}, after[3] = {cell[0], cell[1], cell[2]};
        before[a] -= before[a] > 0;
        after[a] += after[a] < extents[a] - 1;
        gradient[a] = value_at(v, after) - value_at(v, before);
        length += gradient[a] * gradient[a];
    }
    if (!(length > 0) || !isfinite(length))
        return face_light[face];
    for (int a = 0; a < 3; a++)
        lit -= gradient[a] / sqrt(length) * light[a];
    return 0.35 + 0.65 * fmax(0, lit);
}

/* Follow a ray through the volume. It enters cell by cell, by the faces that look to the eye. */
static void follow(const tz_volume *v, const tz_solid_view *view, const double *from, double *value,
                   float *shade)
{
    const int extents[3] = {v->nx, v->ny, v->nz};
    double enter = -INFINITY, leave = INFINITY;
    int face = 0, wall = 0;
    for (int a = 0; a < 3; a++) {
        const double near = (extents[a] - from[a]) / away[a], far = -from[a] / away[a];
        if (near > enter) {
            enter = near;
            face = a;
        }
        if (far < leave) {
            leave = far;
            wall = a;
        }
    }
    *value = view->lo;
    *shade = TZ_SHADE_OUTSIDE;
    if (!(enter < leave))
        return;
    *shade = wall_shades[wall];
    int cell[3];
    double next[3]; /* the ray's length to the next face of each axis */
    for (int a = 0; a < 3; a++) {
        const double at = from[a] + enter * away[a];
        cell[a] = a == face ? extents[a] - 1 : (int)floor(at);
        cell[a] = cell[a] < 0 ? 0 : cell[a] >= extents[a] ? extents[a] - 1 : cell[a];
        next[a] = (cell[a] - from[a]) / away[a];
    }
    const double longest =
        sqrt((double)v->nx * v->nx + (double)v->ny * v->ny + (double)v->nz * v->nz);
    const double nearest = -longest / 2;
    for (double at = enter;;) {
        const double here = value_at(v, cell);
        if (here >= view->level && !is_cut(v, view, cell)) {
            const double depth = fmin(1, fmax(0, (at - nearest) / longest));
            *value =
                view->by_height ? view->lo + (view->hi - view->lo) * (cell[2] + 0.5) / v->nz : here;
            *shade = (float)(light_on(v, view, cell, face) * (1 - FADING * depth));
            return;
        }
        face = next[0] <= next[1] && next[0] <= next[2] ? 0 : next[1] <= next[2] ? 1 : 2;
        at = next[face];
        if (--cell[face] < 0)
            return;
        next[face] = (cell[face] - from[face]) / away[face];
    }
}

tz_status tz_view_draw(tz_plane **out, const tz_volume *v, const tz_solid_view *view,
                       tz_error *error)
{
    double width, height;
    size_of(v->nx, v->ny, v->nz, view->cell_width, &width, &height);
    *out = NULL;
    if (!(width < TZ_IMAGE_MAX_EXTENT && height < TZ_IMAGE_MAX_EXTENT))
        return tz_error_set(error, TZ_RANGE, NULL, "a view of %.0f x %.0f pixels is too large",
                            width, height);
    const int nx = (int)ceil(width), ny = (int)ceil(height);
    tz_plane *plane;
    const tz_status status = tz_plane_create(&plane, nx, ny, nx, ny, error);
    if (status != TZ_OK)
        return status;
    plane->shades = malloc((size_t)plane->nx * (size_t)plane->ny * sizeof *plane->shades);
    if (!plane->shades) {
        tz_plane_destroy(plane);
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the picture");
    }
    const double middle[3] = {v->nx / 2.0, v->ny / 2.0, v->nz / 2.0};
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            const double x = (i + 0.5 - nx / 2.0) / view->cell_width;
            const double y = (ny / 2.0 - j - 0.5) / view->cell_width;
            const size_t k = (size_t)j * (size_t)nx + (size_t)i;
            double from[3];
            for (int a = 0; a < 3; a++)
                from[a] = middle[a] + x * right[a] + y * up[a];
            follow(v, view, from, &plane->values[k], &plane->shades[k]);
        }
    *out = plane;
    return TZ_OK;
}
