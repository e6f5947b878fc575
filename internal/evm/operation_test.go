package evm

import (
	"bytes"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
)

// pointOf returns the EntryPoint of a version, 6 to 9.
func pointOf(t *testing.T, version int) Address {
	t.Helper()
	for at, is := range entryPoints {
		if is == version {
			return at
		}
	}
	t.Fatalf("no EntryPoint 0.%d", version)
	return Address{}
}

// operationOf returns an operation that pays 500 + 40 + 6000 gas at 7.
func operationOf(point Address, init, paymaster []byte) operation {
	return operation{EntryPoint: point, Sender: Address(opSender), InitCode: init, Paymaster: paymaster, CallGas: big.NewInt(40),
		VerificationGas: big.NewInt(500), PreVerificationGas: big.NewInt(6000), MaxFeePerGas: big.NewInt(7)}
}

var operationNames = map[string]common.Address{"sender": opSender, "factory": opFactory, "paymaster": opPaymaster,
	"Simple": common.HexToAddress("0x13E9ed32155810FDbd067D4522C492D6f68E5944")}

// simpleFactory is a known factory of accounts.
var simpleFactory = hexAddress("0x13E9ed32155810FDbd067D4522C492D6f68E5944")

// TestTypedOperation checks what an operation in typed data does, by the version of its
// EntryPoint, for senders that are not ours and for our own.
func TestTypedOperation(t *testing.T) {
	const fee = "fee sender>- most 45780"
	const sponsored = "fee paymaster>- over sender most 45780 by other paymaster"
	init := func(at Address) []byte { return append(at[:], 1, 2, 3, 4) }
	marker := append(opDelegated[:20:20], 1)
	both := func(effects string) [2]string { return [2]string{effects, effects} }
	for _, c := range []struct {
		name            string
		init, paymaster []byte
		versions        []int
		want            [2]string // not ours, and ours
	}{
		{"alone", nil, nil, []int{6, 7, 8, 9}, both(fee)},
		{"19 bytes", opFactory[:19], nil, []int{6, 7, 8, 9}, both(fee)},
		{"a factory", init(Address(opFactory)), nil, []int{6, 7}, both("create factory>sender\n" + fee)},
		{"a factory that is not known", init(Address(opFactory)), nil, []int{8, 9}, both("call point>sender init code over factory\n" + fee)},
		{"a known factory", init(simpleFactory), nil, []int{6, 7}, both("create Simple>sender\n" + fee)},
		{"a known factory", init(simpleFactory), nil, []int{8, 9},
			[2]string{"create Simple>sender\n" + fee, "call point>sender init code over Simple\n" + fee}},
		{"a delegate", opFactory[:], nil, []int{8, 9}, both(fee)},
		{"the address of a factory", opFactory[:], nil, []int{6, 7}, both("create factory>sender\n" + fee)},
		{"the marker", marker, nil, []int{6, 7}, both("call point>sender init code\n" + fee)},
		{"a paymaster", nil, paymasterGas()[:20], []int{7, 8, 9}, both(sponsored)},
		{"the zero address as paymaster", nil, make([]byte, 52), []int{6, 7, 8, 9}, both(fee)},
		{"a paymaster", nil, paymasterGas(), []int{6}, both(strings.Replace(sponsored, "45780", "52780", 1))},
		{"a paymaster with gas", nil, paymasterGas(1), []int{7, 8, 9}, both(strings.Replace(sponsored, "45780", "6905780", 1))},
		{"the sender as paymaster", nil, append(opSender[:20:20], make([]byte, 32)...), []int{7, 8, 9}, both(fee)},
		{"the sender as paymaster", nil, append(opSender[:20:20], make([]byte, 32)...), []int{6}, both("fee sender>- most 52780")},
	} {
		for _, version := range c.versions {
			o := operationOf(pointOf(t, version), c.init, c.paymaster)
			effects := signedOperation(t, mainnet, &o)
			for ours, want := range c.want {
				if ours == 1 {
					o.delegated(effects)
				}
				names := map[string]common.Address{"point": common.Address(o.EntryPoint)}
				maps.Copy(names, operationNames)
				want = "transfer sender>sender exact 0\n" + want
				if got := effectLines(effects, names); got != want {
					t.Errorf("EntryPoint 0.%d, %s, ours %d:\n%s\nwant\n%s", version, c.name, ours, got, want)
				}
			}
		}
	}
}

// TestOperationSentences: who pays and what is called is said in full.
func TestOperationSentences(t *testing.T) {
	o := operationOf(pointOf(t, 8), append(opFactory[:20:20], 1), paymasterGas())
	effects := signedOperation(t, mainnet, &o)
	sender, factory, paymaster := mainnet.Party(o.Sender), mainnet.Party(Address(opFactory)), mainnet.Party(Address(opPaymaster))
	want := []string{
		fmt.Sprintf("! call %s (init code), which runs the code of %s: what it does is unknown, it may do anything", sender, factory),
		fmt.Sprintf("fee at most 0.00000000000690578 ETH, paid by %s, which may take tokens approved to it", paymaster),
	}
	o.EntryPoint = pointOf(t, 7)
	created := signedOperation(t, mainnet, &o)
	want = append(want, fmt.Sprintf("create %s by the factory %s", sender, factory))
	if got := []string{chains.Sentence(effects[1], nil), chains.Sentence(effects[2], nil), chains.Sentence(created[1], nil)}; !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// comparable returns what an effect does, without its authorization and its place.
func comparable(effects []chains.Effect) (all []string) {
	for _, e := range effects {
		if e.Kind == chains.KindTransfer && e.By == chains.ByStanding {
			continue // from the EntryPoint to the beneficiary of the fees, who is not signed
		}
		if e.Kind == chains.KindTransfer && e.Amount.Value.Sign() == 0 {
			continue // of a signed operation that calls nothing
		}
		function := e.Function
		if !e.Undecoded {
			function = ""
		}
		all = append(all, fmt.Sprint(e.Kind, e.From, e.To, e.Account, e.Asset.Token, e.Amount, e.Undecoded, function))
	}
	slices.Sort(all)
	return all
}

// TestBothCarriers draws operations and checks that they do the same in typed data and in
// the calldata of handleOps, except for the authorization.
func TestBothCarriers(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	bytesOf := func(choices ...[]byte) []byte { return choices[random.IntN(len(choices))] }
	transfer := pack(t, "transfer(address,uint256)", common.Address{1}, big.NewInt(5))
	execute := pack(t, "execute(address,uint256,bytes)", common.Address{2}, big.NewInt(3), transfer)
	for range 2000 {
		version := 6 + random.IntN(4)
		o := operationOf(pointOf(t, version), bytesOf(nil, simpleFactory[:], append(simpleFactory[:20:20], 1, 2)),
			bytesOf(nil, opPaymaster[:], paymasterGas(), paymasterGas(1, 2), make([]byte, 52), append(opSender[:20:20], make([]byte, 40)...)))
		o.CallData = bytesOf(nil, transfer, execute, []byte{1, 2, 3, 4, 5})
		for _, gas := range []**big.Int{&o.CallGas, &o.VerificationGas, &o.PreVerificationGas, &o.MaxFeePerGas} {
			*gas = big.NewInt(random.Int64N(1 << uint(1+random.IntN(60))))
		}
		hashed := o
		if version >= 8 && len(o.InitCode) == 20 {
			hashed.InitCode, o.InitCode = simpleFactory[:], opDelegated[:] // the delegate
		}
		typed := signedOperation(t, mainnet, &hashed)
		handled := mainnet.Pass().Read(Transaction{To: o.EntryPoint, Data: handleOpsOf(t, version, &o)}).Effects()
		if got, want := comparable(handled), comparable(typed); !slices.Equal(got, want) {
			t.Fatalf("EntryPoint 0.%d, %+v:\n%s\nin typed data\n%s", version, o, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for _, e := range handled {
			if e.By == chains.BySigner {
				t.Fatalf("handleOps: %s by the signer", chains.Sentence(e, nil))
			}
		}
	}
}

// handleOpsOf returns calldata of handleOps with an operation.
func handleOpsOf(t *testing.T, version int, o *operation) []byte {
	t.Helper()
	sender, nonce, signature := common.Address(o.Sender), big.NewInt(1), []byte{9}
	if version == 6 {
		return pack(t, rowOf(t, atEntryPoint06), []operation06{{sender, nonce, o.InitCode, o.CallData, o.CallGas, o.VerificationGas, o.PreVerificationGas,
			o.MaxFeePerGas, big.NewInt(1), o.Paymaster, signature}}, opBeneficiary)
	}
	return pack(t, rowOf(t, atEntryPoint07), []operation07{{sender, nonce, o.InitCode, o.CallData, pair(o.VerificationGas.Int64(), o.CallGas.Int64()), o.PreVerificationGas,
		pair(1, o.MaxFeePerGas.Int64()), o.Paymaster, signature}}, opBeneficiary)
}

func rowOf(t *testing.T, w contractSet) string {
	t.Helper()
	for _, row := range standards {
		if row.at == w && strings.HasPrefix(row.function, "handleOps(") {
			return row.function
		}
	}
	t.Fatalf("no handleOps of %s", w)
	return ""
}

// TestCheckHashed has typed data that an EntryPoint would hash in another way.
func TestCheckHashed(t *testing.T) {
	magic := func(parts ...[]byte) []byte { return append(bytes.Join(parts, nil), paymasterMagic...) }
	head, zeros := paymasterGas(), make([]byte, 18)
	for name, c := range map[string]struct {
		init, paymaster []byte
		at8, at9        string
	}{
		"nothing":                         {nil, nil, "", ""},
		"a delegate":                      {opFactory[:], nil, "", ""},
		"a delegate that begins with it":  {append([]byte{0x77, 0x02, 1}, zeros[:17]...), nil, "", ""},
		"one that ends otherwise":         {append([]byte{0x77, 0x02}, append(zeros[:17:17], 1)...), nil, "", ""},
		"one byte of the marker":          {[]byte{0x77}, nil, "", ""},
		"two bytes":                       {[]byte{0x77, 0x02}, nil, "initCode", "initCode"},
		"three bytes":                     {[]byte{0x77, 0x02, 0}, nil, "initCode", "initCode"},
		"the marker":                      {append([]byte{0x77, 0x02}, zeros...), nil, "initCode", "initCode"},
		"the marker and a call":           {append(append([]byte{0x77, 0x02}, zeros...), 1, 2, 3, 4), nil, "initCode", "initCode"},
		"a paymaster":                     {nil, head, "", ""},
		"with the magic":                  {nil, magic(head), "", ""},
		"with data and the magic":         {nil, magic(head, []byte{1, 2, 3}), "", ""},
		"with a signature":                {nil, magic(head, []byte{1, 2, 3}, []byte{0, 3}), "", "paymasterAndData"},
		"with data and a signature":       {nil, magic(head, []byte{5, 5}, bytes.Repeat([]byte{6}, 65), []byte{0, 65}), "", "paymasterAndData"},
		"with a signature of no length":   {nil, magic(head, []byte{0, 0}), "", ""},
		"with a length beyond the data":   {nil, magic(head, []byte{1, 2}, []byte{0, 3}), "", ""},
		"with a signature in another end": {nil, append(magic(head, []byte{1, 2, 3}, []byte{0, 3}), 0), "", ""},
	} {
		for version, want := range map[int]string{6: "", 7: "", 8: c.at8, 9: c.at9} {
			o := operationOf(pointOf(t, version), c.init, c.paymaster)
			member, err := o.checkHashed()
			if member != want || (err != nil) != (want != "") {
				t.Errorf("%s, EntryPoint 0.%d: %s (%v), want %s", name, version, member, err, want)
			}
		}
	}
}
