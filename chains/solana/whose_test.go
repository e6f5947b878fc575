package solana_test

import (
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/keystore"
)

var wrappedSOL = sdk.MustPublicKeyFromBase58("So11111111111111111111111111111111111111112")

// associated returns the account that a wallet has for a mint.
func associated(t *testing.T, wallet, mint sdk.PublicKey) sdk.PublicKey {
	t.Helper()
	account, _, err := sdk.FindAssociatedTokenAddress(wallet, mint)
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// TestWhatComesBack checks what is change, and what is unstaked, by who gets it: only
// what comes back to the very signer.
func TestWhatComesBack(t *testing.T) {
	us, stranger := sdk.PublicKey(public(0)), sdk.PublicKey(account(50))
	stake, other := sdk.PublicKey(account(51)), sdk.PublicKey(public(1))
	wrapped := associated(t, us, wrappedSOL)
	withdraw := func(to, authority sdk.PublicKey) instructionCall {
		return call(sdk.StakeProgramID, nil, u32(4), u64(5)).with(stake, to, sdk.SysVarClockPubkey, sdk.SysVarStakeHistoryPubkey, authority)
	}
	closes := func(account, to sdk.PublicKey) instructionCall {
		return call(sdk.TokenProgramID, nil, []byte{9}).with(account, to, us)
	}
	sends := func(to sdk.PublicKey) instructionCall {
		return call(sdk.SystemProgramID, nil, u32(2), u64(5)).with(us, to)
	}
	for name, c := range map[string]struct {
		call   instructionCall
		kind   chains.Kind
		change bool
	}{
		"a stake withdrawn to its authority":              {withdraw(us, us), chains.KindUnstake, false},
		"a stake withdrawn to a stranger":                 {withdraw(stranger, us), chains.KindTransfer, false},
		"a stake of another signer withdrawn to us":       {withdraw(us, other), chains.KindTransfer, false},
		"a stake withdrawn to the stake account itself":   {withdraw(stake, us), chains.KindTransfer, false},
		"a stake withdrawn to nobody":                     {withdraw(sdk.SystemProgramID, us), chains.KindBurn, false},
		"wrapped SOL unwrapped":                           {closes(wrapped, us), chains.KindTransfer, true},
		"wrapped SOL unwrapped to a stranger":             {closes(wrapped, stranger), chains.KindTransfer, false},
		"an account of a stranger's closed to us":         {closes(associated(t, stranger, wrappedSOL), us), chains.KindTransfer, false},
		"SOL wrapped in our account, which may be given":  {sends(wrapped), chains.KindTransfer, false},
		"SOL sent to a stranger's account of wrapped SOL": {sends(associated(t, stranger, wrappedSOL)), chains.KindTransfer, false},
	} {
		effects := ready(t, scene(solana.Version0, 2, nil, c.call), ed25519Key(t, 0)).Effects()
		if got := effects[1]; got.Kind != c.kind || got.Change != c.change {
			t.Errorf("%s: %s, change %v: %+v", name, got.Kind, got.Change, got)
		}
	}
}

// TestOwnerOfTokenAccount checks that an associated token account leads to its wallet, if
// the transaction names that wallet, and no other account does.
func TestOwnerOfTokenAccount(t *testing.T) {
	us, mint, wallet := sdk.PublicKey(public(0)), sdk.PublicKey(account(60)), sdk.PublicKey(account(61))
	from, to, stranger := associated(t, us, mint), associated(t, wallet, mint), associated(t, sdk.PublicKey(account(62)), mint)
	checked := func(to sdk.PublicKey) instructionCall {
		return call(sdk.TokenProgramID, nil, []byte{12}, u64(5), []byte{6}).with(from, mint, to, us)
	}
	creates := call(sdk.SPLAssociatedTokenAccountProgramID, nil, []byte{1}).with(us, to, wallet, mint, sdk.SystemProgramID, sdk.TokenProgramID)
	wraps := call(sdk.SystemProgramID, nil, u32(2), u64(5)).with(us, associated(t, us, wrappedSOL))
	for name, c := range map[string]struct {
		calls   []instructionCall
		account sdk.PublicKey
		want    sdk.PublicKey
	}{
		"the signer's":                  {[]instructionCall{checked(to)}, from, us},
		"one that is created":           {[]instructionCall{creates, checked(to)}, to, wallet},
		"one that is not":               {[]instructionCall{checked(to)}, to, to},
		"a stranger's":                  {[]instructionCall{creates, checked(stranger)}, stranger, stranger},
		"the signer's of wrapped SOL":   {[]instructionCall{wraps}, associated(t, us, wrappedSOL), us},
		"a wallet, which is no account": {[]instructionCall{checked(to)}, wallet, wallet},
	} {
		tx := parse(t, scene(solana.Version0, 1, nil, c.calls...))
		for range 2 {
			if got, ok := tx.Owner(c.account[:]); !ok || got != keystore.ByEd25519(c.want) {
				t.Errorf("%s: %v, %v", name, got, ok)
			}
		}
	}
}
