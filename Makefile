# Sightline. `make help` lists what there is.
.DEFAULT_GOAL := help
.PHONY: help run demo build test check bench fuzz clean release

SIZES ?= 1000,100000,1000000
KILLS ?= 200
REQUESTS ?= 1000000
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build and start both areas on the embedded database; prints the first API key and curl lines
	./bin/sightline serve $(ARGS)

demo: build ## the same with 30 example projects and websites, in a directory of its own
	./bin/sightline serve --data ./sightline-demo --demo $(ARGS)

build: ## build ./bin/sightline
	@scripts/need go
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$(VERSION)" -o bin/sightline ./cmd/sightline

test: check build ## everything: static checks, then all tests with the race detector, on SQLite and on a PostgreSQL of its own
	@scripts/need gcc curl
	scripts/with-postgres go test -race -timeout 20m ./...

check: ## gofmt, go vet and staticcheck
	@scripts/need go
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "run gofmt -w on: $$unformatted"; exit 1; }
	go vet ./...
	go tool staticcheck ./...

bench: ## measure every operation on both engines beside a bare handler (SIZES), kill -9 the server (KILLS), send generated requests (REQUESTS); takes an hour
	@scripts/need go gcc
	DURABLE=1 scripts/with-postgres go run ./bench -sizes $(SIZES)
	DURABLE=1 SIGHTLINE_KILLS=$(KILLS) scripts/with-postgres go test -count=1 -v -timeout 60m -run '^TestKillNine$$' ./cmd/sightline
	SIGHTLINE_REQUESTS=$(REQUESTS) scripts/with-postgres go test -race -count=1 -v -timeout 3h -parallel 8 -run '^TestGeneratedRequests$$' ./internal/web

fuzz: ## fuzz every parser for FUZZTIME (10s) each
	@scripts/need go
	scripts/fuzz $(or $(FUZZTIME),10s)

release: ## build dist/: linux binaries for amd64 and arm64, archives with licences, SHA256SUMS
	@scripts/need go
	scripts/release $(VERSION)

clean: ## remove what was built; data directories stay
	rm -rf bin dist
