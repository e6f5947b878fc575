package solana_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

var (
	metadataProgram = sdk.MustPublicKeyFromBase58("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s")
	stakeConfig     = sdk.MustPublicKeyFromBase58("StakeConfig11111111111111111111111111111111")
	loaderV4        = sdk.MustPublicKeyFromBase58("LoaderV411111111111111111111111111111111111")
	zkProofs        = sdk.MustPublicKeyFromBase58("ZkE1Gama1Proof11111111111111111111111111111")
	config          = sdk.MustPublicKeyFromBase58("Config1111111111111111111111111111111111111")
	squadsProgram   = sdk.MustPublicKeyFromBase58("SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf")
)

// delegatesCollection is DelegateCollectionV1 of Token Metadata.
func delegatesCollection(record, metadata, authority, payer int) instructionCall {
	key := func(i int) sdk.PublicKey {
		if i < 2 {
			return sdk.PublicKey(public(i))
		}
		return sdk.PublicKey(account(i))
	}
	return call(metadataProgram, nil, []byte{44, 0, 0}).with(key(record), key(4), key(metadata), metadataProgram, metadataProgram, key(5), metadataProgram,
		key(authority), key(payer), sdk.SystemProgramID, sdk.SysVarInstructionsPubkey, metadataProgram)
}

// hazardCases are transactions of two signers, with the hazards for the first signer's
// key (ours) and for the second's (others).
var hazardCases = []struct {
	name         string
	calls        []instructionCall
	tables       []table
	ours, others []string
}{
	{"a transfer", []instructionCall{call(sdk.SystemProgramID, []byte{0, 2}, u32(2), u64(1))}, nil, nil, nil},
	{"the other's wallet is assigned", []instructionCall{call(sdk.SystemProgramID, []byte{1}, u32(1), bytes32(9))}, nil,
		nil, []string{solana.HazardAuthorityChange}},
	{"our wallet is assigned", []instructionCall{call(sdk.SystemProgramID, []byte{0}, u32(1), bytes32(9))}, nil,
		[]string{solana.HazardAuthorityChange}, nil},
	{"data for our wallet", []instructionCall{call(sdk.SystemProgramID, []byte{0}, u32(8), u64(80))}, nil,
		[]string{solana.HazardAuthorityChange}, nil},
	{"an unknown program with our signature", []instructionCall{call(sdk.PublicKey(account(40)), []byte{0, 2})}, nil,
		[]string{solana.HazardBlindCall}, nil},
	{"an unknown program without a signature", []instructionCall{call(sdk.PublicKey(account(40)), []byte{2})}, nil,
		[]string{solana.HazardBlindCall}, []string{solana.HazardBlindCall}},
	{"SOL to the System program", []instructionCall{call(sdk.SystemProgramID, []byte{0}, u32(2), u64(5)).with(sdk.SystemProgramID)}, nil,
		[]string{solana.HazardBurn}, nil},
	{"tokens are burned", []instructionCall{call(sdk.TokenProgramID, []byte{2, 3, 0}, []byte{8}, u64(5))}, nil, []string{solana.HazardBurn}, nil},
	{"control of a mint is given up", []instructionCall{call(sdk.TokenProgramID, []byte{2, 0}, []byte{6, 0, 0})}, nil, []string{solana.HazardAuthorityChange}, nil},
	{"the right to close our account goes to another", []instructionCall{call(sdk.TokenProgramID, []byte{2, 0}, []byte{6, 3, 1}, bytes32(9))}, nil, []string{solana.HazardAuthorityChange}, nil},
	{"the right to close our account falls back to us", []instructionCall{call(sdk.TokenProgramID, []byte{2, 0}, []byte{6, 3, 0})}, nil, nil, nil},
	{"a batch of nothing", []instructionCall{call(sdk.TokenProgramID, []byte{2, 0}, []byte{255})}, nil, []string{solana.HazardBlindCall}, nil},
	{"half of all tokens approved", []instructionCall{call(sdk.TokenProgramID, []byte{2, 3, 0}, []byte{4}, u64(1<<63))}, nil,
		[]string{solana.HazardUnlimitedApproval}, nil},
	{"one less", []instructionCall{call(sdk.TokenProgramID, []byte{2, 3, 0}, []byte{4}, u64(1<<63-1))}, nil, nil, nil},
	{"a recipient from a table", []instructionCall{call(sdk.SystemProgramID, []byte{0, 6}, u32(2), u64(1))},
		[]table{{key: account(50), writable: []byte{200}}}, []string{solana.HazardUnresolvedAccount}, nil},
	{"what may be the clock from a table", []instructionCall{call(sdk.StakeProgramID, []byte{2, 6, 0}, u32(5))},
		[]table{{key: account(50), writable: []byte{200}}}, []string{solana.HazardBlindCall}, nil},
	{"a nonce of ours", []instructionCall{call(sdk.SystemProgramID, []byte{2}, u32(4)).with(sdk.SysVarRecentBlockHashesPubkey, sdk.PublicKey(public(0)))}, nil,
		nil, []string{solana.HazardDurableNonce}},
	{"a nonce that the other can advance too", []instructionCall{call(sdk.SystemProgramID, []byte{2}, u32(4)).
		with(sdk.SysVarRecentBlockHashesPubkey, sdk.PublicKey(public(0)), sdk.PublicKey(public(1)))}, nil,
		[]string{solana.HazardDurableNonce}, []string{solana.HazardDurableNonce}},
	{"a program that is closed", []instructionCall{call(sdk.BPFLoaderUpgradeableProgramID, []byte{2, 0, 0, 3}, u32(5))}, nil, []string{solana.HazardBurn}, nil},
	{"a buffer that is closed", []instructionCall{call(sdk.BPFLoaderUpgradeableProgramID, []byte{2, 0, 0}, u32(5))}, nil, nil, nil},
	{"an account that nobody initialized, closed", []instructionCall{call(sdk.BPFLoaderUpgradeableProgramID, []byte{0, 2}, u32(5))}, nil, nil, nil},
	{"a program of loader v4 that is closed", []instructionCall{call(loaderV4, []byte{2, 0, 0}, u32(2), u32(0))}, nil, []string{solana.HazardBurn}, nil},
	{"a program of loader v4 that is made smaller", []instructionCall{call(loaderV4, []byte{2, 0, 0}, u32(2), u32(1))}, nil, nil, nil},
	{"a lookup table that is frozen", []instructionCall{call(sdk.AddressLookupTableProgramID, []byte{2, 0}, u32(1))}, nil, []string{solana.HazardAuthorityChange}, nil},
	{"a lookup table that is closed", []instructionCall{call(sdk.AddressLookupTableProgramID, []byte{2, 0, 0}, u32(4))}, nil, nil, nil},
	{"a transfer hook that is set", []instructionCall{call(sdk.Token2022ProgramID, []byte{2, 0}, []byte{36, 1}, bytes32(9))}, nil, []string{solana.HazardAuthorityChange}, nil},
	{"a transfer hook that is removed", []instructionCall{call(sdk.Token2022ProgramID, []byte{2, 0}, []byte{36, 1}, make([]byte, 32))}, nil, nil, nil},
	{"a validator from a table", []instructionCall{call(sdk.StakeProgramID, []byte{2, 6}, u32(2)).with(sdk.SysVarClockPubkey, sdk.SysVarStakeHistoryPubkey, stakeConfig, sdk.PublicKey(public(0)))},
		[]table{{key: account(50), writable: []byte{200}}}, []string{solana.HazardUnresolvedAccount}, nil},
	{"a mint from a table", []instructionCall{call(sdk.TokenProgramID, []byte{2, 6, 3, 0}, []byte{12}, u64(1), []byte{6})},
		[]table{{key: account(50), writable: []byte{200}}}, []string{solana.HazardUnresolvedAccount}, nil},
	{"a proof that is kept for us", []instructionCall{call(zkProofs, []byte{2, 0}, []byte{4}, make([]byte, 96))}, nil, nil, nil},
	{"a proof from an account", []instructionCall{call(zkProofs, []byte{2}, []byte{4}, u32(0))}, nil, nil, nil},
	{"the SOL of a proof that was kept", []instructionCall{call(zkProofs, []byte{2, 0, 0}, []byte{0})}, nil, nil, nil},
	{"a proof that is not known", []instructionCall{call(zkProofs, []byte{2, 0}, []byte{13}, make([]byte, 96))}, nil, []string{solana.HazardBlindCall}, nil},
	{"contents that another must sign too", []instructionCall{call(config, []byte{2, 0, 1}, []byte{2}, bytesOf(0), []byte{1}, bytesOf(1), []byte{1}, u64(2), []byte("hi"))}, nil,
		[]string{solana.HazardAuthorityChange}, []string{solana.HazardAuthorityChange}},
	{"contents without keys", []instructionCall{call(config, []byte{0}, []byte{0}, u64(0))}, nil, nil, nil},
	{"contents that are no text", []instructionCall{call(config, []byte{0}, []byte{0}, u64(9))}, nil, []string{solana.HazardBlindCall}, nil},
	{"contents cut off", []instructionCall{call(config, []byte{0}, []byte{1}, bytesOf(0))}, nil, []string{solana.HazardBlindCall}, nil},
	{"a priority fee", []instructionCall{call(sdk.ComputeBudget, nil, []byte{3}, u64(1_000_000_000_000))}, nil, []string{solana.HazardHighFee}, nil},
	{"no compute units", []instructionCall{call(sdk.ComputeBudget, nil, []byte{2}, u32(0))}, nil,
		[]string{solana.HazardNoComputeBudget}, []string{solana.HazardNoComputeBudget}},
	{"a transfer hook", []instructionCall{call(sdk.Token2022ProgramID, []byte{2, 3, 4, 0, 5}, []byte{12}, u64(1), []byte{6})}, nil,
		[]string{solana.HazardBlindCall}, nil},
	{"a transfer hook with an account that signs", []instructionCall{call(sdk.Token2022ProgramID, []byte{2, 3, 4, 0, 1}, []byte{12}, u64(1), []byte{6})}, nil,
		[]string{solana.HazardBlindCall}, []string{solana.HazardBlindCall}},
	{"an account of SPL Token left over", []instructionCall{call(sdk.TokenProgramID, []byte{2, 3, 4, 0, 5}, []byte{12}, u64(1), []byte{6})}, nil, nil, nil},
	{"a multisig of Token-2022", []instructionCall{call(sdk.Token2022ProgramID, []byte{2, 3, 4, 5, 0, 1}, []byte{12}, u64(1), []byte{6})}, nil, nil, nil},
	{"an authority that is not a signer", []instructionCall{call(sdk.StakeProgramID, []byte{2, 3}, u32(3), u64(1)).with(sdk.PublicKey(account(60)), sdk.PublicKey(public(0)))}, nil,
		[]string{solana.HazardBlindCall}, nil},
	{"our metadata handed over", []instructionCall{call(metadataProgram, []byte{2, 0}, []byte{15, 0, 1}, bytes32(9), []byte{0, 0})}, nil,
		[]string{solana.HazardAuthorityChange}, nil},
	{"our metadata changed", []instructionCall{call(metadataProgram, []byte{2, 0}, []byte{15, 0, 0, 0, 0})}, nil, nil, nil},
	{"we pay where the other gives a delegate", []instructionCall{delegatesCollection(2, 3, 1, 0)}, nil, nil, []string{solana.HazardAuthorityChange}},
	{"the other pays where we give a delegate", []instructionCall{delegatesCollection(2, 3, 0, 1)}, nil, []string{solana.HazardAuthorityChange}, nil},
	{"an account that cannot be left out", []instructionCall{call(metadataProgram, []byte{2, 0}, []byte{15, 0, 0, 0, 0}).with(metadataProgram),
		{program: metadataProgram, fixed: []sdk.PublicKey{metadataProgram, sdk.PublicKey(public(0))}, data: []byte{7}}}, nil, []string{solana.HazardBlindCall}, nil},
	{"tokens used up by their metadata's program", []instructionCall{call(metadataProgram, []byte{0, 2, 3}, []byte{51, 0, 0})}, nil, []string{solana.HazardBlindCall}, nil},
	{"a nonce account that we fund, for another", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 1}, u32(0), u64(5), u64(80), make([]byte, 32)),
		call(sdk.SystemProgramID, []byte{1}, u32(6), bytes32(9)).with(sdk.SysVarRecentBlockHashesPubkey, sdk.SysVarRentPubkey)}, nil,
		[]string{solana.HazardAuthorityChange}, nil},
	{"a stake account that we fund, for another to withdraw", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 1}, u32(0), u64(5), u64(200), sdk.StakeProgramID[:]),
		call(sdk.StakeProgramID, []byte{1}, u32(0), bytesOf(0), bytes32(9), u64(0), u64(0), make([]byte, 32))}, nil,
		[]string{solana.HazardAuthorityChange}, nil},
	{"a vote account that we fund, whose rewards another collects", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 1}, u32(0), u64(5), u64(3762), sdk.VoteProgramID[:]),
		call(sdk.VoteProgramID, []byte{1, 0, 2, 1}, u32(16), bytesOf(0), bytesOf(0), make([]byte, 144), bytesOf(0), make([]byte, 4))}, nil,
		[]string{solana.HazardAuthorityChange}, nil},
	{"a vote account that we fund, which collects its rewards", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 1}, u32(0), u64(5), u64(3762), sdk.VoteProgramID[:]),
		call(sdk.VoteProgramID, []byte{1, 0, 1, 1}, u32(16), bytesOf(0), bytesOf(0), make([]byte, 144), bytesOf(0), make([]byte, 4))}, nil, nil, nil},
	{"an account that we fund, and another's nonce account", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 1}, u32(0), u64(5), u64(80), make([]byte, 32)),
		call(sdk.SystemProgramID, []byte{3}, u32(6), bytes32(9)).with(sdk.SysVarRecentBlockHashesPubkey, sdk.SysVarRentPubkey)}, nil, []string{solana.HazardAuthorityChange}, nil},
	{"a nonce account that we fund, for us", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 1}, u32(0), u64(5), u64(80), make([]byte, 32)),
		call(sdk.SystemProgramID, []byte{1}, u32(6), bytesOf(0)).with(sdk.SysVarRecentBlockHashesPubkey, sdk.SysVarRentPubkey)}, nil, nil, nil},
	{"SOL for a nonce account that another made", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 3}, u32(2), u64(5)),
		call(sdk.SystemProgramID, []byte{3}, u32(6), bytes32(9)).with(sdk.SysVarRecentBlockHashesPubkey, sdk.SysVarRentPubkey)}, nil, nil, nil},
	{"an associated account of which we pay the rent", []instructionCall{
		call(sdk.SPLAssociatedTokenAccountProgramID, []byte{0, 3, 4, 5}, []byte{0}).with(sdk.SystemProgramID, sdk.TokenProgramID),
		call(sdk.TokenProgramID, []byte{3, 5}, []byte{18}, bytes32(9))}, nil, nil, nil},
	{"an account that we fund, for a program that is not known", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 1}, u32(0), u64(5), u64(0), bytes32(9))}, nil, []string{solana.HazardAuthorityChange}, nil},
	{"the same by a seed", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 2}, u32(3), bytesOf(0), u64(1), []byte("s"), u64(5), u64(0), bytes32(9))}, nil, []string{solana.HazardAuthorityChange}, nil},
	{"the same of an account that may have SOL", []instructionCall{
		call(sdk.SystemProgramID, []byte{1, 0}, u32(13), u64(5), u64(0), bytes32(9))}, nil,
		[]string{solana.HazardAuthorityChange}, []string{solana.HazardAuthorityChange}},
	{"an account that the other funds, for a program that is not known", []instructionCall{
		call(sdk.SystemProgramID, []byte{1, 0}, u32(0), u64(5), u64(0), bytes32(9))}, nil, nil, []string{solana.HazardAuthorityChange}},
	{"an account that we fund, for the token program", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 1}, u32(0), u64(5), u64(165), sdk.TokenProgramID[:])}, nil, []string{solana.HazardAuthorityChange}, nil},
	{"the same by a seed, which another initializes", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 2}, u32(3), bytesOf(0), u64(1), []byte("s"), u64(5), u64(165), sdk.TokenProgramID[:]),
		call(sdk.TokenProgramID, []byte{2, 5}, []byte{18}, bytes32(9))}, nil, []string{solana.HazardAuthorityChange}, nil},
	{"the same by a seed, which we initialize", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 2}, u32(3), bytesOf(0), u64(1), []byte("s"), u64(5), u64(165), sdk.TokenProgramID[:]),
		call(sdk.TokenProgramID, []byte{2, 5}, []byte{18}, bytesOf(0))}, nil, nil, nil},
	{"initialized before it is created", []instructionCall{
		call(sdk.TokenProgramID, []byte{1, 5}, []byte{18}, bytesOf(0)),
		call(sdk.SystemProgramID, []byte{0, 1}, u32(0), u64(5), u64(165), sdk.TokenProgramID[:])}, nil, []string{solana.HazardAuthorityChange}, nil},
	{"a mint of Token-2022 with an extension alone", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 1}, u32(0), u64(5), u64(300), sdk.Token2022ProgramID[:]),
		call(sdk.Token2022ProgramID, []byte{1}, []byte{25, 1}, bytesOf(0))}, nil, []string{solana.HazardAuthorityChange}, nil},
	{"a stake account that nobody initializes", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 1}, u32(0), u64(5), u64(200), sdk.StakeProgramID[:])}, nil, []string{solana.HazardAuthorityChange}, nil},
	{"a stake account for a part of another one", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 1}, u32(0), u64(5), u64(200), sdk.StakeProgramID[:]),
		call(sdk.StakeProgramID, []byte{3, 1, 0}, u32(3), u64(7))}, nil, nil, nil},
	{"a new wallet", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 1}, u32(0), u64(5), u64(0), make([]byte, 32))}, nil, nil, nil},
	{"an account without SOL, for a program that is not known", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 1}, u32(0), u64(0), u64(0), bytes32(9))}, nil, nil, nil},
	{"an account that we fund hands itself over", []instructionCall{
		call(sdk.SystemProgramID, []byte{0, 1}, u32(0), u64(5), u64(0), make([]byte, 32)),
		call(sdk.SystemProgramID, []byte{1}, u32(1), bytes32(9))}, nil,
		nil, []string{solana.HazardAuthorityChange}},
}

// bytesOf returns the public key of a signer.
func bytesOf(signer int) []byte {
	key := public(signer)
	return key[:]
}

// TestHazardsFollowFromEffects checks that each hazard is reported for the signer whose
// signature causes it, points at its effect, and is not reported for the other.
func TestHazardsFollowFromEffects(t *testing.T) {
	seen := []string{solana.HazardZeroBlockhash} // TestHazards
	for _, test := range hazardCases {
		t.Run(test.name, func(t *testing.T) {
			raw := scene(solana.Version0, 2, test.tables, test.calls...)
			for signer, want := range [][]string{test.ours, test.others} {
				signing := ready(t, raw, ed25519Key(t, signer))
				hazards := signing.Hazards()
				if got := chaintest.Names(hazards); !slices.Equal(got, want) {
					t.Errorf("signer %d: %v, want %v", signer, got, want)
				}
				for _, hazard := range hazards {
					seen = append(seen, hazard.Name)
					if index, ok := hazard.Effect(); ok && signing.Effects()[index].By == chains.ByOther {
						t.Errorf("signer %d: %s points at what the other does", signer, hazard.Name)
					}
				}
			}
		})
	}
	chaintest.CheckAllSeen(t, solana.Chain{}, seen)
}

// TestMostEffects: of a transaction with too many effects, the rest is one call that is
// not decoded.
func TestMostEffects(t *testing.T) {
	revoke := []byte{2, 1, 5}
	batch := append([]byte{255}, slices.Repeat(revoke, 270)...)
	var calls []instructionCall
	for range 2 {
		calls = append(calls, call(sdk.TokenProgramID, slices.Repeat([]byte{2, 0}, 250), batch))
	}
	for range 10 {
		calls = append(calls, call(sdk.TokenProgramID, slices.Repeat([]byte{2, 0}, 100), batch[:1+3*100]))
	}
	s := parseShape(solana.Version1, 1, nil)
	for _, c := range calls {
		s.keys = append(s.keys[:6:6], c.program)
		s.header[2] = 1
		s.instructions = append(s.instructions, part{program: 6, accounts: c.accounts[:min(len(c.accounts), 200)], data: c.data[:min(len(c.data), 301)]})
	}
	tx, err := solana.New(solana.Limits{MaxSizeV1: 1 << 16}).Parse(s.bytes())
	testenv.Must(t, err)
	effects := tx.Effects()
	if last := effects[len(effects)-1]; len(effects) != chains.MaxEffects || !last.Undecoded {
		t.Errorf("%d effects, the last one %+v", len(effects), last)
	}
}

// TestWalletSignsAllItsSlots: the keys of a wallet fill all of their slots, and every
// effect that one of them authorizes is by the signer.
func TestWalletSignsAllItsSlots(t *testing.T) {
	raw := scene(solana.Version0, 3, nil, call(sdk.SystemProgramID, []byte{1, 3}, u32(2), u64(1)))
	signing := ready(t, raw, ed25519Key(t, 7), ed25519Key(t, 0), ed25519Key(t, 1))
	if ids := signing.KeyIDs(); len(ids) != 2 {
		t.Errorf("keys %v", ids)
	}
	for _, effect := range signing.Effects() {
		if effect.By != chains.BySigner {
			t.Errorf("%+v", effect)
		}
	}
	signed, err := signing.AppendSigned(t.Context(), nil)
	testenv.Must(t, err)
	tx, err := sdk.TransactionFromBytes(signed)
	if err != nil || tx.Signatures[0].IsZero() || tx.Signatures[1].IsZero() || !tx.Signatures[2].IsZero() {
		t.Errorf("%v, %v", tx.Signatures, err)
	}
}

// storedTransfer is a Squads vault transaction that stores a transfer from the vault, or
// a call of an unknown program with the same data.
func storedTransfer(program sdk.PublicKey) instructionCall {
	vault, thief := account(70), account(71)
	message := slices.Concat([]byte{1, 1, 1, 3}, vault[:], thief[:], program[:],
		[]byte{1, 2, 2, 0, 1}, binary.LittleEndian.AppendUint16(nil, 12), u32(2), u64(7), []byte{0})
	return call(squadsProgram, []byte{2, 3, 0, 0}, []byte{0x30, 0xfa, 0x4e, 0xa8, 0xd0, 0xe2, 0xda, 0xd3, 0, 0}, u32(uint32(len(message))), message, []byte{0}).
		with(sdk.SystemProgramID)
}

// TestStoredTransactionIsDecoded: storing a transaction with Squads has the effects of
// what is stored. Approving or executing it is a blind call, which is how Drift was
// attacked.
func TestStoredTransactionIsDecoded(t *testing.T) {
	raw := scene(solana.Version0, 1, nil, storedTransfer(sdk.SystemProgramID))
	effects := parse(t, raw).Effects()
	vault, thief := account(70), account(71)
	stored := slices.ContainsFunc(effects, func(e chains.Effect) bool {
		return e.Kind == chains.KindTransfer && e.By == chains.ByStanding && e.From.Is(vault[:]) && e.To.Is(thief[:]) && fmt.Sprint(e.Amount.Value) == "7"
	})
	if names := hazardNames(parse(t, raw)); !stored || names != nil {
		t.Errorf("hazards %v, effects %+v", names, effects)
	}
	for name, c := range map[string]instructionCall{
		"an unknown program":   storedTransfer(sdk.PublicKey(account(72))),
		"approving":            call(squadsProgram, []byte{2, 0, 3}, []byte{0x90, 0x25, 0xa4, 0x88, 0xbc, 0xd8, 0x2a, 0xf8, 0}),
		"executing":            call(squadsProgram, []byte{2, 3, 4, 0}, []byte{0xc2, 0x08, 0xa1, 0x57, 0x99, 0xa4, 0x19, 0xab}),
		"an unknown operation": call(squadsProgram, []byte{2, 0}, bytes32(1)),
	} {
		if names := hazardNames(parse(t, scene(solana.Version0, 1, nil, c))); !slices.Contains(names, solana.HazardBlindCall) {
			t.Errorf("%s: hazards %v", name, names)
		}
	}
}

// TestCutStoredTransactionIsCheap: that a stored message announces more lookups than follow costs
// nothing for each of them, although they are counted before the first is found to be cut off.
func TestCutStoredTransactionIsCheap(t *testing.T) {
	costs := func(lookups byte) float64 {
		tx := parse(t, scene(solana.Version0, 1, nil, call(squadsProgram, []byte{2, 3, 0, 0},
			[]byte{0x30, 0xfa, 0x4e, 0xa8, 0xd0, 0xe2, 0xda, 0xd3, 0, 0}, u32(6), []byte{0, 0, 0, 0, 0, lookups})))
		return testing.AllocsPerRun(20, func() { tx.Effects() })
	}
	if one, many := costs(1), costs(255); many > 2*one {
		t.Errorf("%v allocations for 255 lookups, %v for one", many, one)
	}
}

// TestOwner checks that an address leads to its key.
func TestOwner(t *testing.T) {
	key := public(0)
	if locator, ok := (solana.Chain{}).Locate(key[:]); !ok || locator != keystore.ByEd25519(key) {
		t.Errorf("%v, %v", locator, ok)
	}
	if _, ok := (solana.Chain{}).Locate(key[:31]); ok {
		t.Error("31 bytes are no address")
	}
}
