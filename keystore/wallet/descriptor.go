package wallet

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/countersign-dev/countersign/keystore"
)

// ErrDescriptor means that a text is not an output descriptor, or that its
// checksum is wrong.
var ErrDescriptor = errors.New("output descriptor")

// WatchOnly is what a wallet that holds no secret needs to watch a Bitcoin
// account, and to make PSBTs for it.
type WatchOnly struct {
	Fingerprint [4]byte // of the master key: the first bytes of its hash160 (BIP-32)
	Account     Path    // purpose, coin type and account, all hardened
	XPub        string  // the account's extended public key: xpub…, or tpub… under coin type 1
	Receive     string  // output descriptor of the addresses to receive at (BIP-380), with checksum
	Change      string  // output descriptor of the addresses for change
}

// Watch returns the public side of a Bitcoin account. The account is
// m/purpose'/coin'/account', where the purpose decides how outputs are locked: 44 P2PKH,
// 49 P2SH-P2WPKH, 84 P2WPKH, 86 taproot. Errors wrap ErrPath.
//
// An extended public key reveals all addresses of the account; together with one
// secret key of the account it reveals all of them.
func (r *Root) Watch(account Path) (*WatchOnly, error) {
	open, closing, err := descriptorOf(account)
	if err != nil {
		return nil, err
	}
	if err := r.Check(keystore.CurveSecp256k1, account); err != nil {
		return nil, err
	}
	node, err := r.nodeAt(account)
	if err != nil {
		return nil, err
	}
	defer node.Zero()
	public, err := node.Neuter()
	if err != nil {
		return nil, fmt.Errorf("%w %v: %w", ErrPath, account, err)
	}
	if isTestAccount(account) {
		public.SetNet(&chaincfg.TestNet3Params)
	}
	watch := &WatchOnly{Account: account, Fingerprint: r.fingerprint, XPub: public.String()}
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

// descriptorOf returns how the outputs of an account are written in a descriptor
// (BIP-381, 382, 386).
func descriptorOf(account Path) (open, closing string, err error) {
	if len(account) != 3 || account[0] < Hardened || account[1] != Hardened && account[1] != Hardened+1 || account[2] < Hardened {
		return "", "", fmt.Errorf("%w %v: a Bitcoin account is m/purpose'/0'/account', or m/purpose'/1'/account' on test networks", ErrPath, account)
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

// fingerprint returns the first bytes of the hash160 of a node's public key.
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

// DescriptorChecksum returns the checksum of an output descriptor (BIP-380), to
// be written behind it and a #: 8 characters. Errors wrap ErrDescriptor.
func DescriptorChecksum(descriptor string) (string, error) {
	var sum descriptorSum = 1
	group, count := uint64(0), 0
	for i := range len(descriptor) {
		at := strings.IndexByte(descriptorCharset, descriptor[i])
		if at < 0 {
			return "", fmt.Errorf("%w: character %q at byte %d", ErrDescriptor, descriptor[i], i)
		}
		sum.add(uint64(at) & 31)
		group, count = group*3+uint64(at)>>5, count+1
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

// CheckDescriptor checks that an output descriptor ends with its checksum. Errors
// wrap ErrDescriptor.
func CheckDescriptor(descriptor string) error {
	text, sum, found := strings.Cut(descriptor, "#")
	if !found || len(sum) != checksumLength {
		return fmt.Errorf("%w: a checksum of %d characters is expected behind #", ErrDescriptor, checksumLength)
	}
	want, err := DescriptorChecksum(text)
	if err != nil {
		return err
	}
	if !bytes.Equal([]byte(sum), []byte(want)) {
		return fmt.Errorf("%w: checksum %s, of this text it is %s", ErrDescriptor, sum, want)
	}
	return nil
}

// descriptorSum is the state of the checksum's BCH code: 40 bits.
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

// BitcoinAccount returns the account that the key at a path belongs to, as Watch takes
// it: the first three steps of m/purpose'/coin'/account'/change/index.
func BitcoinAccount(path Path) (account Path, ok bool) {
	if len(path) != 5 || path[3] > 1 || path[4] >= Hardened {
		return nil, false
	}
	_, _, err := descriptorOf(path[:3])
	return path[:3:3], err == nil
}
