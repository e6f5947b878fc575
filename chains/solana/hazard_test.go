package solana_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/testenv"
)

func TestHazards(t *testing.T) {
	units, data, zero := []byte{1, 0, 0, 0}, []byte{2, 0, 0, 0}, []byte{0, 0, 0, 0}
	budget := []string{solana.HazardNoComputeBudget}
	tests := []struct {
		name    string
		version solana.Version
		change  func(*shape)
		want    []string
	}{
		{"none in legacy", solana.Legacy, func(*shape) {}, nil},
		{"none in v0", solana.Version0, func(*shape) {}, nil},
		{"none in v1", solana.Version1, func(*shape) {}, nil},
		{"zero blockhash in legacy", solana.Legacy, func(s *shape) { s.blockhash = [32]byte{} }, []string{solana.HazardZeroBlockhash}},
		{"zero blockhash in v0", solana.Version0, func(s *shape) { s.blockhash = [32]byte{} }, []string{solana.HazardZeroBlockhash}},
		{"almost zero blockhash", solana.Version0, func(s *shape) { s.blockhash = [32]byte{31: 1} }, nil},
		{"v1 without configuration", solana.Version1, func(s *shape) { s.mask, s.values = 0, nil }, budget},
		{"v1 with a fee alone", solana.Version1, func(s *shape) { s.mask, s.values = 0b11, slices.Concat(units, zero) }, budget},
		{"v1 without compute units", solana.Version1, func(s *shape) { s.mask, s.values = 0b1000, data }, budget},
		{"v1 without loaded data", solana.Version1, func(s *shape) { s.mask, s.values = 0b100, units }, budget},
		{"v1 with zero compute units", solana.Version1, func(s *shape) { s.values = slices.Concat(zero, data) }, budget},
		{"v1 with zero loaded data", solana.Version1, func(s *shape) { s.values = slices.Concat(units, zero) }, budget},
		{"v1 with both", solana.Version1, func(s *shape) { s.values = slices.Concat(units, data) }, nil},
		{"both hazards", solana.Version1, func(s *shape) { s.mask, s.values, s.blockhash = 0, nil, [32]byte{} },
			[]string{solana.HazardZeroBlockhash, solana.HazardNoComputeBudget}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := simple(test.version, 1)
			test.change(&s)
			tx := parse(t, s.bytes())
			if got := hazardNames(tx); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
			// Refusing hazards is up to the engine: the transaction can be signed.
			sign(t, s.bytes(), ed25519Key(t, 0))
		})
	}
}

func TestHazardNames(t *testing.T) {
	want := []string{"solana/zero-blockhash", "solana/no-compute-budget", "solana/durable-nonce", "solana/high-fee", "solana/blind-call",
		"solana/authority-change", "solana/unlimited-approval", "solana/unresolved-account", "solana/burn"}
	if got := (solana.Chain{}).HazardNames(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestHazardSaysWhichLimit(t *testing.T) {
	s := simple(solana.Version1, 1)
	s.mask, s.values = 0b100, []byte{1, 0, 0, 0}
	hazards := ready(t, s.bytes(), ed25519Key(t, 0)).Hazards()
	if len(hazards) != 1 || !strings.HasPrefix(hazards[0].Detail, "no loaded accounts data size limit:") {
		t.Errorf("got %+v", hazards)
	}
}

// TestFeeLimit has a fee at the limit and one above it.
func TestFeeLimit(t *testing.T) {
	for limit, want := range map[uint64][]string{5000: nil, 4999: {solana.HazardHighFee}} {
		tx, err := solana.New(solana.Limits{MaxFee: limit}).Parse(simple(solana.Legacy, 1).bytes())
		testenv.Must(t, err)
		if got := hazardNames(tx); slices.Contains(got, solana.HazardHighFee) != (want != nil) {
			t.Errorf("limit %d: %v, want %v", limit, got, want)
		}
	}
}

// ed25519Precompile is the program whose instructions announce signatures.
var ed25519Precompile = sdk.MustPublicKeyFromBase58("Ed25519SigVerify111111111111111111111111111")

// TestFee checks the largest fee. Among others, it has 64 instructions of the Ed25519
// precompile that announce 255 signatures each, and contain none: a node fails the
// transaction and charges 5,000 lamports for each announced signature.
func TestFee(t *testing.T) {
	price := func(microLamports uint64) instructionCall {
		return call(sdk.ComputeBudget, nil, []byte{3}, u64(microLamports))
	}
	limit := func(units uint32) instructionCall { return call(sdk.ComputeBudget, nil, []byte{2}, u32(units)) }
	for name, test := range map[string]struct {
		calls []instructionCall
		want  string
	}{
		"signatures that are announced": {slices.Repeat([]instructionCall{call(ed25519Precompile, nil, []byte{0xff, 0})}, 64), fmt.Sprint(5000 * (1 + 64*255))},
		"a precompile without data":     {[]instructionCall{call(ed25519Precompile, nil)}, "5000"},
		"price before limit":            {[]instructionCall{price(1_000_000), limit(100)}, "5100"},
		"limit before price":            {[]instructionCall{limit(100), price(1_000_000)}, "5100"},
		"a fraction of a lamport":       {[]instructionCall{limit(1), price(1)}, "5001"},
		"over 64 bits":                  {[]instructionCall{limit(1_000_001), price(math.MaxUint64)}, fmt.Sprint(uint64(math.MaxUint64))},
	} {
		t.Run(name, func(t *testing.T) {
			effects := parse(t, scene(solana.Version0, 1, nil, test.calls...)).Effects()
			fee := slices.IndexFunc(effects, func(e chains.Effect) bool { return e.Kind == chains.KindFee })
			if fee < 0 || effects[fee].Amount.Value.String() != test.want {
				t.Errorf("effects %+v, want a fee of %s", effects, test.want)
			}
		})
	}
}
