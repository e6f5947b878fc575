# make test needs Go, git, make and gcc. It lists what else the tests need, installs it
# if it can, and reports the tests that are skipped without it.
# COUNTERSIGN_INSTALL=no installs nothing.
# COUNTERSIGN_REQUIRE=all turns a skipped test into a failure.

LINT = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
BENCHSTAT = golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
VULN = golang.org/x/vuln/cmd/govulncheck@v1.8.0
TIME = 30s

# Ends a test binary that hangs. The slowest takes three minutes on two quiet cores.
LIMIT = -timeout 15m

# The limit of runs with many more cases than usual, and of those that kill a program again and again.
LONGER = -timeout 60m

# How many packages are built and tested at a time: four at least, because many tests wait
# for a disk or a server.
AT_ONCE := -p $(shell cores=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 4); test $$cores -gt 4 && echo $$cores || echo 4)

.PHONY: all build test quick ci builds prove load test-deps vet full modules kms race nocgo long poolers contract tools 386 portable lint vuln \
	bench bench-record bench-tables bench-before bench-compare dudect fuzz cover release binaries sbom man completions reproducible

all: build

# Builds dist/countersign: with cgo if there is a C compiler, which adds libsecp256k1
# and keys in an HSM.
build:
	go build -o dist/countersign ./cmd/countersign

# Runs what one needs to trust a build: every test once, with real databases, tokens and
# libraries of others. What takes longest is left to ci. A test program lives for seconds, and so
# may its garbage: GOGC is that of a server.
test: export GOGC = 400
test: test-deps vet
	@$(MAKE) -j3 full modules tools
	@echo 'Left to make ci, because they take long: the race detector, builds without cgo, for 32 bits and for'
	@echo 'other systems, the key services (keystore/kms), fail-over, and $(subst $$,,$(subst ^,,$(subst |, ,$(LONG)))).'
	@internal/testenv/install.sh --check

# Runs the fast tests: everything that needs no other program and at most a few seconds.
# What is cached is not run again, and go vet has a target of its own.
quick:
	go test $(LIMIT) -short -vet=off ./...

# Runs what continuous integration runs in addition to test: the fast tests without cgo and on
# 32 bits, those with the race detector, key services, the tests that test leaves out because they
# take long, fail-over between two database servers, again and again, and builds for other platforms.
ci: test-deps builds nocgo 386 race kms long poolers
	@internal/testenv/install.sh --check

# The tests that test leaves out: they build the released program or one for another architecture,
# kill a program again and again, or draw long. make reproducible runs TestReleasedBinary with the released one.
LONG = ^TestVectorsOnARM64$$|^TestKilledImport$$|^TestSignWithVotesKilled$$|^TestWindows$$|^TestFailingDisk$$|^TestHammeredLimitOfNodesKilled$$|^TestURLoss$$|^TestPackages$$|^TestImage$$|^TestTaggedModules$$|^TestMoveKilled$$|^TestRightsOfKubernetes$$|^TestKubernetesStepByStep$$|^TestContainerStepByStep$$|^TestStatement$$|^TestKilledMigration$$|^TestLogDrillKilled$$

# Runs them.
long:
	go test $(LONGER) $(AT_ONCE) -run '$(LONG)' ./cmd/... ./internal/... ./keystore/file ./packaging ./policy ./interop ./store/postgres

# Runs the contract of stores behind a connection pooler, and fail-over.
poolers:
	COUNTERSIGN_PROVE=5 go test $(LONGER) -count=1 -run 'PoolerContract|Failover' ./store/postgres

# Runs the contract of stores over any server, in schemas that it creates and drops:
# make contract STORE=postgres://…
contract:
	COUNTERSIGN_STORE='$(STORE)' go test $(LONGER) -count=1 -run '^TestContractOfServer$$' ./store/postgres

# Runs the randomized tests (executed transactions, libraries as oracles, crashes) with
# many more cases. A test that would be skipped fails.
prove: export COUNTERSIGN_REQUIRE = all
prove:
	COUNTERSIGN_PROVE=10000 go test $(LONGER) -count=1 -run 'SolanaEffects' ./interop
	COUNTERSIGN_PROVE=10000 go test $(LONGER) -count=1 -run TightensProved ./policy
	COUNTERSIGN_PROVE=20000 go test $(LONGER) -count=1 -run 'CombinedSignatures|EffectsHoldInExecution' ./chains/bitcoin
	cd interop/evm && COUNTERSIGN_PROVE=10000 go test $(LONGER) -count=1 -v .
	COUNTERSIGN_PROVE=10000 go test $(LONGER) -count=1 -run Flipped ./store/bolt
	COUNTERSIGN_PROVE=100000 go test $(LONGER) -count=1 -run 'Equals|OnCurve' ./internal/secp256k1
	COUNTERSIGN_PROVE=1000000 go test $(LONGER) -count=1 -run 'EqualDecred|EqualsLibrary|EqualsCore' ./internal/secp256k1
	COUNTERSIGN_PROVE=1000000 go test $(LONGER) -count=1 -run AgainstApitypes ./internal/messages/eip712
	COUNTERSIGN_PROVE=100000 go test $(LONGER) -count=1 -run KilledWhileAdopting ./internal/cli/serve
	COUNTERSIGN_PROVE=10 go test $(LONGER) -count=1 -run LogDrill ./internal/cli/serve
	COUNTERSIGN_PROVE=50 go test $(LONGER) -count=1 -run KilledServer ./internal/cli/serve
	COUNTERSIGN_PROVE=10 go test $(LONGER) -count=1 -run TestSerializable ./store/postgres
	COUNTERSIGN_PROVE=5000 go test $(LONGER) -count=1 -run MessageLibraries ./interop
	COUNTERSIGN_PROVE=1000 go test $(LONGER) -count=1 -run OrdinaryIsSigned ./policy
	COUNTERSIGN_PROVE=5000 go test $(LONGER) -count=1 -run RegisteredWallets ./interop
	COUNTERSIGN_PROVE=2000 go test $(LONGER) -count=1 -run ReplacesNonceAttacked ./policy

# Measures whether the duration of signing depends on the secret. |t| below 5 shows no
# leak, above 10 a leak, as the control has. Needs a quiet machine.
dudect:
	CGO_ENABLED=0 go test ./internal/secp256k1 -run '^$$' -bench TimingLeak -benchtime 100000x

# Installs what the tests need: system packages, with sudo unless root, and npm packages.
test-deps:
	@internal/testenv/install.sh

# Checks formatting and runs go vet.
vet:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "gofmt would change:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	go vet ./...

# Runs the tests with cgo, including the slow ones: first those that wait most, so that others run
# meanwhile. As in quick, vet has seen the code.
full:
	go test $(LIMIT) $(AT_ONCE) -vet=off -skip '$(LONG)|^TestReleasedBinary$$' ./store/postgres ./interop ./policy ./internal/cli/... ./...

# Runs the tests of modules that have dependencies of their own.
modules:
	cd interop/browser && go test $(LIMIT) .
	cd interop/evm && go test $(LIMIT) .
	cd interop/opservice && go test $(LIMIT) .
	cd interop/standardwebhooks && go test $(LIMIT) .
	cd interop/torchwood && go test $(LIMIT) .

# Runs the tests of the key services, whose clients are as large as the rest together.
kms:
	cd keystore/kms && go vet ./... && go test $(LIMIT) -vet=off ./...

# Runs the fast tests without cgo, over the pure-Go curve code of the released binaries.
nocgo:
	CGO_ENABLED=0 go test $(LIMIT) $(AT_ONCE) -short ./...

# The packages that start goroutines or share memory between callers.
RACE = . ./internal/approvals ./httpapi ./stamp ./keystore ./keystore/internal/software ./keystore/memory ./keystore/file ./keystore/pkcs11 \
	./store/... ./otp ./chains/bitcoin \
	$$(go list ./internal/cli/... | grep -Ev '/cli(/(keys|policy|sign|wallets))?$$')

# The tests of the command that run a server.
SERVING = Reload|LogDrill|Killed|Nodes|Readi|Health|Admin|TLS|Witness|FirstDay|Scripts/(serve|approve|log)$$

# Runs those tests with the race detector.
race:
	go test $(LIMIT) -race -short $(RACE)
	go test $(LIMIT) -race -run '$(SERVING)' ./internal/cli ./internal/cli/logs ./internal/cli/serve ./internal/cli/sign

# The packages with clocks, processes or servers in them.
TIMED = . ./internal/approvals ./client ./httpapi/... ./keystore/file ./keystore/pkcs11 ./otp/... ./policy ./store/... ./cmd/... ./internal/cli/... ./docs ./interop

# Runs them beside LOOPS busy loops, with time-outs that grow with the load.
LOOPS = 20
load:
	internal/testenv/load.sh $(LOOPS) $(TIMED)

# Runs the tests of the module tools, and of the one below it.
tools:
	cd tools && go vet ./... && go test $(LIMIT) -vet=off -count=1 ./...
	cd tools/countersign-policy-import && go vet ./... && go test $(LIMIT) -vet=off ./...

# Runs the fast tests as 32-bit code, if this machine can execute it.
386:
	internal/testenv/portable.sh 386

# The platforms for which everything builds and no test runs: see README.md.
PLATFORMS = darwin/amd64 darwin/arm64 freebsd/amd64 linux/riscv64 windows/amd64

# Builds for them.
builds:
	for platform in $(PLATFORMS); do \
	  echo "go build for $$platform" && CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} go build ./... || exit 1; done

# Runs the tests for other architectures, if this machine can execute them.
portable:
	internal/testenv/portable.sh

# Runs golangci-lint.
lint:
	go run $(LINT) run ./...
	cd keystore/kms && go run $(LINT) run ./...
	cd tools/countersign-policy-import && go run $(LINT) run ./...

# Runs govulncheck. It fails only for a finding, or code that cannot be analysed: if the
# database is unreachable, it says so and succeeds.
vuln:
	.ci/vuln $(VULN) ./...
	cd keystore/kms && ../../.ci/vuln $(VULN) ./...
	cd tools/countersign-policy-import && ../../.ci/vuln $(VULN) ./...

# Makes everything that a release page needs of the current commit, in dist, reproducibly: static
# binaries without cgo, with and without key services, a dynamic one that supports HSMs, packages,
# images, SBOMs, man pages and completions, SHA256SUMS, and a statement of how they were made.
# With RELEASE_KEY, the path of a private SSH key (which may be in an agent or a token), SHA256SUMS
# and the statement are signed: packaging/README.md says how users verify them.
RELEASE_VERSION = $(shell sed -n 's/^## v\([0-9.]*\).*/\1/p' CHANGELOG.md | head -1)
RELEASED = countersign-linux-* countersign-darwin-* countersign-hsm-linux-* countersign-kms-linux-* countersign-policy-import-* \
	*_$(RELEASE_VERSION)_*.deb *-$(RELEASE_VERSION)-1.*.rpm countersign-$(RELEASE_VERSION)-*.oci.tar *.cdx.json
ARTIFACTS = ./.artifacts $(1) .. . $(RELEASE_VERSION) $$(git log -1 --format=%ct)

release: sbom man completions
	cd packaging/artifacts && go build -o ../../dist/.artifacts .
	cd dist && $(call ARTIFACTS,packages) && $(call ARTIFACTS,image)
	cd dist && sha256sum $(RELEASED) > SHA256SUMS
	cd dist && $(call ARTIFACTS,statement)
	@[ -z "$(RELEASE_KEY)" ] || for file in SHA256SUMS provenance.intoto.json; do \
	  rm -f dist/$$file.sig && ssh-keygen -Y sign -f "$(RELEASE_KEY)" -n countersign-release dist/$$file || exit 1; done

# Builds the binaries of the release.
binaries:
	packaging/release.sh dist

# Writes the SBOMs of the binaries (CycloneDX).
sbom: binaries
	cd packaging/sbom && go build -o ../../dist/.sbom .
	cd dist && ./.sbom countersign-linux-* countersign-darwin-* > countersign.cdx.json
	cd dist && ./.sbom countersign-hsm-* > countersign-hsm.cdx.json
	cd dist && ./.sbom countersign-kms-* > countersign-kms.cdx.json
	cd dist && ./.sbom countersign-policy-import-* > countersign-policy-import.cdx.json

# Writes the man pages.
man:
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) \
	  go test -count=1 -run '^TestManPages$$' ./internal/cli -man $(CURDIR)/dist/man

# Writes the shell completions.
completions: build
	@mkdir -p dist/completions
	for shell in bash zsh fish; do dist/countersign completion $$shell > dist/completions/countersign.$$shell || exit 1; done

# Builds the binaries for this platform twice and compares them.
reproducible:
	packaging/reproducible.sh

# Runs benchmarks, writes their output to a new file in dist/bench, and prints a table:
#
#   make bench                        all, including peer libraries: about an hour
#   make bench BENCH=Ratio/ethereum   those that match a pattern of go test -bench; write
#                                     $$ for a $ in it: BENCH='Ratio$$/ethereum'
#   make bench-ethereum               signing on one chain
#   make bench SHORT=-short BENCHTIME=1x COUNT=1   only checks that they run
#   make bench-record                 all, to bench/results, which is committed
#
# Only bench-record writes to a committed file. PEERS= excludes the peer libraries. Keep
# the machine otherwise idle.
BENCH = .
PEERS = bench/peers
BENCHTIME = 200ms
PROFILETIME = 2s
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

# Profiles what a benchmark spends, in dist/profile: processor and heap, as text and, if dot is
# installed, as graphs. Flame graphs: go tool pprof -http=: dist/profile/ethereum.cpu
profile-%:
	@mkdir -p dist/profile && go test -c -o dist/profile/bench.test ./bench
	cd bench && ../dist/profile/bench.test -test.run '^$$' -test.bench '^Benchmark(Sign|Messages|Submit)/^$*' -test.benchtime $(PROFILETIME) \
	  -test.cpuprofile ../dist/profile/$*.cpu -test.memprofile ../dist/profile/$*.heap
	@for kind in cpu heap; do \
	  go tool pprof -top -cum -nodecount 60 dist/profile/bench.test dist/profile/$*.$$kind > dist/profile/$*.$$kind.txt || exit 1; \
	  ! command -v dot > /dev/null || go tool pprof -svg dist/profile/bench.test dist/profile/$*.$$kind > dist/profile/$*.$$kind.svg || exit 1; \
	done
	@echo "dist/profile/$*.cpu.txt and $*.heap.txt; go tool pprof -http=: dist/profile/$*.cpu shows the flame graph."

bench-record:
	@test ! -e $(RECORDED) || { echo "$(RECORDED) exists: remove it first to measure again" >&2; exit 1; }
	@$(MAKE) bench BENCH=. COUNT=6 SHORT= BENCHTIME=200ms MEASURED=dist/bench/record.txt
	@mkdir -p $(dir $(RECORDED)) && mv dist/bench/record.txt $(RECORDED)
	@echo "Recorded in $(RECORDED): run make bench-tables, and read what docs/performance.md says of the figures."

# Writes the tables and the picture of docs/performance.md from the results: each row from the
# newest that have it.
OPEN_LOOP = $(lastword $(sort $(shell grep -l '^BenchmarkHTTPOpen' bench/results/*.txt)))
bench-tables:
	cd tools && go run ./tables ../docs/performance.md $(addprefix ../,$(sort $(wildcard bench/results/*.txt)))
	@mkdir -p dist && cd tools && go run ./latency ../$(OPEN_LOOP) > ../dist/latency.svg && mv ../dist/latency.svg ../docs/images/latency.svg

# Benchmarks a server of this commit and one of another, alternating:
# make bench-before OLD=HEAD~1
bench-before:
	@rm -rf dist/before && mkdir -p dist && git worktree add --force --detach dist/before $(OLD)
	cd dist/before && go test -c -o ../bench-before ./bench; git worktree remove --force $(CURDIR)/dist/before
	COUNTERSIGN_BENCH_BEFORE=$(CURDIR)/dist/bench-before go test -run '^$$' -bench '^BenchmarkBefore$$' -benchtime 1x -timeout 1h ./bench

# Compares two outputs: make bench-compare OLD=before.txt NEW=after.txt
bench-compare:
	$(STAT) $(OLD) $(NEW)

# Runs every fuzz target for TIME.
fuzz:
	@for package in $$(go list ./... ); do \
	  for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	    echo "$$package $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(TIME) $$package || exit 1; \
	  done; \
	done

# The packages that read untrusted input or make decisions.
READERS = ./chains/... ./internal/evm ./internal/rlp ./activity ./stamp ./otp/... ./internal/otpledger ./store/... ./internal/strictjson ./keystore/keyformat ./keystore/file ./keystore/wallet ./keystore/pkcs11
COVERED = $$(go list $(READERS) | grep -v 'test$$')

# Prints the share of statements in those packages that their tests and the engine's
# cover.
cover:
	@go test -coverpkg=$$(echo $(COVERED) | tr ' ' ,) -coverprofile=cover.out $(COVERED) . ./internal/approvals ./verify > cover.log || { cat cover.log; exit 1; }
	@awk '!/^mode:/ { n[$$1] = $$2; if ($$3) hit[$$1] = 1 } \
	  END { for (b in n) { p = b; sub("/[^/]*$$", "", p); all[p] += n[b]; if (hit[b]) got[p] += n[b] } \
	        for (p in all) printf "%6.1f %% of %5d  %s\n", 100 * got[p] / all[p], all[p], p }' cover.out | sort -k5

