package wallet

import (
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/countersign-dev/countersign/keystore"
)

// WatchOnly has what a watch-only wallet needs to watch a Bitcoin account and to create PSBTs
// for it.
type WatchOnly struct {
	Fingerprint [4]byte // of the master key: the first 4 bytes of its hash160 (BIP-32)
	Account     Path    // purpose, coin type and account, all hardened
	XPub        string  // the account's extended public key: xpub…, or tpub… under coin type 1
	Receive     string  // output descriptor of the receiving addresses (BIP-380), with checksum
	Change      string  // output descriptor of the change addresses
}

// Watch returns the public side of a Bitcoin account. The account is
// m/purpose'/coin'/account', where the purpose determines the type of outputs: 44 P2PKH,
// 49 P2SH-P2WPKH, 84 P2WPKH, 86 taproot. Errors wrap ErrPath.
//
// An extended public key reveals all addresses of the account. Together with one secret key
// of the account, it reveals all secret keys.
func (r *Root) Watch(account Path) (*WatchOnly, error) {
	open, closing, err := descriptorOf(account)
	if err != nil {
		return nil, err
	}
	if err := r.Check(keystore.CurveSecp256k1, account); err != nil {
		return nil, err
	}
	xpub, err := r.xpub(account)
	if err != nil {
		return nil, err
	}
	watch := &WatchOnly{Account: account, Fingerprint: r.fingerprint, XPub: xpub}
	for child, descriptor := range []*string{&watch.Receive, &watch.Change} {
		text := fmt.Sprintf("%s%s%s/%d/*%s", open, r.origin(account), watch.XPub, child, closing)
		sum, err := DescriptorChecksum(text)
		if err != nil {
			return nil, err
		}
		*descriptor = text + "#" + sum
	}
	return watch, nil
}

// XPub returns the extended public key at a path with its origin (BIP-380), as a wallet of
// several keys names it: [73c5da0a/48h/0h/0h/2h]xpub…. Errors wrap ErrPath.
func (r *Root) XPub(path Path) (string, error) {
	if err := r.Check(keystore.CurveSecp256k1, path); err != nil {
		return "", err
	}
	xpub, err := r.xpub(path)
	return r.origin(path) + xpub, err
}

// xpub returns the extended public key at a path that Check accepts.
func (r *Root) xpub(path Path) (string, error) {
	node, err := r.nodeAt(path)
	if err != nil {
		return "", err
	}
	defer node.Zero()
	public, err := node.Neuter()
	if err != nil {
		return "", fmt.Errorf("%w %v: %w", ErrPath, path, err)
	}
	if isTestAccount(path) || r.testNetwork {
		public.SetNet(&chaincfg.TestNet3Params)
	}
	return public.String(), nil
}

// descriptorOf returns the parts of an account's output descriptors before and after the key
// (BIP-381, 382, 386).
func descriptorOf(account Path) (open, closing string, err error) {
	if len(account) != 3 || account[0] < Hardened || account[1] != Hardened && account[1] != Hardened+1 || account[2] < Hardened {
		return "", "",
			fmt.Errorf("%w %v: a Bitcoin account is m/purpose'/0'/account', or m/purpose'/1'/account' on test networks", ErrPath, account)
	}
	switch account[0] - Hardened {
	case 44:
		return "pkh(", ")", nil
	case 49:
		return "sh(wpkh(", "))", nil
	case 84:
		return "wpkh(", ")", nil
	case 86:
		return "tr(", ")", nil
	}
	return "", "", fmt.Errorf("%w %v: the purpose of a Bitcoin account is 44, 49, 84 or 86", ErrPath, account)
}

// fingerprint returns the first 4 bytes of the hash160 of a node's public key.
func fingerprint(node *hdkeychain.ExtendedKey) (four [4]byte, err error) {
	key, err := node.ECPubKey()
	if err != nil {
		return four, fmt.Errorf("master key: %w", err)
	}
	return [4]byte(address.Hash160(key.SerializeCompressed())), nil
}

// The characters of descriptors, in three groups of 32, and those of checksums.
const (
	descriptorCharset = "0123456789()[],'/*abcdefgh@:$%{}" +
		"IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~" +
		"ijklmnopqrstuvwxyzABCDEFGH`#\"\\ "
	checksumCharset = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	checksumLength  = 8
)

// CutChecksum returns a descriptor without its checksum, which must be right if there is one.
func CutChecksum(descriptor string) (string, error) {
	text, sum, has := strings.Cut(descriptor, "#")
	if !has {
		return text, nil
	}
	want, err := DescriptorChecksum(text)
	if err == nil && sum != want {
		err = fmt.Errorf("output descriptor: the checksum is %q, expected %q: a character is mistyped or missing", sum, want)
	}
	return text, err
}

// DescriptorChecksum returns the checksum of an output descriptor (BIP-380): the 8 characters
// to be appended after a #.
func DescriptorChecksum(descriptor string) (string, error) {
	var sum descriptorSum = 1
	group, count := uint64(0), 0
	for i := range len(descriptor) {
		position := strings.IndexByte(descriptorCharset, descriptor[i])
		if position < 0 {
			return "", fmt.Errorf("output descriptor: character %q at byte %d", descriptor[i], i)
		}
		sum.add(uint64(position) & 31)
		group, count = group*3+uint64(position)>>5, count+1
		if count == 3 {
			sum.add(group)
			group, count = 0, 0
		}
	}
	if count > 0 {
		sum.add(group)
	}
	for range checksumLength {
		sum.add(0)
	}
	sum ^= 1
	text := make([]byte, checksumLength)
	for i := range text {
		text[i] = checksumCharset[sum>>(5*(checksumLength-1-i))&31]
	}
	return string(text), nil
}

// descriptorSum is the 40-bit state of the checksum's BCH code.
type descriptorSum uint64

func (s *descriptorSum) add(symbol uint64) {
	generators := [...]descriptorSum{0xf5dee51989, 0xa9fdca3312, 0x1bab10e32d, 0x3706b1677a, 0x644d626ffd}
	top := *s >> 35
	*s = *s&0x7ffffffff<<5 ^ descriptorSum(symbol)
	for i, generator := range generators {
		if top>>i&1 == 1 {
			*s ^= generator
		}
	}
}

// BitcoinAccount returns the account, in the form that Watch accepts, of the key at a path
// m/purpose'/coin'/account'/change/index: its first three steps.
func BitcoinAccount(path Path) (account Path, ok bool) {
	if len(path) != 5 || path[3] > 1 || path[4] >= Hardened {
		return nil, false
	}
	_, _, err := descriptorOf(path[:3])
	return path[:3:3], err == nil
}
