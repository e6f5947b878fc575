package wallet

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/countersign-dev/countersign/keystore"
)

// Root is what the keys of a wallet are derived from: the seed of a mnemonic, or an
// extended private key. It holds secrets: Wipe it. However it is printed, it shows
// "[redacted]".
type Root struct {
	seed        keystore.Secret // of a mnemonic
	hasSeed     bool
	raw         keystore.Secret // the extended private key at path, extendedSize bytes
	fingerprint [4]byte         // of the master key
	path        Path            // of an extended private key that is not a master key
	testNetwork bool            // of an extended private key: a tprv…, or below their coin type
}

// FromSeed returns the root of the wallet with a seed of 16 to 64 bytes, which it copies.
// The caller wipes the Root.
func FromSeed(seed []byte) (*Root, error) {
	if len(seed) < hdkeychain.MinSeedBytes || len(seed) > hdkeychain.MaxSeedBytes {
		return nil, fmt.Errorf("seed: %d bytes, want %d to %d", len(seed), hdkeychain.MinSeedBytes, hdkeychain.MaxSeedBytes)
	}
	node, err := hdkeychain.NewMaster(seed, &chaincfg.MainNetParams)
	if err != nil {
		return nil, fmt.Errorf("master key: %w", err)
	}
	defer node.Zero()
	four, err := fingerprint(node)
	if err != nil {
		return nil, err
	}
	raw, err := rawOf(node, versionXPrv)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(raw)
	return &Root{seed: keystore.NewSecret(seed), hasSeed: true, raw: keystore.NewSecret(raw), fingerprint: four}, nil
}

// FromMnemonic returns the root of the wallet with these words, as Seed takes them.
func FromMnemonic(mnemonic, passphrase []byte) (*Root, error) {
	seed, err := Seed(mnemonic, passphrase)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(seed)
	return FromSeed(seed)
}

// Wipe overwrites the secrets. The Root is of no use after that.
func (r *Root) Wipe() {
	r.seed.Destroy()
	r.raw.Destroy()
}

// Fingerprint returns the first 4 bytes of the hash160 of the master public key, by which
// PSBTs and descriptors name a wallet (BIP-32).
func (r *Root) Fingerprint() [4]byte { return r.fingerprint }

// Path returns where the root is: nothing for a master key and for a mnemonic.
func (r *Root) Path() Path { return slices.Clone(r.path) }

// TestNetwork reports whether the root was read from an extended private key of the test
// networks: from a tprv…, or below their coin type.
func (r *Root) TestNetwork() bool { return r.testNetwork }

// Check returns an error, which wraps ErrPath, if there cannot be a key of the wallet on
// this curve at this path.
func (r *Root) Check(curve keystore.Curve, path Path) error {
	if len(path) > MaxDepth {
		return fmt.Errorf("%w: %d steps, at most %d", ErrPath, len(path), MaxDepth)
	}
	switch curve {
	case keystore.CurveSecp256k1:
		if !r.covers(path) {
			return fmt.Errorf("%w %v: it is not below %v, where the extended private key of this wallet is", ErrPath, path, r.path)
		}
		return nil
	case keystore.CurveEd25519:
		if !r.hasSeed {
			return fmt.Errorf("%w %v: an extended private key (BIP-32) gives keys on secp256k1 alone: those on Ed25519 are derived from the mnemonic (SLIP-10)", ErrPath, path)
		}
		return nil
	}
	return fmt.Errorf("unknown curve %v: use CURVE_SECP256K1 or CURVE_ED25519", curve)
}

// covers reports whether a path leads through the root.
func (r *Root) covers(path Path) bool {
	return len(path) >= len(r.path) && slices.Equal(path[:len(r.path)], r.path)
}

// Derive returns the secret at a path, which always begins at the master key: a scalar of
// secp256k1 (BIP-32) or a seed of Ed25519 (SLIP-10), keystore.SecretSize bytes. The caller
// wipes it.
func (r *Root) Derive(curve keystore.Curve, path Path) (secret []byte, err error) {
	if err := r.Check(curve, path); err != nil {
		return nil, err
	}
	if curve == keystore.CurveEd25519 {
		err = r.seed.Reveal(func(seed []byte) error {
			secret, err = deriveEd25519(seed, path)
			return err
		})
		return secret, err
	}
	node, err := r.nodeAt(path)
	if err != nil {
		return nil, err
	}
	defer node.Zero()
	key, err := node.ECPrivKey()
	if err != nil {
		return nil, fmt.Errorf("%w %v: %w", ErrPath, path, err)
	}
	defer key.Zero()
	return key.Serialize(), nil
}

// nodeAt returns the extended private key at a path that Check has allowed. The caller
// zeroes it.
func (r *Root) nodeAt(path Path) (node *hdkeychain.ExtendedKey, err error) {
	if err := r.raw.Reveal(func(raw []byte) error {
		node, err = nodeOf(raw)
		return err
	}); err != nil {
		return nil, err
	}
	for _, index := range path[len(r.path):] {
		child, err := node.Derive(index)
		node.Zero()
		if err != nil {
			return nil, fmt.Errorf("%w %v: %w", ErrPath, path, err)
		}
		node = child
	}
	return node, nil
}

// ExtendedKey returns the extended private key at a path (BIP-32), as ParseExtendedKey
// reads it: with its origin, if it is not the master key. It is a tprv… under the coin
// type of test networks, and where the root was one. The caller wipes it.
func (r *Root) ExtendedKey(path Path) ([]byte, error) {
	if err := r.Check(keystore.CurveSecp256k1, path); err != nil {
		return nil, err
	}
	node, err := r.nodeAt(path)
	if err != nil {
		return nil, err
	}
	defer node.Zero()
	version := uint32(versionXPrv)
	if r.testNetwork || isTestAccount(path) {
		version = versionTPrv
	}
	raw, err := rawOf(node, version)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(raw)
	text := make([]byte, 0, MaxExtendedKey)
	if len(path) > 0 {
		text = append(text, r.origin(path)...)
	}
	return append(text, base58.CheckEncode(raw[1:], raw[0])...), nil
}

// origin returns where a key comes from as descriptors write it (BIP-380).
func (r *Root) origin(path Path) string {
	return fmt.Sprintf("[%x%s]", r.fingerprint, strings.ReplaceAll(strings.TrimPrefix(path.String(), "m"), "'", "h"))
}

// isTestAccount reports whether a path is of Bitcoin's test networks (BIP-44).
func isTestAccount(path Path) bool {
	return len(path) > 1 && path[1] == 1+Hardened && purposeOf(path) > 0
}

// purposeOf returns the purpose that a path of a Bitcoin wallet begins with, else 0.
func purposeOf(path Path) uint32 {
	if len(path) > 0 && path[0] >= Hardened {
		switch purpose := path[0] - Hardened; purpose {
		case 44, 48, 49, 84, 86:
			return purpose
		}
	}
	return 0
}

// UsualAccounts returns the accounts that a new wallet of this root has: those of the
// function UsualAccounts that it can have, those of Bitcoin alone for a tprv…, on test
// networks. If an extended private key is at a place of its own, it is the first key for
// receiving below that.
func (r *Root) UsualAccounts() (accounts []Account) {
	if r.hasSeed {
		return UsualAccounts()
	}
	for _, account := range UsualAccounts() {
		if r.testNetwork {
			if _, isBitcoin := BitcoinAccount(account.Path); !isBitcoin {
				continue
			}
			account.Path[1] = 1 + Hardened
		}
		if r.Check(account.Curve, account.Path) == nil {
			accounts = append(accounts, account)
		}
	}
	if accounts == nil {
		accounts = []Account{{keystore.CurveSecp256k1, r.path.firstBelow()}}
	}
	return accounts
}

// firstBelow returns m/purpose'/coin'/account'/0/0 for each prefix of that with an account,
// and the path itself if it has more steps. Where there is no account (Electrum's m/0'),
// change and index follow at once.
func (p Path) firstBelow() Path {
	const account, steps = 3, 5
	missing := max(0, min(2, steps-max(account, len(p))))
	return p.then(make(Path, missing)...)
}

// String returns "[redacted]".
func (Root) String() string { return keystore.SecretBytes(nil).String() }

// GoString returns "[redacted]".
func (r Root) GoString() string { return r.String() }

// Format writes "[redacted]" for every verb.
func (r Root) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, r.String()) }

// LogValue returns "[redacted]".
func (r Root) LogValue() slog.Value { return slog.StringValue(r.String()) }

// MarshalText returns "[redacted]"; encoding/json and encoding/xml use it.
func (r Root) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// GobEncode returns "[redacted]".
func (r Root) GobEncode() ([]byte, error) { return []byte(r.String()), nil }
