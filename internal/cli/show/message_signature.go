package show

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/intents"
)

// MessageSignature is the signature over a message as sign prints it.
type MessageSignature struct {
	*activity.SignRawPayloadResult        // nil for BIP-322
	Signature                      string `json:"signature"`       // as the tools of the chain take it
	Older                          string `json:"older,omitempty"` // of BIP-322, for verifiers of its earlier text
}

// Signature returns the signature over the message of Read.
func (f *MessageFlags) Signature(intent activity.Intent, result activity.Result) (MessageSignature, error) {
	signatures, err := signaturesOf(intent, result, f.address)
	if err != nil {
		return MessageSignature{}, err
	}
	return signatures[0], nil
}

// MessageSignatures returns the signatures over the messages of a request. For BIP-137, the
// request's signWith is taken for the address if it is one.
func MessageSignatures(intent activity.Intent, result activity.Result) ([]MessageSignature, error) {
	address := intents.SignWith(intent)
	if _, isAddress := bitcoin.NetworkOf(address); !isAddress {
		address = ""
	}
	return signaturesOf(intent, result, address)
}

func signaturesOf(intent activity.Intent, result activity.Result, address string) ([]MessageSignature, error) {
	switch intent := intent.(type) {
	case activity.SignTransactionIntent:
		signed, ok := result.(activity.SignTransactionResult)
		if intent.Type != activity.TransactionTypeBitcoin || !ok {
			break
		}
		text, err := bip322Signature(signed.SignedTransaction)
		return []MessageSignature{{Signature: text, Older: bitcoin.OlderSignature(text)}}, err
	case activity.SignRawPayloadIntent:
		signed, ok := result.(activity.SignRawPayloadResult)
		if !ok {
			break
		}
		text, err := signatureText(intent, &signed, address)
		return []MessageSignature{{&signed, text, ""}}, err
	case activity.SignRawPayloadsIntent:
		signed, ok := result.(activity.SignRawPayloadsResult)
		if !ok || len(signed.Signatures) != len(intent.Payloads) {
			break
		}
		var all []MessageSignature
		for i, payload := range intent.Payloads {
			single := activity.SignRawPayloadIntent{Payload: payload, Encoding: intent.Encoding, HashFunction: intent.HashFunction}
			text, err := signatureText(single, &signed.Signatures[i], address)
			if err != nil {
				return nil, fmt.Errorf("message %d: %w", i+1, err)
			}
			all = append(all, MessageSignature{&signed.Signatures[i], text, ""})
		}
		return all, nil
	}
	return nil, errors.New("the request asks for no signature over a message")
}

// bip322Signature returns the BIP-322 signature in a fully signed PSBT, given in hex.
func bip322Signature(signed string) (string, error) {
	packet, err := hex.DecodeString(signed)
	if err != nil {
		return "", err
	}
	signature, isMessage, err := bitcoin.MessageSignature(packet)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w; if several keys sign, name their wallet with --sign-with and the address with --address, "+
			"or pass the PSBT of the message from one to the next with --type %s", err, activity.TransactionTypeBitcoin)
	case !isMessage:
		return "", errors.New("the request asks for a signed transaction, not for a signature over a message")
	}
	return signature, nil
}

// signatureText returns a signature in the form that the tools of its chain use: base58
// on Solana, BIP-137's base64 for an address on Bitcoin, otherwise 0x, r, s, and 27 or 28.
func signatureText(intent activity.SignRawPayloadIntent, signed *activity.SignRawPayloadResult, address string) (string, error) {
	raw, err := hex.DecodeString(signed.R + signed.S + signed.V)
	if err != nil || len(raw) != 65 {
		return "", fmt.Errorf("a signature of %d bytes: expected 65", len(raw))
	}
	switch intent.HashFunction {
	case activity.HashNotApplicable:
		return base58.Encode(raw[:64]), nil
	case activity.HashDoubleSHA256:
		preimage := []byte(intent.Payload)
		if intent.Encoding == activity.EncodingHex {
			if preimage, err = chains.DecodeHex(intent.Payload); err != nil {
				return "", err
			}
		}
		return bitcoin.LegacySignature(preimage, [65]byte(raw), address)
	}
	raw[64] += 27
	return "0x" + hex.EncodeToString(raw), nil
}
