package solana_test

import (
	"slices"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
)

// TestWhoGetsANewAccount checks that SOL in a new account is ours after the transaction, or
// that its loss is named: as a hazard, or as a transfer to the account if that is a wallet.
func TestWhoGetsANewAccount(t *testing.T) {
	us, thief := sdk.PublicKey(public(0)), sdk.PublicKey(public(1))
	fresh, source, custodian := sdk.PublicKey(public(2)), sdk.PublicKey(account(70)), sdk.PublicKey(account(71))
	loader := sdk.MustPublicKeyFromBase58("LoaderV411111111111111111111111111111111111")
	const rent200, sol = 2_282_880, 1_000_000_000
	creates := func(amount, space uint64, owner sdk.PublicKey) instructionCall {
		return call(sdk.SystemProgramID, nil, u32(0), u64(amount), u64(space), owner[:]).with(us, fresh)
	}
	seeded := func(amount, space uint64, owner sdk.PublicKey) instructionCall {
		return call(sdk.SystemProgramID, nil, u32(3), us[:], u64(1), []byte("s"), u64(amount), u64(space), owner[:]).with(us, fresh)
	}
	split := func(authority sdk.PublicKey) instructionCall {
		return call(sdk.StakeProgramID, nil, u32(3), u64(1)).with(source, fresh, authority)
	}
	initialize := func(until uint64, custodian sdk.PublicKey) instructionCall {
		return call(sdk.StakeProgramID, nil, u32(0), us[:], us[:], u64(until), u64(0), custodian[:]).with(fresh, sdk.SysVarRentPubkey)
	}
	length := func(authority sdk.PublicKey) instructionCall {
		return call(loader, nil, u32(2), u32(5000)).with(fresh, authority)
	}
	initializes := slices.Concat([]byte{18}, us[:])
	stores := call(sdk.MustPublicKeyFromBase58("SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf"), nil, []byte{0x30, 0xfa, 0x4e, 0xa8, 0xd0, 0xe2, 0xda, 0xd3}, []byte{0, 0},
		u32(3+1+96+1+1+3+2+33+1), []byte{0, 0, 1, 3}, fresh[:], wrappedSOL[:], sdk.TokenProgramID[:], []byte{1, 2, 2, 0, 1, 33, 0}, initializes, []byte{0, 0}).
		with(source, custodian, thief, thief, sdk.SystemProgramID)
	owns := call(sdk.TokenProgramID, nil, initializes).with(fresh, wrappedSOL)
	for name, c := range map[string]struct {
		calls     []instructionCall
		dangerous bool
		kind      chains.Kind
	}{
		"the rent of our own split":           {[]instructionCall{creates(rent200, 200, sdk.StakeProgramID), split(us)}, false, chains.KindCreate},
		"the rent of another's split":         {[]instructionCall{creates(rent200, 200, sdk.StakeProgramID), split(thief)}, false, chains.KindCreate},
		"SOL in another's split":              {[]instructionCall{creates(sol, 200, sdk.StakeProgramID), split(thief)}, true, chains.KindCreate},
		"SOL in another's split, by seed":     {[]instructionCall{seeded(sol, 200, sdk.StakeProgramID), split(thief)}, true, chains.KindCreate},
		"SOL in a split of a stake we manage": {[]instructionCall{creates(sol, 200, sdk.StakeProgramID), split(us)}, true, chains.KindCreate},
		"a stake of ours":                     {[]instructionCall{creates(sol, 200, sdk.StakeProgramID), initialize(0, sdk.PublicKey{})}, false, chains.KindCreate},
		"a custodian without a lockup":        {[]instructionCall{creates(sol, 200, sdk.StakeProgramID), initialize(0, custodian)}, false, chains.KindCreate},
		"a lockup by ourselves":               {[]instructionCall{creates(sol, 200, sdk.StakeProgramID), initialize(5e9, us)}, false, chains.KindCreate},
		"a lockup by another":                 {[]instructionCall{creates(sol, 200, sdk.StakeProgramID), initialize(5e9, custodian)}, true, chains.KindCreate},
		"a program of ours":                   {[]instructionCall{creates(sol, 0, loader), length(us)}, false, chains.KindCreate},
		"a program of another":                {[]instructionCall{creates(sol, 0, loader), length(thief)}, true, chains.KindCreate},
		"a token account of ours":             {[]instructionCall{creates(sol, 165, sdk.TokenProgramID), owns}, false, chains.KindCreate},
		"one that a stored instruction makes": {[]instructionCall{creates(sol, 165, sdk.TokenProgramID), stores}, true, chains.KindCreate},
		"a wallet":                            {[]instructionCall{creates(sol, 0, sdk.SystemProgramID)}, false, chains.KindTransfer},
		"a wallet by seed":                    {[]instructionCall{seeded(sol, 0, sdk.SystemProgramID)}, false, chains.KindTransfer},
	} {
		signing := ready(t, scene(solana.Version0, 3, nil, c.calls...), ed25519Key(t, 0))
		names := chaintest.Names(signing.Hazards())
		if dangerous := slices.Contains(names, solana.HazardAuthorityChange); dangerous != c.dangerous || len(names) > 1 {
			t.Errorf("%s: hazards %v", name, names)
		}
		if effect := signing.Effects()[1]; effect.Kind != c.kind || !effect.To.Is(fresh[:]) {
			t.Errorf("%s: %+v", name, effect)
		}
	}
}

// TestWhoEndsALockup: a lockup binds the owner too, and only its custodian ends it early. One that
// an instruction does not name is the one that the account has, perhaps none: the lockup of a stake
// without a custodian of ours is a hazard in each of its forms.
func TestWhoEndsALockup(t *testing.T) {
	us, stake, custodian := sdk.PublicKey(public(0)), sdk.PublicKey(account(70)), sdk.PublicKey(account(71))
	none, some := []byte{0}, []byte{1}
	set := func(parts ...[]byte) instructionCall {
		return call(sdk.StakeProgramID, nil, slices.Concat(u32(6), slices.Concat(parts...))).with(stake, us)
	}
	checked := func(accounts []sdk.PublicKey, parts ...[]byte) instructionCall {
		return call(sdk.StakeProgramID, nil, slices.Concat(u32(12), slices.Concat(parts...))).with(append([]sdk.PublicKey{stake, us}, accounts...)...)
	}
	for name, c := range map[string]struct {
		call      instructionCall
		dangerous bool
	}{
		"until a time, without a custodian":          {set(some, u64(9e9), none, none), true},
		"until an epoch, without a custodian":        {set(none, some, u64(9e9), none), true},
		"until a time, by us":                        {set(some, u64(9e9), none, some, us[:]), false},
		"until a time, by another":                   {set(some, u64(9e9), none, some, custodian[:]), true},
		"ended":                                      {set(some, u64(0), some, u64(0), none), false},
		"checked, until a time, without a custodian": {checked(nil, some, u64(9e9), none), true},
		"checked, until an epoch, and no custodian":  {checked(nil, none, some, u64(9e9)), true},
		"checked, until a time, by us":               {checked([]sdk.PublicKey{us}, some, u64(9e9), none), false},
		"checked, ended":                             {checked(nil, some, u64(0), none), false},
	} {
		signing := ready(t, scene(solana.Version0, 1, nil, c.call), ed25519Key(t, 0))
		if dangerous := slices.Contains(chaintest.Names(signing.Hazards()), solana.HazardAuthorityChange); dangerous != c.dangerous {
			t.Errorf("%s: hazards %v", name, signing.Hazards())
		}
	}
}
