package keys

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/ur"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

type showCommand struct {
	at       *deployment.KeystoreFlags
	network  show.NetworkFlag
	field    fieldFlag
	xpub     bool
	accounts []string // of --account
	qr       console.QRFlags
	qrType   string
	output   console.OutputFlag
}

func newShowCommand(at *deployment.KeystoreFlags) *cobra.Command {
	c := showCommand{at: at}
	command := &cobra.Command{
		Use:   "show ID",
		Short: "Print one key, or the public keys and descriptors of a wallet",
		Long: console.Paragraphs(`
Print the key with an id: one property per line on a terminal, otherwise one line of
JSON. --field prints one field of it.

With --xpub, ID is the id or name of a wallet. The command prints what a watch-only
wallet such as Sparrow or Bitcoin Core needs to watch its Bitcoin accounts and to create
PSBTs for this keystore to sign:

  {"walletId":"…","name":"…","fingerprint":"<hex>","accounts":[{"path":"m/84'/0'/0'",
   "xpub":"xpub…","receive":"wpkh([…]xpub…/0/*)#…","change":"wpkh([…]xpub…/1/*)#…"}]}

The accounts are those with derived keys, or those that --account names. An account
m/48'/0'/0'/2' (BIP-48), for wallets of several keys, has "key", the key with its origin,
instead of descriptors: see 'countersign wallets register'. An extended
public key reveals all addresses of its account; anyone who also has one of the account's
secret keys can compute all the others.

--qr draws the extended public key of one account as a QR code (ur:crypto-hdkey) for a
wallet with a camera; with --qr-type account-descriptor, the output descriptors of all
accounts (BCR-2023-019).`),
		Example: console.Paragraphs(`
  countersign keys show --keystore file:keys 0198…
  countersign keys show --keystore file:keys --xpub 0198…`),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !slices.Contains(qrTypes, c.qrType):
				return console.Usagef("--qr-type: unknown type %q: use crypto-hdkey or account-descriptor", c.qrType)
			case c.xpub:
				return c.showWallet(cmd, args[0])
			}
			return c.showKey(cmd, args[0])
		},
	}
	c.network.Register(command)
	c.field.register(command)
	command.Flags().BoolVar(&c.xpub, "xpub", false, "print the extended public keys and output descriptors (BIP-380) of a wallet")
	command.Flags().StringArrayVar(&c.accounts, "account", nil, "with --xpub: the account at a `PATH`, such as m/84'/0'/0' (repeatable)")
	c.qr.Register(command)
	command.Flags().StringVar(&c.qrType, "qr-type", qrTypes[0],
		"`TYPE` of the codes: crypto-hdkey, of one account, or account-descriptor, of all")
	c.output.RegisterListing(command)
	console.Exclusive(command, "", "field", "xpub")
	console.Needs(command, []string{"account", "qr", "qr-png"}, []string{"xpub"})
	return command
}

// showKey is keys show without --xpub.
func (c *showCommand) showKey(cmd *cobra.Command, id string) (err error) {
	keys, err := c.at.Open(cmd)
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	defer deployment.TellSkipped(cmd, keys)
	line, err := keyLineOf(cmd.Context(), keys, c.at.Organization, c.network, id)
	if errors.Is(err, keystore.ErrKeyNotFound) {
		if keeper, ok := keys.(walletKeeper); ok {
			if w, isWallet, err := findWallet(cmd.Context(), keeper, c.at.Organization, id); err == nil && isWallet {
				return fmt.Errorf("%s is the wallet %q: 'countersign keys show --xpub' prints its public keys, "+
					"'countersign keys list' its accounts", w.ID, w.Name)
			}
		}
		return fmt.Errorf("organization %q has no key with the id %q: 'countersign keys list' prints them", c.at.Organization, id)
	}
	if err != nil {
		return err
	}
	if c.output.IsText() && c.field.name == "" {
		return console.PrintDetails(cmd.OutOrStdout(), detailsOf(line))
	}
	return c.field.print(cmd.OutOrStdout(), line)
}

func detailsOf(l show.KeyLine) []console.Detail {
	all := []console.Detail{
		{"id", l.PrivateKeyID}, {"name", l.Name}, {"curve", l.Curve.String()}, {"public key", l.PublicKey},
		{"wallet", l.WalletID}, {"path", l.Path}, {"acts for", l.ActsFor},
	}
	if l.Disabled {
		all = append(all, console.Detail{"state", "disabled"})
	}
	if l.HighR {
		all = append(all, console.Detail{"bitcoin signatures", "not ground to a low r: half of them are a byte longer than wallets expect"})
	}
	for _, address := range l.Addresses {
		all = append(all, console.Detail{strings.TrimPrefix(address.Format, show.AddressFormat), address.Address})
	}
	return all
}

// keyLineOf returns one key, disabled or not, as it is printed. It does not read the
// other keys, if the keystore can look up one.
func keyLineOf(ctx context.Context, keys keystore.Keystore, organizationID string, network show.NetworkFlag,
	id string) (show.KeyLine, error) {
	key, err := keys.Find(ctx, organizationID, keystore.ByID(id))
	disabled := errors.Is(err, keystore.ErrKeyNotFound)
	if err != nil && !disabled {
		return show.KeyLine{}, err
	}
	var info keystore.KeyInfo
	if disabled {
		all, listErr := disabledKeys(ctx, keys, organizationID)
		i := slices.IndexFunc(all, func(info keystore.KeyInfo) bool { return keystore.ByID(info.ID) == keystore.ByID(id) })
		if i < 0 {
			return show.KeyLine{}, errors.Join(err, listErr)
		}
		info = all[i]
	} else {
		info = keystore.InfoOf(key)
	}
	paths, err := pathsOf(ctx, keys, organizationID)
	line := deployment.Spendable(keys, paths.mark(network.Line(info)))
	line.Disabled = disabled
	return line, err
}

// watchLine is the public side of a wallet as it is printed.
type watchLine struct {
	WalletID    string         `json:"walletId"`
	Name        string         `json:"name"`
	Fingerprint string         `json:"fingerprint"` // of the master key, 4 bytes in hex
	Accounts    []watchAccount `json:"accounts"`
}

type watchAccount struct {
	Path    string `json:"path"`
	XPub    string `json:"xpub"`
	Receive string `json:"receive,omitempty"` // output descriptors (BIP-380)
	Change  string `json:"change,omitempty"`

	// Key is the key as a wallet of several keys names it, if the account is for those (BIP-48).
	Key string `json:"key,omitempty"`
}

// showWallet is keys show --xpub.
func (c *showCommand) showWallet(cmd *cobra.Command, id string) (err error) {
	var paths []wallet.Path
	for _, text := range c.accounts {
		path, err := wallet.ParsePath(text)
		if err != nil {
			return console.Usagef("--account: %v", err)
		}
		paths = append(paths, path)
	}
	_, keys, err := deployment.OpenFor[walletKeeper](c.at, cmd, noWallets)
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	line, err := watch(cmd.Context(), keys, c.at.Organization, id, paths)
	if err != nil {
		return err
	}
	if c.qr.Wanted() {
		message, err := line.message(c.qrType)
		if err != nil {
			return err
		}
		return c.qr.Show(cmd, message)
	}
	if c.output.IsText() {
		return console.PrintDetails(cmd.OutOrStdout(), line.details())
	}
	return console.PrintJSON(cmd.OutOrStdout(), line)
}

func (l watchLine) details() []console.Detail {
	all := []console.Detail{{"wallet", l.WalletID}, {"name", l.Name}, {"fingerprint", l.Fingerprint}}
	for _, account := range l.Accounts {
		all = append(all, console.Detail{"account", account.Path}, console.Detail{"  xpub", account.XPub},
			console.Detail{"  receive", account.Receive}, console.Detail{"  change", account.Change}, console.Detail{"  key", account.Key})
	}
	return all
}

// watch returns the public side of a wallet: of the accounts at paths, or if paths is nil,
// of the Bitcoin accounts with derived keys.
func watch(ctx context.Context, keys walletKeeper, organizationID, id string, paths []wallet.Path) (line watchLine, err error) {
	if id, err = resolveWallet(ctx, keys, organizationID, id); err != nil {
		return line, err
	}
	w, _, err := findWallet(ctx, keys, organizationID, id)
	if err != nil {
		return line, err
	}
	if paths == nil {
		for _, account := range w.Accounts {
			path, ok := wallet.BitcoinAccount(account.Path)
			if ok && !slices.ContainsFunc(paths, func(p wallet.Path) bool { return slices.Equal(p, path) }) {
				paths = append(paths, path)
			}
		}
	}
	if len(paths) == 0 {
		return line, fmt.Errorf("wallet %s has no keys of Bitcoin accounts: name an account with --account, such as m/84'/0'/0'", w.ID)
	}
	line = watchLine{WalletID: w.ID, Name: w.Name, Accounts: []watchAccount{}}
	err = keys.RevealRoot(ctx, organizationID, w.ID, func(root *wallet.Root) error {
		master := root.Fingerprint()
		line.Fingerprint = hex.EncodeToString(master[:])
		for _, path := range paths {
			account, err := watched(root, path)
			if err != nil {
				return err
			}
			line.Accounts = append(line.Accounts, account)
		}
		return nil
	})
	return line, err
}

// watched returns the public side of one account. An account for wallets of several keys,
// m/48'/coin'/account'/script' (BIP-48), has no descriptor of its own.
func watched(root *wallet.Root, path wallet.Path) (watchAccount, error) {
	if len(path) == 4 && path[0] == wallet.Hardened+48 {
		key, err := root.XPub(path)
		return watchAccount{Path: path.String(), XPub: key[strings.Index(key, "]")+1:], Key: key}, err
	}
	account, err := root.Watch(path)
	if err != nil {
		return watchAccount{}, err
	}
	return watchAccount{Path: path.String(), XPub: account.XPub, Receive: account.Receive, Change: account.Change}, nil
}

// qrTypes are the types of codes for public keys, the default first.
var qrTypes = []string{ur.TypeHDKey, ur.TypeAccount}

// message encodes one account, or the descriptors of all, as a code of a type.
func (l *watchLine) message(kind string) (ur.Message, error) {
	if kind == ur.TypeAccount {
		return l.descriptors()
	}
	if len(l.Accounts) != 1 {
		return ur.Message{},
			console.Usagef("--qr shows one account as crypto-hdkey, and this wallet has %d: name one with "+
				"--account, or use --qr-type account-descriptor", len(l.Accounts))
	}
	key, err := l.hdKey(l.Accounts[0])
	return key.Message(), err
}

func (l *watchLine) descriptors() (ur.Message, error) {
	master, err := l.master()
	if err != nil {
		return ur.Message{}, err
	}
	all := ur.AccountDescriptor{Fingerprint: master}
	for _, account := range l.Accounts {
		key, err := l.hdKey(account)
		if err != nil {
			return ur.Message{}, err
		}
		script, _, found := strings.Cut(account.Receive, "[") // such as wpkh([73c5da0a/84'/0'/0']xpub…/0/*)#…
		if !found {
			return ur.Message{}, fmt.Errorf("the descriptor of %s has no key with an origin", account.Path)
		}
		source := script + "@0" + strings.Repeat(")", strings.Count(script, "("))
		all.Outputs = append(all.Outputs, ur.OutputDescriptor{Source: source, Key: key})
	}
	return all.Message(), nil
}

func (l *watchLine) master() (uint32, error) {
	fingerprint, err := hex.DecodeString(l.Fingerprint)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(fingerprint), nil
}

func (l *watchLine) hdKey(account watchAccount) (ur.HDKey, error) {
	path, err := wallet.ParsePath(account.Path)
	if err != nil {
		return ur.HDKey{}, err
	}
	key, err := hdkeychain.NewKeyFromString(account.XPub)
	if err != nil {
		return ur.HDKey{}, fmt.Errorf("extended public key of %s: %w", account.Path, err)
	}
	public, err := key.ECPubKey()
	if err != nil {
		return ur.HDKey{}, fmt.Errorf("extended public key of %s: %w", account.Path, err)
	}
	master, err := l.master()
	if err != nil {
		return ur.HDKey{}, err
	}
	origin := ur.Keypath{Fingerprint: master, Depth: uint64(len(path))}
	for _, step := range path {
		origin.Path = append(origin.Path, ur.PathIndex{Index: step &^ wallet.Hardened, Hardened: step >= wallet.Hardened})
	}
	return ur.HDKey{
		Key: public.SerializeCompressed(), ChainCode: key.ChainCode(), Origin: origin,
		Parent: key.ParentFingerprint(), Testnet: path[1] == wallet.Hardened+1, Name: l.Name,
	}, nil
}
