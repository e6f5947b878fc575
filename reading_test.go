package countersign_test

import (
	"context"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/enginetest"
)

// blind calls deposit(uint256,address) of a contract that no one knows.
const blind = "02f86e01808477359400850c92a69c00830186a0941234567890abcdef1234567890abcdef1234567880b8446e553f6500000000000000000000000000000000000000000000000000000000000003e800000000000000000000000008d2b0a37f869ff76bacb5bab3278e26ab7067b7c0"

// reads is a Reader that says the same of every call.
type reads chains.Reading

// Read implements chains.Reader.
func (r reads) Read(chains.Call) (chains.Reading, bool) { return chains.Reading(r), true }

// TestBlindCallIsRead: a call is signed blindly only if that is allowed; with a
// reading of every argument it is not blind, and the policy is asked with the
// reading. What the bytes say stays as it is: effects, and the summary's digest.
func TestBlindCallIsRead(t *testing.T) {
	read := chains.Reading{Function: "deposit(uint256,address)", Complete: true}
	for name, test := range map[string]struct {
		reader  chains.Reader
		refused bool
	}{
		"none":       {nil, true},
		"read":       {reads(read), false},
		"incomplete": {reads{Function: read.Function, Problem: "bytes"}, true},
	} {
		var asked countersign.Authorization
		f := enginetest.New(t, func(config *countersign.Config) {
			config.Descriptors = test.reader
			config.Policy = countersign.PolicyFunc(func(_ context.Context, of countersign.Authorization) error {
				asked = of
				return nil
			})
		})
		_, err := f.Submit(t, enginetest.Request{Unsigned: blind})
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

// TestReadingIsBesideTheSummary: it is in no digest of it, and has its own.
func TestReadingIsBesideTheSummary(t *testing.T) {
	plain, err := countersign.Inspect(activity.TransactionTypeEthereum, blind, countersign.Limits{})
	if err != nil {
		t.Fatal(err)
	}
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
