package descriptors_test

import (
	"context"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
)

// reads is a Reader that says the same of every call.
type reads chains.Reading

// Read implements chains.Reader.
func (r reads) Read(chains.Call) (chains.Reading, bool) { return chains.Reading(r), true }

func (reads) LookupTable([]byte) (table chains.LookupTable, ok bool) { return table, false }

// TestBlindCallWithReading checks that a blind call must be allowed, that with a reading
// of every argument it is not blind, and that the policy gets the reading. Effects and
// the digest of the summary do not change.
func TestBlindCallWithReading(t *testing.T) {
	read := chains.Reading{Function: "deposit(uint256,address)", Complete: true}
	for name, test := range map[string]struct {
		reader  chains.Reader
		refused bool
	}{
		"none":       {nil, true},
		"read":       {reads(read), false},
		"incomplete": {reads{Function: read.Function, Problem: "bytes"}, true},
	} {
		var asked access.Authorization
		f := enginetest.New(t, func(config *countersign.Config) {
			config.Descriptors = test.reader
			config.Policy = access.PolicyFunc(func(_ context.Context, of access.Authorization) error {
				asked = of
				return nil
			})
		})
		_, err := f.Submit(t, enginetest.Request{Unsigned: engines.BlindCall})
		if (err != nil) != test.refused || err != nil && !strings.Contains(err.Error(), "ethereum/blind-call") {
			t.Errorf("%s: %v", name, err)
		}
		if test.refused {
			continue
		}
		if reading, ok := asked.Readings.At("call"); !ok || reading.Function != read.Function {
			t.Errorf("%s: the policy is asked with %+v", name, asked.Readings)
		}
		if !asked.Effects[0].Undecoded {
			t.Errorf("%s: the reading made the effect a decoded one", name)
		}
	}
}

// blindCalls are calls of unknown programs by the keys of the fixture: function
// 0x12345678 of a contract on Tron and on Tempo, and an instruction of a Solana program.
var blindCalls = map[string]struct{ signWith, unsigned string }{
	"TRON": {"TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn", "0a020a1b2208112233445566778840e0c4d086a6375a6d081f12690a31747970652e676f6f676c65617069732e636f6d2f" +
		"70726f746f636f6c2e54726967676572536d617274436f6e747261637412340a154197cc56300c36f60c7fb7c50babc6c5cdf59d5c56" +
		"121541eca9bc828a3005b9a3b909f2cc5c2a54794de05f2204123456787080f0cc86a637900180c2d72f"},
	"TEMPO": {enginetest.Address, "76f84182a5bf010782ea60dcdb94" + "1234567890abcdef1234567890abcdef12345678" +
		"808412345678c0800380809420c000000000000000000000000000000000000180c0"},
	"SOLANA": {"FNN31sUqP3VPQd9VXHFMJGazohBi8vrA6MZyTwcpJX5J", "01" + strings.Repeat("00", 64) + "01000103" + "d57c9917ad383b59923edd8d3f5c071b92dfb1fd5ffe682e31e5f8795b15a529" +
		"0d42099a5e0aaeaad1d4ede263662787cb3f6291a6ede340c4aa7ca26249dbe3" + strings.Repeat("11", 32) +
		"e72f180aa543b76ce7fc9df601979eeb487f76ae15b568e9877b1c4cb8e9bd2a" + "01020200010c020000001027000000000000"},
}

// TestBlindCallPerChain submits a blind call of each chain. It is refused without a
// reading and with an incomplete one, signed with a complete one, and has no other
// hazard.
func TestBlindCallPerChain(t *testing.T) {
	for chain, call := range blindCalls {
		name := strings.ToLower(chain) + "/blind-call"
		for reading, signed := range map[chains.Reader]bool{
			nil: false, one(chains.Reading{Function: "f", Problem: "bytes"}): false, one(chains.Reading{Function: "f", Complete: true}): true,
		} {
			f := enginetest.New(t, func(config *countersign.Config) { config.Descriptors = reading })
			_, err := engines.SubmitIntent(t, f, activity.SignTransactionIntent{
				SignWith: call.signWith, UnsignedTransaction: call.unsigned, Type: activity.TransactionType("TRANSACTION_TYPE_" + chain),
			})
			if signed && err != nil || !signed && (err == nil || !strings.Contains(err.Error(), name)) {
				t.Errorf("%s, read with %v: %v", chain, reading, err)
			}
		}
	}
}

// one returns a Reader that can be a map key.
func one(reading chains.Reading) chains.Reader { return (*reads)(&reading) }

// TestReadingNotInSummary checks that the reading is not part of the summary's digest
// and has its own.
func TestReadingNotInSummary(t *testing.T) {
	plain, err := all.Inspect(activity.TransactionTypeEthereum, engines.BlindCall, all.Limits{})
	testenv.Must(t, err)
	read := plain.ReadWith(reads{Function: "deposit(uint256,address)", Complete: true})
	if plain.Summary.Digest() != read.Summary.Digest() || len(plain.Hazards) != 1 || len(read.Hazards) != 0 {
		t.Errorf("hazards %v, then %v", plain.Hazards, read.Hazards)
	}
	other := plain.ReadWith(reads{Function: "withdraw(uint256,address)", Complete: true})
	if len(plain.Readings.DigestText()) != 0 || read.Readings.DigestText() == other.Readings.DigestText() {
		t.Error("the digest of the readings does not tell them apart")
	}
	if _, err := hex.DecodeString(read.Readings.DigestText()); err != nil || len(read.Readings.DigestText()) != 64 {
		t.Error(read.Readings.DigestText())
	}
}

// TestReadingsRecorded checks that a record has the digests of the reading and of the
// descriptors, so that an audit can repeat it. Other descriptors give another digest,
// and no descriptors none.
func TestReadingsRecorded(t *testing.T) {
	said := reads{Source: "vault.json", Digest: strings.Repeat("ab", 32), Function: "deposit(uint256,address)", Complete: true}
	for name, policy := range map[string]access.Policy{
		"without a policy": nil,
		"with a policy":    access.PolicyFunc(func(context.Context, access.Authorization) error { return nil }),
	} {
		f := enginetest.New(t, func(config *countersign.Config) { config.Descriptors, config.Policy = said, policy })
		answered := enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(f.Body(enginetest.Request{Unsigned: engines.BlindCall})))
		stored, err := activity.DecodeRecord(answered.Encode())
		testenv.Must(t, err)
		asked, err := f.Engine.Operator().AskedAbout(t.Context(), stored)
		testenv.Must(t, err)
		decision := stored.Decision
		if decision.Readings != asked[0].Readings.DigestText() || len(decision.Readings) != 64 || len(decision.ReadWith) != 1 || decision.ReadWith[0] != said.Digest {
			t.Errorf("%s: recorded %q of %v, read again %q", name, decision.Readings, decision.ReadWith, asked[0].Readings.DigestText())
		}
		changed := said
		changed.Function = "withdraw(uint256,address)"
		again := enginetest.New(t, func(config *countersign.Config) { config.Descriptors = changed })
		if asked, err = again.Engine.Operator().AskedAbout(t.Context(), stored); err != nil || decision.Readings == asked[0].Readings.DigestText() {
			t.Errorf("%s: other descriptors say the same: %v", name, err)
		}
	}
	f := enginetest.New(t)
	plain, err := f.Submit(t, enginetest.Request{})
	if err != nil || plain.Decision.Readings != "" || plain.Decision.ReadWith != nil {
		t.Errorf("without descriptors: %+v, %v", plain.Decision, err)
	}
}
