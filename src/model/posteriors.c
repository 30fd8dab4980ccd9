/* posteriors.c - posteriors of all GPs, and the check that sparse ones give the exact ones' gradient. */
#include "model/posteriors.h"

#include <math.h>

#include "math/arena.h"
#include "model/gp_parts.h"

enum { EXACT_MAX = 512 }; /* data up to which a forecast uses the exact posterior */
static const double cosine_least = 0.99, tolerance_least = 1e-7, nearer = 0.7;

static void release(mcp_posterior **p, int n)
{
    for (int g = 0; p && g < n; g++) mcp_posterior_free(p[g]);
    mcp_free(p);
}

void mcp_posteriors_free(mcp_posteriors *p)
{
    release(p->of, p->ngp);
    p->of = NULL;
}

static mcp_posterior_settings rule(const mcp_posteriors_request *q)
{
    mcp_posterior_settings s = q->set;
    int                    data = 0;
    for (int g = 0; g < q->ngp; g++)
        if (q->gp[g]->n > data) data = q->gp[g]->n;
    if (q->use == MCP_FOR_CHECK || (q->use == MCP_FOR_FORECAST && data <= EXACT_MAX))
        s.type = MCP_POSTERIOR_EXACT;
    return s;
}

/* One posterior of several, each with a status and a message of its own. */
typedef struct {
    mcp_status         status;
    mcp_error          err;
    mcp_posterior_info info;
} made;

typedef struct {
    const mcp_posteriors_request *q;
    const mcp_posterior_settings *set;
    mcp_posterior               **p;
    made                         *of;
} making;

static void make_one(void *context, int g, int worker)
{
    making *m = context;
    (void)worker;
    m->of[g].status =
        mcp_posterior_create(&m->p[g], m->q->gp[g], m->set, mcp_isa_level(), &m->of[g].info, &m->of[g].err);
}

static mcp_status make(const mcp_posteriors_request *q, const mcp_posterior_settings *s, mcp_posterior ***out,
                       int *points, mcp_error *err)
{
    mcp_status st = MCP_OK;
    making     m = {.q = q,
                    .set = s,
                    .p = mcp_calloc((size_t)q->ngp + 1, sizeof *m.p),
                    .of = mcp_calloc((size_t)q->ngp + 1, sizeof *m.of)};
    *out = NULL;
    *points = 0;
    if (!m.p || !m.of) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for %d posteriors", q->ngp);
    else mcp_pool_run(q->pool, q->ngp, make_one, &m);
    for (int g = 0; g < q->ngp && st == MCP_OK; g++) {
        if ((st = m.of[g].status) != MCP_OK) mcp_fail(err, st, "%s", m.of[g].err.text);
        if (m.of[g].info.points > *points) *points = m.of[g].info.points;
    }
    if (st == MCP_OK) *out = m.p;
    else release(m.p, q->ngp);
    mcp_free(m.of);
    return st;
}

static double cosine(int n, const double *a, const double *b)
{
    double aa = 0.0, bb = 0.0, ab = 0.0;
    for (int i = 0; i < n; i++) {
        aa += a[i] * a[i];
        bb += b[i] * b[i];
        ab += a[i] * b[i];
    }
    if (aa == 0.0 && bb == 0.0) return 1.0;
    return aa > 0.0 && bb > 0.0 ? ab / sqrt(aa * bb) : 0.0;
}

static mcp_status counted(mcp_posteriors *p)
{
    for (int g = 0; g < p->ngp; g++) p->single += mcp_posterior_single(p->of[g]).used;
    return MCP_OK;
}

static double distance(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* Posteriors by these settings in place of those that are there. */
static mcp_status remake(mcp_posteriors *p, const mcp_posteriors_request *q, const mcp_posterior_settings *s,
                         mcp_error *err)
{
    mcp_posteriors_free(p);
    p->tolerance = s->tolerance;
    return make(q, s, &p->of, &p->points, err);
}

/* exact, sparse: [params] each. Where ten times the tightness does not bring the gradient nearer, the
 * particles' motion is chaotic: any difference of the models grows until it fills the horizon, and more
 * points would cost time and nothing else. Then the tolerance stays what it was. */
static mcp_status tighten(mcp_posteriors *p, const mcp_posteriors_request *q, mcp_posterior_settings s,
                          double *exact, double *sparse, mcp_error *err)
{
    const mcp_posterior_settings all = {.type = MCP_POSTERIOR_EXACT};
    const mcp_posterior_settings asked = s;
    mcp_posterior              **whole = NULL;
    double                       last = INFINITY;
    int                          points;
    mcp_status                   st = make(q, &all, &whole, &points, err);
    if (st == MCP_OK) st = q->gradient(q->context, whole, exact, err);
    while (st == MCP_OK && (st = q->gradient(q->context, p->of, sparse, err)) == MCP_OK) {
        double off = distance(q->params, exact, sparse);
        p->cosine = cosine(q->params, exact, sparse);
        if (isnan(p->first)) p->first = p->cosine;
        if (p->cosine >= cosine_least || p->points >= points) break;
        if (off > nearer * last) {
            p->cosine = p->first;
            st = remake(p, q, &asked, err);
            break;
        }
        last = off;
        s.points_max = 0;
        s.tolerance /= 10.0;
        if (s.tolerance < tolerance_least) {
            mcp_posteriors_free(p);
            p->of = whole;
            p->tolerance = 0.0;
            p->points = points;
            p->cosine = 1.0;
            return MCP_OK;
        }
        st = remake(p, q, &s, err);
    }
    release(whole, q->ngp);
    return st == MCP_ERR_NUMERIC && p->of ? MCP_OK : st;
}

mcp_status mcp_posteriors_create(mcp_posteriors *p, const mcp_posteriors_request *q, mcp_error *err)
{
    const mcp_posterior_settings s = rule(q);
    const int                    sparse = s.type == MCP_POSTERIOR_SPARSE;
    *p = (mcp_posteriors){
        .ngp = q->ngp, .cosine = NAN, .first = NAN, .tolerance = sparse ? s.tolerance : 0.0};
    mcp_status st = make(q, &s, &p->of, &p->points, err);
    if (st != MCP_OK) return st;
    if (!sparse || !q->gradient) return counted(p);
    const size_t params = (size_t)q->params;
    double      *g = mcp_calloc(2 * params + 1, sizeof *g);
    if (!g) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the check of the sparse posterior");
    else st = tighten(p, q, s, g, g + params, err);
    mcp_free(g);
    if (st != MCP_OK) mcp_posteriors_free(p);
    return st == MCP_OK ? counted(p) : st;
}
