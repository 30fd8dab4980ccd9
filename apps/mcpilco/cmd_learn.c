/* cmd_learn.c - mcpilco learn: a task file in, a policy out, trial by trial. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "io/file.h"
#include "learn/from_run.h"
#include "learn/learner.h"
#include "io/json.h"
#include "learn_finish.h"
#include "learn_live.h"
#include "learn_view.h"
#include "math/arena.h"
#include "options.h"
#include "realtime.h"
#include "task/task_data.h"
#include "term.h"

typedef struct {
    int         trials, threads, resume, force, json, yes, quiet, realtime;
    uint64_t    seed;
    double      risk;
    const char *out, *algorithm, *live, *from;
    int         live_anywhere, no_finish;
    option_list set;
} choices;

/* runs/cartpole-1; the algorithm too when it is not the usual one. */
static void default_folder(char *out, size_t size, const mcp_task *task, const choices *c)
{
    const char *algorithm = c->algorithm ? c->algorithm : task->algorithm ? task->algorithm : "mc-pilco4pms";
    int n = snprintf(out, size, "runs/%s-%llu%s%s", task->name, (unsigned long long)c->seed,
                     strcmp(algorithm, "mc-pilco4pms") ? "-" : "",
                     strcmp(algorithm, "mc-pilco4pms") ? algorithm : "");
    for (char *p = out + 5; n > 0 && *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("-_.", *p)) *p = '_';
}

static int has_run(const char *folder)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/run.json", folder);
    return mcp_file_exists(path);
}

static int is_same_folder(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* --force: the old run moves aside, it is not thrown away. The caller holds its lock. */
static int move_aside(const char *folder)
{
    char to[4200];
    for (int i = 1; i < 1000; i++) {
        snprintf(to, sizeof to, "%s.old-%d", folder, i);
        if (mcp_folder_exists(to) || mcp_file_exists(to)) continue;
        if (rename(folder, to) == 0) {
            fprintf(stderr, "mcpilco learn: the run in %s is now %s\n", folder, to);
            return 1;
        }
        break;
    }
    fprintf(stderr, "mcpilco learn: cannot move %s aside: %s\n", folder, strerror(errno));
    return 0;
}

static int may_move(const mcp_task *task, const choices *c)
{
    mcp_plant_type t = task->plant.type;
    int real = t == MCP_PLANT_EXEC || t == MCP_PLANT_UDP || t == MCP_PLANT_TCP || t == MCP_PLANT_SERIAL;
    if (!real || c->yes) return 1;
    if (term_confirm("The plant will move. Is everybody clear of it, and can you stop it?")) return 1;
    fprintf(stderr,
            "mcpilco learn: the plant was not moved; answer y, or give --yes when no one can be asked\n");
    return 0;
}

static void how_to_resume(int argc, char **argv)
{
    fprintf(stderr, "go on with: mcpilco");
    int said = 0;
    for (int i = 0; i < argc; i++) {
        said |= !strcmp(argv[i], "--resume");
        if (strcmp(argv[i], "--force")) fprintf(stderr, strchr(argv[i], ' ') ? " '%s'" : " %s", argv[i]);
    }
    fprintf(stderr, "%s\n", said ? "" : " --resume");
}

static mcp_status run_trials(mcp_learner *l, learn_view *v, learn_live *live, int wanted, mcp_error *err)
{
    const mcp_learn_info *info;
    mcp_status            st = MCP_OK;
    while (st == MCP_OK &&
           (mcp_learner_explored(l) < mcp_learner_explorations(l) || mcp_learner_trials(l) < wanted)) {
        if ((st = mcp_learner_prepare(l, &info, err)) != MCP_OK) break;
        view_policy(v, info);
        if ((st = mcp_learner_trial(l, &info, err)) == MCP_OK) {
            view_trial(v, info);
            live_trial(live);
        }
        if (st == MCP_OK && term_stop() && mcp_learner_trials(l) < wanted)
            st = mcp_fail(err, MCP_ERR_STOPPED, "stopped as asked; everything finished is kept");
    }
    view_clear(v);
    return st;
}

static int first_success(const mcp_learn_info *info, int count)
{
    for (int i = 0; i < count; i++)
        if (!info[i].explored && info[i].success) return info[i].number;
    return 0;
}

static void conclude(const mcp_learner *l, const choices *c, const char *folder, const learn_finish *f,
                     int recommended)
{
    int             count = mcp_learner_explored(l) + mcp_learner_trials(l);
    mcp_learn_info *info = mcp_calloc((size_t)count + 1, sizeof *info);
    if (!info) return;
    for (int i = 0; i < count; i++) info[i] = *mcp_learner_info(l, i);
    int first = first_success(info, count);
    if (c->json) {
        json_t *list = json_array(), *end;
        for (int i = 0; i < count; i++) json_array_append_new(list, finish_item_json(l->run->item[i]));
        end = json_pack("{s:s, s:o, s:i, s:i, s:o}", "event", "end", "run", mcp_json_text(folder),
                        "first_success", first, "recommended", recommended, "trials", list);
        json_object_set_new(end, "finish", f->finish.known ? mcp_finish_to_json(&f->finish) : json_null());
        json_object_set_new(end, "page", f->page[0] ? mcp_json_text(f->page) : json_null());
        (void)term_json(end);
    } else if (count) {
        view_table(info, count, l->run->system->ts);
        if (first) printf("First success in trial %d. ", first);
        else if (l->run->task->success.text) printf("No trial succeeded yet. ");
        else printf("Cost from %.3g to %.3g. ", info[0].cost, info[count - 1].cost);
        if (recommended) printf("Recommended: the policy of trial %d. ", recommended);
        printf("The run is in %s.\n", folder);
        if (mcp_learner_trials(l)) finish_print(f, l->run, folder);
    }
    mcp_free(info);
}

static int learn(const mcp_task *task, const choices *c, const char *folder, int argc, char **argv)
{
    static learn_view  view;
    learn_live         live = {0};
    mcp_learn_settings s;
    mcp_learner       *l;
    mcp_error          err = {.status = MCP_OK};
    int                trials = c->trials ? c->trials : task->trials;
    view_begin(&view,
               c->json                ? VIEW_JSON
               : c->quiet             ? VIEW_QUIET
               : term_is_live(stderr) ? VIEW_LIVE
                                      : VIEW_LINES,
               trials, 1.0 / task->rate);
    mcp_learn_settings_default(&s);
    s.seed = c->seed;
    s.threads = c->threads;
    s.algorithm = c->algorithm;
    s.folder = folder;
    s.resume = c->resume;
    s.trials = trials;
    s.risk = c->risk;
    s.progress = view_progress;
    s.progress_context = &view;
    s.watch = *term_watch();
    if (c->live && mcp_live_start(&live.page, c->live, c->live_anywhere,
                                  task->title ? task->title : task->name, &err) != MCP_OK)
        return term_error("learn", &err);
    if (live.page) fprintf(stderr, "watch it at %s\n", mcp_live_url(live.page));
    view.also = live_progress;
    view.also_context = &live;
    if (mcp_learner_create(&l, task, &s, &err) != MCP_OK) {
        mcp_live_stop(live.page);
        return term_error("learn", &err);
    }
    live.learner = l;

    mcp_status st = run_trials(l, &view, &live, trials, &err);
    mcp_error  note = {.status = MCP_OK};
    int        recommended = 0;
    if (st == MCP_OK) st = mcp_learner_recommend(l, &recommended, &err);
    if (mcp_learner_close(l, mcp_run_state_after(st), &note) != MCP_OK && st == MCP_OK) {
        st = note.status;
        err = note;
    }
    learn_finish finish = {.evaluate = !c->no_finish && st == MCP_OK, .quiet = c->quiet || c->json};
    finish_make(&finish, l, folder, &live);
    if (!c->quiet) conclude(l, c, folder, &finish, recommended);
    live_done(&live, st == MCP_OK ? "finished" : err.text, &finish.finish);
    mcp_learner_free(l);
    if (st == MCP_OK) return 0;
    int code = term_error("learn", &err);
    if (st == MCP_ERR_STOPPED || st == MCP_ERR_PLANT || st == MCP_ERR_IO) how_to_resume(argc, argv);
    return code;
}

/* A run to go on with: its own task, seed, algorithm and number of trials, where nothing else is given. */
static int open_origin(choices *c, const char *run, mcp_run_origin *origin)
{
    mcp_texts more = {c->set.item, c->set.count};
    mcp_error err;
    if (!c->resume) {
        fprintf(stderr,
                "mcpilco learn: %s is a run: continue it with --resume, or give a task file and --from %s\n",
                run, run);
        return 2;
    }
    if (c->out || c->from) {
        fprintf(stderr, "mcpilco learn: %s is the run to continue; --out and --from go with a task file\n",
                run);
        return 2;
    }
    if (mcp_run_origin_read(origin, run, &more, &err) != MCP_OK) return term_error("learn", &err);
    if (c->seed == UINT64_MAX) c->seed = origin->seed;
    if (!c->algorithm && origin->algorithm[0]) c->algorithm = origin->algorithm;
    if (!c->trials) c->trials = origin->trials;
    c->out = run;
    return 0;
}

/* A task file; with --from it explores as often as the other run has trials. */
static int open_task_file(choices *c, const char *file, mcp_task **task)
{
    static char explored[64];
    mcp_error   err;
    int         trials = 0;
    if (c->from && c->resume) {
        fprintf(stderr, "mcpilco learn: --from starts a run and --resume continues one; give one of them\n");
        return 2;
    }
    if (c->from && mcp_from_count(c->from, &trials, &err) != MCP_OK) return term_error("learn", &err);
    if (c->from) {
        if (c->set.count >= OPTION_LIST_MAX) {
            fprintf(stderr, "mcpilco learn: too many --set beside --from\n");
            return 2;
        }
        snprintf(explored, sizeof explored, "explore.trials=%d", trials);
        c->set.item[c->set.count++] = explored;
    }
    if (mcp_task_load(task, file, c->set.item, c->set.count, &err) != MCP_OK)
        return term_error("learn", &err);
    return 0;
}

/* The other run's trials, put where the learner finds them. */
static int begin_from(const mcp_task *task, choices *c, const char *folder)
{
    mcp_learn_settings s;
    mcp_error          err;
    char               said[256];
    mcp_learn_settings_default(&s);
    s.seed = c->seed;
    s.algorithm = c->algorithm;
    s.folder = folder;
    s.trials = c->trials ? c->trials : task->trials;
    if (mcp_from_run(task, &s, c->from, said, &err) != MCP_OK) return term_error("learn", &err);
    if (!c->quiet) fprintf(stderr, "%s %s\n", folder, said);
    c->resume = 1;
    return 0;
}

int cmd_learn(int argc, char **argv)
{
    choices      c = {.risk = 1.0, .seed = UINT64_MAX};
    const char  *file[1];
    const option options[] = {
        {"--trials", OPTION_INT, &c.trials, 1, 999, "N", "policy trials (the task's number)", NULL},
        {"--seed", OPTION_SEED, &c.seed, 0, 0, "S",
         "same task, settings and seed: same numbers (the task's seed)", NULL},
        {"--threads", OPTION_INT, &c.threads, 0, 1024, "K",
         "0: one per core; the result does not depend on it", NULL},
        {"--out", OPTION_TEXT, &c.out, 0, 0, "DIR", "run folder (runs/TASK-SEED)", "-o"},
        {"--algorithm", OPTION_TEXT, &c.algorithm, 0, 0, "NAME", "mc-pilco4pms, mc-pilco, ... (the task's)",
         NULL},
        {"--set", OPTION_LIST, &c.set, 0, 0, "KEY=VALUE",
         "change a value of the task file, e.g. optimise.particles=100", NULL},
        {"--resume", OPTION_FLAG, &c.resume, 0, 0, NULL,
         "go on with the run in the folder; with a run in place of TASK nothing else is needed", NULL},
        {"--from", OPTION_TEXT, &c.from, 0, 0, "RUN",
         "begin with another run's trials: same robot, another cost, policy, model or setting", NULL},
        {"--force", OPTION_FLAG, &c.force, 0, 0, NULL,
         "move a run that is in the folder aside and start over", NULL},
        {"--risk", OPTION_NUMBER, &c.risk, 0, 1, "P",
         "run no policy whose forecast chance of a limit is above P (1)", NULL},
        {"--yes", OPTION_FLAG, &c.yes, 0, 0, NULL, "do not ask before a real plant moves", NULL},
        {"--realtime", OPTION_FLAG, &c.realtime, 0, 0, NULL,
         "lock memory, and a real-time scheduling class while the plant is in a trial", NULL},
        {"--live", OPTION_TEXT, &c.live, 0, 0, "PORT",
         "show the run as it goes on a page at this port of the loopback (0: a free one)", NULL},
        {"--live-anywhere", OPTION_FLAG, &c.live_anywhere, 0, 0, NULL,
         "let --live HOST:PORT serve other machines too", NULL},
        {"--json", OPTION_FLAG, &c.json, 0, 0, NULL, "one JSON object a line on standard output", NULL},
        {"--no-finish", OPTION_FLAG, &c.no_finish, 0, 0, NULL,
         "do not evaluate the recommended policy and write report.html at the end", NULL},
        {"--quiet", OPTION_FLAG, &c.quiet, 0, 0, NULL, "say nothing but errors", NULL},
    };
    const command verb = {
        .verb = "learn",
        .synopsis = "TASK|RUN [options]",
        ONE_ARGUMENT(options, file),
        .about = "Learns a policy for the task: explores, then in each trial trains the model on all data so "
                 "far, optimises the\n"
                 "policy on it, forecasts what will happen, runs the policy on the plant and compares. "
                 "Everything is kept in the\n"
                 "run folder. Ctrl-C stops cleanly at any time; --resume goes on to the same numbers as if "
                 "nothing had happened.",
        .examples =
            "  mcpilco learn tasks/cartpole.yaml\n      five trials, seed 1, into runs/cartpole-1\n"
            "  mcpilco learn tasks/cartpole.yaml --seed 7 --trials 8 --set optimise.particles=100\n"
            "      another seed, more trials, fewer particles\n"
            "  mcpilco learn tasks/cartpole.yaml --live 8080\n      and watch http://127.0.0.1:8080/\n"
            "  mcpilco learn --resume runs/cartpole-1\n      after Ctrl-C, a crash or a power cut\n"
            "  mcpilco learn tasks/cartpole.yaml --from runs/cartpole-1 --set policy=... --out runs/again\n"
            "      the trials that are there, another policy\n",
    };
    int code = options_parse(&verb, argc, argv);
    if (code != OPTIONS_GO) return code;

    mcp_task      *task = NULL;
    mcp_run_origin origin = {.task = NULL};
    mcp_error      err;
    char           folder[4096];
    int            is_run = has_run(file[0]);
    code = is_run ? open_origin(&c, file[0], &origin) : open_task_file(&c, file[0], &task);
    if (code) return code;
    if (is_run) task = origin.task;
    if (c.seed == UINT64_MAX) c.seed = task->seed;
    if (c.out) snprintf(folder, sizeof folder, "%s", c.out);
    else default_folder(folder, sizeof folder, task, &c);
    while (strlen(folder) > 1 && folder[strlen(folder) - 1] == '/') folder[strlen(folder) - 1] = '\0';
    term_catch_signals();
    if (c.realtime) realtime_ask("learn");
    /* An old run is locked before anything is asked, and moved only when every answer was yes. */
    mcp_lock *old = NULL;
    int       there = !c.resume && has_run(folder) && !mcp_run_is_empty(folder);
    code = 1;
    if (there && !c.force)
        fprintf(
            stderr,
            "mcpilco learn: %s holds a run already; continue it with --resume, or start over with --force "
            "(the old one is moved "
            "aside), or name another folder by --out\n",
            folder);
    else if (there && c.from && is_same_folder(c.from, folder))
        fprintf(stderr,
                "mcpilco learn: --from %s is the folder of the new run itself; name another one by --out\n",
                c.from);
    else if (there && mcp_lock_take(&old, folder, &err) != MCP_OK) code = term_error("learn", &err);
    else if (!may_move(task, &c)) code = 2;
    else if (there && !move_aside(folder)) code = 1;
    else if (!c.from || (code = begin_from(task, &c, folder)) == 0)
        code = learn(task, &c, folder, argc, argv);
    mcp_lock_free(old);
    mcp_task_free(task);
    return code;
}
