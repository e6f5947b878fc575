package bitcoin

import (
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/v2"
)

// Network is one of Bitcoin's networks. The zero Network is Mainnet.
type Network uint8

// The networks. Testnet and Signet share all address forms; Regtest shares those that are base58.
const (
	Mainnet Network = iota
	Testnet
	Signet
	Regtest
)

var networks = [...]struct {
	name   string
	format string // as the API names it
	params *chaincfg.Params
}{
	Mainnet: {"mainnet", "MAINNET", &chaincfg.MainNetParams},
	Testnet: {"testnet", "TESTNET", &chaincfg.TestNet3Params},
	Signet:  {"signet", "SIGNET", &chaincfg.SigNetParams},
	Regtest: {"regtest", "REGTEST", &chaincfg.RegressionNetParams},
}

// String returns the network's name, such as "mainnet".
func (n Network) String() string { return networks[n].name }

// ParseNetwork returns the network with a name that String returns.
func ParseNetwork(name string) (Network, error) {
	for network, known := range networks {
		if known.name == name {
			return Network(network), nil
		}
	}
	return Mainnet, fmt.Errorf("unknown bitcoin network %q: use mainnet, testnet, signet or regtest", name)
}
