/* scene.h - the task's draw: section as numbers: a state in, the coordinates of all shapes out. */
#ifndef MCP_SCENE_H
#define MCP_SCENE_H

#include <jansson.h>

#include "learn/run_folder.h"
#include "math/text.h"

typedef struct mcp_scene mcp_scene;

/* *out is NULL, and MCP_OK, when the task draws nothing. Borrows run. */
mcp_status mcp_scene_create(mcp_scene **out, const mcp_run *run, mcp_error *err);
void       mcp_scene_free(mcp_scene *s); /* NULL is fine */
/* Numbers of a frame, per shape: line x y x2 y2, circle x y r, rectangle x y width height angle, text
 * x y. Valid until the next call. */
const double *mcp_scene_frame(mcp_scene *s, const double *state);
int           mcp_scene_count(const mcp_scene *s); /* of numbers in a frame */
/* [{kind, colour, text}, ...] */
json_t *mcp_scene_shapes(const mcp_scene *s);
/* A list of frames as the page's player takes them, four digits each; widens view (x0 y0 x1 y1) by what is
 * drawn, unless NULL. states [samples][nx] with that many doubles between samples. */
json_t *mcp_scene_frames(mcp_scene *s, int samples, const double *states, int stride, double view[4]);
/* The shapes of the last frame as SVG, with lines of that width, in CSS classes or, standalone, in plain
 * colours. */
void mcp_scene_svg(const mcp_scene *s, int standalone, double width, mcp_text *out);

#endif
