/* standin_plant.h - moves in place of a real plant, for what only needs data of the right size. */
#ifndef STANDIN_PLANT_H
#define STANDIN_PLANT_H

#include "plant/plant_handle.h"

typedef struct {
    const mcp_task *task;
    double          x[MCP_SAMPLE_STATES];
    int             sample;
} standin;

/* s is the plant's memory and must outlive it. */
mcp_status standin_open(mcp_plant **out, const mcp_system *system, standin *s, mcp_error *err);

#endif
