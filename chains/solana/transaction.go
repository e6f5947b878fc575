package solana

import (
	"crypto/sha256"
	"fmt"
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

// Transaction is a view over the raw bytes of one transaction. It implements
// chains.Transaction. It is used by one goroutine at a time.
type Transaction struct {
	accountTable

	maxFee *big.Int // lamports; shared, must not be changed
}

var _ chains.Transaction = (*Transaction)(nil)

var defaultMaxFee = big.NewInt(DefaultMaxFee)

// Parse reads the wire form of a transaction. The transaction is a *Transaction and keeps raw,
// which the caller must not change afterwards. The error is a *chains.ParseError.
func (c Chain) Parse(raw []byte) (chains.Transaction, error) {
	t := &Transaction{maxFee: defaultMaxFee}
	if c.limits.MaxFee != 0 {
		t.maxFee = new(big.Int).SetUint64(c.limits.MaxFee)
	}
	t.raw, t.instructions, t.lookups = raw, t.inlineInstructions[:0], t.inlineLookups[:0]
	p := parser{cursor: cursor{raw: raw}, message: &t.message}
	if err := p.read(c.limits); err != nil {
		return nil, err
	}
	return t, nil
}

// UsesUp implements chains.Exclusive: one transaction advances a durable nonce, and the network
// executes a message once.
func (t *Transaction) UsesUp(string) []string {
	if accounts, durable := t.nonceAccounts(); durable {
		if account := int(accounts[0]); account < t.keys {
			return []string{"the durable nonce in " + encode58(t.key(account))}
		}
	}
	digest := sha256.Sum256(t.Message())
	return []string{fmt.Sprintf("message %x", digest)}
}

var _ chains.Caller = (*Transaction)(nil)

// Calls implements chains.Caller: one call for each instruction. Accounts from lookup
// tables that are not known are unknown.
func (t *Transaction) Calls() []chains.Call {
	calls := make([]chains.Call, 0, len(t.instructions))
	for i, in := range t.instructions {
		call := chains.Call{
			Path: instructionPaths[i], Chain: Name, From: party(t.key(0)), To: party(t.key(t.program(in))),
			Data: t.data(in),
		}
		if programs[[keySize]byte(call.To.Address())] == memoProgram {
			call.Text = string(call.Data)
		}
		for _, given := range t.accountsOf(in, nil) {
			call.Accounts = append(call.Accounts, given.party())
		}
		calls = append(calls, call)
	}
	return calls
}
