package evm

import (
	"slices"

	"github.com/ethereum/go-ethereum/common"
)

// The contracts whose functions are decoded at known addresses only.
const (
	atWETH            contractSet = "WETH"
	atPermit2         contractSet = "Permit2"
	atUniversalRouter contractSet = "Universal Router"
	atMulticall3      contractSet = "Multicall3"
	atEntryPoint      contractSet = "EntryPoint" // any version
	atEntryPoint06    contractSet = "EntryPoint 0.6"
	atEntryPoint07    contractSet = "EntryPoint 0.7 or later"
	atMultiSend       contractSet = "MultiSend"         // any version
	atCallOnly        contractSet = "MultiSendCallOnly" // which others than Safes may call
	atDeposit         contractSet = "deposit contract"
	atWithdrawals     contractSet = "withdrawal requests (EIP-7002)"
	atConsolidations  contractSet = "consolidation requests (EIP-7251)"
	atCreate2Factory  contractSet = "CREATE2 factory"
	atAccountFactory  contractSet = "account factory"  // of smart accounts (ERC-4337)
	atBootloader      contractSet = "the chain itself" // of the ZK Stack
	atOpen            contractSet = "open contract"    // makes whatever call anyone wants
	atSweeper         contractSet = "open router"      // sends what it has to any caller that asks
)

// contract is a contract at a known address on some chains.
type contract struct {
	name   string
	sets   []contractSet
	chains []uint64 // nil: on every EVM chain, because the address commits to the code
	zero   bool     // the zero address stands for the caller of the delegatecall (MultiSend 1.5.0)

	also *contract // at the same address on other chains; nil: none
}

func (c *contract) on(chainID uint64) bool {
	switch {
	case c.chains != nil:
		return slices.Contains(c.chains, chainID)
	case chainID == zkSyncEra: // which computes addresses in another way, but runs EVM code as well
		return c.is(atMultiSend)
	}
	return chainID != tronMainnet
}

const (
	zkSyncEra   = 324
	tronMainnet = 728126428 // by its genesis block; its transactions name no network
)

var (
	ethereumChains = []uint64{1, 17000, 560048, 11155111}
	opStackChains  = []uint64{10, 130, 480, 1301, 8453, 34443, 84532, 7777777, 11155420}

	// Chains of the ZK Stack on which safe-deployments has builds of a Safe's contracts
	// for that machine, by the Safe's version.
	zkSafe130 = []uint64{232, 240, 280, 282, 300, 324, 388, 2741, 11124, 37111, 50104, 61166, 543210, 810180, 4457845, 531050104}
	zkSafe141 = []uint64{232, 300, 324, 2741, 11124, 50104, 531050104}

	// multicall3Chains are the chains in the contract's own list of deployments
	// (mds1/multicall3) that this package names.
	multicall3Chains = []uint64{1, 10, 56, 100, 130, 137, 146, 480, 4217, 5000, 8453, 17000, 42161, 42220, 42431, 43114, 59144,
		80094, 81457, 84532, 421614, 534352, 560048, 11155111, 11155420}
)

// contracts are the known contracts. Those without a list of chains were deployed
// through the CREATE2 factory, or by a transaction whose sender has no key: on every
// EVM chain the address has that code, or none.
var contracts = map[Address]*contract{
	hexAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3"): {name: "Permit2", sets: []contractSet{atPermit2}},
	hexAddress("0x0000000000225e31D15943971F47aD3022F714Fa"): {name: "Permit2", sets: []contractSet{atPermit2}, chains: []uint64{zkSyncEra, 2741}},
	hexAddress("0xcA11bde05977b3631167028862bE2a173976CA11"): {name: "Multicall3", sets: []contractSet{atMulticall3}, chains: multicall3Chains},
	hexAddress("0x4e59b44847b379578588920cA78FbF26c0B4956C"): {name: "CREATE2 factory", sets: []contractSet{atCreate2Factory}},

	hexAddress("0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789"): {name: "EntryPoint 0.6", sets: []contractSet{atEntryPoint, atEntryPoint06}},
	hexAddress("0x0000000071727De22E5E9d8BAf0edAc6f37da032"): {name: "EntryPoint 0.7", sets: []contractSet{atEntryPoint, atEntryPoint07}},
	hexAddress("0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108"): {name: "EntryPoint 0.8", sets: []contractSet{atEntryPoint, atEntryPoint07}},
	hexAddress("0x433709009B8330FDa32311DF1C2AFA402eD8D009"): {name: "EntryPoint 0.9", sets: []contractSet{atEntryPoint, atEntryPoint07}},

	hexAddress("0xA238CBeb142c10Ef7Ad8442C6D1f9E89e07e7761"): {name: "MultiSend 1.3.0", sets: []contractSet{atMultiSend}},
	hexAddress("0x998739BFdAAdde7C933B942a68053933098f9EDa"): {name: "MultiSend 1.3.0", sets: []contractSet{atMultiSend}},
	hexAddress("0x40A2aCCbd92BCA938b02010E17A5b8929b49130D"): {name: "MultiSendCallOnly 1.3.0", sets: []contractSet{atMultiSend, atCallOnly}},
	hexAddress("0xA1dabEF33b3B82c7814B6D82A79e50F4AC44102B"): {name: "MultiSendCallOnly 1.3.0", sets: []contractSet{atMultiSend, atCallOnly}},
	hexAddress("0x38869bf66a61cF6bDB996A6aE40D5853Fd43B526"): {name: "MultiSend 1.4.1", sets: []contractSet{atMultiSend}},
	hexAddress("0x9641d764fc13c8B624c04430C7356C1C7C8102e2"): {name: "MultiSendCallOnly 1.4.1", sets: []contractSet{atMultiSend, atCallOnly}},
	hexAddress("0x218543288004CD07832472D464648173c77D7eB7"): {name: "MultiSend 1.5.0", sets: []contractSet{atMultiSend}, zero: true},
	hexAddress("0xA83c336B20401Af773B6219BA5027174338D1836"): {name: "MultiSendCallOnly 1.5.0", sets: []contractSet{atMultiSend, atCallOnly}, zero: true},

	hexAddress("0x8D29bE29923b68abfDD21e541b9374737B49cdAD"): {name: "MultiSend 1.1.1", sets: []contractSet{atMultiSend}, chains: []uint64{1, 4, 5, 42, 88, 100, 246, 369, 73799}},
	hexAddress("0x0dFcccB95225ffB03c6FBB2559B530C2B7C8A912"): {name: "MultiSend 1.3.0", sets: []contractSet{atMultiSend}, chains: zkSafe130},
	hexAddress("0xf220D3b4DFb23C4ade8C88E526C1353AbAcbC38F"): {name: "MultiSendCallOnly 1.3.0", sets: []contractSet{atMultiSend, atCallOnly}, chains: zkSafe130},
	hexAddress("0x309D0B190FeCCa8e1D5D8309a16F7e3CB133E885"): {name: "MultiSend 1.4.1", sets: []contractSet{atMultiSend}, chains: zkSafe141},
	hexAddress("0x0408EF011960d02349d50286D20531229BCef773"): {name: "MultiSendCallOnly 1.4.1", sets: []contractSet{atMultiSend, atCallOnly}, chains: zkSafe141},

	hexAddress("0x00000000219ab540356cBB839Cbe05303d7705Fa"): {name: "deposit contract", sets: []contractSet{atDeposit}, chains: []uint64{1, 560048}},
	hexAddress("0x4242424242424242424242424242424242424242"): {name: "deposit contract", sets: []contractSet{atDeposit}, chains: []uint64{17000}},
	hexAddress("0x00000961Ef480Eb55e80D19ad83579A64c007002"): {name: "withdrawal requests (EIP-7002)", sets: []contractSet{atWithdrawals}, chains: ethereumChains},
	hexAddress("0x0000BBdDc7CE488642fb579F8B00f3a590007251"): {name: "consolidation requests (EIP-7251)", sets: []contractSet{atConsolidations}, chains: ethereumChains},

	hexAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"): {name: "WETH", sets: []contractSet{atWETH}, chains: []uint64{1}},
	hexAddress("0x4200000000000000000000000000000000000006"): {name: "WETH", sets: []contractSet{atWETH}, chains: opStackChains},
	hexAddress("0xfFf9976782d46CC05630D1f6eBAb18b2324d6B14"): {name: "WETH", sets: []contractSet{atWETH}, chains: []uint64{11155111}},
	hexAddress("0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270"): {name: "WPOL", sets: []contractSet{atWETH}, chains: []uint64{137}},
	hexAddress("0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c"): {name: "WBNB", sets: []contractSet{atWETH}, chains: []uint64{56}},
	hexAddress("0xe91D153E0b41518A2Ce8Dd3D7944Fa863463a97d"): {name: "WXDAI", sets: []contractSet{atWETH}, chains: []uint64{100}},
	hexAddress("0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7"): {name: "WAVAX", sets: []contractSet{atWETH}, chains: []uint64{43114}},
	hexAddress("0x82aF49447D8a07e3bd95BD0d56f35241523fBab1"): {name: "WETH", sets: []contractSet{atWETH}, chains: []uint64{42161}},
	hexAddress("0xe5D7C2a44FfDDf6b295A15c148167daaAf5Cf34f"): {name: "WETH", sets: []contractSet{atWETH}, chains: []uint64{59144}},
	hexAddress("0x980B62Da83eFf3D4576C647993b0c1D7faf17c73"): {name: "WETH", sets: []contractSet{atWETH}, chains: []uint64{421614}},
	hexAddress("0x4300000000000000000000000000000000000004"): {name: "WETH", sets: []contractSet{atWETH}, chains: []uint64{81457}},
	hexAddress("0x5300000000000000000000000000000000000004"): {name: "WETH", sets: []contractSet{atWETH}, chains: []uint64{534352}},
	hexAddress("0x5AEa5775959fBC2557Cc8789bC1bf90A239D9a91"): {name: "WETH", sets: []contractSet{atWETH}, chains: []uint64{zkSyncEra}},
	hexAddress("0x891cdb91d149f23B1a45D9c5Ca78a88d0cB44C18"): {name: "WTRX", sets: []contractSet{atWETH}, chains: []uint64{tronMainnet}},

	// Source: universal-router deploy-addresses. The same contract has other addresses
	// on other chains.
	hexAddress("0x3fC91A3afd70395Cd496C647d5a6CC9D4B2b7FAD"): {name: "Universal Router 1.2", sets: []contractSet{atUniversalRouter}, chains: []uint64{1, 8453, 11155111}},
	hexAddress("0xCb1355ff08Ab38bBCE60111F1bb2B784bE25D7e8"): {name: "Universal Router 1.2", sets: []contractSet{atUniversalRouter}, chains: []uint64{10}},
	hexAddress("0xec7BE89e9d109e7e3Fec59c222CF297125FEFda2"): {name: "Universal Router 1.2", sets: []contractSet{atUniversalRouter}, chains: []uint64{137}},
	hexAddress("0x5E325eDA8064b456f4781070C0738d849c824258"): {name: "Universal Router 1.2", sets: []contractSet{atUniversalRouter}, chains: []uint64{42161}},
	hexAddress("0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af"): {name: "Universal Router 2", sets: []contractSet{atUniversalRouter}, chains: []uint64{1}},
	hexAddress("0x6fF5693b99212Da76ad316178A184AB56D299b43"): {name: "Universal Router 2", sets: []contractSet{atUniversalRouter}, chains: []uint64{8453}},
	hexAddress("0xA51afAFe0263b40EdaEf0Df8781eA9aa03E381a3"): {name: "Universal Router 2", sets: []contractSet{atUniversalRouter}, chains: []uint64{42161}},
	hexAddress("0x851116D9223fabED8E56C0E6b8Ad0c31d98B3507"): {name: "Universal Router 2", sets: []contractSet{atUniversalRouter}, chains: []uint64{10}},
	hexAddress("0x1095692A6237d83C6a72F3F5eFEdb9A670C49223"): {name: "Universal Router 2", sets: []contractSet{atUniversalRouter}, chains: []uint64{137}},
	hexAddress("0x3A9D48AB9751398BbFa63ad67599Bb04e4BdF98b"): {name: "Universal Router 2", sets: []contractSet{atUniversalRouter}, chains: []uint64{11155111}},
	hexAddress("0x4Dae2f939ACf50408e13d58534Ff8c2776d45265"): {name: "Universal Router 1.2", sets: []contractSet{atUniversalRouter}, chains: []uint64{56, 43114}},
	hexAddress("0x4D73A4411CA1c660035e4AECC8270E5DdDEC8C17"): {name: "Universal Router 1.2", sets: []contractSet{atUniversalRouter}, chains: []uint64{130}},
	hexAddress("0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D"): {name: "Universal Router 1.2", sets: []contractSet{atUniversalRouter}, chains: []uint64{480},
		also: &contract{name: "Uniswap V2 Router 02", chains: []uint64{1}}},
	hexAddress("0x1906c1d672b88cD1B9aC7593301cA990F94Eae07"): {name: "Universal Router 2", sets: []contractSet{atUniversalRouter}, chains: []uint64{56}},
	hexAddress("0xEf740bf23aCaE26f6492B10de645D6B98dC8Eaf3"): {name: "Universal Router 2", sets: []contractSet{atUniversalRouter}, chains: []uint64{130}},
	hexAddress("0x8ac7bEE993bb44dAb564Ea4bc9EA67Bf9Eb5e743"): {name: "Universal Router 2", sets: []contractSet{atUniversalRouter}, chains: []uint64{480}},
	hexAddress("0x94b75331AE8d42C1b61065089B7d48FE14aA73b7"): {name: "Universal Router 2", sets: []contractSet{atUniversalRouter}, chains: []uint64{43114}},
	hexAddress("0x661E93cca42AfacB172121EF892830cA3b70F08d"): {name: "Universal Router 2", sets: []contractSet{atUniversalRouter}, chains: []uint64{59144}},

	// Contracts that anyone can drive: an approval to one that makes any call, and tokens that
	// one has, are everyone's. Sources: makerdao/multicall, mds1/multicall (deployments.json),
	// Uniswap/sdks (sdk-core addresses.ts), PancakeSwap, Vectorized/multicaller, Across'
	// deployments, and 0xProject/0x-settler, whose README forbids allowances to a Settler.
	hexAddress("0xeefBa1e63905eF1D7ACbA5a8513c70307C1cE441"): {name: "Multicall", sets: []contractSet{atOpen}, chains: []uint64{1}},
	hexAddress("0x5BA1e12693Dc8F9c48aAD8770482f4739bEeD696"): {name: "Multicall2", sets: []contractSet{atOpen}, chains: []uint64{1}},
	hexAddress("0xF9cda624FBC7e059355ce98a31693d299FACd963"): {name: "Multicall3", sets: []contractSet{atMulticall3}, chains: []uint64{zkSyncEra}},
	hexAddress("0x0000000000002Bdbf1Bf3279983603Ec279CC6dF"): {name: "Multicaller", sets: []contractSet{atOpen}},
	hexAddress("0x00000000002Fd5Aeb385D324B580FCa7c83823A0"): {name: "Multicaller with sender", sets: []contractSet{atOpen}},
	hexAddress("0x000000000000D9ECebf3C23529de49815Dac1c4c"): {name: "Multicaller with signer", sets: []contractSet{atOpen}},
	hexAddress("0x924a9f036260DdD5808007E1AA95f08eD08aA569"): {name: "Across multicall handler", sets: []contractSet{atOpen}, chains: []uint64{1, 10, 137, 8453, 42161, 534352}},
	hexAddress("0x70bf6634eE8Cb27D04478f184b9b8BB13E5f4710"): {name: "0x Settler", sets: []contractSet{atOpen}, chains: []uint64{1}},
	hexAddress("0xE592427A0AEce92De3Edee1F18E0157C05861564"): {name: "Uniswap V3 SwapRouter", sets: []contractSet{atSweeper}, chains: []uint64{1, 10, 137, 42161}},
	hexAddress("0x1F98415757620B543A52E61c46B32eB19261F984"): {name: "Uniswap interface multicall", sets: []contractSet{atOpen}, chains: []uint64{1, 10, 137}},
	hexAddress("0xadF885960B47eA2CD9B55E6DAc6B42b7Cb2806dB"): {name: "Uniswap interface multicall", sets: []contractSet{atOpen}, chains: []uint64{42161}},
	hexAddress("0x963Df249eD09c358A4819E39d9Cd5736c3087184"): {name: "Uniswap interface multicall", sets: []contractSet{atOpen}, chains: []uint64{56}},
	hexAddress("0x0139141Cd4Ee88dF3Cdb65881D411bAE271Ef0C2"): {name: "Uniswap interface multicall", sets: []contractSet{atOpen}, chains: []uint64{43114}},
	hexAddress("0x091e99cb1C49331a94dD62755D168E941AbD0693"): {name: "Uniswap interface multicall", sets: []contractSet{atOpen}, chains: []uint64{8453}},
	hexAddress("0x633987602DE5C4F337e3DbF265303A1080324204"): {name: "Uniswap interface multicall", sets: []contractSet{atOpen}, chains: []uint64{42220}},
	hexAddress("0xdC7f370de7631cE9e2c2e1DCDA6B3B5744Cf4705"): {name: "Uniswap interface multicall", sets: []contractSet{atOpen}, chains: []uint64{81457}},
	hexAddress("0xA51c76bEE6746cB487a7e9312E43e2b8f4A37C15"): {name: "Uniswap interface multicall", sets: []contractSet{atOpen}, chains: []uint64{7777777}},
	hexAddress("0xD7F33bCdb21b359c8ee6F0251d30E94832baAd07"): {name: "Uniswap interface multicall", sets: []contractSet{atOpen}, chains: []uint64{11155111}},
	hexAddress("0xC36442b4a4522E871399CD717aBDD847Ab11FE88"): {name: "Uniswap V3 positions", sets: []contractSet{atSweeper}, chains: []uint64{1, 10, 137, 42161}},
	hexAddress("0x7b8A01B39D58278b5DE7e48c8449c9f4F5170613"): {name: "Uniswap V3 positions", sets: []contractSet{atSweeper}, chains: []uint64{56}},
	hexAddress("0x655C406EBFa14EE2006250925e54ec43AD184f8B"): {name: "Uniswap V3 positions", sets: []contractSet{atSweeper}, chains: []uint64{43114}},
	hexAddress("0x03a520b32C04BF3bEEf7BEb72E919cf822Ed34f1"): {name: "Uniswap V3 positions", sets: []contractSet{atSweeper}, chains: []uint64{8453}},
	hexAddress("0x3d79EdAaBC0EaB6F08ED885C05Fc0B014290D95A"): {name: "Uniswap V3 positions", sets: []contractSet{atSweeper}, chains: []uint64{42220}},
	hexAddress("0xB218e4f7cF0533d4696fDfC419A0023D33345F28"): {name: "Uniswap V3 positions", sets: []contractSet{atSweeper}, chains: []uint64{81457}},
	hexAddress("0xbC91e8DfA3fF18De43853372A3d7dfe585137D78"): {name: "Uniswap V3 positions", sets: []contractSet{atSweeper}, chains: []uint64{7777777}},
	hexAddress("0x1238536071E1c677A632429e3655c799b22cDA52"): {name: "Uniswap V3 positions", sets: []contractSet{atSweeper}, chains: []uint64{11155111}},
	hexAddress("0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45"): {name: "Uniswap SwapRouter02", sets: []contractSet{atSweeper}, chains: []uint64{1, 10, 137, 42161}},
	hexAddress("0xB971eF87ede563556b2ED4b1C0b0019111Dd85d2"): {name: "Uniswap SwapRouter02", sets: []contractSet{atSweeper}, chains: []uint64{56}},
	hexAddress("0xbb00FF08d01D300023C629E8fFfFcb65A5a578cE"): {name: "Uniswap SwapRouter02", sets: []contractSet{atSweeper}, chains: []uint64{43114}},
	hexAddress("0x2626664c2603336E57B271c5C0b26F421741e481"): {name: "Uniswap SwapRouter02", sets: []contractSet{atSweeper}, chains: []uint64{8453}},
	hexAddress("0x549FEB8c9bd4c12Ad2AB27022dA12492aC452B66"): {name: "Uniswap SwapRouter02", sets: []contractSet{atSweeper}, chains: []uint64{81457}},
	hexAddress("0x7De04c96BE5159c3b5CeffC82aa176dc81281557"): {name: "Uniswap SwapRouter02", sets: []contractSet{atSweeper}, chains: []uint64{7777777}},
	hexAddress("0x3bFA4769FB09eefC5a80d6E87c3B9C650f7Ae48E"): {name: "Uniswap SwapRouter02", sets: []contractSet{atSweeper}, chains: []uint64{11155111}},
	hexAddress("0x4752ba5DBc23f44D87826276BF6Fd6b1C372aD24"): {name: "Uniswap V2 Router 02", chains: []uint64{56, 8453, 42161, 43114}},
	hexAddress("0x4A7b5Da61326A6379179b40d00F57E5bbDC962c2"): {name: "Uniswap V2 Router 02", chains: []uint64{10}},
	hexAddress("0xedf6066a2b290C185783862C7F4776A2C8077AD1"): {name: "Uniswap V2 Router 02", chains: []uint64{137}},
	hexAddress("0xBB66Eb1c5e875933D44DAe661dbD80e5D9B03035"): {name: "Uniswap V2 Router 02", chains: []uint64{81457}},
	hexAddress("0x13f4EA83D0bd40E75C8222255bc855a974568Dd4"): {name: "PancakeSwap smart router", sets: []contractSet{atSweeper}, chains: []uint64{56}},
	hexAddress("0x10ED43C718714eb63d5aA57B78B54704E256024E"): {name: "PancakeSwap V2 router", chains: []uint64{56}},

	// Factories of smart accounts (ERC-4337). They were deployed through CREATE2, so that
	// their addresses commit to their code. Sources: safe-global/safe-deployments v1.3.0 to
	// v1.5.0, eth-infinitism/account-abstraction deployments, coinbase/smart-wallet,
	// alchemyplatform/light-account and modular-account, zerodevapp/kernel releases, and
	// Biconomy's list of Nexus contracts, compared with pimlicolabs/permissionless.js.
	hexAddress("0xa6B71E26C5e0845f74c812102Ca7114b6a896AB2"): {name: "Safe 1.3.0 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0xC22834581EbC8527d974F8a1c97E1bEA4EF910BC"): {name: "Safe 1.3.0 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67"): {name: "Safe 1.4.1 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0x14F2982D601c9458F93bd70B218933A6f8165e7b"): {name: "Safe 1.5.0 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0x9406Cc6185a346906296840746125a0E44976454"): {name: "SimpleAccount 0.6 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0x91E60e0613810449d098b0b5Ec8b51A0FE8c8985"): {name: "SimpleAccount 0.7 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0x13E9ed32155810FDbd067D4522C492D6f68E5944"): {name: "SimpleAccount 0.8 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0x0BA5ED0c6AA8c49038F819E587E2633c4A9F428a"): {name: "Coinbase Smart Wallet 1 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0xBA5ED110eFDBa3D005bfC882d75358ACBbB85842"): {name: "Coinbase Smart Wallet 1.1 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0x00004EC70002a32400f8ae005A26081065620D20"): {name: "Light Account 1.1 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0x0000000000400CdFef5E2714E63d8040b700BC24"): {name: "Light Account 2 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0x000000000019d2Ee9F2729A65AfE20bb0020AefC"): {name: "Multi-Owner Light Account 2 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0x00000000000017c61b5bEe81050EC8eFc9c6fecd"): {name: "Modular Account 2 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0x5de4839a76cf55d0c90e2061ef4386d962E15ae3"): {name: "Kernel 2 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0x6723b44Abeec4E71eBE3232BD5B455805baDD22f"): {name: "Kernel 3.0 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0xaac5D4240AF87249B3f71BC8E4A2cae074A3E419"): {name: "Kernel 3.1 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0x7a1dBAB750f12a90EB1B60D2Ae3aD17D4D81EfFe"): {name: "Kernel 3.2 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0x2577507b78c2008Ff367261CB6285d44ba5eF2E9"): {name: "Kernel 3.3 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0xd703aaE79538628d27099B8c4f621bE4CCd142d5"): {name: "Kernel 3 factory staker", sets: []contractSet{atAccountFactory}},
	hexAddress("0x000000c3A93d2c5E02Cb053AC675665b1c4217F9"): {name: "Nexus 1.0.2 factory", sets: []contractSet{atAccountFactory}},
	hexAddress("0x000000001D1D5004a02bAfAb9de2D6CE5b7B13de"): {name: "Nexus 1.2.0 factory", sets: []contractSet{atAccountFactory}},
}

func hexAddress(text string) Address { return Address(common.HexToAddress(text)) }

// known returns the contract at an address, nil if none is known there.
func (n *Network) known(address Address) *contract {
	chainID := n.ChainID
	if n.ID == tronNetwork {
		chainID = tronMainnet
	}
	for c := contracts[address]; chainID != 0 && c != nil; c = c.also {
		if c.on(chainID) {
			return c
		}
	}
	return nil
}

func (n *Network) isKnown(address Address, w contractSet) bool {
	c := n.known(address)
	return c != nil && c.is(w)
}

func (c *contract) is(w contractSet) bool { return slices.Contains(c.sets, w) }

func (c *contract) isOneOf(kinds []contractSet) bool { return slices.ContainsFunc(kinds, c.is) }

// KnownName returns the name of the known contract at an address, empty if there is
// none.
func (n *Network) KnownName(address Address) string {
	if c := n.known(address); c != nil {
		return c.name
	}
	return ""
}
