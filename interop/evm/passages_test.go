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

// TestPassages runs drawn batches of Multicall3 in which our money comes to shared contracts, and
// the user operations of a stranger's account take it out. Who has more afterwards is named by an
// effect, by our signature as far as the money was ours, and limits count no less than we lose.
func TestPassages(t *testing.T) {
	w := newWorld(t)
	w.empty(t)
	bare := w.state
	r := &random{rand.New(rand.NewPCG(53, 2)), w}
	wanted, runs, passed, bites := testenv.Draws(t, 500), 0, 0, 0
	for tries := 0; runs < wanted && tries < 40*wanted; tries++ {
		w.state = bare.Copy()
		compared := w.execute(t, draw{"passages", (*world).drawnPassages}, r)
		if compared == nil || slices.ContainsFunc(compared.effects, func(e chains.Effect) bool { return e.Undecoded && !w.genuine[common.BytesToAddress(e.To.Address())] }) {
			continue
		}
		runs++
		canonical := compared.effects
		compared.effects, _ = chains.Follow(canonical)
		compared.passages()
		for _, problem := range compared.problems {
			t.Errorf("%s\n%x\n%q", problem, compared.data, sentences(compared.effects))
		}
		if slices.ContainsFunc(compared.effects[len(canonical):], func(e chains.Effect) bool { return e.Kind != chains.KindCall }) {
			passed++
			less := *compared
			less.effects = canonical
			if less.passages(); len(less.problems) > 0 {
				bites++
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d runs, money passed on in %d, of which %d are noticed without the effects", runs, passed, bites)
	if runs < wanted || passed*10 < runs || bites*2 < passed {
		t.Errorf("%d runs of %d, money passed on in %d, of which %d are noticed", runs, wanted, passed, bites)
	}
}

// drawnPassages draws a batch.
func (w *world) drawnPassages(r *random) execution {
	token := r.tokenOf()
	calls := []inner{w.ourPassage(r, token)}
	for range 1 + r.IntN(4) {
		c := w.drawnPassage(r, token)
		c.loose = r.coin()
		calls = append(calls, c)
	}
	return aggregate(calls...)
}

// ourPassage brings a token of ours to a shared contract, mostly the router.
func (w *world) ourPassage(r *random, token common.Address) inner {
	to := []common.Address{multicall3, router, router, r.party()}[r.IntN(4)]
	return inner{to: token, value: new(big.Int), data: call("transferFrom(address,address,uint256)", w.signer, to, r.size())}
}

func (w *world) drawnPassage(r *random, token common.Address) inner {
	none := new(big.Int)
	if r.IntN(3) == 0 {
		token = r.tokenOf()
	}
	switch r.IntN(7) {
	case 0:
		return inner{to: weth, value: r.size(), data: call("deposit()")}
	case 1, 2:
		return w.ourPassage(r, token)
	case 3:
		return inner{to: token, value: none, data: call("transfer(address,uint256)", []common.Address{r.party(), router}[r.IntN(2)], r.size())}
	case 4, 5:
		e := w.entryPoints[r.IntN(2)] // later ones are called by accounts with a key alone
		data := structureCall("execute(address,uint256,bytes)", router, 0, w.takingPlan(r, token).data)
		if r.IntN(4) == 0 {
			data = structureCall("execute(address,uint256,bytes)", w.erc20, 0, call("transfer(address,uint256)", router, r.size()))
		}
		handled := e.handle(w.third, w.signedBy(w.other, r, e, operation{sender: e.account, data: data}))
		return inner{to: e.at, value: none, data: handled.data}
	}
	return inner{to: router, value: none, data: w.takingPlan(r, token).data}
}

// takingPlan takes from the router what is there.
func (w *world) takingPlan(r *random, token common.Address) execution {
	to := []common.Address{r.party(), {19: 1}, r.party()}[r.IntN(3)]
	if r.IntN(4) == 0 { // too late, so that it fails
		inputs := list(words(token, to, r.size()))
		return execution{to: router, value: new(big.Int), data: structureCall("execute(bytes,bytes[],uint256)", []byte{0x05}, inputs, now-1)}
	}
	switch r.IntN(3) {
	case 0:
		return commands([]byte{0x05}, words(token, to, r.sizeOrAll()))
	case 1:
		return commands([]byte{0x06}, words(token, to, []int{2500, 10_000}[r.IntN(2)]))
	}
	return commands([]byte{0x04}, words(token, to, 0))
}

// passages compares who has more afterwards with the effects.
func (c *comparison) passages() {
	holders := []common.Address{c.other, c.third, {0x44, 1}, {0x44, 2}, {0x44, 3}}
	for _, e := range c.entryPoints {
		holders = append(holders, e.account)
	}
	for _, token := range []common.Address{{}, c.erc20, c.token, weth} {
		change := func(at common.Address) *big.Int {
			b := book{token: token, account: at}
			return new(big.Int).Sub(c.holding(c.after, b), c.holding(c.before, b))
		}
		// gives is what a holder gives of its own, which is also what it gets from us.
		gives := func(at common.Address) *big.Int {
			if !slices.ContainsFunc(c.effects, func(e chains.Effect) bool { return e.From.Is(at[:]) && isAsset(e.Asset, token) }) {
				return new(big.Int)
			}
			given := new(big.Int).Sub(c.paid(token, at, true), change(at))
			return given.Mul(given, big.NewInt(int64(max(0, given.Sign()))))
		}
		given := new(big.Int)
		for _, at := range holders {
			if gives := gives(at); gives.Sign() > 0 {
				given.Add(given, gives)
			}
		}
		for _, at := range holders {
			more := change(at)
			if named := c.paid(token, at, false); more.Sign() > 0 && named.Cmp(more) < 0 {
				c.problem("%v has %v more of %v, and effects name %v", at, more, token, named)
			}
			ours := more.Sub(more, given)
			if named := c.paid(token, at, true); ours.Sign() > 0 && named.Cmp(ours) < 0 {
				c.problem("%v has %v of ours of %v, and effects by our signature name %v", at, ours, token, named)
			}
		}
		lost := change(c.signer)
		if counted := c.counted(token); counted.Cmp(lost.Neg(lost)) < 0 {
			c.problem("we lose %v of %v, and limits count %v", lost, token, counted)
		}
	}
}

// paid sums what effects give to an account.
func (c *comparison) paid(token, to common.Address, byUs bool) *big.Int {
	sum := new(big.Int)
	for i := range c.effects {
		e := &c.effects[i]
		moves := e.Kind == chains.KindTransfer || e.Kind == chains.KindMint || e.Kind == chains.KindReceive
		if moves && isAsset(e.Asset, token) && e.To.Is(to[:]) && (!byUs || e.By != chains.ByOther) {
			sum = bounded(sum, e.Amount)
		}
	}
	return sum
}

// counted sums what limits count.
func (c *comparison) counted(token common.Address) *big.Int {
	sum := new(big.Int)
	for i := range c.effects {
		if e := &c.effects[i]; isAsset(e.Asset, token) && e.By != chains.ByOther && e.Kind.Spends() && e.Kind != chains.KindApprove && !e.ToItself() {
			sum = bounded(sum, e.Counted())
		}
	}
	return sum
}

// isAsset reports whether an asset is a token, or the native one for the zero address.
func isAsset(asset chains.Asset, token common.Address) bool {
	return asset.Token.Is(token[:]) || token == common.Address{} && asset.IsNative()
}

// bounded adds an amount, or more than there is if nothing bounds it.
func bounded(sum *big.Int, amount chains.Quantity) *big.Int {
	if amount.IsUnknown() {
		return new(big.Int).Lsh(big.NewInt(1), 200)
	}
	return new(big.Int).Add(sum, amount.Value)
}
