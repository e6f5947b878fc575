package evm

import (
	"bytes"
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
)

// operation06 is a user operation of EntryPoint 0.6, with the fields as go-ethereum
// encodes them.
type operation06 struct {
	M0         common.Address // sender
	M1         *big.Int       // nonce
	M2, M3     []byte         // init code, call data
	M4, M5, M6 *big.Int       // gas limits: call, verification, pre-verification
	M7, M8     *big.Int       // max fee, max priority fee
	M9, M10    []byte         // paymaster and data, signature
}

// operation07 is a user operation of EntryPoint 0.7 and later.
type operation07 struct {
	M0     common.Address // sender
	M1     *big.Int       // nonce
	M2, M3 []byte         // init code, call data
	M4     [32]byte       // gas limits: verification ‖ call
	M5     *big.Int       // pre-verification gas
	M6     [32]byte       // max priority fee ‖ max fee
	M7, M8 []byte         // paymaster and data, signature
}

var (
	opSender      = common.Address{0x51}
	opBeneficiary = common.Address{0xbe}
	opFactory     = common.Address{0xfa, 19: 0xff}
	opPaymaster   = common.Address{0x9a, 19: 0xff}
	opDelegated   = common.HexToAddress("0x7702000000000000000000000000000000000000")
)

// pair packs two numbers into a word.
func pair(high, low int64) (packed [32]byte) {
	big.NewInt(high).FillBytes(packed[:16])
	big.NewInt(low).FillBytes(packed[16:])
	return packed
}

// packed06 returns an operation that pays (40 + 500·verifications + 6000) gas at 7.
func packed06(init, paymaster []byte) operation06 {
	return operation06{opSender, big.NewInt(1), init, nil, big.NewInt(40), big.NewInt(500), big.NewInt(6000), big.NewInt(7), big.NewInt(3), paymaster, []byte{9}}
}

// packed07 returns an operation that pays 500 + 40 + 6000 gas at 7.
func packed07(init, paymaster []byte) operation07 {
	return operation07{opSender, big.NewInt(1), init, nil, pair(500, 40), big.NewInt(6000), pair(3, 7), paymaster, []byte{9}}
}

// paymasterGas returns the paymaster with its gas limits, 80000 and 900000, and data.
func paymasterGas(data ...byte) []byte {
	limits := pair(80000, 900000)
	return slices.Concat(opPaymaster[:], limits[:], data)
}

// handled returns the effects of handleOps of some EntryPoint, one a line.
func handled[O any](t *testing.T, w contractSet, operations ...O) string {
	t.Helper()
	var data []byte
	for _, row := range standards {
		if row.at == w && strings.HasPrefix(row.function, "handleOps(") {
			data = pack(t, row.function, operations, opBeneficiary)
		}
	}
	point := home(&function{at: w})
	return effectLines(mainnet.Pass().Read(Transaction{To: point, Data: data}).Effects(), map[string]common.Address{"point": common.Address(point),
		"sender": opSender, "beneficiary": opBeneficiary, "factory": opFactory, "paymaster": opPaymaster, "other": {0x52}})
}

// effectLines formats effects, one a line, with names for addresses.
func effectLines(effects []chains.Effect, addresses map[string]common.Address) string {
	names := map[string]string{"": "-", "signer": "signer"}
	for name, at := range addresses {
		names[mainnet.Party(Address(at)).String()] = name
	}
	var lines []string
	for _, e := range effects {
		line := fmt.Sprintf("%s %s>%s", e.Kind, names[e.From.String()], cmp.Or(names[e.To.String()], e.To.String()))
		if e.Undecoded {
			line += " " + e.Function
		}
		if !e.Account.IsNone() {
			line += " over " + cmp.Or(names[e.Account.String()], e.Account.String())
		}
		if e.Amount.Bound != "" {
			line += " " + string(e.Amount.Bound)
		}
		if e.Amount.Value != nil {
			line += " " + e.Amount.Value.String()
		}
		if !e.Asset.IsNone() && !e.Asset.IsNative() {
			line += " of " + names[e.Asset.Token.String()]
		}
		if e.By != chains.BySigner {
			line += strings.TrimSuffix(" by "+string(e.By)+" "+names[e.OtherSigner.String()], " -")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// TestHandleOps checks each operand of an operation: who deploys, who is called, who
// pays, and the most that is paid. All numbers differ, so that each one shows in the sum.
func TestHandleOps(t *testing.T) {
	paid := func(payer string, fee int) string {
		if payer == "paymaster" {
			payer += ">- over sender"
		} else {
			payer += ">-"
		}
		return fmt.Sprintf("fee %s most %d by other sender\ntransfer point>beneficiary most %[2]d by standing", payer, fee)
	}
	const deploys = "create factory>sender by other sender\n"
	const gas06, gas07 = 40 + 500 + 6000, 40 + 500 + 6000
	for name, c := range map[string]struct {
		init, paymaster []byte
		effects         string // the same for all versions
		of06, of07      string // of the payment
	}{
		"alone":                         {nil, nil, "", paid("sender", 7*gas06), paid("sender", 7*gas07)},
		"init code of 19 bytes":         {opFactory[:19], nil, "", paid("sender", 7*gas06), paid("sender", 7*gas07)},
		"a factory":                     {opFactory[:], nil, deploys, paid("sender", 7*gas06), paid("sender", 7*gas07)},
		"a factory with data":           {append(opFactory[:20:20], 1), nil, deploys, paid("sender", 7*gas06), paid("sender", 7*gas07)},
		"delegated":                     {opDelegated[:], nil, "", paid("sender", 7*gas06), paid("sender", 7*gas07)},
		"delegated, cut off":            {opDelegated[:2], nil, "", paid("sender", 7*gas06), paid("sender", 7*gas07)},
		"delegated, called":             {append(opDelegated[:20:20], 1), nil, "call point>sender init code by other sender\n", paid("sender", 7*gas06), paid("sender", 7*gas07)},
		"a paymaster of 19 bytes":       {nil, opPaymaster[:19], "", paid("sender", 7*(40+3*500+6000)), paid("sender", 7*gas07)},
		"a paymaster":                   {nil, opPaymaster[:], "", paid("paymaster", 7*(40+3*500+6000)), paid("paymaster", 7*gas07)},
		"paymaster's gas cut off":       {nil, paymasterGas()[:51], "", paid("paymaster", 7*(40+3*500+6000)), paid("paymaster", 7*gas07)},
		"paymaster with gas":            {nil, paymasterGas(), "", paid("paymaster", 7*(40+3*500+6000)), paid("paymaster", 7*(gas07+80000+900000))},
		"paymaster with gas and data":   {nil, paymasterGas(1, 2, 3), "", paid("paymaster", 7*(40+3*500+6000)), paid("paymaster", 7*(gas07+80000+900000))},
		"the zero address as paymaster": {nil, make([]byte, 52), "", paid("sender", 7*gas06), paid("sender", 7*gas07)},
		"the sender as paymaster":       {nil, append(opSender[:20:20], make([]byte, 32)...), "", paid("sender", 7*(40+3*500+6000)), paid("sender", 7*gas07)},
		"factory and paymaster":         {opFactory[:], paymasterGas(), deploys, paid("paymaster", 7*(40+3*500+6000)), paid("paymaster", 7*(gas07+80000+900000))},
	} {
		if got, want := handled(t, atEntryPoint06, packed06(c.init, c.paymaster)), c.effects+c.of06; got != want {
			t.Errorf("%s, EntryPoint 0.6:\n%s\nwant\n%s", name, got, want)
		}
		if got, want := handled(t, atEntryPoint07, packed07(c.init, c.paymaster)), c.effects+c.of07; got != want {
			t.Errorf("%s, EntryPoint 0.7:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestHandleSeveralOps checks that each operation is authorized and paid for by its own
// sender, and that the beneficiary gets the sum.
func TestHandleSeveralOps(t *testing.T) {
	first, second := packed07(nil, nil), packed07(nil, nil)
	second.M0, second.M6 = common.Address{0x52}, pair(3, 100)
	const want = `fee sender>- most 45780 by other sender
fee other>- most 654000 by other other
transfer point>beneficiary most 699780 by standing`
	if got := handled(t, atEntryPoint07, first, second); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	many := slices.Repeat([]operation07{first}, chains.MaxEffects+2)
	// One too many, by which Cut notices.
	if got, want := strings.Count(handled(t, atEntryPoint07, many...), "fee "), chains.MaxEffects+1; got != want {
		t.Errorf("%d fees, want %d", got, want)
	}
}

// TestOperandsOfOperations checks that a change of any byte of an operation that says who
// pays how much to whom shows in the effects.
func TestOperandsOfOperations(t *testing.T) {
	operation := packed07(opFactory[:], paymasterGas())
	before := handled(t, atEntryPoint07, operation)
	for name, change := range map[string]func(o *operation07, i int){
		"sender":               func(o *operation07, i int) { o.M0[i%20] ^= 1 },
		"factory":              func(o *operation07, i int) { o.M2 = altered(o.M2, i%20) },
		"gas limits":           func(o *operation07, i int) { o.M4[i] ^= 1 },
		"pre-verification gas": func(o *operation07, i int) { o.M5 = new(big.Int).SetBit(o.M5, 8*i, o.M5.Bit(8*i)^1) },
		"max fee":              func(o *operation07, i int) { o.M6[16+i%16] ^= 1 },
		"paymaster":            func(o *operation07, i int) { o.M7 = altered(o.M7, i%20) },
		"paymaster's gas":      func(o *operation07, i int) { o.M7 = altered(o.M7, 20+i) },
	} {
		for i := range 32 {
			changed := operation
			change(&changed, i)
			if got := handled(t, atEntryPoint07, changed); got == before {
				t.Errorf("%s, byte %d: the effects are the same", name, i)
			}
		}
	}
}

func altered(b []byte, i int) []byte {
	b = bytes.Clone(b)
	b[i] ^= 1
	return b
}
