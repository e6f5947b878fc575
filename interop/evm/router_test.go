package evm

import (
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
)

// deployRouter deploys the factories of Uniswap v2 and v3, and a Universal Router over
// them.
func (w *world) deployRouter(t *testing.T) {
	pair, pool := artifact(t, "@uniswap", "v2-core", "build", "UniswapV2Pair.json"), artifact(t, "@uniswap", "v3-core", "artifacts", "contracts", "UniswapV3Pool.sol", "UniswapV3Pool.json")
	w.v2 = w.deploy(t, w.signer, artifact(t, "@uniswap", "v2-core", "build", "UniswapV2Factory.json"), 0)
	w.v3 = w.deploy(t, w.signer, artifact(t, "@uniswap", "v3-core", "artifacts", "contracts", "UniswapV3Factory.sol", "UniswapV3Factory.json"))
	w.install(t, router, artifact(t, "@uniswap", "universal-router", "artifacts", "contracts", "UniversalRouter.sol", "UniversalRouter.json"),
		permit2, weth, w.v2, w.v3, crypto.Keccak256Hash(pair), crypto.Keccak256Hash(pool), 0, 0, 0, 0)
}

const (
	poolFee = 3000 // millionths
	thinFee = 500  // of the pool with little liquidity
)

// fundPools creates and funds the pools for the pairs ERC-20/token and token/WETH. Those
// of v3 have a price of one.
func (w *world) fundPools(t *testing.T) {
	w.pools = map[common.Address]bool{}
	liquidity := w.deploy(t, w.signer, w.own("Liquidity"))
	supply := func(token, to common.Address, amount int64) {
		w.must(t, w.signer, token, 0, call("transfer(address,uint256)", to, big.NewInt(amount)))
	}
	for _, token := range []common.Address{w.erc20, w.token, weth} {
		supply(token, liquidity, 1e13)
	}
	for _, tokens := range [][2]common.Address{{w.erc20, w.token}, {w.token, weth}} {
		w.must(t, w.signer, w.v2, 0, call("createPair(address,address)", tokens[0], tokens[1]))
		pair := common.BigToAddress(w.view(w.state, w.v2, "getPair(address,address)", tokens[0], tokens[1]))
		supply(tokens[0], pair, 1e12)
		supply(tokens[1], pair, 3e12)
		w.must(t, w.signer, pair, 0, call("mint(address)", w.third))
		w.pools[pair] = true
		w.pool(t, tokens, poolFee, 60, liquidity, 1e12)
	}
	w.pool(t, [2]common.Address{w.erc20, w.token}, thinFee, 10, liquidity, 1e7)
}

func (w *world) pool(t *testing.T, tokens [2]common.Address, fee, spacing int, liquidity common.Address, amount int64) {
	w.must(t, w.signer, w.v3, 0, call("createPool(address,address,uint24)", tokens[0], tokens[1], fee))
	pool := common.BigToAddress(w.view(w.state, w.v3, "getPool(address,address,uint24)", tokens[0], tokens[1], fee))
	w.must(t, w.signer, pool, 0, call("initialize(uint160)", new(big.Int).Lsh(big.NewInt(1), 96)))
	low := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(int64(spacing)*100))
	w.must(t, w.signer, liquidity, 0, call("provide(address,int24,int24,uint128)", pool, low, spacing*100, big.NewInt(amount)))
	w.pools[pool] = true
}

// swaps reports whether the effects include a swap: its pools are parties that the
// calldata does not name.
func (c *comparison) swaps() bool {
	return slices.ContainsFunc(c.effects, func(e chains.Effect) bool { return e.From.IsUnknown() || e.To.IsUnknown() })
}

// pooled reports whether a slot belongs to a pool that a swap goes through: a slot of the
// pool itself, or its balance of a token. It may also be the router's balance of a token
// in the middle of the path, if that did not fall.
func (c *comparison) pooled(contract common.Address, keys []common.Hash) bool {
	if !c.swaps() {
		return false
	}
	party := lastAddress(keys)
	if party == router && len(c.on(contract)) == 0 {
		b := book{token: contract, account: router}
		return c.holding(c.after, b).Cmp(c.holding(c.before, b)) >= 0
	}
	return c.pools[contract] || len(keys) == 1 && c.pools[party]
}

// commands returns an execute call of a Universal Router.
func commands(bytes []byte, inputs ...any) execution {
	return execution{to: router, value: new(big.Int), data: structureCall("execute(bytes,bytes[])", bytes, list(inputs...))}
}

// route returns a path of two or three tokens, in either direction.
func (r *random) route() []common.Address {
	path := []common.Address{r.w.erc20, r.w.token, weth}[:2+r.IntN(2)]
	path = slices.Clone(path)
	if r.coin() {
		slices.Reverse(path)
	}
	return path
}

// path3 encodes a path of v3: tokens with the fee between them.
func path3(fee int, tokens ...common.Address) (path []byte) {
	for i, token := range tokens {
		if i > 0 {
			path = append(path, byte(fee>>16), byte(fee>>8), byte(fee))
		}
		path = append(path, token[:]...)
	}
	return path
}

// receiver returns a party, or the placeholder for the caller (1) or the router (2).
func (r *random) receiver() common.Address {
	return []common.Address{r.party(), {19: 1}, {19: 2}}[r.IntN(3)]
}

// swap2 encodes the input of a v2 swap.
func swap2(to common.Address, first, second *big.Int, path []common.Address, payer bool) []byte {
	list := words(len(path))
	for _, token := range path {
		list = append(list, words(token)...)
	}
	return structure(to, first, second, raw(list), payer)
}

// swap3 encodes the input of a v3 swap.
func swap3(to common.Address, first, second *big.Int, path []byte, payer bool) []byte {
	return structure(to, first, second, path, payer)
}

var most = big.NewInt(1e12)

var swapDraws = []draw{
	{"Universal Router V2_SWAP_EXACT_IN", func(_ *world, r *random) execution {
		return commands([]byte{0x08}, swap2(r.receiver(), r.amount(1e9), r.amount(1e3), r.route(), r.coin()))
	}},
	{"Universal Router V2_SWAP_EXACT_IN, paid before", func(w *world, r *random) execution {
		pair := common.BigToAddress(w.view(w.state, w.v2, "getPair(address,address)", w.erc20, w.token))
		return commands([]byte{0x05, 0x08}, words(w.erc20, pair, r.amount(1e9)), swap2(r.receiver(), new(big.Int), r.amount(1e3), []common.Address{w.erc20, w.token}, r.coin()))
	}},
	{"Universal Router V2_SWAP_EXACT_IN, all that it has", func(w *world, r *random) execution {
		return commands([]byte{0x08}, swap2(r.receiver(), contractBalance, r.amount(1e3), r.route(), false))
	}},
	{"Universal Router V2_SWAP_EXACT_OUT", func(_ *world, r *random) execution {
		return commands([]byte{0x09}, swap2(r.receiver(), r.amount(1e9), most, r.route(), r.coin()))
	}},
	{"Universal Router V3_SWAP_EXACT_IN", func(_ *world, r *random) execution {
		return commands([]byte{0x00}, swap3(r.receiver(), r.amount(1e9), r.amount(1e3), path3(poolFee, r.route()...), r.coin()))
	}},
	{"Universal Router V3_SWAP_EXACT_IN, of a pool that has little", func(w *world, r *random) execution {
		return commands([]byte{0x00}, swap3(r.receiver(), r.amount(1e12), r.amount(1e3), path3(thinFee, w.erc20, w.token), r.coin()))
	}},
	{"Universal Router V3_SWAP_EXACT_IN, all that it has", func(_ *world, r *random) execution {
		return commands([]byte{0x00}, swap3(r.receiver(), contractBalance, r.amount(1e3), path3(poolFee, r.route()...), r.coin()))
	}},
	{"Universal Router V3_SWAP_EXACT_OUT", func(_ *world, r *random) execution {
		return commands([]byte{0x01}, swap3(r.receiver(), r.amount(1e9), most, path3(poolFee, r.route()...), r.coin()))
	}},
	{"Universal Router WRAP_ETH, a swap, SWEEP", func(w *world, r *random) execution {
		value := r.amount(1e9)
		return commands([]byte{0x0b, 0x00, 0x04}, words(common.Address{19: 2}, value),
			swap3(common.Address{19: 2}, value, new(big.Int), path3(poolFee, weth, w.token, w.erc20), false), words(w.erc20, r.party(), 1)).with(value)
	}},
	{"Universal Router a swap to WETH, UNWRAP_WETH", func(w *world, r *random) execution {
		return commands([]byte{0x08, 0x0c}, swap2(common.Address{19: 2}, r.amount(1e9), new(big.Int), []common.Address{w.erc20, w.token, weth}, true), words(r.party(), 1))
	}},
	{"Universal Router PERMIT2_TRANSFER_FROM_BATCH", func(w *world, r *random) execution {
		return commands([]byte{0x0d}, words(32, 2, w.signer, r.party(), r.amount(1e9), w.erc20, w.signer, r.party(), r.amount(1e9), w.erc20))
	}},
	{"Universal Router BALANCE_CHECK_ERC20, a transfer", func(w *world, r *random) execution {
		return commands([]byte{0x0e, 0x02}, words(r.party(), w.erc20, 0), words(w.erc20, r.party(), r.amount(1e9)))
	}},
}

// contractBalance is the router's placeholder for its whole balance of a token.
var contractBalance = new(big.Int).Lsh(big.NewInt(1), 255)

var routerDraws = []draw{
	{"Universal Router PERMIT2_TRANSFER_FROM", func(w *world, r *random) execution {
		return commands([]byte{0x02}, words(w.erc20, r.party(), r.amount(1e9)))
	}},
	{"Universal Router SWEEP", func(w *world, r *random) execution {
		return commands([]byte{0x04}, words([]common.Address{w.erc20, {}}[r.IntN(2)], r.party(), r.amount(1e9)))
	}},
	{"Universal Router TRANSFER", func(w *world, r *random) execution {
		return commands([]byte{0x05}, words([]common.Address{w.erc20, {}}[r.IntN(2)], r.party(), r.amount(1e9)))
	}},
	{"Universal Router PAY_PORTION", func(w *world, r *random) execution {
		return commands([]byte{0x06}, words(w.erc20, r.party(), 1+r.IntN(10_000)))
	}},
	{"Universal Router PERMIT2_PERMIT", func(w *world, r *random) execution {
		permit, signature := w.permit2Single(r, w.signer, router)
		return commands([]byte{0x0a}, words(append(permit, 224, signature)...))
	}},
	{"Universal Router WRAP_ETH", func(w *world, r *random) execution {
		value := r.amount(1e9)
		return commands([]byte{0x0b}, words(r.party(), value)).with(value)
	}},
	{"Universal Router UNWRAP_WETH", func(w *world, r *random) execution {
		return commands([]byte{0x0c}, words(r.party(), r.amount(1e9)))
	}},
	{"Universal Router TRANSFER, to itself and its caller", func(w *world, r *random) execution {
		return commands([]byte{0x05, 0x05}, words(w.erc20, common.Address{19: 1}, r.amount(1e9)), words(w.erc20, common.Address{19: 2}, r.amount(1e9)))
	}},
}
