package bitcoin

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/bip137"
	"github.com/countersign-dev/countersign/internal/signer"
	"github.com/countersign-dev/countersign/internal/texts"
	"github.com/countersign-dev/countersign/keystore"
)

// messageKey names what signs a message (BIP-137): the key of a P2PKH or P2WPKH address, or
// the key with an id.
type messageKey struct {
	signer.Place
	address *decodedAddress // nil for an id
}

// errLegacyAddress refuses addresses that BIP-137 cannot name a key of.
var errLegacyAddress = errors.New("BIP-137 has signatures for P2PKH, P2WPKH and P2SH-P2WPKH: use BIP-322 for this " +
	"address")

// ReadMessage implements chains.MessageSigner: a message of BIP-137.
func (c Chain) ReadMessage(message chains.Message) (chains.Transaction, error) {
	if message.Form != chains.MessageDoubleSHA256 {
		return nil, chains.ErrUnsupported
	}
	return bip137.Parse(message.Bytes, c)
}

func (Chain) MessageHazardNames() []string { return texts.HazardNames() }

func (Chain) MessageKey(text string) (chains.MessageKey, error) {
	address, err := parseSignWith(text)
	if err != nil {
		return nil, err
	}
	if address == nil {
		return &messageKey{Place: signer.At(keystore.ByID(text))}, nil
	}
	locator, ok := Chain{}.Locate(address.script)
	if !ok || classify(address.script) == p2tr {
		return nil, signerError(chains.ErrSignWith, "%s: %v", text, errLegacyAddress)
	}
	return &messageKey{signer.At(locator), address}, nil
}

// Of implements chains.MessageKey: a secp256k1 key, the one at the address if signWith is one.
func (s *messageKey) Of(keys []keystore.Key) (keystore.Key, chains.Party, error) {
	return signer.Account(Name, keys, func(key keystore.Key) (keystore.ECDSASigner, error) {
		if s.address != nil && headerOf(s.address.script, key.PublicKey()) == 0 {
			return nil, signerError(chains.ErrNotSigner, "key %s is not that of the address", key.ID())
		}
		return keystore.AsECDSA(key)
	}, s.partyOf)
}

// partyOf returns the party of a key at the address of signWith, or at its P2PKH address.
func (s *messageKey) partyOf(pub keystore.PublicKey) chains.Party {
	script, network := p2pkhScript(pub.Hash160()), Mainnet
	if s.address != nil {
		script, network = s.address.script, s.address.network
	}
	return network.party(script)
}

// Header bytes of BIP-137 for recovery id 0.
const (
	headerP2PKH      = 31 // of a compressed key
	headerP2SHP2WPKH = 35
	headerP2WPKH     = 39
)

// headerOf returns the header byte of an address of the key, or 0 if the key has no such address.
func headerOf(script []byte, pub keystore.PublicKey) byte {
	scripts, err := keyScripts(pub)
	if err != nil {
		return 0
	}
	headers := map[string]byte{"P2PKH": headerP2PKH, "P2SH": headerP2SHP2WPKH, "P2WPKH": headerP2WPKH}
	for _, own := range scripts {
		if bytes.Equal(own.script, script) {
			return headers[own.kind]
		}
	}
	return 0
}

// LegacySignature returns the signature of a message in the form of BIP-137, base64 of 65
// bytes, for an address of the key: P2PKH, P2SH-P2WPKH or P2WPKH; P2PKH if it is empty. The
// signature is r ‖ s ‖ recovery id over the double SHA-256 of the preimage. It is an error
// if the address is not of the key that signed.
func LegacySignature(preimage []byte, signature [65]byte, address string) (string, error) {
	digest := chainhash.DoubleHashB(preimage)
	point, err := crypto.Ecrecover(digest, signature[:])
	if err != nil {
		return "", fmt.Errorf("bitcoin: signature of a message: %w", err)
	}
	pub, err := keystore.ParsePublicKey(keystore.CurveSecp256k1, point)
	if err != nil {
		return "", err
	}
	header := byte(headerP2PKH)
	if address != "" {
		decoded, err := parseAddress(address)
		if err != nil {
			return "", err
		}
		if header = headerOf(decoded.script, pub); header == 0 {
			return "", signerError(chains.ErrSignWith, "%s is not an address of the key that signed, or %v", address,
				errLegacyAddress)
		}
	}
	return base64.StdEncoding.EncodeToString(append([]byte{header + signature[64]}, signature[:64]...)), nil
}
