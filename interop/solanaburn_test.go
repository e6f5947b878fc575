package interop

import (
	"crypto/ed25519"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	sdk "github.com/gagliardetto/solana-go"
	ata "github.com/gagliardetto/solana-go/programs/associated-token-account"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/programs/token"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestSolanaBurns executes in litesvm what the table of unspendable accounts is about:
// SOL for each account, and wrapped SOL for its associated account. Where litesvm takes
// the money, it is gone; every one of them is a burn.
func TestSolanaBurns(t *testing.T) {
	seed := sha256.Sum256([]byte("interop signer 0"))
	key := sdk.PrivateKey(ed25519.NewKeyFromSeed(seed[:]))
	table := testenv.Read(t, "../chains/solana/testdata/unspendable.txt")
	gone, refused := 0, map[string]int{}
	run := func(name string, list ...sdk.Instruction) {
		tx, err := sdk.NewTransaction(list, sdk.Hash(sha256.Sum256([]byte(name))), sdk.TransactionPayer(key.PublicKey()))
		testenv.Must(t, err)
		if _, err := tx.Sign(func(sdk.PublicKey) *sdk.PrivateKey { return &key }); err != nil {
			t.Fatal(err)
		}
		raw, err := tx.MarshalBinary()
		testenv.Must(t, err)
		parsed, err := solana.Chain{}.Parse(slices.Concat([]byte{1}, make([]byte, 64), raw[65:]))
		testenv.Must(t, err)
		if !slices.Contains(chaintest.Names(parsed.Hazards()), solana.HazardBurn) {
			t.Errorf("%s: hazards %v", name, parsed.Hazards())
		}
		if failure := runSolana(t, raw); failure != "" {
			refused[failure]++
		} else {
			gone++
		}
	}
	for line := range strings.Lines(string(table)) {
		owner := sdk.MustPublicKeyFromBase58(strings.Fields(line)[0])
		run("SOL for "+owner.String(), system.NewTransferInstruction(1_000_000, key.PublicKey(), owner).Build())
		account, _, err := sdk.FindAssociatedTokenAddress(owner, sdk.WrappedSol)
		testenv.Must(t, err)
		run("wrapped SOL for "+owner.String(),
			ata.NewCreateInstruction(key.PublicKey(), owner, sdk.WrappedSol).Build(),
			system.NewTransferInstruction(1_000_000, key.PublicKey(), account).Build(),
			token.NewSyncNativeInstruction(account).Build())
	}
	t.Logf("%d executed, the money is gone; refused: %v", gone, refused)
	if gone < 44 { // the token account of each, at least
		t.Errorf("only %d transactions were executed: %v", gone, refused)
	}
}
