package tron

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestKinds compares every contract type, the kinds of its effects and the actuator of
// java-tron that they are taken from, with testdata/kinds.txt, which go test -update
// writes. It covers all transactions of TronWeb, and those that it cannot build.
func TestKinds(t *testing.T) {
	kinds := map[string][]string{}
	add := func(raw []byte) {
		tx := parse(t, raw)
		name := tx.contract.message.name
		for _, effect := range tx.Effects() {
			checkRecipient(t, tx, effect)
			kind := string(effect.Kind)
			if effect.Undecoded {
				kind += " (not decoded)"
			}
			if !slices.Contains(kinds[name], kind) {
				kinds[name] = append(kinds[name], kind)
			}
		}
	}
	for _, v := range tronWebVectors(t) {
		add(chaintest.Unhex(t, v.RawDataHex))
	}
	for _, raw := range handMade(t) {
		add(raw)
	}
	var table strings.Builder
	for number, known := range contracts {
		if known == nil {
			continue
		}
		name := known.message.name
		fmt.Fprintf(&table, "%2d  %-33s %-60s %s\n", number, name, strings.Join(kinds[name], ", "), actuator(name))
	}
	const path = "testdata/kinds.txt"
	if flag.Lookup("update").Value.String() == "true" {
		testenv.Write(t, path, []byte(table.String()))
	}
	want, err := os.ReadFile(path)
	if err != nil || table.String() != string(want) {
		t.Errorf("%s differs (%v):\n%s", path, err, table.String())
	}
}

// checkRecipient checks that what another party gets of the owner's is of a kind that
// limits count. What is delegated remains the owner's stake: the receiver gets its
// energy or bandwidth, no TRX, so that nothing is spent.
func checkRecipient(t *testing.T, tx *transaction, effect chains.Effect) {
	t.Helper()
	ours := effect.By != chains.ByOther && !effect.Amount.IsNone() && !effect.To.IsNone() && !effect.To.Equal(tx.ownerParty)
	lent := slices.Contains([]string{"DelegateResourceContract", "UnDelegateResourceContract"}, tx.contract.message.name)
	if ours && !effect.Kind.Spends() && effect.Kind != chains.KindRevoke && (!lent || effect.Kind != chains.KindSettings) {
		t.Errorf("%s: %s of %+v to %s", tx.contract.message.name, effect.Kind, effect.Amount, effect.To)
	}
	if effect.Kind == chains.KindStake && !slices.Contains(stakes, tx.contract.message.name) {
		t.Errorf("%s: what others can take is no stake", tx.contract.message.name)
	}
}

// stakes are the types that lock TRX of the owner, which no other account can take meanwhile.
var stakes = []string{"FreezeBalanceV2Contract", "CancelAllUnfreezeV2Contract", "DelegateResourceContract"}

// actuator returns the class of java-tron that executes a contract type.
func actuator(name string) string {
	switch name {
	case "CreateSmartContract", "TriggerSmartContract":
		return "VMActuator"
	case "AccountCreateContract":
		return "CreateAccountActuator"
	case "AccountUpdateContract":
		return "UpdateAccountActuator"
	case "UpdateSettingContract", "UpdateEnergyLimitContract", "ClearABIContract":
		return name + "Actuator"
	}
	return strings.TrimSuffix(name, "Contract") + "Actuator"
}

// TestEffects checks the effects that do not follow from their kind.
func TestEffects(t *testing.T) {
	const burn = "410000000000000000000000000000000000000000"
	owner := lengthField(1, chaintest.Unhex(t, ownerHex))
	wtrx := chaintest.Unhex(t, "41891cdb91d149f23b1a45d9c5ca78a88d0cb44c18")
	token := join(owner, lengthField(2, chaintest.Unhex(t, contractHex)), lengthField(4, chaintest.Unhex(t, "a9059cbb"+word(otherHex)+strings.Repeat("0", 63)+"1")),
		varintField(5, 7), varintField(6, 1_002_000))
	for _, c := range []struct {
		name string
		raw  []byte
		want []string
	}{
		{"token value with a call that takes none", rawOf(31, token), []string{
			"send 1 units of token TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf from TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn to TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ",
			"send 7 units of token 1002000 from TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn to TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf",
			"! call TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf: what it does is unknown, it may do anything",
		}},
		{"token value without a call", rawOf(31, join(owner, lengthField(2, chaintest.Unhex(t, contractHex)), varintField(5, 7), varintField(6, 1_002_000))), []string{
			"send 7 units of token 1002000 from TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn to TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf",
		}},
		{"token value with an unknown call", rawOf(31, join(owner, lengthField(2, chaintest.Unhex(t, contractHex)), varintField(3, 5), lengthField(4, []byte{0x12, 0x34, 0x56, 0x78}), varintField(5, 7), varintField(6, 1_002_000))), []string{
			"send 0.000005 TRX from TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn to TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf",
			"! call TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf (0x12345678): what it does is unknown, it may do anything",
			"send 7 units of token 1002000 from TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn to TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf",
		}},
		{"token value and value", rawOf(31, join(owner, lengthField(2, chaintest.Unhex(t, contractHex)), varintField(3, 5), varintField(5, 7), varintField(6, 1_002_000))), []string{
			"send 0.000005 TRX from TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn to TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf",
			"send 7 units of token 1002000 from TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn to TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf",
		}},
		{"nothing to a contract", rawOf(31, join(owner, lengthField(2, chaintest.Unhex(t, contractHex)))), []string{
			"send 0 TRX from TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn to TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf",
		}},
		{"value to a contract", rawOf(31, join(owner, lengthField(2, chaintest.Unhex(t, contractHex)), varintField(3, 5))), []string{
			"send 0.000005 TRX from TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn to TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf",
		}},
		{"TRX that is wrapped", rawOf(31, join(owner, lengthField(2, wtrx), varintField(3, 5), lengthField(4, chaintest.Unhex(t, "d0e30db0")))), []string{
			"send 0.000005 TRX from TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn to TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR",
			"mint 5 units of token TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR to TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn",
		}},
		{"TRX that is unwrapped", rawOf(31, join(owner, lengthField(2, wtrx), lengthField(4, chaintest.Unhex(t, "2e1a7d4d"+strings.Repeat("0", 63)+"5")))), []string{
			"destroy 5 units of token TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR from TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn",
			"receive 0.000005 TRX at TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn",
		}},
		{"the same functions of another contract", rawOf(31, join(owner, lengthField(2, chaintest.Unhex(t, contractHex)), varintField(3, 5), lengthField(4, chaintest.Unhex(t, "d0e30db0")))), []string{
			"send 0.000005 TRX from TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn to TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf",
			"! call TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf (0xd0e30db0): what it does is unknown, it may do anything",
		}},
		{"a vault's asset", rawOf(31, join(owner, lengthField(2, chaintest.Unhex(t, contractHex)), lengthField(4, chaintest.Unhex(t, "6e553f65"+strings.Repeat("0", 63)+"5"+word(ownerHex))))), []string{
			"send 5 units of an unknown token from TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn to TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf",
		}},
		{"a vault's asset, for another", rawOf(31, join(owner, lengthField(2, chaintest.Unhex(t, contractHex)), lengthField(4, chaintest.Unhex(t, "6e553f65"+strings.Repeat("0", 63)+"5"+word(otherHex))))), []string{
			"! call TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf (deposit(uint256,address)): what it does is unknown, it may do anything",
		}},
		{"tokens to nobody", rawOf(2, join(lengthField(1, []byte("1002000")), lengthField(2, chaintest.Unhex(t, ownerHex)), lengthField(3, chaintest.Unhex(t, burn)), varintField(4, 1))), []string{
			"destroy 1 units of token 1002000 from TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn",
		}},
		{"permissions of the owner alone", ownPermissions(t, ownerHex), []string{
			"give control of TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn to TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn (AccountPermissionUpdateContract: permission \"owner permission\", weight 1, threshold 1)",
			"give control of TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn to TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn (AccountPermissionUpdateContract: permission \"active permission 1\", weight 1, threshold 1)",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, effect := range parse(t, c.raw).Effects() {
				if effect.Kind != chains.KindFee {
					got = append(got, chains.Sentence(effect, nil))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s\nwant %s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestFunctionOfEffects checks that an effect of a call names the contract's function, and
// a change of the account the type of the transaction.
func TestFunctionOfEffects(t *testing.T) {
	for want, raw := range map[string][]byte{
		"transferOwnership(address)":      call(t, "f2fde38b"+word(otherHex)),
		"AccountPermissionUpdateContract": ownPermissions(t, ownerHex),
	} {
		for _, effect := range parse(t, raw).Effects() {
			if effect.Kind != chains.KindFee && effect.Function != want {
				t.Errorf("%+v, want the function %s", effect, want)
			}
		}
	}
}

// TestEffectsSayAll: the effects of a contract type have all that the transaction says of it.
func TestEffectsSayAll(t *testing.T) {
	for _, v := range tronWebVectors(t) {
		tx := parse(t, chaintest.Unhex(t, v.RawDataHex))
		if number := tx.contract.number; number == 0 || number == numberTrigger || number == numberCreate || number == numberPermissions {
			continue
		}
		said := ""
		for _, e := range tx.Effects() {
			said += fmt.Sprint(e.Args, e.Account, e.To, e.Asset.TokenID, e.Amount.Value) + trxToken
		}
		var check func(fields []chains.Field)
		check = func(fields []chains.Field) {
			for _, f := range fields {
				if check(f.Fields); !strings.Contains(said, f.Value) && f.Label != "support" {
					t.Errorf("%s: %s %q is not in %s", v.Type, f.Label, f.Value, said)
				}
			}
		}
		check(summarize(tx.raw, tx.contract.message, tx.values))
	}
}
