package keys

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/ur"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

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
