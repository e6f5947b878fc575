package solana_test

import (
	"slices"
	"strings"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
)

// The parties of the tests of passages: our key, the keys of two accounts that are made, and a
// thief, who all sign.
var (
	ourKey   = sdk.PublicKey(public(0))
	firstKey = sdk.PublicKey(public(1))
	nextKey  = sdk.PublicKey(public(2))
	thiefKey = sdk.PublicKey(public(3))
	usdcMint = sdk.MustPublicKeyFromBase58("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
)

const oneSOL = 1_000_000_000

func makes(payer, account sdk.PublicKey, amount, space uint64, owner sdk.PublicKey) instructionCall {
	return call(sdk.SystemProgramID, nil, u32(0), u64(amount), u64(space), owner[:]).with(payer, account)
}

func makesStake(payer, account sdk.PublicKey) instructionCall {
	return makes(payer, account, 10*oneSOL, 200, sdk.StakeProgramID)
}

func paysSOL(from, to sdk.PublicKey, amount uint64) instructionCall {
	return call(sdk.SystemProgramID, nil, u32(2), u64(amount)).with(from, to)
}

func withdrawsStake(from, to, by sdk.PublicKey, amount uint64) instructionCall {
	return call(sdk.StakeProgramID, nil, u32(4), u64(amount)).with(from, to, sdk.SysVarClockPubkey, sdk.MustPublicKeyFromBase58("SysvarStakeHistory1111111111111111111111111"), by)
}

func initializesStake(account, owner sdk.PublicKey) instructionCall {
	return call(sdk.StakeProgramID, nil, u32(0), owner[:], owner[:], make([]byte, 48)).with(account, sdk.SysVarRentPubkey)
}

func initializesToken(account, mint, owner sdk.PublicKey) instructionCall {
	return call(sdk.TokenProgramID, nil, []byte{18}, owner[:]).with(account, mint)
}

func sendsToken(from, to, by sdk.PublicKey, amount uint64) instructionCall {
	return call(sdk.TokenProgramID, nil, []byte{12}, u64(amount), []byte{6}).with(from, usdcMint, to, by)
}

// TestPassages checks what our signature does beside what an instruction says: what leaves an
// account that the transaction makes, gives away or closes, by any signature.
func TestPassages(t *testing.T) {
	ours, theirs, dropped := sdk.PublicKey(account(70)), sdk.PublicKey(account(71)), sdk.PublicKey(account(72))
	incinerator := sdk.MustPublicKeyFromBase58("1nc1nerator11111111111111111111111111111111")
	token := func(mint sdk.PublicKey) []instructionCall {
		return []instructionCall{makes(ourKey, firstKey, 2_039_280, 165, sdk.TokenProgramID), initializesToken(firstKey, mint, thiefKey)}
	}
	split := call(sdk.StakeProgramID, nil, u32(3), u64(4*oneSOL)).with(firstKey, nextKey, firstKey)
	withdrawsNonce := call(sdk.SystemProgramID, nil, u32(5), u64(oneSOL)).with(firstKey, thiefKey, sdk.SysVarRecentBlockHashesPubkey, sdk.SysVarRentPubkey, firstKey)
	closes := call(sdk.TokenProgramID, nil, []byte{9}).with(firstKey, dropped, thiefKey)
	for name, c := range map[string]struct {
		calls   []instructionCall
		passed  []string // amount, asset and recipient
		reached []int    // indexes of effects
		hazards []string
		counted string // of the first effect after the fee, by limits
	}{
		"a stake that is emptied before it is ours": {
			calls:  []instructionCall{makesStake(ourKey, firstKey), withdrawsStake(firstKey, thiefKey, firstKey, 9*oneSOL), initializesStake(firstKey, ourKey)},
			passed: []string{"9000000000 native thief"}, counted: "1000000000"},
		"a stake that is only ours":             {calls: []instructionCall{makesStake(ourKey, firstKey), initializesStake(firstKey, ourKey)}, counted: "10000000000"},
		"one that we empty ourselves, for home": {calls: []instructionCall{makesStake(ourKey, firstKey), withdrawsStake(firstKey, ourKey, firstKey, oneSOL), initializesStake(firstKey, ourKey)}, counted: "10000000000"},
		"a split of one that is not initialized": {
			calls:  []instructionCall{makesStake(ourKey, firstKey), makes(thiefKey, nextKey, 2_282_880, 200, sdk.StakeProgramID), split, initializesStake(nextKey, thiefKey), initializesStake(firstKey, ourKey)},
			passed: []string{"4000000000 native next"}, counted: "6000000000"},
		"through two accounts": {
			calls: []instructionCall{makesStake(ourKey, firstKey), makes(thiefKey, nextKey, 2_282_880, 200, sdk.StakeProgramID), split,
				withdrawsStake(nextKey, dropped, nextKey, 3*oneSOL), initializesStake(firstKey, ourKey), initializesStake(nextKey, ourKey)},
			passed: []string{"4000000000 native next", "3000000000 native dropped"}, counted: "6000000000"},
		"an account that pays for another": {
			calls: []instructionCall{paysSOL(ourKey, firstKey, 5*oneSOL), makes(firstKey, nextKey, 3*oneSOL, 200, sdk.StakeProgramID), initializesStake(nextKey, thiefKey),
				call(sdk.SystemProgramID, nil, u32(1), sdk.StakeProgramID[:]).with(firstKey)},
			passed: []string{"3000000000 native next"}, counted: "2000000000"},
		"a circle": {
			calls: []instructionCall{makesStake(ourKey, firstKey), makes(thiefKey, nextKey, 2_282_880, 200, sdk.StakeProgramID), split,
				withdrawsStake(nextKey, firstKey, nextKey, 3*oneSOL), initializesStake(firstKey, ourKey), initializesStake(nextKey, ourKey)},
			passed: []string{"none none next"}, hazards: []string{solana.HazardBlindCall}, counted: "10000000000"},
		"a nonce account": {
			calls:  []instructionCall{makes(ourKey, firstKey, 3*oneSOL, 80, sdk.SystemProgramID), withdrawsNonce, call(sdk.SystemProgramID, nil, u32(6), ourKey[:]).with(firstKey, sdk.SysVarRecentBlockHashesPubkey, sdk.SysVarRentPubkey)},
			passed: []string{"1000000000 native thief"}, counted: "2000000000"},
		"a stake that an earlier transaction left": {
			calls: []instructionCall{paysSOL(ourKey, firstKey, 5*oneSOL), withdrawsStake(firstKey, thiefKey, firstKey, 6*oneSOL)}, passed: []string{"5000000000 native thief"}, counted: "0"},
		"a wallet that becomes a stake": {
			calls:  []instructionCall{paysSOL(ourKey, firstKey, 5*oneSOL), paysSOL(firstKey, thiefKey, 2*oneSOL), call(sdk.SystemProgramID, nil, u32(1), sdk.StakeProgramID[:]).with(firstKey)},
			passed: []string{"2000000000 native thief"}, counted: "3000000000"},
		"tokens to an account of the thief's that sends them on": {
			calls:  append(token(usdcMint), sendsToken(ours, firstKey, ourKey, 700), sendsToken(firstKey, theirs, thiefKey, 500)),
			passed: []string{"500 token theirs"}, counted: "2039280", hazards: []string{solana.HazardAuthorityChange}},
		"wrapped SOL that is closed": {
			calls:  append(token(wrappedSOL), paysSOL(ourKey, firstKey, 5*oneSOL), closes),
			passed: []string{"5002039280 native dropped"}, counted: "0", hazards: []string{solana.HazardAuthorityChange}},
		"several funders": {
			calls:  []instructionCall{makesStake(thiefKey, firstKey), paysSOL(ourKey, firstKey, 5*oneSOL), withdrawsStake(firstKey, thiefKey, firstKey, 7*oneSOL), initializesStake(firstKey, ourKey)},
			passed: []string{"5000000000 native thief"}},
		"what is taken before it is ours": {
			calls: []instructionCall{makesStake(thiefKey, firstKey), withdrawsStake(firstKey, thiefKey, firstKey, 7*oneSOL), paysSOL(ourKey, firstKey, 5*oneSOL), initializesStake(firstKey, ourKey)}},
		"destroyed": {
			calls:  []instructionCall{makesStake(ourKey, firstKey), withdrawsStake(firstKey, incinerator, firstKey, oneSOL), initializesStake(firstKey, ourKey)},
			passed: []string{"1000000000 native incinerator"}, hazards: []string{solana.HazardBurn}, counted: "9000000000"},
		"a wallet that pays on": {
			calls: []instructionCall{paysSOL(ourKey, thiefKey, 5*oneSOL), paysSOL(thiefKey, dropped, 2*oneSOL), paysSOL(firstKey, dropped, 2*oneSOL)}, reached: []int{2}, counted: "5000000000"},
		"a delegate who takes what we approve": {
			calls: []instructionCall{call(sdk.TokenProgramID, nil, []byte{4}, u64(700)).with(ours, thiefKey, ourKey),
				sendsToken(ours, theirs, thiefKey, 700)}, reached: []int{2}},
		"a wallet that pays on what it was paid": {
			calls: []instructionCall{paysSOL(ourKey, thiefKey, 5*oneSOL), paysSOL(thiefKey, nextKey, 2*oneSOL), paysSOL(nextKey, dropped, oneSOL)}, reached: []int{2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			signing := ready(t, scene(solana.Version0, 4, nil, c.calls...), ed25519Key(t, 0))
			effects := signing.Effects()
			list, _ := chains.Follow(effects)
			var passed []string
			for _, e := range list[len(effects):] {
				passed = append(passed, passedText(e, map[string]sdk.PublicKey{"thief": thiefKey, "next": nextKey, "dropped": dropped, "theirs": theirs, "incinerator": incinerator}))
			}
			var reached []int
			for i := range list {
				if list[i].Reached {
					reached = append(reached, i)
				}
			}
			if !slices.Equal(passed, c.passed) || !slices.Equal(reached, c.reached) {
				t.Errorf("%q, reached %v; want %q, %v", passed, reached, c.passed, c.reached)
			}
			if names := chaintest.Names(signing.Hazards()); !slices.Equal(names, c.hazards) {
				t.Errorf("hazards %v, want %v", signing.Hazards(), c.hazards)
			}
			for i, e := range list {
				if c.counted != "" && e.From.Is(ourKey[:]) && e.Kind != chains.KindFee {
					if counted := e.Counted().Value.String(); counted != c.counted {
						t.Errorf("effect %d counts %s, want %s", i, counted, c.counted)
					}
					break
				}
			}
		})
	}
}

// passedText is an effect that was added, with the name of its recipient.
func passedText(e chains.Effect, names map[string]sdk.PublicKey) string {
	amount, asset, to := "none", "none", e.To.String()
	if e.Amount.Value != nil {
		amount = e.Amount.Value.String()
	}
	if !e.Asset.IsNone() {
		asset = "token"
	}
	if e.Asset.IsNative() {
		asset = "native"
	}
	for name, key := range names {
		if e.To.Is(key[:]) {
			to = name
		}
	}
	return amount + " " + asset + " " + to
}

// TestPassageToTable checks that what leaves for an entry of a lookup table is followed, and has
// the hazard of such a recipient.
func TestPassageToTable(t *testing.T) {
	withdraws := call(sdk.StakeProgramID, []byte{1, 6}, u32(4), u64(oneSOL)).with(sdk.SysVarClockPubkey, sdk.MustPublicKeyFromBase58("SysvarStakeHistory1111111111111111111111111"), firstKey)
	raw := scene(solana.Version0, 2, []table{{key: account(80), writable: []byte{3}}}, makesStake(ourKey, firstKey), withdraws, initializesStake(firstKey, ourKey))
	signing := ready(t, raw, ed25519Key(t, 0))
	effects := signing.Effects()
	list, _ := chains.Follow(effects)
	if len(list) != len(effects)+1 || !list[len(effects)].To.IsUnknown() || list[len(effects)].By != chains.BySigner {
		t.Errorf("%+v", list[len(effects):])
	}
	hazards := signing.Hazards()
	if len(hazards) != 1 || hazards[0].Name != solana.HazardUnresolvedAccount {
		t.Fatalf("hazards %v", hazards)
	}
	if index, _ := hazards[0].Effect(); index != len(effects) {
		t.Errorf("the hazard points at effect %d, not %d", index, len(effects))
	}
}

// TestOwnersOfRecipients checks that effects name whose account a recipient is.
func TestOwnersOfRecipients(t *testing.T) {
	ours, theirs := sdk.PublicKey(account(70)), sdk.PublicKey(account(71))
	pays := sendsToken(ours, firstKey, ourKey, 700)
	hands := call(sdk.TokenProgramID, nil, []byte{6, 2, 1}, thiefKey[:]).with(firstKey, nextKey)
	associated := call(sdk.SPLAssociatedTokenAccountProgramID, nil, []byte{1}).with(ourKey, theirs, thiefKey, usdcMint, sdk.SystemProgramID, sdk.TokenProgramID)
	for name, c := range map[string]struct {
		calls []instructionCall
		to    sdk.PublicKey
	}{
		"initialized":        {[]instructionCall{makes(thiefKey, firstKey, 2_039_280, 165, sdk.TokenProgramID), initializesToken(firstKey, usdcMint, thiefKey), pays}, firstKey},
		"given away":         {[]instructionCall{pays, hands}, firstKey},
		"associated":         {[]instructionCall{associated, sendsToken(ours, theirs, ourKey, 700)}, theirs},
		"a stake of another": {[]instructionCall{makesStake(ourKey, firstKey), initializesStake(firstKey, thiefKey)}, firstKey},
	} {
		for _, e := range ready(t, scene(solana.Version0, 4, nil, c.calls...), ed25519Key(t, 0)).Effects() {
			owned := slices.ContainsFunc(e.Owners, func(owner chains.Party) bool { return owner.Is(thiefKey[:]) })
			if e.To.Is(c.to[:]) && !e.Amount.IsNone() && !owned {
				t.Errorf("%s: nothing says whose the recipient is of %s", name, chains.Sentence(e, nil))
			}
		}
	}
}

// TestNoKeyIsAProgram: an account that is assigned to an address goes to no one whom a rule can name by a key.
func TestNoKeyIsAProgram(t *testing.T) {
	seed := slices.Concat(ourKey[:], u64(1), []byte("a"))
	for name, assigns := range map[string]instructionCall{
		"Assign":           call(sdk.SystemProgramID, nil, u32(1), ourKey[:]).with(ourKey),
		"AssignWithSeed":   call(sdk.SystemProgramID, nil, u32(10), seed, ourKey[:]).with(sdk.PublicKey(account(70)), ourKey),
		"AllocateWithSeed": call(sdk.SystemProgramID, nil, u32(9), seed, u64(8), ourKey[:]).with(sdk.PublicKey(account(70)), ourKey),
		"AllowPrefund":     call(sdk.SystemProgramID, nil, u32(13), u64(0), u64(0), ourKey[:]).with(ourKey),
	} {
		signing, given := ready(t, scene(solana.Version0, 1, nil, assigns), ed25519Key(t, 0)), 0
		for _, e := range signing.Effects() {
			if e.Kind == chains.KindAuthority {
				given++
				if !e.To.IsNone() || !strings.Contains(chains.Sentence(e, nil), "owner "+ourKey.String()) {
					t.Errorf("%s: %s", name, chains.Sentence(e, nil))
				}
			}
		}
		if names := chaintest.Names(signing.Hazards()); given != 1 || !slices.Contains(names, solana.HazardAuthorityChange) {
			t.Errorf("%s: %d effects, hazards %v", name, given, names)
		}
	}
}

// TestRoomForCode: more room in a program costs at most the rent of what is added.
func TestRoomForCode(t *testing.T) {
	loader := sdk.MustPublicKeyFromBase58("BPFLoaderUpgradeab1e11111111111111111111111")
	for more, want := range map[uint32]string{0: "1204080", 10_240: "72474480", 1 << 31: "72982093680"} {
		extends := call(loader, nil, u32(6), u32(more)).with(sdk.PublicKey(account(70)), sdk.PublicKey(account(71)), sdk.SystemProgramID, ourKey)
		effects := ready(t, scene(solana.Version0, 1, nil, extends), ed25519Key(t, 0)).Effects()
		if last := effects[len(effects)-1]; last.Kind != chains.KindCreate || last.Amount.Bound != chains.BoundMost || last.Amount.Value.String() != want {
			t.Errorf("%d bytes: %s, want at most %s lamports", more, chains.Sentence(last, nil), want)
		}
	}
}

// TestMoreThanThereIs: an allowance of more USDC than there is takes all of it, as one of 2^63 units of any token.
func TestMoreThanThereIs(t *testing.T) {
	other := sdk.PublicKey(account(72))
	for _, c := range []struct {
		mint   sdk.PublicKey
		amount uint64
		want   bool
	}{
		{usdcMint, 1e18, false}, {usdcMint, 1e18 + 1, true}, {other, 1e18 + 1, false}, {other, 1 << 63, true},
	} {
		approves := call(sdk.TokenProgramID, nil, []byte{13}, u64(c.amount), []byte{6}).with(sdk.PublicKey(account(70)), c.mint, thiefKey, ourKey)
		names := chaintest.Names(ready(t, scene(solana.Version0, 1, nil, approves), ed25519Key(t, 0)).Hazards())
		if got := slices.Contains(names, solana.HazardUnlimitedApproval); got != c.want {
			t.Errorf("%d of %s: hazards %v", c.amount, c.mint, names)
		}
	}
}

// TestPassageOfSigned checks that a transaction that other signers have signed says without our
// key what leaves, and its hazard.
func TestPassageOfSigned(t *testing.T) {
	raw := scene(solana.Version0, 2, nil, makesStake(ourKey, firstKey),
		withdrawsStake(firstKey, sdk.MustPublicKeyFromBase58("1nc1nerator11111111111111111111111111111111"), firstKey, oneSOL), initializesStake(firstKey, ourKey))
	tx := parse(t, sign(t, raw, ed25519Key(t, 1)))
	effects := tx.Effects()
	list, _ := chains.Follow(effects)
	if len(list) != len(effects)+1 || list[len(effects)].Kind != chains.KindBurn {
		t.Fatalf("%+v", list[len(effects):])
	}
	hazards := tx.Hazards()
	if len(hazards) != 1 || hazards[0].Name != solana.HazardBurn {
		t.Fatalf("hazards %v", hazards)
	}
	if index, _ := hazards[0].Effect(); index != len(effects) {
		t.Errorf("the hazard points at effect %d, not %d", index, len(effects))
	}
	if summary := tx.Summary(); len(summary.Effects) != len(effects) {
		t.Errorf("the summary has %d effects, the bytes %d", len(summary.Effects), len(effects))
	}
}
