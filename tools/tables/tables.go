package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// table is a table of the page.
type table struct {
	name    string // of its marker, and of the benchmark in its first heading
	heading string // of the first column
	columns []column
	rows    []line
}

// column says what a cell shows of a benchmark.
type column struct {
	heading string
	part    string // after the row's path
	unit    string
	show    func(summary) string
}

// line is a row: what the page calls it, and the benchmark's path.
type line struct{ label, path string }

// ratio shows a median with its range, with three decimals if it is small.
func ratio(s summary) string {
	decimals := 2
	if s.median < .1 {
		decimals = 3
	}
	return fmt.Sprintf("%.*f (%.*f–%.*f)", decimals, s.median, decimals, s.low, decimals, s.high)
}

// number shows a median with so many decimals.
func number(decimals int) func(summary) string {
	return func(s summary) string { return fmt.Sprintf("%.*f", decimals, s.median) }
}

// hundreds shows a rate, whose other digits differ with each run.
func hundreds(s summary) string { return thousands(math.Round(s.median/100) * 100) }

func kilobytes(s summary) string { return fmt.Sprintf("%.0f", s.median/1000) }

// three shows three digits of a large number, and none after the point.
func three(s summary) string {
	unit := math.Pow(10, max(0, math.Floor(math.Log10(s.median))-2))
	return thousands(math.Round(s.median/unit) * unit)
}

// thousands writes a whole number with commas.
func thousands(value float64) string {
	digits := fmt.Sprintf("%.0f", value)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// storesOf are the stores.
var storesOf = []line{{"memory", "memory"}, {"bolt", "bolt"}, {"PostgreSQL", "postgres"}}

// tables are the tables of the page.
var tables = []table{
	{"Ratio", "`BenchmarkRatio`", []column{{"sign", "/sign", "ratio", ratio}, {"sign+verify", "/sign+verify", "ratio", ratio}}, []line{
		{"ethereum eip1559", "Ratio/ethereum/eip1559"},
		{"ethereum eip155", "Ratio/ethereum/eip155"},
		{"ethereum eip2930", "Ratio/ethereum/eip2930"},
		{"ethereum eip4844", "Ratio/ethereum/eip4844"},
		{"ethereum eip7702", "Ratio/ethereum/eip7702"},
		{"tron transfer", "Ratio/tron/transfer"},
		{"tron trc20", "Ratio/tron/trc20"},
		{"tempo transfer", "Ratio/tempo/transfer"},
		{"tempo batch", "Ratio/tempo/batch"},
		{"tempo sponsored", "Ratio/tempo/sponsored"},
		{"solana, 215 bytes", "Ratio/solana/215"},
		{"solana, 812 bytes", "Ratio/solana/812"},
		{"solana, 1,232 bytes", "Ratio/solana/1232"},
		{"solana, 4,096 bytes", "Ratio/solana/4096"},
		{"bitcoin P2WPKH", "Ratio/bitcoin/P2WPKH"},
		{"bitcoin P2TR", "Ratio/bitcoin/P2TR"},
		{"bitcoin P2TR, output key not cached", "RatioUncached/bitcoin/P2TR"},
		{"bitcoin P2PKH", "Ratio/bitcoin/P2PKH"},
	}},
	{"Peers", "`BenchmarkPeers`", []column{{"ours ÷ theirs", "", "ratio", ratio}}, []line{
		{"ethereum eip1559: go-ethereum `SignTx` and `MarshalBinary` of a struct", "Peers/ethereum/eip1559/go-ethereum"},
		{"ethereum eip1559: go-ethereum's keystore", "Peers/ethereum/eip1559/go-ethereum_keystore"},
		{"ethereum eip1559: go-ethereum from bytes", "Peers/ethereum/eip1559/go-ethereum_from_bytes"},
		{"ethereum eip1559: viem", "Peers/ethereum/eip1559/viem"},
		{"ethereum eip1559: ethers", "Peers/ethereum/eip1559/ethers"},
		{"ethereum eip1559: wallet-core", "Peers/ethereum/eip1559/wallet-core"},
		{"ethereum eip1559: okx", "Peers/ethereum/eip1559/okx"},
		{"solana 215: solana-go", "Peers/solana/215/solana-go"},
		{"solana 215: @solana/kit", "Peers/solana/215/kit"},
		{"solana 215: @solana/web3.js", "Peers/solana/215/web3.js"},
		{"solana 215: okx", "Peers/solana/215/okx"},
		{"bitcoin P2WPKH: bitcoinjs-lib", "Peers/bitcoin/P2WPKH/bitcoinjs"},
		{"bitcoin P2WPKH: bitcoinjs-lib with libsecp256k1", "Peers/bitcoin/P2WPKH/bitcoinjs_with_libsecp256k1"},
		{"bitcoin P2WPKH: @scure/btc-signer", "Peers/bitcoin/P2WPKH/scure"},
		{"bitcoin P2TR: btcd", "Peers/bitcoin/P2TR/btcd"},
		{"bitcoin P2TR: bitcoinjs-lib", "Peers/bitcoin/P2TR/bitcoinjs"},
		{"bitcoin P2TR: bitcoinjs-lib with libsecp256k1", "Peers/bitcoin/P2TR/bitcoinjs_with_libsecp256k1"},
		{"bitcoin P2TR: @scure/btc-signer", "Peers/bitcoin/P2TR/scure"},
		{"tron transfer: TronWeb", "Peers/tron/transfer/tronweb"},
		{"tron transfer: okx", "Peers/tron/transfer/okx"},
		{"tempo transfer: ox", "Peers/tempo/transfer/ox"},
	}},
	{"MessagePeers", "`BenchmarkMessagePeers`, ours ÷ theirs", []column{
		{"go-ethereum", "/go-ethereum", "ratio", ratio}, {"viem", "/viem", "ratio", ratio}, {"ethers", "/ethers", "ratio", ratio},
	}, []line{
		{"permit (ERC-2612)", "MessagePeers/permit"},
		{"Safe transaction", "MessagePeers/safe"},
		{"Seaport order of 60 items, 11 kB", "MessagePeers/order"},
		{"personal message, 3 lines", "MessagePeers/personal"},
	}},
	{"HTTP", "`BenchmarkHTTP`", []column{
		{"ratio", "", "ratio", ratio}, {"requests/s", "", "req/s", hundreds},
		{"p50 ms", "", "p50-ms", number(1)}, {"p99 ms", "", "p99-ms", number(1)}, {"p99.9 ms", "", "p999-ms", number(1)},
	}, under("HTTP", storesOf, "")},
	{"HTTPShipped", "`BenchmarkHTTPShipped`", []column{
		{"ratio", "", "ratio", ratio}, {"requests/s", "", "req/s", hundreds}, {"p99 ms", "", "p99-ms", number(0)},
		{"CPU, µs", "", "cpu-us/req", number(0)}, {"bare ÷ CPU", "", "cpu-ratio", number(2)},
		{"objects", "", "server-allocs/req", number(0)}, {"kB", "", "server-B/req", kilobytes},
	}, alternate(under("HTTPShipped", storesOf, ""), under("HTTPShipped", storesOf, "rules"))},
	{"Effects", "`BenchmarkEffects`, ns per item", []column{
		{"parse", "/parse", "ns/item", three}, {"with hazards", "/hazards", "ns/item", three},
		{"effects written", "/effects", "ns/item", three},
	}, []line{
		{"ethereum: authorizations of type 4", "Effects/ethereum/authorizations"},
		{"ethereum: calls of a Multicall3 batch", "Effects/ethereum/calls"},
		{"tempo: calls of a batch", "Effects/tempo/calls"},
		{"bitcoin: outputs of a PSBT", "Effects/bitcoin/outputs"},
		{"solana: instructions", "Effects/solana/instructions"},
	}},
	{"RPC", "`BenchmarkRPC`", []column{
		{"ratio", "", "ratio", ratio}, {"requests/s", "", "req/s", hundreds}, {"p50 ms", "", "p50-ms", number(2)},
		{"p99 ms", "", "p99-ms", number(1)},
	}, []line{{"one client", "RPC/clients=1"}, {"64 clients", "RPC/clients=64"}}},
}

// under returns the rows of a benchmark for each store.
func under(benchmark string, stores []line, variant string) (rows []line) {
	for _, store := range stores {
		at := line{store.label, benchmark + "/" + store.path}
		if variant != "" {
			at = line{at.label + ", 50 rules", at.path + "/" + variant}
		}
		rows = append(rows, at)
	}
	return rows
}

// alternate returns the rows of two lists in turn.
func alternate(a, b []line) (rows []line) {
	for i := range a {
		rows = append(rows, a[i], b[i])
	}
	return rows
}

// content returns what the page has between the markers of a name.
func (r *recording) content(name string) (string, error) {
	switch name {
	case "Short":
		return r.short()
	case "Picture":
		return r.picture()
	}
	at := slices.IndexFunc(tables, func(t table) bool { return t.name == name })
	if at < 0 {
		return "", fmt.Errorf("no table %s", name)
	}
	return r.table(&tables[at])
}

// table writes where the table's rows come from, and the table in Markdown.
func (r *recording) table(t *table) (string, error) {
	headings, rule := t.heading, "---"
	for _, c := range t.columns {
		headings, rule = headings+" | "+c.heading, rule+"|---:"
	}
	lines := []string{"| " + headings + " |", "|" + rule + "|"}
	var from origin
	for _, l := range t.rows {
		cells, err := r.cells(t, l, &from)
		if err != nil {
			return "", err
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
	}
	return from.text() + "\n\n" + strings.Join(lines, "\n") + "\n", nil
}

// cells returns the cells of a row, and adds to where the table comes from.
func (r *recording) cells(t *table, l line, from *origin) ([]string, error) {
	cells := []string{l.label}
	for _, c := range t.columns {
		s, at, err := r.figure(l.path+c.part, c.unit)
		if err != nil {
			return nil, err
		}
		cells = append(cells, c.show(s))
		from.add(at, len(at.samples[c.unit]))
	}
	return cells, nil
}

// picture returns where the picture of the open loop comes from.
func (r *recording) picture() (string, error) {
	var from origin
	for _, name := range slices.Sorted(maps.Keys(r.rows)) {
		if strings.HasPrefix(name, "HTTPOpen/") {
			from.add(r.rows[name], 1)
		}
	}
	if len(from.places) == 0 {
		return "", errors.New("the results have no BenchmarkHTTPOpen: record it")
	}
	return wrap("Drawn by `tools/latency` from "+from.from()+".") + "\n", nil
}
