/* embed.c - a learned controller in a control loop of your own: here the "robot" is a pendulum integrated by
 * hand. cc embed.c $(pkg-config --cflags --libs mcpilco) -lm && ./a.out RUN */
#include <math.h>
#include <stdio.h>

#include <mcpilco/controller.h>

int main(int argc, char **argv)
{
    mcp_controller     *c;
    mcp_controller_info info;
    mcp_error           err;
    if (argc != 2 || mcp_controller_load(&c, argv[1], 0, &err) != MCP_OK) {
        fprintf(stderr, argc != 2 ? "usage: embed RUN\n" : "embed: %s\n", err.text);
        return 1;
    }
    mcp_controller_describe(c, &info);
    if (info.measured != 1 || info.commands != 1) {
        fprintf(stderr, "embed: this loop is for a pendulum: one angle, one torque\n");
        mcp_controller_free(c);
        return 1;
    }
    double theta = 0, dtheta = 0, u, dt = 1 / info.rate / 100;
    mcp_controller_reset(c);
    for (int k = 0; k < (int)(2.5 * info.rate); k++) {
        if (mcp_controller_step(c, &theta, &u, NULL)) fprintf(stderr, "a number was not finite\n");
        printf("%.3f %.4f %.4f\n", k / info.rate, theta, u);
        for (int i = 0; i < 100; i++) { /* m = 1 kg, l = 0.5 m */
            dtheta += dt * (u - 0.02 * dtheta - 9.81 * 0.5 * sin(theta)) / 0.25;
            theta += dt * dtheta;
        }
    }
    mcp_controller_free(c);
    return 0;
}
