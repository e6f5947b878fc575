package chains

import "strings"

// Network is the usual name of a chain, and the unit of its native asset.
type Network struct {
	Name     string // empty if it is not known
	Symbol   string // ticker of the native asset; "native" if it is not known
	Decimals int
}

// networks are well-known chains by CAIP-2 id, with the names and tickers of the
// registry of EIP-155 chain ids. Transactions of other chains can be signed too.
var networks = map[string]Network{
	"eip155:1":          {"Ethereum", "ETH", 18},
	"eip155:10":         {"OP Mainnet", "ETH", 18},
	"eip155:14":         {"Flare", "FLR", 18},
	"eip155:19":         {"Songbird", "SGB", 18},
	"eip155:25":         {"Cronos", "CRO", 18},
	"eip155:30":         {"Rootstock", "RBTC", 18},
	"eip155:40":         {"Telos", "TLOS", 18},
	"eip155:50":         {"XDC Network", "XDC", 18},
	"eip155:56":         {"BNB Smart Chain", "BNB", 18},
	"eip155:100":        {"Gnosis", "xDAI", 18},
	"eip155:108":        {"ThunderCore", "TT", 18},
	"eip155:109":        {"Shibarium", "BONE", 18},
	"eip155:130":        {"Unichain", "ETH", 18},
	"eip155:137":        {"Polygon", "POL", 18},
	"eip155:143":        {"Monad", "MON", 18},
	"eip155:146":        {"Sonic", "S", 18},
	"eip155:199":        {"BitTorrent Chain", "BTT", 18},
	"eip155:204":        {"opBNB", "BNB", 18},
	"eip155:250":        {"Fantom", "FTM", 18},
	"eip155:295":        {"Hedera", "HBAR", 18},
	"eip155:324":        {"ZKsync Era", "ETH", 18},
	"eip155:361":        {"Theta", "TFUEL", 18},
	"eip155:369":        {"PulseChain", "PLS", 18},
	"eip155:480":        {"World Chain", "ETH", 18},
	"eip155:592":        {"Astar", "ASTR", 18},
	"eip155:747":        {"Flow", "FLOW", 18},
	"eip155:841":        {"Taraxa", "TARA", 18},
	"eip155:888":        {"Wanchain", "WAN", 18},
	"eip155:1030":       {"Conflux eSpace", "CFX", 18},
	"eip155:1284":       {"Moonbeam", "GLMR", 18},
	"eip155:1329":       {"Sei", "SEI", 18},
	"eip155:3637":       {"Botanix", "BTC", 18},
	"eip155:4114":       {"Citrea", "cBTC", 18},
	"eip155:4200":       {"Merlin", "BTC", 18},
	"eip155:4689":       {"IoTeX", "IOTX", 18},
	"eip155:5000":       {"Mantle", "MNT", 18},
	"eip155:7000":       {"ZetaChain", "ZETA", 18},
	"eip155:7700":       {"Canto", "CANTO", 18},
	"eip155:8217":       {"Kaia", "KAIA", 18},
	"eip155:8453":       {"Base", "ETH", 18},
	"eip155:9745":       {"Plasma", "XPL", 18},
	"eip155:17000":      {"Holesky", "ETH", 18},
	"eip155:23294":      {"Oasis Sapphire", "ROSE", 18},
	"eip155:33139":      {"ApeChain", "APE", 18},
	"eip155:42161":      {"Arbitrum One", "ETH", 18},
	"eip155:42220":      {"Celo", "CELO", 18},
	"eip155:43114":      {"Avalanche C-Chain", "AVAX", 18},
	"eip155:59144":      {"Linea", "ETH", 18},
	"eip155:80094":      {"Berachain", "BERA", 18},
	"eip155:81457":      {"Blast", "ETH", 18},
	"eip155:84532":      {"Base Sepolia", "ETH", 18},
	"eip155:88888":      {"Chiliz", "CHZ", 18},
	"eip155:200901":     {"Bitlayer", "BTC", 18},
	"eip155:421614":     {"Arbitrum Sepolia", "ETH", 18},
	"eip155:534352":     {"Scroll", "ETH", 18},
	"eip155:560048":     {"Hoodi", "ETH", 18},
	"eip155:11155111":   {"Sepolia", "ETH", 18},
	"eip155:11155420":   {"OP Sepolia", "ETH", 18},
	"eip155:1666600000": {"Harmony", "ONE", 18},

	"solana": {"Solana", "SOL", 9},
	"tron":   {"Tron", "TRX", 6},
	"bip122": {"Bitcoin", "BTC", 8},
	"eip155": {"", unnamed, 18},
}

// unnamed stands for the ticker of a native asset that is not known.
const unnamed = "native"

// NetworkOf returns the network with a CAIP-2 id, or that of its namespace. Of a namespace
// that is not in the table, amounts are shown in smallest units.
func NetworkOf(chain string) Network {
	if network, ok := networks[chain]; ok {
		return network
	}
	namespace, _, _ := strings.Cut(chain, ":")
	if network, ok := networks[namespace]; ok {
		return network
	}
	return Network{"", "of the smallest unit of " + namespace, 0}
}
