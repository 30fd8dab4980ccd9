/* cmd_plant.c - mcpilco plant: serve a task's plant over a wire, for the other end to learn on. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "control/system.h"
#include "math/arena.h"
#include "math/clock.h"
#include "options.h"
#include "plant/serve.h"
#include "term.h"

typedef struct {
    const char *task, *serial, *listen;
    int         stdio, tcp, udp, baud, once, ideal;
    option_list set;
} settings;

static int asked_to_stop(void *context)
{
    (void)context;
    return term_stop();
}

static mcp_status serve_fds(mcp_server *s, mcp_link *l, mcp_error *err)
{
    *l = (mcp_link){.in = 0, .out = 1, .kind = MCP_LINK_STREAM};
    snprintf(l->what, sizeof l->what, "standard input");
    mcp_status st = mcp_server_run(s, l, asked_to_stop, NULL, err);
    return st == MCP_ERR_PLANT ? MCP_OK : st; /* the other end went away: that is how it ends */
}

static mcp_status serve_serial(const settings *o, mcp_server *s, mcp_link *l, mcp_error *err)
{
    mcp_status st;
    do {
        if ((st = mcp_link_serial(l, o->serial, o->baud, err)) != MCP_OK) return st;
        fprintf(stderr, "mcpilco plant: listening on %s\n", o->serial);
        st = mcp_server_run(s, l, asked_to_stop, NULL, err);
        mcp_link_close(l, 0.0);
    } while (!term_stop() && !o->once && st == MCP_OK);
    return st;
}

static mcp_status serve_net(const settings *o, mcp_server *s, mcp_link *l, mcp_error *err)
{
    int        datagram = o->udp >= 0, port = datagram ? o->udp : o->tcp, fd;
    mcp_status st = mcp_listen(&fd, datagram, o->listen, &port, err);
    if (st != MCP_OK) return st;
    printf("listening on %s:%d\n", o->listen ? o->listen : "127.0.0.1", port);
    fflush(stdout);
    while (!term_stop() && st == MCP_OK) {
        if ((st = mcp_accept(l, fd, datagram, mcp_clock() + 0.1, err)) != MCP_OK) break;
        if (l->in < 0) continue;
        mcp_error gone = {MCP_OK, ""};
        if (mcp_server_run(s, l, asked_to_stop, NULL, &gone) != MCP_OK)
            fprintf(stderr, "mcpilco plant: %s\n", gone.text);
        if (datagram) mcp_forget_peer(l);
        else mcp_link_close(l, 0.0);
        if (o->once) break;
    }
    close(fd);
    return st;
}

static int serve(const settings *o)
{
    mcp_task   *task = NULL;
    mcp_system *system = NULL;
    mcp_plant  *plant = NULL;
    mcp_server *server = NULL;
    mcp_error   err = {MCP_OK, ""};
    mcp_status  st;
    mcp_link   *l = mcp_calloc(1, sizeof *l);
    if (!l) {
        st = mcp_fail(&err, MCP_ERR_MEMORY, "out of memory");
        goto done;
    }
    if ((st = mcp_task_load(&task, o->task, o->set.item, o->set.count, &err)) != MCP_OK) goto done;
    if ((st = mcp_system_create(&system, task, &err)) != MCP_OK) goto done;
    system->watch = term_watch();
    if ((st = mcp_plant_open(&plant, system, &err)) != MCP_OK) goto done;
    if ((st = mcp_server_create(&server, plant, o->ideal, &err)) != MCP_OK) goto done;
    if (o->serial) st = serve_serial(o, server, l, &err);
    else if (o->tcp >= 0 || o->udp >= 0) st = serve_net(o, server, l, &err);
    else st = serve_fds(server, l, &err);
done:
    mcp_server_free(server);
    mcp_plant_close(plant);
    mcp_system_free(system);
    mcp_task_free(task);
    mcp_free(l);
    return st == MCP_OK ? 0 : term_error("plant", &err);
}

int cmd_plant(int argc, char **argv)
{
    settings     o = {.tcp = -1, .udp = -1, .baud = 115200};
    const option table[] = {
        {"--stdio", OPTION_FLAG, &o.stdio, 0, 0, NULL, "answer on standard input and output (the default)",
         NULL},
        {"--tcp", OPTION_INT, &o.tcp, 0, 65535, "PORT",
         "answer on this TCP port; 0 takes a free one and prints it", NULL},
        {"--udp", OPTION_INT, &o.udp, 0, 65535, "PORT", "answer on this UDP port", NULL},
        {"--serial", OPTION_TEXT, &o.serial, 0, 0, "DEVICE", "answer on this serial line", NULL},
        {"--baud", OPTION_INT, &o.baud, 300, 4000000, "N", "speed of the serial line (115200)", NULL},
        {"--listen", OPTION_TEXT, &o.listen, 0, 0, "ADDRESS",
         "tcp, udp: accept from other machines at this address; without it only this machine can connect",
         NULL},
        {"--ideal", OPTION_FLAG, &o.ideal, 0, 0, NULL,
         "tell the true state only; the other end simulates the sensors", NULL},
        {"--once", OPTION_FLAG, &o.once, 0, 0, NULL, "end after the first connection", NULL},
        {"--set", OPTION_LIST, &o.set, 0, 0, "KEY=VALUE", "change the task file's value", NULL},
    };
    const command c = {
        .verb = "plant",
        .synopsis = "TASK [--stdio | --tcp PORT | --udp PORT | --serial DEVICE] [options]",
        .about = "Serves the task's simulated plant over a wire, by the protocol of docs/plant-protocol.md, "
                 "as a rig would.",
        .examples =
            "mcpilco plant tasks/cartpole.yaml --tcp 7000\n"
            "    then, elsewhere: mcpilco learn tasks/cartpole.yaml --set 'plant={tcp: 127.0.0.1:7000}'\n",
        .options = table,
        .count = sizeof table / sizeof *table,
        .least = 1,
        .most = 1,
        .positional = &o.task};
    int code = options_parse(&c, argc, argv);
    if (code != OPTIONS_GO) return code;
    if (o.stdio + (o.tcp >= 0) + (o.udp >= 0) + (o.serial != NULL) > 1) {
        fprintf(stderr, "mcpilco plant: choose one of --stdio, --tcp, --udp and --serial\n");
        return 2;
    }
    term_catch_signals();
    return serve(&o);
}
