package evm

import (
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// delegationDraws generates transactions of type 4. They call decoded contracts only, since
// calls of delegated accounts are not decoded.
var delegationDraws = []draw{
	{"EIP-7702 by the signer", func(w *world, r *random) execution {
		return w.value(r).delegating(w.delegation(r, w.signer, 1))
	}},
	{"EIP-7702 by another account", func(w *world, r *random) execution {
		return w.value(r).delegating(w.delegation(r, w.other, 0))
	}},
	{"EIP-7702 by both, with a transfer", func(w *world, r *random) execution {
		transfer := to(w.erc20, "transfer(address,uint256)", r.party(), r.amount(1e9))
		return transfer.delegating(w.delegation(r, w.signer, 1), w.delegation(r, w.other, 0))
	}},
	{"EIP-7702 twice by one account: the last stays", func(w *world, r *random) execution {
		return w.value(r).delegating(w.delegation(r, w.other, 0), w.delegation(r, w.other, 1))
	}},
	{"EIP-7702 with a tuple for another chain", func(w *world, r *random) execution {
		elsewhere := w.delegation(r, w.signer, 1)
		elsewhere.ChainID = *uint256.NewInt(10)
		return w.value(r).delegating(w.signed(w.signer, elsewhere), w.delegation(r, w.other, 0))
	}},
	{"EIP-7702 with a tuple that no key signed", func(w *world, r *random) execution {
		unsigned := w.delegation(r, w.signer, 1)
		unsigned.S = *uint256.MustFromBig(crypto.S256().Params().N)
		return w.value(r).delegating(unsigned, w.delegation(r, w.other, 0))
	}},
}

// value returns a transfer of value to an account without code.
func (w *world) value(r *random) execution {
	return execution{to: common.Address{0x44, byte(1 + r.IntN(3))}, value: r.amount(1e9)}
}

func (e execution) delegating(list ...types.SetCodeAuthorization) execution {
	e.authorizations = list
	return e
}

// delegation returns an authorization that delegates an account or ends its delegation.
// ahead is how many nonces of the account the transaction uses up before.
func (w *world) delegation(r *random, account common.Address, ahead uint64) types.SetCodeAuthorization {
	a := types.SetCodeAuthorization{Nonce: w.state.GetNonce(account) + ahead}
	if r.coin() {
		a.ChainID = *uint256.NewInt(1)
	}
	if r.IntN(4) > 0 {
		a.Address = []common.Address{w.implementations[0], w.ethReceiver, {0x55, byte(r.IntN(3))}}[r.IntN(3)]
	}
	return w.signed(account, a)
}

func (w *world) signed(account common.Address, a types.SetCodeAuthorization) types.SetCodeAuthorization {
	key, err := crypto.ToECDSA(w.secrets[account])
	if err != nil {
		panic(err)
	}
	if a, err = types.SignSetCode(key, a); err != nil {
		panic(err)
	}
	return a
}

// apply runs a transaction of type 4 through go-ethereum's state transition, which
// applies the authorizations before the call. Gas is free.
func (w *world) apply(e execution) error {
	zero, config := new(uint256.Int), w.config(w.signer, e.value)
	config.GasPrice, config.BaseFee, config.BlobBaseFee = new(big.Int), new(big.Int), new(big.Int)
	config.BlockNumber, config.Difficulty = new(big.Int), new(big.Int)
	config.EVMConfig.NoBaseFee = true
	result, err := core.ApplyMessage(runtime.NewEnv(config), &core.Message{
		From: w.signer, To: &e.to, Nonce: w.state.GetNonce(w.signer), Value: uint256.MustFromBig(e.value), Data: e.data,
		GasLimit: 16_000_000, GasPrice: zero, GasFeeCap: zero, GasTipCap: zero, SetCodeAuthorizations: e.authorizations,
	}, nil)
	if err != nil {
		return err
	}
	return result.Err
}

// delegated checks that the code of an account changes only as an effect says, and that
// the last effect on each account came true.
func (c *comparison) delegated() {
	last := map[common.Address]common.Address{}
	for _, e := range c.effects {
		if slices.Contains([]chains.Kind{chains.KindAuthority, chains.KindRevoke}, e.Kind) && isDelegation(e) {
			last[common.BytesToAddress(e.Account.Address())] = common.BytesToAddress(e.To.Address())
		}
	}
	for _, account := range []common.Address{c.signer, c.other, c.third, c.fourth} {
		was, is := c.before.GetCode(account), c.after.GetCode(account)
		delegate, changed := last[account]
		want := was
		switch {
		case changed && delegate == common.Address{}:
			want = nil
		case changed:
			want = types.AddressToDelegation(delegate)
		}
		if string(is) != string(want) {
			c.problem("the code of %v is %x, want %x as the effects say", account, is, want)
		}
	}
}

// isDelegation reports whether an effect comes from an authorization, where the
// account itself grants the authority.
func isDelegation(e chains.Effect) bool {
	return e.By == chains.ByOther && !e.Account.IsNone() && e.Account.Is(e.From.Address())
}

// TestDelegationIsApplied checks that the state transition applies the generated
// authorizations: otherwise the comparison would be empty.
func TestDelegationIsApplied(t *testing.T) {
	w := newWorld(t)
	for number, account := range []common.Address{w.other, w.signer} {
		a := types.SetCodeAuthorization{Address: w.ethReceiver, Nonce: w.state.GetNonce(account) + uint64(number)}
		testenv.Must(t, w.apply((execution{to: w.third, value: big.NewInt(1)}).delegating(w.signed(account, a))))
		if got, want := w.state.GetCode(account), types.AddressToDelegation(w.ethReceiver); string(got) != string(want) {
			t.Errorf("the code of %v is %x, want %x", account, got, want)
		}
	}
}
