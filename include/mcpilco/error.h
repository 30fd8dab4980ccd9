/* error.h - what every call that can fail returns, the sentence that goes with it, and rules for all calls.
 *
 * Who destroys what: what an mcp_<noun>_create, _load, _open or _parse gave belongs to the caller, who hands
 * it to mcp_<noun>_free (NULL is fine). A const pointer that a call returns belongs to the handle that was
 * asked, and is good until that handle is freed, unless its comment says otherwise. On failure *out is NULL
 * and nothing leaks. A handle that another one borrows (a learner its task) must outlive it.
 *
 * Structs: settings and tables of functions that a caller fills begin with their size, which
 * mcp_<noun>_default writes; fields added to the end later keep their default in programs that do not know
 * them. What the library tells comes as a pointer to its own struct, which may grow at its end too.
 * mcp_error, mcp_array, mcp_plant_ops, mcp_watch and mcp_controller_info stay as they are for ever. */
#ifndef MCPILCO_ERROR_H
#define MCPILCO_ERROR_H

#if defined(__GNUC__)
#define MCP_API __attribute__((visibility("default")))
#define MCP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define MCP_API
#define MCP_PRINTF(fmt, args)
#endif

/* From where a function may be called; every declaration ends with one of these. Handles share nothing with
 * each other: two learners, say, may work at the same time in two threads.
 *   MCP_ANY_THREAD  whenever one likes; all it uses is in its arguments
 *   MCP_READS       it reads the handle: many threads at once, none of them in a call that is MCP_ONE_THREAD
 *   MCP_ONE_THREAD  it changes the handle: one thread at a time on the same handle, today this one, then that
 */
#define MCP_ANY_THREAD
#define MCP_READS
#define MCP_ONE_THREAD

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
MCP_API mcp_status mcp_fail(mcp_error *err, mcp_status status, const char *fmt, ...) MCP_PRINTF(3, 4)
    MCP_ANY_THREAD;
#ifdef __clang_analyzer__ /* it returns what it was given: spares the analyser paths that cannot be */
#define mcp_fail(err, status, ...) (mcp_fail(err, status, __VA_ARGS__), (status))
#endif

#ifdef __cplusplus
}
#endif
#endif
