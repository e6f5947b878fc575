package fuzz

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// seedSolana adds the vectors of the package, unsigned and signed, and v1
// transactions built from them.
func seedSolana(f *testing.F) {
	f.Helper()
	for _, raw := range transactionsOf(f, "solana") {
		f.Add(raw)
		f.Add(solanaV1(f, raw))
	}
}

// solanaV1 builds a v1 transaction from a legacy or v0 one.
func solanaV1(f *testing.F, raw []byte) []byte {
	f.Helper()
	tx, err := sdk.TransactionFromBytes(raw)
	testenv.Must(f, err)
	if _, err := tx.Message.SetVersion(sdk.MessageVersionV1); err != nil {
		f.Fatal(err)
	}
	tx.Signatures = nil
	tx.Message.TransactionConfig = sdk.TransactionConfig{}.WithComputeUnitLimit(1).WithPriorityFee(2).WithHeapSize(1 << 16)
	v1, err := tx.MarshalBinary()
	testenv.Must(f, err)
	return v1
}

// FuzzSolanaParse checks that the reader does not panic, that solana-go reads what is
// accepted as fields that encode to the same bytes and pass its Sanitize, and that
// nothing that can be done with a transaction panics.
func FuzzSolanaParse(f *testing.F) {
	seedSolana(f)
	chain := solana.New(solana.Limits{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		parsed, err := chain.Parse(raw)
		if err != nil {
			if parse, ok := errors.AsType[*chains.ParseError](err); !ok || parse.Offset > len(raw) {
				t.Fatalf("not a ParseError with an offset inside: %v", err)
			}
			return
		}
		tx, err := sdk.TransactionFromBytes(raw)
		if err != nil {
			t.Fatalf("solana-go does not read it: %v", err)
		}
		if err := tx.Sanitize(); err != nil {
			t.Fatalf("solana-go's Sanitize: %v", err)
		}
		if again, err := tx.MarshalBinary(); err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("accepted %x\nwhich is      %x (%v)", raw, again, err)
		}
		if message, err := tx.Message.MarshalBinary(); err != nil || !bytes.Equal(message, parsed.(*solana.Transaction).Message()) {
			t.Fatalf("the message is %x, solana-go says %x", parsed.(*solana.Transaction).Message(), message)
		}
		parsed.Summary().Digest()
		for i, effect := range parsed.Effects() {
			chaintest.CheckEffect(t, i, effect)
		}
		for _, hazard := range parsed.Hazards() {
			if index, ok := hazard.Effect(); ok && index >= len(parsed.Effects()) {
				t.Fatalf("%s points at effect %d of %d", hazard.Name, index, len(parsed.Effects()))
			}
		}
		if !bytes.Equal(raw, before) {
			t.Fatal("the input was changed")
		}
	})
}

// FuzzSolanaSign replaces the first signer by our key, signs, and checks that the
// slot is filled, no other byte has changed, and the signature is that of
// crypto/ed25519 over the message.
func FuzzSolanaSign(f *testing.F) {
	seedSolana(f)
	secret := []byte("thirty-two bytes for one fuzz key")[:32]
	private := ed25519.NewKeyFromSeed(secret)
	key := chaintest.Key(f, keystore.CurveEd25519, secret)
	chain := solana.New(solana.Limits{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		tx, err := sdk.TransactionFromBytes(raw)
		if err != nil || len(tx.Message.AccountKeys) == 0 {
			return
		}
		tx.Message.AccountKeys[0] = sdk.PublicKey(private.Public().(ed25519.PublicKey))
		tx.Signatures = nil
		if raw, err = tx.MarshalBinary(); err != nil {
			return
		}
		parsed, err := chain.Parse(raw)
		if err != nil {
			return
		}
		signing, err := chaintest.Ready(parsed, key.ID(), key)
		testenv.Must(t, err)
		signing.Hazards()
		signed, err := signing.AppendSigned(context.Background(), nil)
		testenv.Must(t, err)
		message := parsed.(*solana.Transaction).Message()
		want := bytes.Replace(raw, make([]byte, 64), ed25519.Sign(private, message), 1)
		if raw[0] == 0x81 {
			want = append(append(bytes.Clone(message), ed25519.Sign(private, message)...), raw[len(message)+64:]...)
		}
		if !bytes.Equal(signed, want) {
			t.Fatalf("signed %x\nwant   %x", signed, want)
		}
		again, err := chain.Parse(signed)
		if err != nil || !bytes.Equal(again.(*solana.Transaction).Message(), message) {
			t.Fatalf("what was signed is not read as it was: %v", err)
		}
	})
}

// drawnTable is one table for every address, with 32 of its bytes per entry.
type drawnTable []byte

func (drawnTable) Read(chains.Call) (chains.Reading, bool) { return chains.Reading{}, false }

func (d drawnTable) LookupTable([]byte) (table chains.LookupTable, ok bool) {
	for rest := []byte(d); len(rest) >= 32; rest = rest[32:] {
		table.Addresses = append(table.Addresses, rest[:32])
	}
	return table, true
}

// FuzzSolanaTables checks that, with any contents of its lookup tables, a transaction
// keeps its summary, and its effects are well-formed and, if the tables are complete,
// resolved.
func FuzzSolanaTables(f *testing.F) {
	for _, raw := range transactionsOf(f, "solana") {
		f.Add(raw, bytes.Repeat([]byte("thirty-two bytes for one account"), 2))
		f.Add(raw, numbered(256))
	}
	chain := solana.New(solana.Limits{})
	f.Fuzz(func(t *testing.T, raw, entries []byte) {
		plain, err := chain.Parse(raw)
		if err != nil {
			return
		}
		before := plain.Summary().Digest()
		tx, readings := chains.ReadWith(plain, drawnTable(entries))
		if plain.Summary().Digest() != before || tx.Summary().Digest() != before {
			t.Fatal("the table changed the summary")
		}
		whole := true
		for _, reading := range readings {
			whole = whole && reading.Complete
			if reading.Complete == (reading.Problem != "") {
				t.Fatalf("%+v", reading)
			}
		}
		for i, effect := range tx.Effects() {
			chaintest.CheckEffect(t, i, effect)
			nested := strings.Count(effect.Path, "/") > 1 // a stored message has tables of its own
			if whole && !nested && len(effect.Unresolved) > 0 {
				t.Fatalf("%v, and the tables say everything", effect.Unresolved)
			}
		}
		tx.Hazards()
	})
}

// numbered returns different accounts.
func numbered(count int) (list []byte) {
	for i := range count {
		list = append(list, bytes.Repeat([]byte{byte(i), 0x5a}, 16)...)
	}
	return list
}

// FuzzSolanaSignWith checks that any text is an address, an id or a *SignerError.
func FuzzSolanaSignWith(f *testing.F) {
	for _, text := range []string{"", "treasury", "AYqgi6uEZJd8KdGLymSMY8AigtTqNcCjAbFGm232RxM9", "11111111111111111111111111111111"} {
		f.Add(text)
	}
	tx, err := solana.New(solana.Limits{}).Parse(oneSigner())
	testenv.Must(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		request, err := tx.Request(text)
		want := keystore.ByID(text)
		address, addressErr := sdk.PublicKeyFromBase58(text)
		if addressErr == nil {
			want = keystore.ByEd25519(address)
		}
		switch {
		case err != nil:
			if !errors.Is(err, chains.ErrSignWith) || addressErr == nil {
				t.Fatalf("%q: %v", text, err)
			}
		case len(request.Locators()) != 1 || request.Locators()[0] != want:
			t.Fatalf("%q: %v, want %v; solana-go: %v", text, request.Locators(), want, addressErr)
		}
	})
}

// oneSigner returns a legacy transaction without instructions.
func oneSigner() []byte {
	raw := append([]byte{1}, make([]byte, 64)...)
	raw = append(raw, 1, 0, 0, 1)
	return append(append(raw, bytes.Repeat([]byte{7}, 64)...), 0)
}
