package solana_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
)

// transferToEntry sends SOL of the fixture's key to entry 2 of the lookup table at
// 99…99.
var transferToEntry = "01" + strings.Repeat("00", 64) + "80010001" + "02" +
	"d57c9917ad383b59923edd8d3f5c071b92dfb1fd5ffe682e31e5f8795b15a529" + strings.Repeat("00", 32) +
	"e72f180aa543b76ce7fc9df601979eeb487f76ae15b568e9877b1c4cb8e9bd2a" +
	"01" + "01" + "020002" + "0c020000001027000000000000" + "01" + strings.Repeat("99", 32) + "0102" + "00"

// tableReader knows the lookup table at 99…99: three addresses, each filled with one
// byte.
type tableReader [3]byte

func (*tableReader) Read(chains.Call) (chains.Reading, bool) { return chains.Reading{}, false }

func (r *tableReader) LookupTable(address []byte) (table chains.LookupTable, ok bool) {
	for _, b := range r {
		table.Addresses = append(table.Addresses, []byte(strings.Repeat(string([]byte{b}), 32)))
	}
	table.Source, table.Digest, table.Trust = "table.json", fmt.Sprintf("%064x", r[:]), "pinned"
	return table, address[0] == 0x99
}

// submitSolana submits a transaction of the fixture's Solana key.
func submitSolana(t *testing.T, f *enginetest.Fixture, unsigned string) (*activity.Record, error) {
	t.Helper()
	return engines.SubmitIntent(t, f, activity.SignTransactionIntent{
		SignWith: "FNN31sUqP3VPQd9VXHFMJGazohBi8vrA6MZyTwcpJX5J", UnsignedTransaction: unsigned, Type: activity.TransactionTypeSolana,
	})
}

// TestLookupTablePolicy checks that a transfer to a table entry is refused because of
// its hazard. With the table, the policy sees the recipient, and the record names the
// file it was read from. The table does not change the summary.
func TestLookupTablePolicy(t *testing.T) {
	_, err := submitSolana(t, enginetest.New(t), transferToEntry)
	if err == nil || !strings.Contains(err.Error(), "solana/unresolved-account") {
		t.Fatalf("without the table: %v", err)
	}
	reader, bob := &tableReader{1, 2, 7}, strings.Repeat("\x07", 32)
	var asked access.Authorization
	f := enginetest.New(t, func(config *countersign.Config) {
		config.Descriptors = reader
		config.Policy = access.PolicyFunc(func(_ context.Context, of access.Authorization) error {
			asked = of
			return nil
		})
	})
	record, err := submitSolana(t, f, transferToEntry)
	testenv.Must(t, err)
	if !asked.Effects[1].To.Is([]byte(bob)) || !asked.Summary().Effects[1].To.IsUnknown() || len(asked.Hazards) > 0 {
		t.Errorf("the policy is asked about %+v, and the summary has %+v", asked.Effects[1], asked.Summary().Effects[1])
	}
	reading, ok := asked.Readings.At("address_table_lookups/0")
	if !ok || !reading.Complete || reading.Fields[0].Value != base58.Encode([]byte(bob)) {
		t.Errorf("%+v", asked.Readings)
	}
	if got := record.Decision; len(got.ReadWith) != 1 || got.ReadWith[0] != reading.Digest || got.Readings != asked.Readings.DigestText() {
		t.Errorf("recorded: %+v", got)
	}
	plain, err := all.Inspect(activity.TransactionTypeSolana, transferToEntry, all.Limits{})
	testenv.Must(t, err)
	with := plain.ReadWith(reader)
	if plain.Summary.Digest() != asked.Summary().Digest() || with.Summary.Digest() != asked.Summary().Digest() {
		t.Error("the table changes the summary's digest")
	}
	if !with.Effects[1].To.Is([]byte(bob)) || len(with.Hazards) > 0 || len(plain.Hazards) != 1 {
		t.Errorf("inspected: %+v %v", with.Effects[1], with.Hazards)
	}
}

// TestLookupTableApproval checks that voters are shown the recipient from the table.
// What they approved is not signed if the table has other contents or is missing.
func TestLookupTableApproval(t *testing.T) {
	for name, change := range map[string]func(*tableReader){
		"unchanged": func(*tableReader) {}, "another recipient": func(r *tableReader) { r[2] = 8 }, "another file": func(r *tableReader) { r[0] = 9 },
	} {
		reader := &tableReader{1, 2, 7}
		b := ballot.New(t, func(config *countersign.Config) { config.Descriptors = reader })
		waiting, err := submitSolana(t, b.Fixture, transferToEntry)
		testenv.Must(t, err)
		if bob := base58.Encode([]byte(strings.Repeat("\x07", 32))); !strings.Contains(waiting.Reading.Effects, bob) ||
			!strings.Contains(waiting.Reading.Readings, bob) || strings.Contains(waiting.Reading.Summary, bob) {
			t.Errorf("shown: %+v", waiting.Reading)
		}
		b.Approve(b.Ann, waiting)
		change(reader)
		done, err := b.Vote(b.Ben, activity.TypeApproveActivity, waiting)
		if signed := err == nil && done.Status == activity.StatusCompleted; signed != (name == "unchanged") {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
	}
}
