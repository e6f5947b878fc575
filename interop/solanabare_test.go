package interop

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	sdk "github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/programs/token"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestSolanaBareAccounts executes in litesvm how anyone takes an account that was created
// and not initialized: a thief initializes it for itself and withdraws all of it. The
// transaction that creates it gives control away.
func TestSolanaBareAccounts(t *testing.T) {
	keys := make([]sdk.PrivateKey, 5)
	for i := range keys {
		seed := sha256.Sum256(fmt.Appendf(nil, "interop signer %d", i))
		keys[i] = sdk.PrivateKey(ed25519.NewKeyFromSeed(seed[:]))
	}
	us, thief, signers := keys[0], keys[1], solanaSigners(t)
	const lamports = 3_000_000_000
	for i, bare := range []struct {
		name  string
		owner sdk.PublicKey
		space uint64
		steal func(account sdk.PublicKey) []sdk.Instruction
	}{
		{"a token account", sdk.TokenProgramID, 165, func(account sdk.PublicKey) []sdk.Instruction {
			return []sdk.Instruction{
				token.NewInitializeAccount3Instruction(thief.PublicKey(), account, sdk.WrappedSol).Build(),
				token.NewCloseAccountInstruction(account, thief.PublicKey(), thief.PublicKey(), nil).Build(),
			}
		}},
		{"a stake account", sdk.StakeProgramID, 200, func(account sdk.PublicKey) []sdk.Instruction {
			authorities := slices.Concat(thief.PublicKey().Bytes(), thief.PublicKey().Bytes())
			return []sdk.Instruction{
				sdk.NewInstruction(sdk.StakeProgramID, sdk.AccountMetaSlice{sdk.Meta(account).WRITE(), sdk.Meta(sdk.SysVarRentPubkey)},
					slices.Concat(make([]byte, 4), authorities, make([]byte, 48))),
				sdk.NewInstruction(sdk.StakeProgramID, sdk.AccountMetaSlice{sdk.Meta(account).WRITE(), sdk.Meta(thief.PublicKey()).WRITE(),
					sdk.Meta(sdk.SysVarClockPubkey), sdk.Meta(sdk.SysVarStakeHistoryPubkey), sdk.Meta(thief.PublicKey()).SIGNER()},
					slices.Concat([]byte{4, 0, 0, 0}, u64Bytes(lamports))),
			}
		}},
		{"a nonce account", sdk.SystemProgramID, 80, func(account sdk.PublicKey) []sdk.Instruction {
			return []sdk.Instruction{
				system.NewInitializeNonceAccountInstruction(thief.PublicKey(), account, sdk.SysVarRecentBlockHashesPubkey, sdk.SysVarRentPubkey).Build(),
				system.NewWithdrawNonceAccountInstruction(lamports-rentExempt(80), account, thief.PublicKey(), sdk.SysVarRecentBlockHashesPubkey, sdk.SysVarRentPubkey, thief.PublicKey()).Build(),
			}
		}},
	} {
		account := keys[2+i]
		created := signedBy(t, bare.name, []sdk.PrivateKey{us, account},
			system.NewTransferInstruction(10_000_000, us.PublicKey(), thief.PublicKey()).Build(),
			system.NewCreateAccountInstruction(lamports, bare.space, bare.owner, us.PublicKey(), account.PublicKey()).Build())
		parsed, err := solana.Chain{}.Parse(slices.Concat([]byte{2}, make([]byte, 128), created[129:]))
		testenv.Must(t, err)
		key := signers[us.PublicKey().String()]
		signing, err := chaintest.Ready(parsed, key.ID(), key)
		testenv.Must(t, err)
		if names := chaintest.Names(signing.Hazards()); !slices.Equal(names, []string{solana.HazardAuthorityChange}) {
			t.Errorf("%s: hazards %v", bare.name, names)
		}
		if failure := runSolana(t, created); failure != "" {
			t.Fatalf("%s is not created: %s", bare.name, failure)
		}
		if failure := runSolana(t, signedBy(t, bare.name, []sdk.PrivateKey{thief}, bare.steal(account.PublicKey())...)); failure != "" {
			t.Errorf("%s: the thief gets nothing: %s", bare.name, failure)
		}
	}
}

// TestSolanaSplitIntoOurAccount executes in litesvm how a thief takes SOL from an account that
// we create and that the thief's instruction of the same transaction initializes, without a
// word about who then has it: a split gives it the authorities of the thief's stake.
func TestSolanaSplitIntoOurAccount(t *testing.T) {
	keys := make([]sdk.PrivateKey, 8)
	for i := range keys {
		seed := sha256.Sum256(fmt.Appendf(nil, "interop signer %d", i))
		keys[i] = sdk.PrivateKey(ed25519.NewKeyFromSeed(seed[:]))
	}
	us, thief, source, account, signers := keys[0], keys[1], keys[6], keys[7], solanaSigners(t)
	const lamports = 20_000_000
	authorities := slices.Concat(thief.PublicKey().Bytes(), thief.PublicKey().Bytes())
	prepared := signedBy(t, "split 1", []sdk.PrivateKey{us, thief, source},
		system.NewTransferInstruction(20_000_000, us.PublicKey(), thief.PublicKey()).Build(),
		system.NewCreateAccountInstruction(10_000_000, 200, sdk.StakeProgramID, thief.PublicKey(), source.PublicKey()).Build(),
		sdk.NewInstruction(sdk.StakeProgramID, sdk.AccountMetaSlice{sdk.Meta(source.PublicKey()).WRITE(), sdk.Meta(sdk.SysVarRentPubkey)},
			slices.Concat(make([]byte, 4), authorities, make([]byte, 48))))
	if failure := runSolana(t, prepared); failure != "" {
		t.Fatal(failure)
	}
	created := signedBy(t, "split 2", []sdk.PrivateKey{us, thief, account},
		system.NewCreateAccountInstruction(lamports, 200, sdk.StakeProgramID, us.PublicKey(), account.PublicKey()).Build(),
		sdk.NewInstruction(sdk.StakeProgramID, sdk.AccountMetaSlice{sdk.Meta(source.PublicKey()).WRITE(), sdk.Meta(account.PublicKey()).WRITE(), sdk.Meta(thief.PublicKey()).SIGNER()},
			slices.Concat([]byte{3, 0, 0, 0}, u64Bytes(5_000_000))))
	parsed, err := solana.Chain{}.Parse(slices.Concat([]byte{3}, make([]byte, 192), created[193:]))
	testenv.Must(t, err)
	key := signers[us.PublicKey().String()]
	signing, err := chaintest.Ready(parsed, key.ID(), key)
	testenv.Must(t, err)
	if names := chaintest.Names(signing.Hazards()); !slices.Equal(names, []string{solana.HazardAuthorityChange}) {
		t.Errorf("hazards %v", names)
	}
	if failure := runSolana(t, created); failure != "" {
		t.Fatalf("the account is not created: %s", failure)
	}
	takes := sdk.NewInstruction(sdk.StakeProgramID, sdk.AccountMetaSlice{sdk.Meta(account.PublicKey()).WRITE(), sdk.Meta(thief.PublicKey()).WRITE(),
		sdk.Meta(sdk.SysVarClockPubkey), sdk.Meta(sdk.SysVarStakeHistoryPubkey), sdk.Meta(thief.PublicKey()).SIGNER()},
		slices.Concat([]byte{4, 0, 0, 0}, u64Bytes(lamports+5_000_000)))
	if failure := runSolana(t, signedBy(t, "split 3", []sdk.PrivateKey{thief}, takes)); failure != "" {
		t.Errorf("the thief gets nothing: %s", failure)
	}
}

func u64Bytes(number uint64) []byte {
	out := make([]byte, 8)
	for i := range out {
		out[i] = byte(number >> (8 * i))
	}
	return out
}

// signedBy returns a transaction that the first key pays for and all of them sign.
func signedBy(t *testing.T, text string, keys []sdk.PrivateKey, list ...sdk.Instruction) []byte {
	t.Helper()
	tx, err := sdk.NewTransaction(list, sdk.Hash(sha256.Sum256([]byte(text))), sdk.TransactionPayer(keys[0].PublicKey()))
	testenv.Must(t, err)
	if _, err := tx.Sign(func(public sdk.PublicKey) *sdk.PrivateKey {
		for i := range keys {
			if keys[i].PublicKey() == public {
				return &keys[i]
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	raw, err := tx.MarshalBinary()
	testenv.Must(t, err)
	return raw
}
