/* sensor.h - the sensors of a simulated plant: y(t) = round(q(t - delay) + noise), wrapped where the sensor
 * wraps; q a state or an expression of the state. */
#ifndef MCP_PLANT_SENSOR_H
#define MCP_PLANT_SENSOR_H

#include "math/rng.h"
#include "plant/plant_parts.h"

/* The stream of a plant's random numbers: run 0 is a trial of the learning loop, runs 1, 2, .. are
 * evaluations. Channels 0 .. ny-1 are sensor noise (time: the sample), MCP_START_CHANNEL on is the start
 * state, MCP_RANDOM_CHANNEL on what the plant draws of its own. */
enum { MCP_START_CHANNEL = 128, MCP_RANDOM_CHANNEL = 192, MCP_PICK_CHANNEL = 255 };
mcp_stream mcp_plant_stream(uint64_t seed, uint32_t trial, uint32_t run);

typedef struct {
    const mcp_task *task;
    mcp_stream      stream;
    int             sample;  /* index of the next sample */
    int             depth;   /* longest delay + 1        */
    double         *history; /* [depth][ny], ring        */
    mcp_program    *program; /* of sensors that show expressions; NULL: all show states */
    mcp_runner      runner;
} mcp_sensor;

mcp_status mcp_sensor_create(mcp_sensor *s, const mcp_task *task, mcp_error *err);
void       mcp_sensor_free(mcp_sensor *s);
void       mcp_sensor_reset(mcp_sensor *s, uint64_t seed, uint32_t trial, uint32_t run);
/* One sample: true state x[nx] -> y[ny]. Before a delay has passed the sensor shows the first state. */
void mcp_sensor_read(mcp_sensor *s, const double *x, double *y);

#endif
