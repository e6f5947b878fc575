package evm

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
)

// vaultCalls are the functions of a vault, with the effect of a call for the caller itself.
var vaultCalls = []struct {
	function string
	kind     chains.Kind
	known    bool // the amount
}{
	{"deposit(uint256,address)", chains.KindTransfer, true},
	{"mint(uint256,address)", chains.KindTransfer, false},
	{"withdraw(uint256,address,address)", chains.KindUnstake, false},
	{"redeem(uint256,address,address)", chains.KindUnstake, true},
}

// vaultCall encodes a call with the given accounts in place of receiver and owner.
func vaultCall(t *testing.T, function string, accounts ...Address) []byte {
	args := []any{big.NewInt(500)}
	for i := range strings.Count(function, "address") {
		args = append(args, common.Address(accounts[min(i, len(accounts)-1)]))
	}
	return pack(t, function, args...)
}

// TestVaultsForTheCaller checks the functions of a vault for the account that calls, which
// is the signer, a Safe, or a Safe in whose batch the call is.
func TestVaultsForTheCaller(t *testing.T) {
	owner, vault := Address{0xaa}, Address{0x46, 0x26}
	pass := mainnet.Pass()
	pass.signer = &owner
	for _, v := range vaultCalls {
		data := vaultCall(t, v.function, owner)
		packed := batch(t, inBatch{to: vault, data: data})
		for name, effects := range map[string][]chains.Effect{
			"the signer":       pass.Read(Transaction{To: vault, Data: data}).Effects(),
			"a Safe":           mainnet.Pass().ReadFrom(owner, Transaction{To: vault, Data: data}, false).Effects(),
			"the batch of one": mainnet.Pass().ReadFrom(owner, Transaction{To: callOnlyAt, Data: packed}, true).Effects(),
		} {
			if len(effects) != 1 || effects[0].Undecoded || effects[0].Kind != v.kind || effects[0].Amount.IsUnknown() == v.known {
				t.Fatalf("%s by %s: %+v", v.function, name, effects)
			}
			if e := effects[0]; v.function[0] == 'd' && (!e.Asset.IsUnknown() || !e.To.Is(vault[:]) || e.Amount.Value.Int64() != 500) ||
				v.function[0] == 'r' && (!e.Asset.Token.Is(vault[:]) || e.Amount.Value.Int64() != 500) {
				t.Errorf("%s by %s: %+v", v.function, name, e)
			}
		}
	}
}

// TestVaultsForOthers checks that a vault's call is not decoded if another account than the
// caller is involved, if the caller acts for everyone, or with value.
func TestVaultsForOthers(t *testing.T) {
	owner, vault, other := Address{0xaa}, Address{0x46, 0x26}, Address{0x66}
	pass := mainnet.Pass()
	pass.signer = &owner
	for _, v := range vaultCalls {
		blind := map[string][]chains.Effect{
			"to a stranger":  pass.Read(Transaction{To: vault, Data: vaultCall(t, v.function, other, owner)}).Effects(),
			"all a stranger": pass.Read(Transaction{To: vault, Data: vaultCall(t, v.function, other)}).Effects(),
			"of a Safe's, to a stranger": mainnet.Pass().ReadFrom(owner, Transaction{To: vault,
				Data: vaultCall(t, v.function, other, owner)}, false).Effects(),
			"with value":           pass.Read(Transaction{To: vault, Value: big.NewInt(1), Data: vaultCall(t, v.function, owner)}).Effects(),
			"by Multicall3":        pass.Read(Transaction{To: multicallAt, Data: aggregate(t, inBatch{to: vault, data: vaultCall(t, v.function, multicallAt)})}).Effects(),
			"by an unknown signer": mainnet.Pass().Read(Transaction{To: vault, Data: vaultCall(t, v.function, owner)}).Effects(),
			"by delegatecall":      mainnet.Pass().ReadFrom(owner, Transaction{To: vault, Data: vaultCall(t, v.function, owner)}, true).Effects(),
		}
		if strings.Count(v.function, "address") == 2 {
			blind["of a stranger"] = pass.Read(Transaction{To: vault, Data: vaultCall(t, v.function, owner, other)}).Effects()
		}
		for name, effects := range blind {
			decoded := true
			for i := range effects {
				decoded = decoded && !effects[i].Undecoded
			}
			if decoded {
				t.Errorf("%s %s: %+v", v.function, name, effects)
			}
		}
	}
}
