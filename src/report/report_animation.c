/* report_animation.c - the task's draw: section evaluated over trials and some particles: data for the
 * player, and a strip of frames for readers without JavaScript. */
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "report/parts.h"

enum { GHOSTS = 6, STRIP = 8, NUMBERS = 5 };

typedef struct {
    const char *kind;
    int         count;
    const char *arg[NUMBERS];
    double      otherwise[NUMBERS]; /* of an argument the task leaves out */
} shape_kind;

static const shape_kind kinds[] = {
    {"line", 4, {"x", "y", "x2", "y2"}, {0}},
    {"circle", 3, {"x", "y", "r"}, {0, 0, 0.02}},
    {"rectangle", 5, {"x", "y", "width", "height", "angle"}, {0, 0, 0.1, 0.1, 0}},
    {"text", 2, {"x", "y"}, {0}},
};

static const shape_kind *kind_of(const mcp_task_draw *d)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].kind, d->kind)) return &kinds[i];
    return NULL;
}

typedef struct {
    const mcp_run *run;
    mcp_program   *program; /* states -> all numbers of a frame */
    double        *work, *frame;
    int            count;
    double         view[4]; /* x0 y0 x1 y1, of the trial just written */
} scene;

static const mcp_named_expr *argument(const mcp_task_draw *d, const char *name)
{
    for (int i = 0; i < d->args.n; i++)
        if (!strcmp(d->args.item[i].name, name)) return &d->args.item[i];
    return NULL;
}

static mcp_status add_shape(mcp_builder *b, const mcp_task_draw *d, int index, mcp_error *err)
{
    const shape_kind *k = kind_of(d);
    mcp_status        st = k ? MCP_OK : mcp_fail(err, MCP_ERR_TASK, "draw: unknown shape \"%s\"", d->kind);
    for (int i = 0; k && i < k->count && st == MCP_OK; i++) {
        const mcp_named_expr *a = argument(d, k->arg[i]);
        char                  name[32], number[32];
        snprintf(name, sizeof name, "shape%d_%d", index, i);
        snprintf(number, sizeof number, "%.17g", k->otherwise[i]);
        st = mcp_builder_output(b, name, a ? a->expr.text : number, a ? a->expr.at : (mcp_where){0}, err);
    }
    return st;
}

static mcp_status compile(scene *s, mcp_error *err)
{
    const mcp_task *t = s->run->task;
    mcp_builder    *b = NULL;
    mcp_status      st = mcp_builder_create(&b, err);
    if (st == MCP_OK) st = mcp_builder_constant(b, "Ts", s->run->system->ts, err);
    for (int i = 0; i < t->nx && st == MCP_OK; i++) st = mcp_builder_input(b, t->state[i], err);
    for (int i = 0; i < t->constants.n && st == MCP_OK; i++)
        st = mcp_builder_define(b, t->constants.item[i].name, t->constants.item[i].expr.text,
                                t->constants.item[i].expr.at, err);
    for (int i = 0; i < t->draws && st == MCP_OK; i++) st = add_shape(b, &t->draw[i], i, err);
    if (st == MCP_OK) st = mcp_builder_finish(b, &s->program, err);
    mcp_builder_free(b);
    if (st != MCP_OK) return st;
    s->count = mcp_program_outputs(s->program);
    s->work  = mcp_calloc(mcp_program_work(s->program) + 1, sizeof *s->work);
    s->frame = mcp_calloc((size_t)s->count + 1, sizeof *s->frame);
    return s->work && s->frame ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the animation");
}

static void scene_free(scene *s)
{
    mcp_program_free(s->program);
    mcp_free(s->work);
    mcp_free(s->frame);
}

static void evaluate(scene *s, const double *state)
{
    double none[1] = {0};
    mcp_program_step(s->program, none, 1, state, none, s->frame, s->work);
}

static void grow(scene *s, double x, double y, double margin)
{
    if (!isfinite(x) || !isfinite(y)) return;
    s->view[0] = fmin(s->view[0], x - margin);
    s->view[1] = fmin(s->view[1], y - margin);
    s->view[2] = fmax(s->view[2], x + margin);
    s->view[3] = fmax(s->view[3], y + margin);
}

/* Widens the view by the frame just evaluated. */
static void look(scene *s)
{
    const double *v = s->frame;
    for (int i = 0; i < s->run->task->draws; i++) {
        const shape_kind *k = kind_of(&s->run->task->draw[i]);
        double margin = k->count == 3 ? fabs(v[2]) : k->count == 5 ? 0.5 * fmax(fabs(v[2]), fabs(v[3])) : 0;
        grow(s, v[0], v[1], margin);
        if (k->count == 4) grow(s, v[2], v[3], 0);
        v += k->count;
    }
}

static void frame_text(mcp_text *out, scene *s, const double *state)
{
    evaluate(s, state);
    mcp_text_add(out, "[");
    for (int i = 0; i < s->count; i++)
        mcp_text_add(out, "%s%.4g", i ? "," : "", isfinite(s->frame[i]) ? s->frame[i] : 0.0);
    mcp_text_add(out, "]");
}

static void trial_text(mcp_text *out, scene *s, const mcp_run_item *it)
{
    const int           nx = s->run->system->nx;
    const mcp_forecast *f = it->forecast;
    char                name[48];
    double             *real = mcp_run_outcome(it);
    if (!real) return;
    s->view[0] = s->view[1] = INFINITY;
    s->view[2] = s->view[3] = -INFINITY;
    mcp_text_add(out, "{\"name\":\"%s\",\"real\":[", mcp_item_name(it, name, sizeof name));
    for (int i = 0; i < it->trial->samples; i++) {
        mcp_text_add(out, i ? "," : "");
        frame_text(out, s, real + (size_t)i * (size_t)nx);
        look(s); /* the plant sets the view, particles may leave it */
    }
    double w = 0.1 * fmax(s->view[2] - s->view[0], s->view[3] - s->view[1]) + 1e-6;
    for (int i = 0; i < 4; i++) s->view[i] += i < 2 ? -w : w;
    mcp_text_add(out, "],\"view\":[%.4g,%.4g,%.4g,%.4g", s->view[0], s->view[1], s->view[2], s->view[3]);
    mcp_text_add(out, "],\"ghosts\":[");
    for (int k = 0; f && f->states && k < f->kept && k < GHOSTS; k++) {
        mcp_text_add(out, k ? ",[" : "[");
        for (int i = 0; i < f->samples; i++) {
            mcp_text_add(out, i ? "," : "");
            frame_text(out, s, f->states + ((size_t)i * (size_t)f->kept + (size_t)k) * (size_t)nx);
        }
        mcp_text_add(out, "]");
    }
    mcp_text_add(out, "]}");
    mcp_free(real);
}

static void shape_svg(mcp_text *out, const shape_kind *k, const double *v)
{
    if (k->count == 4)
        mcp_text_add(out, "<path class='ink s' stroke-width='.02' d='M%.3f %.3fL%.3f %.3f'/>", v[0], -v[1],
                     v[2], -v[3]);
    if (k->count == 3)
        mcp_text_add(out, "<circle class='c2 f' cx='%.3f' cy='%.3f' r='%.3f'/>", v[0], -v[1], fabs(v[2]));
    if (k->count == 5)
        mcp_text_add(out,
                     "<rect class='c1 s' stroke-width='.015' x='%.3f' y='%.3f' width='%.3f' height='%.3f' "
                     "transform='rotate(%.1f %.3f %.3f)'/>",
                     v[0] - v[2] / 2, -v[1] - v[3] / 2, v[2], v[3], -v[4] * 180 / acos(-1), v[0], -v[1]);
}

/* Eight moments of the last trial, side by side. */
static void strip(mcp_text *out, scene *s, const mcp_run_item *it)
{
    double *real = mcp_run_outcome(it);
    if (!real) return;
    mcp_text_add(
        out, "<div class='strip grid2' style='grid-template-columns:repeat(auto-fit,minmax(120px,1fr))'>");
    for (int i = 0; i < STRIP; i++) {
        int sample = i * (it->trial->samples - 1) / (STRIP - 1);
        evaluate(s, real + (size_t)sample * (size_t)s->run->system->nx);
        mcp_text_add(out, "<figure><svg viewBox='%.3f %.3f %.3f %.3f' width='130' height='110'>", s->view[0],
                     -s->view[3], s->view[2] - s->view[0], s->view[3] - s->view[1]);
        const double *v = s->frame;
        for (int d = 0; d < s->run->task->draws; d++) {
            const shape_kind *k = kind_of(&s->run->task->draw[d]);
            shape_svg(out, k, v);
            v += k->count;
        }
        mcp_text_add(out, "</svg><figcaption>%.2f s</figcaption></figure>", it->trial->t[sample]);
    }
    mcp_text_add(out, "</div>\n");
    mcp_free(real);
}

static void data_text(mcp_text *out, scene *s)
{
    static const char *const colours[] = {"--c-ink", "--c2", "--c1", "--c3", "--c4"};
    mcp_text                 trials = {0};
    for (int i = 0; i < s->run->items; i++) {
        if (i) mcp_text_add(&trials, ",");
        trial_text(&trials, s, s->run->item[i]);
    }
    mcp_text_add(out, "<script type='application/json' id='animation-data'>{\"ts\":%.17g,\"shapes\":[",
                 s->run->system->ts);
    for (int i = 0; i < s->run->task->draws; i++) {
        const mcp_task_draw *d = &s->run->task->draw[i];
        mcp_text_add(out, "%s{\"kind\":\"%s\",\"colour\":\"", i ? "," : "", d->kind);
        mcp_text_escaped(out, d->color && *d->color ? d->color : colours[i % 5]);
        mcp_text_add(out, "\",\"text\":\"");
        mcp_text_escaped(out, d->label);
        mcp_text_add(out, "\"}");
    }
    mcp_text_add(out, "],\"trials\":[%s]}</script>\n", trials.data ? trials.data : "");
    mcp_text_free(&trials);
}

void mcp_report_animation(mcp_text *out, const mcp_run *r)
{
    mcp_error err;
    scene     s = {.run = r};
    if (!r->task->draws || !r->items) return;
    mcp_page_section(out, "animation", "Animation");
    if (compile(&s, &err) == MCP_OK) {
        data_text(out, &s);
        mcp_text_add(
            out, "<p class='soft'>In colour the plant, in grey some of the particles that forecast it.</p>");
        mcp_page_player(out);
        strip(out, &s, r->item[r->items - 1]);
    } else {
        mcp_text_add(out, "<p>The drawing cannot be made: ");
        mcp_text_escaped(out, err.text);
        mcp_text_add(out, "</p>");
    }
    scene_free(&s);
    mcp_page_close(out);
}
