/* error.h - what every call that can fail returns, and the sentence that goes with it. */
#ifndef MCPILCO_ERROR_H
#define MCPILCO_ERROR_H

#if defined(__GNUC__)
#define MCP_API __attribute__((visibility("default")))
#define MCP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define MCP_API
#define MCP_PRINTF(fmt, args)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    MCP_OK = 0,
    MCP_ERR_ARG,     /* the caller passed something impossible            */
    MCP_ERR_MEMORY,  /* out of memory                                     */
    MCP_ERR_IO,      /* a file could not be read or written               */
    MCP_ERR_TASK,    /* the task file says something that cannot be meant */
    MCP_ERR_NUMERIC, /* the numbers went wrong (NaN, not positive definite) */
    MCP_ERR_PLANT,   /* the plant did not answer, or not as agreed        */
    MCP_ERR_STOPPED  /* the caller's callback asked to stop               */
} mcp_status;

/* Belongs to the caller. NULL wherever an mcp_error * is taken means "not wanted". */
typedef struct {
    mcp_status status;
    char       text[512]; /* one sentence: the place, what was found, what to do */
} mcp_error;

/* Fills err (if any) and returns status, so that `return mcp_fail(...)` reads well. */
MCP_API mcp_status mcp_fail(mcp_error *err, mcp_status status, const char *fmt, ...) MCP_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* it returns what it was given: spares the analyser paths that cannot be */
#define mcp_fail(err, status, ...) (mcp_fail(err, status, __VA_ARGS__), (status))
#endif

#ifdef __cplusplus
}
#endif
#endif
