/* mujoco.c - a plant simulated by MuJoCo. plant.map says what each state and input is in the model:
 *   state:  "joint NAME position" | "joint NAME velocity" (hinge and slide joints), "sensor NAME [INDEX]"
 *     (read only)
 *   input:  "actuator NAME"
 * A sample is a whole number of the model's time steps. */
#include "plant/plant_parts.h"

#ifndef MCP_HAVE_MUJOCO

mcp_status mcp_mujoco_plant(const mcp_system *s, mcp_plant_ops *ops, void **context, mcp_error *err)
{
    (void)ops;
    (void)context;
    return mcp_fail(
        err, MCP_ERR_PLANT,
        "%s: this build has no MuJoCo; install libmujoco-dev (MuJoCo 2.2 or later) and build again with "
        "-DMCP_MUJOCO=ON",
        s->task->file);
}

#else

#include <math.h>
#include <mujoco/mujoco.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "math/arena.h"
#include "math/number.h"
#include "plant/sensor.h"
#include "plant/path.h"

typedef enum { FROM_POSITION, FROM_VELOCITY, FROM_SENSOR } source;

typedef struct {
    const mcp_system *system;
    mjModel          *model;
    mjData           *data;
    int               substeps, sample;
    source            from[MCP_MAX_STATE];
    int               address[MCP_MAX_STATE]; /* in qpos, qvel or sensordata */
    int               actuator[MCP_MAX_INPUT];
    mcp_runner        delay;
    mcp_sensor        sensor;
} mujoco_plant;

/* MuJoCo's own handler ends the process. This one notes the text for the thread that called, and MuJoCo goes
 * on: the trial ends before its next time step. Models are checked before they run, so that what is left is
 * memory; see room_for_all. */
static _Thread_local char trouble[256];
static pthread_mutex_t loading =
    PTHREAD_MUTEX_INITIALIZER; /* MuJoCo's handlers and its XML reader are global */

static void note_error(const char *text)
{
    snprintf(trouble, sizeof trouble, "%s", text);
}

static void note_warning(const char *text)
{
    (void)text; /* counted in mjData.warning, looked at after each sample */
}

static mcp_status map_state(mujoco_plant *p, int i, const mcp_named_expr *m, mcp_error *err)
{
    const char *file = p->system->task->file, *text = m->expr.text;
    char        what[16], name[128], part[16] = "";
    int         line = m->expr.at.line, index = 0;

    if (sscanf(text, "%15s %127s %15s", what, name, part) >= 2 && !strcmp(what, "joint")) {
        int j = mj_name2id(p->model, mjOBJ_JOINT, name);
        if (j < 0)
            return mcp_fail(err, MCP_ERR_TASK, "%s:%d: plant.map: %s: the model has no joint named \"%s\"",
                            file, line, m->name, name);
        if (p->model->jnt_type[j] != mjJNT_HINGE && p->model->jnt_type[j] != mjJNT_SLIDE)
            return mcp_fail(err, MCP_ERR_TASK,
                            "%s:%d: plant.map: %s: joint \"%s\" is not a hinge or slide joint", file, line,
                            m->name, name);
        if (!strcmp(part, "position")) {
            p->from[i] = FROM_POSITION;
            p->address[i] = p->model->jnt_qposadr[j];
        } else if (!strcmp(part, "velocity")) {
            p->from[i] = FROM_VELOCITY;
            p->address[i] = p->model->jnt_dofadr[j];
        } else
            return mcp_fail(err, MCP_ERR_TASK,
                            "%s:%d: plant.map: %s: expected \"joint %s position\" or \"joint %s velocity\"",
                            file, line, m->name, name, name);
        return MCP_OK;
    }
    if (sscanf(text, "%15s %127s %d", what, name, &index) >= 2 && !strcmp(what, "sensor")) {
        int s = mj_name2id(p->model, mjOBJ_SENSOR, name);
        if (s < 0)
            return mcp_fail(err, MCP_ERR_TASK, "%s:%d: plant.map: %s: the model has no sensor named \"%s\"",
                            file, line, m->name, name);
        if (index < 0 || index >= p->model->sensor_dim[s])
            return mcp_fail(err, MCP_ERR_TASK,
                            "%s:%d: plant.map: %s: sensor \"%s\" has %d values, counted from 0", file, line,
                            m->name, name, p->model->sensor_dim[s]);
        p->from[i]    = FROM_SENSOR;
        p->address[i] = p->model->sensor_adr[s] + index;
        return MCP_OK;
    }
    return mcp_fail(err, MCP_ERR_TASK,
                    "%s:%d: plant.map: %s: \"%s\" is not \"joint NAME position\", \"joint NAME velocity\" or "
                    "\"sensor NAME\"",
                    file, line, m->name, text);
}

static mcp_status map_input(mujoco_plant *p, int i, const mcp_named_expr *m, mcp_error *err)
{
    const char *file = p->system->task->file;
    char        what[16], name[128];
    if (sscanf(m->expr.text, "%15s %127s", what, name) != 2 || strcmp(what, "actuator"))
        return mcp_fail(err, MCP_ERR_TASK, "%s:%d: plant.map: %s: \"%s\" is not \"actuator NAME\"", file,
                        m->expr.at.line, m->name, m->expr.text);
    p->actuator[i] = mj_name2id(p->model, mjOBJ_ACTUATOR, name);
    if (p->actuator[i] < 0)
        return mcp_fail(err, MCP_ERR_TASK, "%s:%d: plant.map: %s: the model has no actuator named \"%s\"",
                        file, m->expr.at.line, m->name, name);
    return MCP_OK;
}

static mcp_status map_names(mujoco_plant *p, mcp_error *err)
{
    const mcp_task *task = p->system->task;
    mcp_status      st;
    memset(p->address, -1, sizeof p->address);
    memset(p->actuator, -1, sizeof p->actuator);
    for (int k = 0; k < task->plant.maps; k++) {
        const mcp_named_expr *m = &task->plant.map[k];
        int state = mcp_task_find_state(task, m->name), input = mcp_task_find_input(task, m->name);
        if (state < 0 && input < 0)
            return mcp_fail(err, MCP_ERR_TASK,
                            "%s:%d: plant.map: %s is neither a state nor an input of the task", task->file,
                            m->expr.at.line, m->name);
        st = state >= 0 ? map_state(p, state, m, err) : map_input(p, input, m, err);
        if (st != MCP_OK) return st;
    }
    for (int i = 0; i < mcp_task_moving(task); i++)
        if (p->address[i] < 0)
            return mcp_fail(err, MCP_ERR_TASK, "%s: plant.map says nothing about state %s", task->file,
                            task->state[i]);
    for (int i = 0; i < task->nu; i++)
        if (p->actuator[i] < 0)
            return mcp_fail(err, MCP_ERR_TASK, "%s: plant.map says nothing about input %s", task->file,
                            task->input[i].name);
    return MCP_OK;
}

static void read_state(mujoco_plant *p, double *x)
{
    for (int i = 0; i < mcp_task_moving(p->system->task); i++) {
        const mjtNum *from = p->from[i] == FROM_POSITION   ? p->data->qpos
                             : p->from[i] == FROM_VELOCITY ? p->data->qvel
                                                           : p->data->sensordata;
        x[i] = from[p->address[i]];
    }
}

static mcp_status measure(mujoco_plant *p, mcp_sample *s, mcp_error *err)
{
    const mcp_task *task = p->system->task;
    if (trouble[0])
        return mcp_fail(err, MCP_ERR_PLANT,
                        "%s: MuJoCo stopped before sample %d: %s; try the model in MuJoCo's own viewer",
                        task->plant.model, p->sample, trouble);
    if (p->data->warning[mjWARN_BADQPOS].number || p->data->warning[mjWARN_BADQVEL].number ||
        p->data->warning[mjWARN_BADQACC].number)
        return mcp_fail(
            err, MCP_ERR_PLANT,
            "%s: MuJoCo's simulation became unstable before sample %d; a smaller time step in the "
            "model's <option> usually helps",
            task->plant.model, p->sample);
    s->time = p->sample * p->system->ts;
    read_state(p, s->truth);
    mcp_sensor_read(&p->sensor, s->truth, s->measured);
    return MCP_OK;
}

static mcp_status mujoco_reset(void *context, const double *x0, uint64_t seed, uint32_t trial, uint32_t run,
                               mcp_sample *first, mcp_error *err)
{
    mujoco_plant *p = context;
    trouble[0] = 0;
    mj_resetData(p->model, p->data);
    for (int i = 0; i < mcp_task_moving(p->system->task); i++) {
        if (p->from[i] == FROM_POSITION) p->data->qpos[p->address[i]] = x0[i];
        if (p->from[i] == FROM_VELOCITY) p->data->qvel[p->address[i]] = x0[i];
    }
    mj_forward(p->model, p->data);
    p->sample = 0;
    mcp_sensor_reset(&p->sensor, seed, trial, run);
    return measure(p, first, err);
}

static mcp_status mujoco_step(void *context, const double *u, mcp_sample *next, mcp_error *err)
{
    mujoco_plant *p = context;
    size_t        bytes = (size_t)p->system->nu * sizeof(double);
    trouble[0] = 0;
    memcpy(p->delay.in, u, bytes);
    mcp_runner_step(&p->delay, NULL, p->sample == 0);
    memcpy(next->applied, p->delay.out, bytes);
    for (int i = 0; i < p->system->nu; i++) p->data->ctrl[p->actuator[i]] = next->applied[i];
    for (int k = 0; k < p->substeps && !trouble[0]; k++) mj_step(p->model, p->data);
    for (int i = 0; i < mcp_task_moving(p->system->task) && !trouble[0]; i++)
        if (p->from[i] == FROM_SENSOR) {
            mj_forward(p->model, p->data); /* sensors show the state before the last step until then */
            break;
        }
    p->sample++;
    return measure(p, next, err);
}

static mcp_status mujoco_stop(void *context, const double *safe_u, mcp_error *err)
{
    (void)context, (void)safe_u, (void)err;
    return MCP_OK;
}

static void mujoco_destroy(void *context)
{
    mujoco_plant *p = context;
    if (!p) return;
    if (p->data) mj_deleteData(p->data);
    if (p->model) mj_deleteModel(p->model);
    mcp_runner_free(&p->delay);
    mcp_sensor_free(&p->sensor);
    mcp_free(p);
}

/* With its stack full, MuJoCo would go on past the end of it. A model that asks for a small one gets what
 * MuJoCo takes by itself for the most constraints that the model may have, so that it cannot fill. */
static void room_for_all(mjModel *m)
{
#if mjVERSION_HEADER < 230 /* later versions have one size for everything */
    const double rows = (double)m->njmax + m->neq + m->nv, sizes = (double)m->nq + m->nv + m->nu + m->na +
                                                                   m->nbody + m->njnt + m->ngeom + m->nsite +
                                                                   m->neq + m->ntendon + m->nwrap;
    const double need = 5 * rows * rows + 20 * sizes,
                 most = 1 << 27; /* 1 GB, of which only what is used becomes real */
    if (need <= most && m->nstack < need) m->nstack = (int)need;
#else
    (void)m;
#endif
}

static mcp_status load(mujoco_plant *p, mcp_error *err)
{
    const mcp_task *task = p->system->task;
    char            why[400] = "";
    char           *path = mcp_path_beside(task->file, task->plant.model);
    if (!path) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a MuJoCo plant");
    trouble[0] = 0;
    pthread_mutex_lock(&loading);
    if (!mju_user_error) mju_user_error = note_error;
    if (!mju_user_warning) mju_user_warning = note_warning;
    locale_t before = mcp_locale_plain(); /* it reads numbers by itself */
    p->model = mj_loadXML(path, NULL, why, sizeof why);
    mcp_locale_restore(before);
    pthread_mutex_unlock(&loading);
    for (char *c = why; *c; c++)
        if (*c == '\n') *c = ' ';
    if (p->model && !trouble[0]) {
        room_for_all(p->model);
        p->data = mj_makeData(p->model);
    }
    mcp_status st = MCP_OK;
    if (!p->model || !p->data || trouble[0])
        st = mcp_fail(err, MCP_ERR_PLANT, "%s: MuJoCo cannot load the model: %s", path,
                      why[0] ? why : trouble);
    mcp_free(path);
    return st;
}

static mcp_status prepare(mujoco_plant *p, mcp_error *err)
{
    const mcp_task *task = p->system->task;
    mcp_status      st;
    if ((st = load(p, err)) != MCP_OK) return st;
    double dt = p->model->opt.timestep, ratio = p->system->ts / dt;
    p->substeps = (int)lround(ratio);
    if (p->substeps < 1 || fabs(ratio - p->substeps) > 1e-6 * ratio)
        return mcp_fail(
            err, MCP_ERR_TASK,
            "%s: the model's time step of %.9g s does not divide the sample time of %.9g s (rate: %g); set "
            "<option timestep=\"%.12g\"/> in the model",
            task->file, dt, p->system->ts, task->rate, p->system->ts / ceil(ratio));
    if ((st = map_names(p, err)) != MCP_OK) return st;
    if ((st = mcp_runner_create(&p->delay, p->system->actuator, err)) != MCP_OK) return st;
    return mcp_sensor_create(&p->sensor, task, err);
}

mcp_status mcp_mujoco_plant(const mcp_system *s, mcp_plant_ops *ops, void **context, mcp_error *err)
{
    mujoco_plant *p = mcp_calloc(1, sizeof *p);
    if (!p) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a MuJoCo plant");
    p->system = s;
    mcp_status st = prepare(p, err);
    if (st != MCP_OK) {
        mujoco_destroy(p);
        return st;
    }
    *ops     = (mcp_plant_ops){mujoco_reset, mujoco_step, mujoco_stop, mujoco_destroy};
    *context = p;
    return MCP_OK;
}

#endif
