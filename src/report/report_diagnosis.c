/* report_diagnosis.c - which part is the weak one, in plain words, from numbers that are on the page. */
#include <math.h>
#include <stdio.h>

#include "report/parts.h"

static void say(mcp_text *out, const char *kind, const char *what, const char *why)
{
    mcp_text_add(out, "<div class='card'><p><strong class='%s'>", kind);
    mcp_text_escaped(out, what);
    mcp_text_add(out, "</strong> ");
    mcp_text_escaped(out, why);
    mcp_text_add(out, "</p></div>\n");
}

static int about_model(mcp_text *out, const mcp_run *r, const mcp_model_check *m)
{
    int said = 0;
    for (int i = 0; m->known && i < m->ngp; i++) {
        char        what[160], why[400];
        const char *name = r->task->state[r->task->gp[i].state];
        if (m->z_rms[i] > 1.5) {
            snprintf(what, sizeof what, "The model of %s is overconfident.", name);
            snprintf(why, sizeof why,
                     "On the last trial its errors were %.1f times what it predicted. Either the plant did "
                     "something that no data showed "
                     "(more data will mend it), or the noise floor is too low for the smoother in use: raise "
                     "model.noise_floor.",
                     m->z_rms[i]);
            say(out, "bad", what, why);
            said++;
        } else if (m->z_rms[i] < 0.5) {
            snprintf(what, sizeof what, "The model of %s is more cautious than it need be.", name);
            snprintf(why, sizeof why,
                     "Its errors were %.2f of what it predicted: a lower noise floor or a better smoother "
                     "could make it sharper.",
                     m->z_rms[i]);
            say(out, "soft", what, why);
            said++;
        }
    }
    return said;
}

static int about_observer(mcp_text *out, const mcp_run *r, const mcp_observer_check *o)
{
    int         said = 0, solved = r->items && r->item[r->items - 1]->info.success;
    const char *remedy = r->task->observer.type == MCP_OBSERVER_KALMAN
                             ? "a faster rate, a better sensor or other noise figures in the filter"
                             : "a faster rate, less filtering or a Kalman filter";
    for (int k = 0; k < r->system->nx; k++) {
        double share = o->observed[k] / o->spread[k];
        if (!(share > 0.3)) continue;
        char what[160], why[360];
        snprintf(what, sizeof what, "The observer sees %s badly.", r->task->state[k]);
        snprintf(why, sizeof why,
                 "Its error is %.0f %% of the signal itself. The policy is optimised through this error%s; "
                 "%s would give it more to work with.",
                 100 * share, solved ? " and copes with it" : ", so it copes as far as it can", remedy);
        say(out, solved ? "soft" : "bad", what, why);
        said++;
    }
    return said;
}

static int about_last(mcp_text *out, const mcp_run *r)
{
    const mcp_run_item   *it = mcp_run_trial(r, mcp_run_trials(r));
    const mcp_learn_info *i  = it ? &it->info : NULL;
    char                  why[400];
    if (!i) {
        say(out, "soft", "Nothing to judge yet.", "The run has no policy trial.");
        return 1;
    }
    if (i->success && i->forecast_success > 0.9 && i->coverage > 0.7) {
        snprintf(why, sizeof why,
                 "The particles expected success (%.0f %%), it happened, and %.0f %% of the states stayed "
                 "inside their 5-95 %% band. "
                 "mcpilco evaluate gives the success rate over many starts.",
                 100 * i->forecast_success, 100 * i->coverage);
        say(out, "good", "Model, observer and policy agree with the plant.", why);
        return 1;
    }
    if (i->success) {
        snprintf(why, sizeof why,
                 "The forecast gave it %.0f %%, and %.0f %% of the states were inside the band: it may have "
                 "been luck. Run another trial.",
                 100 * i->forecast_success, 100 * i->coverage);
        say(out, "soft", "Solved, but not as forecast.", why);
        return 1;
    }
    if (i->forecast_success > 0.7) {
        snprintf(why, sizeof why,
                 "The particles gave success %.0f %%, the plant failed; %.0f %% of the states were inside "
                 "the band. The model or the observer's "
                 "description differs from the plant where the policy went. The data of this trial shows it: "
                 "another trial is the remedy.",
                 100 * i->forecast_success, 100 * i->coverage);
        say(out, "bad", "The model promised what the plant did not keep.", why);
        return 1;
    }
    if (i->coverage > 0.7) {
        snprintf(why, sizeof why,
                 "The plant did what was forecast (%.0f %% inside the band), and the forecast was no success "
                 "(%.0f %%): the model is right, the policy is "
                 "not there yet. More optimisation steps, a wider cost or a stronger input would help.",
                 100 * i->coverage, 100 * i->forecast_success);
        say(out, "bad", "The policy is the weak part.", why);
        return 1;
    }
    snprintf(why, sizeof why,
             "Only %.0f %% of the states were inside the 5-95 %% band. Early trials look like this: the "
             "plant visits what the data has not covered.",
             100 * i->coverage);
    say(out, "bad", "The model does not know this region yet.", why);
    return 1;
}

void mcp_report_diagnosis(mcp_text *out, const mcp_run *r, const mcp_model_check *m,
                          const mcp_observer_check *o)
{
    mcp_page_section(out, "diagnosis", "Diagnosis");
    about_last(out, r);
    about_model(out, r, m);
    about_observer(out, r, o);
    mcp_page_close(out);
}
