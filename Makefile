# make check runs everything that a change must pass. The rest are its steps, one by one.

GO       ?= go
PARTS    := $(CURDIR)/.tools/node
FUZZTIME ?= 3000x
STEPS    := parts fmt vet build race cross fuzz-pure smoke

# Whole data sets for tests lie beside the repository where somebody has put them; without
# them tests run on the samples in internal/testkit/corpora.
TOOLFIT_DATA ?= $(if $(wildcard ../shared/data),$(abspath ../shared/data))
export TOOLFIT_DATA
TOOLFIT_NODE_PARTS ?= $(PARTS)
export TOOLFIT_NODE_PARTS
# Programs that tests look for lie there: promtool, and helm once deploy-check has built it.
export PATH := $(CURDIR)/.tools/bin:$(PATH)

.PHONY: check check-long parts fmt vet lint build test race cross fuzz fuzz-pure bench bench-replicas compare fit-report soak deploy-check schema-lab search-lab script-lab demo clean release release-check smoke

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

# The module that compares gateways is none of the product's: its few tests take a second.
vet:
	CGO_ENABLED=0 $(GO) vet ./...
	cd internal/bench && CGO_ENABLED=0 $(GO) vet ./... && CGO_ENABLED=0 $(GO) test ./...

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
# it takes; cmd/toolfit starts the program 556 times, which takes 128 CPU seconds with it and 40 without; budget counts
# allocations, of which it makes some itself. These run with it in check-long.
UNRACED := (cmd/toolfit|internal/(browsertest/(steps|grammar|find|snapshot|run|report)|core/(fit|project|script|search|tokens)|testkit/(budget|e2e|scriptlab)))
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

# toolfit beside other gateways on the same server and work: writes its part of docs/benchmarks.md. The gateways come from npm
# and the module proxy, pinned; PEERS="mcpproxy-go=/path/to/it" names programs that are there already, or folders with the source
# of one, which is then built. QUICK=1 takes minutes. ONLY=growth or ONLY=servers,records prints how toolfit alone grows.
compare:
	cd internal/bench && CGO_ENABLED=0 $(GO) build -o $(CURDIR)/bin/compare . && $(CURDIR)/bin/compare $(if $(QUICK),-quick) -only "$(ONLY)" -peers "$(PEERS)"

# How well schemas, arguments, results and the search fit, on the sets in TOOLFIT_DATA and on open ones: writes its part of
# docs/benchmarks.md, offline. SETS="tau2=/path nestful=/path mcpproxy=/path" names git repositories, bare or not.
fit-report:
	$(GO) run ./internal/testkit/fitreport -sets "$(SETS)"

# Calls per second and CPU per call with 1, 2 and 4 gateways on one PostgreSQL, and what limits them.
bench-replicas:
	$(GO) run ./internal/testkit/bench -replicas -cold=false

# A thousand sessions and 64 callers on servers that are slow, die and garble, for a minute;
# then 64 callers of action recall whose services do not work every tenth time, for another.
soak:
	$(GO) test -count=1 -run '^TestSoak' -v ./internal/testkit/e2e -soak 60s

# The chart by Helm itself and against the schemas of Kubernetes, the compose example by Docker Compose. These are built from
# their Go modules, which takes 15 minutes the first time on two cores, and the schemas are in a module of 40 MB, so check
# leaves this out: its tests fill in the chart with the few functions that it uses.
HELM        := v3.18.6
KUBECONFORM := v0.7.0
COMPOSE     := v2.40.3
deploy-check: parts .tools/bin/helm-$(HELM) .tools/bin/kubeconform-$(KUBECONFORM) .tools/bin/docker-compose-$(COMPOSE)
	$(GO) test -count=1 -v ./deploy -deploy

.tools/bin/helm-$(HELM):
	GOBIN=$(CURDIR)/.tools/bin $(GO) install helm.sh/helm/v3/cmd/helm@$(HELM)
	touch $@

.tools/bin/kubeconform-$(KUBECONFORM):
	GOBIN=$(CURDIR)/.tools/bin $(GO) install github.com/yannh/kubeconform/cmd/kubeconform@$(KUBECONFORM)
	touch $@

# Its go.mod excludes versions, which go install does not take.
.tools/bin/docker-compose-$(COMPOSE):
	cd "$$($(GO) mod download -json github.com/docker/compose/v2@$(COMPOSE) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')" && \
		CGO_ENABLED=0 $(GO) build -o $(CURDIR)/.tools/bin/docker-compose ./cmd
	touch $@

# Everything that a release publishes, in dist: make release VERSION=v0.1.0, or a snapshot without it. See docs/releasing.md.
# RELEASE="-only linux/amd64 -parts deb" builds less; UV names the folder with uv's archives, for the full image.
NFPM := v2.44.1
release: .tools/bin/nfpm-$(NFPM)
	$(GO) run ./scripts/release -version "$(VERSION)" -uv "$(UV)" $(RELEASE)

# All of it, built twice and compared, unpacked and run. It needs root, npm, mmdebstrap, and the network for Debian's and npm's packages.
release-check: parts .tools/bin/nfpm-$(NFPM)
	$(GO) test -count=1 -timeout 60m -v -run '^TestWhole$$' ./scripts/release -whole

# What most people install, unpacked into bare roots and tried.
smoke:
	@$(MAKE) --no-print-directory .tools/bin/nfpm-$(NFPM) || [ "$(CI)" != true ]
	CGO_ENABLED=0 $(GO) test -count=1 -v -run '^TestSmoke$$' ./scripts/release -smoke

.tools/bin/nfpm-$(NFPM):
	GOBIN=$(CURDIR)/.tools/bin CGO_ENABLED=0 $(GO) install github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM)
	@touch $@

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
	rm -rf bin dist .tools
