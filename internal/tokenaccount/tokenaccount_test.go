package tokenaccount

import (
	"crypto/sha256"
	"slices"
	"testing"

	"github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestAgainstSolanaGo checks that solana-go derives the same accounts.
func TestAgainstSolanaGo(t *testing.T) {
	for i := range 300 {
		wallet, mint := sha256.Sum256([]byte{byte(i), byte(i >> 8), 1}), sha256.Sum256([]byte{byte(i), byte(i >> 8), 2})
		var want []string
		for _, program := range []solana.PublicKey{solana.TokenProgramID, solana.Token2022ProgramID} {
			derived, _, err := solana.FindProgramAddress([][]byte{wallet[:], program[:], mint[:]}, solana.SPLAssociatedTokenAccountProgramID)
			testenv.Must(t, err)
			want = append(want, string(derived[:]))
		}
		if got := Of(string(wallet[:]), string(mint[:])); !slices.Equal(got, want) {
			t.Fatalf("wallet %x, mint %x: %x, want %x", wallet, mint, got, want)
		}
	}
}
