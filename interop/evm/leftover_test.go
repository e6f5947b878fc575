package evm

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// shared are the contracts at which anyone can take what is left.
var shared = []common.Address{router, multicall3, callOnly}

// leftovers compares what a program leaves in shared contracts with its effects.
type leftovers struct {
	*comparison
	open    int // assets that were left
	claimed int // burns of what is left
}

// check reports what is left without an effect, and effects that say that more is left.
func (l *leftovers) check() {
	blind := slices.ContainsFunc(l.effects, func(e chains.Effect) bool { return e.Undecoded })
	wrapped := slices.ContainsFunc(l.effects, func(e chains.Effect) bool { // which says that the value is lost
		return e.Kind == chains.KindBurn && e.Asset.IsNative() && e.To.Is(weth[:])
	})
	for _, at := range shared {
		for _, token := range []common.Address{{}, l.erc20, l.token, l.quiet, weth} {
			b := book{token: token, account: at}
			left := new(big.Int).Sub(l.holding(l.after, b), l.holding(l.before, b))
			burn := l.burn(at, token)
			switch {
			case left.Sign() > 0 && burn == nil && !blind && !(wrapped && token == weth):
				l.problem("%v of %v is left at %v without an effect", left, token, at)
			case token == l.quiet: // transfers that it refuses are effects all the same
			case burn != nil && burn.Amount.Value.Cmp(left) > 0 && l.holding(l.before, b).Sign() == 0:
				l.problem("%v of %v is left at %v, and the effect says at least %v", left, token, at, burn.Amount.Value)
			}
			l.open += max(0, left.Sign())
			if burn != nil {
				l.claimed++
			}
		}
	}
}

// control checks that what is left is noticed without the effects that say so.
func (l *leftovers) control(t *testing.T) {
	none := *l.comparison
	none.problems, none.effects = nil, slices.DeleteFunc(slices.Clone(l.effects), func(e chains.Effect) bool { return e.Kind == chains.KindBurn })
	blind := slices.ContainsFunc(l.effects, func(e chains.Effect) bool { return e.Undecoded })
	less := leftovers{comparison: &none}
	if less.check(); l.open > 0 && !blind && len(less.problems) != l.open {
		t.Errorf("%d assets are left, of which %d are noticed without an effect", l.open, len(less.problems))
	}
}

// burn returns the effect that says that a token is left at a contract, nil if none does.
func (l *leftovers) burn(at, token common.Address) *chains.Effect {
	for i := range l.effects {
		e := &l.effects[i]
		if e.Kind == chains.KindBurn && e.From.Is(at[:]) && e.To.Is(at[:]) && common.BytesToAddress(e.Asset.Token.Address()) == token {
			return e
		}
	}
	return nil
}

// empty takes everything out of the shared contracts, as anyone can.
func (w *world) empty(t *testing.T) {
	plan := commands([]byte{4, 4, 4, 4}, words(w.erc20, w.third, 0), words(w.token, w.third, 0), words(weth, w.third, 0), words(0, w.third, 0))
	w.must(t, w.other, router, 0, plan.data)
	for _, token := range []common.Address{w.erc20, w.token, weth} {
		held := w.view(w.state, token, "balanceOf(address)", multicall3)
		w.must(t, w.other, multicall3, 0, aggregate(inner{to: token, data: call("transfer(address,uint256)", w.third, held)}).data)
	}
	for _, token := range []common.Address{w.erc20, w.token, w.quiet, weth} {
		for _, spender := range []common.Address{multicall3, callOnly} {
			w.must(t, w.signer, token, 0, call("approve(address,uint256)", spender, big.NewInt(1e15)))
		}
	}
}

// TestLeftovers runs drawn programs of shared contracts, which bring value, swap, and take
// some of it away, in any order. Whatever is left there must be in the effects, and no
// effect may say that more is left. Swaps of the forms that Uniswap's SDK builds must
// leave nothing and say nothing.
func TestLeftovers(t *testing.T) {
	w := newWorld(t)
	full := w.state.Copy()
	w.empty(t)
	bare := w.state
	r := &random{rand.New(rand.NewPCG(39, 9)), w}
	wanted := testenv.Draws(t, 1000)
	for _, program := range programs {
		runs, open, claimed := 0, 0, 0
		for tries := 0; runs < max(1, wanted*program.share/100) && tries < 40*wanted; tries++ {
			if w.state = bare.Copy(); program.drawn && r.IntN(8) == 0 {
				w.state = full.Copy() // what others have left
			}
			e := program.draw(w, r)
			compared := w.execute(t, draw{program.name, func(*world, *random) execution { return e }}, r)
			if compared == nil {
				continue
			}
			l := leftovers{comparison: compared}
			l.check()
			l.control(t)
			if !slices.ContainsFunc(l.effects, func(e chains.Effect) bool { return e.Undecoded }) {
				followed := *compared
				followed.effects, _ = chains.Follow(l.effects)
				followed.passages()
				l.problems = append(l.problems, followed.problems...)
			}
			if !program.drawn && l.open+l.claimed > 0 {
				l.problem("an ordinary program leaves %d assets, and its effects say %d", l.open, l.claimed)
			}
			for _, problem := range l.problems {
				t.Errorf("%s\nvalue %v, %x\n%q", problem, e.value, e.data, sentences(l.effects))
			}
			runs, open, claimed = runs+1, open+l.open, claimed+l.claimed
			if t.Failed() {
				return
			}
		}
		t.Logf("%6d runs of %s left %d assets, %d effects say so", runs, program.name, open, claimed)
		if runs < wanted*program.share/100 || program.drawn && (open < runs/4 || claimed > 2*open) {
			t.Errorf("%s: %d runs left %d assets, %d effects say so", program.name, runs, open, claimed)
		}
	}
}

// programs are the kinds of programs. Of 100 runs, share are of one kind.
var programs = []struct {
	name  string
	share int
	drawn bool // it may leave something
	draw  func(*world, *random) execution
}{
	{"drawn router plans", 100, true, (*world).drawnPlan},
	{"drawn calls of Multicall3 and MultiSendCallOnly", 40, true, (*world).drawnBatch},
	{"ordinary router plans", 40, false, (*world).ordinaryPlan},
}

// place returns a recipient: often the router, by either of its names, and sometimes WETH, which credits
// the router with the value that it sends there.
func (r *random) place() common.Address {
	if r.IntN(16) == 0 {
		return weth
	}
	return []common.Address{r.party(), {19: 1}, {19: 2}, {19: 2}, router}[r.IntN(5)]
}

func (r *random) tokenOf() common.Address {
	return []common.Address{r.w.erc20, r.w.token, weth}[r.IntN(3)]
}

// size returns an amount that recurs, so that commands often meet.
func (r *random) size() *big.Int { return big.NewInt([]int64{1e6, 2e6, 3e6, 4e6}[r.IntN(4)]) }

// sizeOrAll returns an amount, or the placeholder for the whole balance.
func (r *random) sizeOrAll() *big.Int {
	if r.IntN(3) == 0 {
		return contractBalance
	}
	return r.size()
}

// drawnPlan draws up to six commands.
func (w *world) drawnPlan(r *random) execution {
	bytes, inputs := []byte{}, []any{}
	for range 1 + r.IntN(6) {
		command, input := w.drawnCommand(r)
		if r.IntN(12) == 0 {
			command |= 0x80
		}
		bytes, inputs = append(bytes, command), append(inputs, input)
	}
	value := new(big.Int)
	if r.coin() {
		value = r.size()
	}
	if r.IntN(30) == 0 { // a plan in the plan, which is not decoded
		bytes, inputs = []byte{0x21}, []any{structure(bytes, list(inputs...))}
	}
	if r.coin() {
		return execution{to: router, value: value, data: structureCall("execute(bytes,bytes[],uint256)", bytes, list(inputs...), now+1)}
	}
	return commands(bytes, inputs...).with(value)
}

func (w *world) drawnCommand(r *random) (command byte, input []byte) {
	asset := []common.Address{r.tokenOf(), {}}[r.IntN(2)]
	switch r.IntN(13) {
	case 0:
		return 0x00, swap3(r.place(), r.sizeOrAll(), r.size().Rsh(r.size(), 2), path3(poolFee, r.route()...), r.coin())
	case 1:
		return 0x01, swap3(r.place(), r.size(), most, path3(poolFee, r.route()...), r.coin())
	case 2:
		return 0x02, words(r.tokenOf(), r.place(), r.size())
	case 3, 4:
		return 0x04, words(asset, r.place(), r.IntN(2))
	case 5:
		return 0x05, words(asset, r.place(), r.sizeOrAll())
	case 6:
		return 0x06, words(asset, r.place(), []int{1, 30, 2500, 9999, 10_000}[r.IntN(5)])
	case 7:
		return 0x08, swap2(r.place(), r.sizeOrAll(), r.size().Rsh(r.size(), 3), r.route(), r.coin())
	case 8:
		return 0x09, swap2(r.place(), r.size(), most, r.route(), r.coin())
	case 9:
		return 0x0b, words(r.place(), r.sizeOrAll())
	case 10:
		return 0x0c, words(r.place(), r.IntN(2))
	case 11:
		return 0x0d, words(32, 1, w.signer, r.place(), r.size(), r.tokenOf())
	}
	return 0x0e, words(w.signer, r.tokenOf(), 1)
}

// inner is a call of a batch.
type inner struct {
	to    common.Address
	loose bool // it may fail
	value *big.Int
	data  []byte
}

// aggregate returns a call of Multicall3 that makes calls with their value.
func aggregate(calls ...inner) execution {
	total, items := new(big.Int), []any{}
	for _, c := range calls {
		if c.value == nil {
			c.value = new(big.Int)
		}
		total.Add(total, c.value)
		items = append(items, raw(structure(c.to, c.loose, c.value, c.data)))
	}
	return execution{to: multicall3, value: total, data: structureCall("aggregate3Value((address,bool,uint256,bytes)[])", list(items...))}
}

// aggregateAny returns a call of Multicall3 whose value need not be used up.
func aggregateAny(value *big.Int, strict bool, calls ...inner) execution {
	items := []any{}
	for _, c := range calls {
		items = append(items, raw(structure(c.to, c.data)))
	}
	return execution{to: multicall3, value: value, data: structureCall("tryAggregate(bool,(address,bytes)[])", strict, list(items...))}
}

// callOnlyBatch returns a call of MultiSendCallOnly, which is not made by a Safe.
func callOnlyBatch(value *big.Int, calls ...inner) execution {
	var all []byte
	for _, c := range calls {
		if c.value == nil {
			c.value = new(big.Int)
		}
		all = append(all, 0)
		all = append(append(all, c.to[:]...), words(c.value, len(c.data))...)
		all = append(all, c.data...)
	}
	return execution{to: callOnly, value: value, data: structureCall("multiSend(bytes)", all)}
}

// drawnBatch draws up to five calls by a shared contract.
func (w *world) drawnBatch(r *random) execution {
	at := []common.Address{multicall3, callOnly}[r.IntN(2)]
	calls, total := []inner{}, new(big.Int)
	for range 1 + r.IntN(5) {
		c := w.drawnInner(r, at)
		c.loose = r.coin()
		calls, total = append(calls, c), total.Add(total, c.value)
	}
	switch {
	case at == callOnly:
		return callOnlyBatch(total.Add(total, []*big.Int{{}, r.size()}[r.IntN(2)]), calls...)
	case total.Sign() == 0 && r.coin():
		return aggregateAny([]*big.Int{{}, r.size()}[r.IntN(2)], r.coin(), calls...)
	}
	return aggregate(calls...)
}

func (w *world) drawnInner(r *random, by common.Address) inner {
	none, token := new(big.Int), []common.Address{r.tokenOf(), w.quiet}[r.IntN(2)]
	switch r.IntN(8) {
	case 0:
		return inner{to: weth, value: r.size(), data: call("deposit()")}
	case 5: // which WETH and WBNB do not have, and do not refuse
		return inner{to: weth, value: none, data: call("transferAndCall(address,uint256)", r.party(), r.size())}
	case 1:
		return inner{to: []common.Address{r.party(), w.erc20, router}[r.IntN(3)], value: r.size()} // two of them refuse it
	case 2:
		return inner{to: token, value: none, data: call("transferFrom(address,address,uint256)", w.signer, []common.Address{by, router, w.other}[r.IntN(3)], r.size())}
	case 3:
		plan := w.drawnPlan(r)
		return inner{to: router, value: plan.value, data: plan.data}
	case 4:
		return inner{to: weth, value: none, data: call("withdraw(uint256)", r.size())}
	}
	return inner{to: token, value: none, data: call("transfer(address,uint256)", []common.Address{r.party(), by, router}[r.IntN(3)], r.size())}
}

// ordinaryPlan draws a swap as Uniswap's SDK builds it (universal-router-sdk 5.13.0): ether
// is wrapped first, the router keeps an output that is unwrapped or of which a fee is
// paid, and gives back what an exact output leaves of wrapped ether.
func (w *world) ordinaryPlan(r *random) execution {
	exactIn, native, version3 := r.coin(), r.IntN(3), r.coin()
	fee, to := r.IntN(3), []common.Address{{19: 1}, r.party()}[r.IntN(2)]
	path := []common.Address{w.erc20, w.token, weth}
	if native == 1 {
		slices.Reverse(path)
	}
	value, bytes, inputs := new(big.Int), []byte{}, []any{}
	add := func(command byte, input []byte) { bytes, inputs = append(bytes, command), append(inputs, input) }
	amountIn, payer := big.NewInt(4e7+r.Int64N(1e6)), native != 1
	if !payer {
		value = amountIn
		add(0x0b, words(common.Address{19: 2}, value))
	}
	custody := native == 2 || fee > 0 || !exactIn && r.coin()
	recipient, out := to, path[len(path)-1]
	if custody {
		recipient = common.Address{19: 2}
	}
	w.ordinarySwap(r, add, exactIn, version3, recipient, amountIn, path, payer)
	switch fee {
	case 1:
		add(0x06, words(out, w.third, 15))
	case 2:
		add(0x05, words(out, w.third, 1000))
	}
	switch {
	case custody && native == 2:
		add(0x0c, words(to, 1))
	case custody:
		add(0x04, words(out, to, 1))
	}
	if !exactIn && !payer {
		add(0x0c, words(to, 0))
	}
	if r.IntN(4) == 0 {
		add(0x04, words(common.Address{}, to, 0))
	}
	return commands(bytes, inputs...).with(value)
}

// ordinarySwap adds a swap: of one route, or of two that share an exact input.
func (w *world) ordinarySwap(r *random, add func(byte, []byte), exactIn, version3 bool, to common.Address, amountIn *big.Int, path []common.Address, payer bool) {
	part := amountIn
	if exactIn && r.coin() {
		part = new(big.Int).Rsh(amountIn, 1)
		add(0x08, swap2(to, new(big.Int).Sub(amountIn, part), new(big.Int), path, payer))
	}
	switch {
	case exactIn && version3:
		add(0x00, swap3(to, part, new(big.Int), path3(poolFee, path...), payer))
	case exactIn:
		add(0x08, swap2(to, part, new(big.Int), path, payer))
	case version3:
		back := slices.Clone(path)
		slices.Reverse(back)
		add(0x01, swap3(to, big.NewInt(1e6), amountIn, path3(poolFee, back...), payer))
	default:
		add(0x09, swap2(to, big.NewInt(1e6), amountIn, path, payer))
	}
}
