/* keys.h - one line per key of a task file. The same line checks the value, gives its default, lets --set
 * change it and
 * documents it in docs/task-file.md.
 *
 *   { "dropout", KEY_NUMBER, offsetof(mcp_optimise_settings, dropout), .lo = 0, .hi = 1, .open = OPEN_HI,
 *     .fallback = "0.25",
 *     .about = "chance that a basis function is dropped" } */
#ifndef MCP_KEYS_H
#define MCP_KEYS_H

#include "task/task_data.h"
#include "task/yaml.h"

typedef enum {
    KEY_INT,    /* int                                  */
    KEY_U64,    /* uint64_t, up to 2^53                 */
    KEY_NUMBER, /* double, finite                       */
    KEY_FLAG,   /* int: yes/no, true/false              */
    KEY_TEXT,   /* char *                               */
    KEY_CHOICE, /* int (enum): index into choices       */
    KEY_WORD,   /* char *, one of choices               */
    KEY_EXPR,   /* mcp_expr                             */
    KEY_EXPRS,  /* mcp_expr_list: a mapping name: expression */
    KEY_MAP,    /* a struct described by `table`        */
    KEY_OWN     /* read by `read`                       */
} mcp_key_type;

enum { OPEN_LO = 1, OPEN_HI = 2 };

/* What a KEY_OWN value may look like in YAML, for the schema (schema.c): any of those named. */
enum {
    SHAPE_NUMBER = 1,      /* 3, or an expression of constants                        */
    SHAPE_NUMBERS = 2,     /* [3, 4]                                                  */
    SHAPE_NUMBER_MAP = 4,  /* {p: 3, theta: 4}                                        */
    SHAPE_NUMBERS_MAP = 8, /* {p: [3, 4], theta: [5, 6]}                              */
    SHAPE_TEXT = 16,       /* a word or an expression                                 */
    SHAPE_TEXTS = 32,      /* a list of them                                          */
    SHAPE_TEXT_MAP = 64,   /* name: word or expression                                */
    SHAPE_TABLE = 128,     /* a mapping by `table`, or its shorthand                  */
    SHAPE_TABLES = 256,    /* a list of such mappings                                 */
    SHAPE_ROWS = 512,      /* name: a mapping by `table`, or its shorthand            */
    SHAPE_ONE_KIND = 1024, /* with SHAPE_TABLE: exactly one of the keys in `choices`  */
    SHAPE_KIND_ROWS = 2048, /* a list of {kind: mapping by `table`}, kinds in `choices` */
    SHAPE_INTERVAL = 4096, /* [low, high], either sign, up to `hi` in magnitude       */
    SHAPE_VECTOR = SHAPE_NUMBER | SHAPE_NUMBERS | SHAPE_NUMBER_MAP
};
#define MCP_PLANT_KINDS "ode|mujoco|file|exec|udp|tcp|serial|callback" /* in the order of mcp_plant_type */
#define MCP_DRAW_KINDS  "line|circle|rectangle|text"

typedef struct mcp_key    mcp_key;
typedef struct mcp_reader mcp_reader;
typedef mcp_status        mcp_key_fn(mcp_reader *r, mcp_yaml *value, void *base, const mcp_key *key);

struct mcp_key {
    const char    *name;
    mcp_key_type   type;
    size_t         offset;
    double         lo, hi; /* range of numbers: closed, unless open says otherwise */
    int            open;
    int            required;
    const char    *fallback;  /* YAML text of the default; NULL = stays zero or absent */
    const char    *choices;   /* "none|difference|kalman"; with SHAPE_*KIND*: the kinds */
    const char *only; /* types (the mapping's key "type", or a plant's kind) that know this key; NULL = all */
    const char    *shorthand; /* KEY_MAP, or rows of a mapping: the key a plain value stands for */
    const mcp_key *table;     /* KEY_MAP; KEY_OWN: rows of its mapping, for the reference */
    mcp_key_fn    *read;      /* KEY_OWN */
    const char    *unit, *about;
    const char    *form; /* KEY_OWN: what the value looks like, for the reference and messages */
    int            shape; /* KEY_OWN: the same for the schema */
    int            base;  /* other sections are read by what this one says */
};
#define MCP_KEY_END  \
    {                \
        .name = NULL \
    }

struct mcp_reader {
    mcp_task  *task;
    mcp_task_memory   *bag;
    mcp_error *err;
    mcp_mistakes *all; /* NULL: the first mistake ends the reading */
    const char   *damaged[32]; /* sections of the task that could not be read to their end */
    int           damages;
};

/* Unless it is the one added last. */
void mcp_mistakes_add(mcp_mistakes *all, const mcp_error *err);
/* After a failure st, written to r->err: MCP_OK if it was noted and the reading goes on, else st. */
mcp_status mcp_read_note(mcp_reader *r, mcp_status st);
int        mcp_read_sound(const mcp_reader *r, const char *section);

/* Reads a mapping into the struct at base. Unknown keys first, then the table in its own order, defaults
 * included. */
mcp_status mcp_keys_read(mcp_reader *r, mcp_yaml *map, const mcp_key *table, void *base);
/* The same for a value that may be a plain one (a scalar or a list) standing for table's key `shorthand`. */
mcp_status mcp_keys_read_short(mcp_reader *r, mcp_yaml *n, const mcp_key *table, const char *shorthand,
                               void *base);

/* Pieces for KEY_OWN readers. */
mcp_status mcp_read_number(mcp_reader *r, mcp_yaml *n, const mcp_key *key,
                           double *out); /* range of key; NULL: any */
mcp_status mcp_read_name(mcp_reader *r, mcp_yaml *n, const char **out);                  /* an identifier */
mcp_status mcp_read_expr(mcp_reader *r, mcp_yaml *n, mcp_expr *out);
mcp_status mcp_read_exprs(mcp_reader *r, mcp_yaml *map, mcp_expr_list *out);
mcp_status mcp_read_state(mcp_reader *r, const char *name, mcp_where at,
                          int *index); /* or the nearest state */
/* One number for all, a list of `count`, or a mapping names[i]: number (absent = fallback). */
mcp_status mcp_read_vector(mcp_reader *r, mcp_yaml *n, const mcp_key *key, int count,
                           const char *const *names, double fallback, double *out);
mcp_status mcp_expect(mcp_reader *r, const mcp_yaml *n, mcp_yaml_kind kind, const char *what);
mcp_status mcp_read_fail(mcp_reader *r, const mcp_yaml *n,
                         const char *expected); /* "path: found X, expected ..." */
mcp_status mcp_read_memory(mcp_reader *r);
/* Word i of "a|b|c"; NULL past the last. */
enum { MCP_WORD = 32 };
const char *mcp_word(const char *words, int i, char out[MCP_WORD]);
int         mcp_listed(const char *word, const char *words); /* is it one of "a|b|c"? */
int        mcp_is_name(const char *s);
int        mcp_is_reserved(const char *s); /* a function, constant or word of the expression language */
/* The word of `words` nearest to s, or NULL when none is near enough. */
const char *mcp_nearest(const char *s, const char *const *words, int count);
/* Adds a default that depends on other keys, so that the dump shows it. */
mcp_status mcp_fill(mcp_reader *r, mcp_yaml *map, const char *key, const char *text);

/* The tables, for the loader and the reference. */
extern const mcp_key mcp_task_table[], mcp_optimise_table[], mcp_model_table[];
extern const mcp_key mcp_state_table[], mcp_input_table[], mcp_measured_table[], mcp_observer_table[],
    mcp_smoother_table[];
extern const mcp_key mcp_memory_table[], mcp_start_table[], mcp_part_table[], mcp_explore_table[],
    mcp_success_table[];
extern const mcp_key mcp_plant_table[], mcp_draw_table[], mcp_random_table[];

mcp_key_fn mcp_read_states, mcp_read_inputs, mcp_read_measured, mcp_read_observer, mcp_read_smoother,
    mcp_read_model;
mcp_key_fn mcp_read_policy, mcp_read_safe, mcp_read_start, mcp_read_explore, mcp_read_limits, mcp_read_plant,
    mcp_read_draw, mcp_read_constants, mcp_read_random;

/* Expressions of measured: sound; delay and deviation of the states that are computed. */
mcp_status mcp_read_computed(mcp_reader *r);
int mcp_all_measured(const mcp_task *t);
/* Does the controller have an estimate of this state? Known once observer and model are read. */
int mcp_state_observable(const mcp_task *t, int state);

/* The value of an expression of constants. */
mcp_status mcp_evaluate(mcp_reader *r, const char *text, mcp_where at, double *value);
mcp_status mcp_evaluate_constants(mcp_reader *r); /* each is finite and uses those before it */

/* After all sections: what one section says against another. */
mcp_status mcp_task_consistent(mcp_reader *r, mcp_yaml *root);

#endif
