package workload

import (
	"fmt"
	"sync"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/keystore"
)

var (
	solanaPayer     = sdk.PublicKey{0xaa, 1, 2, 3}
	solanaBlockhash = sdk.Hash{0xbb, 1, 2, 3}
)

// solanaKind returns the kind of transactions of a size in bytes, with one signer: v0 where
// that fits, else legacy (shorter) or v1 (longer).
func solanaKind(size int) Kind {
	unsigned := sync.OnceValue(func() []byte { return solanaTemplate(size) })
	return Kind{Chain: "solana", Type: solanaType(size), Scheme: Ed25519, Transaction: func(number int, signer keystore.PublicKey) []byte {
		payer := signer.Ed25519()
		return put(put(unsigned(), solanaPayer[:], payer[:]), solanaBlockhash[:], drawing(number).bytes(32))
	}}
}

// solanaTemplate reaches its size with keys first, up to 64 of them, then with
// instructions and their data.
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
			panic(fmt.Sprintf("workload: no Solana transaction of %d bytes can be built", size))
		}
		last.Data = append(last.Data, 7)
		m.Instructions[len(m.Instructions)-1] = last
	}
}

// oneLamport is the instruction data of a transfer of one lamport. The System program
// ignores bytes after it.
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
