/* mcpilco.h - the whole library. */
#ifndef MCPILCO_MCPILCO_H
#define MCPILCO_MCPILCO_H

#include "mcpilco/controller.h"
#include "mcpilco/error.h"
#include "mcpilco/gp.h"
#include "mcpilco/learn.h"
#include "mcpilco/machine.h"
#include "mcpilco/plant.h"
#include "mcpilco/registry.h"
#include "mcpilco/run.h"
#include "mcpilco/task.h"
#include "mcpilco/version.h"

#endif
