package keyformat

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // what openssl wrote before 1.1, read but never written
	"crypto/sha256"
	"crypto/sha512"
	"encoding/asn1"
	"fmt"
	"hash"

	"golang.org/x/crypto/cryptobyte"
	tag "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/countersign-dev/countersign/keystore"
)

var (
	oidPBES2      = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	oidScrypt     = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11591, 4, 11}
	oidHMACSHA256 = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 9}
	oidAES256CBC  = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}
)

// prfs has the hash functions of PBKDF2's HMAC (RFC 8018), by object identifier.
var prfs = map[string]func() hash.Hash{
	"1.2.840.113549.2.7":   sha1.New,
	oidHMACSHA256.String(): sha256.New,
	"1.2.840.113549.2.10":  sha512.New384,
	"1.2.840.113549.2.11":  sha512.New,
}

// ciphers has the key lengths of the block ciphers in bytes, by object identifier.
var ciphers = map[string]int{
	"2.16.840.1.101.3.4.1.2":  16, // AES-128-CBC
	"2.16.840.1.101.3.4.1.22": 24, // AES-192-CBC
	oidAES256CBC.String():     32,
}

// pbes2 has the parameters of an encryption.
type pbes2 struct {
	stretch stretch
	salt    []byte
	keySize int // as the key derivation says; 0 if it does not
	iv      []byte
	aesSize int
}

// parseEncryptedPrivateKeyInfo reads (RFC 5958, RFC 8018, RFC 7914)
//
//	SEQUENCE
//	  SEQUENCE                          encryptionAlgorithm
//	    OID PBES2
//	    SEQUENCE
//	      SEQUENCE                      keyDerivationFunc
//	        OID PBKDF2 | OID scrypt
//	        SEQUENCE  salt, iterationCount, [keyLength], [prf] | salt, n, r, p, [keyLength]
//	      SEQUENCE                      encryptionScheme
//	        OID AES-…-CBC
//	        OCTET STRING                the initialization vector, 16 bytes
//	  OCTET STRING                      encryptedData
func parseEncryptedPrivateKeyInfo(content, password []byte) (Key, error) {
	outer := newDER(content)
	info := outer.inside("EncryptedPrivateKeyInfo", tag.SEQUENCE)
	outer.end("EncryptedPrivateKeyInfo")
	oid, algorithm := info.algorithm("encryptionAlgorithm")
	if !oid.Equal(oidPBES2) {
		info.fail(fmt.Errorf("pkcs8: %w: encryption %v: only PBES2 is supported: re-encrypt it with 'openssl pkcs8 -topk8'",
			ErrUnsupported, oid))
	}
	parameters := algorithm.inside("PBES2-params", tag.SEQUENCE)
	algorithm.end("encryptionAlgorithm")
	var scheme pbes2
	scheme.readKDF(parameters)
	scheme.readCipher(parameters)
	parameters.end("PBES2-params")
	encrypted := info.inside("encryptedData", tag.OCTET_STRING)
	info.end("EncryptedPrivateKeyInfo")
	if size := len(encrypted.String); size == 0 || size%aes.BlockSize != 0 {
		encrypted.errorf("encryptedData", "%d bytes, want a multiple of %d", size, aes.BlockSize)
	}
	if info.err != nil {
		return Key{}, info.err
	}
	block, err := scheme.block(password)
	if err != nil {
		return Key{}, err
	}
	plain := make([]byte, len(encrypted.String))
	defer keystore.Wipe(plain)
	cipher.NewCBCDecrypter(block, scheme.iv).CryptBlocks(plain, encrypted.String)
	return readDecrypted(plain)
}

// readDecrypted reads a decrypted key. Only the padding and the format show whether the
// password was right.
func readDecrypted(plain []byte) (Key, error) {
	padding := int(plain[len(plain)-1])
	if padding == 0 || padding > aes.BlockSize {
		return Key{}, fmt.Errorf("pkcs8: %w", ErrPassword)
	}
	for _, b := range plain[len(plain)-padding:] {
		if int(b) != padding {
			return Key{}, fmt.Errorf("pkcs8: %w", ErrPassword)
		}
	}
	content := plain[:len(plain)-padding]
	outer := cryptobyte.String(content)
	if !outer.SkipASN1(tag.SEQUENCE) || !outer.Empty() {
		return Key{}, fmt.Errorf("pkcs8: %w", ErrPassword)
	}
	return parsePrivateKeyInfo(content)
}

func (s *pbes2) readKDF(parameters *der) {
	oid, outer := parameters.algorithm("keyDerivationFunc")
	kdf := outer.inside("keyDerivationFunc.parameters", tag.SEQUENCE)
	outer.end("keyDerivationFunc")
	salt := kdf.inside("salt", tag.OCTET_STRING)
	if s.salt = salt.String; len(s.salt) == 0 || len(s.salt) > maxSalt {
		salt.errorf("salt", "%d bytes, want 1 to %d", len(s.salt), maxSalt)
	}
	switch {
	case oid.Equal(oidPBKDF2):
		s.readPBKDF2(kdf)
	case oid.Equal(oidScrypt):
		offset := kdf.at()
		cost := scryptCost{kdf.number("costParameter"), kdf.number("blockSize"), kdf.number("parallelizationParameter")}
		if err := cost.check(); err != nil {
			kdf.fail(fmt.Errorf("pkcs8: costParameter at byte %d: %w", offset, err))
		}
		s.stretch = cost.key
		s.readKeyLength(kdf)
	default:
		kdf.fail(fmt.Errorf("pkcs8: %w: key derivation %v: only PBKDF2 and scrypt are supported", ErrUnsupported, oid))
	}
	kdf.end("keyDerivationFunc.parameters")
}

func (s *pbes2) readPBKDF2(kdf *der) {
	cost := pbkdf2Cost{prf: sha1.New} // the default of the standard
	offset := kdf.at()
	cost.rounds = kdf.number("iterationCount")
	if err := cost.check(); err != nil {
		kdf.fail(fmt.Errorf("pkcs8: iterationCount at byte %d: %w", offset, err))
	}
	s.readKeyLength(kdf)
	if !kdf.Empty() {
		oid, prf := kdf.algorithm("prf")
		if cost.prf = prfs[oid.String()]; cost.prf == nil {
			kdf.fail(fmt.Errorf("pkcs8: %w: prf %v: only HMAC with SHA-1, SHA-256, SHA-384 and SHA-512 is supported",
				ErrUnsupported, oid))
		}
		if !prf.Empty() && !prf.SkipASN1(tag.NULL) {
			prf.errorf("prf", "expected NULL")
		}
		prf.end("prf")
	}
	s.stretch = cost.key
}

func (s *pbes2) readKeyLength(kdf *der) {
	if !kdf.PeekASN1Tag(tag.INTEGER) {
		return
	}
	size := kdf.number("keyLength")
	if size == 0 || size > 32 {
		kdf.errorf("keyLength", "%d bytes, want the length of an AES key", size)
	}
	s.keySize = int(size)
}

func (s *pbes2) readCipher(parameters *der) {
	oid, scheme := parameters.algorithm("encryptionScheme")
	if s.aesSize = ciphers[oid.String()]; s.aesSize == 0 {
		parameters.fail(fmt.Errorf("pkcs8: %w: cipher %v: only AES-CBC is supported: re-encrypt it with 'openssl pkcs8 "+
			"-topk8 -v2 aes-256-cbc'", ErrUnsupported, oid))
	}
	iv := scheme.inside("encryptionScheme.parameters", tag.OCTET_STRING)
	if s.iv = iv.String; len(s.iv) != aes.BlockSize {
		iv.errorf("encryptionScheme.parameters", "%d bytes, want %d", len(s.iv), aes.BlockSize)
	}
	if s.keySize != 0 && s.keySize != s.aesSize {
		parameters.errorf("keyLength", "%d bytes, but the cipher takes %d", s.keySize, s.aesSize)
	}
	scheme.end("encryptionScheme")
}

func (s *pbes2) block(password []byte) (cipher.Block, error) {
	key, err := s.stretch(password, s.salt, s.aesSize)
	if err != nil {
		return nil, fmt.Errorf("pkcs8: %w", err)
	}
	defer keystore.Wipe(key)
	return aes.NewCipher(key)
}

// writtenRounds is OWASP's recommendation for PBKDF2-HMAC-SHA-256 (2023).
const writtenRounds = 600_000

func encryptPrivateKeyInfo(info, password []byte) ([]byte, error) {
	scheme := &pbes2{
		stretch: pbkdf2Cost{rounds: writtenRounds, prf: sha256.New}.key,
		salt:    make([]byte, 16), iv: make([]byte, aes.BlockSize), aesSize: 32,
	}
	_, _ = rand.Read(scheme.salt) // never fails
	_, _ = rand.Read(scheme.iv)
	block, err := scheme.block(password)
	if err != nil {
		return nil, err
	}
	padding := aes.BlockSize - len(info)%aes.BlockSize
	data := make([]byte, len(info)+padding)
	copy(data, info)
	for i := len(info); i < len(data); i++ {
		data[i] = byte(padding)
	}
	cipher.NewCBCEncrypter(block, scheme.iv).CryptBlocks(data, data)
	return build(func(b *cryptobyte.Builder) { scheme.write(b, data) })
}

func (s *pbes2) write(b *cryptobyte.Builder, encrypted []byte) {
	sequence := func(b *cryptobyte.Builder, oid asn1.ObjectIdentifier, parameters cryptobyte.BuilderContinuation) {
		b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1ObjectIdentifier(oid)
			parameters(b)
		})
	}
	sequence(b, oidPBES2, func(b *cryptobyte.Builder) {
		b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
			sequence(b, oidPBKDF2, func(b *cryptobyte.Builder) {
				b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
					b.AddASN1OctetString(s.salt)
					b.AddASN1Uint64(writtenRounds)
					sequence(b, oidHMACSHA256, func(b *cryptobyte.Builder) { b.AddASN1NULL() })
				})
			})
			sequence(b, oidAES256CBC, func(b *cryptobyte.Builder) { b.AddASN1OctetString(s.iv) })
		})
	})
	b.AddASN1OctetString(encrypted)
}
