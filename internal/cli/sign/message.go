package sign

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/lines"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/messages/bip137"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/wiretext"
)

// bip137Kind is the kind of Bitcoin's older messages.
const bip137Kind = "bip137"

// messageReaders build the intent from standard input, by the kind of message. The
// caller adds SignWith.
var messageReaders = map[string]func(input []byte) activity.SignMessageIntent{
	"eip712": func(input []byte) activity.SignMessageIntent {
		return messageIntent(string(input), activity.EncodingEIP712, activity.HashNone)
	},
	"delegation": func(input []byte) activity.SignMessageIntent {
		return messageIntent(string(input), activity.EncodingAuthorization, activity.HashNone)
	},
	"personal": func(input []byte) activity.SignMessageIntent {
		return messageIntent(hex.EncodeToString(personal.Preimage(personal.EthereumPrefix, input)), activity.EncodingHex, activity.HashKeccak256)
	},
	"tron": func(input []byte) activity.SignMessageIntent {
		return messageIntent(hex.EncodeToString(personal.Preimage(personal.TronPrefix, input)), activity.EncodingHex, activity.HashKeccak256)
	},
	bip137Kind: func(input []byte) activity.SignMessageIntent {
		return messageIntent(hex.EncodeToString(bip137.Preimage(input)), activity.EncodingHex, activity.HashDoubleSHA256)
	},
	"solana": func(input []byte) activity.SignMessageIntent { // decoded
		return messageIntent(hex.EncodeToString(input), activity.EncodingHex, activity.HashNotApplicable)
	},
}

func messageIntent(payload string, encoding activity.Encoding, hash activity.HashFunction) activity.SignMessageIntent {
	return activity.SignMessageIntent{Payload: payload, Encoding: encoding, HashFunction: hash}
}

// messageKinds lists the kinds that --message takes.
func messageKinds() string {
	return strings.Join(slices.Sorted(maps.Keys(messageReaders)), ", ") + ", " + bip322
}

// readMessageOf reads a message of the given kind from standard input.
func readMessageOf(cmd *cobra.Command, kind string, about messageFlags) (intent activity.SignMessageIntent, err error) {
	read, ok := messageReaders[kind]
	if !ok {
		return intent, console.Usagef("--message: unknown kind %q: use %s", kind, messageKinds())
	}
	input, err := readMessage(cmd, slices.Contains(plainMessages, kind))
	if err == nil && kind == "solana" {
		input, err = about.decode(input)
	}
	if err != nil {
		return intent, err
	}
	return read(input), nil
}

// plainMessages are the kinds of which the input is what is signed.
var plainMessages = []string{"personal", "tron", bip137Kind}

// readMessage reads a message from standard input. Its bytes are the message: a text that
// an editor or a shell saved in another encoding is refused, because the signature would
// be over other bytes than the person sees. plain messages that may have been written by
// mistake are pointed out, before the question.
func readMessage(cmd *cobra.Command, plain bool) ([]byte, error) {
	input, err := console.ReadStandardInput(cmd, "message", activity.MaxPayload)
	if err != nil {
		return nil, err
	}
	if slip := wiretext.Slip(input); slip != "" {
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
func (f *messageFlags) decode(input []byte) (raw []byte, err error) {
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

// signMessage shows a message, asks for confirmation, and signs what was shown.
func (c *signCommand) signMessage(cmd *cobra.Command) (err error) {
	if c.signWith == "" {
		return console.Usagef("--sign-with is missing: an address of the key, or its id")
	}
	intent, err := readMessageOf(cmd, c.message, c.about)
	if err != nil {
		return err
	}
	intent.SignWith = c.signWith
	if c.message == bip137Kind && c.about.address == "" {
		if _, isAddress := bitcoin.NetworkOf(c.signWith); isAddress {
			c.about.address = c.signWith
		}
	}
	engine, err := c.engine(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	prepared, err := engine.Prepare(cmd.Context(), c.at.Organization, intent)
	if err != nil {
		return explainRefusal(err)
	}
	shown, err := show.ViewOf(cmd.Context(), prepared, c.known.Names())
	if err != nil {
		return err
	}
	shown.Message = true
	if err := c.confirm(cmd, shown); err != nil {
		return err
	}
	result, err := prepared.Sign(cmd.Context())
	if err != nil {
		return err
	}
	signed := result.(activity.SignRawPayloadResult)
	text, err := signatureText(intent, &signed, c.about.address)
	if err != nil {
		return err
	}
	return console.PrintJSON(cmd.OutOrStdout(), struct {
		activity.SignRawPayloadResult
		Signature string `json:"signature"`
	}{signed, text})
}

// signatureText returns a signature in the form that the tools of its chain use: base58
// on Solana, BIP-137's base64 for an address on Bitcoin, otherwise 0x, r, s, and 27 or 28.
func signatureText(intent activity.SignMessageIntent, signed *activity.SignRawPayloadResult, address string) (string, error) {
	raw, err := hex.DecodeString(signed.R + signed.S + signed.V)
	if err != nil || len(raw) != 65 {
		return "", fmt.Errorf("a signature of %d bytes: expected 65", len(raw))
	}
	switch intent.HashFunction {
	case activity.HashNotApplicable:
		return base58.Encode(raw[:64]), nil
	case activity.HashDoubleSHA256:
		preimage, err := hex.DecodeString(intent.Payload)
		if err != nil {
			return "", err
		}
		return bitcoin.LegacySignature(preimage, [65]byte(raw), address)
	}
	raw[64] += 27
	return "0x" + hex.EncodeToString(raw), nil
}

// signMessageLine answers a line of --jsonl that holds a message.
func signMessageLine(ctx context.Context, engine calls, organization string, intent activity.SignMessageIntent) lines.Answer {
	result, err := engine.SignMessage(ctx, organization, intent)
	if err != nil {
		return console.RefusedLine(err)
	}
	text, err := json.Marshal(result)
	if err != nil {
		return console.RefusedLine(err)
	}
	return lines.Answer{Text: text}
}

// viewOfRequest returns the view of a request before it is carried out. signs is false
// if the request signs nothing.
func viewOfRequest(ctx context.Context, engine calls, request *activity.Request, known chains.Names) (shown show.View, signs bool, err error) {
	var prepared *countersign.Prepared
	isMessage := false
	switch intent := request.Intent.(type) {
	case activity.SignTransactionIntent:
		prepared, err = engine.Prepare(ctx, request.OrganizationID, intent)
	case activity.SignRawPayloadIntent, activity.SignRawPayloadsIntent:
		isMessage = true
		prepared, err = engine.Prepare(ctx, request.OrganizationID, intent)
	default:
		return show.View{}, false, nil
	}
	if err != nil {
		return show.View{}, false, err
	}
	shown, err = show.ViewOf(ctx, prepared, known)
	shown.Message = isMessage
	return shown, true, err
}
