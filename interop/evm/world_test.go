package evm

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// Contracts with well-known addresses.
var (
	weth       = common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
	permit2    = common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")
	multicall3 = common.HexToAddress("0xcA11bde05977b3631167028862bE2a173976CA11")
	router     = common.HexToAddress("0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af")
	multiSend  = common.HexToAddress("0x218543288004CD07832472D464648173c77D7eB7")
	callOnly   = common.HexToAddress("0xA83c336B20401Af773B6219BA5027174338D1836")
	factory    = common.HexToAddress("0x4e59b44847b379578588920cA78FbF26c0B4956C")
	registry   = common.HexToAddress("0x1820a4B7618BdE71Dce8cdc73aAB6C95905faD24") // ERC-1820
)

// standard is a token's standard, which decides how balances and permissions are read.
type standard string

const (
	erc20   standard = "erc20"
	erc721  standard = "erc721"
	erc1155 standard = "erc1155"
	erc6909 standard = "erc6909"
	erc777  standard = "erc777"
)

// world has the contracts, and the accounts that use them.
type world struct {
	*machine
	signer, other, third common.Address
	fourth               common.Address // only delegates itself
	secrets              map[common.Address][]byte

	erc20, erc721, erc1155, erc777, erc6909, token common.Address
	quiet                                          common.Address // answers false instead of failing
	safe, ethReceiver, unlisted                    common.Address // unlisted: a MultiSendCallOnly at another address
	entryPoints                                    []*entryPoint
	v2, v3                                         common.Address // Uniswap's factories
	pools                                          map[common.Address]bool
	owned, pending, uups, admin, proxy, plain      common.Address // plain: a proxy whose admin is the signer
	modular, many, yes, blank                      common.Address // blank: a Safe that is not set up
	implementations                                []common.Address
	tokens                                         map[common.Address]standard
	genuine                                        map[common.Address]bool   // contracts whose functions do what their names claim
	vault                                          common.Address            // of token (ERC-4626)
	nonces                                         map[common.Address]uint64 // the slot where a contract counts an account's messages
	source                                         map[string]struct{ Bytecode string }
}

func newWorld(t *testing.T) *world {
	w := &world{machine: newMachine(t), secrets: map[common.Address][]byte{}, genuine: map[common.Address]bool{}, nonces: map[common.Address]uint64{}, source: compiled(t)}
	w.signer, w.other, w.third = w.newAccount(t, 0x46), w.newAccount(t, 0x47), common.Address{0x33, 1}
	w.fourth = w.newAccount(t, 0x48)
	w.deployTokens(t)
	w.deployOwned(t)
	w.deploySafe(t)
	w.deployKnown(t)
	w.deployEntryPoints(t)
	w.deployRouter(t)
	w.fund(t)
	w.fundAccounts(t)
	w.fundPools(t)
	w.deployStaking(t)
	w.deployVault(t)
	return w
}

// newAccount creates the account of a secret that repeats a byte, and funds it.
func (w *world) newAccount(t *testing.T, secret byte) common.Address {
	t.Helper()
	raw := make([]byte, 32)
	for i := range raw {
		raw[i] = secret
	}
	key, err := crypto.ToECDSA(raw)
	testenv.Must(t, err)
	at := crypto.PubkeyToAddress(key.PublicKey)
	w.secrets[at] = raw
	w.state.AddBalance(at, uint256.NewInt(1e18), tracing.BalanceChangeUnspecified)
	return at
}

// sign signs a digest with an account's key.
func (w *world) sign(account common.Address, digest []byte) (v int, r, s common.Hash) {
	key, err := crypto.ToECDSA(w.secrets[account])
	if err != nil {
		panic(err)
	}
	signature, err := crypto.Sign(digest, key)
	if err != nil {
		panic(err)
	}
	return int(signature[64]) + 27, common.Hash(signature[:32]), common.Hash(signature[32:64])
}

func openzeppelin(t *testing.T, name string) []byte {
	t.Helper()
	return artifact(t, "@openzeppelin", "contracts", "build", "contracts", name+".json")
}

func (w *world) own(name string) []byte { return common.FromHex(w.source[name].Bytecode) }

func (w *world) deployTokens(t *testing.T) {
	w.state.SetCode(registry, []byte{0x5f, 0x5f, 0x52, 0x60, 0x20, 0x5f, 0xf3}, tracing.CodeChangeUnspecified) // returns zero: there are no hooks
	name := []any{[]byte("Token"), []byte("TOK")}
	w.erc20 = w.deploy(t, w.signer, openzeppelin(t, "ERC20PresetFixedSupply"), append([]any{128, 192, big.NewInt(1e18), w.signer}, name...)...)
	w.erc721 = w.deploy(t, w.signer, openzeppelin(t, "ERC721PresetMinterPauserAutoId"), append([]any{96, 160, 224}, append(name, []byte{})...)...)
	w.erc1155 = w.deploy(t, w.signer, openzeppelin(t, "ERC1155PresetMinterPauser"), 32, 0)
	w.erc777 = w.deploy(t, w.signer, openzeppelin(t, "ERC777PresetFixedSupply"), append([]any{160, 224, 288, big.NewInt(1e18), w.signer}, append(name, 0)...)...)
	w.erc6909 = w.deploy(t, w.signer, w.own("Multi"), w.signer, w.other)
	w.token = w.deploy(t, w.signer, w.own("Token"), w.signer)
	w.quiet = w.deploy(t, w.signer, w.own("Quiet"), w.signer)
	w.ethReceiver = w.deploy(t, w.signer, w.own("Receiver"))
	w.tokens = map[common.Address]standard{w.erc20: erc20, w.erc721: erc721, w.erc1155: erc1155, w.erc777: erc777, w.erc6909: erc6909, w.token: erc20, weth: erc20}
}

func (w *world) deployOwned(t *testing.T) {
	w.owned = w.deploy(t, w.signer, w.own("Owned"), w.signer)
	w.pending = w.deploy(t, w.other, w.own("Pending"), w.signer)
	for range 2 {
		w.implementations = append(w.implementations, w.deploy(t, w.third, w.own("Owned"), w.third))
	}
	initialize := call("initialize(address)", w.signer)
	w.modular, w.many, w.yes = w.deploy(t, w.signer, w.own("Modular"), w.signer), w.deploy(t, w.signer, w.own("Many"), w.signer), w.deploy(t, w.signer, w.own("Yes"))
	w.uups = w.deploy(t, w.signer, openzeppelin(t, "ERC1967Proxy"), w.implementations[0], 64, initialize)
	w.admin = w.deploy(t, w.signer, openzeppelin(t, "ProxyAdmin"))
	w.proxy = w.deploy(t, w.signer, openzeppelin(t, "TransparentUpgradeableProxy"), w.implementations[0], w.admin, 96, []byte{})
	w.plain = w.deploy(t, w.other, openzeppelin(t, "TransparentUpgradeableProxy"), w.implementations[0], w.signer, 96, []byte{})
	for _, at := range []common.Address{w.modular, w.many, w.plain, w.owned, w.pending, w.uups, w.admin} {
		w.genuine[at] = true
	}
}

// deploySafe deploys a Safe with the owners signer and other, of whom one must sign.
func (w *world) deploySafe(t *testing.T) {
	of := func(folder, name string) []byte {
		return artifact(t, "@safe-global", "safe-smart-account", "build", "artifacts", "contracts", folder, name+".sol", name+".json")
	}
	singleton := w.deploy(t, w.signer, of("", "Safe"))
	w.safe = w.deploy(t, w.signer, of("proxies", "SafeProxy"), singleton)
	w.blank = w.deploy(t, w.signer, of("proxies", "SafeProxy"), singleton)
	w.genuine[w.blank] = true
	w.must(t, w.signer, w.safe, 0, call("setup(address[],uint256,address,bytes,address,address,uint256,address)",
		256, 1, 0, 352, 0, 0, 0, 0, 2, w.signer, w.other, []byte{}))
	w.must(t, w.signer, w.safe, 0, w.safeOwn("enableModule(address)", w.third).data)
	w.install(t, multiSend, of("libraries", "MultiSend"))
	w.install(t, callOnly, of("libraries", "MultiSendCallOnly"))
	w.unlisted = w.deploy(t, w.signer, of("libraries", "MultiSendCallOnly"))
	w.genuine[w.safe], w.genuine[w.ethReceiver], w.genuine[w.unlisted] = true, true, true
}

// deployKnown installs contracts at their well-known addresses.
func (w *world) deployKnown(t *testing.T) {
	w.install(t, weth, artifact(t, "canonical-weth", "build", "contracts", "WETH9.json"))
	w.state.SetCode(multicall3, preinstalled(t, "MultiCall3"), tracing.CodeChangeUnspecified)
	w.state.SetCode(factory, preinstalled(t, "DeterministicDeploymentProxy"), tracing.CodeChangeUnspecified)
	// The template has no chain id in its code, so that it computes its domain on each call.
	w.state.SetCode(permit2, preinstalled(t, "Permit2Template"), tracing.CodeChangeUnspecified)
}

// fund gives the accounts tokens and permissions.
func (w *world) fund(t *testing.T) {
	thousand, unlimited := big.NewInt(1e15), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	for _, to := range []common.Address{w.other, w.safe, router, multicall3} {
		for _, token := range []common.Address{w.erc20, w.token} {
			w.must(t, w.signer, token, 0, call("transfer(address,uint256)", to, thousand))
		}
		w.must(t, w.signer, weth, 1e9, call("deposit()"))
		w.must(t, w.signer, weth, 0, call("transfer(address,uint256)", to, big.NewInt(1e9)))
		w.state.AddBalance(to, uint256.NewInt(1e15), tracing.BalanceChangeUnspecified)
	}
	w.must(t, w.signer, weth, 1e15, call("deposit()"))
	w.must(t, w.signer, w.erc777, 0, call("transfer(address,uint256)", w.other, thousand))
	w.must(t, w.other, w.erc777, 0, call("authorizeOperator(address)", w.signer))
	w.must(t, w.signer, w.erc777, 0, call("authorizeOperator(address)", w.other))
	for _, token := range []common.Address{w.erc20, w.token, weth} {
		w.must(t, w.other, token, 0, call("approve(address,uint256)", w.signer, thousand))
		for _, owner := range []common.Address{w.signer, w.other} {
			w.must(t, owner, token, 0, call("approve(address,uint256)", permit2, unlimited))
		}
	}
	for _, spender := range []common.Address{w.signer, router} {
		for _, token := range []common.Address{w.erc20, w.token, weth} {
			w.must(t, w.other, permit2, 0, call("approve(address,address,uint160,uint48)", token, spender, thousand, now+1000))
			w.must(t, w.signer, permit2, 0, call("approve(address,address,uint160,uint48)", token, spender, thousand, now+1000))
		}
	}
	for range 4 {
		w.must(t, w.signer, w.erc721, 0, call("mint(address)", w.signer))
	}
	for id := range 3 {
		w.must(t, w.signer, w.erc1155, 0, call("mint(address,uint256,uint256,bytes)", w.signer, id, int(1e9), 128, []byte{}))
	}
}
