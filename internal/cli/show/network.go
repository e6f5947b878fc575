package show

import (
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/keystore"
)

// NetworkFlag selects the Bitcoin network whose addresses are printed.
type NetworkFlag struct{ Name string }

// Register adds the flag to a command, which refuses a network that is not known.
func (n *NetworkFlag) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&n.Name, "network", bitcoin.Mainnet.String(),
		"Bitcoin `NETWORK` of the addresses: mainnet, testnet, signet, regtest")
	console.Check(cmd, func() error {
		if _, err := bitcoin.ParseNetwork(n.Name); err != nil {
			return console.Usagef("--network: %v", err)
		}
		return nil
	})
}

// RefuseOther refuses a key that is written for Bitcoin's mainnet, or for its test networks,
// if another network is named.
func (n *NetworkFlag) RefuseOther(key string, forTests bool) error {
	switch isMainnet := n.Name == bitcoin.Mainnet.String(); {
	case forTests && isMainnet:
		return console.Usagef("%s is for Bitcoin's test networks: pass --network testnet, signet or regtest", key)
	case !forTests && !isMainnet:
		return console.Usagef("%s is for Bitcoin's mainnet, and --network is %s", key, n.Name)
	}
	return nil
}

// MaxPSBT is the longest PSBT that a command reads, in bytes: legacy inputs bring the whole
// transactions that they spend, such as payouts of thousands of outputs.
const MaxPSBT = 32 << 20

// MaxPSBTText is the longest text of one, in hex with line breaks.
const MaxPSBTText = 2*MaxPSBT + MaxPSBT/16

// Limits returns the engine's limits for the network.
func (n *NetworkFlag) Limits() all.Limits {
	network, _ := bitcoin.ParseNetwork(n.Name) // which Register checks
	return all.Limits{Bitcoin: bitcoin.Limits{Network: network, MaxSize: MaxPSBT}}
}

// KeyLine is a key as it is printed.
type KeyLine struct {
	PrivateKeyID string           `json:"privateKeyId"`
	Name         string           `json:"name"`
	Curve        keystore.Curve   `json:"curve"`
	PublicKey    string           `json:"publicKey"` // hex; secp256k1 compressed
	Addresses    []chains.Address `json:"addresses"`
	WalletID     string           `json:"walletId,omitempty"` // of an account of a wallet
	Path         string           `json:"path,omitempty"`
	ActsFor      string           `json:"actsFor,omitempty"` // the account that a Tempo access key signs for
	Disabled     bool             `json:"disabled,omitempty"`

	// HighR: half of the key's Bitcoin signatures have a high r (keystore.LowRSigner).
	HighR bool `json:"highR,omitempty"`
}

// Field returns one field of the line, or an error that names the fields.
func (l KeyLine) Field(name string) (string, error) {
	if value, ok := map[string]string{
		"privateKeyId": l.PrivateKeyID, "name": l.Name, "curve": l.Curve.String(), "publicKey": l.PublicKey,
		"walletId": l.WalletID, "path": l.Path,
	}[name]; ok {
		return value, nil
	}
	var formats []string
	for _, address := range l.Addresses {
		if address.Format == name {
			return address.Address, nil
		}
		formats = append(formats, address.Format)
	}
	return "", fmt.Errorf("--field: a key on %s has no address of format %s: it has %s", l.Curve, name, strings.Join(formats, ", "))
}

// Beginnings of the names of address formats.
const (
	AddressFormat = "ADDRESS_FORMAT_"          // begins the name of each address format
	BitcoinFormat = AddressFormat + "BITCOIN_" // begins those of Bitcoin
	TaprootFormat = "_P2TR"                    // ends those of taproot
)

// Line returns a key as it is printed, with the Bitcoin addresses of the network.
func (n *NetworkFlag) Line(info keystore.KeyInfo) KeyLine {
	line := KeyLine{
		PrivateKeyID: info.ID,
		Name:         info.Name,
		Curve:        info.PublicKey.Curve(),
		PublicKey:    info.PublicKey.String(),
		Addresses:    []chains.Address{},
	}
	if info.ActsFor != "" {
		line.ActsFor = EVMAddress(info.ActsFor)
	}
	ofNetwork := BitcoinFormat + strings.ToUpper(n.Name) + "_"
	for _, address := range all.Addresses(info.PublicKey) {
		if !strings.HasPrefix(address.Format, BitcoinFormat) || strings.HasPrefix(address.Format, ofNetwork) {
			line.Addresses = append(line.Addresses, address)
		}
	}
	return line
}

// EVMAddress returns an address of 40 hex digits with 0x and checksum (EIP-55).
func EVMAddress(digits string) string { return common.HexToAddress(digits).Hex() }
