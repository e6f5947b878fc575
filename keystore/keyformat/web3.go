package keyformat

import (
	"bytes"
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"github.com/countersign-dev/countersign/keystore"
)

// web3 is an encrypted key in Web3 Secret Storage version 3:
//
//	{"version": 3,
//	 "id": "<UUID>",                         not used
//	 "address": "<40 hex digits>",           optional; may have the prefix 0x, or 41 in Tron's form
//	 "crypto": {                             or "Crypto"
//	   "cipher": "aes-128-ctr",
//	   "cipherparams": {"iv": "<16 bytes>"},
//	   "ciphertext": "<the secret>",         32 bytes, or fewer if an old writer dropped leading zeros
//	   "kdf": "scrypt",  "kdfparams": {"dklen": 32, "n": …, "r": …, "p": …, "salt": "…"},
//	   "kdf": "pbkdf2",  "kdfparams": {"dklen": 32, "c": …, "prf": "hmac-sha256", "salt": "…"},
//	   "mac": "<32 bytes>"}}                 Keccak-256(derived key[16:32] ‖ ciphertext)
//
// Other members are ignored at the top level, where wallets keep notes, and refused inside
// crypto. The MAC does not cover the iv: in a file without an address, a damaged iv yields
// another key undetectably.
type web3 struct {
	address         string // 40 lower-case hex digits
	base58          bool   // it is written so, as java-tron and wallet-cli do (encode58Check)
	iv, ciphertext  []byte
	mac             []byte
	salt            []byte
	stretchPassword stretch
}

const web3KeySize = 32 // dklen

// ParseWeb3 reads an encrypted key file of Web3 Secret Storage version 3, the format of geth,
// of related clients and of Tron's wallets. The key is on secp256k1.
func ParseWeb3(file, password []byte) (Key, error) {
	w, err := readWeb3(file)
	if err != nil {
		return Key{}, err
	}
	derived, err := w.unlock(password)
	if err != nil {
		return Key{}, err
	}
	defer keystore.Wipe(derived)
	var secret [keystore.SecretSize]byte
	defer keystore.Wipe(secret[:])
	if err := aesCTR(derived[:16], w.iv, secret[len(secret)-len(w.ciphertext):], w.ciphertext); err != nil {
		return Key{}, err
	}
	key, err := NewKey(keystore.CurveSecp256k1, secret[:])
	if err != nil {
		return Key{}, fmt.Errorf("web3: %w", err)
	}
	if own := web3Address(key); w.address != "" && w.address != own {
		key.Wipe()
		return Key{}, fmt.Errorf("web3: %w: the file has the address %s, the secret %s", ErrOtherKey, w.shown(w.address), w.shown(own))
	}
	return key, nil
}

// unlock returns the derived key of a password that fits. geth derives it from the bytes of
// the password, ethers from their form NFKC, and what a keyboard sends for ä differs from
// system to system: a password that does not fit as it is, is tried in the forms NFC and NFKC
// (Unicode Standard Annex 15).
func (w web3) unlock(password []byte) ([]byte, error) {
	tried := [][]byte{password}
	for _, form := range []norm.Form{norm.NFC, norm.NFKC} {
		if other := form.Bytes(password); !slices.ContainsFunc(tried, func(earlier []byte) bool { return bytes.Equal(earlier, other) }) {
			defer keystore.Wipe(other)
			tried = append(tried, other)
		}
	}
	for _, password := range tried {
		derived, err := w.stretchPassword(password, w.salt, web3KeySize)
		if err != nil {
			return nil, fmt.Errorf("web3: crypto.kdfparams: %w", err)
		}
		if subtle.ConstantTimeCompare(crypto.Keccak256(derived[16:], w.ciphertext), w.mac) == 1 {
			return derived, nil
		}
		keystore.Wipe(derived)
	}
	return nil, fmt.Errorf("web3: %w", ErrPassword)
}

func aesCTR(key, iv, to, from []byte) error {
	block, err := aes.NewCipher(key)
	if err != nil {
		return err
	}
	cipher.NewCTR(block, iv).XORKeyStream(to, from)
	return nil
}

// tronPrefix is the first byte of an address of Tron.
const tronPrefix = 0x41

// shown returns an address in the form of the file's.
func (w web3) shown(digits string) string {
	if raw, err := hex.DecodeString(digits); w.base58 && err == nil {
		return base58.CheckEncode(raw, tronPrefix)
	}
	return digits
}

// web3Address returns the address of a key as 40 lower-case hex digits.
func web3Address(key Key) string {
	address := key.PublicKey.KeccakAddress()
	return hex.EncodeToString(address[:])
}

func readWeb3(file []byte) (w web3, err error) {
	if len(file) > MaxSize {
		return w, fmt.Errorf("web3: %w: %d bytes, the limit is %d", ErrMalformed, len(file), MaxSize)
	}
	top := parseObject("", value{text: file}, &fault{})
	written := top.members["version"]
	if string(written.text) == `"1"` {
		top.fail(fmt.Errorf("web3: %w: version 1, which geth wrote until 2015, at byte %d: only version 3 is supported: "+
			"geth writes it with 'geth account update'", ErrUnsupported, written.offset))
	} else if version := top.number("version"); version != 3 {
		top.fail(fmt.Errorf("web3: %w: version %d at byte %d: only version 3 is supported", ErrUnsupported, version,
			written.offset))
	}
	w.readAddress(top)
	name := "crypto"
	if _, capital := top.members["Crypto"]; capital {
		name = "Crypto"
		if second, both := top.members["crypto"]; both {
			top.errorf(second.offset, "crypto", "the file also has a member Crypto")
		}
	}
	section := top.object(name)
	section.only("cipher", "cipherparams", "ciphertext", "kdf", "kdfparams", "mac")
	section.is("cipher", "aes-128-ctr")
	params := section.object("cipherparams")
	params.only("iv")
	w.iv = params.hex("iv", aes.BlockSize, aes.BlockSize)
	w.ciphertext = section.hex("ciphertext", 1, keystore.SecretSize)
	w.mac = section.hex("mac", 32, 32)
	w.readKDF(section)
	return w, top.err
}

// maxBase58 is the length of the longest text that is decoded as base58, which takes
// quadratic time. An address of Tron has 34 characters.
const maxBase58 = 40

// readAddress reads the address: hex digits or, of Tron, base58check.
func (w *web3) readAddress(top object) {
	member, ok := top.members["address"]
	if !ok || string(member.text) == `""` {
		return
	}
	text := top.text("address")
	if len(text) <= maxBase58 {
		if raw, version, err := base58.CheckDecode(text); err == nil && version == tronPrefix && len(raw) == 20 {
			w.address, w.base58 = hex.EncodeToString(raw), true
			return
		}
	}
	w.address = strings.TrimPrefix(strings.ToLower(text), "0x")
	if len(w.address) == 42 {
		w.address = strings.TrimPrefix(w.address, "41") // Tron
	}
	if raw, err := hex.DecodeString(w.address); err != nil || len(raw) != 20 {
		top.errorf(member.offset, "address", "expected 40 hex digits, or an address of Tron")
	}
}

// is refuses another text of a member than the one that is supported.
func (o object) is(name, supported string) {
	if text := o.text(name); text != supported {
		o.fail(fmt.Errorf("web3: %w: %s %.32q at byte %d: only %s is supported", ErrUnsupported, name, text,
			o.members[name].offset, supported))
	}
}

func (w *web3) readKDF(section object) {
	kdf, params := section.text("kdf"), section.object("kdfparams")
	switch kdf {
	case "scrypt":
		params.only("dklen", "n", "r", "p", "salt")
		cost := scryptCost{params.number("n"), params.number("r"), params.number("p")}
		if err := cost.check(); err != nil {
			params.fail(fmt.Errorf("web3: crypto.kdfparams at byte %d: %w", params.offset, err))
		}
		w.stretchPassword = cost.key
	case "pbkdf2":
		params.only("dklen", "c", "prf", "salt")
		params.is("prf", "hmac-sha256")
		cost := pbkdf2Cost{params.number("c"), sha256.New}
		if err := cost.check(); err != nil {
			params.fail(fmt.Errorf("web3: crypto.kdfparams.c at byte %d: %w", params.members["c"].offset, err))
		}
		w.stretchPassword = cost.key
	default:
		params.fail(fmt.Errorf("web3: %w: kdf %.32q at byte %d: only scrypt and pbkdf2 are supported", ErrUnsupported,
			kdf,
			section.members["kdf"].offset))
	}
	if size := params.number("dklen"); size != web3KeySize {
		params.errorf(params.members["dklen"].offset, "dklen", "%d bytes, want %d", size, web3KeySize)
	}
	w.salt = params.hex("salt", 1, maxSalt)
}

// Cost is the cost of trying a password for a new file.
type Cost struct {
	// LogN is the binary logarithm of scrypt's N; r is 8 and p is 1. An attempt takes
	// 2^LogN KiB of memory. 0 means DefaultLogN.
	LogN int
}

// DefaultLogN is geth's default: 256 MiB, about a second.
const DefaultLogN = 18

// Web3 returns the key as an encrypted file of Web3 Secret Storage version 3, with scrypt. The
// key must be on secp256k1.
func (k Key) Web3(password []byte, cost Cost) ([]byte, error) {
	if err := k.on(keystore.CurveSecp256k1, "web3"); err != nil {
		return nil, err
	}
	var salt [32]byte
	var iv [16]byte
	_, _ = rand.Read(salt[:]) // never fails
	_, _ = rand.Read(iv[:])
	parameters := scryptCost{n: 1 << cmp.Or(cost.LogN, DefaultLogN), r: 8, p: 1}
	derived, err := parameters.key(password, salt[:], web3KeySize)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(derived)
	ciphertext := make([]byte, len(k.Secret))
	if err := aesCTR(derived[:16], iv[:], ciphertext, k.Secret); err != nil {
		return nil, err
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{
		"version": 3,
		"id":      id.String(),
		"address": web3Address(k),
		"crypto": map[string]any{
			"cipher":       "aes-128-ctr",
			"cipherparams": map[string]any{"iv": hex.EncodeToString(iv[:])},
			"ciphertext":   hex.EncodeToString(ciphertext),
			"kdf":          "scrypt",
			"kdfparams": map[string]any{
				"dklen": web3KeySize, "n": parameters.n, "r": parameters.r, "p": parameters.p, "salt": hex.EncodeToString(salt[:]),
			},
			"mac": hex.EncodeToString(crypto.Keccak256(derived[16:], ciphertext)),
		},
	})
}
