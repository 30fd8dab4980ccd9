/* store_policy.c - policy, forecast and result of one trial, to and from disk. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/csv.h"
#include "io/file.h"
#include "io/npy.h"
#include "learn/diagnosis.h"
#include "learn/run_folder.h"
#include "learn/store.h"
#include "math/arena.h"

static const char *group_kind(mcp_param_kind k)
{
    switch (k) {
    case MCP_PARAM_SCALAR: return "scalar";
    case MCP_RBF_WEIGHTS: return "rbf weights";
    case MCP_RBF_CENTRES: return "rbf centres";
    case MCP_RBF_LOG_LENGTHS: return "rbf log length-scales";
    case MCP_MLP_WEIGHTS: return "mlp weights";
    case MCP_MLP_BIASES: return "mlp biases";
    }
    return "?";
}

static mcp_status store_history(const mcp_run_item *it, const mcp_optimise_info *info, mcp_error *err)
{
    static const char *const names[] = {"step", "cost", "rate"};
    double *table = mcp_calloc((size_t)info->steps + 1, 3 * sizeof *table);
    char   *path = mcp_sprintf("%s/history.csv", it->folder);
    mcp_status st = MCP_ERR_MEMORY;
    if (!table || !path) mcp_fail(err, st, "%s: out of memory for its history", it->folder);
    else {
        for (int i = 0; i < info->steps; i++) {
            table[3 * i] = i + 1;
            table[3 * i + 1] = info->history ? info->history[i] : NAN;
            table[3 * i + 2] = info->rate_history ? info->rate_history[i] : NAN;
        }
        st = mcp_csv_write_in(it->own, path, 3, names, info->steps, table, err);
    }
    mcp_free(table);
    mcp_free(path);
    return st;
}

mcp_status mcp_store_policy(const mcp_run *r, const mcp_run_item *it, const mcp_optimise_info *info,
                            mcp_error *err)
{
    if (!it->folder) return MCP_OK;
    mcp_status st;
    if ((st = store_history(it, info, err)) != MCP_OK) return st;
    json_t *about = mcp_info_to_json(MCP_IN_OPTIMISE, &it->info);
    json_object_set_new(about, "points", json_integer(info->points));
    json_object_set_new(about, "gps_in_single_precision", json_integer(info->single));
    if ((st = mcp_store_json(it, "optimise.json", about, err)) != MCP_OK) return st;

    const mcp_program *p = r->system->controller;
    json_t            *groups = json_array();
    for (int i = 0; i < mcp_program_groups(p); i++) {
        const mcp_param_group *g = mcp_program_group(p, i);
        mcp_json_append(&groups, json_pack("{s:s, s:s, s:i, s:i, s:o}", "name", g->name, "kind",
                                           group_kind(g->kind), "rows", g->rows, "cols", g->cols,
                                           "values", mcp_json_numbers(g->count, it->theta + g->offset)));
    }
    return mcp_store_json(it, "policy.json",
                          json_pack("{s:i, s:o}", "parameters", r->params, "groups", groups), err);
}

static mcp_status read_groups(const mcp_run *r, mcp_run_item *it, const json_t *root, mcp_error *err)
{
    const mcp_program *p = r->system->controller;
    const json_t      *groups = json_object_get(root, "groups");
    if ((int)json_array_size(groups) != mcp_program_groups(p))
        return mcp_fail(err, MCP_ERR_IO,
                        "%s/policy.json: %d groups of parameters where the task's policy has %d", it->folder,
                        (int)json_array_size(groups), mcp_program_groups(p));
    for (int i = 0; i < mcp_program_groups(p); i++) {
        const mcp_param_group *g = mcp_program_group(p, i);
        const json_t          *o = json_array_get(groups, (size_t)i);
        if (strcmp(mcp_json_get_text(o, "name", ""), g->name) ||
            !mcp_json_get_numbers(o, "values", g->count, it->theta + g->offset))
            return mcp_fail(err, MCP_ERR_IO, "%s/policy.json: group %d is not \"%s\" with %d values",
                            it->folder, i + 1, g->name, g->count);
    }
    return MCP_OK;
}

mcp_status mcp_load_policy(const mcp_run *r, mcp_run_item *it, mcp_error *err)
{
    json_t    *root, *info = NULL;
    mcp_status st = mcp_load_json(it, "policy.json", &root, err);
    if (st != MCP_OK || !root) return st;
    it->theta = mcp_calloc((size_t)r->params + 1, sizeof *it->theta);
    st = it->theta ? read_groups(r, it, root, err)
                   : mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory for its policy", it->folder);
    if (st == MCP_OK && (st = mcp_load_json(it, "optimise.json", &info, err)) == MCP_OK && info)
        mcp_info_from_json(MCP_IN_OPTIMISE, info, &it->info);
    if (st != MCP_OK) {
        mcp_free(it->theta);
        it->theta = NULL;
    }
    json_decref(info);
    json_decref(root);
    return st;
}

/* forecast.json, particles.npy */

mcp_status mcp_store_forecast(const mcp_run *r, const mcp_run_item *it, mcp_error *err)
{
    if (!it->folder) return MCP_OK;
    const mcp_forecast *f = it->forecast;
    int                 shape[3] = {f->samples, f->kept, f->nx};
    char               *path = mcp_sprintf("%s/particles.npy", it->folder);
    double             *column = mcp_calloc((size_t)f->samples, sizeof *column);
    mcp_status st = path && column
                        ? mcp_npy_write_in(it->own, path, 3, shape, f->states, err)
                        : mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory for its forecast", it->folder);
    if (st == MCP_OK) {
        json_t *root = mcp_info_to_json(MCP_IN_FORECAST, &it->info), *states = json_object();
        for (int k = 0; k < f->nx; k++) {
            json_t *band = json_object();
            const struct {
                const char *name;
                const double *v;
            } q[] = {{"p05", f->low}, {"p50", f->median}, {"p95", f->high}};
            for (int j = 0; j < 3; j++) {
                for (int i = 0; i < f->samples; i++) column[i] = q[j].v[i * f->nx + k];
                mcp_json_set(&band, q[j].name, mcp_json_numbers(f->samples, column));
            }
            mcp_json_set(&states, r->task->state[k], band);
        }
        mcp_json_set(&root, "samples", json_integer(f->samples));
        mcp_json_set(&root, "bands", states);
        st = mcp_store_json(it, "forecast.json", root, err);
    }
    mcp_free(path);
    mcp_free(column);
    return st;
}

static mcp_status read_bands(const mcp_run *r, mcp_run_item *it, const json_t *root, mcp_error *err)
{
    mcp_forecast *f = it->forecast;
    double       *column = mcp_calloc((size_t)f->samples, sizeof *column);
    mcp_status st =
        column ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory for its forecast", it->folder);
    for (int k = 0; st == MCP_OK && k < f->nx; k++) {
        const json_t *band = json_object_get(json_object_get(root, "bands"), r->task->state[k]);
        const struct {
            const char *name;
            double *v;
        } q[] = {{"p05", f->low}, {"p50", f->median}, {"p95", f->high}};
        for (int j = 0; st == MCP_OK && j < 3; j++) {
            if (!mcp_json_get_numbers(band, q[j].name, f->samples, column))
                st = mcp_fail(err, MCP_ERR_IO,
                              "%s/forecast.json: %s of state %s are not %d numbers; the file is damaged",
                              it->folder, q[j].name, r->task->state[k], f->samples);
            for (int i = 0; i < f->samples; i++) q[j].v[i * f->nx + k] = column[i];
        }
    }
    mcp_free(column);
    return st;
}

/* The particles kept for plotting; a missing or damaged file only means there are none. */
static void read_particles(mcp_run_item *it)
{
    mcp_forecast *f = it->forecast, *g = NULL;
    int           dims, shape[MCP_NPY_DIMS];
    double       *value = NULL;
    char         *path = mcp_sprintf("%s/particles.npy", it->folder);
    if (path && mcp_npy_read(path, &dims, shape, &value, NULL) == MCP_OK && dims == 3 &&
        shape[0] == f->samples && shape[2] == f->nx &&
        mcp_forecast_alloc(&g, f->samples, f->nx, shape[1], NULL) == MCP_OK) {
        size_t n = (size_t)f->samples * (size_t)f->nx;
        memcpy(g->low, f->low, n * sizeof *g->low);
        memcpy(g->median, f->median, n * sizeof *g->median);
        memcpy(g->high, f->high, n * sizeof *g->high);
        memcpy(g->states, value, n * (size_t)shape[1] * sizeof *value);
        g->cost = f->cost;
        g->cost_std = f->cost_std;
        g->success = f->success;
        g->limit = f->limit;
        mcp_forecast_free(f);
        it->forecast = g;
    }
    mcp_free(value);
    mcp_free(path);
}

mcp_status mcp_load_forecast(const mcp_run *r, mcp_run_item *it, mcp_error *err)
{
    json_t    *root;
    mcp_status st = mcp_load_json(it, "forecast.json", &root, err);
    if (st != MCP_OK || !root) return st;
    mcp_info_from_json(MCP_IN_FORECAST, root, &it->info);
    st = mcp_forecast_alloc(&it->forecast, r->system->steps + 1, r->system->nx, 0, err);
    if (st == MCP_OK) st = read_bands(r, it, root, err);
    if (st == MCP_OK) {
        it->forecast->cost = it->info.forecast_cost;
        it->forecast->cost_std = it->info.forecast_std;
        it->forecast->success = it->info.forecast_success;
        it->forecast->limit = it->info.forecast_limit;
        read_particles(it);
    } else {
        mcp_forecast_free(it->forecast);
        it->forecast = NULL;
    }
    json_decref(root);
    return st;
}

/* result.json */

mcp_status mcp_store_result(const mcp_run *r, const mcp_run_item *it, const double *coverage, mcp_error *err)
{
    if (!it->folder) return MCP_OK;
    json_t *root = mcp_info_to_json(MCP_IN_RESULT, &it->info);
    if (coverage) {
        json_t *states = json_object();
        for (int k = 0; k < r->system->nx; k++)
            mcp_json_set(&states, r->task->state[k],
                         mcp_json_numbers(MCP_WINDOWS, coverage + k * MCP_WINDOWS));
        mcp_json_set(&root, "coverage_by_quarter", states);
    }
    json_object_set_new(root, "diagnosis", mcp_diagnosis_to_json(&it->diagnosis));
    return mcp_store_json(it, "result.json", root, err);
}

mcp_status mcp_load_result(const mcp_run *r, mcp_run_item *it, mcp_error *err)
{
    (void)r;
    json_t    *root;
    mcp_status st = mcp_load_json(it, "result.json", &root, err);
    if (st == MCP_OK && root) {
        mcp_info_from_json(MCP_IN_RESULT, root, &it->info);
        mcp_diagnosis_from_json(&it->diagnosis, json_object_get(root, "diagnosis"));
        it->info.restored = 1;
    }
    json_decref(root);
    return st;
}
