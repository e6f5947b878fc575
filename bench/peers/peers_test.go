package peers

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
)

// pairs is the number of interleaved pairs of which a comparison is the median.
const pairs = 41

// peer is another library that signs transactions of a kind.
type peer interface {
	// sign returns signed transaction i in hex, or just its signature if the library
	// returns no more.
	sign(i int) string
	// time calls sign a number of times and returns the duration.
	time(from, calls int) time.Duration
}

// peerOf is a library for one kind of transaction, and how to prepare it.
type peerOf struct {
	kind, name string
	ready      func(testing.TB, *workload.Workload) peer
}

var peers = []peerOf{
	{"ethereum/eip1559", "go-ethereum", goEthereum},
	{"ethereum/eip1559", "go-ethereum from bytes", goEthereumFromBytes},
	{"ethereum/eip1559", "go-ethereum keystore", goEthereumKeystore},
	{"ethereum/eip1559", "viem", inNode("viem")},
	{"ethereum/eip1559", "ethers", inNode("ethers")},
	{"ethereum/eip1559", "wallet-core", inNode("wallet-core")},
	{"ethereum/eip1559", "okx", inNode("okx-ethereum")},
	{"solana/215", "solana-go", solanaGo},
	{"solana/215", "kit", inNode("kit")},
	{"solana/215", "web3.js", inNode("web3.js")},
	{"solana/215", "okx", inNode("okx-solana")},
	{"bitcoin/P2WPKH", "bitcoinjs", inNode("bitcoinjs")}, // btcd does not sign with a low r
	{"bitcoin/P2TR", "btcd", btcd},
	{"bitcoin/P2TR", "bitcoinjs", inNode("bitcoinjs")},
	{"tron/transfer", "tronweb", inNode("tronweb")},
	{"tron/transfer", "okx", inNode("okx-tron")},
	{"tempo/transfer", "ox", inNode("ox")},
}

// goPeer is a peer in this process.
type goPeer func(i int) string

func (p goPeer) sign(i int) string { return p(i) }

func (p goPeer) time(from, calls int) time.Duration {
	return measure.Calls(func(i int) { p(i) })(from, calls)
}

// compare compares the peer's first signed transactions with the engine's.
func compare(t testing.TB, w *workload.Workload, p peer) {
	t.Helper()
	engine := w.Engine(t, countersign.Config{})
	for i := range 3 {
		want, err := engine.SignTransaction(t.Context(), workload.Organization, w.Requests[i])
		if err != nil {
			t.Fatal(err)
		}
		got := strings.TrimPrefix(p.sign(i), "0x")
		if len(got) < 128 || !strings.Contains(want.SignedTransaction, got) {
			t.Fatalf("transaction %d: the peer signed\n%s\nthe engine\n%s", i, got, want.SignedTransaction)
		}
	}
}

// TestPeers checks that every peer signs as the engine does.
func TestPeers(t *testing.T) {
	for _, p := range peers {
		t.Run(p.kind+"/"+p.name, func(t *testing.T) {
			w := workload.New(t, workload.Find(p.kind))
			compare(t, w, p.ready(t, w))
		})
	}
}

// BenchmarkPeers measures the engine, without verification, relative to each peer.
func BenchmarkPeers(b *testing.B) {
	for _, p := range peers {
		b.Run(p.kind+"/"+p.name, func(b *testing.B) {
			w := workload.New(b, workload.Find(p.kind))
			theirs := p.ready(b, w)
			compare(b, w, theirs)
			ours := w.Whole(b, w.Engine(b, countersign.Config{ReleaseUnverifiedSignatures: true}))
			measure.Pairs(b, pairs, measure.Calls(ours), theirs.time)
		})
	}
}

// inNode returns how to prepare a JavaScript library.
func inNode(library string) func(testing.TB, *workload.Workload) peer {
	return func(t testing.TB, w *workload.Workload) peer {
		transactions := make([]string, len(w.Requests))
		for i := range transactions {
			transactions[i] = w.Requests[i].UnsignedTransaction
		}
		return startNode(t, library, transactions)
	}
}
