package otp

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hpke"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// ErrBundle means that a target bundle was not signed by the trusted key, or is malformed.
var ErrBundle = errors.New("otp: encryption target bundle not valid")

// The suite of RFC 9180 that clients encrypt codes with: DHKEM(P-256, HKDF-SHA256),
// HKDF-SHA256, AES-256-GCM, with this info.
const hpkeInfo = "turnkey_hpke"

var (
	hpkeKEM  = hpke.DHKEM(ecdh.P256())
	hpkeKDF  = hpke.HKDFSHA256()
	hpkeAEAD = hpke.AES256GCM()
)

const bundleVersion = "v1.0.0"

// targetBundle is the key to encrypt one code to, signed.
//
//	{"version":"v1.0.0","data":hex(targetData),"dataSignature":hex(DER),"enclaveQuorumPublic":hex(04 ‖ x ‖ y)}
//
// The signature is ECDSA on P-256 over SHA-256 of the bytes of targetData. Clients compare
// the key with one that they trust.
type targetBundle struct {
	Version   string `json:"version"`
	Data      string `json:"data"`
	Signature string `json:"dataSignature"`
	Signer    string `json:"enclaveQuorumPublic"`
}

// targetData is what a targetBundle signs. Clients in Rust require userId; no user is known
// before the code is redeemed.
type targetData struct {
	TargetPublic   string `json:"targetPublic"` // hex(04 ‖ x ‖ y)
	OrganizationID string `json:"organizationId"`
	UserID         string `json:"userId"`
	OTPID          string `json:"otpId"`
}

// encryptedCode is what a client sends.
//
//	{"encappedPublic":hex(enc),"ciphertext":hex(ct)}
//
// enc is 04 ‖ x ‖ y. The associated data of ct is enc ‖ target key, also 04 ‖ x ‖ y.
type encryptedCode struct {
	Encapped   string `json:"encappedPublic"`
	Ciphertext string `json:"ciphertext"`
}

type sealedCode struct {
	Code      string `json:"otp_code"`
	PublicKey string `json:"public_key"`
}

// targetKey derives the key that a code is encrypted to from the secret, the organization
// and the id of the code. Every node of the store can thus read what was encrypted to it,
// nothing is stored, and what is encrypted for one code can be read for no other.
func (s *Service) targetKey(organizationID, id string) (hpke.PrivateKey, error) {
	material, err := keyed(s.secret, labelTarget, organizationID, canonicalID(id))
	if err != nil {
		return nil, err
	}
	return hpkeKEM.DeriveKeyPair(material[:])
}

// canonicalID returns the id, or one that no code has if it is malformed.
func canonicalID(id string) string {
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return uuid.Nil.String()
	}
	return id
}

// TargetBundle returns the key that a client encrypts a code to, as JSON signed by a P-256
// key: what init_otp answers as otpEncryptionTargetBundle.
func (s *Service) TargetBundle(organizationID, id string, signer crypto.Signer) (string, error) {
	key, err := s.targetKey(organizationID, id)
	if err != nil {
		return "", err
	}
	public, ok := signer.Public().(*ecdsa.PublicKey)
	if !ok || public.Curve != elliptic.P256() {
		return "", errors.New("otp: the key for encryption targets is not a P-256 key")
	}
	point, err := public.Bytes()
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(targetData{TargetPublic: hex.EncodeToString(key.PublicKey().Bytes()),
		OrganizationID: organizationID, OTPID: id})
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256(data)
	signature, err := signer.Sign(rand.Reader, digest[:], crypto.SHA256)
	if err != nil {
		return "", fmt.Errorf("otp: sign the encryption target: %w", err)
	}
	if !ecdsa.VerifyASN1(public, digest[:], signature) {
		return "", errors.New("otp: the key for encryption targets returned a wrong signature")
	}
	bundle, err := json.Marshal(targetBundle{bundleVersion, hex.EncodeToString(data), hex.EncodeToString(signature),
		hex.EncodeToString(point)})
	return string(bundle), err
}

// Open decrypts what a client encrypted to the target bundle of a code: the code as typed,
// and the public key for the token. It fails with a *ParameterError for anything else, such
// as a bundle for another code. Such a request makes no guess, and reveals nothing about a
// code: for an id that no code has there is a key too.
func (s *Service) Open(organizationID, id, bundle string) (typed, publicKey string, err error) {
	encapped, ciphertext, err := readEncrypted(bundle)
	if err != nil {
		return "", "", err
	}
	key, err := s.targetKey(organizationID, id)
	if err != nil {
		return "", "", err
	}
	recipient, err := hpke.NewRecipient(encapped, key, hpkeKDF, hpkeAEAD, []byte(hpkeInfo))
	if err != nil {
		return "", "", badBundle("encappedPublic is not an uncompressed point of P-256")
	}
	plain, err := recipient.Open(append(bytes.Clone(encapped), key.PublicKey().Bytes()...), ciphertext)
	if err != nil {
		return "", "",
			badBundle("it cannot be decrypted: encrypt the code to the otpEncryptionTargetBundle that init_otp answered with this otpId")
	}
	return readSealed(plain)
}

func readEncrypted(bundle string) (encapped, ciphertext []byte, err error) {
	var sent encryptedCode
	err = strictjson.Read([]byte(bundle), "bundle",
		strictjson.Required("encappedPublic", &sent.Encapped),
		strictjson.Required("ciphertext", &sent.Ciphertext))
	if err != nil {
		return nil, nil, &ParameterError{Parameter: bundleParameter, Rule: err.Error(), Kind: ErrParameter}
	}
	if encapped, err = hex.DecodeString(sent.Encapped); err != nil {
		return nil, nil, badBundle("encappedPublic is not hex")
	}
	if ciphertext, err = hex.DecodeString(sent.Ciphertext); err != nil {
		return nil, nil, badBundle("ciphertext is not hex")
	}
	return encapped, ciphertext, nil
}

// readSealed reads what was encrypted. Its errors quote nothing of it.
func readSealed(plain []byte) (typed, publicKey string, err error) {
	var sealed sealedCode
	err = strictjson.Read(plain, "bundle",
		strictjson.Required("otp_code", &sealed.Code),
		strictjson.Required("public_key", &sealed.PublicKey))
	switch {
	case err != nil:
		return "", "", badBundle(`expected {"otp_code":"…","public_key":"…"} inside, each once and nothing else`)
	case sealed.PublicKey == "":
		return "", "", badBundle("public_key is empty: it is the key that the verification token is for")
	case !isPublicKey(sealed.PublicKey):
		return "", "", badBundle("public_key " + publicKeyRule)
	}
	return sealed.Code, sealed.PublicKey, nil
}

// bundleParameter is what the API calls a bundle of a client.
const bundleParameter = "encryptedOtpBundle"

func badBundle(format string, args ...any) error {
	return badParameter(bundleParameter, format, args...)
}

// Encrypt encrypts a code and the public key for its token to a target bundle: the
// encryptedOtpBundle of verify_otp. The bundle must be signed by the trusted key, the
// engine's proof key, and be for this code; otherwise the error wraps ErrBundle.
func Encrypt(typed, publicKey, bundle string, trusted *ecdsa.PublicKey, organizationID, id string) (string, error) {
	target, err := readTarget(bundle, trusted)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrBundle, err)
	}
	if target.OrganizationID != organizationID || target.OTPID != id {
		return "", fmt.Errorf("%w: it is for another code", ErrBundle)
	}
	point, err := hex.DecodeString(target.TargetPublic)
	if err != nil {
		return "", fmt.Errorf("%w: targetPublic is not hex", ErrBundle)
	}
	key, err := hpkeKEM.NewPublicKey(point)
	if err != nil {
		return "", fmt.Errorf("%w: targetPublic: %w", ErrBundle, err)
	}
	encapped, sender, err := hpke.NewSender(key, hpkeKDF, hpkeAEAD, []byte(hpkeInfo))
	if err != nil {
		return "", err
	}
	plain, err := json.Marshal(sealedCode{typed, publicKey})
	if err != nil {
		return "", err
	}
	ciphertext, err := sender.Seal(append(bytes.Clone(encapped), point...), plain)
	if err != nil {
		return "", err
	}
	encrypted, err := json.Marshal(encryptedCode{hex.EncodeToString(encapped), hex.EncodeToString(ciphertext)})
	return string(encrypted), err
}

// readTarget verifies a target bundle and returns what it signs.
func readTarget(bundle string, trusted *ecdsa.PublicKey) (target targetData, err error) {
	var signed targetBundle
	if err := json.Unmarshal([]byte(bundle), &signed); err != nil {
		return target, err
	}
	data, err := hex.DecodeString(signed.Data)
	if err != nil {
		return target, errors.New("data is not hex")
	}
	signature, err := hex.DecodeString(signed.Signature)
	if err != nil {
		return target, errors.New("dataSignature is not hex")
	}
	digest := sha256.Sum256(data)
	if trusted == nil || trusted.Curve != elliptic.P256() || !ecdsa.VerifyASN1(trusted, digest[:], signature) {
		return target, errors.New("it is not signed by the trusted key")
	}
	return target, json.Unmarshal(data, &target)
}
