# make test needs Go, git, make and gcc. It says what else the tests need, installs
# it where it can, and says which tests are skipped otherwise.
# COUNTERSIGN_REQUIRE=all makes a skipped test a failure.

LINT = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
BENCHSTAT = golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
VULN = golang.org/x/vuln/cmd/govulncheck@v1.8.0
TIME = 30s

.PHONY: all build test quick prove test-deps vet full race nocgo tools portable lint vuln bench bench-record bench-before bench-compare \
	dudect fuzz cover mutants release binaries sbom man completions reproducible

all: build

# With cgo, where there is a C compiler: libsecp256k1, and keys in an HSM.
build:
	go build -o dist/countersign ./cmd/countersign

# All tests; with cgo, without, and under the race detector where goroutines are.
test: test-deps vet full nocgo race tools
	@internal/testenv/install.sh --check

# The inner loop: without the release build, the documents' commands, node
# programs and whatever else takes more than a second or two.
quick:
	go test -short ./...

# Promises that are held over drawn transactions, by executing them, or over stored
# records: over many of them.
prove:
	COUNTERSIGN_PROVE=10000 go test -count=1 -timeout 60m -run 'SolanaEffects' ./interop
	COUNTERSIGN_PROVE=20000 go test -count=1 -timeout 60m -run 'CombinedSignatures|EffectsHoldInExecution' ./chains/bitcoin
	cd interop/evm && COUNTERSIGN_PROVE=10000 go test -count=1 -timeout 60m -v .
	COUNTERSIGN_PROVE=100000 go test -count=1 -timeout 60m ./internal/secp256k1
	go test -count=1 -timeout 60m ./internal/messages/eip712 -run AgainstApitypes -prove=1000000
	COUNTERSIGN_PROVE=100000 go test -count=1 -timeout 60m -run KilledWhileAdopting ./cmd/countersign
	COUNTERSIGN_PROVE=5000 go test -count=1 -timeout 60m -run MessageLibraries ./interop

# Whether the time that signing takes depends on the secret: |t| under 5 shows none,
# above 10 a leak; the control leaks. On a quiet machine.
dudect:
	CGO_ENABLED=0 go test ./internal/secp256k1 -run '^$$' -bench TimingLeak -benchtime 100000x

# Installs system packages, with sudo if need be, and the npm packages of interop/.
test-deps:
	internal/testenv/install.sh

vet:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "gofmt would change:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	go vet ./...

full:
	go test -timeout 20m ./...
	cd interop/browser && go test -timeout 20m .

# Without cgo, as released: the same over the pure-Go curve code.
nocgo:
	CGO_ENABLED=0 go test -short -timeout 20m ./...
	cd interop/evm && go test .
	cd interop/torchwood && go test .

# The packages that start goroutines or share memory between callers.
RACE = . ./httpapi ./stamp ./keystore ./keystore/internal/software ./keystore/memory ./keystore/file ./keystore/pkcs11 \
	./store/... ./otp ./chains/bitcoin ./cmd/countersign/internal/...

# Tests of the command in which a server runs.
SERVING = Reload|Backup|Killed|Nodes|Readi|Health|Admin|TLS|Witness|FirstDay|Scripts/(serve|approve|log)$$

race:
	go test -race -short -timeout 20m $(RACE)
	go test -race -timeout 20m -run '$(SERVING)' ./cmd/countersign

# The tests of the tools, a module of their own.
tools:
	cd tools && go vet ./... && go test ./...

# The tests as code for other processors, where this machine can run it.
portable:
	internal/testenv/portable.sh

lint:
	go run $(LINT) run ./...

# Says so, and succeeds, where the vulnerability database cannot be reached.
vuln:
	.ci/vuln $(VULN) ./...

# What is released, reproducibly, of the commit that is checked out: static binaries
# without cgo, a dynamic one that can use an HSM, and what goes with them.
release: sbom man completions
	cd dist && sha256sum countersign-linux-* countersign-darwin-* countersign-hsm-linux-* *.cdx.json > SHA256SUMS

binaries:
	packaging/release.sh dist

sbom: binaries
	cd packaging/sbom && go build -o ../../dist/.sbom .
	cd dist && ./.sbom countersign-linux-* countersign-darwin-* > countersign.cdx.json
	cd dist && ./.sbom countersign-hsm-* > countersign-hsm.cdx.json

man:
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) \
	  go test -count=1 -run '^TestManPages$$' ./cmd/countersign -man $(CURDIR)/dist/man

completions: build
	@mkdir -p dist/completions
	for shell in bash zsh fish; do dist/countersign completion $$shell > dist/completions/countersign.$$shell || exit 1; done

# Builds the binaries for this platform twice, and compares.
reproducible:
	packaging/reproducible.sh

# Benchmarks into a new file of dist/bench, and a table with the spread of each:
#
#   make bench                        all, and the libraries compared with: about an hour
#   make bench BENCH=Ratio/ethereum   some: a pattern of go test -bench
#   make bench-ethereum               signing on one chain
#   make bench SHORT=-short BENCHTIME=1x COUNT=1   only shows that everything runs
#   make bench-record                 all, into bench/results, which is committed
#
# Nothing but bench-record writes to a committed file. PEERS= leaves the other
# libraries out. Leave the machine alone meanwhile.
BENCH = .
PEERS = bench/peers
BENCHTIME = 200ms
COUNT = 6
SHORT =
MEASURED := dist/bench/$(shell date -u +%Y-%m-%dT%H%M%S).txt
RECORDED := bench/results/$(shell date -u +%Y-%m-%d).txt
STAT = go run $(BENCHSTAT) -ignore date,commit,load-at-start,kernel,memory,node,note

bench:
	@mkdir -p $(dir $(MEASURED))
	@BENCH='$(BENCH)' BENCHTIME='$(BENCHTIME)' COUNT='$(COUNT)' PEERS='$(PEERS)' SHORT='$(SHORT)' bench/run.sh > $(MEASURED)
	@$(STAT) $(MEASURED)
	@echo "The output is in $(MEASURED)."

bench-%:
	@$(MAKE) bench BENCH='^Benchmark(Ratio|Sign|Parallel)/^$*' PEERS=

bench-record:
	@test ! -e $(RECORDED) || { echo "$(RECORDED) exists: remove it first if it is to be measured again" >&2; exit 1; }
	@$(MAKE) bench BENCH=. COUNT=6 SHORT= BENCHTIME=200ms MEASURED=dist/bench/record.txt
	@mkdir -p $(dir $(RECORDED)) && mv dist/bench/record.txt $(RECORDED)
	@echo "Recorded in $(RECORDED): bring the tables of docs/performance.md up to date."

# Requests to a server of this commit and to one of another, in turns:
# make bench-before OLD=HEAD~1
bench-before:
	@rm -rf dist/before && mkdir -p dist && git worktree add --force --detach dist/before $(OLD)
	cd dist/before && go test -c -o ../bench-before ./bench; git worktree remove --force $(CURDIR)/dist/before
	COUNTERSIGN_BENCH_BEFORE=$(CURDIR)/dist/bench-before go test -run '^$$' -bench '^BenchmarkBefore$$' -benchtime 1x -timeout 1h ./bench

# What a change did: make bench-compare OLD=before.txt NEW=after.txt
bench-compare:
	$(STAT) $(OLD) $(NEW)

# Every fuzz target for TIME each.
fuzz:
	@for package in $$(go list ./... ); do \
	  for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	    echo "$$package $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(TIME) $$package || exit 1; \
	  done; \
	done

# Statements that tests cover, package by package, of what reads and decides:
# by the tests of these packages and of the engine over them.
READERS = ./chains/... ./activity ./stamp ./otp/... ./store/... ./internal/strictjson ./keystore/keyformat ./keystore/file ./keystore/wallet ./keystore/pkcs11
COVERED = $$(go list $(READERS) | grep -v 'test$$')

cover:
	@go test -coverpkg=$$(echo $(COVERED) | tr ' ' ,) -coverprofile=cover.out $(COVERED) . > cover.log || { cat cover.log; exit 1; }
	@awk '!/^mode:/ { n[$$1] = $$2; if ($$3) hit[$$1] = 1 } \
	  END { for (b in n) { p = b; sub("/[^/]*$$", "", p); all[p] += n[b]; if (hit[b]) got[p] += n[b] } \
	        for (p in all) printf "%6.1f %% of %5d  %s\n", 100 * got[p] / all[p], all[p], p }' cover.out | sort -k5

# Switches off one refusal of these packages at a time and reports those that no
# test misses: see tools/mutants. About twenty minutes. Some refusals are tested
# by the suites alone, those of an HSM by SoftHSM.
MUTANTS = dist/mutants

mutants:
	@test -n "$$COUNTERSIGN_SUITES" || echo "COUNTERSIGN_SUITES is not set: refusals that only the suites test will be reported as survivors"
	go build -C tools -o ../$(MUTANTS) ./mutants
	$(MUTANTS) $$(go list ./chains/... | grep -v 'test$$')
	$(MUTANTS) -with .,./httpapi ./internal/strictjson ./activity ./stamp
	$(MUTANTS) -with .,./httpapi ./otp/... ./internal/otpledger ./store ./store/memory ./store/bolt ./store/internal/leases
	$(MUTANTS) ./store/postgres
	$(MUTANTS) -with ./keystore/memory ./keystore/keyformat ./keystore/wallet ./keystore/file ./keystore ./keystore/internal/software
	$(MUTANTS) ./policy ./policy/hosted
	$(MUTANTS) -with ./httpapi .
	$(MUTANTS) ./httpapi ./cmd/countersign/internal/config ./cmd/countersign/internal/lines
	@if [ "$$COUNTERSIGN_REQUIRE" = all ] || { command -v gcc && command -v softhsm2-util; } >/dev/null; then \
	  CGO_ENABLED=1 $(MUTANTS) ./keystore/pkcs11; \
	else echo "gcc or SoftHSM is not installed: keystore/pkcs11 is left out"; fi
