/* wires.h - a rig behind a wire and the same rig in this process: the server's end, and the comparison bit by
 * bit. */
#ifndef WIRES_H
#define WIRES_H

#include "bench.h"
#include "plant/serve.h"
#include "rig.h"

static int rig_open(rig *r, mcp_task *task, mcp_error *why)
{
    return rig_create(r, task, NULL, NULL, why) == MCP_OK;
}

static mcp_task *simulated(void)
{
    return bench_task((bench_parts){.explore = "{type: uniform}",
                                    .measured = "{q: {noise: 1e-3, delay: 1}}",
                                    .inputs = "{u: {limit: 2, delay: 1}}"});
}

static mcp_task *wired(const char *plant)
{
    return bench_task((bench_parts){.explore = "{type: uniform}",
                                    .measured = "{q: {noise: 1e-3, delay: 1}}",
                                    .inputs = "{u: {limit: 2, delay: 1}}",
                                    .plant = plant});
}

static void serve_on(mcp_link *l, int ideal)
{
    rig         r;
    mcp_server *s = NULL;
    mcp_error   why = {MCP_OK, ""};
    if (rig_open(&r, simulated(), &why) && mcp_server_create(&s, r.plant, ideal, &why) == MCP_OK)
        (void)mcp_server_run(s, l, NULL, NULL, &why);
    mcp_server_free(s);
    rig_close(&r);
}

/* The same trial in this process and over the wire; truth too when the wire tells it. */
static void check_equal(const char *plant)
{
    rig       here, there;
    mcp_error why = {MCP_OK, ""};
    if (!rig_open(&here, simulated(), &why) || !rig_open(&there, wired(plant), &why)) {
        FAIL_("%s", why.text);
        return;
    }
    for (int trial = 0; trial < 2; trial++) {
        mcp_trial_key key = {5, (uint32_t)trial, 0};
        CHECK_OK(mcp_plant_run(here.plant, NULL, key, NULL, NULL, here.trial, err));
        CHECK_OK(mcp_plant_run(there.plant, NULL, key, NULL, NULL, there.trial, err));
        size_t n = (size_t)here.trial->samples;
        CHECK(n == 101 && there.trial->samples == 101);
        CHECK(!memcmp(here.trial->t, there.trial->t, n * sizeof(double)));
        CHECK(!memcmp(here.trial->measured, there.trial->measured, n * sizeof(double)));
        CHECK(!memcmp(here.trial->observed, there.trial->observed, 2 * n * sizeof(double)));
        CHECK(!memcmp(here.trial->input, there.trial->input, (n - 1) * sizeof(double)));
        CHECK(!memcmp(here.trial->applied, there.trial->applied, (n - 1) * sizeof(double)));
        CHECK(!memcmp(here.trial->truth, there.trial->truth, 2 * n * sizeof(double)));
    }
    rig_close(&here);
    rig_close(&there);
}

#endif
