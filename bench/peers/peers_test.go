package peers

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/internal/testenv"
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

// full returns the name of a peer's benchmark.
func (p peerOf) full() string { return p.kind + "/" + p.name }

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
	{"bitcoin/P2WPKH", "bitcoinjs", inNode("bitcoinjs")}, // btcd and wallet-core do not grind for a low r
	{"bitcoin/P2WPKH", "scure", inNode("scure")},         // see grindsFromZero
	{"bitcoin/P2WPKH", "bitcoinjs with libsecp256k1", inNode("bitcoinjs-libsecp256k1")},
	{"bitcoin/P2TR", "btcd", btcd},
	{"bitcoin/P2TR", "bitcoinjs", inNode("bitcoinjs")},
	{"bitcoin/P2TR", "scure", inNode("scure")},
	{"bitcoin/P2TR", "bitcoinjs with libsecp256k1", inNode("bitcoinjs-libsecp256k1")},
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

// grindsFromZero are peers whose second nonce has a counter of 0, where Bitcoin Core and the
// engine have 1. Their signatures are the engine's where the first nonce gives a low r, which
// is every other one; the number of nonces is distributed alike.
var grindsFromZero = map[string]bool{"bitcoin/P2WPKH/scure": true}

// compared is the number of transactions whose bytes must be the engine's.
const compared = 3

// compare compares the peer's first signed transactions with the engine's.
func compare(t testing.TB, w *workload.Workload, name string, p peer) {
	t.Helper()
	engine := w.Engine(t, countersign.Config{})
	for i, equal := 0, 0; equal < compared; i++ {
		want, err := engine.SignTransaction(t.Context(), workload.Organization, w.Requests[i])
		testenv.Must(t, err)
		got := strings.TrimPrefix(p.sign(i), "0x")
		switch {
		case len(got) >= 128 && strings.Contains(want.SignedTransaction, got):
			equal++
		case !grindsFromZero[name] || len(got) != len(want.SignedTransaction) || i > 8*compared:
			t.Fatalf("transaction %d: the peer signed\n%s\nthe engine\n%s", i, got, want.SignedTransaction)
		}
	}
}

// TestPeers checks that every peer signs as the engine does.
func TestPeers(t *testing.T) {
	for _, p := range peers {
		t.Run(p.full(), func(t *testing.T) {
			w := workload.New(t, workload.Find(p.kind))
			compare(t, w, p.full(), p.ready(t, w))
		})
	}
}

// BenchmarkPeers measures the engine, without verification, relative to each peer.
func BenchmarkPeers(b *testing.B) {
	for _, p := range peers {
		b.Run(p.full(), func(b *testing.B) {
			w := workload.New(b, workload.Find(p.kind))
			theirs := p.ready(b, w)
			compare(b, w, p.full(), theirs)
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
