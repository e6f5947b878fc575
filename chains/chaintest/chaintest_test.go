package chaintest_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/keystore"
)

// broken is Ethereum with one fault. Each field replaces what it is named after.
type broken struct {
	chains.Chain
	parse     func(raw []byte) (chains.Transaction, error)
	addresses func(pub keystore.PublicKey) []chains.Address
	hazards   []string
}

func (b broken) Parse(raw []byte) (chains.Transaction, error) {
	if b.parse != nil {
		return b.parse(raw)
	}
	return b.Chain.Parse(raw)
}

func (b broken) Addresses(pub keystore.PublicKey) []chains.Address {
	if b.addresses != nil {
		return b.addresses(pub)
	}
	return b.Chain.Addresses(pub)
}

func (b broken) HazardNames() []string {
	if b.hazards != nil {
		return b.hazards
	}
	return b.Chain.HazardNames()
}

// signing is a transaction whose Sign has a fault.
type signing struct {
	chains.Transaction
	sign func(ctx context.Context, tx chains.Transaction, key keystore.Key) ([]byte, error)
}

func (s signing) AppendSigned(ctx context.Context, dst []byte, key keystore.Key, _ string) ([]byte, error) {
	return s.sign(ctx, s.Transaction, key)
}

func signs(sign func(ctx context.Context, tx chains.Transaction, key keystore.Key) ([]byte, error)) broken {
	return broken{Chain: ethereum.Chain{}, parse: func(raw []byte) (chains.Transaction, error) {
		tx, err := ethereum.Chain{}.Parse(raw)
		if err != nil {
			return nil, err
		}
		return signing{tx, sign}, nil
	}}
}

// transfer is one of 0.1 ether on mainnet, type 2.
const transfer = "02f001078459682f008502540be4008252089408d2b0a37f869ff76bacb5bab3278e26ab7067b788016345785d8a000080c0"

var signatures byte

// faults are chains that the suite must not let pass, by the part of it that must
// notice.
var faults = map[string]broken{
	"HazardNames": {Chain: ethereum.Chain{}, hazards: []string{"solana/no-chain-id"}},
	"Nothing":     {Chain: ethereum.Chain{}, parse: func([]byte) (chains.Transaction, error) { return nil, errors.New("no") }},
	"transfer/Addresses": {Chain: ethereum.Chain{}, addresses: func(keystore.PublicKey) []chains.Address {
		return []chains.Address{{Format: "ADDRESS_FORMAT_ETHEREUM", Address: "0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7"}}
	}},
	"transfer/Trailing": {Chain: ethereum.Chain{}, parse: func(raw []byte) (chains.Transaction, error) {
		return ethereum.Chain{}.Parse(raw[:min(len(raw), len(transfer)/2)])
	}},
	"transfer/Cut": {Chain: ethereum.Chain{}, parse: func(raw []byte) (chains.Transaction, error) {
		if len(raw) == len(transfer)/2-1 {
			raw = append(bytes.Clone(raw), 0xc0)
		}
		return ethereum.Chain{}.Parse(raw)
	}},
	"transfer/Sign": signs(func(ctx context.Context, tx chains.Transaction, key keystore.Key) ([]byte, error) {
		signatures++
		signed, err := tx.AppendSigned(ctx, nil, key, "")
		return append(signed, signatures), err
	}),
	"transfer/CancelledSign": signs(func(_ context.Context, tx chains.Transaction, key keystore.Key) ([]byte, error) {
		return tx.AppendSigned(context.Background(), nil, key, "")
	}),
	"transfer/FailingKey": signs(func(ctx context.Context, tx chains.Transaction, key keystore.Key) ([]byte, error) {
		signed, err := tx.AppendSigned(ctx, nil, key, "")
		return append(signed, 0), err
	}),
	"transfer/KeyOfOtherCurve": signs(func(ctx context.Context, tx chains.Transaction, key keystore.Key) ([]byte, error) {
		signed, _ := tx.AppendSigned(ctx, nil, key, "")
		return signed, nil
	}),
}

const faultVariable = "CHAINTEST_FAULT"

func samples(t *testing.T) map[string]chaintest.Sample {
	return map[string]chaintest.Sample{"transfer": {
		Raw: chaintest.Unhex(t, transfer),
		Key: chaintest.Key(t, keystore.CurveSecp256k1, bytes.Repeat([]byte{1}, keystore.SecretSize)),
	}}
}

// TestSound: without a fault the suite passes.
func TestSound(t *testing.T) { chaintest.Run(t, broken{Chain: ethereum.Chain{}}, samples(t)) }

// TestFaultsAreNoticed runs the part of the suite that must notice a fault in a
// process of its own: it has to fail there.
func TestFaultsAreNoticed(t *testing.T) {
	if fault := os.Getenv(faultVariable); fault != "" {
		chaintest.Run(t, faults[fault], samples(t))
		return
	}
	for fault := range faults {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestFaultsAreNoticed$/"+fault+"$")
			command.Env = append(os.Environ(), faultVariable+"="+fault)
			output, err := command.CombinedOutput()
			if _, failed := errors.AsType[*exec.ExitError](err); !failed {
				t.Errorf("the suite lets a chain pass whose fault is in %s: %v\n%s", fault, err, output)
			}
		})
	}
}

// TestMutants counts what comes of three bytes, and that each is a copy.
func TestMutants(t *testing.T) {
	raw := []byte{1, 2, 3}
	kinds := map[string]bool{}
	for mutant := range chaintest.Mutants(raw, []byte{0, 2}) {
		kinds[string(mutant)] = true
		clear(mutant)
	}
	if !bytes.Equal(raw, []byte{1, 2, 3}) {
		t.Fatalf("a mutant shares the bytes: %v", raw)
	}
	for _, want := range [][]byte{{}, {1}, {1, 2}, {2, 3}, {1, 3}, {1, 1, 2, 3}, {0, 2, 3}, {1, 2, 0}, {1, 2, 3, 0}, {0x81, 2, 3}} {
		if !kinds[string(want)] {
			t.Errorf("%v is not among them", want)
		}
	}
	if kinds[string(raw)] {
		t.Error("one of them is no mutant")
	}
}
