package evm

import (
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestPlansOfThePublicSDK checks that swaps as Uniswap's SDK builds them leave nothing in
// the router, and are signed with no hazard allowed.
func TestPlansOfThePublicSDK(t *testing.T) {
	var file struct {
		Plans []struct{ Name, Value, Data string }
	}
	testenv.JSON(t, testenv.Read(t, "testdata/routerplans.json"), &file)
	for _, plan := range file.Plans {
		value, _ := new(big.Int).SetString(plan.Value, 10)
		effects := mainnet.Pass().Read(Transaction{To: routerAt, Value: value, Data: common.FromHex(plan.Data)}).Effects()
		if len(effects) < 2 {
			t.Errorf("%s: %d effects", plan.Name, len(effects))
		}
		for _, hazard := range Hazards("ethereum", effects, mainnet.Party(Address{0xaa})) {
			t.Errorf("%s: %s: %s", plan.Name, hazard.Name, hazard.Detail)
		}
	}
	if len(file.Plans) < 50 {
		t.Errorf("only %d plans", len(file.Plans))
	}
}

// Addresses in the plans below.
var (
	routerAt    = hexAddress("0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af")
	olderRouter = hexAddress("0x3fC91A3afd70395Cd496C647d5a6CC9D4B2b7FAD")
	multicallAt = hexAddress("0xcA11bde05977b3631167028862bE2a173976CA11")
	callOnlyAt  = hexAddress("0x9641d764fc13c8B624c04430C7356C1C7C8102e2")
	wethAt      = hexAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
	usdcAt      = hexAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	stranger    = Address{0xbb}
	caller      = Address{19: 1} // as commands write it
	itself      = Address{19: 2}
)

// step is a command of a plan.
type step struct {
	command byte
	args    []any
}

func do(command byte, args ...any) step {
	for i, arg := range args {
		switch arg := arg.(type) {
		case Address:
			args[i] = common.Address(arg)
		case int:
			args[i] = big.NewInt(int64(arg))
		}
	}
	return step{command, args}
}

// plan encodes a call of a router.
func plan(t *testing.T, deadline bool, steps []step) []byte {
	t.Helper()
	commands, inputs := []byte{}, [][]byte{}
	for _, s := range steps {
		input := []byte{1}
		if f := routerCommands[s.command&commandMask]; f != nil {
			var err error
			if input, err = arguments(t, f.parameters).Pack(s.args...); err != nil {
				t.Fatal(err)
			}
		}
		commands, inputs = append(commands, s.command), append(inputs, input)
	}
	if deadline {
		return pack(t, "execute(bytes,bytes[],uint256)", commands, inputs, big.NewInt(1900000000))
	}
	return pack(t, "execute(bytes,bytes[])", commands, inputs)
}

// leftIn returns what effects say that is left in shared contracts, such as "5 WETH".
func leftIn(t *testing.T, effects []chains.Effect) (all []string) {
	t.Helper()
	names := map[string]string{routerAt.String(): "", olderRouter.String(): " at the older router", multicallAt.String(): " at Multicall3",
		callOnlyAt.String(): " at MultiSendCallOnly", wethAt.String(): "WETH", usdcAt.String(): "USDC", "": "ETH"}
	for _, e := range effects {
		if e.Kind != chains.KindBurn || !e.From.Equal(e.To) {
			continue
		}
		if e.Amount.Bound != chains.BoundLeast {
			t.Errorf("bound %s of what is left", e.Amount.Bound)
		}
		all = append(all, e.Amount.Value.String()+" "+names[e.Asset.Token.String()]+names[e.To.String()])
	}
	return all
}

// Plans of commands, and what they leave behind.
var (
	wrap5    = do(0x0b, itself, 5)
	pull7    = do(0x02, usdcAt, itself, 7)
	sweepAll = do(0x04, usdcAt, caller, 0)
	toUSDC   = append(append(slices.Clone(wethAt[:]), 0, 1, 244), usdcAt[:]...)
	toWETH   = append(append(slices.Clone(usdcAt[:]), 0, 1, 244), wethAt[:]...)
	balance  = contractBalance
)

func swap3(to Address, in any, least int, payer bool) step {
	return do(0x00, to, in, least, toUSDC, payer)
}

// out3 buys USDC for WETH: its path is backwards.
func out3(to Address, out, most int, payer bool) step { return do(0x01, to, out, most, toWETH, payer) }

func swap2(to Address, in any, least int, payer bool) step {
	return do(0x08, to, in, least, []common.Address{common.Address(wethAt), common.Address(usdcAt)}, payer)
}

func flagged(s step) step {
	s.command |= mayFailFlag
	return s
}

var plans = []struct {
	name  string
	value int64
	steps []step
	left  []string
}{
	{"value and no commands", 5, nil, []string{"5 ETH"}},
	{"value beside a swap that the caller pays", 5, []step{swap3(caller, 7, 3, true)}, []string{"5 ETH"}},
	{"wrapped to the router", 5, []step{wrap5}, []string{"5 WETH"}},
	{"wrapped to the router by its address", 5, []step{do(0x0b, routerAt, 5)}, []string{"5 WETH"}},
	{"wrapped to a stranger", 5, []step{do(0x0b, stranger, 5)}, nil},
	{"wrapped in part", 5, []step{do(0x0b, caller, 3)}, []string{"2 ETH"}},
	{"all of it wrapped to the router", 5, []step{do(0x0b, itself, balance)}, []string{"5 WETH"}},
	{"all of it wrapped to the caller", 5, []step{do(0x0b, caller, balance)}, nil},
	{"wrapped and unwrapped to the router", 5, []step{wrap5, do(0x0c, itself, 0)}, []string{"5 ETH"}},
	{"wrapped and unwrapped to the caller", 5, []step{wrap5, do(0x0c, caller, 0)}, nil},
	{"unwrapped before", 5, []step{do(0x0c, caller, 0), wrap5}, []string{"5 WETH"}},
	{"wrapped, ether swept", 5, []step{wrap5, do(0x04, Address{}, caller, 0)}, []string{"5 WETH"}},
	{"pulled", 0, []step{pull7}, []string{"7 USDC"}},
	{"pulled by a batch", 0, []step{do(0x0d, transfers(routerAt))}, []string{"7 USDC"}},
	{"pulled by a batch, whose recipients are no placeholders", 0, []step{do(0x0d, transfers(itself))}, nil},
	{"sent on in part", 0, []step{pull7, do(0x05, usdcAt, stranger, 3)}, []string{"4 USDC"}},
	{"sent on", 0, []step{pull7, do(0x05, usdcAt, stranger, 7)}, nil},
	{"more sent on than came", 0, []step{pull7, do(0x05, usdcAt, stranger, 8)}, []string{"0 USDC"}},
	{"all of it sent on", 0, []step{pull7, do(0x05, usdcAt, stranger, balance)}, nil},
	{"sent to the router", 0, []step{pull7, do(0x05, usdcAt, itself, balance)}, []string{"7 USDC"}},
	{"swapped to the router", 5, []step{wrap5, swap3(itself, 5, 3, false)}, []string{"3 USDC"}},
	{"swapped to the router by its address", 5, []step{wrap5, swap2(routerAt, 5, 3, false)}, []string{"3 USDC"}},
	{"swapped to the router without a minimum", 5, []step{wrap5, swap2(itself, 5, 0, false)}, []string{"0 USDC"}},
	{"swapped to the caller", 5, []step{wrap5, swap3(caller, 5, 3, false)}, nil},
	{"swapped to a stranger", 5, []step{wrap5, swap2(stranger, balance, 3, false)}, nil},
	{"swapped in part", 5, []step{wrap5, swap2(caller, 4, 3, false)}, []string{"1 WETH"}},
	{"swapped and swept", 5, []step{wrap5, swap3(itself, 5, 3, false), sweepAll}, nil},
	{"swept before", 5, []step{wrap5, sweepAll, swap3(itself, 5, 3, false)}, []string{"3 USDC"}},
	{"swept to the router", 5, []step{wrap5, swap3(itself, 5, 3, false), do(0x04, usdcAt, itself, 3)}, []string{"3 USDC"}},
	{"swept to the router by its address", 5, []step{wrap5, swap3(itself, 5, 3, false), do(0x04, usdcAt, routerAt, 3)}, []string{"3 USDC"}},
	{"another token swept", 5, []step{wrap5, swap3(itself, 5, 3, false), do(0x04, wethAt, caller, 0)}, []string{"3 USDC"}},
	{"more than a minimum comes, which is sent on", 5, []step{wrap5, swap3(itself, 5, 6, false), do(0x05, usdcAt, caller, 6)}, []string{"0 USDC"}},
	{"an exact output is sent on", 0, []step{out3(itself, 6, 9, true), do(0x05, usdcAt, caller, 6)}, nil},
	{"an exact output leaves some of the input", 5, []step{wrap5, out3(caller, 6, 4, false)}, []string{"1 WETH"}},
	{"an exact output may leave some of the input", 5, []step{wrap5, out3(caller, 6, 5, false)}, []string{"0 WETH"}},
	{"the rest of the input is unwrapped", 5, []step{wrap5, out3(caller, 6, 5, false), do(0x0c, caller, 0)}, nil},
	{"an exact output that the caller pays", 0, []step{out3(caller, 6, 5, true)}, nil},
	{"the caller pays as much as the router has", 0, []step{do(0x02, wethAt, itself, 7), swap2(caller, balance, 1, true)}, []string{"7 WETH"}},
	{"a portion", 0, []step{do(0x02, usdcAt, itself, 8), do(0x06, usdcAt, stranger, 2500)}, []string{"6 USDC"}},
	{"a portion, swept", 0, []step{do(0x02, usdcAt, itself, 8), do(0x06, usdcAt, stranger, 2500), sweepAll}, nil},
	{"a portion of all", 0, []step{do(0x02, usdcAt, itself, 8), do(0x06, usdcAt, stranger, 10_000)}, nil},
	{"a portion to the router", 0, []step{do(0x02, usdcAt, itself, 8), do(0x06, usdcAt, itself, 10_000)}, []string{"8 USDC"}},
	{"a sweep that may fail", 0, []step{pull7, flagged(sweepAll)}, []string{"0 USDC"}},
	{"a pull that may fail", 0, []step{flagged(pull7)}, []string{"0 USDC"}},
	{"a pull that may fail, swept", 0, []step{flagged(pull7), sweepAll}, nil},
	{"balance checked", 0, []step{pull7, do(0x0e, caller, usdcAt, 1)}, []string{"7 USDC"}},
	{"not decoded", 5, []step{wrap5, do(0x10)}, nil},
	{"not decoded, before", 5, []step{do(0x21), wrap5}, []string{"5 WETH"}},
	{"swept to another router", 0, []step{pull7, do(0x04, usdcAt, olderRouter, 7)}, []string{"0 USDC at the older router"}},
	{"sent to another router", 0, []step{pull7, do(0x05, usdcAt, olderRouter, 7)}, []string{"7 USDC at the older router"}},
	{"three assets", 9, []step{wrap5, pull7}, []string{"4 ETH", "5 WETH", "7 USDC"}},
}

func transfers(to Address) any {
	return []struct {
		M0, M1 common.Address
		M2     *big.Int
		M3     common.Address
	}{{common.Address{0xaa}, common.Address(to), big.NewInt(7), common.Address(usdcAt)}}
}

// lost counts what goes to addresses that are placeholders for a router, and that Permit2
// takes for ordinary ones.
func lost(effects []chains.Effect) (count int) {
	for _, effect := range effects {
		if effect.Kind == chains.KindBurn && (effect.To.Equal(mainnet.Party(routerItself)) || effect.To.Equal(mainnet.Party(routerCaller))) {
			count++
		}
	}
	return count
}

// TestLeftInTheRouter checks what each plan leaves behind, which is a hazard.
func TestLeftInTheRouter(t *testing.T) {
	for _, p := range plans {
		for _, deadline := range []bool{false, true} {
			effects := mainnet.Pass().Read(Transaction{To: routerAt, Value: big.NewInt(p.value), Data: plan(t, deadline, p.steps)}).Effects()
			if got := leftIn(t, effects); !slices.Equal(got, p.left) {
				t.Errorf("%s: %q, want %q", p.name, got, p.left)
			}
			blind := slices.ContainsFunc(p.steps, func(s step) bool { return routerCommands[s.command&commandMask] == nil })
			checkHazards(t, p.name, effects, blind, len(p.left)+lost(effects))
		}
	}
}

// checkHazards checks that each leftover is a hazard, and that nothing else is but an
// undecoded command.
func checkHazards(t *testing.T, name string, effects []chains.Effect, blind bool, left int) {
	t.Helper()
	counts := map[string]int{}
	for _, hazard := range Hazards("c", effects, mainnet.Party(Address{0xaa})) {
		counts[hazard.Name]++
	}
	if counts["c/"+hazardBurn] != left || (counts["c/"+BlindCall] > 0) != blind || len(counts) > 2 {
		t.Errorf("%s: %v", name, counts)
	}
}

// TestEveryRouterIsAccountedFor checks that value left in any known router, on any of its
// chains, is found, and that its wrapped asset is known there.
func TestEveryRouterIsAccountedFor(t *testing.T) {
	wrap := plan(t, true, []step{wrap5})
	unwrap := plan(t, true, []step{wrap5, do(0x0c, caller, 5)})
	for at, known := range contracts() {
		if !slices.Contains(known.sets, atUniversalRouter) {
			continue
		}
		for _, chain := range known.chains {
			n := &Network{ID: NetworkID(chain), ChainID: chain}
			tx := Transaction{To: at, Value: big.NewInt(5), Data: wrap}
			if got := n.Pass().Read(tx).Effects(); got[len(got)-1].Kind != chains.KindBurn || got[len(got)-1].Asset.IsUnknown() {
				t.Errorf("%s on %d: %v", at, chain, got[len(got)-1])
			}
			tx.Data = unwrap
			if hazards := Hazards("c", n.Pass().Read(tx).Effects(), chains.Party{}); len(hazards) != 0 {
				t.Errorf("%s on %d: %v", at, chain, hazards)
			}
		}
	}
}

// inBatch is a call in a batch of a shared contract.
type inBatch struct {
	to       Address
	optional bool
	value    int64
	data     []byte
}

// aggregate encodes a call of Multicall3 with value for each of its calls.
func aggregate(t *testing.T, calls ...inBatch) []byte {
	t.Helper()
	type call struct {
		M0 common.Address
		M1 bool
		M2 *big.Int
		M3 []byte
	}
	all := []call{}
	for _, c := range calls {
		all = append(all, call{common.Address(c.to), c.optional, big.NewInt(c.value), c.data})
	}
	return pack(t, "aggregate3Value((address,bool,uint256,bytes)[])", all)
}

// try encodes a call of Multicall3 without value for its calls, one of which may fail
// unless they are required.
func try(t *testing.T, required bool, calls ...inBatch) []byte {
	t.Helper()
	type call struct {
		M0 common.Address
		M1 []byte
	}
	all := []call{}
	for _, c := range calls {
		all = append(all, call{common.Address(c.to), c.data})
	}
	return pack(t, "tryAggregate(bool,(address,bytes)[])", required, all)
}

// batch encodes a call of a MultiSend.
func batch(t *testing.T, calls ...inBatch) []byte {
	t.Helper()
	packed := []byte{}
	for _, c := range calls {
		packed = append(append(packed, 0), c.to[:]...)
		packed = append(packed, common.BigToHash(big.NewInt(c.value)).Bytes()...)
		packed = append(packed, common.BigToHash(big.NewInt(int64(len(c.data)))).Bytes()...)
		packed = append(packed, c.data...)
	}
	return pack(t, "multiSend(bytes)", packed)
}

// TestLeftInSharedContracts checks what transactions leave in shared contracts otherwise
// than by a plan of a router.
func TestLeftInSharedContracts(t *testing.T) {
	send := func(to Address, amount int64) []byte {
		return pack(t, "transfer(address,uint256)", common.Address(to), big.NewInt(amount))
	}
	take := func(to Address, amount int64) []byte {
		return pack(t, "transferFrom(address,address,uint256)", common.Address{0xaa}, common.Address(to), big.NewInt(amount))
	}
	deposit, withdraw := pack(t, "deposit()"), pack(t, "withdraw(uint256)", big.NewInt(5))
	unknown := []byte{1, 2, 3, 4}
	wrapAway, wrapHere := plan(t, false, []step{do(0x0b, stranger, 5)}), plan(t, false, []step{do(0x0b, caller, 5)})
	sweep := plan(t, false, []step{sweepAll})
	for _, c := range []struct {
		name  string
		to    Address
		value int64
		data  []byte
		left  []string
	}{
		{"a transfer to a router", usdcAt, 0, send(routerAt, 5), []string{"5 USDC"}},
		{"a transfer to Multicall3", usdcAt, 0, send(multicallAt, 5), []string{"5 USDC at Multicall3"}},
		{"a transferFrom to MultiSendCallOnly", usdcAt, 0, take(callOnlyAt, 5), []string{"5 USDC at MultiSendCallOnly"}},
		{"a transfer to a stranger", usdcAt, 0, send(stranger, 5), nil},
		{"value to a router", olderRouter, 5, nil, []string{"5 ETH at the older router"}},
		{"an empty batch with value", multicallAt, 5, try(t, true), []string{"5 ETH at Multicall3"}},
		{"value that no call takes", multicallAt, 5, try(t, true, inBatch{to: usdcAt, data: take(stranger, 1)}), []string{"5 ETH at Multicall3"}},
		{"value sent on", multicallAt, 5, aggregate(t, inBatch{to: stranger, value: 2}, inBatch{to: usdcAt, value: 3}), nil},
		{"value sent on in part", multicallAt, 5, aggregate(t, inBatch{to: stranger, value: 2}), []string{"3 ETH at Multicall3"}},
		{"value sent on by a call that may fail", multicallAt, 5, aggregate(t, inBatch{to: stranger, value: 5, optional: true}), []string{"0 ETH at Multicall3"}},
		{"wrapped by Multicall3", multicallAt, 5, aggregate(t, inBatch{to: wethAt, value: 5, data: deposit}), []string{"5 WETH at Multicall3"}},
		{"wrapped and sent", multicallAt, 5, aggregate(t, inBatch{to: wethAt, value: 5, data: deposit}, inBatch{to: wethAt, data: send(stranger, 5)}), nil},
		{"wrapped, and sent by a function that WETH takes for a deposit", multicallAt, 5,
			aggregate(t, inBatch{to: wethAt, value: 5, data: deposit},
				inBatch{to: wethAt, data: pack(t, "transferAndCall(address,uint256)", common.Address(stranger), big.NewInt(5))},
				inBatch{to: wethAt, data: send(callOnlyAt, 5)}), []string{"5 WETH at MultiSendCallOnly"}},
		{"wrapped and sent, which may fail", multicallAt, 5,
			aggregate(t, inBatch{to: wethAt, value: 5, data: deposit}, inBatch{to: wethAt, data: send(stranger, 5), optional: true}), []string{"0 WETH at Multicall3"}},
		{"unwrapped by Multicall3", multicallAt, 0, try(t, true, inBatch{to: wethAt, data: take(multicallAt, 5)}, inBatch{to: wethAt, data: withdraw}), []string{"5 ETH at Multicall3"}},
		{"taken and sent", multicallAt, 0, try(t, true, inBatch{to: usdcAt, data: take(multicallAt, 5)}, inBatch{to: usdcAt, data: send(stranger, 5)}), nil},
		{"taken and sent, which may fail", multicallAt, 0, try(t, false, inBatch{to: usdcAt, data: take(multicallAt, 5)}, inBatch{to: usdcAt, data: send(stranger, 5)}), []string{"0 USDC at Multicall3"}},
		{"taken by a call that is not decoded, perhaps", multicallAt, 0, try(t, true, inBatch{to: usdcAt, data: take(multicallAt, 5)}, inBatch{to: stranger, data: unknown}), nil},
		{"taken, and more sent, which a token may refuse by an answer of false", multicallAt, 0,
			try(t, true, inBatch{to: usdcAt, data: take(multicallAt, 5)}, inBatch{to: usdcAt, data: send(stranger, 6)}), []string{"0 USDC at Multicall3"}},
		{"value beside a call that is not decoded", multicallAt, 5, try(t, true, inBatch{to: stranger, data: unknown}), []string{"5 ETH at Multicall3"}},
		{"a plan whose caller is Multicall3", multicallAt, 5, aggregate(t, inBatch{to: routerAt, value: 5, data: wrapHere}), []string{"5 WETH at Multicall3"}},
		{"a plan for a stranger by Multicall3", multicallAt, 5, aggregate(t, inBatch{to: routerAt, value: 5, data: wrapAway}), nil},
		{"brought to a router and swept by the next call", multicallAt, 0, try(t, true, inBatch{to: usdcAt, data: take(routerAt, 5)}, inBatch{to: routerAt, data: sweep}), []string{"0 USDC at Multicall3"}},
		{"MultiSendCallOnly keeps value", callOnlyAt, 5, batch(t, inBatch{to: stranger, value: 2}), []string{"3 ETH at MultiSendCallOnly"}},
		{"MultiSendCallOnly sends value on", callOnlyAt, 5, batch(t, inBatch{to: stranger, value: 5}), nil},
		{"a creation by Multicall3", multicallAt, 5, aggregate(t, inBatch{to: home(&function{at: atCreate2Factory}), value: 5, data: make([]byte, 40)}), nil},
	} {
		if got := leftIn(t, mainnet.Pass().Read(Transaction{To: c.to, Value: big.NewInt(c.value), Data: c.data}).Effects()); !slices.Equal(got, c.left) {
			t.Errorf("%s: %q, want %q", c.name, got, c.left)
		}
	}
}

// TestSafeSweepsItsOwnRouterPlan checks that calls of one batch count together: a Safe
// brings tokens to the router and swaps them by the next call. It is its MultiSend that
// runs, so that the Safe itself holds what it has.
func TestSafeSweepsItsOwnRouterPlan(t *testing.T) {
	safe := Address{0x5a}
	bring := inBatch{to: usdcAt, data: pack(t, "transfer(address,uint256)", common.Address(routerAt), big.NewInt(7))}
	back := inBatch{to: usdcAt, data: pack(t, "transferFrom(address,address,uint256)", common.Address(routerAt), common.Address(safe), big.NewInt(7))}
	sweep := inBatch{to: routerAt, data: plan(t, true, []step{sweepAll})}
	for _, c := range []struct {
		calls []inBatch
		left  []string
	}{
		{[]inBatch{bring, sweep}, nil},
		{[]inBatch{sweep, bring}, []string{"7 USDC"}},
		{[]inBatch{bring}, []string{"7 USDC"}},
		{[]inBatch{bring, back}, []string{"0 USDC"}}, // by an allowance that the router does not give
	} {
		effects := mainnet.Pass().ReadFrom(safe, Transaction{To: callOnlyAt, Data: batch(t, c.calls...)}, true).Effects()
		if got := leftIn(t, effects); !slices.Equal(got, c.left) {
			t.Errorf("%q, want %q", got, c.left)
		}
	}
}

// TestLeftByTwoAuthorizations checks that another's signature does not hide what the
// signer leaves.
func TestLeftByTwoAuthorizations(t *testing.T) {
	other := pack(t, "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)", common.Address(stranger), common.Address(multicallAt),
		big.NewInt(1), new(big.Int), big.NewInt(1900000000), [32]byte{}, []byte{})
	own := pack(t, "transferFrom(address,address,uint256)", common.Address{0xaa}, common.Address(multicallAt), big.NewInt(5))
	signer := mainnet.Party(Address{0xaa})
	for _, c := range []struct {
		calls [][]byte
		burns int
	}{{[][]byte{other}, 0}, {[][]byte{own}, 1}, {[][]byte{own, other}, 1}, {[][]byte{other, own}, 1}} {
		var calls []inBatch
		for _, data := range c.calls {
			calls = append(calls, inBatch{to: usdcAt, data: data})
		}
		effects := mainnet.Pass().Read(Transaction{To: multicallAt, Data: try(t, true, calls...)}).Effects()
		if hazards := Hazards("c", chains.ResolveSigner(effects, signer), signer); len(hazards) != c.burns {
			t.Errorf("%d calls: %v", len(calls), hazards)
		}
	}
}

// TestCreationGetsItsValue checks that value for the CREATE2 factory is the new
// contract's, and no transfer to the factory.
func TestCreationGetsItsValue(t *testing.T) {
	factory := home(&function{at: atCreate2Factory})
	effects := mainnet.Pass().Read(Transaction{To: factory, Value: big.NewInt(12345), Data: make([]byte, 40)}).Effects()
	if len(effects) != 1 || effects[0].Kind != chains.KindCreate || effects[0].Amount.Value.Int64() != 12345 || !effects[0].Asset.IsNative() {
		t.Errorf("%+v", effects)
	}
	short := mainnet.Pass().Read(Transaction{To: factory, Value: big.NewInt(12345), Data: make([]byte, 31)}).Effects()
	if len(short) != 2 || short[0].Kind != chains.KindTransfer || !short[1].Undecoded {
		t.Errorf("no salt: %+v", short)
	}
}

// TestApprovalsForAnyone checks that an approval of a contract that makes any call for any
// caller is a hazard: the next caller takes what it allows.
func TestApprovalsForAnyone(t *testing.T) {
	for to, burns := range map[Address]bool{multicallAt: true, callOnlyAt: true, routerAt: false, stranger: false} {
		for _, amount := range []*big.Int{big.NewInt(5), new(big.Int).Lsh(big.NewInt(1), 200)} {
			data := pack(t, "approve(address,uint256)", common.Address(to), amount)
			hazards := Hazards("c", mainnet.Pass().Read(Transaction{To: usdcAt, Data: data}).Effects(), mainnet.Party(Address{0xaa}))
			if got := len(hazards) == 1 && hazards[0].Name == "c/"+hazardBurn; got != burns {
				t.Errorf("%s for %v: %v", to, amount, hazards)
			}
		}
		revoked := pack(t, "decreaseAllowance(address,uint256)", common.Address(to), big.NewInt(5))
		if hazards := Hazards("c", mainnet.Pass().Read(Transaction{To: usdcAt, Data: revoked}).Effects(), chains.Party{}); len(hazards) != 0 {
			t.Errorf("revoked: %v", hazards)
		}
	}
}

// TestSwapsWithoutMinimum checks which plans may give nothing for what they take, and on which
// of the swaps the hazard is.
func TestSwapsWithoutMinimum(t *testing.T) {
	for name, c := range map[string]struct {
		steps []step
		want  int
	}{
		"to the caller, at least 1":            {[]step{swap3(caller, 100, 1, true)}, 0},
		"to the caller":                        {[]step{swap3(caller, 100, 0, true)}, 1},
		"to another":                           {[]step{swap3(stranger, 100, 0, true)}, 1},
		"version 2":                            {[]step{swap2(caller, 100, 0, true)}, 1},
		"exact out":                            {[]step{out3(caller, 5, 100, true)}, 0},
		"an output of 0":                       {[]step{out3(caller, 0, 100, true)}, 1},
		"swept with a minimum":                 {[]step{swap3(itself, 100, 0, true), do(0x04, usdcAt, caller, 7)}, 0},
		"swept without":                        {[]step{swap3(itself, 100, 0, true), do(0x04, usdcAt, caller, 0)}, 1},
		"unwrapped with a minimum":             {[]step{do(0x00, itself, 100, 0, toWETH, true), do(0x0c, caller, 7)}, 0},
		"unwrapped without":                    {[]step{do(0x00, itself, 100, 0, toWETH, true), do(0x0c, caller, 0)}, 1},
		"the minimum of another token":         {[]step{swap3(itself, 100, 0, true), do(0x04, wethAt, caller, 7)}, 1},
		"two, one minimum":                     {[]step{swap3(itself, 100, 0, true), swap2(itself, 100, 0, true), do(0x04, usdcAt, caller, 7)}, 0},
		"a big one beside a bounded small one": {[]step{swap3(caller, 1_000_000, 0, true), swap3(caller, 1, 1, true)}, 1},
		"swept before the swap":                {[]step{do(0x04, usdcAt, caller, 7), swap3(itself, 100, 0, true)}, 1},
		"a minimum that the caller's own meet": {[]step{swap3(itself, 100, 0, true), pull7, do(0x04, usdcAt, caller, 7)}, 1},
		"brought before the swap":              {[]step{pull7, swap3(itself, 100, 0, true), do(0x04, usdcAt, caller, 7)}, 1},
		"more than the caller's own":           {[]step{pull7, swap3(itself, 100, 0, true), do(0x04, usdcAt, caller, 8)}, 0},
		"the caller's own sent on":             {[]step{pull7, do(0x05, usdcAt, caller, 7), swap3(itself, 100, 0, true), do(0x04, usdcAt, caller, 7)}, 0},
		"the caller's own swept before":        {[]step{pull7, sweepAll, swap3(itself, 100, 0, true), do(0x04, usdcAt, caller, 7)}, 0},
		"wrapped by the caller":                {[]step{wrap5, do(0x00, itself, 100, 0, toWETH, true), do(0x0c, caller, 5)}, 1},
		"wrapped, and more":                    {[]step{wrap5, do(0x00, itself, 100, 0, toWETH, true), do(0x0c, caller, 6)}, 0},
		"no swap":                              {[]step{do(0x04, usdcAt, caller, 0)}, 0},
	} {
		effects := chains.ResolveSigner(mainnet.Pass().Read(Transaction{To: routerAt, Data: plan(t, false, c.steps)}).Effects(), mainnet.Party(Address{0xaa}))
		found := 0
		for _, hazard := range Hazards("ethereum", effects, mainnet.Party(Address{0xaa})) {
			if hazard.Name == "ethereum/"+hazardNoMinimum {
				found++
			}
		}
		if found != c.want {
			t.Errorf("%s: %d swaps without a minimum, want %d", name, found, c.want)
		}
	}
}
