package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/lines"
	"github.com/countersign-dev/countersign/internal/messages/personal"
)

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
	"solana": func(input []byte) activity.SignMessageIntent {
		return messageIntent(string(bytes.TrimSpace(input)), activity.EncodingHex, activity.HashNotApplicable)
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
func readMessageOf(cmd *cobra.Command, kind string) (intent activity.SignMessageIntent, err error) {
	read, ok := messageReaders[kind]
	if !ok {
		return intent, usagef("--message: unknown kind %q: use %s", kind, messageKinds())
	}
	input, err := readStandardInput(cmd, "message", activity.MaxPayload)
	if err != nil {
		return intent, err
	}
	return read(input), nil
}

// signMessage shows a message, asks for confirmation, and signs what was shown.
func (c *signCommand) signMessage(cmd *cobra.Command) (err error) {
	if c.signWith == "" {
		return usagef("--sign-with is missing: an address of the key, or its id")
	}
	intent, err := readMessageOf(cmd, c.message)
	if err != nil {
		return err
	}
	intent.SignWith = c.signWith
	engine, err := c.engine(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	prepared, err := engine.Prepare(cmd.Context(), c.at.organization, intent)
	if err != nil {
		return explainRefusal(err)
	}
	shown, err := viewOf(cmd.Context(), prepared, c.known.names())
	if err != nil {
		return err
	}
	shown.message = true
	if err := c.confirm(cmd, shown); err != nil {
		return err
	}
	result, err := prepared.Sign(cmd.Context())
	if err != nil {
		return err
	}
	signed := result.(activity.SignRawPayloadResult)
	return printJSON(cmd.OutOrStdout(), struct {
		activity.SignRawPayloadResult
		Signature string `json:"signature"`
	}{signed, signatureText(intent, &signed)})
}

// signatureText returns a signature in the form that the tools of its chain use: base58
// on Solana, otherwise 0x, r, s, and 27 or 28.
func signatureText(intent activity.SignMessageIntent, signed *activity.SignRawPayloadResult) string {
	if intent.HashFunction == activity.HashNotApplicable {
		raw, _ := hex.DecodeString(signed.R + signed.S) // hex of our own
		return base58.Encode(raw)
	}
	v := map[string]string{"00": "1b", "01": "1c"}[signed.V]
	return "0x" + signed.R + signed.S + v
}

// signMessageLine answers a line of --jsonl that holds a message.
func signMessageLine(ctx context.Context, engine *countersign.Engine, organization string, intent activity.SignMessageIntent) lines.Answer {
	result, err := engine.SignMessage(ctx, organization, intent)
	if err != nil {
		return refusedLine(err)
	}
	text, err := json.Marshal(result)
	if err != nil {
		return refusedLine(err)
	}
	return lines.Answer{Text: text}
}

// viewOfRequest returns the view of a request before it is carried out. signs is false
// if the request signs nothing.
func viewOfRequest(ctx context.Context, engine *countersign.Engine, request *activity.Request, known chains.Names) (shown view, signs bool, err error) {
	var prepared *countersign.Prepared
	isMessage := false
	switch intent := request.Intent.(type) {
	case activity.SignTransactionIntent:
		prepared, err = engine.Prepare(ctx, request.OrganizationID, intent)
	case activity.SignRawPayloadIntent, activity.SignRawPayloadsIntent:
		isMessage = true
		prepared, err = engine.Prepare(ctx, request.OrganizationID, intent)
	default:
		return view{}, false, nil
	}
	if err != nil {
		return view{}, false, err
	}
	shown, err = viewOf(ctx, prepared, known)
	shown.message = isMessage
	return shown, true, err
}
