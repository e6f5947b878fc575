package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// short returns the list at the beginning of the page, of figures that the tables have.
func (r *recording) short() (string, error) {
	l := &list{of: r}
	shipped := func(store string) string {
		return l.cell(hundreds, "req/s", "HTTPShipped/"+store) + " a second with " +
			map[string]string{"memory": "the store in memory", "bolt": "bolt", "postgres": "PostgreSQL"}[store] +
			" (p99 " + l.cell(number(0), "p99-ms", "HTTPShipped/"+store) + " ms)"
	}
	items := []string{
		"**Signing as shipped**, each signature verified before it is released, takes " + l.span("ratio", each(ecdsa, "/sign+verify")...) +
			" times the signature and verification of the curve library alone, on Ethereum (without authorizations " +
			"of type 4), Tron, Tempo and for ECDSA on Bitcoin; " +
			l.span("ratio", each(packets, "/sign+verify")...) + " on Solana up to 1,232 bytes; " +
			l.span("ratio", "Ratio/bitcoin/P2TR/sign+verify") +
			" for a P2TR key. Unverified it takes " + l.span("ratio", each(ecdsa, "/sign")...) +
			" times the bare signature, Solana " + l.span("ratio", each(packets, "/sign")...) + ".",
		"**Stamped requests** over loopback HTTP as `serve` ships, signatures verified and logged, 64 clients: " +
			shipped("memory") + ", " + shipped("bolt") + ", " + shipped("postgres") +
			". A handler that only verifies the stamp and signs answers " +
			l.cell(hundreds, "bare-req/s", "HTTPShipped/memory") + ".",
		"**Other libraries** signing the same transactions: " +
			l.span("ratio", "Peers/ethereum/eip1559/go-ethereum") + " times go-ethereum's time, " +
			l.span("ratio", "Peers/solana/215/solana-go") + " times solana-go's, " +
			l.span("ratio", "Peers/bitcoin/P2TR/btcd") + " times btcd's, at most " +
			l.cell(ratioAlone, "ratio", r.dearest("Peers", javascript)) + " times that of a JavaScript library; on [messages](#messages) " +
			l.span("ratio", "MessagePeers/permit/go-ethereum", "MessagePeers/safe/go-ethereum",
				"MessagePeers/order/go-ethereum", "MessagePeers/personal/go-ethereum") + " times go-ethereum's.",
	}
	for i, item := range items {
		items[i] = "* " + strings.ReplaceAll(wrap(item), "\n", "\n  ")
	}
	return l.from.text() + "\n\n" + strings.Join(items, "\n") + "\n", l.err
}

// list collects where the figures of the list come from, and the first error.
type list struct {
	of   *recording
	from origin
	err  error
}

// span returns the lowest and the highest median of benchmarks.
func (l *list) span(unit string, paths ...string) string {
	var medians []float64
	for _, path := range paths {
		medians = append(medians, l.figure(path, unit).median)
	}
	low, high := ratioAlone(summary{median: slices.Min(medians)}), ratioAlone(summary{median: slices.Max(medians)})
	if low == high {
		return low
	}
	return low + " to " + high
}

func (l *list) cell(show func(summary) string, unit, path string) string {
	return show(l.figure(path, unit))
}

func (l *list) figure(path, unit string) summary {
	s, at, err := l.of.figure(path, unit)
	if err != nil {
		l.err = cmp.Or(l.err, err)
		return s
	}
	l.from.add(at, len(at.samples[unit]))
	return s
}

// ecdsa are the transactions that are signed by ECDSA and need no other key's recovery; packets
// are Solana's that fit a packet.
var (
	ecdsa = []string{
		"Ratio/ethereum/eip1559", "Ratio/ethereum/eip155", "Ratio/ethereum/eip2930", "Ratio/ethereum/eip4844",
		"Ratio/tron/transfer", "Ratio/tron/trc20",
		"Ratio/tempo/transfer", "Ratio/tempo/batch", "Ratio/tempo/sponsored", "Ratio/bitcoin/P2WPKH", "Ratio/bitcoin/P2PKH",
	}
	packets = []string{"Ratio/solana/215", "Ratio/solana/812", "Ratio/solana/1232"}
)

// compiled are the peers that run in the engine's process.
var compiled = []string{"go-ethereum", "go-ethereum_from_bytes", "go-ethereum_keystore", "solana-go", "btcd"}

func javascript(peer string) bool { return !slices.Contains(compiled, peer) }

// dearest returns the row of a table for which a benchmark's ratio is highest, among the peers that
// are chosen.
func (r *recording) dearest(name string, chosen func(peer string) bool) (path string) {
	highest := 0.0
	for _, l := range tables[slices.IndexFunc(tables, func(t table) bool { return t.name == name })].rows {
		s, _, err := r.figure(l.path, "ratio")
		if err == nil && chosen(l.path[strings.LastIndex(l.path, "/")+1:]) && s.median > highest {
			path, highest = l.path, s.median
		}
	}
	return path
}

func ratioAlone(s summary) string { return fmt.Sprintf("%.2f", s.median) }

// each returns the paths with a part at the end.
func each(paths []string, part string) (whole []string) {
	for _, path := range paths {
		whole = append(whole, path+part)
	}
	return whole
}

// figure returns one figure of a benchmark, and the row that it is in.
func (r *recording) figure(path, unit string) (summary, row, error) {
	at, err := r.find(path)
	if err != nil {
		return summary{}, row{}, err
	}
	s, err := at.summary(path, unit)
	return s, at, err
}
