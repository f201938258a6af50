# `make help` lists what there is. Servers and tools that are missing are found or installed by test/tools/prepare.

GO      ?= go
# Flags of `signpost dev`, and arguments of `make migrate-…`: make dev ARGS=--sample
ARGS    ?=
# Which packages and further flags of go test: make test PKGS=./db/... TESTFLAGS='-run Watch -v'
PKGS    ?= ./...
TESTFLAGS ?=
FUZZTIME ?= 30s

# Go is often unpacked here and not in PATH.
export PATH := $(PATH):/usr/local/go/bin
# A checkout that belongs to another account, as in containers, has no version to stamp.
export GOFLAGS := $(GOFLAGS) -buildvcs=false

LINT = $(GO) tool -modfile=test/tools/golangci.mod golangci-lint

.DEFAULT_GOAL := help
.PHONY: help dev build test check lint vet fmt bench faults fuzz migrate-up migrate-down migrate-version clean go withservers

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' Makefile

dev: build ## run a gateway with a private Postgres (ARGS='--sample --data-dir DIR …')
	@test/tools/prepare dev
	@if test/tools/prepare has postgres || [ -n "$$SIGNPOST_POSTGRES" ]; then exec bin/signpost dev $(ARGS); \
	else $(MAKE) -s withservers && exec bin/withservers -redis '' -postgres SIGNPOST_POSTGRES bin/signpost dev $(ARGS); fi

build: go ## build bin/signpost, a static binary
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o bin/signpost ./cmd/signpost

test: withservers ## run all tests with the race detector on real servers (PKGS, TESTFLAGS)
	@test/tools/prepare test
	@if test/tools/prepare has compiler; then race=-race; \
	else race=; echo 'no C compiler, so no race detector: install gcc' >&2; fi; \
	exec bin/withservers $(GO) test $$race $(TESTFLAGS) $(PKGS)

check: lint vet test ## lint, vet and test

lint: go ## run golangci-lint, built from its pinned source
	@$(LINT) run

vet: go ## run go vet
	@$(GO) vet ./...

fmt: go ## format the Go files
	@$(LINT) fmt

bench: build ## measure against the yardsticks and print the table (ARGS)
	@test/tools/prepare bench
	@$(GO) run ./test/bench $(ARGS)

faults: build ## break Postgres, connections and gateways under load and print the table (ARGS='-short -run REGEXP')
	@test/tools/prepare test
	@$(GO) run ./test/faults -binary bin/signpost $(ARGS)

fuzz: go ## run every fuzz test for FUZZTIME each (FUZZTIME=30s)
	@test/tools/fuzz $(FUZZTIME)

migrate-up: build ## bring the schema of SIGNPOST_POSTGRES up to this build's version
	@bin/signpost migrate up $(ARGS)

migrate-down: build ## take the schema of SIGNPOST_POSTGRES back (ARGS=VERSION)
	@bin/signpost migrate down $(ARGS)

migrate-version: build ## tell the version of the schema of SIGNPOST_POSTGRES
	@bin/signpost migrate version $(ARGS)

clean: ## remove what was built
	@rm -rf bin

withservers: go
	@$(GO) build -o bin/withservers ./test/tools/withservers

go:
	@command -v $(GO) >/dev/null || { echo 'Go 1.26 or newer is needed: https://go.dev/doc/install' >&2; exit 1; }
