package wallet

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/crypto/pbkdf2"
	"golang.org/x/text/unicode/norm"

	"github.com/countersign-dev/countersign/keystore"
)

// SeedSize is the length in bytes of the seed of a mnemonic.
const SeedSize = 64

// MaxMnemonic is the maximum length of a mnemonic in bytes, white space included.
const MaxMnemonic = 1024

// seedRounds is the number of PBKDF2 rounds in BIP-39.
const seedRounds = 2048

const (
	bitsPerWord = 11
	longestWord = 8
)

// ErrMnemonic says that a text is not an English mnemonic (BIP-39). Errors name the position of a wrong
// word, never the word.
var ErrMnemonic = errors.New("mnemonic")

// english.txt is the English word list of BIP-39: 2048 words in alphabetical
// order, no two of which begin with the same four letters.
// Source: github.com/bitcoin/bips, bip-0039/english.txt.
//
//go:embed english.txt
var english string

var (
	words       = sync.OnceValue(func() []string { return strings.Fields(english) })
	wordNumbers = sync.OnceValue(func() map[string]int {
		index := make(map[string]int, len(words()))
		for i, word := range words() {
			index[word] = i
		}
		return index
	})
	lengths = map[int]int{12: 16, 15: 20, 18: 24, 21: 28, 24: 32} // bytes of entropy by number of words
)

// Entropy returns the entropy of an English mnemonic: 16, 20, 24, 28 or 32 bytes from 12, 15,
// 18, 21 or 24 words. Words are whole, in lower case, and separated by any white space. The
// checksum is verified, which detects 15 of 16 mistakes in 12 words and 255 of 256 in 24.
// Errors wrap ErrMnemonic.
func Entropy(mnemonic []byte) ([]byte, error) {
	if len(mnemonic) > MaxMnemonic {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", ErrMnemonic, len(mnemonic), MaxMnemonic)
	}
	fields := bytes.Fields(mnemonic)
	size, ok := lengths[len(fields)]
	if !ok {
		return nil, fmt.Errorf("%w: %d words, want 12, 15, 18, 21 or 24 in lower case, without numbers or other text",
			ErrMnemonic, len(fields))
	}
	packed, err := pack(fields)
	if err != nil {
		return nil, err
	}
	defer clear(packed[size:])
	if packed[size] != checksum(packed[:size]) {
		keystore.Wipe(packed)
		return nil, fmt.Errorf("%w: the checksum is wrong: a word is misspelt, missing, or out of place", ErrMnemonic)
	}
	return packed[:size:size], nil
}

// pack concatenates the 11-bit numbers of the words, most significant bit first: entropy ‖
// checksum of 4 to 8 bits ‖ zero bits up to a whole byte.
func pack(fields [][]byte) ([]byte, error) {
	packed := make([]byte, (len(fields)*bitsPerWord+7)/8)
	for i, word := range fields {
		number, known := wordNumbers()[string(word)] // does not copy the word
		if !known {
			keystore.Wipe(packed)
			return nil, fmt.Errorf("%w: word %d is not in the English list of BIP-39 (whole words in lower case, without numbers)",
				ErrMnemonic, i+1)
		}
		for bit := range bitsPerWord {
			position := i*bitsPerWord + bit
			packed[position/8] |= byte(number>>(bitsPerWord-1-bit)&1) << (7 - position%8)
		}
	}
	return packed, nil
}

// checksum returns the first bits of SHA-256, one for every 4 bytes of entropy, in the high
// bits of a byte.
func checksum(entropy []byte) byte {
	digest := sha256.Sum256(entropy)
	bits := len(entropy) / 4
	return digest[0] &^ (0xff >> bits)
}

// Mnemonic returns the mnemonic of 16, 20, 24, 28 or 32 bytes of entropy, with single spaces
// between the words: the form that the seed is computed from.
func Mnemonic(entropy []byte) ([]byte, error) {
	if size := len(entropy); size < 16 || size > 32 || size%4 != 0 {
		return nil, fmt.Errorf("%w: %d bytes of entropy, want 16, 20, 24, 28 or 32", ErrMnemonic, size)
	}
	packed := make([]byte, len(entropy)+2)
	defer clear(packed)
	copy(packed, entropy)
	packed[len(entropy)] = checksum(entropy)
	count := len(entropy) * 3 / 4
	text := make([]byte, 0, count*(longestWord+1)) // never grows, which would leave a copy behind
	for i := range count {
		if i > 0 {
			text = append(text, ' ')
		}
		number := 0
		for position := i * bitsPerWord; position < (i+1)*bitsPerWord; position++ {
			number = number<<1 | int(packed[position/8]>>(7-position%8)&1)
		}
		text = append(text, words()[number]...)
	}
	return text, nil
}

// Seed returns the 64-byte seed of BIP-39:
//
//	PBKDF2-HMAC-SHA-512(words, "mnemonic" ‖ NFKD(passphrase), 2048 rounds)
//
// The mnemonic is checked as by Entropy. The passphrase, in UTF-8, may be empty. No passphrase
// is wrong: each gives another wallet.
func Seed(mnemonic, passphrase []byte) ([]byte, error) {
	entropy, err := Entropy(mnemonic)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(entropy)
	canonical, err := Mnemonic(entropy)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(canonical)
	if !utf8.Valid(passphrase) {
		return nil, fmt.Errorf("%w: the passphrase is not valid UTF-8", ErrMnemonic)
	}
	salt := norm.NFKD.Append([]byte("mnemonic"), passphrase...)
	defer keystore.Wipe(salt)
	return pbkdf2.Key(canonical, salt, seedRounds, SeedSize, sha512.New), nil
}

// SolanaKeygen returns the Ed25519 seed that solana-keygen derives from a mnemonic without a
// derivation path: the first keystore.SecretSize bytes of [Seed]. The caller wipes it.
func SolanaKeygen(mnemonic, passphrase []byte) ([]byte, error) {
	seed, err := Seed(mnemonic, passphrase)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(seed)
	return bytes.Clone(seed[:keystore.SecretSize]), nil
}
