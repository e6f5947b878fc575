package tron

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/keystore"
)

// Bytes of one field, by number.

func lengthField(number int, payload []byte) []byte {
	out := protowire.AppendTag(nil, protowire.Number(number), protowire.BytesType)
	return protowire.AppendBytes(out, payload)
}

func varintField(number int, value int64) []byte {
	out := protowire.AppendTag(nil, protowire.Number(number), protowire.VarintType)
	return protowire.AppendVarint(out, uint64(value))
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// frame is a Transaction.raw in its fields, for a test to change.
type frame struct {
	blockBytes, blockNum, blockHash, expiration, auths, data, contract, scripts, timestamp, feeLimit, after []byte
}

func newFrame(contract []byte) frame {
	return frame{
		blockBytes: []byte{0x0a, 2, 0x0a, 0x1b},
		blockHash:  []byte{0x22, 8, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88},
		expiration: varintField(8, 1_900_000_060_000),
		contract:   lengthField(11, contract),
		timestamp:  varintField(14, 1_900_000_000_000),
	}
}

func (f frame) bytes() []byte {
	return join(f.blockBytes, f.blockNum, f.blockHash, f.expiration, f.auths, f.data, f.contract, f.scripts, f.timestamp, f.feeLimit, f.after)
}

// wrapped returns a Transaction.Contract with a contract's message.
func wrapped(number int64, name string, message []byte) []byte {
	return join(typeField(number), lengthField(2, anyOf(name, message)))
}

func typeField(number int64) []byte {
	if number == 0 {
		return nil
	}
	return varintField(1, number)
}

func anyOf(name string, message []byte) []byte {
	return join(lengthField(1, []byte("type.googleapis.com/protocol."+name)), lengthField(2, message))
}

// rawOf returns a Transaction.raw with a contract's message.
func rawOf(number int64, message []byte) []byte {
	return newFrame(wrapped(number, contracts[number].message.name, message)).bytes()
}

// transfer returns a TransferContract of 100 sun.
func transfer(t testing.TB) []byte {
	t.Helper()
	return join(lengthField(1, chaintest.Unhex(t, ownerHex)), lengthField(2, chaintest.Unhex(t, otherHex)), varintField(3, 100))
}

// wholeOf returns a Transaction with signatures.
func wholeOf(raw []byte, signatures ...[]byte) []byte {
	out := lengthField(1, raw)
	for _, signature := range signatures {
		out = append(out, lengthField(2, signature)...)
	}
	return out
}

// ready prepares a transaction for signing.
func ready(t testing.TB, tx *transaction, key keystore.Key, signWith string) chains.Signing {
	t.Helper()
	signing := chaintest.MustReady(t, tx, signWith, key)
	return signing
}

func parse(t testing.TB, raw []byte) *transaction {
	t.Helper()
	tx, err := Chain{}.Parse(raw)
	if err != nil {
		t.Fatalf("%x: %v", raw, err)
	}
	return tx.(*transaction)
}

// Secrets of the vectors, and of co-signers.
const (
	ownerSecret = "e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca"
	oneSecret   = "0000000000000000000000000000000000000000000000000000000000000001"
	twoSecret   = "0000000000000000000000000000000000000000000000000000000000000002"
)

func keyOf(t testing.TB, secret string) keystore.Key {
	t.Helper()
	return chaintest.Key(t, keystore.CurveSecp256k1, chaintest.Unhex(t, secret))
}

// vector is a transaction by TronWeb.
type vector struct{ Type, RawDataHex, TxID, Signature, Signed string }

func tronWebVectors(t testing.TB) []vector {
	t.Helper()
	var file struct{ Transactions []vector }
	chaintest.ReadJSON(t, "testdata/tronweb.json", &file)
	return file.Transactions
}

// handMade are contracts that TronWeb cannot build, encoded by the oracle.
func handMade(t testing.TB) map[string][]byte {
	t.Helper()
	return map[string][]byte{
		"UnfreezeAssetContract":     rawOf(14, encoded(t, "UnfreezeAssetContract", `{"owner_address": "$owner"}`)),
		"MarketSellAssetContract":   rawOf(52, encoded(t, "MarketSellAssetContract", `{"owner_address": "$owner", "sell_token_id": "Xw==", "sell_token_quantity": 2000000, "buy_token_id": "MTAwMjAwMA==", "buy_token_quantity": 5}`)),
		"MarketCancelOrderContract": rawOf(53, encoded(t, "MarketCancelOrderContract", `{"owner_address": "$owner", "order_id": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}`)),
	}
}
