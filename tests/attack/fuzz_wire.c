/* Any bytes as lines of a wire, at both ends: a plant's hello against a task, and questions to a served
 * plant. Every answer is one line that ends, and no answer holds what is not text. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/system.h"
#include "math/text.h"
#include "mcpilco/task.h"
#include "plant/hello.h"
#include "plant/serve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char task_text[] = "name: spring\nrate: 50\ntrial: 2\nstate: {q: m, v: m/s}\ninputs: {u: 2}\n"
                                "measured: {q: 1e-3}\nmodel: {velocities: {q: v}}\ncost: q^2\n"
                                "start: {std: 0}\n"
                                "plant: {ode: {v: u - 4*q - 0.1*v}}\n";

static mcp_task   *task;
static mcp_system *system_;
static mcp_plant  *plant;

static void prepare(void)
{
    mcp_error err = {MCP_OK, ""};
    if (task) return;
    if (mcp_task_parse(&task, "spring.yaml", task_text, NULL, 0, &err) ||
        mcp_system_create(&system_, task, &err) || mcp_plant_open(&plant, system_, &err)) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mcp_server *s = NULL;
    mcp_hello   h;
    mcp_error   err = {MCP_OK, ""};
    int         over = 0;
    char       *text = malloc(size + 1);
    prepare();
    if (!text || mcp_server_create(&s, plant, 0, NULL) != MCP_OK) abort();
    memcpy(text, data, size);
    text[size] = 0;
    char *rest = text;
    for (int k = 0; k < 64; k++) {
        char *line = strsep(&rest, "\n");
        if (!line) break;
        mcp_text_plain(line);
        if (mcp_hello_read(&h, line, task, "fuzz", &err) != MCP_OK && !err.text[0]) abort();
        const char *answer = mcp_server_answer(s, line, &over);
        size_t      n = strlen(answer);
        if (n && (answer[n - 1] != '\n' || strchr(answer, '\n') != answer + n - 1)) abort();
    }
    mcp_server_free(s);
    free(text);
    return 0;
}
