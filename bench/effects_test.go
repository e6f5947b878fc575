package bench

import (
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// BenchmarkEffects measures the cost of effects for each item of a transaction that has
// many: an EIP-7702 authorization, a call of a batch, an output, an instruction.
//
//	parse    reads the bytes
//	hazards  also computes the hazards that follow from effects, as every signature does
//	effects  encodes the effects instead, as for a policy, a record or a person
func BenchmarkEffects(b *testing.B) {
	for _, batch := range batches(b) {
		chain := workload.Chain(batch.chain)
		b.Run(batch.chain+"/"+batch.items, func(b *testing.B) {
			for _, step := range []struct {
				name string
				run  func() error
			}{
				{"parse", func() error { _, err := chain.Parse(batch.raw); return err }},
				{"hazards", func() error {
					tx, err := chain.Parse(batch.raw)
					if err == nil {
						tx.Hazards()
					}
					return err
				}},
				{"effects", func() error {
					tx, err := chain.Parse(batch.raw)
					if err != nil {
						return err
					}
					_, err = json.Marshal(tx.Effects())
					return err
				}},
			} {
				b.Run(step.name, func(b *testing.B) {
					measure.Loop(b, func(int) {
						testenv.Must(b, step.run())
					})
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch.count), "ns/item")
				})
			}
		})
	}
}

type batch struct {
	chain, items string
	count        int
	raw          []byte
}

func batches(b *testing.B) []batch {
	return []batch{
		{"ethereum", "authorizations", 100, manyAuthorizations(b, 100)},
		{"ethereum", "calls", 100, manyEthereumCalls(b, 100)},
		{"tempo", "calls", 32, manyTempoCalls(b, 32)},
		{"bitcoin", "outputs", 500, manyOutputs(b, 500)},
		{"solana", "instructions", 20, manyInstructions(b, 20)},
	}
}

// tokenTransfer returns the calldata of transfer(address,uint256) to an address made from
// a number.
func tokenTransfer(number int) []byte {
	data := append(common.FromHex("a9059cbb"), make([]byte, 64)...)
	binary.BigEndian.PutUint64(data[4+24:], uint64(number)+1)
	binary.BigEndian.PutUint64(data[4+56:], 1_000_000)
	return data
}

// unsignedEthereum returns a transaction of type 2, or, with authorizations, of type 4.
func unsignedEthereum(b *testing.B, to common.Address, data []byte, authorizations any) []byte {
	items := []any{uint64(1), uint64(0), uint64(1e9), uint64(2e10), uint64(16_000_000), to, uint64(0), data, []any{}}
	kind := byte(2)
	if authorizations != nil {
		kind, items = 4, append(items, authorizations)
	}
	return append([]byte{kind}, encodeRLP(b, items)...)
}

func encodeRLP(b *testing.B, items []any) []byte {
	b.Helper()
	raw, err := rlp.EncodeToBytes(items)
	testenv.Must(b, err)
	return raw
}

func manyAuthorizations(b *testing.B, number int) []byte {
	var list []types.SetCodeAuthorization
	for i := range number {
		authority, err := crypto.ToECDSA(workload.Secret(i))
		testenv.Must(b, err)
		authorization, err := types.SignSetCode(authority, types.SetCodeAuthorization{Address: common.Address{1, byte(i)}, Nonce: uint64(i)})
		testenv.Must(b, err)
		list = append(list, authorization)
	}
	return unsignedEthereum(b, common.Address{2}, nil, list)
}

// manyEthereumCalls returns a batch of Multicall3, aggregate((address,bytes)[]).
func manyEthereumCalls(b *testing.B, number int) []byte {
	word := func(n int) []byte { return binary.BigEndian.AppendUint64(make([]byte, 24), uint64(n)) }
	data := append(append(common.FromHex("252dba42"), word(32)...), word(number)...)
	const size = 32*3 + 96 // target, offset, length, and 68 bytes padded
	for i := range number {
		data = append(data, word(32*number+size*i)...)
	}
	for i := range number {
		data = append(data, common.LeftPadBytes([]byte{0xa0, byte(i)}, 32)...)
		data = append(append(data, word(64)...), word(68)...)
		data = append(append(data, tokenTransfer(i)...), make([]byte, 28)...)
	}
	return unsignedEthereum(b, common.HexToAddress("0xcA11bde05977b3631167028862bE2a173976CA11"), data, nil)
}

func manyTempoCalls(b *testing.B, number int) []byte {
	token := common.HexToAddress("0x20C0000000000000000000000000000000000000")
	var calls []any
	for i := range number {
		calls = append(calls, []any{token, uint64(0), tokenTransfer(i)})
	}
	none := []byte{}
	items := []any{uint64(4217), uint64(1e9), uint64(2e10), uint64(16_000_000), calls, []any{}, none, none, none, none, none, none, []any{}}
	return append([]byte{0x76}, encodeRLP(b, items)...)
}

func manyOutputs(b *testing.B, number int) []byte {
	secret, err := crypto.ToECDSA(workload.Secret(1))
	testenv.Must(b, err)
	public, err := keystore.ParsePublicKey(keystore.CurveSecp256k1, crypto.CompressPubkey(&secret.PublicKey))
	testenv.Must(b, err)
	spend := bitcointest.P2WPKH(public)
	packet := bitcointest.PSBT{Inputs: []bitcointest.Input{spend.Input(1e8, 0)}}
	for range number {
		packet.Outputs = append(packet.Outputs, spend.Output(10_000))
	}
	return packet.Encode()
}

func manyInstructions(b *testing.B, number int) []byte {
	m := sdk.Message{
		RecentBlockhash: sdk.Hash{1}, AccountKeys: sdk.PublicKeySlice{{0xaa, 1}, {0xff, 1}, sdk.SystemProgramID},
		Header: sdk.MessageHeader{NumRequiredSignatures: 1, NumReadonlyUnsignedAccounts: 1},
	}
	for range number {
		m.Instructions = append(m.Instructions, sdk.CompiledInstruction{ProgramIDIndex: 2, Accounts: []uint16{0, 1}, Data: common.FromHex("020000000100000000000000")})
	}
	raw, err := (&sdk.Transaction{Message: m}).MarshalBinary()
	testenv.Must(b, err)
	return raw
}
