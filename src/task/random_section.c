/* random_section.c - numbers that are drawn anew for every trial: name: [low, high], or {mean, std}. */
#include <string.h>

#include "task/keys.h"

/* [low, high], low <= high. */
static mcp_status read_range(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task_random *d = base;
    double           v[2];
    mcp_status       st = mcp_expect(r, n, MCP_YAML_LIST, key->form);
    if (st == MCP_OK) st = mcp_read_vector(r, n, key, 2, (const char *const[]){"low", "high"}, 0.0, v);
    if (st != MCP_OK) return st;
    if (v[0] > v[1]) return mcp_read_fail(r, n, "[low, high] with low <= high");
    d->uniform = 1;
    d->low     = v[0];
    d->high    = v[1];
    return MCP_OK;
}

#define AT(field) offsetof(mcp_task_random, field)
const mcp_key mcp_random_table[] = {
    {"range", KEY_OWN, 0, -1e9, 1e9, .read = read_range, .shape = SHAPE_INTERVAL, .form = "[low, high]",
     .about = "uniform between the two"},
    {"mean", KEY_NUMBER, AT(mean), -1e9, 1e9, .about = "Gaussian: its mean"},
    {"std", KEY_NUMBER, AT(std), 0, 1e9, .about = "Gaussian: its standard deviation"},
    MCP_KEY_END,
};
#undef AT

/* One row; its name is checked by whoever knows which names are free. */
static mcp_status read_row(mcp_reader *r, mcp_yaml *n, const mcp_key *table, mcp_task_random *d)
{
    mcp_status st = mcp_keys_read_short(r, n, table, "range", d);
    if (st != MCP_OK) return st;
    int given = (mcp_yaml_find(n, "mean") != NULL) + (mcp_yaml_find(n, "std") != NULL);
    if (given != (d->uniform ? 0 : 2)) {
        char path[128];
        return mcp_fail_at(r->err, n->at, "%s: expected [low, high], or mean and std",
                           mcp_yaml_path(n, path, sizeof path));
    }
    d->name = mcp_task_memory_text(r->bag, n->key, strlen(n->key));
    return d->name ? MCP_OK : mcp_read_memory(r);
}

mcp_status mcp_read_random(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_random_list *list = (mcp_random_list *)(void *)((char *)base + key->offset);
    mcp_status       st = mcp_expect(r, n, MCP_YAML_MAP, key->form);
    if (st != MCP_OK) return st;
    if (n->count > MCP_MAX_RANDOM)
        return mcp_fail_at(r->err, n->at, "found %d names, expected at most %d", n->count, MCP_MAX_RANDOM);
    if (!(list->item = mcp_task_memory_get(r->bag, (size_t)n->count, sizeof *list->item)))
        return mcp_read_memory(r);
    for (mcp_yaml *c = n->first; c; c = c->next)
        if ((st = read_row(r, c, key->table, &list->item[list->n++])) != MCP_OK) return st;
    return MCP_OK;
}
