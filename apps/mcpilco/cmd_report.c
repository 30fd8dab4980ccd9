/* cmd_report.c - mcpilco report and mcpilco plot: pages and figures of runs and studies. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "io/file.h"
#include "math/arena.h"
#include "options.h"
#include "report/report.h"
#include "report/report_study.h"
#include "term.h"

enum { MOST_RUNS = 12 };

/* Runs a program with arguments, no shell; its exit code, 127 = could not be started. */
static int run_program(char *const argv[])
{
    pid_t pid = fork();
    int   status;
    if (pid == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status)) return 127;
    return WEXITSTATUS(status);
}

static int is_study(const char *folder)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/study.txt", folder);
    return mcp_file_exists(path);
}

int cmd_report(int argc, char **argv)
{
    const char  *folder[MOST_RUNS] = {0}, *out = NULL;
    int          show = 0, count = 0;
    const option options[] = {
        {"--out", OPTION_TEXT, &out, 0, 0, "FILE",
         "the page (FOLDER/report.html; of several runs compare.html)", "-o"},
        {"--open", OPTION_FLAG, &show, 0, 0, NULL, "open it in the browser", NULL},
    };
    const command verb = {
        .verb = "report",
        .synopsis = "RUN|STUDY [RUN ...] [options]",
        .options = options,
        .count = 2,
        .least = 1,
        .most = MOST_RUNS,
        .positional = folder,
        .about = "Writes one HTML file that shows a run: did it work, can the model be trusted, which part "
                 "is the weak one; with the\n"
                 "trial animated. Or a study: success and cost per trial of every variant. Several runs "
                 "are put side by side. The file needs nothing else\n"
                 "and no network.\n"
                 "A run folder with missing or damaged files gives a page of what is there.",
        .examples =
            "  mcpilco report runs/cartpole-1\n"
            "  mcpilco report runs/a runs/b runs/c -o compare.html\n"
            "  mcpilco report studies/table1 -o table1.html --open\n",
    };
    char     *html = NULL, path[4200];
    mcp_error err = {MCP_OK, ""};
    int       code = options_parse(&verb, argc, argv);
    if (code != OPTIONS_GO) return code;
    while (count < MOST_RUNS && folder[count]) count++;
    mcp_status st = MCP_OK;
    if (count > 1) st = mcp_report_compare(count, folder, &html, &err);
    else if (is_study(folder[0])) {
        st = mcp_report_study(folder[0], &html, &err);
        if (st == MCP_OK) st = mcp_report_study_runs(folder[0], &err);
    } else st = mcp_report_run(folder[0], &html, &err);
    if (out) snprintf(path, sizeof path, "%s", out);
    else if (count > 1) snprintf(path, sizeof path, "compare.html");
    else snprintf(path, sizeof path, "%s/report.html", folder[0]);
    if (st == MCP_OK) st = mcp_file_write(path, html, strlen(html), &err);
    mcp_free(html);
    if (st != MCP_OK) return term_error("report", &err);
    printf("%s\n", path);
    if (!show) return 0;
    char *const open[] = {"xdg-open", path, NULL};
    if (run_program(open) == 0) return 0;
    fprintf(stderr, "mcpilco report: no browser could be started (xdg-open); open %s by hand\n", path);
    return 1;
}

/* SVG is ours; PDF and PNG come from librsvg's converter. */
static int convert(const char *svg, const char *format, const char *out)
{
    char *const argv[] = {
        "rsvg-convert", "-f",        (char *)format, "-z", strcmp(format, "png") ? "1" : "2",
        "-o",           (char *)out, (char *)svg,    NULL};
    int         code = run_program(argv);
    if (code == 127)
        fprintf(stderr,
                "mcpilco plot: rsvg-convert is needed for %s (Debian package librsvg2-bin); or write .svg\n",
                format);
    else if (code) fprintf(stderr, "mcpilco plot: rsvg-convert could not write %s\n", out);
    return code ? 1 : 0;
}

/* Films: our frames, drawn by rsvg-convert, joined by ffmpeg. */
typedef struct {
    char folder[64];
    int  frames;
} film;

static mcp_status keep_frame(void *context, int index, const char *svg, mcp_error *err)
{
    film *f = context;
    char  from[128], to[128];
    snprintf(from, sizeof from, "%s/frame.svg", f->folder);
    snprintf(to, sizeof to, "%s/%05d.png", f->folder, index);
    mcp_status  st = mcp_file_write(from, svg, strlen(svg), err);
    char *const argv[] = {"rsvg-convert", "-o", to, from, NULL};
    int         code = st == MCP_OK ? run_program(argv) : 0;
    if (code)
        return mcp_fail(err, MCP_ERR_IO,
                        code == 127 ? "rsvg-convert is needed for films (Debian package librsvg2-bin)"
                                    : "rsvg-convert could not draw a frame");
    f->frames = index + 1;
    return term_stop() ? mcp_fail(err, MCP_ERR_STOPPED, "stopped") : st;
}

static void remove_frames(const film *f)
{
    char path[128];
    for (int i = 0; i < f->frames; i++) {
        snprintf(path, sizeof path, "%s/%05d.png", f->folder, i);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/frame.svg", f->folder);
    unlink(path);
    rmdir(f->folder);
}

static int write_film(const char *folder, int trial, const char *path)
{
    film      f = {.folder = "/tmp/mcpilco-film-XXXXXX"};
    double    rate = 0;
    mcp_error err = {MCP_OK, ""};
    char      frames[128], speed[32];
    int       mp4 = strlen(path) > 4 && !strcmp(path + strlen(path) - 4, ".mp4");
    if (!mkdtemp(f.folder)) {
        fprintf(stderr, "mcpilco plot: no place for the frames in /tmp: %s\n", strerror(errno));
        return 1;
    }
    int code = mcp_report_frames(folder, trial, keep_frame, &f, &rate, &err) == MCP_OK
                   ? 0
                   : term_error("plot", &err);
    snprintf(frames, sizeof frames, "%s/%%05d.png", f.folder);
    snprintf(speed, sizeof speed, "%g", rate);
    char *const gif[] = {"ffmpeg",   "-v", "error", "-y", "-framerate", speed, "-i", frames, "-vf",
                         "split[a][b];[a]palettegen[p];[b][p]paletteuse", (char *)path, NULL};
    char *const video[] = {"ffmpeg", "-v",   "error",    "-y",      "-framerate", speed,
                           "-i",     frames, "-pix_fmt", "yuv420p", (char *)path, NULL};
    if (!code && (code = run_program(mp4 ? video : gif)) != 0)
        fprintf(stderr, code == 127 ? "mcpilco plot: ffmpeg is needed for films (Debian package ffmpeg)\n"
                                    : "mcpilco plot: ffmpeg could not write %s\n", path);
    remove_frames(&f);
    if (code) return 1;
    printf("%s\n", path);
    return 0;
}

int cmd_plot(int argc, char **argv)
{
    const char  *folder[1], *out = NULL, *figure = NULL, *format = NULL;
    int          trial = 0;
    const option options[] = {
        {"--figure", OPTION_TEXT, &figure, 0, 0, "NAME",
         "of a run: trajectory, inputs, cost, model, observer, runs, trials, plane, moments, animation; of a "
         "study: success, cost, first, bars",
         "-f"},
        {"--trial", OPTION_INT, &trial, 1, 999, "K", "policy trial (the last)", NULL},
        {"--out", OPTION_TEXT, &out, 0, 0, "FILE",
         "x.svg, x.pdf or x.png (NAME.svg); x.gif or x.mp4 of the animation", "-o"},
        {"--format", OPTION_TEXT, &format, 0, 0, "WORD", "svg, pdf, png, gif, mp4 (as the file's name ends)",
         NULL},
    };
    const command verb = {
        .verb = "plot",
        .synopsis = "RUN|STUDY --figure NAME [-o FILE]",
        ONE_ARGUMENT(options, folder),
        .about = "Writes one figure for a paper or a slide.",
        .examples =
            "  mcpilco plot runs/cartpole-1 --figure trajectory -o trajectory.pdf\n      the last "
            "trial over what was forecast\n"
            "  mcpilco plot runs/cartpole-1 --figure runs -o runs.png\n      400 particles beside "
            "400 runs on the plant\n"
            "  mcpilco plot runs/ballplate-1 --figure plane -o plane.svg\n      ten runs, one "
            "measured state against the other\n"
            "  mcpilco plot runs/cartpole-1 --figure moments -o moments.svg\n      eight moments of the "
            "last trial, drawn over each other\n"
            "  mcpilco plot runs/cartpole-1 --figure animation --format gif\n      the last trial as a "
            "film\n"
            "  mcpilco plot studies/table1 --figure success -o table1.svg\n",
    };
    char     *svg = NULL, path[4200], temporary[4300];
    mcp_error err = {MCP_OK, ""};
    int       code = options_parse(&verb, argc, argv), study;
    if (code != OPTIONS_GO) return code;
    study = is_study(folder[0]);
    if (!figure) {
        fprintf(stderr, "mcpilco plot: which figure? --figure NAME, one of: %s\n",
                study ? mcp_report_study_figures() : mcp_report_figures());
        return 2;
    }
    int is_film = !study && !strcmp(figure, "animation");
    if (out) snprintf(path, sizeof path, "%s", out);
    else snprintf(path, sizeof path, "%s.%s", figure, format ? format : is_film ? "gif" : "svg");
    const char *end = strrchr(path, '.');
    int         plain = end && !strcmp(end, ".svg");
    if (is_film && end && (!strcmp(end, ".gif") || !strcmp(end, ".mp4"))) {
        term_catch_signals();
        return write_film(folder[0], trial, path);
    }
    if (is_film) {
        fprintf(stderr, "mcpilco plot: %s: the name of a film must end in .gif or .mp4\n", path);
        return 2;
    }
    if (!end || (!plain && strcmp(end, ".pdf") && strcmp(end, ".png"))) {
        fprintf(stderr, "mcpilco plot: %s: the name must end in .svg, .pdf or .png\n", path);
        return 2;
    }
    mcp_status st = study ? mcp_report_study_figure(folder[0], figure, &svg, &err)
                          : mcp_report_figure(folder[0], figure, trial, &svg, &err);
    snprintf(temporary, sizeof temporary, plain ? "%s" : "%s.svg", path);
    if (st == MCP_OK) st = mcp_file_write(temporary, svg, strlen(svg), &err);
    mcp_free(svg);
    if (st != MCP_OK) return term_error("plot", &err);
    if (!plain) {
        code = convert(temporary, end + 1, path);
        unlink(temporary);
        if (code) return code;
    }
    printf("%s\n", path);
    return 0;
}
