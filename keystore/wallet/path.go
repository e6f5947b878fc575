package wallet

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/keystore"
)

// Hardened is added to the index of a hardened child, which cannot be derived from public keys
// (BIP-32).
const Hardened = 1 << 31

// maxDepth is the maximum number of steps of a path. Paths in use have five.
const maxDepth = 16

// ErrPath says that a text is not a derivation path, or not one for the curve.
var ErrPath = errors.New("derivation path")

// Path is a derivation path: the indexes of the children from the master key on, with Hardened
// added to hardened ones.
type Path []uint32

// ParsePath reads a path such as m/44'/60'/0'/0/0. Hardened steps are marked with ' or h.
// Errors wrap ErrPath.
func ParsePath(text string) (Path, error) {
	steps := strings.Split(text, "/")
	if steps[0] != "m" {
		return nil, fmt.Errorf("%w: it must begin with m, as in m/44'/60'/0'/0/0", ErrPath)
	}
	if len(steps)-1 > maxDepth {
		return nil, fmt.Errorf("%w: %d steps, the limit is %d", ErrPath, len(steps)-1, maxDepth)
	}
	path := make(Path, 0, maxDepth)
	for i, step := range steps[1:] {
		index, err := parseStep(step)
		if err != nil {
			return nil, fmt.Errorf("%w: step %d: %w", ErrPath, i+1, err)
		}
		path = append(path, index)
	}
	return path, nil
}

func parseStep(step string) (uint32, error) {
	digits := strings.TrimSuffix(step, "'")
	if digits == step {
		digits = strings.TrimSuffix(step, "h")
	}
	index, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || strconv.FormatUint(index, 10) != digits {
		return 0, errors.New("not a number from 0 to 2147483647, followed by ' if it is hardened")
	}
	if digits != step {
		index += Hardened
	}
	return uint32(index), nil
}

// String returns the path in the usual notation, with ' for hardened steps.
func (p Path) String() string {
	text := []byte{'m'}
	for _, index := range p {
		text = strconv.AppendUint(append(text, '/'), uint64(index&^Hardened), 10)
		if index >= Hardened {
			text = append(text, '\'')
		}
	}
	return string(text)
}

// Account is the curve and the path of a key in a wallet.
type Account struct {
	Curve keystore.Curve
	Path  Path
}

// UsualAccounts returns the first account in common wallets of the five chains: by BIP-44 for
// Ethereum (and Tempo), Solana, Tron and Bitcoin, then Bitcoin's P2SH-P2WPKH (BIP-49), P2WPKH
// (BIP-84) and taproot (BIP-86).
func UsualAccounts() []Account {
	return []Account{
		{keystore.CurveSecp256k1, hardened(44, 60, 0).then(0, 0)},
		{keystore.CurveEd25519, hardened(44, 501, 0, 0)},
		{keystore.CurveSecp256k1, hardened(44, 195, 0).then(0, 0)},
		{keystore.CurveSecp256k1, hardened(44, 0, 0).then(0, 0)},
		{keystore.CurveSecp256k1, hardened(49, 0, 0).then(0, 0)},
		{keystore.CurveSecp256k1, hardened(84, 0, 0).then(0, 0)},
		{keystore.CurveSecp256k1, hardened(86, 0, 0).then(0, 0)},
	}
}

func hardened(indexes ...uint32) (path Path) {
	for _, index := range indexes {
		path = append(path, index+Hardened)
	}
	return path
}

func (p Path) then(indexes ...uint32) Path { return append(slices.Clip(p), indexes...) }

// CurveOf returns the usual curve at a path: Ed25519 under the coin type of Solana (SLIP-44),
// otherwise secp256k1.
func CurveOf(path Path) keystore.Curve {
	const coinType, solana = 1, 501 + Hardened
	if len(path) > coinType && path[coinType] == solana {
		return keystore.CurveEd25519
	}
	return keystore.CurveSecp256k1
}
