/* live.c - server-sent events on the loopback, by libmicrohttpd: one thread for all browsers, each at its own
 * place in the list of messages, so a slow one only lags behind. Requests and connections are bounded: 8 KiB
 * of headers, a limited number of browsers, ten seconds of silence. Host must be a name of the loopback,
 * or a page elsewhere could read this one through a name that it points here. */
#include "report/live.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "math/arena.h"
#include "math/text.h"
#include "report/live_page.h"

enum { BROWSERS = 64, MEMORY = 8192, TIMEOUT_S = 10, MESSAGES = 200000, PIECE = 65536, FAREWELL_MS = 2000 };

/* One browser's event stream. */
typedef struct stream {
    struct stream         *next;
    struct mcp_live       *live;
    struct MHD_Connection *connection;
    int                    asleep;  /* suspended: nothing to send */
    int                    message; /* the one it gets next ...   */
    size_t                 sent;    /* ... and how much of it is sent */
} stream;

struct mcp_live {
    struct MHD_Daemon *daemon;
    int                listener, anywhere;
    char               url[80];
    char              *page;
    atomic_int         stop_asked;
    pthread_mutex_t    lock; /* guards all below */
    char             **message;
    int                messages, capacity, stopping, reports_sent;
    char              *report;
    stream            *streams;
};

/* Addresses. */

static int split_address(const char *address, char *host, size_t size, int *port)
{
    const char *colon = strrchr(address, ':'), *digits = colon ? colon + 1 : address;
    size_t      n = colon ? (size_t)(colon - address) : 0;
    char       *end;
    long        value = strtol(digits, &end, 10);
    if (end == digits || *end || value < 0 || value > 65535 || n >= size) return 0;
    memcpy(host, address, n);
    host[n] = '\0';
    if (!n || !strcmp(host, "localhost")) snprintf(host, size, "127.0.0.1");
    *port = (int)value;
    return 1;
}

static mcp_status open_listener(mcp_live *l, const char *address, mcp_error *err)
{
    char               host[64];
    int                port, one = 1;
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t          size = sizeof a;
    if (!split_address(address, host, sizeof host, &port) || inet_pton(AF_INET, host, &a.sin_addr) != 1)
        return mcp_fail(err, MCP_ERR_ARG,
                        "--live %s: expected PORT or HOST:PORT, e.g. 8080 or 127.0.0.1:8080", address);
    if ((ntohl(a.sin_addr.s_addr) >> 24) != 127 && !l->anywhere)
        return mcp_fail(err, MCP_ERR_ARG,
                        "--live %s: %s is not this machine's loopback; anyone who reaches it could watch. "
                        "Use 127.0.0.1, or add --live-anywhere if that is wanted",
                        address, host);
    a.sin_port  = htons((uint16_t)port);
    l->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->listener < 0) return mcp_fail(err, MCP_ERR_IO, "--live: no socket: %s", strerror(errno));
    setsockopt(l->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(l->listener, (struct sockaddr *)&a, sizeof a) || listen(l->listener, 16))
        return mcp_fail(err, MCP_ERR_IO, "--live %s: %s; choose another port (0 takes a free one)", address,
                        strerror(errno));
    getsockname(l->listener, (struct sockaddr *)&a, &size);
    snprintf(l->url, sizeof l->url, "http://%s:%d/", host, ntohs(a.sin_port));
    return MCP_OK;
}

/* "localhost", "127.0.0.1" or "[::1]", with or without a port. */
static int is_loopback_name(const char *host)
{
    char   name[64];
    size_t n = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (n >= sizeof name || (host[n] && host[n] != ':')) return 0;
    memcpy(name, host, n);
    name[n] = '\0';
    struct in_addr a;
    if (inet_pton(AF_INET, name, &a) == 1) return (ntohl(a.s_addr) >> 24) == 127;
    return !strcasecmp(name, "localhost") || !strcmp(name, "[::1]");
}

static int from_this_machine(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct sockaddr_in              a;
    if (!info || !info->client_addr || info->client_addr->sa_family != AF_INET) return 0;
    memcpy(&a, info->client_addr, sizeof a);
    return (ntohl(a.sin_addr.s_addr) >> 24) == 127;
}

/* A form on another site cannot set a header of its own; a script there is stopped by its Origin. */
static int from_this_page(struct MHD_Connection *c)
{
    const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
    const char *origin = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Origin");
    const char *mark = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "X-Mcpilco");
    if (!mark || strcmp(mark, "stop")) return 0;
    return !origin || (host && !strncmp(origin, "http://", 7) && !strcasecmp(origin + 7, host));
}

/* Event streams. */

/* Called by the server's thread whenever the browser can take more. */
static ssize_t stream_read(void *context, uint64_t position, char *out, size_t room)
{
    stream   *s = context;
    mcp_live *l = s->live;
    size_t    used = 0;
    (void)position;
    pthread_mutex_lock(&l->lock);
    while (used < room && s->message < l->messages) {
        const char *text = l->message[s->message];
        size_t      left = strlen(text) - s->sent, n = left < room - used ? left : room - used;
        memcpy(out + used, text + s->sent, n);
        used += n;
        s->sent += n;
        if (n < left) break;
        s->message++;
        s->sent = 0;
    }
    if (!used && !l->stopping) {
        s->asleep = 1;
        MHD_suspend_connection(s->connection);
    }
    int over = !used && l->stopping;
    pthread_mutex_unlock(&l->lock);
    return over ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)used;
}

static void stream_free(void *context)
{
    stream   *s = context;
    mcp_live *l = s->live;
    pthread_mutex_lock(&l->lock);
    for (stream **at = &l->streams; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    pthread_mutex_unlock(&l->lock);
    mcp_free(s);
}

/* With the lock held. */
static void wake_streams(mcp_live *l)
{
    for (stream *s = l->streams; s; s = s->next)
        if (s->asleep) {
            s->asleep = 0;
            MHD_resume_connection(s->connection);
        }
}

static struct MHD_Response *stream_response(mcp_live *l, struct MHD_Connection *c)
{
    stream *s = mcp_calloc(1, sizeof *s);
    if (!s) return NULL;
    s->live = l;
    s->connection = c;
    struct MHD_Response *r =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE, stream_read, s, stream_free);
    if (!r) {
        mcp_free(s);
        return NULL;
    }
    pthread_mutex_lock(&l->lock);
    s->next = l->streams;
    l->streams = s;
    pthread_mutex_unlock(&l->lock);
    MHD_add_response_header(r, "Content-Type", "text/event-stream");
    return r;
}

/* Requests. */

static struct MHD_Response *text_response(const char *text, const char *type)
{
    struct MHD_Response *r =
        MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);
    if (r) MHD_add_response_header(r, "Content-Type", type);
    return r;
}

static enum MHD_Result answer(struct MHD_Connection *c, unsigned code, struct MHD_Response *r)
{
    if (!r) return MHD_NO;
    MHD_add_response_header(r, "Cache-Control", "no-store");
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(r, "Content-Security-Policy",
                            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                            "connect-src 'self' blob:; img-src data:; frame-ancestors 'none'");
    enum MHD_Result done = MHD_queue_response(c, code, r);
    MHD_destroy_response(r);
    return done;
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned code, const char *text)
{
    return answer(c, code, text_response(text, "text/plain; charset=utf-8"));
}

static enum MHD_Result send_report(mcp_live *l, struct MHD_Connection *c)
{
    pthread_mutex_lock(&l->lock);
    struct MHD_Response *r = l->report ? text_response(l->report, "text/html; charset=utf-8") : NULL;
    l->reports_sent += r != NULL;
    pthread_mutex_unlock(&l->lock);
    return r ? answer(c, 200, r) : refuse(c, 404, "the run is not finished\n");
}

static enum MHD_Result stop_button(mcp_live *l, struct MHD_Connection *c)
{
    if (!from_this_machine(c) || !from_this_page(c))
        return refuse(c, 403, "only the page itself, opened on this machine, may stop the run\n");
    l->stop_asked = 1;
    return refuse(c, 202, "stopping\n");
}

static enum MHD_Result handle(void *context, struct MHD_Connection *c, const char *path, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **state)
{
    static int  begun;
    mcp_live   *l = context;
    const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
    (void)version;
    (void)upload;
    if (!*state) { /* headers only; a body, if there is one, comes with later calls and is dropped */
        *state = &begun;
        return MHD_YES;
    }
    if (*upload_size) {
        *upload_size = 0;
        return MHD_YES;
    }
    if (!l->anywhere && (!host || !is_loopback_name(host)))
        return refuse(c, 403, "this page is served under the names of the loopback only\n");
    if (!strcmp(path, "/stop") && !strcmp(method, "POST")) return stop_button(l, c);
    if (strcmp(method, "GET")) return refuse(c, 405, "only GET\n");
    if (!strcmp(path, "/")) return answer(c, 200, text_response(l->page, "text/html; charset=utf-8"));
    if (!strcmp(path, "/events")) return answer(c, 200, stream_response(l, c));
    if (!strcmp(path, "/report")) return send_report(l, c);
    return refuse(c, 404, "nothing here\n");
}

/* Browsers may take at most half of the files this process may still open: the run needs some. */
static unsigned browsers_allowed(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur == RLIM_INFINITY) return BROWSERS;
    long spare = ((long)files.rlim_cur - 16) / 2;
    return (unsigned)(spare < 1 ? 1 : spare > BROWSERS ? BROWSERS : spare);
}

mcp_status mcp_live_start(mcp_live **out, const char *address, int anywhere, const char *title,
                          mcp_error *err)
{
    mcp_text  page = {0};
    mcp_live *l = mcp_calloc(1, sizeof *l);
    *out = NULL;
    if (!l) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the live page");
    l->listener = -1;
    l->anywhere = anywhere;
    pthread_mutex_init(&l->lock, NULL);
    mcp_live_page(&page, title);
    mcp_status st = mcp_text_take(&page, &l->page, err);
    if (st == MCP_OK) st = open_listener(l, address, err);
    if (st == MCP_OK) {
        l->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
                                         MHD_ALLOW_SUSPEND_RESUME,
                                     0, NULL, NULL, handle, l, MHD_OPTION_LISTEN_SOCKET, l->listener,
                                     MHD_OPTION_CONNECTION_LIMIT, browsers_allowed(),
                                     MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
                                     MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_END);
        if (!l->daemon)
            st = mcp_fail(err, MCP_ERR_IO, "--live %s: the page's server could not be started", address);
    }
    if (st == MCP_OK) {
        *out = l;
        return MCP_OK;
    }
    if (l->listener >= 0) close(l->listener);
    pthread_mutex_destroy(&l->lock);
    mcp_free(l->page);
    mcp_free(l);
    return st;
}

const char *mcp_live_url(const mcp_live *l) { return l->url; }
int         mcp_live_stop_asked(const mcp_live *l) { return l->stop_asked; }

void mcp_live_push(mcp_live *l, const char *json)
{
    char *text = mcp_sprintf("data: %s\n\n", json);
    if (!text) return;
    pthread_mutex_lock(&l->lock);
    if (l->messages == l->capacity && l->capacity < MESSAGES) {
        int    more = l->capacity ? 2 * l->capacity : 256;
        char **m    = mcp_realloc(l->message, (size_t)more * sizeof *m);
        if (m) {
            l->message  = m;
            l->capacity = more;
        }
    }
    if (l->messages < l->capacity) {
        l->message[l->messages++] = text;
        text                      = NULL;
    }
    wake_streams(l);
    pthread_mutex_unlock(&l->lock);
    mcp_free(text);
}

void mcp_live_report(mcp_live *l, const char *html)
{
    char *copy = mcp_strdup(html);
    pthread_mutex_lock(&l->lock);
    mcp_free(l->report);
    l->report = copy;
    pthread_mutex_unlock(&l->lock);
}

int mcp_live_has_report(mcp_live *l)
{
    pthread_mutex_lock(&l->lock);
    int there = l->report != NULL;
    pthread_mutex_unlock(&l->lock);
    return there;
}

static int all_served(mcp_live *l, int watching)
{
    pthread_mutex_lock(&l->lock);
    int done = !l->streams && (!l->report || l->reports_sent >= watching);
    pthread_mutex_unlock(&l->lock);
    return done;
}

void mcp_live_stop(mcp_live *l)
{
    if (!l) return;
    const struct timespec pause = {.tv_nsec = 20000000};
    int                   watching = 0;
    pthread_mutex_lock(&l->lock);
    l->stopping = 1;
    for (stream *s = l->streams; s; s = s->next) watching++;
    wake_streams(l);
    pthread_mutex_unlock(&l->lock);
    for (int i = 0; i < FAREWELL_MS / 20 && !all_served(l, watching); i++) nanosleep(&pause, NULL);
    MHD_stop_daemon(l->daemon); /* closes the listener too */
    pthread_mutex_destroy(&l->lock);
    for (int i = 0; i < l->messages; i++) mcp_free(l->message[i]);
    mcp_free(l->message);
    mcp_free(l->report);
    mcp_free(l->page);
    mcp_free(l);
}
