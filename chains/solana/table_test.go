package solana_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// knownTables is a reader that knows lookup tables.
type knownTables map[[32]byte][][]byte

func (k knownTables) Read(chains.Call) (chains.Reading, bool) { return chains.Reading{}, false }

func (k knownTables) LookupTable(address []byte) (chains.LookupTable, bool) {
	addresses, ok := k[[32]byte(address)]
	return chains.LookupTable{Source: "table.json", Digest: strings.Repeat("ab", 32), Trust: "pinned", Addresses: addresses}, ok
}

// holding returns a table with an address at an index, and others before it.
func holding(index int, address [32]byte) [][]byte {
	list := make([][]byte, index+1)
	for i := range list {
		other := account(100 + i%100)
		list[i] = other[:]
	}
	list[index] = address[:]
	return list
}

// loading returns a transfer of the signer's SOL to entry 200 of a table.
func loading() []byte {
	s := simple(solana.Version0, 1)
	s.keys[len(s.keys)-1] = sdk.SystemProgramID
	s.lookups = []table{{key: account(50), writable: []byte{200}}}
	s.instructions = []part{{program: 2, accounts: []byte{0, 3}, data: slices.Concat(u32(2), u64(1000))}}
	return s.bytes()
}

// TestKnownTable: with its table, a recipient has an address in effects and calls and is
// no hazard. The summary, its digest and the signed bytes do not depend on the table.
func TestKnownTable(t *testing.T) {
	key, bob := ed25519Key(t, 0), account(7)
	plain := parse(t, loading())
	tx, readings := chains.ReadWith(plain, knownTables{account(50): holding(200, bob)})
	if want := []string{solana.HazardUnresolvedAccount}; !slices.Equal(hazardNames(plain), want) || len(tx.Hazards()) > 0 {
		t.Errorf("hazards %v, with the table %v", hazardNames(plain), hazardNames(tx))
	}
	effect := tx.Effects()[1]
	if !effect.To.Is(bob[:]) || len(effect.Unresolved) > 0 || !plain.Effects()[1].To.IsUnknown() {
		t.Errorf("the effect is %+v, without the table %+v", effect, plain.Effects()[1])
	}
	if got := tx.(chains.Caller).Calls()[0].Accounts[1]; !got.Is(bob[:]) {
		t.Errorf("the call has %v", got)
	}
	if tx.Summary().Digest() != plain.Summary().Digest() {
		t.Error("the summary differs")
	}
	with := chaintest.MustReady(t, tx, "wallet", key)
	signed, err := with.AppendSigned(t.Context(), nil)
	if err != nil || !bytes.Equal(signed, sign(t, loading(), key)) {
		t.Errorf("other bytes are signed: %x, %v", signed, err)
	}
	if !with.Effects()[1].To.Is(bob[:]) || len(with.Hazards()) > 0 {
		t.Errorf("for the signer: %+v %v", with.Effects()[1], with.Hazards())
	}
	text, err := json.Marshal(readings)
	want := `[{"path":"address_table_lookups/0","source":"table.json","digest":"` + strings.Repeat("ab", 32) + `","trust":"pinned",` +
		`"fields":[{"label":"entry 200","type":"address","value":"` + sdk.PublicKey(bob).String() + `"}],"complete":true}]`
	if err != nil || string(text) != want {
		t.Errorf("the reading is\n%s, not\n%s (%v)", text, want, err)
	}
}

// TestInsufficientTable: an account that a table does not resolve stays unknown, and a
// hazard.
func TestInsufficientTable(t *testing.T) {
	for name, test := range map[string]struct {
		tables  knownTables
		problem string
	}{
		"another table":      {knownTables{account(51): holding(200, account(7))}, ""},
		"one entry short":    {knownTables{account(50): holding(199, account(7))}, "it has 200 entries, and the transaction loads entry 200"},
		"an empty table":     {knownTables{account(50): nil}, "it has 0 entries"},
		"our own account":    {knownTables{account(50): holding(200, public(0))}, "which the transaction names already"},
		"its own program":    {knownTables{account(50): holding(200, sdk.SystemProgramID)}, "which the transaction names already"},
		"an account of none": {knownTables{account(50): holding(200, account(1))}, "which the transaction names already"},
	} {
		tx, readings := chains.ReadWith(parse(t, loading()), test.tables)
		if !tx.Effects()[1].To.IsUnknown() || !slices.Equal(hazardNames(tx), []string{solana.HazardUnresolvedAccount}) {
			t.Errorf("%s: %+v %v", name, tx.Effects()[1], hazardNames(tx))
		}
		if len(readings) != min(1, len(test.problem)) || len(readings) == 1 && (readings[0].Complete || !strings.Contains(readings[0].Problem, test.problem)) {
			t.Errorf("%s: %+v", name, readings)
		}
	}
}

// TestRefusedTableLeavesAddresses checks that a table that is refused does not keep
// another one from being used: what it has before the entry in question is named by no one.
func TestRefusedTableLeavesAddresses(t *testing.T) {
	s, bob := simple(solana.Version0, 1), account(7)
	s.keys[len(s.keys)-1] = sdk.SystemProgramID
	s.lookups = []table{{key: account(50), writable: []byte{200, 201}}, {key: account(51), writable: []byte{5}}}
	s.instructions = []part{{program: 2, accounts: []byte{0, 5}, data: slices.Concat(u32(2), u64(1000))}}
	refused := append(holding(200, bob), sdk.SystemProgramID[:])
	tx, readings := chains.ReadWith(parse(t, s.bytes()), knownTables{account(50): refused, account(51): holding(5, bob)})
	if len(readings) != 2 || readings[0].Complete || !strings.Contains(readings[0].Problem, "names already") || !readings[1].Complete {
		t.Fatalf("readings %+v", readings)
	}
	if effect := tx.Effects()[1]; !effect.To.Is(bob[:]) {
		t.Errorf("the recipient is %+v", effect.To)
	}
}

// TestTableNeverNamesTheProgram: a program never comes from a table.
func TestTableNeverNamesTheProgram(t *testing.T) {
	s := simple(solana.Version0, 1)
	s.lookups = []table{{key: account(50), writable: []byte{0}}}
	s.instructions[0].program = byte(len(s.keys))
	if _, err := (solana.Chain{}).Parse(s.bytes()); err == nil || !strings.Contains(err.Error(), "comes from a lookup table") {
		t.Errorf("%v", err)
	}
}

// TestTableShowsAuthority: a stake instruction whose clock sysvar is in a table is decoded
// with the table, which shows that it gives the signer's stake away.
func TestTableShowsAuthority(t *testing.T) {
	s := simple(solana.Version0, 1)
	s.keys = append(s.keys[:2:2], sdk.StakeProgramID)
	s.lookups = []table{{key: account(50), readonly: []byte{3}}}
	s.instructions = []part{{program: 2, accounts: []byte{1, 3, 0}, data: slices.Concat(u32(1), bytes32(9), u32(1))}}
	plain := parse(t, s.bytes())
	if names := hazardNames(plain); !slices.Equal(names, []string{solana.HazardBlindCall}) {
		t.Errorf("without the table: %v", names)
	}
	tx, _ := chains.ReadWith(plain, knownTables{account(50): holding(3, sdk.SysVarClockPubkey)})
	if names := hazardNames(tx); !slices.Equal(names, []string{solana.HazardAuthorityChange}) {
		t.Errorf("with the clock: %v", names)
	}
	if last := tx.Effects()[1]; last.Kind != chains.KindAuthority || !last.To.Is(bytes32(9)) {
		t.Errorf("%+v", last)
	}
	if tx, _ := chains.ReadWith(plain, knownTables{account(50): holding(3, account(8))}); !slices.Equal(hazardNames(tx), []string{solana.HazardBlindCall}) {
		t.Errorf("with another account than the clock: %v", hazardNames(tx))
	}
}

// TestTablesAgainstSolanaGo compares the accounts of each instruction with those that
// solana-go resolves: the writable entries of all tables, then the read-only ones.
func TestTablesAgainstSolanaGo(t *testing.T) {
	for seed := range testenv.Some(2000) {
		g := generator{rand.New(rand.NewPCG(7, uint64(seed)))}
		raw, tables, want := g.lookups(t)
		plain, err := solana.Chain{}.Parse(raw)
		if err != nil {
			t.Fatalf("%v\n%x", err, raw)
		}
		tx, readings := chains.ReadWith(plain, tables)
		for _, reading := range readings {
			if !reading.Complete {
				t.Fatalf("%+v", reading)
			}
		}
		for i, call := range tx.(chains.Caller).Calls() {
			var got []string
			for _, party := range call.Accounts {
				got = append(got, party.String())
			}
			if !slices.Equal(got, want[i]) {
				t.Fatalf("seed %d, instruction %d: %v, solana-go says %v\n%s", seed, i, got, want[i], hex.EncodeToString(raw))
			}
		}
	}
}

// lookups generates a transaction with lookups, their tables, and the accounts of its
// instructions as solana-go resolves them.
func (g generator) lookups(t *testing.T) (raw []byte, tables knownTables, accounts [][]string) {
	t.Helper()
	m := g.small(sdk.MessageVersionV0, 1+g.IntN(3), true)
	tables = knownTables{}
	theirs := map[sdk.PublicKey]sdk.PublicKeySlice{}
	for _, l := range m.AddressTableLookups {
		for range 256 {
			address := g.bytes32()
			tables[l.AccountKey] = append(tables[l.AccountKey], address[:])
			theirs[l.AccountKey] = append(theirs[l.AccountKey], sdk.PublicKey(address))
		}
	}
	tx := &sdk.Transaction{Message: *m, Signatures: make([]sdk.Signature, m.Header.NumRequiredSignatures)}
	raw, err := tx.MarshalBinary()
	testenv.Must(t, err)
	testenv.Must(t, tx.Message.SetAddressTables(theirs))
	testenv.Must(t, tx.Message.ResolveLookups())
	for _, in := range tx.Message.Instructions {
		metas, err := in.ResolveInstructionAccounts(&tx.Message)
		testenv.Must(t, err)
		var list []string
		for _, meta := range metas {
			list = append(list, meta.PublicKey.String())
		}
		accounts = append(accounts, list)
	}
	return raw, tables, accounts
}

// readsAll is a reader that knows every program.
type readsAll struct{}

func (readsAll) Read(chains.Call) (chains.Reading, bool) { return chains.Reading{Complete: true}, true }

func (readsAll) LookupTable([]byte) (table chains.LookupTable, ok bool) { return table, false }

// TestReadingCoversItsProgramAlone: a complete reading of a transfer of Token-2022 says
// nothing about the hook program that the transfer may call, which stays a blind call.
func TestReadingCoversItsProgramAlone(t *testing.T) {
	for name, test := range map[string]struct {
		call instructionCall
		want []string
	}{
		"an unknown program": {call(sdk.PublicKey(account(40)), []byte{0, 2}), nil},
		"a transfer hook":    {call(sdk.Token2022ProgramID, []byte{2, 3, 4, 0, 5}, []byte{12}, u64(1), []byte{6}), []string{solana.HazardBlindCall}},
	} {
		tx, readings := chains.ReadWith(parse(t, scene(solana.Version0, 1, nil, test.call)), readsAll{})
		if got := chaintest.Names(readings.Sighted(tx.Hazards(), tx.Effects())); !slices.Equal(got, test.want) {
			t.Errorf("%s: hazards %v, want %v", name, got, test.want)
		}
	}
}
