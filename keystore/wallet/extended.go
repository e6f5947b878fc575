package wallet

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"github.com/countersign-dev/countersign/keystore"
)

// ErrExtendedKey says that a text is not an extended private key, or not one of a wallet.
var ErrExtendedKey = errors.New("extended private key")

// maxExtendedKey is the maximum length in bytes: a key with the longest origin has 314.
const maxExtendedKey = 320

// Layout of an extended key (BIP-32), whose text form is base58check:
//
//	version             4 bytes: the network, private or public
//	depth               1 byte: 0 is the master key
//	parent fingerprint  4 bytes: first bytes of the hash160 of the parent's public key; 0 for the master key
//	child number        4 bytes, big-endian, hardened from 2³¹; 0 for the master key
//	chain code          32 bytes
//	key                 33 bytes: 00 and a scalar, or a compressed public key
const (
	extendedDepth  = 4
	extendedParent = 5
	extendedChild  = 9
	extendedChain  = 13
	extendedKey    = 45
	extendedSize   = 78
)

// extendedVersion is the meaning of the version bytes of an extended key. Versions other than
// xprv and tprv are defined by SLIP-132, where they also determine the type of outputs.
type extendedVersion struct {
	bytes       uint32
	prefix      string
	testNetwork bool
	purpose     uint32 // required by SLIP-132; 0 means any
}

const (
	versionXPrv = 0x0488ade4
	versionTPrv = 0x04358394
)

// extendedVersions has the private keys first, then those of multisig wallets and the public ones,
// which are refused.
var extendedVersions = []extendedVersion{
	{versionXPrv, "xprv", false, 0}, {versionTPrv, "tprv", true, 0},
	{0x049d7878, "yprv", false, 49}, {0x044a4e28, "uprv", true, 49},
	{0x04b2430c, "zprv", false, 84}, {0x045f18bc, "vprv", true, 84},
	{bytes: 0x0295b005, prefix: "Yprv"}, {bytes: 0x024285b5, prefix: "Uprv"},
	{bytes: 0x02aa7a99, prefix: "Zprv"}, {bytes: 0x02575048, prefix: "Vprv"},
	{bytes: 0x0488b21e, prefix: "xpub"}, {bytes: 0x043587cf, prefix: "tpub"},
	{bytes: 0x049d7cb2, prefix: "ypub"}, {bytes: 0x044a5262, prefix: "upub"},
	{bytes: 0x04b24746, prefix: "zpub"}, {bytes: 0x045f1cf6, prefix: "vpub"},
	{bytes: 0x0295b43f, prefix: "Ypub"}, {bytes: 0x024289ef, prefix: "Upub"},
	{bytes: 0x02aa7ed3, prefix: "Zpub"}, {bytes: 0x02575483, prefix: "Vpub"},
}

// ParseExtendedKey reads an extended private key (BIP-32): xprv… or tprv…, or one of the
// SLIP-132 forms for single-signature wallets, yprv…, zprv…, uprv… or vprv….
//
// A key below the master key does not contain its path. It must be preceded by its origin, as
// in output descriptors (BIP-380): the fingerprint of the master key and the path,
// [73c5da0a/84h/0h/0h]xprv…. The key's depth, child number and parent must match the origin. A
// master key can have an origin without a path.
//
// Errors wrap ErrExtendedKey and do not repeat the key. The caller wipes the Root.
func ParseExtendedKey(text []byte) (*Root, error) {
	root, err := parseExtendedKey(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExtendedKey, err)
	}
	return root, nil
}

func parseExtendedKey(text []byte) (*Root, error) {
	if len(text) == 0 {
		return nil, errors.New("it is empty")
	}
	if len(text) > maxExtendedKey {
		return nil, fmt.Errorf("%d bytes, the limit is %d", len(text), maxExtendedKey)
	}
	from, key, err := cutOrigin(string(text))
	if err != nil {
		return nil, err
	}
	raw, version, err := decodeExtendedKey(key)
	defer keystore.Wipe(raw)
	if err != nil {
		return nil, err
	}
	node, err := nodeOf(raw)
	if err != nil {
		return nil, err
	}
	defer node.Zero()
	root := &Root{}
	if err := root.place(node, from); err != nil {
		return nil, err
	}
	if purpose := purposeOf(root.path); version.purpose != 0 && purpose != 0 && purpose != version.purpose {
		return nil, fmt.Errorf("%s… has purpose %d' (SLIP-132), but its origin has %d'", version.prefix,
			version.purpose, purpose)
	}
	root.raw = keystore.NewSecret(raw)
	root.testNetwork = version.testNetwork || isTestAccount(root.path)
	return root, nil
}

// origin is the master key and the path that a key is derived from.
type origin struct {
	fingerprint [4]byte
	path        Path
}

// cutOrigin separates the origin, if there is one, from the key.
func cutOrigin(text string) (from *origin, key string, err error) {
	if strings.ContainsAny(text, "()#*") {
		return nil, "",
			errors.New("this is an output descriptor: extract the key with its origin, such as " +
				"[73c5da0a/84h/0h/0h]xprv…, without what follows")
	}
	key = text
	if strings.HasPrefix(text, "[") {
		inside, after, closed := strings.Cut(text[1:], "]")
		if !closed {
			return nil, "", errors.New("origin: ] is missing")
		}
		from = &origin{}
		if from.fingerprint, from.path, err = ParseOrigin(inside); err != nil {
			return nil, "", fmt.Errorf("origin: %w", err)
		}
		key = after
	}
	if strings.Contains(key, "/") {
		return nil, "", errors.New("the key is followed by a path: leave it out, accounts are derived later")
	}
	return from, key, nil
}

// ParseOrigin reads the origin of a key as output descriptors have it in brackets (BIP-380),
// such as 73c5da0a/84h/0h/0h: the fingerprint of the master key and the path from it.
func ParseOrigin(text string) (fingerprint [4]byte, path Path, err error) {
	digits, steps, hasPath := strings.Cut(text, "/")
	four, err := hex.DecodeString(digits)
	if err != nil || len(four) != 4 || strings.ToLower(digits) != digits {
		return fingerprint, nil, errors.New("it must begin with the fingerprint of the master key, 8 lower-case hex digits")
	}
	if hasPath {
		path, err = ParsePath("m/" + steps)
	}
	return [4]byte(four), path, err
}

// decodeExtendedKey returns the bytes of a key. The caller wipes them even if there is an error.
func decodeExtendedKey(text string) (raw []byte, version extendedVersion, err error) {
	payload, first, err := base58.CheckDecode(text)
	defer keystore.Wipe(payload)
	switch {
	case errors.Is(err, base58.ErrChecksum):
		return nil, version, errors.New("the checksum is wrong: a character is mistyped or missing")
	case err != nil:
		return nil, version, errors.New("not base58check")
	case len(payload) != extendedSize-1:
		return nil, version, fmt.Errorf("%d bytes in base58check, want %d", len(payload)+1, extendedSize)
	}
	raw = append(append(make([]byte, 0, extendedSize), first), payload...)
	version, err = versionOf(binary.BigEndian.Uint32(raw))
	return raw, version, err
}

func versionOf(number uint32) (extendedVersion, error) {
	at := slices.IndexFunc(extendedVersions, func(v extendedVersion) bool { return v.bytes == number })
	if at < 0 {
		return extendedVersion{},
			fmt.Errorf("unknown version bytes %08x: xprv…, tprv…, and SLIP-132's yprv…, zprv…, uprv… "+
				"and vprv… are supported", number)
	}
	version := extendedVersions[at]
	switch {
	case strings.HasSuffix(version.prefix, "pub"):
		return version, fmt.Errorf("%s… is an extended public key: it cannot sign", version.prefix)
	case version.prefix[0] < 'a':
		return version,
			fmt.Errorf("%s… is a key of a multisig wallet (SLIP-132), whose addresses cannot be found by one "+
				"key: convert it to xprv… or tprv… to sign its inputs", version.prefix)
	}
	return version, nil
}

// nodeOf checks the fields of an extended private key that do not depend on its origin.
func nodeOf(raw []byte) (*hdkeychain.ExtendedKey, error) {
	scalar := raw[extendedKey+1:]
	switch {
	case raw[extendedKey] == 2 || raw[extendedKey] == 3:
		return nil, errors.New("the version is that of a private key, but the key is a public one")
	case raw[extendedKey] != 0:
		return nil, fmt.Errorf("the key begins with %02x, want 00 for a private key", raw[extendedKey])
	}
	var number btcec.ModNScalar
	overflow := number.SetByteSlice(scalar)
	zero := number.IsZero()
	number.Zero()
	if overflow || zero {
		return nil, errors.New("the secret is not in 1…n−1, where n is the order of secp256k1")
	}
	if raw[extendedDepth] == 0 {
		if !bytes.Equal(raw[extendedParent:extendedChild], make([]byte, extendedChild-extendedParent)) {
			return nil, errors.New("depth 0, a master key, with a parent fingerprint")
		}
		if !bytes.Equal(raw[extendedChild:extendedChain], make([]byte, extendedChain-extendedChild)) {
			return nil, errors.New("depth 0, a master key, with a child number")
		}
	}
	version := binary.BigEndian.AppendUint32(nil, versionXPrv)
	return hdkeychain.NewExtendedKey(version, bytes.Clone(scalar), bytes.Clone(raw[extendedChain:extendedKey]),
		bytes.Clone(raw[extendedParent:extendedChild]), raw[extendedDepth], binary.BigEndian.Uint32(raw[extendedChild:]), true), nil
}

// rawOf returns the bytes of an extended private key. The caller wipes them.
func rawOf(node *hdkeychain.ExtendedKey, version uint32) ([]byte, error) {
	key, err := node.ECPrivKey()
	if err != nil {
		return nil, err
	}
	defer key.Zero()
	scalar := key.Serialize()
	defer keystore.Wipe(scalar)
	raw := make([]byte, 0, extendedSize)
	raw = append(binary.BigEndian.AppendUint32(raw, version), node.Depth())
	raw = binary.BigEndian.AppendUint32(raw, node.ParentFingerprint())
	raw = binary.BigEndian.AppendUint32(raw, node.ChildIndex())
	raw = append(append(raw, node.ChainCode()...), 0)
	return append(raw, scalar...), nil
}

// place sets the fingerprint and the path from the key and its origin, which must match.
func (r *Root) place(node *hdkeychain.ExtendedKey, from *origin) (err error) {
	if node.Depth() > 0 {
		if err := from.checkChild(node); err != nil {
			return err
		}
		r.fingerprint, r.path = from.fingerprint, from.path
		return nil
	}
	if r.fingerprint, err = fingerprint(node); err != nil {
		return err
	}
	switch {
	case from == nil:
		return nil
	case len(from.path) > 0:
		return fmt.Errorf("the key is a master key (depth 0), but its origin has a path of %d steps", len(from.path))
	case from.fingerprint != r.fingerprint:
		return fmt.Errorf("the origin has the fingerprint %x, but the key is the master key %x", from.fingerprint, r.fingerprint)
	}
	return nil
}

// checkChild compares the origin of a key below the master key with the fields of the key.
func (o *origin) checkChild(node *hdkeychain.ExtendedKey) error {
	depth := int(node.Depth())
	if o == nil {
		return fmt.Errorf("the key has depth %d and is not a master key: write its origin before it, the "+
			"fingerprint of the master key and the path, as in [73c5da0a/84h/0h/0h]xprv…", depth)
	}
	if len(o.path) != depth {
		return fmt.Errorf("the key has depth %d, but its origin has a path of %d steps", depth, len(o.path))
	}
	if last := o.path[depth-1]; last != node.ChildIndex() {
		return fmt.Errorf("the key is child %s of its parent, but its origin ends with %s", stepText(node.ChildIndex()), stepText(last))
	}
	if parent := binary.BigEndian.Uint32(o.fingerprint[:]); depth == 1 && parent != node.ParentFingerprint() {
		return fmt.Errorf("the origin has the fingerprint %08x, but the key's parent is the master key %08x", parent,
			node.ParentFingerprint())
	}
	return nil
}

func stepText(index uint32) string { return strings.TrimPrefix(Path{index}.String(), "m/") }
