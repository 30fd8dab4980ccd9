/* batch.isa.c - run the instruction list over a batch, and its adjoint in reverse.
 *
 * Backward: with g = dJ/dy of y = f(a, b), a_bar += g df/da. Where g is exactly 0 nothing is added, so that
 * an infinite derivative of a branch that does not count (0 * inf) does not spoil the others. */
#include <string.h>

#include "math/elementary.h"
#include "program/batch_call.h"

MCP_V_FN(tan)
MCP_V_FN(asin)
MCP_V_FN(acos)
MCP_V_FN(atan)
MCP_V_FN(sinh)
MCP_V_FN(cosh)

#ifdef MCP_HAVE_MVEC
#if MCP_W == 8
#define MVEC2(f) _ZGVeN8vv_##f
#elif MCP_W == 4
#define MVEC2(f) _ZGVdN4vv_##f
#else
#define MVEC2(f) _ZGVbN2vv_##f
#endif
extern mcp_v MVEC2(pow)(mcp_v, mcp_v);
extern mcp_v MVEC2(atan2)(mcp_v, mcp_v);
#define v_pow MVEC2(pow)
#define v_atan2 MVEC2(atan2)
#else
static inline mcp_v v_pow(mcp_v a, mcp_v b)
{
    for (int i = 0; i < MCP_W; i++) a[i] = pow(a[i], b[i]);
    return a;
}
static inline mcp_v v_atan2(mcp_v a, mcp_v b)
{
    for (int i = 0; i < MCP_W; i++) a[i] = atan2(a[i], b[i]);
    return a;
}
#endif

static inline mcp_v truth(mcp_vu mask)
{
    return mcp_v_and(mask, mcp_v_all(1.0));
}

static const mcp_v zero;

static inline const double *value(const mcp_batch_call *c, int r)
{
    const mcp_reg *g    = &c->program->reg[r];
    const double  *base = g->space == SPACE_TAPE ? c->tape : g->space == SPACE_INPUT ? c->in : c->mem;
    return base + (size_t)g->row * (size_t)c->ld;
}

/* Adjoint row of a register; NULL: it has none or it is not wanted. */
static inline double *bar(const mcp_batch_call *c, int r)
{
    const mcp_reg *g    = &c->program->reg[r];
    double *base = g->space == SPACE_TAPE ? c->scratch : g->space == SPACE_INPUT ? c->in_bar : c->mem_bar;
    if (!base || g->op == OP_CONST || (g->op == OP_PARAM && !c->sums)) return NULL;
    return base + (size_t)g->row * (size_t)c->ld;
}

#define EACH for (int i = 0; i < n; i += MCP_W)
#define A mcp_v_load(a + i)
#define B mcp_v_load(b + i)
#define Y(e)                    \
    EACH mcp_v_store(y + i, e); \
    break

static void forward_unary(mcp_op op, int n, const double *restrict a, double *restrict y)
{
    switch (op) {
    case OP_NEG: Y(-A);
    case OP_NOT: Y(truth((mcp_vu)(A == zero)));
    case OP_ABS: Y(mcp_v_and(mcp_vu_all(~(1ull << 63)), A));
    case OP_SIGN:
        EACH {
            mcp_v x = A;
            mcp_v_store(y + i, mcp_v_select((mcp_vu)(x > zero), mcp_v_all(1.0),
                                            mcp_v_select((mcp_vu)(x < zero), mcp_v_all(-1.0), x)));
        }
        break;
    case OP_SQRT: Y(mcp_v_sqrt(A));
    case OP_EXP: Y(mcp_v_exp(A));
    case OP_LOG: Y(mcp_v_log(A));
    case OP_SIN: Y(mcp_v_sin(A));
    case OP_COS: Y(mcp_v_cos(A));
    case OP_TAN: Y(mcp_v_tan(A));
    case OP_ASIN: Y(mcp_v_asin(A));
    case OP_ACOS: Y(mcp_v_acos(A));
    case OP_ATAN: Y(mcp_v_atan(A));
    case OP_SINH: Y(mcp_v_sinh(A));
    case OP_COSH: Y(mcp_v_cosh(A));
    case OP_TANH: Y(mcp_v_tanh(A));
    case OP_SIGMOID: Y(1.0 / (1.0 + mcp_v_exp(-A)));
    default: break;
    }
}

static inline mcp_vu takes_min(mcp_v a, mcp_v b)
{
    return (mcp_vu)(a <= b) | (mcp_vu)(a != a);
}

static inline mcp_vu takes_max(mcp_v a, mcp_v b)
{
    return (mcp_vu)(a >= b) | (mcp_vu)(a != a);
}

static void forward_binary(mcp_op op, int n, const double *a, const double *b, double *restrict y)
{
    switch (op) {
    case OP_ADD: Y(A + B);
    case OP_SUB: Y(A - B);
    case OP_MUL: Y(A * B);
    case OP_DIV: Y(A / B);
    case OP_POW: Y(v_pow(A, B));
    case OP_ATAN2: Y(v_atan2(A, B));
    case OP_MIN: Y(mcp_v_select(takes_min(A, B), A, B));
    case OP_MAX: Y(mcp_v_select(takes_max(A, B), A, B));
    case OP_LT: Y(truth((mcp_vu)(A < B)));
    case OP_LE: Y(truth((mcp_vu)(A <= B)));
    case OP_EQ: Y(truth((mcp_vu)(A == B)));
    case OP_NE: Y(truth((mcp_vu)(A != B)));
    case OP_AND: Y(truth((mcp_vu)(A != zero) & (mcp_vu)(B != zero)));
    case OP_OR: Y(truth((mcp_vu)(A != zero) | (mcp_vu)(B != zero)));
    default: break;
    }
}

#define G mcp_v_load(g + i)
#define V mcp_v_load(y + i)
/* to[i] += e wherever g is not 0 */
#define ADD_TO(to, e)                                                                                     \
    do {                                                                                                  \
        if (to) EACH mcp_v_store(to + i, mcp_v_load(to + i) + mcp_v_and((mcp_vu)(G != zero), (e)));        \
    } while (0)

/* other: value row of the partner function of the same argument, or NULL */
static void backward_unary(mcp_op op, int n, const double *a, const double *y, const double *other,
                           const double *g, double *a_bar)
{
    switch (op) {
    case OP_NEG: ADD_TO(a_bar, -G); break;
    case OP_ABS: ADD_TO(a_bar, mcp_v_and((mcp_vu)(A > zero), G) - mcp_v_and((mcp_vu)(A < zero), G)); break;
    case OP_SQRT: ADD_TO(a_bar, 0.5 * G / V); break;
    case OP_EXP: ADD_TO(a_bar, G * V); break;
    case OP_LOG: ADD_TO(a_bar, G / A); break;
    case OP_SIN:
        if (other) ADD_TO(a_bar, G * mcp_v_load(other + i));
        else ADD_TO(a_bar, G * mcp_v_cos(A));
        break;
    case OP_COS:
        if (other) ADD_TO(a_bar, -G * mcp_v_load(other + i));
        else ADD_TO(a_bar, -G * mcp_v_sin(A));
        break;
    case OP_SINH:
        if (other) ADD_TO(a_bar, G * mcp_v_load(other + i));
        else ADD_TO(a_bar, G * mcp_v_cosh(A));
        break;
    case OP_COSH:
        if (other) ADD_TO(a_bar, G * mcp_v_load(other + i));
        else ADD_TO(a_bar, G * mcp_v_sinh(A));
        break;
    case OP_TAN: ADD_TO(a_bar, G * (1.0 + V * V)); break;
    case OP_ASIN: ADD_TO(a_bar, G / mcp_v_sqrt((1.0 - A) * (1.0 + A))); break;
    case OP_ACOS: ADD_TO(a_bar, -G / mcp_v_sqrt((1.0 - A) * (1.0 + A))); break;
    case OP_ATAN: ADD_TO(a_bar, G / (1.0 + A * A)); break;
    case OP_TANH: ADD_TO(a_bar, G * ((1.0 - V) * (1.0 + V))); break;
    case OP_SIGMOID: ADD_TO(a_bar, G * (V * (1.0 - V))); break;
    default: break; /* not, sign: flat */
    }
}

static void backward_binary(mcp_op op, int n, const double *a, const double *b, const double *y,
                            const double *g, double *a_bar, double *b_bar)
{
    switch (op) {
    case OP_ADD:
        ADD_TO(a_bar, G);
        ADD_TO(b_bar, G);
        break;
    case OP_SUB:
        ADD_TO(a_bar, G);
        ADD_TO(b_bar, -G);
        break;
    case OP_MUL:
        ADD_TO(a_bar, G * B);
        ADD_TO(b_bar, G * A);
        break;
    case OP_DIV:
        ADD_TO(a_bar, G / B);
        ADD_TO(b_bar, -G * V / B);
        break;
    case OP_POW: /* a <= 0: the power is not defined around b */
        ADD_TO(a_bar, G * B * v_pow(A, B - 1.0));
        ADD_TO(b_bar, mcp_v_and(~(mcp_vu)(A <= zero), G * V * mcp_v_log(A)));
        break;
    case OP_ATAN2:
        ADD_TO(a_bar, G * B / (A * A + B * B));
        ADD_TO(b_bar, -G * A / (A * A + B * B));
        break;
    case OP_MIN:
        ADD_TO(a_bar, mcp_v_and(takes_min(A, B), G));
        ADD_TO(b_bar, mcp_v_and(~takes_min(A, B), G));
        break;
    case OP_MAX:
        ADD_TO(a_bar, mcp_v_and(takes_max(A, B), G));
        ADD_TO(b_bar, mcp_v_and(~takes_max(A, B), G));
        break;
    default: break; /* comparisons, and, or: flat */
    }
}

static void net_run(const mcp_batch_call *c, int i, mcp_net_run *r)
{
    const mcp_net_code *net = &c->program->net[i];
    size_t              ld  = (size_t)c->ld;
    r->net = net;
    r->theta = c->theta + net->theta;
    r->n = c->n;
    r->ld = c->ld;
    r->table = c->table ? c->table + net->table : NULL;
    /* Dropout is for one of many: without its only basis function a net would not be there at all. */
    int drop = c->keep && net->net.kind == MCP_NET_RBF && net->net.units[0] > 1;
    r->keep = drop ? c->keep + net->activation * MCP_LANES : NULL;
    r->keep_stride = (size_t)c->program->activations * MCP_LANES;
    r->keep_scale = drop ? c->keep_scale : 1.0;
    r->tape = c->tape + (size_t)net->tape_row * ld;
    r->out  = c->tape + (size_t)net->out_row * ld;
    for (int d = 0; d < net->net.features; d++) r->feature[d] = value(c, net->feature[c->first][d]);
}

static void fill(double *y, int n, double v)
{
    for (int i = 0; i < n; i += MCP_W) mcp_v_store(y + i, mcp_v_all(v));
}

void MCP_ISA_FN(mcp_batch_forward)(const mcp_batch_call *c)
{
    const mcp_program *p = c->program;
    for (int k = 0; k < p->count[c->first]; k++) {
        const mcp_instr *s = &p->list[c->first][k];
        double          *y = c->tape + (size_t)p->reg[s->r].row * (size_t)c->ld;
        if (s->op == OP_CONST) {
            fill(y, c->n, p->reg[s->r].value);
        } else if (s->op == OP_PARAM) {
            fill(y, c->n, c->theta[p->reg[s->r].index]);
        } else if (s->op == OP_NET) {
            mcp_net_run r;
            net_run(c, s->a, &r);
            if (r.net->net.kind == MCP_NET_RBF && c->table) MCP_ISA_FN(mcp_rbf_forward_single)(&r);
            else if (r.net->net.kind == MCP_NET_RBF) MCP_ISA_FN(mcp_rbf_forward)(&r);
            else MCP_ISA_FN(mcp_mlp_forward)(&r);
        } else if (mcp_op_binary(s->op)) {
            forward_binary(s->op, c->n, value(c, s->a), value(c, s->b), y);
        } else {
            forward_unary(s->op, c->n, value(c, s->a), y);
        }
    }
    for (int i = 0; c->out && i < p->outputs; i++)
        memcpy(c->out + (size_t)i * (size_t)c->ld, value(c, p->out[c->first][i]),
               sizeof(double) * (size_t)c->n);
    for (int i = 0; c->next && i < p->slots; i++)
        memcpy(c->next + (size_t)i * (size_t)c->ld, value(c, p->next[c->first][i]),
               sizeof(double) * (size_t)c->n);
}

static void add_rows(double *to, const double *from, int n)
{
    if (!to) return;
    for (int i = 0; i < n; i += MCP_W) mcp_v_store(to + i, mcp_v_load(to + i) + mcp_v_load(from + i));
}

/* Adjoints start at 0, then those of outputs and next memory come in. */
static void begin_backward(const mcp_batch_call *c)
{
    const mcp_program *p = c->program;
    for (int k = 0; k < p->count[c->first]; k++) {
        const mcp_instr *s = &p->list[c->first][k];
        if (s->op == OP_NET) {
            const mcp_net_code *net = &p->net[s->a];
            for (int o = 0; o < net->net.outputs; o++)
                fill(c->scratch + (size_t)(net->out_row + o) * (size_t)c->ld, c->n, 0.0);
        } else if (s->op != OP_CONST) {
            fill(c->scratch + (size_t)p->reg[s->r].row * (size_t)c->ld, c->n, 0.0);
        }
    }
    for (int i = 0; c->out_bar && i < p->outputs; i++)
        add_rows(bar(c, p->out[c->first][i]), c->out_bar + (size_t)i * (size_t)c->ld, c->n);
    for (int i = 0; c->next_bar && i < p->slots; i++)
        add_rows(bar(c, p->next[c->first][i]), c->next_bar + (size_t)i * (size_t)c->ld, c->n);
}

static void param_backward(const mcp_batch_call *c, const mcp_instr *s, const double *g)
{
    static const double ones[MCP_LANES] = {1, 1, 1, 1, 1, 1, 1, 1};
    double             *sum             = c->sums ? c->sums + c->program->reg[s->r].index : NULL;
    for (int i = 0; sum && i < c->n; i += MCP_LANES, sum += c->sums_stride)
        mcp_lanes_dot(ones, g + i, c->ld, 1, sum);
}

static void net_backward(const mcp_batch_call *c, int i)
{
    mcp_net_run r;
    net_run(c, i, &r);
    r.out_bar = c->scratch + (size_t)r.net->out_row * (size_t)c->ld;
    for (int d = 0; d < r.net->net.features; d++) r.feature_bar[d] = bar(c, r.net->feature[c->first][d]);
    r.sums        = c->sums ? c->sums + r.net->sums : NULL;
    r.sums_stride = c->sums_stride;
    r.scratch     = c->scratch + (size_t)c->program->rows * (size_t)c->ld;
    if (r.net->net.kind == MCP_NET_RBF && c->table) MCP_ISA_FN(mcp_rbf_backward_single)(&r);
    else if (r.net->net.kind == MCP_NET_RBF) MCP_ISA_FN(mcp_rbf_backward)(&r);
    else MCP_ISA_FN(mcp_mlp_backward)(&r);
}

void MCP_ISA_FN(mcp_batch_backward)(const mcp_batch_call *c)
{
    const mcp_program *p = c->program;
    begin_backward(c);
    for (int k = p->count[c->first] - 1; k >= 0; k--) {
        const mcp_instr *s = &p->list[c->first][k];
        const double    *g = c->scratch + (size_t)p->reg[s->r].row * (size_t)c->ld;
        if (s->op == OP_CONST) continue;
        if (s->op == OP_PARAM) param_backward(c, s, g);
        else if (s->op == OP_NET) net_backward(c, s->a);
        else if (mcp_op_binary(s->op))
            backward_binary(s->op, c->n, value(c, s->a), value(c, s->b), value(c, s->r), g, bar(c, s->a),
                            bar(c, s->b));
        else
            backward_unary(s->op, c->n, value(c, s->a), value(c, s->r), s->b >= 0 ? value(c, s->b) : NULL, g,
                           bar(c, s->a));
    }
}
