package solana

import (
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// AddressFormat is the API's name for the one form of a Solana address: the
// public key in base58.
const AddressFormat = "ADDRESS_FORMAT_SOLANA"

// Addresses implements chains.Chain: an Ed25519 key has one address, other keys
// have none.
func (Chain) Addresses(pub keystore.PublicKey) []chains.Address {
	if pub.Curve() != keystore.CurveEd25519 {
		return nil
	}
	return []chains.Address{{Format: AddressFormat, Address: encode58(pub.Bytes())}}
}

// target is what a signWith means.
type target struct {
	signWith  string
	isAddress bool
	key       [keySize]byte // if isAddress
}

// targetOf reads signWith: an address, if it is base58 of exactly 32 bytes, or
// else a key's id. What only looks like an address is an error, so that nobody
// who mistyped one is told that there is no such key.
func (t *Transaction) targetOf(signWith string) (target, error) {
	if signWith != "" && t.target.signWith == signWith {
		return t.target, nil
	}
	read := target{signWith: signWith}
	read.key, read.isAddress = decodeKey(signWith)
	if !read.isAddress {
		if problem := likeAddress(signWith); problem != "" {
			return target{}, &chains.SignerError{Kind: chains.ErrSignWith, Chain: Name, Problem: problem}
		}
	}
	t.target = read
	return read, nil
}

// likeAddress says what is wrong with a text that was meant to be an address;
// nothing if it was not.
func likeAddress(text string) string {
	switch {
	case text == "":
		return "empty: an address in base58, or a key's id, is expected"
	case strings.HasPrefix(text, "0x"):
		return "this looks like an address of another chain: one of Solana is base58 without a prefix"
	case strings.ContainsFunc(text, notAlphanumeric):
		return ""
	case len(text) < maxKeyText-1 || len(text) > maxKeyText+1:
		return ""
	}
	if bad := strings.IndexAny(text, "0OIl"); bad >= 0 {
		return "this looks like an address, but " + text[bad:bad+1] + " is not a digit of base58"
	}
	return "this looks like an address, but is not base58 of 32 bytes"
}

func notAlphanumeric(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
