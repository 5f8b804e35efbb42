# make check runs everything that a change must pass. The rest are its steps, one by one.

GO       ?= go
PARTS    := $(CURDIR)/.tools/node
FUZZTIME ?= 3000x
STEPS    := parts fmt vet build race cross fuzz-pure

# Whole data sets for tests lie beside the repository where somebody has put them; without
# them tests run on the samples in internal/testkit/corpora.
TOOLFIT_DATA ?= $(if $(wildcard ../shared/data),$(abspath ../shared/data))
export TOOLFIT_DATA
TOOLFIT_NODE_PARTS ?= $(PARTS)
export TOOLFIT_NODE_PARTS
# Programs that tests look for lie there: promtool, and helm once deploy-check has built it.
export PATH := $(CURDIR)/.tools/bin:$(PATH)

.PHONY: check check-long parts fmt vet lint build test race cross fuzz fuzz-pure bench bench-replicas soak deploy-check schema-lab search-lab script-lab demo clean

check:
	@summary=; \
	for step in $(STEPS); do \
		echo "== $$step"; from=$$(date +%s); \
		$(MAKE) --no-print-directory $$step; good=$$?; \
		summary="$$summary$$(printf '  %-9s %4d s' $$step $$(($$(date +%s) - from)))\n"; \
		if [ $$good != 0 ]; then printf "\ntime per step:\n$$summary"; echo "check: $$step is not good"; exit 1; fi; \
	done; \
	printf "\ntime per step:\n$$summary"; echo "check: all good"

# What takes too long for every change: the whole of tests of which check runs a part.
check-long: parts
	$(GO) test -count=1 ./internal/state/store -run '^(TestSQLite|TestPostgres)$$' -long -v
	$(GO) test -count=1 ./internal/entrance/restapi -run '^TestNoAnswerSpeaksOfGo$$' -long -v
	$(GO) test -count=1 -timeout 60m ./internal/testkit/e2e -long -parallel 3 -v
	$(GO) test -count=1 -timeout 60m -race $$($(GO) list ./... | grep -E '$(UNRACED)$$')

# What the full tests need beside Go; see the script.
parts:
	@scripts/install-test-parts $(PARTS)

fmt:
	@bad=$$(gofmt -l $$(find . -name '*.go' -not -path './.tools/*')) || exit 1; \
	if [ -n "$$bad" ]; then echo "not formatted; run gofmt -w on:"; echo "$$bad"; exit 1; fi

vet:
	CGO_ENABLED=0 $(GO) vet ./...

# What staticcheck finds, by the checks of .golangci.yml, and the known vulnerabilities of what
# we use. Both need the network and minutes, so check leaves this out.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0
lint:
	$(GO) run $(STATICCHECK) -checks "$$(sed -n 's/^ *checks: \[\(.*\)\]$$/\1/p' .golangci.yml | tr -d ' ')" ./...
	$(GO) run $(GOVULNCHECK) ./...

build:
	CGO_ENABLED=0 $(GO) build ./...
	CGO_ENABLED=0 $(GO) build -o bin/toolfit ./cmd/toolfit

test:
	$(GO) test ./...

# The race detector needs a C compiler. Without one the tests run without it, but not in CI. It makes tests several times as
# slow. It finds nothing where nothing runs at the same time, in the language of browser tests, and little in the core, which
# takes values and returns values; servers and clients of e2e are other programs, and so are scripts, which have less time than
# it takes. These run with it in check-long.
UNRACED := internal/(browsertest/(steps|grammar|find|snapshot|run|report)|core/(fit|project|script|search)|testkit/(e2e|scriptlab))
race:
	@if [ -n "$$(command -v cc || command -v gcc)" ] || [ "$(CI)" = true ]; then \
		echo "$(GO) test -race"; \
		CGO_ENABLED=1 $(GO) test -race -timeout 30m $$($(GO) list ./... | grep -vE '$(UNRACED)$$') && \
			CGO_ENABLED=0 $(GO) test -timeout 30m $$($(GO) list ./... | grep -E '$(UNRACED)$$'); \
	else \
		echo "no C compiler: the tests run without the race detector"; $(GO) test ./...; \
	fi

# Every other system that we build for. The first build for one takes a minute on two cores,
# so check takes the one that differs most; make cross TARGETS="darwin/arm64 ..." takes more.
TARGETS ?= windows/amd64
cross:
	@for target in $(TARGETS); do \
		echo "build for $$target"; \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build ./... || exit 1; \
	done

# Each fuzz function for so many inputs; FUZZTIME=1m takes a minute for each.
fuzz:
	@GO=$(GO) scripts/fuzz $(FUZZTIME)

# The same for packages without a database or an engine for scripts behind them: to build these for fuzzing takes
# minutes on a new machine. Of the others check runs the seeds, as tests.
fuzz-pure:
	@GO=$(GO) scripts/fuzz $(FUZZTIME) pure

# What the gateway costs beside a bare reverse proxy, cold build time and size of the program.
bench:
	$(GO) run ./internal/testkit/bench

# Calls per second and CPU per call with 1, 2 and 4 gateways on one PostgreSQL, and what limits them.
bench-replicas:
	$(GO) run ./internal/testkit/bench -replicas -cold=false

# A thousand sessions and 64 callers on servers that are slow, die and garble, for a minute;
# then 64 callers of action recall whose services do not work every tenth time, for another.
soak:
	$(GO) test -count=1 -run '^TestSoak' -v ./internal/testkit/e2e -soak 60s

# The chart by Helm itself, beside all else that is checked of deploy/. Helm is built from its
# Go module, which takes ten minutes the first time on two cores, so check leaves this out:
# its tests fill in the chart with the few functions of Helm that the chart uses.
HELM := v3.18.6
deploy-check: parts .tools/bin/helm-$(HELM)
	$(GO) test -count=1 -v -run 'Chart|Image|Alarms|Dashboard' ./internal/integration/recall -deploy

.tools/bin/helm-$(HELM):
	GOBIN=$(CURDIR)/.tools/bin $(GO) install helm.sh/helm/v3/cmd/helm@$(HELM)
	touch $@

# What the dialects make of real schemas: compile, acceptance, soundness, completeness and more.
schema-lab:
	$(GO) test ./schema -run '^TestLab$$' -lab -v -timeout 20m

# How well tools are found, and what they cost as text.
search-lab:
	$(GO) test ./internal/core/search ./internal/core/prompt -run '^TestLab' -v -lab

# What ten jobs cost a model as a list of tools, as a search and as scripts. PROFILE="shape: json" adds keys to the profiles.
script-lab:
	$(GO) test ./internal/testkit/scriptlab -run '^TestLab' -v -count=1 -lab -profile "$(PROFILE)"

demo:
	$(GO) run ./cmd/toolfit demo

clean:
	rm -rf bin .tools
