package solana

import "github.com/countersign-dev/countersign/chains"

// maxProgram is the largest size of an account, in bytes.
const maxProgram = 10 << 20

// The most that accounts whose rent is paid hold, in bytes.
const (
	tokenAccountData = 165
	mostAccountData  = 512 // of Token-2022, with the extensions that a mint can ask for
	mintData         = 512
	tableData        = 56 + 256*keySize
)

// rent returns the most that an account of a size must hold, in lamports: two years at
// 3,480 lamports per byte and year, with 128 bytes of overhead.
func rent(size uint64) uint64 { return (size + 128) * 6_960 }

// pays is the most that creating or enlarging an account costs a payer.
func pays(payer, account string, size uint64) template {
	return template{kind: chains.KindCreate, from: payer, to: account, asset: native, amount: wholeBalance, by: payer,
		with: func(_ *reader, e *effect) { e.Amount = chains.AtMostUint(rent(size)) }}
}
