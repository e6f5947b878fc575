package main

import (
	"bytes"
	"context"
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
	"github.com/countersign-dev/countersign/cmd/countersign/internal/lines"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/messages"
)

// messageReaders make the intent of what standard input has, by the kind of the
// message. signWith is for the caller to add.
var messageReaders = map[string]func(input []byte) activity.SignMessageIntent{
	"eip712": func(input []byte) activity.SignMessageIntent {
		return messageIntent(string(input), messages.EncodingEIP712, messages.HashNone)
	},
	"delegation": func(input []byte) activity.SignMessageIntent {
		return messageIntent(string(input), messages.EncodingAuthorization, messages.HashNone)
	},
	"personal": func(input []byte) activity.SignMessageIntent {
		return messageIntent(hex.EncodeToString(personal.Preimage(personal.EthereumPrefix, input)), messages.EncodingHex, messages.HashKeccak256)
	},
	"tron": func(input []byte) activity.SignMessageIntent {
		return messageIntent(hex.EncodeToString(personal.Preimage(personal.TronPrefix, input)), messages.EncodingHex, messages.HashKeccak256)
	},
	"solana": func(input []byte) activity.SignMessageIntent {
		return messageIntent(string(bytes.TrimSpace(input)), messages.EncodingHex, messages.HashNotApplicable)
	},
}

func messageIntent(payload string, encoding messages.Encoding, hash messages.HashFunction) activity.SignMessageIntent {
	return activity.SignMessageIntent{Payload: payload, Encoding: string(encoding), HashFunction: string(hash)}
}

// messageKinds names what --message takes.
func messageKinds() string {
	return strings.Join(slices.Sorted(maps.Keys(messageReaders)), ", ") + ", " + bip322
}

// readMessageOf reads a message of a kind from standard input.
func readMessageOf(cmd *cobra.Command, kind string) (intent activity.SignMessageIntent, err error) {
	read, ok := messageReaders[kind]
	if !ok {
		return intent, usagef("--message: unknown kind %q: use %s", kind, messageKinds())
	}
	input, err := readMessageText(cmd)
	if err != nil {
		return intent, err
	}
	return read(input), nil
}

// readMessageText reads standard input, which is not empty.
func readMessageText(cmd *cobra.Command) ([]byte, error) {
	input, err := readAll(cmd.Context(), cmd.InOrStdin(), activity.MaxPayload)
	if err != nil {
		return nil, fmt.Errorf("read the message from standard input: %w", err)
	}
	if len(input) == 0 {
		return nil, errors.New("standard input is empty: the message is expected there")
	}
	return input, nil
}

// signMessage shows a message, asks, and signs what was shown.
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
	prepared, err := engine.PrepareMessage(cmd.Context(), c.at.organization, intent)
	if err != nil {
		return explainRefusal(err)
	}
	shown, err := viewOf(cmd.Context(), prepared.PreparedTransaction, c.known.names())
	if err != nil {
		return err
	}
	shown.message = true
	if err := c.confirm(cmd, shown); err != nil {
		return err
	}
	signatures, err := prepared.Sign(cmd.Context())
	if err != nil {
		return err
	}
	return printJSON(cmd.OutOrStdout(), struct {
		activity.SignRawPayloadResult
		Signature string `json:"signature"`
	}{signatures[0], signatureText(intent, &signatures[0])})
}

// signatureText is a signature as the tools of its chain write it: base58 on Solana,
// else 0x and r, s and 27 or 28.
func signatureText(intent activity.SignMessageIntent, signed *activity.SignRawPayloadResult) string {
	if intent.HashFunction == string(messages.HashNotApplicable) {
		raw, _ := hex.DecodeString(signed.R + signed.S) // it was encoded here
		return base58.Encode(raw)
	}
	v := map[string]string{"00": "1b", "01": "1c"}[signed.V]
	return "0x" + signed.R + signed.S + v
}

// signMessageLine answers a line of --jsonl that is a message.
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

// inspectMessage shows a message without any key.
func inspectMessage(cmd *cobra.Command, kind, transaction string, flags *bitcoinMessageFlags, network networkFlag, asJSON bool, configFile string) error {
	if transaction != "" {
		return usagef("--message does not go with --type: a message is of no transaction type")
	}
	limits, err := network.limits()
	if err != nil {
		return err
	}
	known, err := knowledgeOf(configFile)
	if err != nil {
		return err
	}
	if kind == bip322 {
		return inspectBitcoinMessage(cmd, flags, limits, known, asJSON)
	}
	intent, err := readMessageOf(cmd, kind)
	if err != nil {
		return err
	}
	inspection, err := countersign.InspectIntent(intent, limits)
	if err != nil {
		return err
	}
	return printInspection(cmd, &inspection, known, true, asJSON)
}

// viewOfRequest is what is shown of a request before it is carried out; signs is
// false if it signs nothing.
func viewOfRequest(ctx context.Context, engine *countersign.Engine, request *activity.Request, known chains.Names) (shown view, signs bool, err error) {
	var prepared *countersign.PreparedTransaction
	switch intent := request.Intent.(type) {
	case activity.SignTransactionIntent:
		prepared, err = engine.PrepareTransaction(ctx, request.OrganizationID, intent)
	case activity.SignRawPayloadIntent, activity.SignRawPayloadsIntent:
		var message *countersign.PreparedMessage
		if message, err = engine.PrepareMessage(ctx, request.OrganizationID, intent); err == nil {
			prepared, shown.message = message.PreparedTransaction, true
		}
	default:
		return view{}, false, nil
	}
	if err != nil {
		return view{}, false, err
	}
	message := shown.message
	shown, err = viewOf(ctx, prepared, known)
	shown.message = message
	return shown, true, err
}
