# make test needs Go, git, make and gcc; it installs what else the tests want,
# or says which were left out. COUNTERSIGN_REQUIRE=all makes that a failure.

LINT = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
BENCHSTAT = golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
VULN = golang.org/x/vuln/cmd/govulncheck@v1.8.0
TIME = 30s

.PHONY: all build test test-deps vet race nocgo portable lint vuln bench bench-report bench-compare \
	fuzz fuzz-corpus cover mutants release binaries sbom man completions reproducible

all: build

# With cgo, where there is a C compiler: libsecp256k1, and keys in an HSM.
build:
	go build -o dist/countersign ./cmd/countersign

test: test-deps vet race nocgo

test-deps:
	internal/testenv/install.sh

vet:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "gofmt would change:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	go vet ./...

race:
	go test -race ./...

# Without cgo: the same tests over the pure-Go curve code.
nocgo:
	CGO_ENABLED=0 go test ./...

# The tests as code for other processors, where this machine can run it.
portable:
	internal/testenv/portable.sh

lint:
	go run $(LINT) run ./...

# Says so, and succeeds, where the vulnerability database cannot be reached.
vuln:
	.ci/vuln $(VULN) ./...

# What is released: static binaries without cgo of the commit that is checked
# out, which anybody can build again, and what goes with them.
release: sbom man completions
	cd dist && sha256sum countersign-* countersign.cdx.json > SHA256SUMS

binaries:
	packaging/release.sh dist

sbom: binaries
	cd packaging/sbom && go build -o ../../dist/.sbom .
	cd dist && ./.sbom countersign-* > countersign.cdx.json

man:
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) \
	  go test -count=1 -run '^TestManPages$$' ./cmd/countersign -man $(CURDIR)/dist/man

completions: build
	@mkdir -p dist/completions
	for shell in bash zsh fish; do dist/countersign completion $$shell > dist/completions/countersign.$$shell || exit 1; done

# Builds the binary for this platform twice, and compares.
reproducible:
	packaging/reproducible.sh

# Every benchmark, with the libraries that the engine is compared with, into
# bench/results/<date>.txt; then the report. Half an hour on two cores: leave the
# machine alone meanwhile. BENCH=… runs some of them, PEERS= leaves the other
# libraries out, SHORT=-short BENCHTIME=1x only shows that everything runs.
BENCH = .
PEERS = bench/peers
BENCHTIME = 200ms
SHORT =
RESULTS := bench/results/$(shell date -u +%Y-%m-%d).txt
DOCS = docs

bench:
	@mkdir -p $(dir $(RESULTS)) $(DOCS)
	@BENCH='$(BENCH)' BENCHTIME='$(BENCHTIME)' PEERS='$(PEERS)' SHORT='$(SHORT)' bench/run.sh > $(RESULTS).part
	mv $(RESULTS).part $(RESULTS)
	go run ./bench/report -docs $(DOCS) $(RESULTS)

# The report alone, from the newest results.
bench-report:
	go run ./bench/report -docs $(DOCS)

# What a change did: make bench-compare OLD=before.txt NEW=after.txt. Run what is
# to be compared several times: go test -run '^$$' -bench … -count 10 ./bench
bench-compare:
	go run $(BENCHSTAT) -ignore date,commit,load-at-start,kernel,memory,node,note $(OLD) $(NEW)

# Every fuzz target for TIME each.
fuzz:
	@for package in $$(go list ./... ); do \
	  for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	    echo "$$package $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(TIME) $$package || exit 1; \
	  done; \
	done

# Keep what the fuzzer has found: its cache into fuzz/testdata/corpus.
fuzz-corpus:
	go run ./fuzz/corpus pack

# Statements that tests cover, package by package, of what reads and decides:
# by the tests of these packages and of the engine over them.
READERS = ./chains/... ./activity ./stamp ./otp/... ./store/... ./internal/strictjson ./keystore/keyformat ./keystore/file ./keystore/wallet ./keystore/pkcs11
COVERED = $$(go list $(READERS) | grep -v 'test$$')

cover:
	@go test -coverpkg=$$(echo $(COVERED) | tr ' ' ,) -coverprofile=cover.out $(COVERED) . > cover.log || { cat cover.log; exit 1; }
	@awk '!/^mode:/ { n[$$1] = $$2; if ($$3) hit[$$1] = 1 } \
	  END { for (b in n) { p = b; sub("/[^/]*$$", "", p); all[p] += n[b]; if (hit[b]) got[p] += n[b] } \
	        for (p in all) printf "%6.1f %% of %5d  %s\n", 100 * got[p] / all[p], all[p], p }' cover.out | sort -k5

# Switches off each refusal of these packages, and looks whether a test fails:
# see internal/mutants. It takes about twenty minutes. Some refusals are held by
# the suites alone, and those of an HSM by SoftHSM: without it they are left out.
mutants:
	@test -n "$$COUNTERSIGN_SUITES" || echo "COUNTERSIGN_SUITES is not set: what only the suites notice will be said to survive"
	go run ./internal/mutants $$(go list ./chains/... | grep -v 'test$$')
	go run ./internal/mutants -with .,./httpapi ./internal/strictjson ./activity ./stamp
	go run ./internal/mutants -with .,./httpapi ./otp/... ./store ./store/memory ./store/bolt ./store/internal/leases
	go run ./internal/mutants ./store/postgres
	go run ./internal/mutants -with ./keystore/memory ./keystore/keyformat ./keystore/wallet ./keystore/file ./keystore ./keystore/internal/software
	go run ./internal/mutants -with ./httpapi .
	go run ./internal/mutants ./httpapi ./cmd/countersign/internal/config ./cmd/countersign/internal/lines
	@if [ "$$COUNTERSIGN_REQUIRE" = all ] || { command -v gcc && command -v softhsm2-util; } >/dev/null; then \
	  CGO_ENABLED=1 go run ./internal/mutants ./keystore/pkcs11; \
	else echo "gcc or SoftHSM is not installed: keystore/pkcs11 is left out"; fi
