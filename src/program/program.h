/* program.h - expressions compiled to a straight-line program over batches of particles.
 *
 * A program has named inputs, constants, definitions, memory and outputs. Memory is what it carries from
 * one sample to the next: slot m has a start expression (its value at the first sample) and a next
 * expression (its value at the next sample). prev(e) is e one sample ago, and e itself at the first
 * sample: a memory slot made on the fly.
 *
 *   arithmetic + - * / ^, unary -, comparisons < <= > >= == !=, and or not, ( ), numbers, pi
 *   sin cos tan asin acos atan atan2 sinh cosh tanh exp log sqrt abs sign min max clamp(x, lo, hi) sigmoid
 *   prev(x)   param(name, start)   rbf(n, feature, ...)   rbf(...)[k] (output k = 1, 2, ..)
 *     mlp(h1, h2, .., feature, ...)   linear(feature, ...), an mlp without hidden layers
 *   (leading plain integers of mlp are the hidden layer sizes; outputs by [k] as for rbf; min and max take
 *     2 or more).
 * Calls of rbf or mlp with equal arguments are one network with several outputs; a name defined as one
 * has them too: net[2]. Truth is 1 and 0, what is not 0 is true. min, max and clamp hand NaN on. A
 * constant that is no finite number (1/0, log(-1)) is an error of the text; at run time a division by
 * zero gives infinity. Params and nets that nothing uses are left out.
 *
 * The same program is run over batches with its adjoint (particles), one sample at a time (plant), and
 * printed as C (microcontroller). */
#ifndef MCP_PROGRAM_H
#define MCP_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "math/isa.h"
#include "mcpilco/error.h"

typedef struct mcp_builder mcp_builder;
typedef struct mcp_program mcp_program;

/* Where an expression's first character stands; messages add the column inside the expression. file may be
 * NULL. */
typedef struct {
    const char *file;
    int         line, column; /* from 1; 0 = unknown */
} mcp_where;

mcp_status mcp_builder_create(mcp_builder **out, mcp_error *err);
void       mcp_builder_free(mcp_builder *b);
/* Names: letters, digits, _; not a function name; each used once, or an error says where it is taken. A name
 * that starts with @ is the program's own: no text of a file can use or take it. */
mcp_status mcp_builder_constant(mcp_builder *b, const char *name, double value, mcp_error *err);
mcp_status mcp_builder_input(mcp_builder *b, const char *name, mcp_error *err);
/* A named value that later expressions use. */
mcp_status mcp_builder_define(mcp_builder *b, const char *name, const char *expr, mcp_where w,
                              mcp_error *err);
/* Declares slot `name`, usable at once; its next expression is given later (it may use later definitions). */
mcp_status mcp_builder_memory(mcp_builder *b, const char *name, const char *start, mcp_where w,
                              mcp_error *err);
mcp_status mcp_builder_next(mcp_builder *b, const char *name, const char *expr, mcp_where w, mcp_error *err);
mcp_status mcp_builder_output(mcp_builder *b, const char *name, const char *expr, mcp_where w,
                              mcp_error *err);
/* Compiles; b can be freed afterwards. */
mcp_status mcp_builder_finish(mcp_builder *b, mcp_program **out, mcp_error *err);
void       mcp_program_free(mcp_program *p);

int         mcp_program_inputs(const mcp_program *p);
int         mcp_program_outputs(const mcp_program *p);
int         mcp_program_memory(const mcp_program *p);
int         mcp_program_params(const mcp_program *p);      /* length of theta */
/* Basis activations that dropout acts on: of all rbf nodes, each rounded up to a multiple of MCP_LANES. */
int         mcp_program_activations(const mcp_program *p);
const char *mcp_program_output_name(const mcp_program *p, int i);
char *mcp_program_listing(
    const mcp_program *p); /* the compiled steps as text, mcp_free it; NULL = no memory */

/* theta is made of groups: first one per param(), then, net by net, three per rbf node (weights
 * [output][basis], centres [basis][feature], log length-scales [feature]; phi_i = exp(-sum_d ((f_d -
 * c_id)/l_d)^2)), weights and biases per mlp layer. */
typedef enum {
    MCP_PARAM_SCALAR,
    MCP_RBF_WEIGHTS,
    MCP_RBF_CENTRES,
    MCP_RBF_LOG_LENGTHS,
    MCP_MLP_WEIGHTS,
    MCP_MLP_BIASES
} mcp_param_kind;
typedef struct {
    const char    *name; /* "rbf1.centres", or the param's own name */
    mcp_param_kind kind;
    int            offset, count;
    int            rows, cols; /* shape, rows*cols == count */
    double         start;      /* of a scalar param */
    int            node;       /* net it belongs to (0, 1, ..), -1 for a scalar param */
    int            layer;      /* of an mlp: 0 = first hidden layer */
} mcp_param_group;
int                    mcp_program_groups(const mcp_program *p);
const mcp_param_group *mcp_program_group(const mcp_program *p, int i);
/* Values of the features of rbf/mlp node `node` (0, 1, ..) are registers of the program: evaluates them for
 * one sample, so that a start can be scaled to the ranges the data visit. Returns the number of features. */
int mcp_program_net_count(const mcp_program *p);
int mcp_program_net_features(const mcp_program *p, int node);
void mcp_program_net_inputs(const mcp_program *p, int node, const double *theta, int first, const double *in,
                            const double *mem, double *features, double *work);

/* One sample of a batch: n lanes, rows of stride ld (both multiples of MCP_LANES). What is not named is 0 or
 * NULL.
 *
 * Forward reads in [input][ld] and mem [slot][ld] (not at the first sample), and writes out [output][ld],
 * next [slot][ld] and the tape, which backward reads.
 *
 * Backward reads what forward did, out_bar [output][ld] and next_bar [slot][ld]. It adds to in_bar
 * [input][ld] and mem_bar [slot][ld] (NULL = not wanted; mem_bar is untouched at the first sample), and to
 * sums + (lane / MCP_LANES) * sums_stride for each group of MCP_LANES lanes (NULL = not wanted): a group's
 * sums do not depend on the batch it is in.
 *
 * The sums are not yet dJ/dtheta but what it is linear in, laid out for speed (mcp_program_sums doubles a
 * group, zeroed by the caller before the first call). Add them up over steps and groups in a fixed order
 * while theta stays the same, then turn the total into the gradient once: mcp_program_gradient. */
typedef struct {
    const mcp_program *program;
    mcp_isa            level;
    const double      *theta;
    const double      *table; /* of theta: rbf nets in single precision; NULL: all is double */
    int                first; /* 1 at the first sample: memory is what its start expressions say */
    int                n, ld;
    const double      *in, *mem;
    const uint8_t     *keep;       /* [group][activation/8][lane][8] bytes, 0 or 255; NULL: no dropout */
    double             keep_scale; /* of the activations kept */
    double            *tape;       /* mcp_program_tape doubles; backward only reads it */
    double            *out, *next;
    const double      *out_bar, *next_bar;
    double            *scratch; /* mcp_program_scratch doubles; backward only */
    double            *in_bar, *mem_bar, *sums;
    size_t             sums_stride;
} mcp_batch_call;

/* Parameters of the rbf nets in single precision: mcp_program_table doubles, good while theta stays. */
size_t mcp_program_table(const mcp_program *p);
void   mcp_program_tabulate(const mcp_program *p, const double *theta, double *table);
size_t mcp_program_tape(const mcp_program *p, int ld);
size_t mcp_program_scratch(const mcp_program *p, int ld);
size_t mcp_program_sums(const mcp_program *p); /* a multiple of MCP_LANES */
void   mcp_batch_forward(const mcp_batch_call *c);
void   mcp_batch_backward(const mcp_batch_call *c);
/* total += sums of one group, in the order of the double kernels, whichever made them (single: those with a
 * table). */
void mcp_program_sums_add(const mcp_program *p, const double *theta, int single, const double *sums,
                          double *total);
/* theta_bar [params] += dJ/dtheta of the total. */
void mcp_program_gradient(const mcp_program *p, const double *theta, const double *sums, double *theta_bar);

/* One sample, real time: no allocation. mem is read (unless first) and overwritten. work: mcp_program_work
 * doubles. */
size_t mcp_program_work(const mcp_program *p);
void mcp_program_step(const mcp_program *p, const double *theta, int first, const double *in, double *mem,
                      double *out, double *work);

/* Whole turns of the angle at `input`: when it moves by a turn and memory slot m by slot[m] turns, output i
 * moves by output[i] turns and nothing else changes. NaN: no such number, the program tells turns apart
 * there. */
mcp_status mcp_program_turns(const mcp_program *p, int input, double *slot, double *output, mcp_error *err);
int        mcp_program_slot(const mcp_program *p, const char *name); /* -1 = none */

/* Prints the program as a C99 function over a static-size struct:
 *   typedef struct { int started; REAL mem[..]; } PREFIX_state;
 *   void PREFIX_reset(PREFIX_state *s);  void PREFIX_step(PREFIX_state *s, const REAL *in, REAL *out);
 * with theta as static const arrays. libm only. Returned text: mcp_free it. in and out may be the same array.
 */
typedef struct {
    const char *prefix;
    int         single;  /* 1: float, 0: double */
    const char *include; /* NULL: one self-contained file; else the declarations come from this header */
    int         local;   /* 1: functions are static; Python: without helpers, which stand above already */
} mcp_print_settings;
mcp_status mcp_program_print_c(const mcp_program *p, const double *theta, const mcp_print_settings *s,
                               char **text, mcp_error *err);
/* The declarations alone: body of a header (no include guard), to go with settings.include. */
mcp_status mcp_program_print_declarations(const mcp_program *p, const mcp_print_settings *s, char **text,
                                          mcp_error *err);

/* The same as a Python module, standard library only: class PREFIX with reset(), step(inputs) -> outputs. */
mcp_status mcp_program_print_python(const mcp_program *p, const double *theta, const mcp_print_settings *s,
                                    char **text, mcp_error *err);

/* Operations of one sample after the first, for cost estimates. */
typedef struct {
    long add, multiply, divide, compare, call; /* call: libm functions, sqrt included */
    long constants, state;                     /* table entries; numbers kept between samples */
} mcp_program_cost;
mcp_program_cost mcp_program_cost_of(const mcp_program *p);

#endif
