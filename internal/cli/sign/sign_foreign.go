package sign

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/messages/solanamsg"
	"github.com/countersign-dev/countersign/internal/ur"
)

func readForeign(message ur.Message) (*foreignRequest, error) {
	switch message.Type {
	case ur.TypePSBT, ur.TypeCryptoPSBT:
		packet, err := ur.DecodePSBT(message)
		return &foreignRequest{intent: intentOf(activity.TransactionTypeBitcoin, packet)}, err
	case ur.TypeEthSignRequest:
		return readEthSignRequest(message)
	case ur.TypeSolSignRequest:
		return readSolSignRequest(message)
	case ur.TypeTronSignRequest:
		return readTronSignRequest(message)
	}
	return nil, &ur.TypeError{Seen: message.Type, Taken: foreignTypes}
}

func intentOf(kind activity.TransactionType, unsigned []byte) activity.SignTransactionIntent {
	return activity.SignTransactionIntent{Type: kind, UnsignedTransaction: hex.EncodeToString(unsigned)}
}

// foreignMessage returns the intent for a message of a kind that --message takes.
func foreignMessage(kind string, data []byte) *activity.SignMessageIntent {
	intent := show.MessageOf(kind, data)
	return &intent
}

func readEthSignRequest(message ur.Message) (*foreignRequest, error) {
	asked, err := ur.DecodeEthSignRequest(message)
	if err != nil {
		return nil, err
	}
	foreign := &foreignRequest{origin: asked.Origin, path: asked.Path.String()}
	switch asked.Kind {
	case ur.EthLegacy, ur.EthTx:
		foreign.intent = intentOf(activity.TransactionTypeEthereum, asked.Data)
	case ur.EthTyped:
		foreign.message = foreignMessage("eip712", asked.Data)
		foreign.what = "eth-sign-request of typed data (EIP-712)"
	case ur.EthPersonal:
		foreign.message = foreignMessage("personal", asked.Data)
		foreign.what = "eth-sign-request of a personal message (EIP-191)"
	default:
		return nil, fmt.Errorf("eth-sign-request of unknown kind %d", asked.Kind)
	}
	foreign.answer = func(_, signed []byte) (ur.Message, error) {
		signature, err := ethSignature(signed)
		if foreign.message != nil {
			signature, err = recoverable(signed)
		}
		return ur.EthSignature{ID: asked.ID, Signature: signature}.Message(), err
	}
	if len(asked.Address) > 0 {
		foreign.signer = common.Address(asked.Address).Hex()
	}
	if asked.ChainID != 0 {
		foreign.chainID = strconv.FormatUint(asked.ChainID, 10)
	}
	return foreign, nil
}

// ethSignature returns r ‖ s ‖ v of a signed transaction: 32 bytes each, and v in as few
// bytes as possible, at least one. For a legacy transaction v is 35 + 2 × chain + parity
// (EIP-155), and wallets read everything after s.
func ethSignature(signed []byte) ([]byte, error) {
	var transaction types.Transaction
	if err := transaction.UnmarshalBinary(signed); err != nil {
		return nil, err
	}
	v, r, s := transaction.RawSignatureValues()
	signature := make([]byte, 64, 73)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	if v.Sign() == 0 {
		return append(signature, 0), nil
	}
	return append(signature, v.Bytes()...), nil
}

// recoverable converts a signature of a message, r ‖ s ‖ recovery id, to the form that
// wallets expect, with 27 or 28 in the last byte.
func recoverable(signed []byte) ([]byte, error) {
	if len(signed) != 65 || signed[64] > 1 {
		return nil, fmt.Errorf("a signature of %d bytes: expected 65, with a recovery id", len(signed))
	}
	return append(signed[:64:64], signed[64]+27), nil
}

func readSolSignRequest(message ur.Message) (*foreignRequest, error) {
	asked, err := ur.DecodeSolSignRequest(message)
	if err != nil {
		return nil, err
	}
	foreign := &foreignRequest{origin: asked.Origin, path: asked.Path.String(), answer: func(unsigned, signed []byte) (ur.Message, error) {
		added, err := newSignatures(unsigned, signed)
		if err != nil {
			return ur.Message{}, err
		}
		if len(added) > 1 {
			return ur.Message{}, errors.New("there are several new signatures: sol-signature has room for one")
		}
		return ur.SolSignature{ID: asked.ID, Signature: added[0]}.Message(), nil
	}}
	if len(asked.Address) == 32 {
		foreign.signer = base58.Encode(asked.Address)
	}
	if solanamsg.IsOffchain(asked.Data) || solanamsg.IsRawText(asked.Data) {
		foreign.message = foreignMessage("solana", asked.Data)
		foreign.what = "sol-sign-request of a message"
		foreign.answer = func(_, signed []byte) (ur.Message, error) {
			return ur.SolSignature{ID: asked.ID, Signature: signed[:ed25519.SignatureSize]}.Message(), nil
		}
		return foreign, nil
	}
	transaction, err := solana.Chain{}.Complete(asked.Data)
	if err != nil {
		return nil, fmt.Errorf("sol-sign-request: not a text, and %w", err)
	}
	foreign.intent = intentOf(activity.TransactionTypeSolana, transaction)
	return foreign, nil
}

func newSignatures(unsigned, signed []byte) (added [][]byte, err error) {
	if len(unsigned) != len(signed) || len(signed) < 2 {
		return nil, errors.New("the signed transaction has another length")
	}
	slots, start := int(signed[0]), 1
	if signed[0] >= 0x80 { // version 1: signatures come last
		slots = int(signed[1])
		start = len(signed) - ed25519.SignatureSize*slots
	}
	for i := range slots {
		offset := start + ed25519.SignatureSize*i
		if slot := signed[offset : offset+ed25519.SignatureSize]; !bytes.Equal(slot, unsigned[offset:offset+ed25519.SignatureSize]) {
			added = append(added, slot)
		}
	}
	if added == nil {
		return nil, errors.New("there is no new signature: the transaction has it already")
	}
	return added, nil
}

// Kinds of data in a tron-sign-request.
const (
	tronTransaction = 1
	tronMessage     = 2
)

func readTronSignRequest(message ur.Message) (*foreignRequest, error) {
	asked, err := ur.DecodeTronSignRequest(message)
	if err != nil {
		return nil, err
	}
	foreign := &foreignRequest{origin: asked.Origin, path: asked.Path.String()}
	if foreign.signer, err = tronAddress(asked.Address); err != nil {
		return nil, err
	}
	encode := tronSignature
	switch asked.Kind {
	case tronTransaction:
		foreign.intent = intentOf(activity.TransactionTypeTron, asked.Data)
	case tronMessage:
		foreign.message = foreignMessage("tron", asked.Data)
		foreign.what = "tron-sign-request of a message"
		encode = recoverable
	default:
		return nil, fmt.Errorf("tron-sign-request of unknown kind %d: expected 1, a transaction, or 2, a message", asked.Kind)
	}
	foreign.answer = func(_, signed []byte) (ur.Message, error) {
		signature, err := encode(signed)
		return ur.TronSignature{ID: asked.ID, Signature: signature}.Message(), err
	}
	return foreign, nil
}

// tronAddress returns the address that a request names, in Base58Check, or "" if it names
// none. Wallets write 20 bytes, 21 bytes, or the text.
func tronAddress(named []byte) (string, error) {
	switch {
	case len(named) == 0:
		return "", nil
	case len(named) == 20:
		return base58.CheckEncode(named, TronVersion), nil
	case len(named) == 21 && named[0] == TronVersion:
		return base58.CheckEncode(named[1:], TronVersion), nil
	}
	if address, version, err := base58.CheckDecode(string(named)); err == nil && version == TronVersion && len(address) == 20 {
		return string(named), nil
	}
	return "", errors.New("tron-sign-request: the address is neither 20 or 21 bytes nor Base58Check")
}

// TronVersion is the first of the 21 bytes of an address.
const TronVersion = 0x41

// tronSignature returns the last signature of a signed Transaction: the last field 2.
func tronSignature(signed []byte) (signature []byte, err error) {
	for len(signed) > 0 {
		number, kind, n := protowire.ConsumeTag(signed)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		size := protowire.ConsumeFieldValue(number, kind, signed[n:])
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		if number == 2 && kind == protowire.BytesType {
			signature, _ = protowire.ConsumeBytes(signed[n:])
		}
		signed = signed[n+size:]
	}
	if len(signature) != 65 {
		return nil, fmt.Errorf("a signature of %d bytes: expected 65", len(signature))
	}
	return signature, nil
}

// printSolanaSignatures prints the signatures that were added to the message of a Solana
// transaction, one line each: PUBKEY=SIGNATURE, both in base58, as 'solana --signer' takes them.
func printSolanaSignatures(out io.Writer, read show.Written, signed []byte) error {
	unsigned, err := hex.DecodeString(read.Text)
	if err != nil {
		return err
	}
	added, err := newSignatures(unsigned, signed)
	if err != nil {
		return err
	}
	seen, err := all.Inspect(activity.TransactionTypeSolana, hex.EncodeToString(signed), all.Limits{})
	if err != nil {
		return err
	}
	for _, signature := range added {
		signer, err := signerAmong(show.SignersIn(seen.Summary.Fields), read.Message, signature)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s=%s\n", signer, base58.Encode(signature)); err != nil {
			return err
		}
	}
	return nil
}

func signerAmong(addresses []string, message, signature []byte) (string, error) {
	for _, address := range addresses {
		if key := base58.Decode(address); len(key) == ed25519.PublicKeySize && ed25519.Verify(key, message, signature) {
			return address, nil
		}
	}
	return "", fmt.Errorf("signature %s is of no signer of the transaction", base58.Encode(signature))
}
