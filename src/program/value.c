/* value.c - one operation on one sample, through libm. Truth is 1 and 0; what is not 0 counts as true. min
 * and max hand NaN on; a comparison with NaN is false (!= is true). */
#include <math.h>

#include "program/graph.h"

double mcp_op_value(mcp_op op, double a, double b)
{
    switch (op) {
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL: return a * b;
    case OP_DIV: return a / b;
    case OP_POW: return pow(a, b);
    case OP_ATAN2: return atan2(a, b);
    case OP_MIN: return a <= b || a != a ? a : b;
    case OP_MAX: return a >= b || a != a ? a : b;
    case OP_LT: return a < b;
    case OP_LE: return a <= b;
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_AND: return a != 0.0 && b != 0.0;
    case OP_OR: return a != 0.0 || b != 0.0;
    case OP_NEG: return -a;
    case OP_NOT: return a == 0.0;
    case OP_ABS: return fabs(a);
    case OP_SIGN: return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a; /* 0 and NaN as they are */
    case OP_SQRT: return sqrt(a);
    case OP_EXP: return exp(a);
    case OP_LOG: return log(a);
    case OP_SIN: return sin(a);
    case OP_COS: return cos(a);
    case OP_TAN: return tan(a);
    case OP_ASIN: return asin(a);
    case OP_ACOS: return acos(a);
    case OP_ATAN: return atan(a);
    case OP_SINH: return sinh(a);
    case OP_COSH: return cosh(a);
    case OP_TANH: return tanh(a);
    case OP_SIGMOID: return 1.0 / (1.0 + exp(-a));
    default: return 0.0;
    }
}

const char *mcp_op_word(mcp_op op)
{
    static const char *const words[OP_COUNT] = {
        [OP_CONST] = "constant", [OP_INPUT] = "input", [OP_MEMORY] = "memory", [OP_PARAM] = "param",
        [OP_NET] = "net",        [OP_ADD] = "+",       [OP_SUB] = "-",         [OP_MUL] = "*",
        [OP_DIV] = "/",          [OP_POW] = "^",       [OP_ATAN2] = "atan2",   [OP_MIN] = "min",
        [OP_MAX] = "max",        [OP_LT] = "<",        [OP_LE] = "<=",         [OP_EQ] = "==",
        [OP_NE] = "!=",          [OP_AND] = "and",     [OP_OR] = "or",         [OP_NEG] = "-",
        [OP_NOT] = "not",        [OP_ABS] = "abs",     [OP_SIGN] = "sign",     [OP_SQRT] = "sqrt",
        [OP_EXP] = "exp",        [OP_LOG] = "log",     [OP_SIN] = "sin",       [OP_COS] = "cos",
        [OP_TAN] = "tan",        [OP_ASIN] = "asin",   [OP_ACOS] = "acos",     [OP_ATAN] = "atan",
        [OP_SINH] = "sinh",      [OP_COSH] = "cosh",   [OP_TANH] = "tanh",     [OP_SIGMOID] = "sigmoid",
    };
    return words[op];
}
