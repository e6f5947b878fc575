package wallet

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
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

// Root is the seed of a mnemonic, or an extended private key, from which the keys of a wallet
// are derived. It holds secrets: Wipe it. It always prints as "[redacted]".
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

// FromMnemonic returns the root of the wallet with a mnemonic and passphrase, in the form that
// Seed accepts. The caller wipes the Root.
func FromMnemonic(mnemonic, passphrase []byte) (*Root, error) {
	seed, err := Seed(mnemonic, passphrase)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(seed)
	return FromSeed(seed)
}

// Wipe overwrites the secrets. The Root is unusable afterwards.
func (r *Root) Wipe() {
	r.seed.Destroy()
	r.raw.Destroy()
}

// Fingerprint returns the first 4 bytes of the hash160 of the master public key, which identify
// a wallet in PSBTs and descriptors (BIP-32).
func (r *Root) Fingerprint() [4]byte { return r.fingerprint }

// Path returns the path of the root, which is empty for a master key and for a mnemonic.
func (r *Root) Path() Path { return slices.Clone(r.path) }

// TestNetwork reports whether the root was read from an extended private key of the test
// networks: a tprv…, or a key below their coin type.
func (r *Root) TestNetwork() bool { return r.testNetwork }

// Check returns an error that wraps ErrPath if the wallet cannot have a key on this curve at
// this path.
func (r *Root) Check(curve keystore.Curve, path Path) error {
	if len(path) > maxDepth {
		return fmt.Errorf("%w: %d steps, the limit is %d", ErrPath, len(path), maxDepth)
	}
	switch curve {
	case keystore.CurveSecp256k1:
		if len(path) < len(r.path) || !slices.Equal(path[:len(r.path)], r.path) {
			return fmt.Errorf("%w %v: it is not below %v, where the extended private key of this wallet is", ErrPath, path, r.path)
		}
		return nil
	case keystore.CurveEd25519:
		if !r.hasSeed {
			return fmt.Errorf("%w %v: an extended private key (BIP-32) has only keys on secp256k1: keys on Ed25519 "+
				"are derived from the mnemonic (SLIP-10)", ErrPath, path)
		}
		return nil
	}
	return fmt.Errorf("unknown curve %v: use CURVE_SECP256K1 or CURVE_ED25519", curve)
}

// Derive returns the secret at a path, which always begins at the master key: a secp256k1
// scalar (BIP-32) or an Ed25519 seed (SLIP-10), keystore.SecretSize bytes. The caller wipes it.
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

// PublicKey returns the secp256k1 public key at a path. Errors wrap ErrPath.
func (r *Root) PublicKey(path Path) (pub keystore.PublicKey, err error) {
	if err := r.Check(keystore.CurveSecp256k1, path); err != nil {
		return pub, err
	}
	compressed, _, err := r.publicAt(path)
	if err != nil {
		return pub, err
	}
	return keystore.ParsePublicKey(keystore.CurveSecp256k1, compressed[:])
}

// publicAt returns the compressed public key and the chain code at a path that Check accepts.
func (r *Root) publicAt(path Path) (public [33]byte, chain [32]byte, err error) {
	node, err := r.nodeAt(path)
	if err != nil {
		return public, chain, err
	}
	defer node.Zero()
	key, err := node.ECPubKey()
	if err != nil {
		return public, chain, fmt.Errorf("%w %v: %w", ErrPath, path, err)
	}
	return [33]byte(key.SerializeCompressed()), [32]byte(node.ChainCode()), nil
}

// Has reports whether the wallet has an extended public key at a path: the compressed public
// key and its chain code are compared.
func (r *Root) Has(path Path, public [33]byte, chain [32]byte) (bool, error) {
	if r.Check(keystore.CurveSecp256k1, path) != nil {
		return false, nil //nolint:nilerr // the wallet has no key at this path
	}
	own, code, err := r.publicAt(path)
	return err == nil && own == public && code == chain, err
}

// nodeAt returns the extended private key at a path that Check accepts. The caller zeroes it.
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

// ExtendedKey returns the extended private key at a path (BIP-32), in the form that
// ParseExtendedKey accepts: with its origin unless it is the master key. It is a tprv… under
// the coin type of test networks, and if the root was one. The caller wipes it.
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
	text := make([]byte, 0, maxExtendedKey)
	if len(path) > 0 {
		text = append(text, r.origin(path)...)
	}
	return append(text, base58.CheckEncode(raw[1:], raw[0])...), nil
}

// origin returns the origin of the key at a path in the notation of descriptors (BIP-380).
func (r *Root) origin(path Path) string {
	return fmt.Sprintf("[%x%s]", r.fingerprint, strings.ReplaceAll(strings.TrimPrefix(path.String(), "m"), "'", "h"))
}

// isTestAccount reports whether a path belongs to Bitcoin's test networks (BIP-44).
func isTestAccount(path Path) bool {
	return len(path) > 1 && path[1] == 1+Hardened && purposeOf(path) > 0
}

// purposeOf returns the purpose at the beginning of a Bitcoin wallet's path, 0 if there is none.
func purposeOf(path Path) uint32 {
	if len(path) > 0 && path[0] >= Hardened {
		switch purpose := path[0] - Hardened; purpose {
		case 44, 48, 49, 84, 86:
			return purpose
		}
	}
	return 0
}

// UsualAccounts returns the accounts of a new wallet with this root: those of the function
// UsualAccounts that it can have; for a tprv…, only those of Bitcoin, on test networks. If an
// extended private key has none of them, it is the first receiving key below it.
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
		// It is m/purpose'/coin'/account'/0/0 below an account. A path with more steps stays; to one
		// without an account (Electrum's m/0'), change and index are appended.
		const account, steps = 3, 5
		missing := max(0, min(2, steps-max(account, len(r.path))))
		accounts = []Account{{keystore.CurveSecp256k1, r.path.then(make(Path, missing)...)}}
	}
	return accounts
}

func (Root) String() string     { return keystore.SecretBytes(nil).String() }
func (r Root) GoString() string { return r.String() }

// Format writes "[redacted]" for every verb.
func (r Root) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, r.String()) }
func (r Root) LogValue() slog.Value           { return slog.StringValue(r.String()) }

// MarshalText returns "[redacted]"; encoding/json and encoding/xml use it.
func (r Root) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// GobEncode returns "[redacted]".
func (r Root) GobEncode() ([]byte, error) { return []byte(r.String()), nil }

// deriveEd25519 derives a seed by SLIP-10:
//
//	key ‖ chain code = HMAC-SHA-512("ed25519 seed", seed)
//	child            = HMAC-SHA-512(chain code, 0x00 ‖ key ‖ index, 4 bytes big-endian)
func deriveEd25519(seed []byte, path Path) ([]byte, error) {
	node := hmacSHA512([]byte("ed25519 seed"), seed)
	defer func() { keystore.Wipe(node) }()
	for i, index := range path {
		if index < Hardened {
			return nil, fmt.Errorf("%w %v: step %d is not hardened, which Ed25519 requires (SLIP-10): write %d'", ErrPath, path, i+1, index)
		}
		var data [1 + keystore.SecretSize + 4]byte
		copy(data[1:], node[:keystore.SecretSize])
		binary.BigEndian.PutUint32(data[1+keystore.SecretSize:], index)
		child := hmacSHA512(node[keystore.SecretSize:], data[:])
		clear(data[:])
		keystore.Wipe(node)
		node = child
	}
	return append([]byte(nil), node[:keystore.SecretSize]...), nil
}

func hmacSHA512(key, data []byte) []byte {
	mac := hmac.New(sha512.New, key)
	mac.Write(data)
	return mac.Sum(nil)
}
