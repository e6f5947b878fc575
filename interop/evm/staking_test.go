package evm

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
)

var depositContract = params.MainnetChainConfig.DepositContractAddress

// deployStaking installs the contracts that the beacon chain reads: the deposit contract,
// whose code is in the genesis block of Hoodi, and the queues of EIP-7002 and EIP-7251.
func (w *world) deployStaking(t *testing.T) {
	deposit := core.DefaultHoodiGenesisBlock().Alloc[params.HoodiChainConfig.DepositContractAddress]
	if len(deposit.Code) == 0 {
		t.Fatal("the genesis block of Hoodi has no deposit contract")
	}
	w.state.SetCode(depositContract, deposit.Code, tracing.CodeChangeUnspecified)
	for slot, value := range deposit.Storage {
		w.state.SetState(depositContract, slot, value)
	}
	w.state.SetCode(params.WithdrawalQueueAddress, params.WithdrawalQueueCode, tracing.CodeChangeUnspecified)
	w.state.SetCode(params.ConsolidationQueueAddress, params.ConsolidationQueueCode, tracing.CodeChangeUnspecified)
	w.state.AddBalance(w.signer, uint256.MustFromDecimal("1000000000000000000000000"), tracing.BalanceChangeUnspecified)
}

func (r *random) validator() []byte {
	key, more := r.hash(), r.hash()
	return append(key[:], more[:16]...)
}

// deposit returns a deposit for a random validator with the withdrawal credentials.
func deposit(r *random, credentials common.Hash) execution {
	gwei := 1_000_000_000 + uint64(r.Int64N(2048e9))
	key, signature := r.validator(), append(r.validator(), r.validator()...)
	amount := binary.LittleEndian.AppendUint64(nil, gwei)
	hash := func(parts ...[]byte) []byte {
		sum := sha256.Sum256(bytes.Join(parts, nil))
		return sum[:]
	}
	blank := make([]byte, 32)
	signed := hash(hash(signature[:64]), hash(signature[64:], blank))
	root := hash(hash(hash(key, blank[:16]), credentials[:]), hash(amount, blank[:24], signed))
	return execution{to: depositContract, value: new(big.Int).Mul(new(big.Int).SetUint64(gwei), big.NewInt(1e9)),
		data: structureCall("deposit(bytes,bytes,bytes,bytes32)", key, credentials[:], signature, common.Hash(root))}
}

// queued returns a request to a system contract, with its fee as value.
func queued(r *random, at common.Address, data []byte) execution {
	return execution{to: at, value: big.NewInt(1 + r.Int64N(1000)), data: data}
}

var stakingDraws = []draw{
	{"deposit contract, to an address", func(w *world, r *random) execution {
		party := r.party()
		return deposit(r, common.Hash(append([]byte{byte(1 + r.IntN(2)), 11: 0}, party[:]...)))
	}},
	{"deposit contract, to a BLS key", func(_ *world, r *random) execution {
		credentials := r.hash()
		credentials[0] = 0
		return deposit(r, credentials)
	}},
	{"withdrawal request (EIP-7002), of an amount", func(_ *world, r *random) execution {
		return queued(r, params.WithdrawalQueueAddress, binary.BigEndian.AppendUint64(r.validator(), 1+uint64(r.Int64N(1e12))))
	}},
	{"withdrawal request (EIP-7002), of all", func(_ *world, r *random) execution {
		return queued(r, params.WithdrawalQueueAddress, append(r.validator(), make([]byte, 8)...))
	}},
	{"consolidation request (EIP-7251)", func(_ *world, r *random) execution {
		return queued(r, params.ConsolidationQueueAddress, append(r.validator(), r.validator()...))
	}},
	{"consolidation request (EIP-7251), of a validator with itself", func(_ *world, r *random) execution {
		key := r.validator()
		return queued(r, params.ConsolidationQueueAddress, append(key, key...))
	}},
}

// isValidator reports whether an effect is on a validator of the beacon chain.
func isValidator(e chains.Effect) bool { return len(e.Account.Address()) == 48 }

// staking reports whether the beacon chain reads a contract.
func staking(at common.Address) bool {
	return at == depositContract || at == params.WithdrawalQueueAddress || at == params.ConsolidationQueueAddress
}

// onValidator reports whether some effect is on a validator. requested compares it.
func (c *comparison) onValidator() bool { return slices.ContainsFunc(c.effects, isValidator) }

// requested checks that an effect on a validator matches what the beacon chain reads of the
// transaction.
func (c *comparison) requested(e *chains.Effect) {
	switch key := e.Account.Address(); c.to {
	case depositContract:
		c.deposited(e, key)
	case params.WithdrawalQueueAddress:
		entry := c.entry(c.to, 3)
		amount := new(big.Int).SetUint64(binary.BigEndian.Uint64(entry[80:88]))
		said := new(big.Int)
		if e.Amount.Value != nil {
			said.Div(e.Amount.Value, big.NewInt(1e9))
		}
		if !bytes.Equal(entry[12:32], e.From.Address()) || !bytes.Equal(entry[32:80], key) || amount.Cmp(said) != 0 {
			c.problem("the queue has %x, want %v of %x as the effect says", entry, e.Amount.Value, key)
		}
	case params.ConsolidationQueueAddress:
		entry := c.entry(c.to, 4)
		if !bytes.Equal(entry[12:32], e.From.Address()) || !bytes.Equal(entry[80:128], key) {
			c.problem("the queue has %x, want %x as the effect says", entry, key)
		}
	default:
		c.problem("an effect is on the validator %x, but there is no request", key)
	}
}

// entry returns the last entry of a queue, whose entries are size words each, from slot 4
// on. Slot 3 has the index of the end. The second key of a request is at the end of its
// words.
func (c *comparison) entry(queue common.Address, size int64) (entry []byte) {
	last := c.before.GetState(queue, common.Hash{31: 3}).Big().Int64()
	for i := range size {
		word := c.after.GetState(queue, common.BigToHash(big.NewInt(4+last*size+i)))
		entry = append(entry, word[:]...)
	}
	return entry
}

// deposited checks that an effect matches the event of the deposit contract, which the
// beacon chain reads.
func (c *comparison) deposited(e *chains.Effect, key []byte) {
	logs := c.after.Logs()[len(c.before.Logs()):]
	if len(logs) != 1 || logs[0].Address != depositContract {
		c.problem("%d events, want one of the deposit contract", len(logs))
		return
	}
	// Five byte strings, each after its length: key (48 bytes), credentials (32), amount (8),
	// signature, index.
	data := logs[0].Data
	event := struct{ key, credentials, amount []byte }{data[192:240], data[288:320], data[352:360]}
	gwei := new(big.Int).SetUint64(binary.LittleEndian.Uint64(event.amount))
	if !bytes.Equal(event.key, key) || gwei.Mul(gwei, big.NewInt(1e9)).Cmp(e.Amount.Value) != 0 {
		c.problem("the event has %x and %v, want %x and %v as the effect says", event.key, gwei, key, e.Amount.Value)
	}
	if withdraws := event.credentials[0] == 1 || event.credentials[0] == 2; withdraws != e.To.Is(event.credentials[12:]) || !withdraws && !e.To.IsUnknown() {
		c.problem("the credentials are %x, want %x as the effect says", event.credentials, e.To.Address())
	}
}
