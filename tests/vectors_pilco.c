/* vectors_pilco.c - moments of the original PILCO toolbox: gp0, gTrig, gSin, gSat, lossSat.
 * A file is a list of cases. Arrays may come unboxed where a dimension is 1 (a single output is a number or a
 * plain list). */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baseline/pilco/moments.h"
#include "vectors.h"

static const double bound = 1e-8;

typedef struct {
    int     n;
    double *v;
} numbers;

static void collect(const json_t *j, numbers *out)
{
    size_t  i;
    json_t *e;
    if (json_is_array(j)) {
        json_array_foreach((json_t *)j, i, e) collect(e, out);
    } else {
        out->v = realloc(out->v, (size_t)(out->n + 1) * sizeof *out->v);
        out->v[out->n++] = json_is_number(j) ? json_number_value(j) : NAN;
    }
}

/* All numbers of one field in order of reading; *missing is set when there is none or not `want` of them
 * (want < 0: any). */
static numbers field(const json_t *c, const char *name, int want, int *missing)
{
    numbers       out = {0, NULL};
    const json_t *j = json_object_get(c, name);
    if (j) collect(j, &out);
    if (!j || (want >= 0 && out.n != want)) *missing = 1;
    return out;
}

/* Largest relative error of an entry; entries below a thousandth of the array's largest count as that large.
 */
static double error_of(const double *ours, numbers ref)
{
    double top = 0, worst = 0;
    for (int i = 0; i < ref.n; i++) top = fmax(top, fabs(ref.v[i]));
    for (int i = 0; i < ref.n; i++) {
        double e = fabs(ours[i] - ref.v[i]) / (top > 0 ? fmax(fabs(ref.v[i]), 1e-3 * top) : 1);
        if (!(e <= worst)) worst = isnan(e) ? INFINITY : e;
    }
    return worst;
}

static int report(const char *file, size_t index, const char *what, int count, const char *const *name,
                  const double *error)
{
    int bad = 0;
    printf("{\"file\": \"%s\", \"case\": %zu, \"what\": \"%s\"", file, index, what);
    for (int i = 0; i < count; i++) {
        if (isfinite(error[i])) printf(", \"%s\": %.3g", name[i], error[i]);
        else printf(", \"%s\": null", name[i]);
        bad |= !(error[i] <= bound);
    }
    printf(", \"ok\": %s}\n", bad ? "false" : "true");
    return bad;
}

static int check_gp0(const char *file, size_t index, const json_t *c)
{
    int     missing = 0;
    numbers m = field(c, "m", -1, &missing), S = field(c, "S", m.n * m.n, &missing),
            M = field(c, "M", -1, &missing);
    int     D = m.n, E = M.n;
    numbers X = field(c, "inputs", -1, &missing), Y = field(c, "targets", D ? X.n / D * E : 0, &missing);
    numbers H = field(c, "hyp", (D + 2) * E, &missing), So = field(c, "Sout", E * E, &missing),
            V = field(c, "V", D * E, &missing);
    int     n = D ? X.n / D : 0, bad = 1;
    double *y = calloc((size_t)(n * E) + 1, sizeof *y), *h = calloc((size_t)((D + 2) * E) + 1, sizeof *h);
    double *o = calloc((size_t)(E + E * E + D * E) + 1, sizeof *o);
    mcp_bank *b = NULL;
    mcp_error err = {MCP_OK, "an array is missing or has the wrong size"};
    if (!missing) {
        for (int i = 0; i < n; i++)
            for (int e = 0; e < E; e++) y[e * n + i] = Y.v[i * E + e];
        for (int d = 0; d < D + 2; d++)
            for (int e = 0; e < E; e++) h[e * (D + 2) + d] = H.v[d * E + e];
        if (mcp_bank_create(&b, &(mcp_bank_data){n, D, E, X.v, y, h}, mcp_isa_level(), &err) == MCP_OK) {
            double *tape = calloc(mcp_bank_tape(b), sizeof *tape),
                   *work = calloc(mcp_bank_work(b), sizeof *work);
            if (mcp_bank_forward(b, &(mcp_gauss){D, m.v, S.v}, &(mcp_moments){o, o + E, o + E + E * E}, tape,
                                 work, NULL, &err) == MCP_OK) {
                double      e[3] = {error_of(o, M), error_of(o + E, So), error_of(o + E + E * E, V)};
                const char *names[3] = {"M", "Sout", "V"};
                bad = report(file, index, "gp0", 3, names, e);
                err.status = MCP_OK;
                err.text[0] = 0;
            }
            free(tape), free(work);
        }
    }
    if (err.text[0]) fprintf(stderr, "vectors: %s, case %zu (gp0): %s\n", file, index, err.text);
    mcp_bank_free(b);
    free(m.v), free(S.v), free(M.v), free(X.v), free(Y.v), free(H.v), free(So.v), free(V.v), free(y), free(h),
        free(o);
    return bad;
}

static int check_sines(const char *file, size_t index, const char *what, const json_t *c)
{
    int     missing = 0, trig = !strcmp(what, "gTrig"), bad = 1;
    numbers m = field(c, "m", -1, &missing), S = field(c, "S", m.n * m.n, &missing),
            I = field(c, "i", -1, &missing);
    int     n = m.n, k = I.n, outs = trig ? 2 * k : k, none = 0;
    numbers e = field(c, "e", k, &none);
    numbers M = field(c, "M", outs, &missing), V = field(c, "V", outs * outs, &missing),
            C = field(c, "C", n * outs, &missing);
    int    *index0 = calloc((size_t)k + 1, sizeof *index0);
    double *amp = calloc((size_t)k + 1, sizeof *amp),
           *o = calloc((size_t)(outs + outs * outs + n * outs) + 1, sizeof *o);
    for (int i = 0; i < k; i++) {
        index0[i] = (int)I.v[i] - 1;
        amp[i] = none ? 1 : e.v[i];
        if (index0[i] < 0 || index0[i] >= n) missing = 1;
    }
    if (missing)
        fprintf(stderr, "vectors: %s, case %zu (%s): an array is missing or has the wrong size\n", file,
                index, what);
    else {
        double *oM = o, *oV = o + outs, *oC = oV + outs * outs;
        if (trig) {
            mcp_trig_forward(&(mcp_gauss){n, m.v, S.v}, k, index0, &(mcp_moments){oM, oV, oC});
            for (int i = 0; i < outs; i++) oM[i] *= amp[i / 2];
            for (int i = 0; i < outs * outs; i++) oV[i] *= amp[i / outs / 2] * amp[i % outs / 2];
            for (int i = 0; i < n * outs; i++) oC[i] *= amp[i % outs / 2];
        } else {
            mcp_sine_forward(!strcmp(what, "gSat") ? &mcp_sine_squash : &mcp_sine_plain,
                             &(mcp_gauss){n, m.v, S.v}, k, index0, amp, &(mcp_moments){oM, oV, oC});
        }
        double      err[3] = {error_of(oM, M), error_of(oV, V), error_of(oC, C)};
        const char *names[3] = {"M", "V", "C"};
        bad = report(file, index, what, 3, names, err);
    }
    free(m.v), free(S.v), free(I.v), free(e.v), free(M.v), free(V.v), free(C.v), free(index0), free(amp),
        free(o);
    return bad;
}

static int check_loss(const char *file, size_t index, const json_t *c)
{
    int     missing = 0, bad = 1, none = 0;
    numbers m = field(c, "m", -1, &missing), S = field(c, "S", m.n * m.n, &missing),
            W = field(c, "W", m.n * m.n, &missing);
    numbers z = field(c, "z", m.n, &missing), M = field(c, "M", 1, &missing), V = field(c, "V", 1, &none);
    numbers dm = field(c, "dM_dm", m.n, &none), dS = field(c, "dM_dS", m.n * m.n, &none);
    int       n = m.n;
    double *o = calloc((size_t)(6 * n * n + 8 * n) + 8, sizeof *o), *om = o + 2, *oS = om + n,
           *work = oS + n * n;
    mcp_error err = {MCP_OK, "an array is missing or has the wrong size"};
    if (!missing && mcp_loss_saturating(&(mcp_gauss){n, m.v, S.v}, z.v, W.v, &(mcp_loss){o, o + 1, om, oS},
                                        work, &err) == MCP_OK) {
        double      e[4] = {error_of(o, M), error_of(o + 1, V), error_of(om, dm), error_of(oS, dS)};
        const char *names[4] = {"M", "V", "dM_dm", "dM_dS"};
        bad = report(file, index, "lossSat", 4, names, e);
    } else fprintf(stderr, "vectors: %s, case %zu (lossSat): %s\n", file, index, err.text);
    free(m.v), free(S.v), free(W.v), free(z.v), free(M.v), free(V.v), free(dm.v), free(dS.v), free(o);
    return bad;
}

static int check_file(const char *file)
{
    json_error_t err;
    json_t      *doc = json_load_file(file, 0, &err), *c;
    size_t       i;
    int          bad = 0;
    if (!doc) {
        fprintf(stderr, "vectors: %s:%d: %s\n", file, err.line, err.text);
        return 1;
    }
    if (!json_is_array(doc) || json_array_size(doc) == 0) {
        fprintf(stderr, "vectors: %s: a list of cases was expected\n", file);
        bad = 1;
    }
    json_array_foreach(doc, i, c) {
        const char *what = json_string_value(json_object_get(c, "what"));
        if (!what) what = "";
        if (!strcmp(what, "gp0")) bad |= check_gp0(file, i, c);
        else if (!strcmp(what, "gTrig") || !strcmp(what, "gSin") || !strcmp(what, "gSat"))
            bad |= check_sines(file, i, what, c);
        else if (!strcmp(what, "lossSat")) bad |= check_loss(file, i, c);
        else {
            fprintf(stderr, "vectors: %s, case %zu: \"%s\" is not one of gp0, gTrig, gSin, gSat, lossSat\n",
                    file, i, what);
            bad = 1;
        }
    }
    json_decref(doc);
    return bad;
}

int vectors_pilco(int files, char **file)
{
    int bad = 0;
    for (int i = 0; i < files; i++) bad |= check_file(file[i]);
    return bad;
}
