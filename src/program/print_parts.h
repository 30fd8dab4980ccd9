/* print_parts.h - what the C and the Python printer share: numbers, tables of nets, template fields. */
#ifndef MCP_PRINT_PARTS_H
#define MCP_PRINT_PARTS_H

#include "math/template.h"
#include "program/code.h"

typedef struct {
    const mcp_program *p;
    const double      *theta;
    int                single; /* 1: float */
    mcp_fields        *fields; /* of program.*.in */
} mcp_printer;

/* A literal that reads back as the same number. */
void mcp_print_number(mcp_text *t, double v, int single);
/* A register, or the constant it is. */
void mcp_print_value(const mcp_printer *w, mcp_text *t, int r);
/* Registers one after another, with commas. */
void mcp_print_values(const mcp_printer *w, mcp_text *t, const int *r, int n);
/* One more statement; line is empty afterwards. */
void mcp_print_statement(mcp_printer *w, mcp_text *line);
/* The list `net` with its tables and sizes. */
void mcp_print_nets(mcp_printer *w);
/* Every number that will be printed is one that a literal can say. */
mcp_status mcp_print_check(const mcp_printer *w, mcp_error *err);
int        mcp_program_uses(const mcp_program *p, mcp_op op);
/* The instruction that computes register r, in whichever list; NULL: none does. */
const mcp_instr *mcp_program_instruction(const mcp_program *p, int r);

#endif
