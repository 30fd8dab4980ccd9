/* report_animation.c - trials and some particles as drawings: data for the player, and a strip of frames for
 * readers without JavaScript. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "embedded.h"
#include "math/arena.h"
#include "math/number.h"
#include "report/parts.h"
#include "report/scene.h"

enum { GHOSTS = 6, STRIP = 8, GHOST_SAMPLES = 200 };

/* The plant sets the view, particles may leave it. */
static json_t *trial_json(mcp_scene *s, const mcp_run *r, const mcp_run_item *it, double view[4])
{
    const int           nx = r->system->nx;
    const mcp_forecast *f = it->forecast;
    char                name[48], group[48];
    double             *real = mcp_run_outcome(it);
    if (!real) return NULL;
    view[0] = view[1] = INFINITY;
    view[2] = view[3] = -INFINITY;
    json_t *frames = mcp_scene_frames(s, it->trial->samples, real, nx, view), *ghosts = json_array();
    double  w = 0.1 * fmax(view[2] - view[0], view[3] - view[1]) + 1e-6;
    for (int i = 0; i < 4; i++) view[i] += i < 2 ? -w : w;
    for (int k = 0; f && f->states && k < f->kept && k < GHOSTS && f->samples <= GHOST_SAMPLES; k++)
        json_array_append_new(ghosts,
                              mcp_scene_frames(s, f->samples, f->states + k * nx, f->kept * nx, NULL));
    mcp_free(real);
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", mcp_item_name(it, name, sizeof name), "group",
                     mcp_item_group(it, group, sizeof group), "view", mcp_json_numbers(4, view), "real",
                     frames, "ghosts", ghosts);
}

/* Text that may stand in a <script>: "</" cannot end it. */
static char *script_text(json_t *data)
{
    char    *line = data ? mcp_json_compact(data, 5) : NULL, *out = NULL;
    mcp_text t = {0};
    for (const char *c = line; c && *c; c++) {
        if (*c == '/' && c > line && c[-1] == '<') mcp_text_bytes(&t, "\\/", 2);
        else mcp_text_bytes(&t, c, 1);
    }
    mcp_free(line);
    return mcp_text_take(&t, &out, NULL) == MCP_OK ? out : NULL;
}

/* Eight moments of the last trial, side by side. */
static void strip(mcp_text *out, mcp_scene *s, const mcp_run *r, const mcp_run_item *it, const double view[4])
{
    double *real = mcp_run_outcome(it);
    if (!real) return;
    mcp_html(out, mcp_embed_run_html, "strip-begin", NULL);
    for (int i = 0; i < STRIP; i++) {
        int       sample = i * (it->trial->samples - 1) / (STRIP - 1);
        mcp_slots q = {0};
        mcp_text  shapes = {0};
        char      box[120];
        mcp_scene_frame(s, real + (size_t)sample * (size_t)r->system->nx);
        mcp_scene_svg(s, 0, 0.02 * (view[2] - view[0]), &shapes);
        mcp_print(box, sizeof box, "%.3f %.3f %.3f %.3f", view[0], -view[3], view[2] - view[0],
                 view[3] - view[1]);
        mcp_slot_text(&q, "view", box);
        mcp_slot_text(&q, "shapes", shapes.data);
        mcp_slot_number(&q, "time", "%.2f", it->trial->t[sample]);
        mcp_html(out, mcp_embed_run_html, "strip-frame", &q);
        mcp_text_free(&shapes);
    }
    mcp_html(out, mcp_embed_run_html, "strip-end", NULL);
    mcp_free(real);
}

static void write_player(mcp_text *out, mcp_scene *s, const mcp_run *r)
{
    json_t   *trials = json_array();
    mcp_slots q = {0};
    double    view[4] = {0, 0, 1, 1};
    for (int i = 0; i < r->items; i++) {
        json_t *one = trial_json(s, r, r->item[i], view);
        if (one) json_array_append_new(trials, one);
    }
    json_t *data = json_pack("{s:f, s:o, s:o}", "ts", r->system->ts, "shapes", mcp_scene_shapes(s), "trials",
                             trials);
    char   *text = script_text(data);
    json_decref(data);
    out->failed |= !text;
    mcp_slot_text(&q, "data", text);
    mcp_html(out, mcp_embed_run_html, "animation", &q);
    mcp_free(text);
    strip(out, s, r, r->item[r->items - 1], view);
}

void mcp_report_animation(mcp_text *out, const mcp_run *r)
{
    mcp_error  err = {MCP_OK, ""};
    mcp_scene *s = NULL;
    if (!r->task->draws || !r->items) return;
    mcp_page_section(out, "animation", "Animation");
    if (mcp_scene_create(&s, r, &err) == MCP_OK) write_player(out, s, r);
    else mcp_page_note(out, "The drawing cannot be made: %s", err.text);
    mcp_scene_free(s);
    mcp_page_close(out);
}

/* A margin about what is drawn. */
static void widen(double view[4])
{
    double w = 0.1 * fmax(view[2] - view[0], view[3] - view[1]) + 1e-6;
    for (int i = 0; i < 4; i++) view[i] += i < 2 ? -w : w;
}

mcp_status mcp_figure_moments(mcp_text *out, const mcp_run *r, const mcp_run_item *it, mcp_error *err)
{
    mcp_scene *s = NULL;
    double     view[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY}, *real = mcp_run_outcome(it);
    mcp_status st = real ? mcp_scene_create(&s, r, err)
                         : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the figure");
    if (st == MCP_OK && !s)
        st = mcp_fail(err, MCP_ERR_ARG, "%s: its task has no draw: section, so there is nothing to show",
                      r->folder);
    if (st == MCP_OK) {
        json_decref(mcp_scene_frames(s, it->trial->samples, real, r->system->nx, view));
        widen(view);
        double w = view[2] - view[0], h = view[3] - view[1];
        mcp_text_add(out,
                     "<svg xmlns='http://www.w3.org/2000/svg' viewBox='%.4f %.4f %.4f %.4f' width='240' "
                     "height='%.0f'>\n<rect x='%.4f' y='%.4f' width='%.4f' height='%.4f' fill='#fff'/>\n",
                     view[0], -view[3], w, h, 240 * h / w, view[0], -view[3], w, h);
        for (int i = 0; i < STRIP; i++) {
            int sample = i * (it->trial->samples - 1) / (STRIP - 1);
            mcp_scene_frame(s, real + (size_t)sample * (size_t)r->system->nx);
            mcp_text_add(out, "<g opacity='%.2f'>", i == STRIP - 1 ? 1.0 : 0.1 + 0.3 * i / STRIP);
            mcp_scene_svg(s, 1, 0.01 * w, out);
            mcp_text_add(out, "</g>\n");
        }
        mcp_text_add(out, "</svg>\n");
    }
    mcp_scene_free(s);
    mcp_free(real);
    return st;
}

static mcp_status one_frame(mcp_scene *s, const double *state, const double view[4], mcp_text *out)
{
    double w = view[2] - view[0], h = view[3] - view[1];
    mcp_scene_frame(s, state);
    mcp_text_add(
        out,
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='%.4f %.4f %.4f %.4f' width='480' height='%.0f'>"
        "<rect x='%.4f' y='%.4f' width='%.4f' height='%.4f' fill='#fff'/>",
        view[0], -view[3], w, h, 2 * round(240 * h / w), view[0], -view[3], w, h);
    mcp_scene_svg(s, 1, 0.01 * w, out);
    mcp_text_add(out, "</svg>\n");
    return out->failed ? MCP_ERR_MEMORY : MCP_OK;
}

static mcp_status all_frames(mcp_scene *s, const mcp_run *r, const mcp_run_item *it, mcp_frame_fn *take,
                             void *context, double *rate, mcp_error *err)
{
    double     view[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY}, *real = mcp_run_outcome(it);
    int        each = (int)ceil(r->task->rate / 30), nx = r->system->nx;
    mcp_status st = real ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the animation");
    *rate = r->task->rate / each;
    if (st == MCP_OK) json_decref(mcp_scene_frames(s, it->trial->samples, real, nx, view));
    widen(view);
    for (int k = 0; st == MCP_OK && k * each < it->trial->samples; k++) {
        mcp_text out = {0};
        st = one_frame(s, real + (size_t)(k * each) * (size_t)nx, view, &out);
        if (st == MCP_OK) st = take(context, k, out.data, err);
        else mcp_fail(err, st, "out of memory for the animation");
        mcp_text_free(&out);
    }
    mcp_free(real);
    return st;
}

mcp_status mcp_report_frames(const char *folder, int number, mcp_frame_fn *take, void *context, double *rate,
                             mcp_error *err)
{
    mcp_run      *r = NULL;
    mcp_run_item *it;
    mcp_scene    *s = NULL;
    mcp_status    st = mcp_open_trial(&r, &it, folder, number, err);
    if (st != MCP_OK) return st;
    if ((st = mcp_scene_create(&s, r, err)) == MCP_OK && !s)
        st = mcp_fail(err, MCP_ERR_ARG, "%s: its task has no draw: section, so there is nothing to show",
                      folder);
    if (st == MCP_OK) st = all_frames(s, r, it, take, context, rate, err);
    mcp_scene_free(s);
    mcp_run_free(r);
    return st;
}
