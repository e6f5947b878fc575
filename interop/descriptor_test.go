package interop

import (
	"encoding/hex"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// watchOnlyAnswer is an answer of descriptor.mjs.
type watchOnlyAnswer struct{ Address, PSBT string }

func askWatchOnly(t *testing.T, request any) (answer watchOnlyAnswer) {
	t.Helper()
	startPeer(t, "descriptor.mjs").ask(t, request, &answer)
	return answer
}

// watchedPlace is an address of a descriptor. An input also has the transaction output
// that it spends, and an output an amount.
type watchedPlace struct {
	Op         string `json:"op,omitempty"`
	Descriptor string `json:"descriptor,omitempty"`
	Address    string `json:"address,omitempty"`
	Index      uint32 `json:"index"`
	Tx         string `json:"tx,omitempty"`
	Vout       uint32 `json:"vout"`
	Amount     uint64 `json:"amount,omitempty"`
}

func createPSBT(t *testing.T, inputs, outputs []watchedPlace) []byte {
	t.Helper()
	answer := askWatchOnly(t, map[string]any{"op": "create", "inputs": inputs, "outputs": outputs})
	raw, err := bitcoin.Decode([]byte(answer.PSBT))
	if err != nil || !strings.HasPrefix(answer.PSBT, "cHNidP") {
		t.Fatalf("%s: %v", answer.PSBT, err)
	}
	return raw
}

// signer is the wallet with the mnemonic.
type signer struct {
	store  *file.Store
	engine *countersign.Engine
	wallet string // its id
}

const testMnemonic = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"

func newStore(t *testing.T) *file.Store {
	t.Helper()
	store, err := file.Create(filepath.Join(t.TempDir(), "keys"), []byte("passphrase"), file.Options{WorkFactor: 1})
	testenv.Must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// newSigner creates a wallet with the first address of each account, and fills in the
// accounts.
func newSigner(t *testing.T, accounts map[string]*wallet.WatchOnly) signer {
	t.Helper()
	store := newStore(t)
	root, err := wallet.FromMnemonic([]byte(testMnemonic), nil)
	testenv.Must(t, err)
	var first []wallet.Account
	for account := range accounts {
		path, err := wallet.ParsePath(account)
		testenv.Must(t, err)
		accounts[account], err = root.Watch(path)
		testenv.Must(t, err)
		first = append(first, wallet.Account{Curve: keystore.CurveSecp256k1, Path: append(path, 0, 0)})
	}
	return addSigner(t, store, file.NewWallet{Name: "treasury", Mnemonic: []byte(testMnemonic), Accounts: first})
}

func addSigner(t *testing.T, store *file.Store, add file.NewWallet) signer {
	t.Helper()
	w, err := store.AddWallet(t.Context(), "org", add)
	testenv.Must(t, err)
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: store})
	testenv.Must(t, err)
	return signer{store, engine, w.ID}
}

// discover derives the keys that a PSBT names and returns how many were new.
func (s signer) discover(t *testing.T, raw []byte) int {
	t.Helper()
	derivations, err := bitcoin.Derivations(raw)
	testenv.Must(t, err)
	var named []file.Named
	for _, d := range derivations {
		named = append(named, file.Named{Fingerprint: d.Fingerprint, Path: d.Path, PublicKey: d.PublicKey})
	}
	added, _, err := s.store.Discover(t.Context(), "org", s.wallet, named, file.GapLimit)
	testenv.Must(t, err)
	return len(added)
}

// sign signs and finalizes a PSBT of which so many outputs are change.
func (s signer) sign(t *testing.T, raw []byte, change int) []byte {
	t.Helper()
	prepared, err := s.engine.Prepare(t.Context(), "org", activity.SignTransactionIntent{
		SignWith: "treasury", Type: activity.TransactionTypeBitcoin, UnsignedTransaction: hex.EncodeToString(raw),
	})
	testenv.Must(t, err)
	effects, err := prepared.Effects(t.Context())
	testenv.Must(t, err)
	for _, effect := range effects {
		if effect.Change {
			change--
		}
	}
	if change != 0 {
		t.Errorf("%d change outputs are not shown as change", change)
	}
	result, err := prepared.Sign(t.Context())
	testenv.Must(t, err)
	signed := testenv.Hex(t, result.(activity.SignTransactionResult).SignedTransaction)
	final, err := bitcoin.Finalize(signed)
	testenv.Must(t, err)
	return final
}

// payee is an address of a key that none of the wallets has: that of the genesis block's output.
const payee = "bcrt1qvt5s0v2uhuna2sjnn84ldu8m2r4m3rccaqhe07"

// TestWatchOnlyWallet exports descriptors, from which a public library without secrets
// creates addresses and PSBTs. The wallet signs for accounts of all four kinds, with
// addresses that it had not derived, and a node accepts and mines the result.
func TestWatchOnlyWallet(t *testing.T) {
	accounts := map[string]*wallet.WatchOnly{"m/44'/1'/0'": nil, "m/49'/1'/0'": nil, "m/84'/1'/0'": nil, "m/86'/1'/0'": nil}
	s := newSigner(t, accounts)
	segwit := accounts["m/84'/1'/0'"]
	node := startRegtest(t, askWatchOnly(t, watchedPlace{Op: "address", Descriptor: segwit.Receive}).Address)
	var blocks []string
	node.mustCall(t, &blocks, "generate", maturity)
	coinbase := hex.EncodeToString(node.coinbase(t, blocks[0]))

	const each = 1_0000_0000
	var received, spent []watchedPlace
	for i, path := range slices.Sorted(maps.Keys(accounts)) {
		at := watchedPlace{Descriptor: accounts[path].Receive, Index: uint32(3 * (i + 1)), Amount: each, Vout: uint32(i)}
		received = append(received, at)
		spent = append(spent, at)
	}
	received = append(received, watchedPlace{Descriptor: segwit.Change, Index: 5, Amount: 50_0000_0000 - 4*each - 10_000})
	first := createPSBT(t, []watchedPlace{{Descriptor: segwit.Receive, Tx: coinbase}}, received)
	if added := s.discover(t, first); added != 5 {
		t.Errorf("%d addresses were derived, want 5", added)
	}
	funding := s.sign(t, first, 2) // what goes to the other accounts is paid to them
	node.accept(t, funding)

	for i := range spent {
		spent[i].Tx, spent[i].Amount = hex.EncodeToString(funding), 0
	}
	second := createPSBT(t, spent, []watchedPlace{
		{Address: payee, Amount: 3 * each}, {Descriptor: accounts["m/86'/1'/0'"].Change, Index: 19, Amount: each - 10_000},
	})
	if added := s.discover(t, second); added != 1 {
		t.Errorf("%d addresses were derived, want 1", added)
	}
	node.accept(t, s.sign(t, second, 1))
}

// TestWatchOnlyAccountKey does the same with a wallet that is a single account, from its
// extended private key with its origin.
func TestWatchOnlyAccountKey(t *testing.T) {
	whole, err := wallet.FromMnemonic([]byte(testMnemonic), nil)
	testenv.Must(t, err)
	account, err := wallet.ParsePath("m/84'/1'/0'")
	testenv.Must(t, err)
	key, err := whole.ExtendedKey(account)
	testenv.Must(t, err)
	s := addSigner(t, newStore(t), file.NewWallet{Name: "treasury", ExtendedKey: key})
	var watched *wallet.WatchOnly
	testenv.Must(t, s.store.RevealRoot(t.Context(), "org", s.wallet, func(root *wallet.Root) (err error) {
		watched, err = root.Watch(account)
		return err
	}))
	node := startRegtest(t, askWatchOnly(t, watchedPlace{Op: "address", Descriptor: watched.Receive}).Address)
	var blocks []string
	node.mustCall(t, &blocks, "generate", maturity)
	raw := createPSBT(t,
		[]watchedPlace{{Descriptor: watched.Receive, Tx: hex.EncodeToString(node.coinbase(t, blocks[0]))}},
		[]watchedPlace{{Address: payee, Amount: 1_0000_0000},
			{Descriptor: watched.Change, Index: 4, Amount: 49_0000_0000 - 10_000}})
	if added := s.discover(t, raw); added != 1 {
		t.Errorf("%d addresses were derived, want 1", added)
	}
	node.accept(t, s.sign(t, raw, 1))
}
