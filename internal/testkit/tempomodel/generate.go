package tempomodel

import (
	"crypto/ecdsa"
	"math/big"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// Kinds are the kinds of transactions that Generate generates. A transaction randomly
// has other features in addition to that of its kind.
var Kinds = []string{
	"single", "batch", "creation", "nonce key", "window", "expiring nonce", "fee token",
	"fee payer to come", "fee payer signed", "key authorization", "authorizations", "access list",
}

// Case is a transaction before and after it was signed.
type Case struct {
	Tx       *Transaction
	Key      *ecdsa.PrivateKey
	Unsigned []byte
	Signed   []byte
}

// gasCap is the network's cap for one transaction.
const gasCap = 30_000_000

// Generate generates and signs a random transaction of a kind that Refuses accepts,
// with numbers that JavaScript libraries can hold.
func Generate(random *rand.Rand, kind int) Case {
	g := generator{Rand: random, kind: Kinds[kind%len(Kinds)]}
	key := g.key()
	g.sender = key
	tx := g.transaction()
	switch {
	case g.kind == "fee payer to come":
		tx.FeePayer, tx.FeeToken = []byte{0}, nil
	case g.has("fee payer signed"):
		tx.FeePayer = SignPayer(g.key(), tx.PayerHash(crypto.PubkeyToAddress(key.PublicKey)))
	}
	return Case{Tx: tx, Key: key, Unsigned: tx.Encode(), Signed: tx.Sign(key)}
}

// SignPayer returns the item with a fee payer's signature.
func SignPayer(key *ecdsa.PrivateKey, digest []byte) []byte {
	signature := sign(key, digest)
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:64])
	return encode(PayerSignature{YParity: signature[64] - 27, R: r, S: s})
}

// generator draws values, with a preference for the bounds of their encodings.
type generator struct {
	*rand.Rand
	kind   string
	sender *ecdsa.PrivateKey
}

// has reports whether the transaction has a feature: its kind's, and others one
// time in five.
func (g generator) has(kind string) bool { return g.kind == kind || g.IntN(5) == 0 }

func (g generator) transaction() *Transaction {
	tx := &Transaction{
		ChainID: []uint64{4217, 42431, 1 + g.number()}[g.IntN(3)], Tip: g.amount(8), Gas: 1 + g.number()%gasCap,
		Calls: []Call{g.call()}, NonceKey: new(big.Int), Nonce: g.number(), FeePayer: []byte{0x80},
	}
	tx.Cap = new(big.Int).Add(tx.Tip, g.amount(8))
	for range g.IntN(6) {
		if g.has("batch") {
			tx.Calls = append(tx.Calls, g.call())
		}
	}
	if g.has("access list") {
		tx.AccessList = g.accessList()
	}
	if g.has("fee token") {
		tx.FeeToken = append(common.FromHex("20c000000000000000000000"), g.exactly(8)...)
	}
	if g.has("window") {
		tx.ValidAfter = g.number() >> 1
		tx.ValidBefore = tx.ValidAfter + 1 + g.number()>>1
	}
	g.nonce(tx)
	g.authorize(tx)
	return tx
}

func (g generator) nonce(tx *Transaction) {
	switch {
	case g.kind == "expiring nonce":
		tx.NonceKey, tx.ValidAfter, tx.ValidBefore = expiringKey, 0, 1+g.number()>>1
	case g.has("nonce key"):
		tx.NonceKey = g.amount(31)
	}
}

func (g generator) authorize(tx *Transaction) {
	switch {
	case g.kind == "creation":
		tx.Calls[0].To = nil
	case g.has("authorizations"):
		for range 1 + g.IntN(3) {
			tx.Authorizations = append(tx.Authorizations, g.authorization())
		}
	}
	if g.has("key authorization") {
		tx.Key = []KeyAuthorization{g.keyAuthorization(tx.ChainID)}
	}
}

func (g generator) call() Call {
	return Call{To: g.exactly(20), Value: g.amount(16), Input: g.bytes(200)}
}

func (g generator) accessList() types.AccessList {
	var list types.AccessList
	for range 1 + g.IntN(3) {
		entry := types.AccessTuple{Address: g.address()}
		for range g.IntN(3) {
			entry.StorageKeys = append(entry.StorageKeys, common.Hash(g.exactly(32)))
		}
		list = append(list, entry)
	}
	return list
}

// number draws an integer that JavaScript can hold.
func (g generator) number() uint64 { return g.Uint64() >> (11 + g.IntN(53)) }

// amount draws an integer of at most so many bytes.
func (g generator) amount(most int) *big.Int { return new(big.Int).SetBytes(g.bytes(most)) }

// bytes draws up to most bytes, often just a few or around 55, where the header
// of a string changes.
func (g generator) bytes(most int) []byte {
	length := g.IntN(most + 1)
	switch g.IntN(4) {
	case 0:
		length = min(most, g.IntN(3))
	case 1:
		length = min(most, 54+g.IntN(4))
	}
	return g.exactly(length)
}

func (g generator) exactly(length int) []byte {
	out := make([]byte, length)
	for i := range out {
		out[i] = byte(g.Uint32())
	}
	return out
}

func (g generator) address() common.Address { return common.Address(g.exactly(20)) }

func (g generator) key() *ecdsa.PrivateKey {
	for {
		if key, err := crypto.ToECDSA(g.exactly(32)); err == nil {
			return key
		}
	}
}
