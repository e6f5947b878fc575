package descriptors

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/internal/evm"
)

// An attestation is the signed statement of an auditor who has reviewed a descriptor (ERC-8176):
// typed data of the Ethereum Attestation Service, version 2 of its form off chain. The ERC fixes
// all of it but time, expiration, descriptor and salt, so only these are read, and an attestation
// whose other members differ has another signer.
const (
	attestationSchema = "0xe023eef113c1670774801c34b377fdf612dd8a4d2fa92fe382e15bd91fafb5c2"
	attestationType   = "Attest(uint16 version,bytes32 schema,address recipient,uint64 time,uint64 expirationTime," +
		"bool revocable,bytes32 refUID,bytes data,bytes32 salt)"
)

// attestationDomain is the domain separator of the service's contract on Ethereum.
var attestationDomain = crypto.Keccak256(
	crypto.Keccak256([]byte("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")),
	crypto.Keccak256([]byte("EAS Attestation")), crypto.Keccak256([]byte("0.26")),
	word(1), common.LeftPadBytes(common.FromHex("0xa1207f3bba224e2c9c3c6d5af63d0eb1582ce587"), 32))

func word(number uint64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 24), number) }

// attestation is what a signature of an auditor covers.
type attestation struct {
	time, expires    uint64 // in seconds; 0: does not expire
	descriptor, salt [32]byte
}

// digest returns what is signed (EIP-712).
func (a attestation) digest() common.Hash {
	zero := word(0)
	message := crypto.Keccak256(crypto.Keccak256([]byte(attestationType)),
		word(2), common.FromHex(attestationSchema), zero, word(a.time), word(a.expires), word(1), zero,
		crypto.Keccak256(a.descriptor[:]), a.salt[:])
	return crypto.Keccak256Hash([]byte{0x19, 0x01}, attestationDomain, message)
}

// uid returns the name by which an auditor revokes the attestation.
func (a attestation) uid() [32]byte {
	packed := append([]byte{0, 2}, attestationSchema...)
	packed = append(packed, make([]byte, 40)...) // recipient, attester
	packed = binary.BigEndian.AppendUint64(packed, a.time)
	packed = binary.BigEndian.AppendUint64(packed, a.expires)
	packed = append(append(packed, 1), make([]byte, 32)...) // revocable, refUID
	return crypto.Keccak256Hash(packed, a.descriptor[:], a.salt[:], make([]byte, 4))
}

// readAttestation returns what a file of the service attests, and the account that signed it.
func readAttestation(root object) (a attestation, auditor evm.Address, err error) {
	sig, _ := root["sig"].(object)
	message, _ := sig["message"].(object)
	signature, _ := sig["signature"].(object)
	number := func(name string) (value uint64) {
		text, _ := message[name].(string)
		value, failed := strconv.ParseUint(text, 10, 64)
		err = errors.Join(err, failed)
		return value
	}
	bytes32 := func(members object, name string) (value [32]byte) {
		text, _ := members[name].(string)
		raw, failed := hex.DecodeString(strings.TrimPrefix(text, "0x"))
		if failed != nil || len(raw) != 32 {
			err = errors.Join(err, fmt.Errorf("%s: must be 0x and 64 hex digits", name))
			return value
		}
		return [32]byte(raw)
	}
	a = attestation{number("time"), number("expirationTime"), bytes32(message, "data"), bytes32(message, "salt")}
	rawR, rawS := bytes32(signature, "r"), bytes32(signature, "s")
	r, s := *new(uint256.Int).SetBytes32(rawR[:]), *new(uint256.Int).SetBytes32(rawS[:])
	v, _ := signature["v"].(int64)
	if err != nil || v != 27 && v != 28 {
		return a, auditor, cmp.Or(err, errors.New("v: must be 27 or 28"))
	}
	auditor, ok := evm.Recover(a.digest(), byte(v-27), r, s)
	if !ok {
		err = errors.New("signature: no key has made it")
	}
	return a, auditor, err
}

// attested returns the auditors of the pins who have attested the descriptors of a folder, by the
// hash of what is attested. An attestation that cannot be read, has expired, is revoked or is by
// someone else counts for nothing.
func (l *loader) attested(paths []string, pins *Pins) map[[32]byte][]evm.Address {
	by := map[[32]byte][]evm.Address{}
	for _, name := range paths {
		if path.Base(path.Dir(name)) != "sigs" {
			continue
		}
		file, _ := readBounded(l.folder, name) // what cannot be read has no signature
		root, _ := parse(file)
		a, auditor, err := readAttestation(root)
		uid, now := a.uid(), uint64(time.Now().Unix())
		counts := slices.Contains(pins.auditors, string(auditor[:])) && !slices.Contains(pins.revoked, string(uid[:])) &&
			(a.expires == 0 || now < a.expires)
		if err == nil && counts && !slices.Contains(by[a.descriptor], auditor) {
			by[a.descriptor] = append(by[a.descriptor], auditor)
		}
	}
	return by
}

// attestedHash returns what auditors attest of a descriptor: the Keccak-256 of its canonical form
// (RFC 8785) with includes merged.
func attestedHash(root object) [32]byte {
	merged := maps.Clone(root)
	delete(merged, "includes")
	return crypto.Keccak256Hash(canonical(merged))
}
