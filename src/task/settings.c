/* settings.c - the settings of the policy optimisation: one line each. */
#include "task/keys.h"

#define AT(field) offsetof(mcp_optimise_settings, field)

const mcp_key mcp_optimise_table[] = {
    {"particles", KEY_INT, AT(particles), 1, 100000, .fallback = "96",
     .about = "particles per simulated rollout; the paper has 400. Multiples of 32 share out evenly among "
              "threads"},
    {"start_particles", KEY_NUMBER, AT(start_particles), 0, 1, OPEN_LO, .fallback = "0.5",
     .about = "plateau: share of them until the learning rate is lowered for the first time"},
    {"steps_first", KEY_INT, AT(steps_first), 0, 1000000, .fallback = "2000",
     .about = "most Adam steps before the first policy trial"},
    {"steps", KEY_INT, AT(steps), 0, 1000000, .fallback = "4000",
     .about = "most Adam steps before every later trial"},
    {"step_size", KEY_NUMBER, AT(step_size), 0, 10, OPEN_LO, .fallback = "0.02",
     .about = "Adam learning rate at the start"},
    {"step_size_min", KEY_NUMBER, AT(step_size_min), 0, 10, .fallback = "0.005",
     .about = "the optimisation ends when its rule would lower the learning rate below this"},
    {"scaling", KEY_CHOICE, AT(scaling), .choices = "data|none", .fallback = "data",
     .about = "data: a fresh policy is spread over what the data has visited, and Adam moves parameters in "
              "units of it; none: as the paper's authors have it, rbf length-scales start at 1 and centres "
              "within +-pi (on the circle for sine and cosine), Adam moves parameters as they are, and "
              "clips are in the units of the task; pilco: its authors' first policy"},
    {"dropout", KEY_NUMBER, AT(dropout), 0, 1, OPEN_HI, .fallback = "0.25",
     .about = "chance that a policy basis function is dropped, per particle and step"},
    {"stop_rule", KEY_CHOICE, AT(stop_rule), .choices = "plateau|monitor|schedule", .fallback = "plateau",
     .about =
         "plateau: lower the rate when the cost on a fixed noise set stops falling, keep the best policy; "
         "monitor: the smoothed cost difference of the extended paper; schedule: a fixed number of steps"},
    {"patience", KEY_INT, AT(patience), 1, 100000, .fallback = "75",
     .about = "plateau: steps without a gain that counts before the rate is lowered to a quarter; four times "
              "as many while more than half of the particles fail"},
    {"evaluate_every", KEY_INT, AT(evaluate_every), 1, 100000, .fallback = "25",
     .about = "plateau: steps between evaluations on the fixed noise set"},
    {"evaluate_particles", KEY_INT, AT(evaluate_particles), 0, 100000, .fallback = "400",
     .about = "particles of that set, but at least `particles` and at most four times as many: rare failures "
              "must show"},
    {"gain", KEY_NUMBER, AT(gain), 0, 1, OPEN_HI, .fallback = "0.005",
     .about = "plateau: smallest relative gain that counts. It must also be more than chance over the "
              "particles, by as many standard errors as the last forecast was deviations off (1 to 1.5), and "
              "reach incumbent_gain once the policy succeeds on the particles"},
    {"adjoint_clip", KEY_NUMBER, AT(adjoint_clip), 0, 1e9, .fallback = "1",
     .about = "bound on the norm of each particle's state adjoint after every backward step: states in units "
              "of half their range, the cost in units of what a whole trial can cost; 0 = none"},
    {"gradient_clip", KEY_NUMBER, AT(gradient_clip), 0, 1e9, .fallback = "0.02",
     .about = "bound on the norm of the policy gradient, the cost in units of what a whole trial can cost, "
              "parameters in theirs; 0 = none"},
    {"incumbent_gain", KEY_NUMBER, AT(incumbent_gain), 0, 1, .fallback = "0.02",
     .about = "a policy that succeeded on the plant is replaced only for a larger predicted gain (fraction "
              "of its cost, or of the largest cost of a trial so far if that is more)"},
    {"incumbent", KEY_FLAG, AT(incumbent), .fallback = "yes",
     .about = "a policy that succeeded on the plant is polished at a low rate, and replaced only for "
              "incumbent_gain; no: it is optimised like any other, and what comes out goes to the plant"},
    {"success_weight", KEY_NUMBER, AT(success_weight), 0, 100, .fallback = "3",
     .about = "policies are compared by J (1 + w (1 - p)), p the share of particles that meet the success "
              "test; 0: by J alone"},
    {"success_margin", KEY_NUMBER, AT(success_margin), 0, 10, .fallback = "0.2",
     .about = "for that share the test must hold so much longer than asked (fraction of its window): a "
              "policy that settles just in time on "
              "the model settles too late on the plant now and then"},
    {"stress", KEY_NUMBER, AT(stress), 0, 10, OPEN_LO, .fallback = "1.4",
     .about = "start, sensor and model noise of that set are larger by this factor: a failure in a thousand "
              "runs must show on some hundred "
              "particles"},
    {"draws", KEY_INT, AT(draws), 1, 10000, .fallback = "64",
     .about = "the fresh policy of a second try is the best of so many: drawn at random, from gentle to "
              "eight times as bold, and judged by a few particles. Where being gentle leads nowhere, a bold "
              "one shows what moves"},
    {"candidates", KEY_INT, AT(candidates), 0, 100, .fallback = "0",
     .about = "fresh policies tried beside the warm start"},
    {"second_try", KEY_INT, AT(second_try), 0, 1000000, .fallback = "3",
     .about = "from this trial on, or where the first start gains less than 1 %, a fresh policy is optimised "
              "as well, if a fifth of the budget is left, and the better goes on, when the policy before "
              "failed and fewer than half of the particles succeed with the new one, or when it worked and "
              "fewer than 95 % do; one that is far behind is dropped; 0 = never"},
    {"budget", KEY_NUMBER, AT(budget), 0, 1e9, .fallback = "300", .unit = "gradients",
     .about = "most computing before a trial: the work of so many gradients of all particles (fewer "
              "particles and evaluations count as what they are), so that numbers are the same on every "
              "machine. Its last quarter is for a low rate. Doubled after each trial in a row of which the "
              "model rightly expected less than 90 % success, three times at most: there more data would not "
              "help. 0 = no limit"},
    {"horizon", KEY_NUMBER, AT(horizon), 0, 1e9, .fallback = "0", .unit = "s",
     .about = "how far ahead the particles look while a policy is optimised; 0 = the whole trial. Policies "
              "are compared over whole trials all the same"},
    {"near_goal", KEY_NUMBER, AT(near_goal), 0, 1, OPEN_HI, .fallback = "0.2",
     .about = "share of the particles that start near the goal, the cheapest state of the cost, while a "
              "policy is optimised: it learns to hold before it has learned to get there"},
    {"regulator", KEY_FLAG, AT(regulator), .fallback = "yes",
     .about = "before every optimisation the linear part of a policy that has one (the default policy has) "
              "is set to the linear-quadratic regulator of the model's mean at the goal, if particles that "
              "start near the goal cost less with it; not where the last policy worked"},
    {"warm_start", KEY_FLAG, AT(warm_start), .fallback = "yes",
     .about = "begin from the policy of the trial before"},
    {"antithetic", KEY_FLAG, AT(antithetic), .fallback = "no",
     .about = "draw noise in pairs of opposite sign"},
    {"precision", KEY_CHOICE, AT(precision), .choices = "auto|mixed|double", .fallback = "auto",
     .about = "auto: the policy's basis functions in single precision while it is optimised, and every GP "
              "for which a test at its data finds that safe; mixed: the basis functions alone; double: "
              "neither"},
    {"block", KEY_INT, AT(block), 0, 100000, .fallback = "0",
     .about = "particles worked on together; 0 = chosen for speed. Does not change the result"},
    {"beta1", KEY_NUMBER, AT(beta1), 0, 1, OPEN_HI, .fallback = "0.9",
     .about = "Adam: decay of the mean gradient"},
    {"beta2", KEY_NUMBER, AT(beta2), 0, 1, OPEN_HI, .fallback = "0.999",
     .about = "Adam: decay of the squared gradient"},
    {"epsilon", KEY_NUMBER, AT(epsilon), 0, 1, OPEN_LO, .fallback = "1e-6",
     .about = "Adam: added to the root of the squared gradient, in the units of gradient_clip: below it a "
              "slope is rounding, and moves nothing"},
    {"weight_rate", KEY_NUMBER, AT(weight_rate), 0, 1000, OPEN_LO, .fallback = "1",
     .about = "factor on the learning rate of rbf weights"},
    {"evaluations", KEY_INT, AT(evaluations), 2, 100000, .fallback = "300",
     .about = "pilco: most evaluations of the cost and its gradient in a descent"},
    {"starts", KEY_INT, AT(starts), 0, 100, .fallback = "2",
     .about = "pilco: fresh policies tried while the best one expects more than half of the greatest "
              "possible cost; black-drops: fresh "
              "starts that race the first one for some generations, in the first two trials, unless the last "
              "policy worked"},
    {"generations", KEY_INT, AT(generations), 1, 100000, .fallback = "1500",
     .about = "black-drops: most generations of CMA-ES before a trial, all restarts together"},
    {"rollouts", KEY_INT, AT(rollouts), 1, 10000, .fallback = "8",
     .about = "black-drops: sampled rollouts by which a candidate is judged"},
    MCP_KEY_END,
};
