package solana_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
)

// scenes are transactions whose summaries are in testdata/summary.
func scenes(t *testing.T) map[string][]byte {
	scenes := map[string][]byte{}
	for name, v := range vectors(t) {
		scenes[name] = chaintest.Unhex(t, v.UnsignedTransaction)
	}
	units, price := u32(300_000), u64(1_500_001)
	scenes["transfer_with_priority_fee"] = scene(solana.Legacy, 1, nil,
		call(sdk.ComputeBudget, nil, []byte{2}, units),
		call(sdk.ComputeBudget, nil, []byte{3}, price),
		call(sdk.SystemProgramID, []byte{0, 1}, u32(2), u64(1_250_000_000)),
		call(sdk.MemoProgramID, []byte{0}, []byte("rent\x1b[31m for \u202eMay")))
	scenes["durable_nonce"] = scene(solana.Version0, 2, nil,
		call(sdk.SystemProgramID, []byte{3}, u32(4)).with(sdk.SysVarRecentBlockHashesPubkey, sdk.PublicKey(public(0))),
		call(sdk.SystemProgramID, []byte{1, 4, 0}, u32(11), u64(7), u64(4), []byte("seed"), bytes32(5)))
	scenes["token_burned"] = scene(solana.Version0, 1, nil, call(sdk.TokenProgramID, []byte{1, 2, 0}, []byte{15}, u64(1_234_567), []byte{6}))
	scenes["token_metadata"] = scene(solana.Legacy, 1, nil,
		call(metadataProgram, []byte{1, 0}, []byte{15, 0, 1}, bytes32(9), []byte{1, 1, 1, 0}), delegatesCollection(2, 3, 0, 0))
	scenes["token"] = scene(solana.Version0, 1, nil,
		call(sdk.SPLAssociatedTokenAccountProgramID, []byte{0, 1, 2, 3}, []byte{1}).with(sdk.SystemProgramID, sdk.TokenProgramID),
		call(sdk.TokenProgramID, []byte{1, 2, 3, 0}, []byte{12}, u64(1_234_567), []byte{6}),
		call(sdk.TokenProgramID, []byte{1, 2, 0}, []byte{4}, u64(1<<64-1)),
		call(sdk.TokenProgramID, []byte{1, 2, 0}, []byte{3}, u64(5)),
		call(sdk.TokenProgramID, []byte{1, 0}, []byte{6, 2, 1}, bytes32(8)),
		call(sdk.TokenProgramID, []byte{1, 0}, []byte{6, 3, 0}),
		call(sdk.TokenProgramID, []byte{1, 2, 0, 1, 2, 0}, []byte{255, 3, 9, 3}, u64(11), []byte{3, 1, 9}))
	scenes["token_2022"] = scene(solana.Version0, 1, nil,
		call(sdk.Token2022ProgramID, []byte{1, 2, 3, 0}, []byte{26, 1}, u64(1_000_000), []byte{2}, u64(2_500)),
		call(sdk.Token2022ProgramID, []byte{1}, []byte{35}, bytes32(6)),
		call(sdk.Token2022ProgramID, []byte{1}, []byte{39, 0}, make([]byte, 32), bytes32(7)),
		call(sdk.Token2022ProgramID, []byte{1, 0}, []byte{27, 5, 1, 2, 3}))
	scenes["stake_and_vote"] = scene(solana.Legacy, 1, nil,
		call(sdk.StakeProgramID, []byte{1, 2}, u32(0), bytes32(1), bytes32(2), u64(1_900_000_000), u64(900), bytes32(3)),
		call(sdk.StakeProgramID, []byte{1}, u32(1), bytes32(4), u32(1)).with(sdk.SysVarClockPubkey, sdk.PublicKey(public(0)), sdk.PublicKey(account(3))),
		call(sdk.StakeProgramID, []byte{1, 2}, u32(4), u64(2_000_000_000)).with(sdk.SysVarClockPubkey, sdk.SysVarStakeHistoryPubkey, sdk.PublicKey(public(0))),
		call(sdk.StakeProgramID, []byte{1, 2, 0}, u32(4), u64(1_000_000_000)),
		call(sdk.VoteProgramID, []byte{1, 2, 0}, u32(3), u64(17)))
	scenes["lookup_tables"] = scene(solana.Version0, 2, []table{
		{key: account(50), writable: []byte{9, 4}, readonly: []byte{0}}, {key: account(51), readonly: []byte{200, 3}},
	}, call(sdk.SystemProgramID, []byte{0, 6}, u32(2), u64(1)),
		call(sdk.PublicKey(account(52)), []byte{0, 1, 7, 8, 9, 10}, bytes.Repeat([]byte{0xab}, 300)),
		call(sdk.AddressLookupTableProgramID, []byte{2, 0, 0}, u32(2), u64(2), bytes32(1), bytes32(2)).with(sdk.SystemProgramID))
	v1 := scene(solana.Version1, 3, nil,
		call(sdk.ComputeBudget, nil, []byte{2}, units),
		call(sdk.SystemProgramID, []byte{0, 3}, u32(2), u64(42)))
	scenes["v1"] = v1
	bare := parseShape(solana.Version1, 1, nil, call(sdk.SystemProgramID, []byte{0, 1}, u32(2), u64(42)))
	bare.mask, bare.values, bare.blockhash = 0, nil, [32]byte{}
	scenes["v1_without_budget"] = bare.bytes()
	scenes["partly_signed"] = sign(t, v1, ed25519Key(t, 1))
	return scenes
}

type instructionCall struct {
	program  sdk.PublicKey
	accounts []byte
	data     []byte
	fixed    []sdk.PublicKey // further accounts, behind those
}

// with adds accounts at fixed addresses, such as sysvars.
func (c instructionCall) with(addresses ...sdk.PublicKey) instructionCall {
	c.fixed = addresses
	return c
}

func call(program sdk.PublicKey, accounts []byte, data ...[]byte) instructionCall {
	return instructionCall{program: program, accounts: accounts, data: bytes.Join(data, nil)}
}

func u32(value uint32) []byte { return binary.LittleEndian.AppendUint32(nil, value) }
func u64(value uint64) []byte { return binary.LittleEndian.AppendUint64(nil, value) }
func bytes32(b byte) []byte   { return bytes.Repeat([]byte{b}, 32) }

func scene(version solana.Version, signers int, tables []table, calls ...instructionCall) []byte {
	return parseShape(version, signers, tables, calls...).bytes()
}

// parseShape returns a shape of six accounts, signers first, followed by the programs.
func parseShape(version solana.Version, signers int, tables []table, calls ...instructionCall) shape {
	s := simple(version, signers)
	s.keys, s.instructions, s.lookups = s.keys[:signers], nil, tables
	for len(s.keys) < 6 {
		s.keys = append(s.keys, account(len(s.keys)))
	}
	for _, c := range calls {
		for _, key := range append([]sdk.PublicKey{c.program}, c.fixed...) {
			if !slices.Contains(s.keys, [32]byte(key)) {
				s.keys = append(s.keys, key)
			}
		}
	}
	s.header[2] = byte(len(s.keys) - 6)
	for _, c := range calls {
		in := part{program: byte(slices.Index(s.keys, [32]byte(c.program))), data: c.data}
		for _, index := range c.accounts {
			if index >= 6 { // after the keys: an account from a lookup table
				index += byte(len(s.keys) - 6)
			}
			in.accounts = append(in.accounts, index)
		}
		for _, key := range c.fixed {
			in.accounts = append(in.accounts, byte(slices.Index(s.keys, [32]byte(key))))
		}
		s.instructions = append(s.instructions, in)
	}
	return s
}

// TestSummaries compares what the first signer of each scene is shown, and the digest,
// with testdata/summary.
func TestSummaries(t *testing.T) {
	chaintest.Summaries(t, solana.Chain{}, scenes(t), ed25519Key(t, 0))
}

// TestSummaryShowsEveryBit flips each bit of the scenes. A scene that is still accepted
// must have another digest: the summary leaves out nothing that is signed.
func TestSummaryShowsEveryBit(t *testing.T) {
	for name, raw := range scenes(t) {
		if name == "partly_signed" {
			continue // a change invalidates its signature
		}
		t.Run(name, func(t *testing.T) {
			before := parse(t, raw).Summary().Digest()
			for bit := range 8 * len(raw) {
				if len(raw) > 400 && bit%8 != bit/8%8 {
					continue // one bit of each byte of a long one is enough
				}
				changed := bytes.Clone(raw)
				changed[bit/8] ^= 1 << (bit % 8)
				tx, err := solana.New(solana.Limits{}).Parse(changed)
				if err == nil && tx.Summary().Digest() == before {
					t.Errorf("byte %d can be %02x or %02x, with the same digest", bit/8, raw[bit/8], changed[bit/8])
				}
			}
		})
	}
}

func TestSignerView(t *testing.T) {
	raw := scene(solana.Version0, 2, nil, call(sdk.SystemProgramID, []byte{1, 3}, u32(2), u64(1)))
	tests := []struct {
		signer int
		note   string
		more   string
	}{
		{0, "signer 0, missing, pays the fee", ""},
		{1, "signer 1, missing", "instruction 0"},
	}
	for _, test := range tests {
		view := ready(t, raw, ed25519Key(t, test.signer)).SignerView()
		if view[0].Note != test.note || len(view) == 2 != (test.more != "") || len(view) == 2 && view[1].Value != test.more {
			t.Errorf("signer %d: %+v", test.signer, view)
		}
	}
}
