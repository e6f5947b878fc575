package fuzz

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

const tronTestdata = "../chains/tron/testdata"

// tronProtocol has java-tron's declarations, for Google's implementation of Protocol
// Buffers. Targets load them before they run, since the path is relative.
var tronProtocol = sync.OnceValue(func() protoreflect.MessageDescriptors {
	text, err := os.ReadFile(filepath.Join(tronTestdata, "descriptor.json"))
	if err != nil {
		panic(err)
	}
	var described descriptorpb.FileDescriptorProto
	if err := protojson.Unmarshal(text, &described); err != nil {
		panic(err)
	}
	file, err := protodesc.NewFile(&described, protoregistry.GlobalFiles)
	if err != nil {
		panic(err)
	}
	return file.Messages()
})

// tronReencode decodes with the oracle and encodes again.
func tronReencode(t *testing.T, declared protoreflect.MessageDescriptor, raw []byte) ([]byte, *dynamicpb.Message) {
	t.Helper()
	m := dynamicpb.NewMessage(declared)
	if err := proto.Unmarshal(raw, m); err != nil {
		t.Fatalf("accepted %x, the oracle says %v", raw, err)
	}
	out, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	testenv.Must(t, err)
	return out, m
}

// checkTronCanonical checks that the oracle encodes an accepted transaction to the
// same bytes, also inside the Any.
func checkTronCanonical(t *testing.T, raw []byte) {
	t.Helper()
	transaction := tronProtocol().ByName("Transaction")
	frame := transaction.Messages().ByName("raw")
	rawData := raw
	if raw[1] != 2 {
		out, _ := tronReencode(t, transaction, raw)
		if !bytes.Equal(out, raw) {
			t.Fatalf("accepted %x\noracle   %x", raw, out)
		}
		length, size := protowire.ConsumeVarint(raw[1:])
		rawData = raw[1+size:][:length]
	}
	out, m := tronReencode(t, frame, rawData)
	if !bytes.Equal(out, rawData) {
		t.Fatalf("accepted %x\noracle   %x", rawData, out)
	}
	inside := tronParameter(t, m)
	name := inside.MessageName().Name()
	out, _ = tronReencode(t, tronProtocol().ByName(name), inside.Value)
	if name == "ProposalCreateContract" { // the order of a map's entries is free
		out, inside.Value = slices.Sorted(slices.Values(out)), slices.Sorted(slices.Values(inside.Value))
	}
	if !bytes.Equal(out, inside.Value) {
		t.Fatalf("%s: accepted %x\noracle   %x", name, inside.Value, out)
	}
}

// tronParameter returns the Any in the only contract.
func tronParameter(t *testing.T, frame *dynamicpb.Message) *anypb.Any {
	t.Helper()
	list := frame.Get(frame.Descriptor().Fields().ByName("contract")).List()
	if list.Len() != 1 {
		t.Fatalf("accepted with %d contracts", list.Len())
	}
	contract := list.Get(0).Message()
	parameter := contract.Get(contract.Descriptor().Fields().ByName("parameter")).Message()
	fields := parameter.Descriptor().Fields()
	return &anypb.Any{
		TypeUrl: parameter.Get(fields.ByName("type_url")).String(),
		Value:   bytes.Clone(parameter.Get(fields.ByName("value")).Bytes()),
	}
}

// FuzzTronParse checks that reading does not panic, that what is accepted is what
// Google's implementation writes, that every error names this chain and an offset
// inside the input, and that signing keeps the bytes and signs their hash.
func FuzzTronParse(f *testing.F) {
	addTronSeeds(f)
	tronProtocol()
	key := tronKey(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		tx, err := tron.New(tron.Limits{}).Parse(raw)
		if err != nil {
			refused, ok := errors.AsType[*chains.ParseError](err)
			if !ok || refused.Chain != tron.Name || refused.Problem == "" || refused.Offset > len(raw) {
				t.Fatalf("%#v", err)
			}
			return
		}
		checkTronCanonical(t, raw)
		summary := tx.Summary()
		if again := tx.Summary(); again.Digest() != summary.Digest() {
			t.Fatal("two summaries of one transaction differ")
		}
		showEverything(t, tx, key)
		for _, hazard := range tx.Hazards() {
			if !slices.Contains(tron.Chain{}.HazardNames(), hazard.Name) {
				t.Fatalf("unlisted hazard %s", hazard.Name)
			}
		}
		checkTronSigned(t, tx, key, raw)
		if !bytes.Equal(raw, before) {
			t.Fatal("the input was changed")
		}
	})
}

func checkTronSigned(t *testing.T, tx chains.Transaction, key keystore.Key, raw []byte) {
	t.Helper()
	signed, err := signed(t, tx, key, "key")
	if err != nil {
		return // the key has signed already
	}
	kept, rawData := raw, raw
	if raw[1] == 2 {
		kept = protowire.AppendBytes([]byte{0x0a}, raw)
	} else {
		rawData, _ = protowire.ConsumeBytes(raw[1:])
	}
	tail := len(signed) - 67
	if !bytes.Equal(signed[:tail], kept) || !bytes.Equal(signed[tail:tail+2], []byte{0x12, 65}) {
		t.Fatalf("signed %x\nof     %x", signed, raw)
	}
	signature := [65]byte(signed[tail+2:])
	signature[64] -= 27
	testenv.Must(t, keystore.VerifyECDSA(key.PublicKey(), sha256.Sum256(rawData), signature))
	if _, err := (tron.Chain{}).Parse(signed); err != nil {
		t.Fatalf("our own output is refused: %v", err)
	}
}

// FuzzTronSignWith checks that an address is what btcd decodes with Tron's first
// byte, or 41 and hex, and that the key signs only for its own address, and for any
// id.
func FuzzTronSignWith(f *testing.F) {
	for _, seed := range []string{"TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn", "4197cc56300c36f60c7fb7c50babc6c5cdf59d5c56", "0x97cc", "key", "",
		"TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC", "TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwm", "T0oqpax8MrHNhHhfCaCycnWeC4tUgvtBwn"} {
		f.Add(seed)
	}
	raw, key := tronSeeds(f)[0], ethereumKey(f)
	f.Fuzz(func(t *testing.T, signWith string) {
		tx, err := tron.New(tron.Limits{}).Parse(raw)
		testenv.Must(t, err)
		address, isAddress, refused := tronOracle(signWith)
		checkSignWith(t, tx, key, signWith, address, isAddress, refused)
	})
}

// tronOracle says whether signWith is an address, an id, or a mistyped address.
func tronOracle(signWith string) (address [20]byte, isAddress, refused bool) {
	payload, version, err := base58.CheckDecode(signWith)
	if err == nil && version == 0x41 && len(payload) == 20 {
		return [20]byte(payload), true, false
	}
	digits, err := hex.DecodeString(signWith)
	if err == nil && len(digits) == 21 && digits[0] == 0x41 {
		return [20]byte(digits[1:]), true, false
	}
	return address, false, tronSlip.MatchString(signWith)
}

// tronSlip reports whether a text looks like an address of Tron, or is one of
// Ethereum.
var tronSlip = regexp.MustCompile(`^(T[0-9A-Za-z]{32,34}|0x[0-9a-fA-F]+)$`)

func addTronSeeds(f *testing.F) {
	f.Helper()
	for _, raw := range tronSeeds(f) {
		f.Add(raw)
		f.Add(protowire.AppendBytes([]byte{0x0a}, raw))
	}
	var vector struct{ SignedTransaction string }
	readTronJSON(f, "trx.json", &vector)
	f.Add(testenv.Hex(f, vector.SignedTransaction))
}

// tronSeeds returns the transactions that TronWeb built, of every type that it
// supports.
func tronSeeds(f *testing.F) [][]byte {
	f.Helper()
	var file struct{ Transactions []struct{ RawDataHex string } }
	readTronJSON(f, "tronweb.json", &file)
	var seeds [][]byte
	for _, made := range file.Transactions {
		seeds = append(seeds, testenv.Hex(f, made.RawDataHex))
	}
	return seeds
}

func readTronJSON(f *testing.F, name string, into any) {
	f.Helper()
	text := testenv.Read(f, filepath.Join(tronTestdata, name))
	testenv.JSON(f, text, into)
}

func tronKey(f *testing.F) keystore.Key {
	f.Helper()
	return chaintest.Key(f, keystore.CurveSecp256k1, bytes.Repeat([]byte{7}, keystore.SecretSize))
}
