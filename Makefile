# make            format check, vet, staticcheck, tests: what a change has to pass
# make test       the same
# make test-long  the same tests at full length, without the race detector
# make test-fuzz  every fuzz target for a while: FUZZ=20s each, FUZZ_WIRE=60s for the readers of a server's stream
# make test-real  a real llama-server and a real Ollama: built once (about fifteen minutes), cached outside the checkout
# make test-actions  all that runs on GitHub, here: linters, the workflows for users on act against a GitHub of our own, every
#                    fault of its API, the image (about five minutes; act is built once, cached outside the checkout)
# make bench      speed and size, as ratios
# make bench-verdicts  benchgate and its peers in the same simulated worlds (about six minutes): who blocks what
# make bench-client    benchgate's client and its peers on the same simulated server (about fifteen minutes): how far each is off
# make lint-actions  actionlint and zizmor over every workflow: ours, the examples, and what init writes
# make release    binaries of every platform, their sums and release.json, in dist/: VERSION=v1.2.3
# make image      the container image, built and run with buildah
# make schema     regenerate schema/*.json, docs/metrics.md and docs/wire.md
# make fmt        format the code

.PHONY: all test check unit test-long test-fuzz test-real test-actions bench bench-verdicts bench-client schema fmt build release image lint-actions

GO    ?= go
TOOL  := $(GO) tool -modfile=tools/go.mod
# The race detector needs a C compiler; on a machine with Go alone the tests run without it.
RACE  := $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)
VERSION ?= v0.0.0-dev
FUZZ  ?= 20s
FUZZ_WIRE ?= 60s

all: test

test: check unit

check:
	@test -z "$$($(TOOL) gofumpt -l .)" || { $(TOOL) gofumpt -l .; echo "not formatted: run make fmt"; exit 1; }
	$(GO) vet ./...
	$(TOOL) staticcheck ./...

# The race detector tells what it finds at once; by default it also sleeps for a second at the end of every process.
unit:
	GORACE="atexit_sleep_ms=0 $$GORACE" $(GO) test $(RACE) -short -shuffle=on -timeout 20m ./...

# The scripts of cmd time servers: what would keep both cores busy beside them runs first. What make test and make test-actions
# run at full length is not run again.
test-long:
	$(GO) test -count=1 -timeout 40m $$($(GO) list ./... | grep -v /cmd/)
	$(GO) test -count=1 -timeout 30m -skip '^TestScripts$$/^script$$|^TestReadmeCommandsWork$$|^Test(GitHub|Baselines|ServerAccount)PageWorks$$|^TestNoFaultOfTheAPI' ./cmd/...

test-fuzz:
	FUZZ=$(FUZZ) FUZZ_WIRE=$(FUZZ_WIRE) scripts/fuzz.sh

test-real:
	scripts/test-real.sh

test-actions: lint-actions image
	scripts/test-actions.sh

bench:
	scripts/bench.sh

bench-verdicts:
	scripts/verdicts.sh

bench-client:
	scripts/client.sh

schema:
	$(GO) test ./schema ./internal/bench ./internal/config ./internal/openai ./internal/ingest -run 'Schema|Docs|Golden' -update -count=1

fmt:
	$(TOOL) gofumpt -w .

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o benchgate ./cmd/benchgate

# The binaries of every platform, their sums and release.json, in dist/: the same bytes wherever they are built.
release:
	scripts/release.sh $(VERSION)

image:
	scripts/image.sh

lint-actions:
	scripts/lint-actions.sh
