package solana_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// reencode decodes and re-encodes with solana-go.
func reencode(t testing.TB, raw []byte) []byte {
	t.Helper()
	tx, err := sdk.TransactionFromBytes(raw)
	if err != nil {
		t.Fatalf("solana-go does not read it: %v\n%x", err, raw)
	}
	encoded, err := tx.MarshalBinary()
	testenv.Must(t, err)
	return encoded
}

// generator builds well-formed transactions with solana-go.
type generator struct{ *rand.Rand }

// message returns a message with signers 0 to signers−1 and random accounts.
func (g generator) message(version sdk.MessageVersion, signers int, mask byte, lookups bool) *sdk.Message {
	m := &sdk.Message{RecentBlockhash: sdk.Hash(g.bytes32())}
	if _, err := m.SetVersion(version); err != nil {
		panic(err)
	}
	for i := range signers {
		m.AccountKeys = append(m.AccountKeys, sdk.PublicKey(public(i)))
	}
	for range max(g.IntN(4), 2-signers) {
		m.AccountKeys = append(m.AccountKeys, sdk.PublicKey(g.bytes32()))
	}
	m.Header = sdk.MessageHeader{
		NumRequiredSignatures:       uint8(signers),
		NumReadonlySignedAccounts:   uint8(g.IntN(signers)),
		NumReadonlyUnsignedAccounts: uint8(g.IntN(len(m.AccountKeys) - signers + 1)),
	}
	loaded := 0
	if lookups {
		for range 1 + g.IntN(2) {
			l := sdk.MessageAddressTableLookup{AccountKey: sdk.PublicKey(g.bytes32())}
			for i := range 1 + g.IntN(5) {
				if i%2 == 0 {
					l.WritableIndexes = append(l.WritableIndexes, uint8(i*40))
				} else {
					l.ReadonlyIndexes = append(l.ReadonlyIndexes, uint8(i*40))
				}
				loaded++
			}
			m.AddressTableLookups = append(m.AddressTableLookups, l)
		}
	}
	for range g.IntN(3) {
		m.Instructions = append(m.Instructions, g.instruction(len(m.AccountKeys), loaded))
	}
	m.TransactionConfig = g.config(mask)
	return m
}

func (g generator) instruction(keys, loaded int) sdk.CompiledInstruction {
	in := sdk.CompiledInstruction{ProgramIDIndex: uint16(1 + g.IntN(keys-1))}
	for range g.IntN(6) {
		in.Accounts = append(in.Accounts, uint16(g.IntN(keys+loaded)))
	}
	in.Data = make([]byte, g.IntN(150))
	g.fill(in.Data)
	return in
}

// config sets the values of a mask: bit 0 the priority fee (both of its bits on
// the wire), then the compute-unit limit, the loaded data limit, the heap.
func (g generator) config(mask byte) (c sdk.TransactionConfig) {
	if mask&1 != 0 {
		c = c.WithPriorityFee(g.Uint64())
	}
	if mask&2 != 0 {
		c = c.WithComputeUnitLimit(g.Uint32())
	}
	if mask&4 != 0 {
		c = c.WithLoadedAccountsDataSizeLimit(g.Uint32())
	}
	if mask&8 != 0 {
		c = c.WithHeapSize(1024 * (32 + g.Uint32N(225)))
	}
	return c
}

func (g generator) bytes32() (out [32]byte) {
	g.fill(out[:])
	return out
}

func (g generator) fill(out []byte) {
	for i := range out {
		out[i] = byte(g.Uint32())
	}
}

// forEachGenerated calls check with a few hundred messages: one to twelve
// signers, legacy, v0 with and without lookup tables, v1 with every mask.
func forEachGenerated(t *testing.T, check func(t *testing.T, g generator, m *sdk.Message, signers int)) {
	kinds := []struct {
		name    string
		version sdk.MessageVersion
		lookups bool
		masks   int
	}{
		{"legacy", sdk.MessageVersionLegacy, false, 1},
		{"v0", sdk.MessageVersionV0, false, 1},
		{"v0 with lookups", sdk.MessageVersionV0, true, 1},
		{"v1", sdk.MessageVersionV1, false, 16},
	}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			for signers := 1; signers <= 12; signers++ {
				for mask := range max(kind.masks, 3) {
					g := generator{rand.New(rand.NewPCG(uint64(signers), uint64(mask)))}
					if kind.masks == 1 {
						check(t, g, g.small(kind.version, signers, kind.lookups), signers)
					} else {
						check(t, g, g.message(kind.version, signers, byte(mask), false), signers)
					}
				}
			}
		})
	}
}

// small draws until the transaction fits 1,232 bytes.
func (g generator) small(version sdk.MessageVersion, signers int, lookups bool) *sdk.Message {
	for {
		m := g.message(version, signers, 0, lookups)
		if signers > 9 {
			m.Instructions = nil
		}
		raw, err := (&sdk.Transaction{Message: *m}).MarshalBinary()
		if err != nil {
			panic(err)
		}
		if len(raw) <= solana.DefaultMaxSize {
			return m
		}
	}
}

// TestSignsAsSolanaGo signs generated transactions with all their keys, in a
// random order, and compares every step with solana-go.
func TestSignsAsSolanaGo(t *testing.T) {
	testenv.Slow(t)
	handles := map[int]keystore.Key{}
	for i := range 12 {
		handles[i] = ed25519Key(t, i)
	}
	count := 0
	forEachGenerated(t, func(t *testing.T, g generator, m *sdk.Message, signers int) {
		count++
		tx := &sdk.Transaction{Message: *m}
		raw := marshal(t, tx)
		if err := tx.Message.Sanitize(); err != nil {
			t.Fatalf("solana-go refuses the generated transaction: %v", err)
		}
		for _, i := range g.Perm(signers) {
			raw = sign(t, raw, handles[i])
			if _, err := tx.PartialSign(getter(i)); err != nil {
				t.Fatal(err)
			}
			if want := marshal(t, tx); !bytes.Equal(raw, want) {
				t.Fatalf("signer %d:\n got %x\nwant %x", i, raw, want)
			}
		}
		if err := tx.VerifySignatures(); err != nil {
			t.Error(err)
		}
		if !parse(t, raw).Complete() {
			t.Error("all have signed, and it is not complete")
		}
	})
	if count < 300 {
		t.Errorf("only %d transactions", count)
	}
}

func marshal(t testing.TB, tx *sdk.Transaction) []byte {
	t.Helper()
	raw, err := tx.MarshalBinary()
	testenv.Must(t, err)
	return raw
}

// getter returns the i-th test key to solana-go.
func getter(i int) func(sdk.PublicKey) *sdk.PrivateKey {
	own := sdk.PrivateKey(private(i))
	return func(key sdk.PublicKey) *sdk.PrivateKey {
		if key == own.PublicKey() {
			return &own
		}
		return nil
	}
}

// TestAgreesWithSanitize breaks the header, an index or a lookup of generated
// transactions, which solana-go's Sanitize checks: what Sanitize refuses is refused, and
// the rest is accepted unless it is too long.
func TestAgreesWithSanitize(t *testing.T) {
	refused, accepted := 0, 0
	forEachGenerated(t, func(t *testing.T, g generator, m *sdk.Message, _ int) {
		for range 4 {
			broken := *m
			broken.Instructions = append([]sdk.CompiledInstruction(nil), m.Instructions...)
			broken.AddressTableLookups = append(sdk.MessageAddressTableLookupSlice(nil), m.AddressTableLookups...)
			what := g.breakOne(&broken)
			raw, err := broken.MarshalBinary()
			if err != nil {
				continue
			}
			raw = withSlots(&broken, raw)
			tx, err := sdk.TransactionFromBytes(raw)
			if err != nil {
				continue
			}
			oracle := tx.Sanitize()
			_, ours := solana.New(solana.Limits{}).Parse(raw)
			switch {
			case oracle != nil && ours == nil:
				t.Errorf("%s: solana-go refuses (%v), and Parse does not: %x", what, oracle, raw)
			case oracle != nil:
				refused++
			case ours == nil:
				accepted++
			case !stricter(ours):
				t.Errorf("%s: Parse refuses (%v), and solana-go does not: %x", what, ours, raw)
			}
		}
	})
	if refused < 100 || accepted < 100 {
		t.Errorf("%d refused and %d accepted by both: too few to mean anything", refused, accepted)
	}
}

// breakOne changes one thing that Sanitize looks at.
func (g generator) breakOne(m *sdk.Message) string {
	switch choice := g.IntN(6); {
	case choice == 0:
		m.Header.NumRequiredSignatures = uint8(g.IntN(len(m.AccountKeys) + 3))
		return "required signatures"
	case choice == 1:
		m.Header.NumReadonlySignedAccounts = uint8(g.IntN(int(m.Header.NumRequiredSignatures) + 2))
		return "read-only signers"
	case choice == 2:
		m.Header.NumReadonlyUnsignedAccounts = uint8(g.IntN(len(m.AccountKeys) + 2))
		return "read-only accounts"
	case choice == 3 && len(m.Instructions) > 0:
		m.Instructions[0].ProgramIDIndex = uint16(g.IntN(len(m.AccountKeys) + 4))
		return "program"
	case choice == 4 && len(m.Instructions) > 0:
		m.Instructions[0].Accounts = []uint16{uint16(g.IntN(len(m.AccountKeys) + 9))}
		return "account"
	case len(m.AddressTableLookups) > 0:
		m.AddressTableLookups[0].WritableIndexes = nil
		return "lookup"
	}
	m.AccountKeys = m.AccountKeys[:len(m.AccountKeys)-1]
	return "keys"
}

// stricter reports whether Sanitize does not check for the error.
func stricter(err error) bool {
	return strings.Contains(err.Error(), "at most 1232")
}

func withSlots(m *sdk.Message, message []byte) []byte {
	slots := make([]byte, 64*int(m.Header.NumRequiredSignatures))
	if m.GetVersion() == sdk.MessageVersionV1 {
		return append(message, slots...)
	}
	return append(append(compactU16(int(m.Header.NumRequiredSignatures)), slots...), message...)
}

// TestMasksOnTheWire pins the two bits of the priority fee to SIMD-0385.
func TestMasksOnTheWire(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(1, 2))}
	for mask, want := range map[byte]uint32{0: 0, 1: 0b11, 2: 0b100, 4: 0b1000, 8: 0b10000, 15: 0b11111} {
		t.Run(fmt.Sprintf("%04b", mask), func(t *testing.T) {
			raw := marshal(t, &sdk.Transaction{Message: *g.message(sdk.MessageVersionV1, 1, mask, false)})
			if got := binary.LittleEndian.Uint32(raw[4:]); got != want {
				t.Errorf("mask %b, want %b", got, want)
			}
			parse(t, raw)
		})
	}
}
