package sign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// hwiCommand is one call of hwi. It signs as the command sign does.
type hwiCommand struct {
	signCommand
	walletID    string
	fingerprint string
	chain       string
	stdin       bool
	account     uint32
	desc        string
	keys        hwiKeeper
	wallet      keystore.Wallet
	master      string // fingerprint of its master key, in hex
}

// hwiKeeper is a keystore with wallets that can derive keys.
type hwiKeeper interface {
	keystore.Keystore
	keystore.WalletFinder
	Derive(ctx context.Context, organizationID, walletID string, account wallet.Account) (file.Account, error)
	Discover(ctx context.Context, organizationID, walletID string, named []file.Named, gap uint32) ([]file.Account, []wallet.Path, error)
	RevealRoot(ctx context.Context, organizationID, walletID string, use func(*wallet.Root) error) error
}

// NewHWICommand returns the command hwi.
func NewHWICommand() *cobra.Command {
	var c hwiCommand
	command := &cobra.Command{
		Use:   "hwi COMMAND",
		Short: "Sign for Bitcoin Core as its external signer",
		Long: console.Paragraphs(`
Answer what Bitcoin Core asks its external signer (bitcoind -signer), in the JSON of HWI,
so that a Core wallet of type "external signer" has its keys here:

  enumerate                        the one signer: the fingerprint of --wallet
  getdescriptors --account N       descriptors to watch (BIP-44, 49, 84 and 86)
  displayaddress --desc D          derive an address, show it here, and answer with it
  signtx PSBT                      sign; {"psbt":"…"} in base64

With --stdin, the command and its arguments are read from standard input, as Core sends
signtx. Standard input is no consent: signtx shows the transaction and asks on the
controlling terminal. Without a terminal, the policy of the organization in --config must
allow it for the user of --as; otherwise nothing is signed. Refusals are answered as
{"error":"…"} with exit status 0, which Core shows.`),
		Example: console.Paragraphs(`
  bitcoind -signer="countersign hwi --config /etc/countersign.yaml --wallet treasury --as core"
  countersign hwi --keystore file:keys --passphrase-file pass --wallet treasury enumerate`),
		Args: cobra.MaximumNArgs(2),
		RunE: c.run,
	}
	c.at.Register(command)
	flags := command.Flags()
	flags.StringVar(&c.walletID, "wallet", "", "`ID` or name of the wallet that signs")
	console.Require(command, "wallet", "the id or the name of the wallet that signs")
	flags.StringVar(&c.as, "as", "", "`USER` of --config who signs, by name or id: recorded, and judged by the policy")
	flags.StringVarP(&c.fingerprint, "fingerprint", "f", "", "`FINGERPRINT` of the master key, which must be the wallet's")
	flags.StringVar(&c.chain, "chain", "main", "`CHAIN`: main, test, testnet4, signet or regtest")
	flags.BoolVar(&c.stdin, "stdin", false, "read the command and its arguments from standard input")
	flags.Uint32Var(&c.account, "account", 0, "with getdescriptors: the `NUMBER` of the account")
	flags.StringVar(&c.desc, "desc", "", "with displayaddress: the output `DESCRIPTOR` of the address")
	return command
}

// hwiChains are the names of networks that Core and HWI use.
var hwiChains = map[string]bitcoin.Network{
	"main": bitcoin.Mainnet, "test": bitcoin.Testnet, "testnet4": bitcoin.Testnet, "signet": bitcoin.Signet, "regtest": bitcoin.Regtest,
}

// run prints the answer. Refusals are answers too: Core ignores what a command that fails prints.
func (c *hwiCommand) run(cmd *cobra.Command, args []string) error {
	network, ok := hwiChains[c.chain]
	if !ok {
		return console.Usagef("--chain: unknown chain %q: use main, test, testnet4, signet or regtest", c.chain)
	}
	c.network.Name = network.String()
	if err := c.at.Check(); err != nil {
		return err
	}
	answer, err := c.answer(cmd, args)
	if err != nil {
		refusal := map[string]string{"error": err.Error()}
		if answer = any(refusal); len(args) > 0 && args[0] == "enumerate" {
			answer = []map[string]string{refusal}
		}
	}
	return console.PrintJSON(cmd.OutOrStdout(), answer)
}

func (c *hwiCommand) answer(cmd *cobra.Command, args []string) (answer any, err error) {
	if c.stdin {
		if args, err = c.readArguments(cmd, args); err != nil {
			return nil, err
		}
	}
	commands := map[string]func(cmd *cobra.Command, args []string) (any, error){
		"enumerate": c.enumerate, "getdescriptors": c.descriptors, "displayaddress": c.displayAddress, "signtx": c.signTx,
	}
	if len(args) == 0 {
		return nil, errors.New("no command: use enumerate, getdescriptors, displayaddress or signtx")
	}
	carryOut, ok := commands[args[0]]
	if !ok {
		return nil, fmt.Errorf("unknown command %q: use enumerate, getdescriptors, displayaddress or signtx", args[0])
	}
	_, c.keys, err = deployment.OpenFor[hwiKeeper](&c.at, cmd, "an HSM has no wallets, because it derives no keys (BIP-32)")
	if err != nil {
		return nil, err
	}
	defer func() { // unless an engine has closed them
		if c.keys != nil {
			deployment.CloseKeystore(c.keys, &err)
		}
	}()
	if err := c.find(cmd.Context()); err != nil {
		return nil, err
	}
	return carryOut(cmd, args[1:])
}

// readArguments reads lines of arguments, up to an empty one, as HWI does: they may be quoted.
func (c *hwiCommand) readArguments(cmd *cobra.Command, args []string) ([]string, error) {
	content, err := console.ReadAll(cmd.Context(), cmd.InOrStdin(), show.MaxPSBTText)
	if err != nil {
		return nil, fmt.Errorf("read the command from standard input: %w", err)
	}
	text, _, _ := strings.Cut(strings.ReplaceAll(string(content), "\r\n", "\n"), "\n\n")
	for word := range strings.FieldsSeq(text) {
		args = append(args, strings.Trim(word, `"'`))
	}
	return args, nil
}

// find finds the wallet, whose fingerprint must be the one that is asked for.
func (c *hwiCommand) find(ctx context.Context) (err error) {
	c.wallet, err = c.keys.FindWallet(ctx, c.at.Organization, c.walletID)
	if errors.Is(err, keystore.ErrKeyNotFound) {
		return fmt.Errorf("organization %q has no wallet, or several, with the id or name %q: 'countersign keys "+
			"list' prints them", c.at.Organization, c.walletID)
	}
	if err != nil {
		return err
	}
	return c.withRoot(ctx, func(root *wallet.Root) error {
		c.master = fmt.Sprintf("%x", root.Fingerprint())
		if c.fingerprint != "" && !strings.EqualFold(c.fingerprint, c.master) {
			return fmt.Errorf("the fingerprint of wallet %s is %s, not %s", c.walletID, c.master, c.fingerprint)
		}
		return nil
	})
}

func (c *hwiCommand) withRoot(ctx context.Context, use func(root *wallet.Root) error) error {
	return c.keys.RevealRoot(ctx, c.at.Organization, c.wallet.ID, use)
}

// hwiSigner is the answer to enumerate, with the members that HWI's users read.
type hwiSigner struct {
	Type            string `json:"type"`
	Model           string `json:"model"`
	Label           string `json:"label"`
	Path            string `json:"path"`
	Fingerprint     string `json:"fingerprint"`
	NeedsPIN        bool   `json:"needs_pin_sent"`
	NeedsPassphrase bool   `json:"needs_passphrase_sent"`
}

func (c *hwiCommand) enumerate(*cobra.Command, []string) (any, error) {
	return []hwiSigner{{
		Type: "countersign", Model: "countersign", Label: c.wallet.Name, Path: c.wallet.ID, Fingerprint: c.master,
	}}, nil
}

type hwiDescriptors struct {
	Receive  []string `json:"receive"`
	Internal []string `json:"internal"`
}

// descriptors answers getdescriptors. It derives the first key of each account, so that the
// account is known when its transactions come.
func (c *hwiCommand) descriptors(cmd *cobra.Command, _ []string) (any, error) {
	if c.account >= wallet.Hardened {
		return nil, fmt.Errorf("--account %d: at most %d", c.account, wallet.Hardened-1)
	}
	coin := uint32(wallet.Hardened) // of Bitcoin, or of its test networks (BIP-44)
	if c.chain != "main" {
		coin++
	}
	all := hwiDescriptors{[]string{}, []string{}}
	var accounts []wallet.Path
	err := c.withRoot(cmd.Context(), func(root *wallet.Root) error {
		for _, purpose := range []uint32{44, 49, 84, 86} {
			account := wallet.Path{wallet.Hardened + purpose, coin, wallet.Hardened + c.account}
			if root.Check(keystore.CurveSecp256k1, account) != nil {
				continue
			}
			watch, err := root.Watch(account)
			if err != nil {
				return err
			}
			all.Receive, all.Internal = append(all.Receive, watch.Receive), append(all.Internal, watch.Change)
			accounts = append(accounts, account)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, account := range accounts {
		first := wallet.Account{Curve: keystore.CurveSecp256k1, Path: append(slices.Clip(account), 0, 0)}
		if _, err := c.keys.Derive(cmd.Context(), c.at.Organization, c.wallet.ID, first); err != nil &&
			!errors.Is(err, keystore.ErrKeyExists) {
			return nil, err
		}
	}
	return all, nil
}

func (c *hwiCommand) displayAddress(cmd *cobra.Command, _ []string) (any, error) {
	asked, err := parseKeyDescriptor(c.desc)
	if err != nil {
		return nil, err
	}
	var address string
	if err := c.withRoot(cmd.Context(), func(root *wallet.Root) (err error) {
		address, err = asked.address(root, hwiChains[c.chain])
		return err
	}); err != nil {
		return nil, err
	}
	return map[string]string{"address": address}, onTerminal(cmd,
		fmt.Sprintf("%s\n  %s of wallet %s (%s)\n", address, asked.path, c.walletID, hwiChains[c.chain]))
}
