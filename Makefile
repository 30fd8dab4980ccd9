# Two commands for everyone: make demo, make test. The rest is for people who work on mcpilco.
BUILD  ?= build
PREFIX ?= /usr/local
DEMO   ?= runs/demo
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: build demo test bench lint coverage install wheel deb arm64 docs setup clean attack results

# One build folder: $(call build_in,folder,cmake options[,target])
build_in = mkdir -p $(1) && \
	{ cmake -S . -B $(1) -G Ninja $(2) > $(1)/configure.log 2>&1 || { cat $(1)/configure.log; exit 1; }; } && \
	cmake --build $(1) -j $(JOBS) $(if $(3),--target $(3))

build:
	@scripts/setup build
	@$(call build_in,$(BUILD),-DCMAKE_BUILD_TYPE=Release)

demo:
	@scripts/setup build
	@$(call build_in,$(BUILD),-DCMAKE_BUILD_TYPE=Release,mcpilco_cli)
	@rm -rf $(DEMO)
	@$(BUILD)/mcpilco learn tasks/cartpole.yaml --out $(DEMO)
	@$(BUILD)/mcpilco report $(DEMO)

test:
	@scripts/setup build test
	@scripts/test

bench: build
	@$(BUILD)/mcpilco bench kernels
	@$(BUILD)/mcpilco bench gp
	@$(BUILD)/mcpilco bench step

# The studies behind docs/results.md, then the page. Hours; stopped, it goes on where it was. STUDIES="figure2
# ladder" for some of them, SEEDS=5 for the first five seeds of each, RANKS=8 over MPI.
results: build
	@scripts/setup results
	@scripts/results $(STUDIES) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(RANKS),--ranks $(RANKS)) \
		--mcpilco $(abspath $(BUILD))/mcpilco

# MINUTES=10 SEED=1; hours are fine. Needs no network beyond loopback.
attack:
	@scripts/setup build attack
	@scripts/attack $(or $(MINUTES),10) $(or $(SEED),1)

lint:
	@scripts/setup build lint
	@scripts/lint

coverage:
	@scripts/setup build test lint
	@$(call build_in,build-coverage,-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=--coverage)
	@ctest --test-dir build-coverage -j $(JOBS) -LE e2e --output-on-failure
	@gcovr -r . --object-directory build-coverage -f src -f apps --exclude-throw-branches -s

# Without the hooks of the tests. DESTDIR is honoured.
install:
	@scripts/setup build
	@$(call build_in,build-install,\
		-DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DCMAKE_INSTALL_PREFIX=$(PREFIX))
	@cmake --install build-install

# dist/mcpilco-*.whl, for any Python of this architecture: it carries the library and what that needs.
wheel:
	@scripts/setup build package
	@/usr/bin/python3 -m pip --quiet wheel . --no-build-isolation --no-deps --wheel-dir dist
	@ls dist/*.whl

# dist/*.deb, for the Debian it is built on; lintian must find no error in them.
deb:
	@scripts/setup build package
	@scripts/deb dist

# The quick tests for arm64, cross-compiled and emulated. Fetches arm64 libraries into build-arm64.
arm64:
	@scripts/setup build test
	@scripts/arm64 build-arm64

# The pages of docs/ as a site with search: build/site/index.html
docs:
	@scripts/setup docs
	@scripts/docs-site build/site

setup:
	@scripts/setup build test lint

clean:
	rm -rf build build-* dist
