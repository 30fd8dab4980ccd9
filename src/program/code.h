/* code.h - a compiled program: registers, two instruction lists, nets.
 *
 * List [1] runs at the first sample, where a memory slot is its start expression; list [0] runs at all
 * others, where it is what the last sample left. Each has only what it needs. Registers are numbered in
 * the order they are computed in.
 *
 * Batch: a register is a row of ld lanes. Inputs and memory are read where the caller has them, all else
 * is on the tape:
 *   tape     [rows]                     computed registers, outputs of nets
 *            [net rows]                 per rbf: scaled features [D], kept activations [padded] (in
 *              single precision see rbf_single.isa.c); per mlp:
 *              hidden units
 *   scratch  [rows]                     their adjoints
 *            [net scratch]              largest need of one net */
#ifndef MCP_CODE_H
#define MCP_CODE_H

#include "program/graph.h"

typedef enum { SPACE_TAPE, SPACE_INPUT, SPACE_MEMORY } mcp_space;

typedef struct {
    mcp_op    op;
    mcp_space space;
    int       row;   /* in its space */
    double    value; /* OP_CONST */
    int       index; /* OP_PARAM: position in theta; OP_NET: net; OP_INPUT, OP_MEMORY: number */
} mcp_reg;

/* r = op(a, b). For sin and cos (sinh and cosh) b is the register of the other of the same argument, or -1.
 * For OP_NET, which appears once per net: a = net. */
typedef struct {
    mcp_op op;
    int    r, a, b;
} mcp_instr;

typedef struct {
    mcp_net net;             /* its feature[] are not used here: */
    int     feature[2][MCP_NET_FEATURES]; /* registers, by list */
    int theta; /* first parameter; rbf: weights, centres, log lengths; mlp: W1, b1, W2, b2, .. */
    int     group;           /* its first parameter group */
    int     sums;            /* first of its sums, see rbf.isa.c and mlp.isa.c */
    int     padded;          /* rbf: bases rounded up to MCP_LANES */
    int     out_row;         /* tape row of output 0 */
    int     tape_row;        /* tape row of its own rows */
    int     activation;      /* rbf: its first basis in a group's keep */
    int     table;           /* rbf: first double of its table, see rbf_single.isa.c */
} mcp_net_code;

struct mcp_program {
    int           inputs, outputs, slots, params, activations, regs, nets, groups;
    int           rows, tape_rows;       /* rows of registers and net outputs; all rows */
    size_t net_scratch, net_work; /* doubles beside the rows: fixed part of batch backward, one-sample run */
    int           net_scratch_rows;
    int           table; /* doubles of the tables of all rbf nets */
    int sums, scalars; /* sums of the scalar params come first: sum i belongs to theta[scalar_theta[i]] */
    mcp_reg      *reg;
    mcp_instr    *list[2];
    int           count[2];
    int          *out[2], *next[2];      /* registers, by list */
    int          *start;                 /* register of a slot's start, -1: not read */
    mcp_net_code *net;
    mcp_param_group *group;
    char        (*group_name)[80];
    char        (*input_name)[64];
    char        (*output_name)[64];
    char        (*slot_name)[64];
};

#endif
