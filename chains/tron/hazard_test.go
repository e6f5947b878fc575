package tron

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

func TestHazards(t *testing.T) {
	const at = 1_900_000_000_000
	day := (24 * time.Hour).Milliseconds()
	trigger := newFrame(wrapped(31, "TriggerSmartContract", join(lengthField(1, chaintest.Unhex(t, ownerHex)), lengthField(2, chaintest.Unhex(t, contractHex)))))
	capped, over, negative := trigger, trigger, newFrame(wrapped(1, "TransferContract", transfer(t)))
	capped.feeLimit, over.feeLimit = varintField(18, 15_000_000_000), varintField(18, 15_000_000_001)
	negative.feeLimit = varintField(18, math.MaxInt64)
	expires := func(expiration int64) []byte {
		return with(t, func(f *frame) { f.expiration = varintField(8, expiration) })
	}
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"none", rawOf(1, transfer(t)), ""},
		{"a day", expires(at + day), ""},
		{"over a day", expires(at + day + 1), "tron/long-expiration: expires 24h0m0.001s after its timestamp, the cap is 24h0m0s"},
		{"forever", expires(math.MaxInt64), "tron/long-expiration: expires 2562047h47m16.854775807s after its timestamp, the cap is 24h0m0s"},
		{"no timestamp", with(t, func(f *frame) { f.timestamp = nil }), "tron/long-expiration: there is no timestamp to measure the expiration from"},
		{"expires when made", expires(at), "tron/expired-before-timestamp: expiration 1900000000000 is not after timestamp 1900000000000"},
		{"expired before", expires(1), "tron/expired-before-timestamp: expiration 1 is not after timestamp 1900000000000"},
		{"call without fee limit", trigger.bytes(), "tron/fee-limit: fee_limit is missing, which is 0: the contract can run only on energy that is staked for"},
		{"creation without fee limit", rawOf(30, join(lengthField(1, chaintest.Unhex(t, ownerHex)), lengthField(2, join(lengthField(1, chaintest.Unhex(t, ownerHex)), varintField(8, 1))))), "tron/fee-limit: fee_limit is missing, which is 0: the contract can run only on energy that is staked for"},
		{"fee limit at the cap", capped.bytes(), ""},
		{"fee limit over the cap", over.bytes(), "tron/fee-limit: fee_limit is 15000.000001 TRX, the cap is 15000 TRX"},
		{"fee limit of a transfer", negative.bytes(), "tron/fee-limit: fee_limit is 9223372036854.775807 TRX, the cap is 15000 TRX"},
		{"permissions to others", permissionUpdate(t), "tron/authority-change: TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ gets control of TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn; tron/authority-change: TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf gets control of TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn; tron/authority-change: TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ gets control of TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn; tron/authority-change: TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf gets control of TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn"},
		{"permissions to the owner alone", ownPermissions(t, ownerHex), ""},
		{"an operator", call(t, "a22cb465"+word(otherHex)+strings.Repeat("0", 63)+"1"), "tron/unlimited-approval: TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ may take all of the token TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf that TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn has, now and later"},
		{"an allowance of 2^96", call(t, "095ea7b3"+word(otherHex)+strings.Repeat("0", 39)+"1"+strings.Repeat("0", 24)), "tron/unlimited-approval: TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ may take all of the token TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf that TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn has, now and later"},
		{"an allowance below it", call(t, "095ea7b3"+word(otherHex)+strings.Repeat("0", 40)+strings.Repeat("f", 24)), ""},
		{"an unknown function", call(t, "12345678"), "tron/blind-call: TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn calls TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf (function 0x12345678): what that does is not known, and it may do anything that the caller may"},
		{"a transfer to nobody", rawOf(1, join(lengthField(1, chaintest.Unhex(t, ownerHex)), lengthField(2, chaintest.Unhex(t, "41"+strings.Repeat("00", 20))), varintField(3, 1))), "tron/burn: what goes to T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb is lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tx := parse(t, c.raw)
			for _, found := range [][]chains.Hazard{tx.Hazards(), ready(t, tx, keyOf(t, ownerSecret), "id").Hazards()} {
				if got := hazardText(found); got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
			}
			foreign := ready(t, tx, keyOf(t, oneSecret), "id").Hazards()
			if !slices.Contains(chaintest.Names(foreign), HazardForeignOwner) {
				t.Errorf("another key: %v", foreign)
			}
		})
	}
}

// call returns a TriggerSmartContract with a fee limit.
func call(t testing.TB, data string) []byte {
	f := newFrame(wrapped(31, "TriggerSmartContract", join(lengthField(1, chaintest.Unhex(t, ownerHex)), lengthField(2, chaintest.Unhex(t, contractHex)),
		lengthField(4, chaintest.Unhex(t, data)))))
	f.feeLimit = varintField(18, 100_000_000)
	return f.bytes()
}

// word returns an address as an argument.
func word(address string) string { return strings.Repeat("0", 24) + address[2:] }

// ownPermissions gives one key all permissions of the owner's account.
func ownPermissions(t testing.TB, holder string) []byte {
	key := lengthField(7, join(lengthField(1, chaintest.Unhex(t, holder)), varintField(2, 1)))
	active := lengthField(4, join(varintField(1, 2), varintField(4, 1), lengthField(6, make([]byte, 32)), key))
	return rawOf(46, join(lengthField(1, chaintest.Unhex(t, ownerHex)), lengthField(2, join(varintField(4, 1), key)), active))
}

func hazardText(found []chains.Hazard) string {
	lines := []string{}
	for _, hazard := range found {
		lines = append(lines, hazard.Name+": "+hazard.Detail)
	}
	return strings.Join(lines, "; ")
}

func permissionUpdate(t *testing.T) []byte {
	t.Helper()
	for _, v := range tronWebVectors(t) {
		if v.Type == "AccountPermissionUpdateContract" {
			return chaintest.Unhex(t, v.RawDataHex)
		}
	}
	t.Fatal("there is no vector")
	return nil
}

func TestForeignOwner(t *testing.T) {
	tx := parse(t, rawOf(1, transfer(t)))
	want := "tron/foreign-owner: the owner is TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn, the key is at TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC"
	if got := hazardText(ready(t, tx, keyOf(t, oneSecret), "id").Hazards()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEveryHazardIsListed compares the chain's list with the constants.
func TestEveryHazardIsListed(t *testing.T) {
	want := []string{
		"tron/blind-call", "tron/authority-change", "tron/unlimited-approval", "tron/burn", "tron/refund",
		"tron/foreign-owner", "tron/long-expiration", "tron/fee-limit", "tron/expired-before-timestamp",
	}
	if got := (Chain{}).HazardNames(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, name := range want {
		if !strings.HasPrefix(name, (Chain{}).Name()+"/") {
			t.Errorf("%s is not named after the chain", name)
		}
	}
}

// TestLimits has what is over a limit, and the fee of a contract that runs no code at its limit.
func TestLimits(t *testing.T) {
	f := newFrame(wrapped(1, "TransferContract", transfer(t)))
	f.feeLimit = varintField(18, 2)
	limited, plain := f.bytes(), rawOf(1, transfer(t))
	fee := parse(t, plain).maximumFee()
	const late = "long-expiration: expires 1m0s after its timestamp, the cap is 1s"
	over := "fee-limit: the fee is up to " + trx(fee) + " TRX, the cap is " + trx(fee-1) + " TRX"
	for name, c := range map[string]struct {
		limits Limits
		raw    []byte
		want   string // of the hazard, behind tron/
	}{
		"fee limit": {Limits{FeeLimit: 1}, limited, "fee-limit: fee_limit is 0.000002 TRX, the cap is 0.000001 TRX"},
		"lifetime":  {Limits{Lifetime: time.Second}, limited, late},
		"fee at it": {Limits{FeeLimit: int64(fee)}, plain, ""},
		"fee over":  {Limits{FeeLimit: int64(fee) - 1}, plain, over},
	} {
		tx, err := New(c.limits).Parse(c.raw)
		testenv.Must(t, err)
		if got := strings.TrimPrefix(hazardText(tx.Hazards()), "tron/"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if _, err := New(Limits{MaxSize: len(limited)}).Parse(limited); err == nil {
		t.Error("accepted what is over the size once signed")
	}
}

// TestFeeBesidesLimit: a fee limit at the cap does not hide what the bytes of a long call
// cost.
func TestFeeBesidesLimit(t *testing.T) {
	for bytes, want := range map[int]string{10: "", 120_000: "tron/fee-limit: the fee is up to 120.288 TRX besides fee_limit, the cap is 100 TRX"} {
		tx, err := New(Limits{FeeLimit: 100_000_000}).Parse(call(t, "a9059cbb"+strings.Repeat("00", bytes)))
		testenv.Must(t, err)
		got := hazardText(tx.Hazards())
		if _, fee, found := strings.Cut(got, "tron/fee-limit"); found {
			got = "tron/fee-limit" + fee
		} else {
			got = ""
		}
		if got != want {
			t.Errorf("%d bytes: %q, want %q", bytes, got, want)
		}
	}
}
