package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// promise is a figure that the project holds itself to, and where it is
// measured: the worst of what the benchmarks of these names say in the unit.
type promise struct {
	name  string
	of    *regexp.Regexp // of the whole name, such as Ratio/ethereum/eip1559/sign
	unit  string
	bound bound
}

// bound is what is asked of a value.
type bound struct {
	limit   float64
	atLeast bool // else at most
}

func atMost(limit float64) bound  { return bound{limit: limit} }
func atLeast(limit float64) bound { return bound{limit: limit, atLeast: true} }

// worse reports whether a is further from being kept than b.
func (o bound) worse(a, b float64) bool {
	if o.atLeast {
		return a < b
	}
	return a > b
}

func (o bound) kept(value float64) bool { return !o.worse(value, o.limit) }

func (o bound) String() string {
	if o.atLeast {
		return fmt.Sprintf("≥ %g", o.limit)
	}
	return fmt.Sprintf("≤ %g", o.limit)
}

var promises = []promise{
	{"Ethereum, Tron, Tempo: the whole path beside the curve's signature", regexp.MustCompile(`^Ratio/(ethereum|tron|tempo)/.*/sign$`), "ratio", atMost(1.10)},
	{"Solana up to 300 bytes: the same, beside `crypto/ed25519`", regexp.MustCompile(`^Ratio/solana/(215|300)/sign$`), "ratio", atMost(1.10)},
	{"Bitcoin, one P2WPKH input: the same", regexp.MustCompile(`^Ratio/bitcoin/P2WPKH/sign$`), "ratio", atMost(1.5)},
	{"Two cores: the gain beside that of the bare operation", regexp.MustCompile(`^Gain/`), "gain-ratio", atLeast(0.93)},
	{"A batch of 1,000 of all chains: an item beside the same by itself, beside what turns cost the bare operations", regexp.MustCompile(`^BatchRatio$`), "growth-ratio", atMost(1.05)},
	{"Beside go-ethereum's `SignTx` and `MarshalBinary`, which read nothing", regexp.MustCompile(`^Peers/ethereum/eip1559/go-ethereum$`), "ratio", atMost(1)},
	{"Beside solana-go", regexp.MustCompile(`^Peers/solana/.*/solana-go$`), "ratio", atMost(1)},
	{"Beside btcd's psbt and txscript", regexp.MustCompile(`^Peers/bitcoin/.*/btcd$`), "ratio", atMost(1)},
	{"A million keys: heap of each, in bytes", regexp.MustCompile(`^KeystoreMemoryFind/.*/keys=1000000$`), "B/key", atMost(500)},
	{"A million keys: what a look-up grows by from 1,000 keys, beside what Go's map does", regexp.MustCompile(`^KeystoreMemoryFlat$`), "growth-ratio", atMost(1.1)},
	{"Bitcoin: an input among 1,000 beside one among 10, where midstates are shared", regexp.MustCompile(`^InputsRatio/bitcoin/(P2WPKH|P2TR)$`), "ratio", atMost(1.2)},
	{"HTTP over a store in memory, 64 clients: requests per second beside a bare handler", regexp.MustCompile(`^HTTP/memory$`), "ratio", atLeast(0.7)},
	{"PKCS#11: signatures per second beside a bare loop over as many sessions", regexp.MustCompile(`^PKCS11(ECDSA|Ed25519)/.*/patient$`), "ratio", atLeast(0.9)},
	{"PKCS#11: the same for callers whose context can end", regexp.MustCompile(`^PKCS11(ECDSA|Ed25519)/.*/leaving$`), "ratio", atLeast(0.9)},
	{"PKCS#11 with a millisecond of latency: 8 sessions beside 1", regexp.MustCompile(`^PKCS11Latency$`), "ratio", atLeast(3.5)},
}

// renderPromises writes what is promised beside what was measured.
func renderPromises(w io.Writer, r *results) {
	fmt.Fprint(w, "## Promises\n\nWhat the project holds itself to, and the worst that was measured of it, verification off unless said. "+
		"The sections below say how.\n\n| promise | asked | measured | | worst |\n|---|---:|---:|---|---|\n")
	for _, p := range promises {
		value, worst, count := p.measured(r)
		if count == 0 {
			fmt.Fprintf(w, "| %s | %v | not measured | | |\n", p.name, p.bound)
			continue
		}
		verdict := "**missed**"
		if p.bound.kept(value) {
			verdict = "kept"
		}
		if count > 1 {
			worst += fmt.Sprintf(", of %d", count)
		} else {
			worst = ""
		}
		fmt.Fprintf(w, "| %s | %v | %s | %s | %s |\n", p.name, p.bound, precisely(value), verdict, worst)
	}
	fmt.Fprintln(w)
}

// measured returns the worst value, the name it was measured under without the
// first part, and of how many it is the worst.
func (p promise) measured(r *results) (value float64, worst string, count int) {
	for _, b := range r.benchmarks {
		got, ok := b.of(p.unit)
		if !ok || !p.of.MatchString(strings.Join(b.path, "/")) {
			continue
		}
		if count == 0 || p.bound.worse(got, value) {
			value, worst = got, strings.Join(b.path[min(1, len(b.path)-1):], " ")
		}
		count++
	}
	return value, worst, count
}

// precisely writes a ratio with one digit more than its bound has, so that what
// is rounded does not look kept.
func precisely(value float64) string {
	if value >= 100 {
		return thousands(value)
	}
	return fmt.Sprintf("%.3f", value)
}
