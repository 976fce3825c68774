/* The Damerau-Levenshtein distance of two names, words of the same meaning, and the hint made from
 * both. Called where a name is
 * refused: core/cli, core/lua, core/define, core/backend. */
#include "base/names.h"

#include "base/minmax.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 63 };

static int lower(char c)
{
    return tolower((unsigned char)c);
}

/* The Damerau-Levenshtein distance of two names of at most NAME_MAX_LENGTH characters. `rows` holds
 * the last three rows of its table, of which swaps need the oldest. */
static int distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int rows[3][NAME_MAX_LENGTH + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        int *row = rows[i % 3];
        const int *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            const int same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = tz_min_int(above[j] + 1, row[j - 1] + 1);
            row[j] = tz_min_int(row[j], above[j - 1] + !same);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = tz_min_int(row[j], above2[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

/* ---- Words of the same meaning --------------------------------------------------------------- */

/* Each line has words for one thing, between blanks: what other programs call it, and what it is
 * called here. An unknown word is taken for the first word of its lines that is known where it
 * stands. */
static const char *const meanings[] = {
    " cuda gpu nvidia device ",
    " cpu host processor cores omp openmp ",
    " reference serial naive plain ",
    " single float float32 f32 fp32 real ",
    " double float64 f64 fp64 ",
    " half float16 f16 fp16 ",
    " mirror reflect reflecting reflective symmetric symmetry even ",
    " clamp neumann noflux no-flux zero-flux insulated adiabatic edge nearest extend replicate ",
    " flux neumann gradient derivative noflux no_flux ",
    " robin mixed convection impedance ",
    " absorbing open radiation sommerfeld mur nonreflecting ",
    " fixed dirichlet constant const zero zeros value wall ",
    " periodic wrap cyclic torus toroidal ring ",
    " viridis jet rainbow turbo parula hsv default ",
    " inferno hot heat fire thermal ",
    " gray grey grays greys greyscale grayscale binary bw ",
    " balance coolwarm seismic bwr rdbu diverging ",
    " twilight phase hsv ",
    " categories tab10 set1 labels discrete ",
    " run start exec execute simulate ",
    " resume continue restart ",
    " compare diff cmp ",
    " plugins list ls stencils kernels ",
    " doctor check status env diagnose ",
    " tune bench benchmark profile autotune ",
    " examples example demo demos tutorial ",
    " new init create template ",
    " manual man docs reference ",
    " export convert ",
    " report html page ",
    " grid size shape dims dimensions resolution extent n cells ",
    " plugin stencil kernel model equation pde ",
    " params parameters parameter constants settings ",
    " fields initial init values start state ",
    " boundary boundaries bc bcs sides edges border ",
    " precision dtype type ",
    " steps iterations iters nsteps n count ",
    " rate rhs equation derivative dudt ",
    " method scheme integrator stepper ",
    " rk4 rk runge-kutta rungekutta rk45 dopri ",
    " rk2 heun midpoint ",
    " euler forward explicit ",
    " dt timestep time_step adaptive ",
    " until_time time t_end tend tmax duration ",
    " until_residual tol tolerance eps ",
    " until_true until condition stop_when ",
    " max_steps maxiter max_iterations ",
    " threads nthreads workers jobs cores ",
    " out output outdir folder dir ",
    " set param params parameter parameters arg args define ",
    " map colormap cmap palette colors colours ",
    " range limits clim vmin vmax zlim ",
    " caption title label ",
    " bar colorbar colourbar legend scale ",
    " title name legend label ",
    " x_label x xlabel x_title ",
    " y_label y ylabel y_title ",
    " zoom scale dpi ",
    " fps framerate rate ",
    " name file filename path ",
    " mean average avg ",
    " sum total integral ",
    " max maximum peak ",
    " min minimum ",
    " population count alive ",
    " movie video gif mp4 animation film anim ",
    " table csv log ",
    " png picture image jpg jpeg bmp ",
    " npy numpy array raw bin ",
    " vti vtk paraview ",
    " hdf5 h5 ",
    " every each interval output ",
    " adaptive dynamic ",
    " exhaustive best search all ",
    " auto automatic default ",
    " fixed manual given ",
    " stream wavefront ",
    " pattern shape seed ",
    " dt_s dt timestep time_step ",
    " hotspot heat thermal ",
    " diffusion heat denoise ",
    " grayscott turing reaction-diffusion ",
    " life conway gol automaton ",
    " lbm lattice-boltzmann fluid navier-stokes cfd ",
    " wave2d wave acoustic ",
    " poisson laplace ",
};

/* What there is nothing of, and what to do. */
static const struct {
    const char *words, *known; /* only where this is known */
    const char *advice;
} absent[] = {
    {" half float16 f16 fp16 bfloat16 bf16 ", "mixed",
     "; half is a storage, of a simulation that computes in single: storage = \"half\""},
    {" std stddev stdev sd variance var rms deviation norm l2 median percentile ", "population",
     "; known are min, max, sum, mean, population, hash; a function of the script computes others "
     "from sim:array(field)"},
};

static bool has_word(const char *words, const char *word)
{
    char lowered[NAME_MAX_LENGTH + 3] = " ";
    const size_t length = strlen(word);
    if (length == 0 || length > NAME_MAX_LENGTH)
        return false;
    for (size_t i = 0; i < length; i++)
        lowered[i + 1] = (char)lower(word[i]);
    memcpy(lowered + length + 1, " ", 2);
    return strstr(words, lowered) != NULL;
}

/* The name that means the same; NULL: none is known to. */
static const char *same_meaning(const char *name, const char *const *names, size_t n)
{
    const char *best = NULL;
    for (size_t m = 0; m < sizeof meanings / sizeof *meanings && !best; m++) {
        const char *place = NULL;
        for (size_t k = 0; k < n && has_word(meanings[m], name); k++) {
            char word[NAME_MAX_LENGTH + 3];
            snprintf(word, sizeof word, " %.63s ", names[k]);
            const char *at = strstr(meanings[m], word);
            if (at && (!place || at < place) && strcmp(names[k], name) != 0) {
                place = at;
                best = names[k];
            }
        }
    }
    return best;
}

/* ---- What was meant -------------------------------------------------------------------------- */

const char *tz_names_nearest(const char *name, const char *const *names, size_t n)
{
    const size_t length = strlen(name);
    if (length == 0 || length > NAME_MAX_LENGTH)
        return NULL;
    const char *same = same_meaning(name, names, n);
    if (same)
        return same;
    const int limit = length / 3 > 2 ? (int)(length / 3) : 2;
    const char *nearest = NULL;
    int nearest_distance = limit + 1;
    for (size_t k = 0; k < n; k++) {
        const size_t other = strlen(names[k]);
        if (other > NAME_MAX_LENGTH)
            continue;
        const int d = distance(name, length, names[k], other);
        /* A name of which more than half would change is not near. */
        if (d < nearest_distance && 2 * d <= (int)(length > other ? length : other)) {
            nearest = names[k];
            nearest_distance = d;
        }
    }
    return nearest;
}

const char *tz_names_hint(char *text, size_t size, const char *name, const char *const *names,
                          size_t n)
{
    if (size == 0)
        return text;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        for (size_t k = 0; k < n && has_word(absent[i].words, name); k++)
            if (strcmp(names[k], absent[i].known) == 0) {
                snprintf(text, size, "%s", absent[i].advice);
                return text;
            }
    const char *nearest = tz_names_nearest(name, names, n);
    if (nearest) {
        snprintf(text, size, "; did you mean '%s'?", nearest);
        return text;
    }
    size_t used = 0;
    for (size_t k = 0; k < n; k++) {
        const char *before = k ? ", " : "; known: ";
        if (used + strlen(before) + strlen(names[k]) + sizeof ", ..." > size) {
            if (used + sizeof ", ..." <= size)
                snprintf(text + used, size - used, "%s", k ? ", ..." : "");
            break;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", before, names[k]);
    }
    return text;
}

const char *tz_names_hint_of(char *text, size_t size, const char *name, const void *items, size_t n,
                             size_t stride)
{
    enum { MOST = 128 };
    const char *names[MOST];
    n = n < MOST ? n : MOST;
    for (size_t i = 0; i < n; i++)
        names[i] = *(const char *const *)((const char *)items + i * stride);
    return tz_names_hint(text, size, name, names, n);
}
