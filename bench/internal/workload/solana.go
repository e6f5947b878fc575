package workload

import (
	"sync"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/keystore"
)

var (
	solanaPayer     = sdk.PublicKey{0xaa, 1, 2, 3}
	solanaBlockhash = sdk.Hash{0xbb, 1, 2, 3}
)

// Solana is the kind of transactions of so many bytes with one signer: v0, or
// what fits where that does not: legacy, v1.
func Solana(size int) Kind {
	made := sync.OnceValue(func() []byte { return solanaTemplate(size) })
	return Kind{Chain: "solana", Type: solanaType(size), Scheme: Ed25519, Transaction: func(number int, signer keystore.PublicKey) []byte {
		payer := signer.Ed25519()
		return put(put(made(), solanaPayer[:], payer[:]), solanaBlockhash[:], drawing(number).bytes(32))
	}}
}

// solanaTemplate makes up its length by keys, as far as there can be,
// instructions and data.
func solanaTemplate(size int) []byte {
	m := solanaMessage(size)
	for i := 0; len(m.AccountKeys) < 64 && 220+32*len(m.AccountKeys) < size*3/4; i++ {
		m.AccountKeys = append(m.AccountKeys, sdk.PublicKey{0xee, byte(i)})
	}
	for range size / 250 {
		m.Instructions = append(m.Instructions, sdk.CompiledInstruction{ProgramIDIndex: 2, Accounts: []uint16{0, 1}, Data: oneLamport()})
	}
	last := sdk.CompiledInstruction{ProgramIDIndex: 2, Accounts: []uint16{0, 1}, Data: oneLamport()}
	m.Instructions = append(m.Instructions, last)
	for {
		raw, err := (&sdk.Transaction{Message: m}).MarshalBinary()
		switch {
		case err != nil:
			panic(err)
		case len(raw) == size:
			return raw
		case len(raw) > size:
			panic("workload: no Solana transaction has the size that is wanted")
		}
		last.Data = append(last.Data, 7)
		m.Instructions[len(m.Instructions)-1] = last
	}
}

// oneLamport is the data of a transfer; what stands behind it is ignored.
func oneLamport() []byte { return []byte{2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0} }

func solanaMessage(size int) (m sdk.Message) {
	version := sdk.MessageVersionV0
	switch {
	case size < 216: // the shortest transfer of v0
		version = sdk.MessageVersionLegacy
	case size > solana.DefaultMaxSize:
		version = sdk.MessageVersionV1
	}
	if _, err := m.SetVersion(version); err != nil {
		panic(err)
	}
	m.TransactionConfig = sdk.TransactionConfig{}.WithComputeUnitLimit(200_000).WithLoadedAccountsDataSizeLimit(65536)
	m.RecentBlockhash = solanaBlockhash
	m.AccountKeys = sdk.PublicKeySlice{solanaPayer, {0xff, 1}, sdk.SystemProgramID}
	m.Header = sdk.MessageHeader{NumRequiredSignatures: 1, NumReadonlyUnsignedAccounts: 1}
	return m
}
