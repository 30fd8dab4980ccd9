/* scene.c - evaluate the task's draw: section. */
#include "report/scene.h"

#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "report/html.h"
#include "task/task_builder.h"

enum { NUMBERS = 5 };

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

struct mcp_scene {
    const mcp_run *run;
    mcp_program   *program; /* states -> all numbers of a frame */
    double        *work, *frame;
    int            count;
};

static const shape_kind *kind_of(const mcp_task_draw *d)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].kind, d->kind)) return &kinds[i];
    return NULL;
}

static const mcp_named_expr *argument(const mcp_task_draw *d, const char *name)
{
    for (int i = 0; i < d->args.n; i++)
        if (!strcmp(d->args.item[i].name, name)) return &d->args.item[i];
    return NULL;
}

/* A point in space to a point of the drawing: turned by 35 degrees about z, then looked at from 25 degrees
 * above. axis: 0 to the right, 1 upwards. */
static char *projected(const mcp_task_draw *d, int second, int axis)
{
    static const char *const names[2][3] = {{"x", "y", "z"}, {"x2", "y2", "z2"}};
    const char              *text[3];
    for (int i = 0; i < 3; i++) {
        const mcp_named_expr *a = argument(d, names[second][i]);
        text[i] = a ? a->expr.text : "0";
    }
    return axis ? mcp_sprintf("0.906*(%s) + 0.423*(0.574*(%s) + 0.819*(%s))", text[2], text[0], text[1])
                : mcp_sprintf("0.819*(%s) - 0.574*(%s)", text[0], text[1]);
}

/* A number of a shape as an expression, "" when the task leaves it out; mcp_free it. */
static char *number_text(const mcp_task_draw *d, const mcp_named_expr *a, const char *name, int second)
{
    int point = name[0] == 'x' || name[0] == 'y';
    if (point && (argument(d, "z") || argument(d, "z2"))) return projected(d, second, name[0] == 'y');
    return mcp_strdup(a ? a->expr.text : "");
}

static mcp_status add_shape(mcp_builder *b, const mcp_task_draw *d, int index, mcp_error *err)
{
    const shape_kind *k = kind_of(d);
    mcp_status        st = k ? MCP_OK : mcp_fail(err, MCP_ERR_TASK, "draw: unknown shape \"%s\"", d->kind);
    for (int i = 0; k && i < k->count && st == MCP_OK; i++) {
        const mcp_named_expr *a = argument(d, k->arg[i]);
        char                  name[33] = "@", *text = number_text(d, a, k->arg[i], i >= 2);
        snprintf(name + 1, sizeof name - 1, "shape%d_%d", index, i);
        if (!text) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the animation");
        else if (!*text) st = mcp_builder_constant(b, name, k->otherwise[i], err);
        if (st == MCP_OK)
            st = mcp_builder_output(b, name + 1, *text ? text : name, a ? a->expr.at : (mcp_where){0}, err);
        mcp_free(text);
    }
    return st;
}

static mcp_status compile(mcp_scene *s, mcp_error *err)
{
    const mcp_task *t = s->run->task;
    mcp_builder    *b = NULL;
    mcp_status      st = mcp_task_builder(&b, t, err);
    if (st == MCP_OK) st = mcp_task_builder_states(b, t, err);
    for (int i = 0; i < t->draws && st == MCP_OK; i++) st = add_shape(b, &t->draw[i], i, err);
    if (st == MCP_OK) st = mcp_builder_finish(b, &s->program, err);
    mcp_builder_free(b);
    if (st != MCP_OK) return st;
    s->count = mcp_program_outputs(s->program);
    s->work  = mcp_calloc(mcp_program_work(s->program) + 1, sizeof *s->work);
    s->frame = mcp_calloc((size_t)s->count + 1, sizeof *s->frame);
    return s->work && s->frame ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the animation");
}

mcp_status mcp_scene_create(mcp_scene **out, const mcp_run *run, mcp_error *err)
{
    *out = NULL;
    if (!run->task->draws) return MCP_OK;
    mcp_scene *s = mcp_calloc(1, sizeof *s);
    if (!s) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the animation");
    s->run        = run;
    mcp_status st = compile(s, err);
    if (st == MCP_OK) *out = s;
    else mcp_scene_free(s);
    return st;
}

void mcp_scene_free(mcp_scene *s)
{
    if (!s) return;
    mcp_program_free(s->program);
    mcp_free(s->work);
    mcp_free(s->frame);
    mcp_free(s);
}

const double *mcp_scene_frame(mcp_scene *s, const double *state)
{
    double none[1] = {0};
    mcp_program_step(s->program, none, 1, state, none, s->frame, s->work);
    for (int i = 0; i < s->count; i++)
        if (!isfinite(s->frame[i])) s->frame[i] = 0.0;
    return s->frame;
}

int mcp_scene_count(const mcp_scene *s) { return s->count; }

json_t *mcp_scene_shapes(const mcp_scene *s)
{
    static const char *const colours[] = {"--c-ink", "--c2", "--c1", "--c3", "--c4"};
    json_t                  *list = json_array();
    for (int i = 0; i < s->run->task->draws; i++) {
        const mcp_task_draw *d = &s->run->task->draw[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:o, s:o}", "kind", d->kind, "colour",
                                        mcp_json_text(d->color && *d->color ? d->color : colours[i % 5]),
                                        "text", mcp_json_text(d->label ? d->label : "")));
    }
    return list;
}

static void grow(double view[4], double x, double y, double margin)
{
    view[0] = fmin(view[0], x - margin);
    view[1] = fmin(view[1], y - margin);
    view[2] = fmax(view[2], x + margin);
    view[3] = fmax(view[3], y + margin);
}

/* Widens the view by the frame just evaluated. */
static void look(const mcp_scene *s, double view[4])
{
    const double *v = s->frame;
    for (int i = 0; i < s->run->task->draws; i++) {
        const shape_kind *k = kind_of(&s->run->task->draw[i]);
        double margin = k->count == 3 ? fabs(v[2]) : k->count == 5 ? 0.5 * fmax(fabs(v[2]), fabs(v[3])) : 0;
        grow(view, v[0], v[1], margin);
        for (int j = 2; (k->count == 4 || k->count == 8) && j < k->count; j += 2)
            grow(view, v[j], v[j + 1], 0);
        v += k->count;
    }
}

static double four_digits(double v)
{
    double unit = pow(10, floor(log10(fabs(v) + 1e-300)) - 3);
    return fabs(v) < 1e-9 ? 0.0 : round(v / unit) * unit;
}

json_t *mcp_scene_frames(mcp_scene *s, int samples, const double *states, int stride, double view[4])
{
    json_t *list = json_array();
    for (int i = 0; i < samples; i++) {
        json_t       *one = json_array();
        const double *v = mcp_scene_frame(s, states + (size_t)i * (size_t)stride);
        for (int k = 0; k < s->count; k++) json_array_append_new(one, json_real(four_digits(v[k])));
        json_array_append_new(list, one);
        if (view) look(s, view);
    }
    return list;
}

/* Stroke or fill: a class of the page's style, or a plain colour. */
static const char *paint(char *buf, size_t size, const mcp_task_draw *d, int i, int filled, int standalone)
{
    static const char *const plain[] = {"#222222", "#c8501e", "#2463b0", "#1f8a5b", "#8a4fb5"};
    static const char *const class[] = {"ink", "c2", "c1", "c3", "c4"};
    if (!standalone) snprintf(buf, size, "class='%s %s'", class[i % 5], filled ? "f" : "s");
    else
        snprintf(buf, size, "%s='%s' %s='none'", filled ? "fill" : "stroke",
                 d->color && d->color[0] == '#' ? d->color : plain[i % 5], filled ? "stroke" : "fill");
    return buf;
}

void mcp_scene_svg(const mcp_scene *s, int standalone, double width, mcp_text *out)
{
    const double *v = s->frame;
    for (int i = 0; i < s->run->task->draws; i++) {
        const mcp_task_draw *d = &s->run->task->draw[i];
        const shape_kind    *k = kind_of(d);
        char                 how[96];
        paint(how, sizeof how, d, i, k->count == 3, standalone);
        if (k->count == 4)
            mcp_text_add(out,
                         "<path %s stroke-width='%.4f' stroke-linecap='round' d='M%.4f %.4fL%.4f %.4f'/>",
                         how, width, v[0], -v[1], v[2], -v[3]);
        if (k->count == 3)
            mcp_text_add(out, "<circle %s cx='%.4f' cy='%.4f' r='%.4f'/>", how, v[0], -v[1], fabs(v[2]));
        if (k->count == 5)
            mcp_text_add(out,
                         "<rect %s stroke-width='%.4f' x='%.4f' y='%.4f' width='%.4f' height='%.4f' "
                         "transform='rotate(%.1f %.4f %.4f)'/>",
                         how, 0.7 * width, v[0] - v[2] / 2, -v[1] - v[3] / 2, v[2], v[3],
                         -v[4] * 180 / acos(-1), v[0], -v[1]);
        v += k->count;
    }
}
