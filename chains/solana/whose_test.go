package solana_test

import (
	"bytes"
	"slices"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

var wrappedSOL = sdk.MustPublicKeyFromBase58("So11111111111111111111111111111111111111112")

// associated returns the account that a wallet has for a mint.
func associated(t *testing.T, wallet, mint sdk.PublicKey) sdk.PublicKey {
	t.Helper()
	account, _, err := sdk.FindAssociatedTokenAddress(wallet, mint)
	testenv.Must(t, err)
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

// controlled are the accounts of an organization.
type controlled []sdk.PublicKey

func (c controlled) Controls(address []byte) (none chains.Account, ok bool) {
	return none, slices.ContainsFunc(c, func(key sdk.PublicKey) bool { return bytes.Equal(key[:], address) })
}
func (controlled) WithKey(id string) chains.Account    { return chains.Account{KeyID: id} }
func (controlled) Registered() []keystore.Registration { return nil }

// TestControlledTokenAccount checks that an associated token account is its wallet's, if the
// transaction names that wallet, and that nothing is known of other accounts.
func TestControlledTokenAccount(t *testing.T) {
	us, mint, wallet := sdk.PublicKey(public(0)), sdk.PublicKey(account(60)), sdk.PublicKey(account(61))
	from, to, stranger := associated(t, us, mint), associated(t, wallet, mint), associated(t, sdk.PublicKey(account(62)), mint)
	checked := func(to sdk.PublicKey) instructionCall {
		return call(sdk.TokenProgramID, nil, []byte{12}, u64(5), []byte{6}).with(from, mint, to, us)
	}
	creates := call(sdk.SPLAssociatedTokenAccountProgramID, nil, []byte{1}).with(us, to, wallet, mint, sdk.SystemProgramID, sdk.TokenProgramID)
	wrapped := associated(t, us, wrappedSOL)
	wraps := call(sdk.SystemProgramID, nil, u32(2), u64(5)).with(us, wrapped)
	for name, c := range map[string]struct {
		calls   []instructionCall
		ours    controlled
		account sdk.PublicKey
		want    chains.Controlled
	}{
		"the signer's":                {[]instructionCall{checked(from)}, controlled{us}, from, chains.ControlledYes},
		"one that is created":         {[]instructionCall{creates, checked(to)}, controlled{wallet}, to, chains.ControlledYes},
		"of another's wallet":         {[]instructionCall{creates, checked(to)}, controlled{us}, to, chains.ControlledNo},
		"one that is not":             {[]instructionCall{checked(to)}, controlled{wallet}, to, chains.ControlledUnknown},
		"a stranger's":                {[]instructionCall{creates, checked(stranger)}, controlled{us, wallet}, stranger, chains.ControlledUnknown},
		"the signer's of wrapped SOL": {[]instructionCall{wraps}, controlled{us}, wrapped, chains.ControlledYes},
	} {
		signing := ready(t, scene(solana.Version0, 1, nil, c.calls...), ed25519Key(t, 0))
		chains.ResolveAccounts(signing, c.ours)
		for range 2 {
			effects, found := signing.Effects(), 0
			for _, effect := range effects {
				if effect.To.Is(c.account[:]) {
					if found++; effect.Controlled != c.want {
						t.Errorf("%s: %v: %+v", name, effect.Controlled, effect)
					}
				}
			}
			if found == 0 {
				t.Errorf("%s: no effect: %+v", name, effects)
			}
		}
	}
}
