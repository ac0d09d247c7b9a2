# Sightline. `make help` lists what there is.
.DEFAULT_GOAL := help
.PHONY: help run demo build test check bench fuzz clean release

SIZES ?= 1000,100000,1000000
EVENTS ?= 1000000,10000000
PAGES ?= 1000,5000,50000
KILLS ?= 200
REQUESTS ?= 1000000
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# On Linux the symbols of the C++ library are left out of those that other programs could ask for: 7 MB less to load.
LINK := $(shell test "$$(uname)" = Linux && echo -extldflags=-Wl,--exclude-libs,ALL)

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build and start both areas on the embedded database; prints the first API key and curl lines
	./bin/sightline serve $(ARGS)

demo: build ## the same with 30 example projects with reports, and websites with visits, in a directory of its own
	./bin/sightline serve --data ./sightline-demo --demo $(ARGS)

build: ## build ./bin/sightline
	@scripts/need go
	CGO_ENABLED=$$(scripts/cgo) go build -trimpath -buildvcs=false -ldflags "-s -w $(LINK) -X main.version=$(VERSION)" -o bin/sightline ./cmd/sightline

test: check build ## everything: static checks, then all tests with the race detector, with SQLite, DuckDB, a PostgreSQL and a Chromium of its own
	@scripts/need curl chromium node npm
	@scripts/clients
	scripts/with-postgres go test -race -timeout 20m ./...

check: ## gofmt, go vet and staticcheck
	@scripts/need go g++
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "run gofmt -w on: $$unformatted"; exit 1; }
	go vet ./...
	go tool staticcheck ./...

bench: ## measure everything beside a baseline (SIZES websites, EVENTS, PAGES of a site), kill -9 the server (KILLS), flood it, send generated requests (REQUESTS); takes two hours
	@scripts/need go g++
	DURABLE=1 scripts/with-postgres go run ./bench -sizes $(SIZES)
	go run ./bench -collect
	go run ./bench -events $(EVENTS)
	scripts/with-site sh -c 'go run ./bench -audit "$$SITE" -audit-pages $(PAGES)'
	DURABLE=1 SIGHTLINE_KILLS=$(KILLS) scripts/with-postgres go test -count=1 -v -timeout 90m -run '^Test(Counted)?KillNine$$' ./cmd/sightline
	SIGHTLINE_OVERLOAD=5m go test -count=1 -v -timeout 20m -run '^TestCountedOverload$$' ./cmd/sightline
	SIGHTLINE_REQUESTS=$(REQUESTS) scripts/with-postgres go test -race -count=1 -v -timeout 3h -parallel 8 -run '^TestGeneratedRequests$$' ./internal/web

fuzz: ## fuzz every parser for FUZZTIME (10s) each
	@scripts/need go g++
	scripts/fuzz $(or $(FUZZTIME),10s)

release: ## build dist/: static linux binaries for amd64, and arm64 where a compiler for it is there, archives with licences, SHA256SUMS
	@scripts/need go g++
	scripts/release $(VERSION)

clean: ## remove what was built; data directories stay
	rm -rf bin dist
