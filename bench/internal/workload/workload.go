// Package workload creates what the benchmarks sign. For each chain and type of
// transaction it has enough keys and transactions that neither fits in a cache, and
// the bare operation on the curve, to which the whole path is compared.
package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/messages"
)

const (
	// Organization owns the keys.
	Organization = "bench"

	// Keys is the number of keys, which sign in turn, and of transactions.
	Keys = 1000
)

// Scheme is the signature scheme of a type of transaction.
type Scheme int

// The schemes.
const (
	ECDSA   Scheme = iota // on secp256k1
	LowR                  // ECDSA, repeated until r is low, as Bitcoin's wallets do
	Schnorr               // BIP-340, with the tweak of a BIP-86 output
	Ed25519
)

// Curve returns the curve of the scheme's keys.
func (s Scheme) Curve() keystore.Curve {
	if s == Ed25519 {
		return keystore.CurveEd25519
	}
	return keystore.CurveSecp256k1
}

// Kind is one type of transaction of one chain.
type Kind struct {
	Chain  string // as chains.Chain.Name
	Type   string // such as "eip1559"
	Scheme Scheme

	// Transaction returns the raw unsigned transaction with a number, for a key.
	Transaction func(number int, signer keystore.PublicKey) []byte

	// AddressPrefix selects the address to sign with among those that the key has on the
	// chain. Empty: the first.
	AddressPrefix string
}

// Name returns the name of the kind in benchmarks: chain/type.
func (k Kind) Name() string { return k.Chain + "/" + k.Type }

// Secret returns the secret of a key by its number. It is not secret.
func Secret(number int) []byte {
	digest := sha256.Sum256(fmt.Appendf(nil, "countersign bench key %d", number))
	return digest[:]
}

// Workload is transactions of a kind and the keys that sign them: transaction i is for
// key i, and both rotate.
type Workload struct {
	Kind
	Requests []activity.SignTransactionIntent
	Raw      [][]byte
	Public   []keystore.PublicKey
	Store    *memory.Store
}

// New creates a workload. Its keystore is closed when the test ends.
func New(t testing.TB, kind Kind) *Workload { return NewOf(t, kind, Keys) }

// NewOf is New with another number of keys, and as many transactions.
func NewOf(t testing.TB, kind Kind, keys int) *Workload {
	t.Helper()
	w := &Workload{Kind: kind, Store: memory.New()}
	t.Cleanup(func() { _ = w.Store.Close() })
	for number := range keys {
		info, err := w.Store.Add(t.Context(), Organization, keystore.NewKey{Curve: kind.Scheme.Curve(), Secret: Secret(number)})
		if err != nil {
			t.Fatal(err)
		}
		raw := kind.Transaction(number, info.PublicKey)
		w.Public = append(w.Public, info.PublicKey)
		w.Raw = append(w.Raw, raw)
		w.Requests = append(w.Requests, activity.SignTransactionIntent{
			SignWith: Address(kind, info.PublicKey), Type: intents.TransactionType(Chain(kind.Chain)),
			UnsignedTransaction: hex.EncodeToString(raw),
		})
	}
	return w
}

// Address returns the address by which a key signs transactions of a kind.
func Address(kind Kind, signer keystore.PublicKey) string {
	for _, address := range Chain(kind.Chain).Addresses(signer) {
		if strings.HasPrefix(address.Address, kind.AddressPrefix) {
			return address.Address
		}
	}
	panic("workload: " + kind.Name() + ": the key has no address that starts with " + kind.AddressPrefix)
}

// Engine creates an engine over the workload's keys. All hazards are allowed, since
// thousands of inputs pay high fees.
func (w *Workload) Engine(t testing.TB, config countersign.Config) *countersign.Engine {
	t.Helper()
	if config.Keystore == nil {
		config.Keystore = w.Store
	}
	if config.Chains == nil {
		config.Chains = all.Chains(all.Limits{})
		config.Operations = messages.Operations(config.Chains...)
	}
	config.AllowHazards = []string{countersign.AllHazards}
	engine, err := countersign.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

// Whole returns the whole path for transaction i: raw hex in, signed hex out. Each
// transaction has been signed once before, so that what is computed on the first use of
// a key (the index of taproot addresses, output keys) is not measured.
func (w *Workload) Whole(t testing.TB, engine *countersign.Engine) func(i int) {
	return w.WholeOf(t, engine, len(w.Requests))
}

// WholeOf is Whole with only the first keys.
func (w *Workload) WholeOf(t testing.TB, engine *countersign.Engine, keys int) func(i int) {
	ctx := t.Context()
	whole := func(i int) {
		if _, err := engine.SignTransaction(ctx, Organization, w.Requests[i%keys]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range keys {
		whole(i)
	}
	return whole
}

// Key returns the handle of a key by its number.
func (w *Workload) Key(t testing.TB, number int) keystore.Key {
	t.Helper()
	key, err := w.Store.Find(t.Context(), Organization, w.Locator(number))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Locator returns the locator of key number.
func (w *Workload) Locator(number int) keystore.Locator {
	if w.Scheme == Ed25519 {
		return keystore.ByEd25519(w.Public[number].Ed25519())
	}
	return keystore.ByKeccak(w.Public[number].KeccakAddress())
}

// Ready takes transaction i to the point where only the key can fail.
func (w *Workload) Ready(t testing.TB, i int, key keystore.Key) chains.Signing {
	t.Helper()
	request, err := w.Parse(t, i).Request(w.Requests[i%len(w.Requests)].SignWith)
	if err != nil {
		t.Fatal(err)
	}
	signing, err := request.With(key)
	if err != nil {
		t.Fatal(err)
	}
	return signing
}

// Parse reads transaction i.
func (w *Workload) Parse(t testing.TB, i int) chains.Transaction {
	t.Helper()
	tx, err := Chain(w.Chain).Parse(w.Raw[i%len(w.Raw)])
	if err != nil {
		t.Fatal(err)
	}
	return tx
}
