package show

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/messages/bip137"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/texts"
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
