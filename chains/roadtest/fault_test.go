package roadtest_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	chaintest "github.com/countersign-dev/countersign/chains/roadtest"
	"github.com/countersign-dev/countersign/keystore"
)

// broken is Ethereum with one fault. Each field replaces what it is named after.
type broken struct {
	chains.NewChain
	parse     func(raw []byte) (chains.NewTransaction, error)
	addresses func(pub keystore.PublicKey) []chains.Address
	hazards   []string
}

func (b broken) Parse(raw []byte) (chains.NewTransaction, error) {
	if b.parse != nil {
		return b.parse(raw)
	}
	return b.NewChain.Parse(raw)
}

func (b broken) Addresses(pub keystore.PublicKey) []chains.Address {
	if b.addresses != nil {
		return b.addresses(pub)
	}
	return b.NewChain.Addresses(pub)
}

func (b broken) HazardNames() []string {
	if b.hazards != nil {
		return b.hazards
	}
	return b.NewChain.HazardNames()
}

// faulty is a transaction whose signing has a fault.
type faulty struct {
	chains.NewTransaction
	sign signFunc
}

type signFunc func(ctx context.Context, sound chains.Signing) ([]byte, error)

func (f faulty) Request(signWith string) (chains.Request, error) {
	request, err := f.NewTransaction.Request(signWith)
	return faultyRequest{request, f.sign}, err
}

type faultyRequest struct {
	chains.Request
	sign signFunc
}

func (f faultyRequest) With(keys ...keystore.Key) (chains.Signing, error) {
	signing, err := f.Request.With(keys...)
	if err != nil {
		return nil, err
	}
	return faultySigning{signing, f.sign}, nil
}

type faultySigning struct {
	chains.Signing
	sign signFunc
}

func (f faultySigning) AppendSigned(ctx context.Context, _ []byte) ([]byte, error) {
	return f.sign(ctx, f.Signing)
}

func signs(sign signFunc) broken {
	return broken{NewChain: ethereum.Chain{}, parse: func(raw []byte) (chains.NewTransaction, error) {
		tx, err := ethereum.Chain{}.Parse(raw)
		if err != nil {
			return nil, err
		}
		return faulty{tx, sign}, nil
	}}
}

// transfer is one of 0.1 ether on mainnet, type 2.
const transfer = "02f001078459682f008502540be4008252089408d2b0a37f869ff76bacb5bab3278e26ab7067b788016345785d8a000080c0"

var signatures byte

// faults are chains that the suite must not let pass, by the part of it that must
// notice.
var faults = map[string]broken{
	"HazardNames": {NewChain: ethereum.Chain{}, hazards: []string{"solana/no-chain-id"}},
	"Nothing":     {NewChain: ethereum.Chain{}, parse: func([]byte) (chains.NewTransaction, error) { return nil, errors.New("no") }},
	"transfer/Addresses": {NewChain: ethereum.Chain{}, addresses: func(keystore.PublicKey) []chains.Address {
		return []chains.Address{{Format: "ADDRESS_FORMAT_ETHEREUM", Address: "0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7"}}
	}},
	"transfer/Trailing": {NewChain: ethereum.Chain{}, parse: func(raw []byte) (chains.NewTransaction, error) {
		return ethereum.Chain{}.Parse(raw[:min(len(raw), len(transfer)/2)])
	}},
	"transfer/Cut": {NewChain: ethereum.Chain{}, parse: func(raw []byte) (chains.NewTransaction, error) {
		if len(raw) == len(transfer)/2-1 {
			raw = append(bytes.Clone(raw), 0xc0)
		}
		return ethereum.Chain{}.Parse(raw)
	}},
	"transfer/Sign": signs(func(ctx context.Context, sound chains.Signing) ([]byte, error) {
		signatures++
		signed, err := sound.AppendSigned(ctx, nil)
		return append(signed, signatures), err
	}),
	"transfer/CancelledSign": signs(func(_ context.Context, sound chains.Signing) ([]byte, error) {
		return sound.AppendSigned(context.Background(), nil)
	}),
	"transfer/FailingKey": signs(func(ctx context.Context, sound chains.Signing) ([]byte, error) {
		signed, err := sound.AppendSigned(ctx, nil)
		return append(signed, 0), err
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
func TestSound(t *testing.T) { chaintest.Run(t, broken{NewChain: ethereum.Chain{}}, samples(t)) }

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
