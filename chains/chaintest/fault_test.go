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

// broken is a correct chain with one fault.
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

// altered is a transaction with another Request.With.
type altered struct {
	chains.Transaction
	with func(tx chains.Transaction, signWith string, keys []keystore.Key) (chains.Signing, error)
}

func (a altered) Request(signWith string) (chains.Request, error) {
	request, err := a.Transaction.Request(signWith)
	if err != nil {
		return nil, err
	}
	return alteredRequest{request, signWith, a}, nil
}

type alteredRequest struct {
	chains.Request
	signWith string
	tx       altered
}

func (a alteredRequest) With(keys ...keystore.Key) (chains.Signing, error) {
	return a.tx.with(a.tx.Transaction, a.signWith, keys)
}

// alteredSigning is a signing with other signed bytes or effects.
type alteredSigning struct {
	chains.Signing
	sign    func(ctx context.Context, signing chains.Signing) ([]byte, error)
	effects func([]chains.Effect) []chains.Effect
}

func (a alteredSigning) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	if a.sign != nil {
		return a.sign(ctx, a.Signing)
	}
	return a.Signing.AppendSigned(ctx, dst)
}

func (a alteredSigning) Effects() []chains.Effect {
	if a.effects != nil {
		return a.effects(a.Signing.Effects())
	}
	return a.Signing.Effects()
}

func parses(parse func(raw []byte) (chains.Transaction, error)) broken {
	return broken{Chain: ethereum.Chain{}, parse: parse}
}

func signs(with func(tx chains.Transaction, signWith string, keys []keystore.Key) (chains.Signing, error)) broken {
	return parses(func(raw []byte) (chains.Transaction, error) {
		tx, err := ethereum.Chain{}.Parse(raw)
		if err != nil {
			return nil, err
		}
		return altered{tx, with}, nil
	})
}

func signsAs(change alteredSigning) broken {
	return signs(func(tx chains.Transaction, signWith string, keys []keystore.Key) (chains.Signing, error) {
		signing, err := chaintest.Ready(tx, signWith, keys...)
		if err != nil {
			return nil, err
		}
		change.Signing = signing
		return change, nil
	})
}

var signatures byte

// faults are faulty chains by the check that must fail.
var faults = map[string]broken{
	"HazardNames": {Chain: ethereum.Chain{}, hazards: []string{"solana/no-chain-id"}},
	"Nothing":     parses(func([]byte) (chains.Transaction, error) { return nil, errors.New("no") }),
	"transfer/Addresses": {Chain: ethereum.Chain{}, addresses: func(keystore.PublicKey) []chains.Address {
		return []chains.Address{{Format: "ADDRESS_FORMAT_ETHEREUM", Address: "0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7"}}
	}},
	"transfer/Trailing": parses(func(raw []byte) (chains.Transaction, error) {
		return ethereum.Chain{}.Parse(raw[:min(len(raw), len(transfer)/2)])
	}),
	"transfer/Cut": parses(func(raw []byte) (chains.Transaction, error) {
		if len(raw) == len(transfer)/2-1 {
			raw = append(bytes.Clone(raw), 0xc0)
		}
		return ethereum.Chain{}.Parse(raw)
	}),
	"transfer/Sign": signsAs(alteredSigning{sign: func(ctx context.Context, signing chains.Signing) ([]byte, error) {
		signatures++
		signed, err := signing.AppendSigned(ctx, nil)
		return append(signed, signatures), err
	}}),
	"transfer/CancelledSign": signsAs(alteredSigning{sign: func(_ context.Context, signing chains.Signing) ([]byte, error) {
		return signing.AppendSigned(context.Background(), nil)
	}}),
	"transfer/FailingKey": signsAs(alteredSigning{sign: func(ctx context.Context, signing chains.Signing) ([]byte, error) {
		signed, err := signing.AppendSigned(ctx, nil)
		return append(signed, 0), err
	}}),
	"transfer/Effects": signsAs(alteredSigning{effects: func(effects []chains.Effect) []chains.Effect { return effects[1:] }}),
	"transfer/KeyOfOtherCurve": signs(func(tx chains.Transaction, signWith string, keys []keystore.Key) (chains.Signing, error) {
		signing, err := chaintest.Ready(tx, signWith, keys...)
		if err != nil {
			return alteredSigning{}, nil
		}
		return signing, nil
	}),
}

// faultVariable is the environment variable with the fault of a child process.
const faultVariable = "CHAINTEST_FAULT"

// TestFaults runs the suite over each faulty chain in a child process, which must fail.
func TestFaults(t *testing.T) {
	if fault := os.Getenv(faultVariable); fault != "" {
		chaintest.Run(t, faults[fault], samples(t))
		return
	}
	for fault := range faults {
		checkFails(t, fault, "^TestFaults$/"+fault+"$")
	}
}

// checkFails runs a pattern of tests with a fault in a child process, which must fail.
func checkFails(t *testing.T, fault, pattern string) {
	t.Run(fault, func(t *testing.T) {
		t.Parallel()
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", pattern)
		command.Env = append(os.Environ(), faultVariable+"="+fault)
		output, err := command.CombinedOutput()
		if _, failed := errors.AsType[*exec.ExitError](err); !failed {
			t.Errorf("the suite passes with a fault in %s: %v\n%s", fault, err, output)
		}
	})
}

// TestMutants: mutants share no memory with the transaction, and none equals it.
func TestMutants(t *testing.T) {
	raw := []byte{1, 2, 3}
	mutants := map[string]bool{}
	for mutant := range chaintest.Mutants(raw, []byte{0, 2}) {
		mutants[string(mutant)] = true
		clear(mutant)
	}
	if !bytes.Equal(raw, []byte{1, 2, 3}) {
		t.Fatalf("a mutant shares memory: %v", raw)
	}
	for _, want := range [][]byte{{}, {1}, {1, 2}, {2, 3}, {1, 3}, {1, 1, 2, 3}, {0, 2, 3}, {1, 2, 0}, {1, 2, 3, 0}, {0x81, 2, 3}} {
		if !mutants[string(want)] {
			t.Errorf("%v is not among them", want)
		}
	}
	if mutants[string(raw)] {
		t.Error("one of them equals the transaction")
	}
}
