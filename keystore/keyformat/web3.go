package keyformat

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/ethereum/go-ethereum/crypto"
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
	if err := w.checkAddress(key); err != nil {
		key.Wipe()
		return Key{}, err
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
		derived, err := w.stretchPassword.key(password, w.salt, web3KeySize)
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

func (w web3) checkAddress(key Key) error {
	if w.address == "" {
		return nil
	}
	if own := web3Address(key); w.address != own {
		return fmt.Errorf("web3: %w: the file has the address %s, the secret %s", ErrOtherKey, w.shown(w.address), w.shown(own))
	}
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
	top, err := parseObject("", value{text: file})
	if err != nil {
		return w, err
	}
	if version, err := top.number("version"); err != nil && string(top.members["version"].text) == `"1"` {
		return w,
			fmt.Errorf("web3: %w: version 1, which geth wrote until 2015, at byte %d: only version 3 is supported: "+
				"geth writes it with 'geth account update'",
				ErrUnsupported, top.members["version"].offset)
	} else if err != nil {
		return w, err
	} else if version != 3 {
		return w, fmt.Errorf("web3: %w: version %d at byte %d: only version 3 is supported", ErrUnsupported, version,
			top.members["version"].offset)
	}
	if err = w.readAddress(top); err != nil {
		return w, err
	}
	name := "crypto"
	if _, capital := top.members["Crypto"]; capital {
		name = "Crypto"
		if second, both := top.members["crypto"]; both {
			return w, top.errorf(second.offset, "crypto", "the file also has a member Crypto")
		}
	}
	section, err := top.object(name)
	if err != nil {
		return w, err
	}
	return w, w.readCrypto(section)
}

// maxBase58 is the length of the longest text that is decoded as base58, which takes
// quadratic time. An address of Tron has 34 characters.
const maxBase58 = 40

// readAddress reads the address: hex digits or, of Tron, base58check.
func (w *web3) readAddress(top object) error {
	member, ok := top.members["address"]
	if !ok || string(member.text) == `""` {
		return nil
	}
	text, err := top.text("address")
	if err != nil {
		return err
	}
	if len(text) <= maxBase58 {
		if raw, version, err := base58.CheckDecode(text); err == nil && version == tronPrefix && len(raw) == 20 {
			w.address, w.base58 = hex.EncodeToString(raw), true
			return nil
		}
	}
	digits := strings.TrimPrefix(strings.ToLower(text), "0x")
	if len(digits) == 42 {
		digits = strings.TrimPrefix(digits, "41") // Tron
	}
	if raw, err := hex.DecodeString(digits); err == nil && len(raw) == 20 {
		w.address = digits
		return nil
	}
	return top.errorf(member.offset, "address", "expected 40 hex digits, or an address of Tron")
}

func (w *web3) readCrypto(section object) (err error) {
	if err := section.only("cipher", "cipherparams", "ciphertext", "kdf", "kdfparams", "mac"); err != nil {
		return err
	}
	algorithm, err := section.text("cipher")
	if err != nil {
		return err
	}
	if algorithm != "aes-128-ctr" {
		return fmt.Errorf("web3: %w: cipher %.32q at byte %d: only aes-128-ctr is supported", ErrUnsupported,
			algorithm, section.members["cipher"].offset)
	}
	params, err := section.object("cipherparams")
	if err != nil {
		return err
	}
	if err := params.only("iv"); err != nil {
		return err
	}
	if w.iv, err = params.hex("iv", aes.BlockSize, aes.BlockSize); err != nil {
		return err
	}
	if w.ciphertext, err = section.hex("ciphertext", 1, keystore.SecretSize); err != nil {
		return err
	}
	if w.mac, err = section.hex("mac", 32, 32); err != nil {
		return err
	}
	return w.readKDF(section)
}

func (w *web3) readKDF(section object) error {
	kdf, err := section.text("kdf")
	if err != nil {
		return err
	}
	params, err := section.object("kdfparams")
	if err != nil {
		return err
	}
	switch kdf {
	case "scrypt":
		err = w.readScrypt(params)
	case "pbkdf2":
		err = w.readPBKDF2(params)
	default:
		err = fmt.Errorf("web3: %w: kdf %.32q at byte %d: only scrypt and pbkdf2 are supported", ErrUnsupported, kdf,
			section.members["kdf"].offset)
	}
	if err != nil {
		return err
	}
	size, err := params.number("dklen")
	if err == nil && size != web3KeySize {
		err = params.errorf(params.members["dklen"].offset, "dklen", "%d bytes, want %d", size, web3KeySize)
	}
	if err != nil {
		return err
	}
	w.salt, err = params.hex("salt", 1, maxSalt)
	return err
}

func (w *web3) readScrypt(params object) (err error) {
	if err := params.only("dklen", "n", "r", "p", "salt"); err != nil {
		return err
	}
	var cost scryptCost
	if cost.n, err = params.number("n"); err != nil {
		return err
	}
	if cost.r, err = params.number("r"); err != nil {
		return err
	}
	if cost.p, err = params.number("p"); err != nil {
		return err
	}
	w.stretchPassword = cost
	if err := cost.check(); err != nil {
		return fmt.Errorf("web3: crypto.kdfparams at byte %d: %w", params.offset, err)
	}
	return nil
}

func (w *web3) readPBKDF2(params object) error {
	if err := params.only("dklen", "c", "prf", "salt"); err != nil {
		return err
	}
	prf, err := params.text("prf")
	if err != nil {
		return err
	}
	if prf != "hmac-sha256" {
		return fmt.Errorf("web3: %w: prf %.32q at byte %d: only hmac-sha256 is supported", ErrUnsupported, prf,
			params.members["prf"].offset)
	}
	cost := pbkdf2Cost{prf: sha256.New}
	if cost.rounds, err = params.number("c"); err != nil {
		return err
	}
	w.stretchPassword = cost
	if err := cost.check(); err != nil {
		return fmt.Errorf("web3: crypto.kdfparams.c at byte %d: %w", params.members["c"].offset, err)
	}
	return nil
}
