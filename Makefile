# The two commands of the README: make demo, make test. The rest is for people who work on mcpilco.
BUILD ?= build
export MCPILCO_BUILD = $(BUILD)

.PHONY: build demo test bench format lint install setup clean

build: setup
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@cmake --build $(BUILD)
	@rm -f $(BUILD).log

setup:
	@scripts/setup

clean:
	rm -rf build build-*
