package descriptors

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/internal/evm"
)

// The EAS contract on Ethereum's mainnet, whose offchain attestations ERC-8176 uses, and
// the schema of these attestations: bytes32 descriptorHash.
const (
	easContract = "0xa1207f3bba224e2c9c3c6d5af63d0eb1582ce587"
	easSchema   = "0xe023eef113c1670774801c34b377fdf612dd8a4d2fa92fe382e15bd91fafb5c2"
)

// attestation is an auditor's attestation of one file.
type attestation struct {
	auditor string
	expires time.Time // zero for never
}

// attestations are the valid attestations by the hash that they attest.
type attestations map[[32]byte]attestation

// attestationFile is an EAS offchain attestation, version 2.
type attestationFile struct {
	Sig struct {
		Version int64  `json:"version"`
		UID     string `json:"uid"`
		Domain  struct {
			Name              string `json:"name"`
			Version           string `json:"version"`
			ChainID           string `json:"chainId"`
			VerifyingContract string `json:"verifyingContract"`
		} `json:"domain"`
		PrimaryType string             `json:"primaryType"`
		Message     attestationMessage `json:"message"`
		Types       any                `json:"types"`
		Signature   struct {
			V int64  `json:"v"`
			R string `json:"r"`
			S string `json:"s"`
		} `json:"signature"`
	} `json:"sig"`
	Signer string `json:"signer"`
}

type attestationMessage struct {
	Version        int64  `json:"version"`
	Schema         string `json:"schema"`
	Recipient      string `json:"recipient"`
	Time           string `json:"time"`
	ExpirationTime string `json:"expirationTime"`
	Revocable      bool   `json:"revocable"`
	RefUID         string `json:"refUID"`
	Data           string `json:"data"`
	Salt           string `json:"salt"`
}

// attestType is the EIP-712 type of an attestation. The types in the file are ignored.
const attestType = "Attest(uint16 version,bytes32 schema,address recipient,uint64 time,uint64 expirationTime," +
	"bool revocable,bytes32 refUID,bytes data,bytes32 salt)"

const domainType = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"

// digestOf returns the SHA-256 of the canonical form, which pins contain.
func digestOf(root object) [32]byte { return sha256.Sum256(canonical(root)) }

// attestedHash returns the hash that ERC-8176 attests: the Keccak-256 of the canonical form
// of one file.
func attestedHash(own object) [32]byte { return crypto.Keccak256Hash(canonical(own)) }

// add reads an attestation file. It ignores an attestation that is not valid.
func (a attestations) add(folder fs.FS, name string, auditors map[evm.Address]string, now time.Time) {
	file, err := readBounded(folder, name)
	if err != nil {
		return
	}
	hash, verified, err := verifyAttestation(file, auditors, now)
	if err != nil {
		return
	}
	if other, ok := a[hash]; ok && (other.expires.IsZero() || !verified.expires.IsZero() && verified.expires.Before(other.expires)) {
		return // the other one expires later
	}
	a[hash] = verified
}

// verifyAttestation verifies an attestation, and returns the hash that it attests.
func verifyAttestation(file []byte, auditors map[evm.Address]string, now time.Time) (hash [32]byte, verified attestation, err error) {
	form, err := parseAttestation(file)
	if err != nil {
		return hash, verified, err
	}
	domain, message := &form.Sig.Domain, &form.Sig.Message
	switch {
	case domain.Name != "EAS Attestation" || domain.ChainID != "1" || !strings.EqualFold(domain.VerifyingContract, easContract):
		return hash, verified, errors.New("the attestation is not for Ethereum's mainnet")
	case form.Sig.Version != 2 || message.Version != 2 || form.Sig.PrimaryType != "Attest" || !strings.EqualFold(message.Schema, easSchema):
		return hash, verified, errors.New("the attestation does not have the schema of ERC-8176")
	}
	signer, err := form.signer()
	if err != nil {
		return hash, verified, err
	}
	auditor, ok := auditors[signer]
	if !ok {
		return hash, verified, fmt.Errorf("%s is not among the auditors", signer)
	}
	data, err := fixedHex(message.Data, 32)
	if err != nil {
		return hash, verified, fmt.Errorf("data: %w", err)
	}
	verified.auditor = auditor
	verified.expires, err = message.expiry(now)
	return [32]byte(data), verified, err
}

func parseAttestation(file []byte) (*attestationFile, error) {
	root, err := parse(file)
	if err != nil {
		return nil, err
	}
	form := &attestationFile{}
	return form, into(root, form)
}

// expiry returns when the attestation expires, zero for never. It refuses an attestation
// that has expired or is dated in the future.
func (m *attestationMessage) expiry(now time.Time) (expires time.Time, err error) {
	created, err1 := unixTime(m.Time)
	end, err2 := unixTime(m.ExpirationTime)
	switch {
	case err1 != nil || err2 != nil:
		return expires, errors.Join(err1, err2)
	case created.After(now):
		return expires, errors.New("the attestation is dated in the future: check the clock")
	case m.ExpirationTime == "0":
		return expires, nil
	case !now.Before(end):
		return expires, errors.New("the attestation has expired")
	}
	return end, nil
}

func unixTime(text string) (time.Time, error) {
	seconds, ok := bigOf(text)
	if !ok || !seconds.IsInt64() || seconds.Sign() < 0 || seconds.Int64() > 1<<40 {
		return time.Time{}, fmt.Errorf("time %.32q: must be seconds since 1970", text)
	}
	return time.Unix(seconds.Int64(), 0), nil
}

// signer recovers the address of the signer from the EIP-712 hash.
func (f *attestationFile) signer() (signer evm.Address, err error) {
	hash, err := f.hash()
	if err != nil {
		return signer, err
	}
	r, err1 := fixedHex(f.Sig.Signature.R, 32)
	s, err2 := fixedHex(f.Sig.Signature.S, 32)
	v := f.Sig.Signature.V
	if err := errors.Join(err1, err2); err != nil || v != 27 && v != 28 {
		return signer, errors.Join(err, errors.New("signature: must be r, s, and a v of 27 or 28"))
	}
	y := byte(v - 27)
	if !crypto.ValidateSignatureValues(y, new(big.Int).SetBytes(r), new(big.Int).SetBytes(s), true) {
		return signer, errors.New("signature: r or s out of range")
	}
	key, err := crypto.SigToPub(hash[:], append(append(r, s...), y))
	if err != nil {
		return signer, err
	}
	return evm.Address(crypto.PubkeyToAddress(*key)), nil
}

// hash returns the EIP-712 hash of the attestation.
func (f *attestationFile) hash() (hash [32]byte, err error) {
	m, d := &f.Sig.Message, &f.Sig.Domain
	var words []byte
	add := func(raw []byte, failed error) {
		words, err = append(words, raw...), errors.Join(err, failed)
	}
	data, failed := anyHex(m.Data)
	add(crypto.Keccak256([]byte(attestType)), failed)
	add(numberWord(strconv.FormatInt(m.Version, 10)))
	add(fixedHex(m.Schema, 32))
	add(addressWord(m.Recipient))
	add(numberWord(m.Time))
	add(numberWord(m.ExpirationTime))
	add(boolWord(m.Revocable), nil)
	add(fixedHex(m.RefUID, 32))
	add(crypto.Keccak256(data), nil)
	add(fixedHex(m.Salt, 32))
	message := crypto.Keccak256(words)
	words = nil
	add(crypto.Keccak256([]byte(domainType)), nil)
	add(crypto.Keccak256([]byte(d.Name)), nil)
	add(crypto.Keccak256([]byte(d.Version)), nil)
	add(numberWord(d.ChainID))
	add(addressWord(d.VerifyingContract))
	if err != nil {
		return hash, err
	}
	return crypto.Keccak256Hash([]byte("\x19\x01"), crypto.Keccak256(words), message), nil
}

func numberWord(text string) ([]byte, error) {
	number, ok := bigOf(text)
	if !ok || number.Sign() < 0 || number.BitLen() > 64 {
		return nil, fmt.Errorf("number %.32q: must be an integer of 64 bits", text)
	}
	return number.FillBytes(make([]byte, 32)), nil
}

func addressWord(text string) ([]byte, error) {
	raw, err := fixedHex(text, 20)
	return append(make([]byte, 12), raw...), err
}

func boolWord(yes bool) []byte {
	word := make([]byte, 32)
	if yes {
		word[31] = 1
	}
	return word
}

func anyHex(text string) ([]byte, error) {
	digits, ok := strings.CutPrefix(text, "0x")
	raw, err := hex.DecodeString(digits)
	if !ok || err != nil {
		return nil, errors.New("must be 0x and hex digits")
	}
	return raw, nil
}

func fixedHex(text string, size int) ([]byte, error) {
	raw, err := anyHex(text)
	if err != nil || len(raw) != size {
		return nil, fmt.Errorf("must be 0x and %d hex digits", 2*size)
	}
	return raw, nil
}

func parseAuditors(list []string) (map[evm.Address]string, error) {
	auditors := map[evm.Address]string{}
	for _, text := range list {
		raw, err := fixedHex(text, 20)
		if err != nil {
			return nil, fmt.Errorf("descriptors: auditor %.64q: %w", text, err)
		}
		if mixed := strings.ToLower(text) != text; mixed && evm.Address(raw).String() != text {
			return nil, fmt.Errorf("descriptors: auditor %s has a wrong EIP-55 checksum: should be %s", text, evm.Address(raw))
		}
		auditors[evm.Address(raw)] = evm.Address(raw).String()
	}
	return auditors, nil
}
