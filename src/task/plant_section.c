/* plant_section.c - the plant: exactly one of its kinds is named, the other keys belong to that kind. */
#include <stdio.h>
#include <string.h>

#include "task/keys.h"

static mcp_status read_argv(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task_plant *p     = base;
    int             count = n->kind == MCP_YAML_LIST ? n->count : 1;
    if (n->kind == MCP_YAML_MAP || !count || count > MCP_MAX_LIST) return mcp_read_fail(r, n, key->form);
    if (!(p->argv = mcp_task_memory_get(r->bag, (size_t)count + 1, sizeof *p->argv)))
        return mcp_read_memory(r);
    for (mcp_yaml *c = n->kind == MCP_YAML_LIST ? n->first : n; c;
         c = n->kind == MCP_YAML_LIST ? c->next : NULL) {
        if (c->kind != MCP_YAML_SCALAR || (!p->argc && !c->text[0])) return mcp_read_fail(r, c, "a text");
        if (!(p->argv[p->argc++] = mcp_task_memory_text(r->bag, c->text, strlen(c->text))))
            return mcp_read_memory(r);
    }
    return MCP_OK;
}

/* host:port; a port from 1 to 65535 */
static mcp_status read_address(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task_plant *p    = base;
    int             port = 0, used = 0;
    const char     *colon = n->kind == MCP_YAML_SCALAR ? strrchr(n->text, ':') : NULL;
    if (!colon || colon == n->text || sscanf(colon + 1, "%5d%n", &port, &used) != 1 || colon[1 + used] ||
        port < 1 || port > 65535)
        return mcp_read_fail(r, n, key->form);
    p->address = mcp_task_memory_text(r->bag, n->text, strlen(n->text));
    return p->address ? MCP_OK : mcp_read_memory(r);
}

static mcp_status read_map(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task_plant *p  = base;
    mcp_status      st = mcp_expect(r, n, MCP_YAML_MAP, key->form);
    if (st != MCP_OK) return st;
    if (!(p->map = mcp_task_memory_get(r->bag, (size_t)n->count, sizeof *p->map))) return mcp_read_memory(r);
    for (mcp_yaml *c = n->first; c; c = c->next, p->maps++) {
        int state;
        if (mcp_task_find_input(r->task, c->key) < 0 &&
            (st = mcp_read_state(r, c->key, c->key_at, &state)) != MCP_OK)
            return st;
        if (c->kind != MCP_YAML_SCALAR || !c->text[0])
            return mcp_read_fail(r, c, "for example \"joint hinge position\" or \"actuator motor\"");
        mcp_named_expr *m = &p->map[p->maps];
        m->name           = mcp_task_memory_text(r->bag, c->key, strlen(c->key));
        m->expr.text      = mcp_task_memory_text(r->bag, c->text, strlen(c->text));
        m->expr.at        = c->at;
        if (!m->name || !m->expr.text) return mcp_read_memory(r);
    }
    return MCP_OK;
}

typedef struct {
    mcp_task_plant plant;
    int            callback;
    char          *device;
} plant_row;

#define AT(field) offsetof(plant_row, plant.field)
const mcp_key mcp_plant_table[] = {
    {"ode", KEY_EXPRS, AT(ode),
     .about = "state: its time derivative, an expression of state, inputs, hidden states and let. A position "
              "may be left out: its derivative is its velocity. Where it cannot be integrated further (a "
              "magnet that is touched) the trial ends; better is a limit that is reached before"},
    {"let", KEY_EXPRS, AT(let), .only = "ode", .about = "helper definitions, in order"},
    {"hidden", KEY_EXPRS, AT(hidden),
     .only = "ode",
     .about = "states that only the plant has (motor lag, flexible joint), name: start value; their "
              "derivatives "
              "stand in ode"},
    {"random", KEY_OWN, AT(random), .only = "ode", .read = mcp_read_random, .table = mcp_random_table,
     .shape = SHAPE_ROWS, .shorthand = "range", .form = "a mapping name: [low, high], or name: {mean, std}",
     .about = "numbers drawn anew for every trial, which controller and model are not told: a constant, "
              "which here varies about what the file says, or a name of its own, e.g. for the start "
              "of a hidden "
              "state"},
    {"after", KEY_EXPRS, AT(after), .only = "ode",
     .about = "state: its value after each sample (clamps, known jumps)"},
    {"tolerance", KEY_NUMBER, AT(tolerance), 0, 0.1, OPEN_LO, .fallback = "1e-8",
     .only = "ode",
     .about = "error of a step of the integrator, relative to the size of each state in the trial"},
    {"mujoco", KEY_TEXT, AT(model), .about = "MuJoCo model (XML), relative to the task file"},
    {"map", KEY_OWN, offsetof(plant_row, plant), .read = read_map, .shape = SHAPE_TEXT_MAP,
     .form = "a mapping name: place in the model",
     .only = "mujoco",
     .about = "state or input: \"joint NAME position\", \"joint NAME velocity\", \"actuator NAME\""},
    {"file", KEY_TEXT, AT(file), .about = "recorded trials (CSV), relative to the task file"},
    {"exec", KEY_OWN, offsetof(plant_row, plant), .read = read_argv, .shape = SHAPE_TEXT | SHAPE_TEXTS,
     .form = "a program, or a list of program and arguments",
     .about = "a program that speaks the line protocol on its standard input and output"},
    {"udp", KEY_OWN, offsetof(plant_row, plant), .read = read_address,
     .shape = SHAPE_TEXT, .form = "host:port",
     .about = "a rig behind UDP"},
    {"tcp", KEY_OWN, offsetof(plant_row, plant), .read = read_address,
     .shape = SHAPE_TEXT, .form = "host:port",
     .about = "a rig behind TCP"},
    {"serial", KEY_TEXT, offsetof(plant_row, device), .about = "a rig on a serial line: the device"},
    {"baud", KEY_INT, AT(baud), 300, 4000000, .fallback = "115200", .only = "serial", .about = "speed"},
    {"paced", KEY_FLAG, AT(paced), .fallback = "no",
     .only = "exec|udp|tcp|serial", .about = "yes = mcpilco keeps time, no = lock-step with the rig"},
    {"timeout", KEY_NUMBER, AT(timeout), 0, 3600, OPEN_LO, .fallback = "1", .unit = "s",
     .only = "exec|udp|tcp|serial", .about = "time without an answer before the plant counts as lost"},
    {"callback", KEY_FLAG, offsetof(plant_row, callback),
     .about = "yes: a C program gives the plant (mcp_plant_from_ops)"},
    MCP_KEY_END,
};
#undef AT

/* Keys of one kind are refused beside another, so that nothing written in the file is silently unused. */
static mcp_status check_kind(mcp_reader *r, mcp_yaml *n, int kind)
{
    char word[MCP_WORD];
    mcp_word(MCP_PLANT_KINDS, kind, word);
    for (const mcp_key *k = mcp_plant_table; k->name; k++) {
        mcp_yaml *c = mcp_yaml_find(n, k->name);
        if (c && !c->filled && k->only && !mcp_listed(word, k->only))
            return mcp_fail_at(r->err, c->key_at,
                               "found key \"%s\", expected no such key for a plant of kind %s", k->name,
                               word);
    }
    return MCP_OK;
}

/* Defaults of another kind's keys are not filled in, so that a dump can be read again. */
static mcp_status read_keys(mcp_reader *r, mcp_yaml *n, int kind, plant_row *row)
{
    mcp_key table[sizeof mcp_plant_table / sizeof *mcp_plant_table];
    int     count = 0;
    char    word[MCP_WORD];
    for (const mcp_key *k = mcp_plant_table; k->name; k++)
        if (!k->only || mcp_yaml_find(n, k->name) ||
            (kind >= 0 && mcp_listed(mcp_word(MCP_PLANT_KINDS, kind, word), k->only)))
            table[count++] = *k;
    table[count] = (mcp_key)MCP_KEY_END;
    return mcp_keys_read(r, n, table, row);
}

mcp_status mcp_read_plant(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task  *t    = base;
    plant_row  row  = {0};
    int        kind = -1;
    char       first[MCP_WORD], word[MCP_WORD];
    mcp_status st   = mcp_expect(r, n, MCP_YAML_MAP, key->form);
    if (st != MCP_OK) return st;
    for (int i = 0; mcp_word(MCP_PLANT_KINDS, i, word); i++) {
        mcp_yaml *c = mcp_yaml_find(n, word);
        if (!c) continue;
        if (kind >= 0)
            return mcp_fail_at(r->err, c->key_at, "found %s beside %s in plant, expected one kind of plant",
                               word, mcp_word(MCP_PLANT_KINDS, kind, first));
        kind = i;
    }
    if ((st = read_keys(r, n, kind, &row)) != MCP_OK) return st;
    if (kind < 0)
        return mcp_fail_at(
            r->err, n->at,
            "plant: found no kind, expected one of ode, mujoco, file, exec, udp, tcp, serial, callback");
    if ((st = check_kind(r, n, kind)) != MCP_OK) return st;
    t->plant      = row.plant;
    t->plant.type = (mcp_plant_type)kind;
    if (row.device) t->plant.address = row.device;
    return MCP_OK;
}
