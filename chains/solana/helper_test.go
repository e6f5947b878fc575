package solana_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/keystore"
)

// seed returns the secret of the i-th test key.
func seed(i int) []byte {
	digest := sha256.Sum256(fmt.Appendf(nil, "solana test key %d", i))
	return digest[:]
}

func private(i int) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(seed(i)) }

func public(i int) [32]byte { return [32]byte(private(i).Public().(ed25519.PublicKey)) }

var tokens = [32]byte(sdk.TokenProgramID)

// account returns an address whose key is unknown.
func account(i int) [32]byte { return sha256.Sum256(fmt.Appendf(nil, "solana test account %d", i)) }

func ed25519Key(t testing.TB, i int) keystore.Key {
	return chaintest.Key(t, keystore.CurveEd25519, seed(i))
}

func address(key keystore.Key) string {
	return solana.Chain{}.Addresses(key.PublicKey())[0].Address
}

// sign parses raw and signs it by the key's address.
func sign(t testing.TB, raw []byte, key keystore.Key) []byte {
	t.Helper()
	signed, err := trySign(raw, key)
	if err != nil {
		t.Fatalf("%v\n%x", err, raw)
	}
	return signed
}

func trySign(raw []byte, key keystore.Key) ([]byte, error) {
	return chaintest.Sign(context.Background(), solana.Chain{}, raw, address(key), key)
}

func parse(t testing.TB, raw []byte) *solana.Transaction {
	t.Helper()
	tx, err := solana.New(solana.Limits{}).Parse(raw)
	if err != nil {
		t.Fatalf("%v\n%x", err, raw)
	}
	return tx.(*solana.Transaction)
}

// shape is a transaction in parts, which may be inconsistent.
type shape struct {
	version      solana.Version
	slots        [][64]byte
	header       [3]byte
	keys         [][32]byte
	blockhash    [32]byte
	instructions []part
	lookups      []table
	mask         uint32 // v1
	values       []byte // v1: those that the mask announces
}

type part struct {
	program  byte
	accounts []byte
	data     []byte
}

type table struct {
	key                [32]byte
	writable, readonly []byte
}

// simple returns a shape with a number of signers and one instruction, UiAmountToAmount of the Token
// program, which does nothing.
func simple(version solana.Version, signers int) shape {
	s := shape{version: version, slots: make([][64]byte, signers), header: [3]byte{byte(signers), 0, 1}, blockhash: account(99)}
	for i := range signers {
		s.keys = append(s.keys, public(i))
	}
	s.keys = append(s.keys, account(1), tokens)
	s.instructions = []part{{program: byte(signers + 1), accounts: []byte{byte(signers), 0}, data: []byte("\x181.5")}}
	if version == solana.Version1 {
		s.mask, s.values = 0b1100, []byte{0x40, 0x0d, 3, 0, 0, 0, 1, 0}
	}
	return s
}

func compactU16(value int) []byte {
	var out []byte
	for ; value > 0x7f; value >>= 7 {
		out = append(out, byte(value)|0x80)
	}
	return append(out, byte(value))
}

func (s shape) bytes() []byte {
	message := s.message()
	slots := bytes.Join(each(s.slots, func(slot [64]byte) []byte { return slot[:] }), nil)
	if s.version == solana.Version1 {
		return append(message, slots...)
	}
	return bytes.Join([][]byte{compactU16(len(s.slots)), slots, message}, nil)
}

func (s shape) message() []byte {
	if s.version == solana.Version1 {
		return s.messageV1()
	}
	var out []byte
	if s.version == solana.Version0 {
		out = append(out, 0x80)
	}
	out = append(out, s.header[:]...)
	out = append(out, compactU16(len(s.keys))...)
	out = append(out, s.keyBytes()...)
	out = append(out, s.blockhash[:]...)
	out = append(out, compactU16(len(s.instructions))...)
	for _, in := range s.instructions {
		out = append(out, in.program)
		out = append(append(out, compactU16(len(in.accounts))...), in.accounts...)
		out = append(append(out, compactU16(len(in.data))...), in.data...)
	}
	if s.version == solana.Legacy {
		return out
	}
	out = append(out, compactU16(len(s.lookups))...)
	for _, l := range s.lookups {
		out = append(out, l.key[:]...)
		out = append(append(out, compactU16(len(l.writable))...), l.writable...)
		out = append(append(out, compactU16(len(l.readonly))...), l.readonly...)
	}
	return out
}

func (s shape) messageV1() []byte {
	out := append([]byte{0x81}, s.header[:]...)
	out = binary.LittleEndian.AppendUint32(out, s.mask)
	out = append(out, s.blockhash[:]...)
	out = append(out, byte(len(s.instructions)), byte(len(s.keys)))
	out = append(out, s.keyBytes()...)
	out = append(out, s.values...)
	for _, in := range s.instructions {
		out = append(out, in.program, byte(len(in.accounts)))
		out = binary.LittleEndian.AppendUint16(out, uint16(len(in.data)))
	}
	for _, in := range s.instructions {
		out = append(append(out, in.accounts...), in.data...)
	}
	return out
}

func (s shape) keyBytes() []byte {
	return bytes.Join(each(s.keys, func(key [32]byte) []byte { return key[:] }), nil)
}

func each[From, To any](list []From, convert func(From) To) []To {
	var out []To
	for _, item := range list {
		out = append(out, convert(item))
	}
	return out
}

// check returns the error of Request or With.
func check(tx chains.Transaction, key keystore.Key, signWith string) error {
	_, err := chaintest.Ready(tx, signWith, key)
	return err
}

// ready returns a signing with the keys of a wallet.
func ready(t testing.TB, raw []byte, keys ...keystore.Key) chains.Signing {
	t.Helper()
	signing := chaintest.MustReady(t, parse(t, raw), "wallet", keys...)
	return signing
}

func hazardNames(tx chains.Transaction) []string { return chaintest.Names(tx.Hazards()) }
