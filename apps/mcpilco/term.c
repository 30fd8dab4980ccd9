/* term.c - the terminal side of every verb. */
#include "term.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "io/json.h"
#include "math/arena.h"
#include "math/text.h"

int term_is_live(FILE *f)
{
    const char *term = getenv("TERM");
    return isatty(fileno(f)) && term && strcmp(term, "dumb");
}

int term_columns(FILE *f)
{
    struct winsize w = {0};
    return ioctl(fileno(f), TIOCGWINSZ, &w) == 0 && w.ws_col >= 20 ? w.ws_col : 80;
}

void term_sparkline(char *out, const double *v, int n, int width)
{
    static const char *const block[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < n; i++)
        if (isfinite(v[i])) {
            low = fmin(low, v[i]);
            high = fmax(high, v[i]);
        }
    *out = '\0';
    if (width > n) width = n;
    for (int b = 0; b < width; b++) {
        int    from = (int)((long)b * n / width), to = (int)((long)(b + 1) * n / width);
        double sum = 0.0;
        int    seen = 0;
        for (int i = from; i < to; i++)
            if (isfinite(v[i])) {
                sum += v[i];
                seen++;
            }
        int level = seen && high > low ? (int)(7.999 * (sum / seen - low) / (high - low)) : 0;
        out = stpcpy(out, seen ? block[level] : " ");
    }
}

const char *term_seconds(char *out, size_t size, double s)
{
    if (!isfinite(s)) snprintf(out, size, "-");
    else if (s < 9.95) snprintf(out, size, "%.1f s", s);
    else if (s < 99.5) snprintf(out, size, "%.0f s", s);
    else if (s < 3600) snprintf(out, size, "%d min %02d s", (int)s / 60, (int)s % 60);
    else snprintf(out, size, "%d h %02d min", (int)s / 3600, (int)s / 60 % 60);
    return out;
}

const char *term_number(char *out, size_t size, const char *fmt, double v)
{
    if (isnan(v)) snprintf(out, size, "-");
    else snprintf(out, size, fmt, v);
    return out;
}

static int json_wanted;

void term_want_json(void)
{
    json_wanted = 1;
}

static json_t *say(const char *verb, const mcp_error *e)
{
    char text[sizeof e->text];
    memcpy(text, e->text, sizeof text);
    mcp_text_plain(text);
    fprintf(stderr, "mcpilco %s: %s\n", verb, text);
    return mcp_json_text(text);
}

static int exit_code(const mcp_error *e)
{
    return e->status == MCP_ERR_STOPPED ? 130 : 1;
}

int term_error(const char *verb, const mcp_error *e)
{
    json_t *text = say(verb, e);
    if (!json_wanted) json_decref(text);
    else
        (void)term_json(json_pack("{s:s, s:s, s:o, s:i}", "event", "error", "verb", verb, "text", text,
                                  "exit", exit_code(e)));
    return exit_code(e);
}

int term_errors(const char *verb, const mcp_error *e, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, say(verb, &e[i]));
    if (!json_wanted) json_decref(list);
    else
        (void)term_json(json_pack("{s:s, s:s, s:O, s:i, s:o}", "event", "error", "verb", verb, "text",
                                  json_array_get(list, 0), "exit", exit_code(&e[0]), "mistakes", list));
    return exit_code(&e[0]);
}

int term_json(json_t *object)
{
    char *line = mcp_json_line(object);
    errno = 0;
    int   failed = !line || puts(line) == EOF || fflush(stdout) == EOF;
    json_decref(object);
    mcp_free(line);
    if (failed && errno == EPIPE) term_ask_stop(); /* nobody reads any more */
    else if (failed)
        fprintf(stderr, "mcpilco: cannot write to standard output: %s\n", strerror(errno ? errno : ENOMEM));
    return failed;
}

int term_confirm(const char *question)
{
    char          answer[16];
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    if (!isatty(STDIN_FILENO)) return 0;
    fprintf(stderr, "%s [y/N] ", question);
    while (poll(&p, 1, 50) <= 0)
        if (term_stop()) return 0;
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}
