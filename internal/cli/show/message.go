package show

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/internal/messages/bip137"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/texts"
	"github.com/countersign-dev/countersign/keystore/file"
)

// Kinds of messages of Bitcoin.
const (
	kindBIP137 = "bip137"
	kindBIP322 = "bip322" // signed as a transaction: its PSBT goes through sign_transaction
)

// messageKinds say what is signed of what was read, but for bip322.
var messageKinds = map[string]struct {
	preimage func(input []byte) []byte // nil: what was read
	encoding activity.Encoding
	hash     activity.HashFunction
}{
	"eip712":     {nil, activity.EncodingEIP712, activity.HashNone},
	"delegation": {nil, activity.EncodingAuthorization, activity.HashNone},
	"personal":   {prefixed(personal.EthereumPrefix), activity.EncodingHex, activity.HashKeccak256},
	"tron":       {prefixed(personal.TronPrefix), activity.EncodingHex, activity.HashKeccak256},
	kindBIP137:   {bip137.Preimage, activity.EncodingHex, activity.HashDoubleSHA256},
	"solana":     {nil, activity.EncodingHex, activity.HashNotApplicable}, // decoded
}

func prefixed(prefix string) func(input []byte) []byte {
	return func(input []byte) []byte { return personal.Preimage(prefix, input) }
}

// MessageOf returns the intent for a message of a kind that --message takes, other than
// bip322, without SignWith.
func MessageOf(kind string, data []byte) activity.SignMessageIntent {
	as := messageKinds[kind]
	if as.preimage != nil {
		data = as.preimage(data)
	}
	intent := activity.SignMessageIntent{Payload: string(data), Encoding: as.encoding, HashFunction: as.hash}
	if as.encoding == activity.EncodingHex {
		intent.Payload = hex.EncodeToString(data)
	}
	return intent
}

// MessageFlags are --message, and the flags of single kinds of messages.
type MessageFlags struct {
	Kind     string // empty: not a message
	address  string // the Bitcoin address that makes the statement
	funds    string // file with a PSBT whose inputs are proven too; may be empty
	encoding string // of a message of Solana
}

// Register adds the flags to a command. usage says what the command does with a message.
func (f *MessageFlags) Register(cmd *cobra.Command, usage string) {
	flags := cmd.Flags()
	kinds := strings.Join(slices.Sorted(maps.Keys(messageKinds)), ", ") + ", " + kindBIP322
	flags.StringVar(&f.Kind, "message", "", usage+": "+kinds)
	flags.StringVar(&f.address, "address", "", "with --message bip322 or bip137: the `ADDRESS` that makes the statement")
	flags.StringVar(&f.encoding, "encoding", "", "with --message solana: the `ENCODING` of the message: hex (default), base64 or base58")
	flags.StringVar(&f.funds, "funds", "", "with --message bip322: `FILE` with a PSBT whose inputs are proven too (a proof of funds)")
	console.Check(cmd, f.check)
	console.Exclusive(cmd, "a message has no transaction type", "message", "type")
}

func (f *MessageFlags) check() error {
	_, known := messageKinds[f.Kind]
	switch {
	case f.funds != "" && f.Kind != kindBIP322:
		return console.Usagef("--funds goes with --message %s", kindBIP322)
	case f.address != "" && f.Kind != kindBIP322 && f.Kind != kindBIP137:
		return console.Usagef("--address goes with --message %s and %s", kindBIP322, kindBIP137)
	case f.Kind != "solana" && f.encoding != "":
		return console.Usagef("--encoding goes with --message solana: the form of a transaction is recognized")
	case !slices.Contains([]string{"", "hex", "base64", "base58"}, f.encoding):
		return console.Usagef("--encoding: unknown encoding %q: use hex, base64 or base58", f.encoding)
	case f.Kind != "" && f.Kind != kindBIP322 && !known:
		return console.Usagef("--message: unknown kind %q: use %s, %s", f.Kind,
			strings.Join(slices.Sorted(maps.Keys(messageKinds)), ", "), kindBIP322)
	}
	return nil
}

// CheckSigner refuses a message to sign of which no flag says who signs it.
func (f *MessageFlags) CheckSigner(signWith string) error {
	switch {
	case signWith != "" || f.address != "":
		return nil
	case f.Kind == kindBIP322:
		return console.Usagef("--message %s needs --address, the Bitcoin address that makes the statement", kindBIP322)
	}
	return console.Usagef("--sign-with is missing: an address of the key, or its id")
}

// Read reads the message on standard input and returns the intent to sign it with a key:
// for bip322 an activity.SignTransactionIntent, otherwise an activity.SignMessageIntent.
// The address of a statement of Bitcoin and signWith stand for each other.
func (f *MessageFlags) Read(cmd *cobra.Command, signWith string) (activity.Intent, error) {
	if _, isAddress := bitcoin.NetworkOf(signWith); isAddress && (f.Kind == kindBIP322 || f.Kind == kindBIP137) {
		f.address = cmp.Or(f.address, signWith)
	}
	signWith = cmp.Or(signWith, f.address)
	if f.Kind == kindBIP322 {
		packet, err := f.packet(cmd)
		return activity.SignTransactionIntent{Type: activity.TransactionTypeBitcoin, SignWith: signWith, UnsignedTransaction: packet}, err
	}
	input, err := readMessage(cmd, slices.Contains(plainMessages, f.Kind))
	if err == nil && f.Kind == "solana" {
		input, err = f.decode(input)
	}
	if err != nil {
		return nil, err
	}
	intent := MessageOf(f.Kind, input)
	intent.SignWith = signWith
	return intent, nil
}

// WithSigner returns an intent to sign with another SignWith.
func WithSigner(intent activity.Intent, signWith string) activity.Intent {
	switch intent := intent.(type) {
	case activity.SignTransactionIntent:
		intent.SignWith = signWith
		return intent
	case activity.SignMessageIntent:
		intent.SignWith = signWith
		return intent
	}
	return intent
}

// plainMessages are the kinds of which the input is what is signed.
var plainMessages = []string{"personal", "tron", kindBIP137}

// readMessage reads a message from standard input. Its bytes are the message: a text that
// an editor or a shell saved in another encoding is refused, because the signature would
// be over other bytes than the person sees. plain messages that may have been written by
// mistake are pointed out, before the question; they may be empty.
func readMessage(cmd *cobra.Command, plain bool) ([]byte, error) {
	input, err := console.ReadAll(cmd.Context(), cmd.InOrStdin(), activity.MaxPayload)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the message from standard input: %w", err)
	case len(input) == 0 && !plain:
		return nil, errors.New("standard input is empty: expected the message there")
	}
	if slip := plaintext.EncodingOf(input).Name; slip != "" {
		return nil, fmt.Errorf("the message is %s, and every byte would be signed: save it as UTF-8 without a byte order mark; "+
			"to sign exactly these bytes, pass them in hex, on a line of --jsonl", slip)
	}
	if plain {
		if note := doubtful(string(input)); note != "" {
			fmt.Fprintln(cmd.ErrOrStderr(), "Note: "+note)
		}
	}
	return input, nil
}

// doubtful says what a plain message looks like other than what it is signed as, or "".
func doubtful(text string) string {
	trimmed := strings.TrimSpace(text)
	switch {
	case text == "":
		return "the message is empty."
	case len(trimmed) > 1 && strings.HasPrefix(trimmed, `"`) && strings.HasSuffix(trimmed, `"`):
		return "the quotation marks are signed as part of the message."
	case strings.HasPrefix(trimmed, "0x") && strings.Trim(trimmed[2:], "0123456789abcdefABCDEF") == "":
		return "the message is the text 0x…, and not the bytes that its digits stand for."
	case strings.HasSuffix(text, "\n"):
		return "the line end is signed as part of the message."
	}
	return ""
}

// decode decodes a message of Solana, strictly: what is not exactly in the named encoding is
// refused.
func (f *MessageFlags) decode(input []byte) (raw []byte, err error) {
	text := string(bytes.TrimSpace(input))
	switch f.encoding {
	case "base64":
		raw, err = base64.StdEncoding.Strict().DecodeString(text)
	case "base58":
		if raw = base58.Decode(text); len(raw) == 0 {
			err = errors.New("not base58")
		}
	default:
		if raw, err = chains.DecodeHex(text); err != nil {
			err = fmt.Errorf("%w; --message solana expects hex: for another encoding pass --encoding base64 or base58", err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	return raw, nil
}

// UnknownIn returns the text of a message that is not known, and a file with its template to
// pin if it is no worse than that; otherwise nothing.
func UnknownIn(inspection all.Inspection) (text, template string) {
	for _, hazard := range inspection.Hazards {
		index, ok := hazard.Effect()
		if !ok || hazard.Name != texts.HazardFreeText || index >= len(inspection.Effects) {
			continue
		}
		for _, arg := range inspection.Effects[index].Args {
			if arg.Name == "message" {
				return plaintext.Shorten(arg.Value, maxShownText), texts.Read([]byte(arg.Value), nil).Template()
			}
		}
	}
	return "", ""
}

// maxShownText is the length of the longest text that a refusal repeats, in bytes.
const maxShownText = 1000

// packet returns the PSBT of a BIP-322 message on standard input, in hex.
func (f *MessageFlags) packet(cmd *cobra.Command) (string, error) {
	if _, ok := bitcoin.NetworkOf(f.address); !ok {
		return "", console.Usagef("--message %s needs --address, the Bitcoin address that makes the statement", kindBIP322)
	}
	text, err := readMessage(cmd, true)
	if err != nil {
		return "", err
	}
	message := bitcoin.ToSign{Text: string(text), Address: f.address}
	if f.funds != "" {
		content, err := os.ReadFile(f.funds) //nolint:gosec // the caller's own file
		if err != nil {
			return "", fmt.Errorf("--funds: %w", err)
		}
		if message.Funds, err = bitcoin.Decode(content); err != nil {
			return "", fmt.Errorf("--funds: %s: %w", f.funds, err)
		}
	}
	packet, err := message.PSBT()
	return hex.EncodeToString(packet), err
}

// NamedKeys reads a PSBT in any of its forms, and the keys that it names.
func NamedKeys(text string) (raw []byte, named []file.Named, err error) {
	raw, err = bitcoin.Decode([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	derivations, err := bitcoin.Derivations(raw)
	for _, d := range derivations {
		named = append(named, file.Named{Fingerprint: d.Fingerprint, Path: d.Path, PublicKey: d.PublicKey,
			Input: strings.HasPrefix(d.Of, "input")})
	}
	return raw, named, err
}

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
