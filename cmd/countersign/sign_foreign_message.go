package main

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

// foreignMessage is the intent of a message of another wallet, of a kind that
// --message takes.
func foreignMessage(kind string, data []byte) *activity.SignMessageIntent {
	intent := messageReaders[kind](data)
	return &intent
}

// prepareForeignMessage prepares the message of a request.
func (c *signCommand) prepareForeignMessage(ctx context.Context, engine *countersign.Engine, asked *foreignRequest) (*countersign.PreparedTransaction, signer, error) {
	asked.message.SignWith = asked.signer
	prepared, err := engine.PrepareMessage(ctx, c.at.organization, *asked.message)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", asked.what, explainRefusal(err))
	}
	if err := checkDomain(prepared.Summary(), asked.chainID); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", asked.what, err)
	}
	return prepared.PreparedTransaction, func(ctx context.Context) (string, error) {
		signatures, err := prepared.Sign(ctx)
		if err != nil {
			return "", err
		}
		return signatures[0].R + signatures[0].S + signatures[0].V, nil
	}, nil
}

// checkDomain refuses typed data whose domain names another chain than the request.
// A personal message, and a domain without a chain, is for all chains.
func checkDomain(summary chains.Summary, want string) error {
	for _, field := range summary.Fields {
		if field.Label != "domain" || want == "" {
			continue
		}
		for _, member := range field.Fields {
			if member.Label == "chainId" && member.Value != want {
				return fmt.Errorf("the request names chain %s, and the domain chain %s", want, member.Value)
			}
		}
	}
	return nil
}

// recoverable is a signature of a message, r ‖ s ‖ recovery id, as wallets expect
// it: with 27 or 28 in its last byte.
func recoverable(signed []byte) ([]byte, error) {
	if len(signed) != 65 || signed[64] > 1 {
		return nil, fmt.Errorf("a signature of %d bytes: 65 with a recovery id are expected", len(signed))
	}
	return append(signed[:64:64], signed[64]+27), nil
}
