/* task_data.h - a task file in memory: plain data with the place every expression came from. Nothing is
 * compiled here; control/system.h turns it into programs. Sizes are bounded so that products cannot overflow.
 */
#ifndef MCP_TASK_DATA_H
#define MCP_TASK_DATA_H

#include <stdint.h>

#include "mcpilco/error.h"
#include "mcpilco/gp.h"
#include "mcpilco/task.h"
#include "model/posterior.h"
#include "program/program.h"

enum { MCP_MAX_STATE = 64, MCP_MAX_INPUT = 16, MCP_MAX_FEATURE = 128, MCP_MAX_LIST = 64 };
enum { MCP_MAX_RANDOM = 32 }; /* random numbers of a plant */
/* Steps of a trial: the time of a random number has 16 bits, and one more sample than steps. */
enum { MCP_MAX_STEPS = 65534 };

/* An expression and where it stands; text == NULL means absent. */
typedef struct {
    char     *text;
    mcp_where at; /* file points to the task's own copy of the name */
} mcp_expr;

typedef struct {
    char    *name;
    mcp_expr expr;
} mcp_named_expr;

typedef struct {
    int             n;
    mcp_named_expr *item;
} mcp_expr_list;

/* A number that is drawn anew for every trial. */
typedef struct {
    char  *name;
    int    uniform; /* 1: low and high, 0: mean and std */
    double low, high, mean, std;
} mcp_task_random;

typedef struct {
    int              n;
    mcp_task_random *item;
} mcp_random_list;

typedef struct {
    char  *name, *unit;
    double low, high; /* low <= u <= high, in the input's own unit */
    double slew;  /* largest change per second; 0 = none   */
    int    delay; /* actuator delay, whole samples         */
} mcp_task_input;

typedef struct {
    char  *name;    /* a state's name, or a sensor's own           */
    char  *unit;    /* as the file says; NULL: the state's         */
    int    state;   /* index of it; -1: what it shows is `of`      */
    int    sensor;  /* in `seen`: index in `measured`; -1: computed from measurements, `from` */
    mcp_expr of;    /* a sensor of its own: expression of the state */
    mcp_expr from;  /* a state that sensors tell: expression of the measurements y_NAME */
    double noise;   /* standard deviation                          */
    double quantum; /* resolution: y = floor(q/d + 1/2) d; 0 = none */
    int    delay;   /* sensor delay, whole samples                 */
    int    angle;   /* 1: the sensor wraps at +-pi; it is unwrapped on arrival */
    double most;    /* largest magnitude that can be; 0 = judged by the data */
} mcp_task_channel;

typedef enum {
    MCP_OBSERVER_NONE = 0,
    MCP_OBSERVER_DIFFERENCE,
    MCP_OBSERVER_KALMAN,
    MCP_OBSERVER_CUSTOM,
    MCP_OBSERVER_AUTO /* a filter of backward differences whose gains the exploration decides */
} mcp_observer_type;
typedef struct {
    mcp_observer_type type;
    double            lowpass;      /* DIFFERENCE: cut-off as a fraction of Nyquist, 0 = no filter */
    int               order;        /* of the Butterworth low-pass */
    int               acceleration; /* KALMAN: 0 constant velocity, 1 constant acceleration */
    int               steady;       /* KALMAN: steady gains instead of time-varying */
    double *drive; /* KALMAN: per measured channel, standard deviation of the white acceleration (jerk) */
    double *noise; /* KALMAN: per channel, assumed measurement deviation; 0 = the channel's own noise */
    double *gains; /* KALMAN: per channel {position, velocity[, acceleration]} fixed by the user; NULL =
                      computed */
    mcp_expr_list memory_start, memory_next, output; /* CUSTOM: output names are state names */
} mcp_task_observer;

typedef enum {
    MCP_SMOOTHER_NONE = 0,
    MCP_SMOOTHER_CENTRAL,
    MCP_SMOOTHER_BUTTERWORTH,
    MCP_SMOOTHER_SAVGOL,
    MCP_SMOOTHER_KALMAN,
    MCP_SMOOTHER_DIFFERENCE, /* velocities are backward differences, in the model too */
    MCP_SMOOTHER_TRAPEZOID,  /* measured positions along the sums of their measured velocities */
    MCP_SMOOTHER_AUTO        /* as DIFFERENCE, the GPs told the exact covariance of the sensor's noise */
} mcp_smoother_type;
typedef struct {
    mcp_smoother_type type;
    double            cutoff; /* BUTTERWORTH: fraction of Nyquist */
    int               order;  /* BUTTERWORTH, SAVGOL: order of filter or polynomial */
    int               window; /* SAVGOL: samples, odd */
    int refine; /* CENTRAL: velocities are freed of what a first model says the difference mixes in */
    int match_inputs; /* CENTRAL: changes are paired with the mean of the inputs that they mix */
    double           *drive;  /* KALMAN: per measured channel, white-acceleration deviation */
    double           *noise;  /* KALMAN: per measured channel, measurement deviation; 0 = the channel's own */
} mcp_task_smoother;

typedef enum { MCP_GP_VELOCITY = 0, MCP_GP_CHANGE } mcp_gp_kind;
typedef struct {
    mcp_gp_kind kind;
    int position, state; /* VELOCITY: position index and velocity index; CHANGE: state index, position = -1 */
    mcp_expr    kernel;          /* in words of feature names or "pi(expr, ...)"; see control/system.h */
    mcp_expr    prior_mean;      /* expected change, expression of state and inputs; absent = 0 */
    double      noise_floor;     /* overrides model.noise_floor when > 0 */
} mcp_task_gp;

typedef enum { MCP_START_GAUSSIAN = 0, MCP_START_UNIFORM, MCP_START_MIXTURE } mcp_start_type;
typedef struct {
    mcp_start_type type;
    int            parts;      /* MIXTURE: components, each Gaussian; 1 otherwise */
    double        *weight;     /* parts */
    double        *mean, *std; /* parts x nx (GAUSSIAN, MIXTURE) */
    double        *low, *high; /* nx (UNIFORM) */
} mcp_task_start;

typedef enum {
    MCP_EXPLORE_UNIFORM = 0,
    MCP_EXPLORE_SINES,
    MCP_EXPLORE_TRIANGLE,
    MCP_EXPLORE_FILE
} mcp_explore_type;
typedef enum { MCP_SINES_SPREAD = 0, MCP_SINES_ZERO, MCP_SINES_RANDOM, MCP_SINES_CREST } mcp_sines_phase;
typedef struct {
    mcp_explore_type type;
    int              trials;    /* exploration trials before the first policy */
    double amplitude; /* fraction of half the input's range: of each sine, the triangle, the uniform range */
    int              sines;     /* SINES: how many */
    mcp_sines_phase  phase;     /* SINES: where in its period each one starts */
    double           low, high; /* SINES: frequency range in Hz; TRIANGLE: period range in s */
    int              own_band;  /* SINES: the task names no range: it follows how long a trial lasts */
    double           noise;     /* TRIANGLE: white noise, fraction of the limit */
    int              hold;      /* UNIFORM: samples each value is held */
    char            *file;      /* FILE: CSV with input names as header */
    mcp_task_start   start;     /* starts of exploration trials; parts == 0: as the task's start */
} mcp_task_explore;

typedef enum {
    MCP_PLANT_ODE = 0,
    MCP_PLANT_MUJOCO,
    MCP_PLANT_FILE,
    MCP_PLANT_EXEC,
    MCP_PLANT_UDP,
    MCP_PLANT_TCP,
    MCP_PLANT_SERIAL,
    MCP_PLANT_CALLBACK
} mcp_plant_type;
typedef struct {
    mcp_plant_type type;
    mcp_expr_list  let, ode;  /* ODE: helper definitions; derivative of each state, by state name */
    double         tolerance; /* ODE: relative and absolute tolerance of the integrator */
    /* ODE: states only the plant has (motor lag, flexible joint): name -> start, an expression of the start
     * state; their derivatives are in ode under the same names */
    mcp_expr_list   hidden;
    mcp_random_list random; /* ODE: constants of the plant, or names of its own, drawn for every trial */
    mcp_expr_list after;  /* ODE: optional: state reset after each sample, by state name (clamps) */
    char         *model;  /* MUJOCO: XML file, relative to the task file */
    mcp_named_expr *map;
    int             maps; /* MUJOCO: state or input name -> "joint hinge1 position" etc. */
    char          **argv;
    int             argc;    /* EXEC */
    char           *address; /* UDP, TCP: host:port; SERIAL: device */
    int             baud;
    int             paced;   /* wire plants: 1 = we keep time, 0 = lock-step */
    double          timeout; /* wire plants: s without an answer before the plant counts as lost */
    char           *file;    /* FILE: recorded trials */
} mcp_task_plant;

typedef struct {
    mcp_expr when; /* limit reached when true; expression of state and inputs */
    char    *name;
} mcp_task_limit;

/* Settings of one policy optimisation; the table in task/settings.c names, bounds and documents each. */
/* What runs in single precision while a policy is optimised: basis functions and GPs that pass their test;
 * basis functions; nothing. */
enum { MCP_PRECISION_AUTO = 0, MCP_PRECISION_MIXED, MCP_PRECISION_DOUBLE };
/* Units of a policy's parameters: what the data has visited, or those of the task file. */
enum { MCP_SCALING_DATA = 0, MCP_SCALING_NONE };

typedef struct {
    int    particles;
    int    steps_first, steps; /* most Adam steps in the first trial, later */
    double step_size;          /* Adam learning rate */
    double start_particles; /* share of the particles until the rate is first lowered */
    double step_size_min;      /* the optimisation ends when the rule would go below it */
    int    scaling;            /* MCP_SCALING_* */
    double dropout;
    int    stop_rule;      /* 0 plateau, 1 monitor, 2 schedule (fixed budget) */
    int    patience;       /* plateau: steps without gain */
    int    evaluate_every; /* plateau: steps between evaluations without dropout on the fixed noise set */
    double gain;           /* plateau: smallest relative gain that counts */
    double adjoint_clip;   /* per particle and step, 0 = none */
    double gradient_clip;  /* norm, 0 = none */
    int    evaluate_particles; /* of an evaluation, when more than particles */
    double success_weight; /* policies are compared by J (1 + w (1 - success rate of the particles)) */
    double success_margin; /* ... which must hold this much longer than asked (fraction of the window) */
    double stress;         /* factor on the noise of an evaluation */
    double incumbent_gain; /* a policy that worked is kept unless the predicted gain is larger (fraction) */
    double budget;         /* of computing, in gradients of all particles; 0: none */
    double horizon;        /* s, 0: the whole trial */
    double near_goal;      /* share of the particles that start near the goal */
    int    regulator;      /* a policy's linear part starts as what holds the goal on the model */
    int    incumbent;      /* 0: a policy that worked is treated like any other */
    int    candidates;     /* fresh policies tried beside the warm start */
    int    draws;          /* of the fresh policy of a second try, of which the cheapest is begun with */
    int second_try; /* from this trial on a fresh policy too when the warm start leads nowhere; 0: never */
    int    warm_start;
    int    antithetic;
    int    precision; /* MCP_PRECISION_* */
    int    block; /* particles a block, 0 = automatic */
    double beta1, beta2, epsilon;
    double weight_rate; /* learning-rate factor of rbf weights */
    int    evaluations, starts;          /* pilco: of the cost in a descent, fresh policies */
    int    generations, rollouts;        /* black-drops: generations a trial, particles a candidate */
} mcp_optimise_settings;

typedef struct {
    mcp_posterior_settings posterior;
    int             noisy;      /* 1: particles sample mean + sqrt(var + noise) */
    double correlation; /* share of the noise whose errors in neighbouring changes are correlated as the
                           smoother says; 0: white */
    int             rest;       /* 1: a goal that can be held is a datum (learn/rest.c) */
    int             self_check; /* 1: gradient of a few particles against the exact posterior's */
    mcp_gp_settings gp;
} mcp_model_settings;

typedef struct {
    char         *kind; /* "line", "circle", "rectangle", "text" */
    mcp_expr_list args; /* by name: x, y, x2, y2, r, width, height, angle */
    char         *color;
    char         *label; /* text: what is written */
} mcp_task_draw;

struct mcp_task {
    char                 *file, *name, *title, *source; /* source: the text of the file */
    char                **override;  /* the "key=value" texts it was loaded with, in order */
    int                   overrides;
    double                rate, trial;                  /* Hz, s */
    int                   trials;                       /* policy trials by default */
    int                   nx, nu, ny, ngp, nf;
    char                **state, **state_unit; /* names; units may be NULL entries */
    int                  *state_angle;         /* 1: an angle in rad, never wrapped */
    mcp_random_list       goals; /* the last states and channels: drawn for a trial, told to the policy */
    mcp_task_input       *input;
    mcp_task_channel     *measured; /* sensors, [ny] */
    /* States that sensors tell, what observers and smoothers work on: those that are measured themselves, and
     * those computed from what is (measured.NAME.from). Without such computed ones the same as `measured`. */
    mcp_task_channel     *seen;
    int                   nseen;
    mcp_task_observer     observer;
    mcp_task_smoother     smoother;
    mcp_expr_list         constants; /* name -> constant expression */
    mcp_expr_list         features;  /* GP features: expressions of states and inputs */
    mcp_task_gp          *gp;
    mcp_expr_list         known;        /* state name -> next value, expression of state and inputs */
    mcp_expr_list         let;          /* policy helpers */
    mcp_expr_list         policy;       /* one per input, by input name; names are state names as observed */
    mcp_expr              cost, metric; /* metric: second cost, reported only */
    int                   metric_at;    /* 0: summed over the trial, 1: its value at the last sample */
    mcp_task_start        start;
    mcp_task_explore      explore;
    mcp_expr              success;
    double                success_last; /* holds at all samples of the last s seconds */
    mcp_expr_list         safe;         /* safe input: none = zero, or one per input in their order */
    mcp_task_limit       *limit;
    int                   limits;
    mcp_task_plant        plant;
    mcp_model_settings    model;
    mcp_optimise_settings optimise;
    mcp_task_draw        *draw;
    int                   draws;
    uint64_t              seed;
    char                 *algorithm;
    const mcp_registry   *registry; /* a copy; NULL: none */
    struct mcp_task_memory       *bag;  /* the loader's: all memory above, freed at once */
    struct mcp_yaml      *tree; /* the loader's: every value with its defaults, for the dump */
};

/* 1: velocities that no sensor gives are backward differences, in the model too. */
static inline int mcp_smoother_is_backward(const mcp_task *t)
{
    return t->smoother.type == MCP_SMOOTHER_DIFFERENCE || t->smoother.type == MCP_SMOOTHER_AUTO;
}

/* The band of exploring sines that the task does not name, Hz: one to eight periods in what a trial lasts. */
void mcp_explore_band(const mcp_task *t, double lasts, double *low, double *high);

/* States that move and channels that a sensor gives; after them come the goals, in both lists. */
static inline int mcp_task_moving(const mcp_task *t)
{
    return t->nx - t->goals.n;
}
static inline int mcp_task_sensors(const mcp_task *t)
{
    return t->ny - t->goals.n;
}
static inline int mcp_task_seen(const mcp_task *t)
{
    return t->nseen - t->goals.n;
}
/* The unit of a channel, NULL: none is known. */
static inline const char *mcp_channel_unit(const mcp_task *t, const mcp_task_channel *c)
{
    return c->unit ? c->unit : c->state >= 0 && t->state_unit ? t->state_unit[c->state] : NULL;
}

/* What a goal is until somebody sets it: the middle of what it is drawn from. */
static inline double mcp_goal_middle(const mcp_task_random *g)
{
    return g->uniform ? 0.5 * (g->low + g->high) : g->mean;
}
int mcp_task_find_goal(const mcp_task *t, const char *name); /* index in goals; -1 = none */

/* Half of an input's range, its middle, and the command nearest to zero: what a plant gets before the first
 * one. */
static inline double mcp_input_reach(const mcp_task_input *u)
{
    return 0.5 * (u->high - u->low);
}
static inline double mcp_input_centre(const mcp_task_input *u)
{
    return 0.5 * (u->low + u->high);
}
static inline double mcp_input_rest(const mcp_task_input *u)
{
    return u->low > 0.0 ? u->low : u->high < 0.0 ? u->high : 0.0;
}

int mcp_task_find_state(const mcp_task *t, const char *name); /* -1 = none */
/* Mean and variance of one state over the start distribution. */
void mcp_start_moments(const mcp_task_start *d, int nx, int state, double *mean, double *variance);
/* Does an observer or a computed state use what this sensor shows? */
int mcp_sensor_used(const mcp_task *t, int sensor);
/* Deviation of one measurement: noise, and rounding as uniform noise. */
double mcp_channel_noise(const mcp_task_channel *c);
int mcp_task_find_input(const mcp_task *t, const char *name); /* -1 = none */

/* Room for the mistakes of a file, and how many are in it. */
typedef struct {
    mcp_error *item;
    int        most, count;
} mcp_mistakes;
/* As mcp_task_read, but goes on after a mistake as far as what follows does not depend on it. err has the
 * first one, or what ended the reading: that is then the last item. all == NULL: mcp_task_read. */
mcp_status mcp_task_read_all(mcp_task **out, const mcp_task_source *s, mcp_mistakes *all, mcp_error *err);

#endif
