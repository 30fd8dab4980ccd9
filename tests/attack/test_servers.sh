#!/usr/bin/env bash
# Served plants: junk datagrams, silent clients, strangers during a trial.
set -eu
. "$SOURCE/tests/plant/common.sh"
spring 2 '{ode: {v: u - 4*q - 0.1*v}}' > spring.yaml
"$PYTHON" "$SOURCE/tests/attack/servers.py" "$MCPILCO" spring.yaml || fail servers
