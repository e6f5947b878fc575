package sign

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/internal/ur"
)

// foreignTypes are the accepted types of requests of other wallets. They have no stamp.
var foreignTypes = []string{ur.TypePSBT, ur.TypeCryptoPSBT, ur.TypeEthSignRequest, ur.TypeSolSignRequest, ur.TypeTronSignRequest}

// withoutScan are the flags of sign that do not go with --scan.
var withoutScan = []string{"request", "jsonl", "workers", "finalize", "type"}

// signScanned reads a request from QR codes and signs it.
func (c *signCommand) signScanned(cmd *cobra.Command) error {
	for _, name := range withoutScan {
		if cmd.Flags().Changed(name) {
			return console.Usagef("--%s does not go with --scan", name)
		}
	}
	accepted := foreignTypes
	if c.at.ConfigFile != "" {
		accepted = append([]string{ur.TypeRequest, ur.TypeVote, ur.TypeJSON}, foreignTypes...)
	}
	message, err := console.ScanMessage(cmd, accepted...)
	if err != nil {
		return err
	}
	switch message.Type {
	case ur.TypeRequest, ur.TypeJSON:
		return c.signScannedRequest(cmd, message)
	case ur.TypeVote:
		return c.signScannedVote(cmd, message)
	}
	return c.signForeign(cmd, message)
}

// signScannedRequest signs a stamped request.
func (c *signCommand) signScannedRequest(cmd *cobra.Command, message ur.Message) error {
	if err := c.checkRequest(cmd); err != nil {
		return err
	}
	sent, err := show.RequestIn(message)
	if err != nil {
		return err
	}
	return c.signStamped(cmd, sent)
}

// foreignRequest is a request of another wallet.
type foreignRequest struct {
	intent  activity.SignTransactionIntent
	message *activity.SignMessageIntent // instead of a transaction
	what    string                      // what the message is, for errors
	signer  string                      // address of the key to sign with; empty if not named
	chainID string                      // the transaction must have it; empty if not named
	origin  string                      // where the request claims to come from
	path    string                      // of the key in the other wallet
	answer  func(unsigned, signed []byte) (ur.Message, error)
}

// signForeign shows the request of another wallet, asks the operator at the terminal, and
// signs it. Nothing else vouches for such a request.
func (c *signCommand) signForeign(cmd *cobra.Command, message ur.Message) (err error) {
	if c.yes {
		return console.Usagef("--yes does not go with a request of type %s: it has no stamp, so only a person at "+
			"the terminal can confirm it", message.Type)
	}
	if !terminal.Exists() {
		return console.Usagef("a request of type %s has no stamp, so only a person at the terminal can confirm it, "+
			"and %v", message.Type, terminal.ErrNone)
	}
	for _, name := range []string{"out", "out-signed"} {
		if cmd.Flags().Changed(name) {
			return console.Usagef("--%s goes with a stamped request: this one is of type %s, and its answer goes "+
				"to standard output or --qr", name, message.Type)
		}
	}
	if err := c.checkForeign(); err != nil {
		return err
	}
	asked, err := readForeign(message)
	if err != nil {
		return err
	}
	if c.signWith == "" && asked.signer == "" {
		return c.unnamedSigner(cmd, asked)
	}
	if asked.signer, err = signerOf(c.signWith, asked.signer); err != nil {
		return err
	}
	engine, err := c.engine(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	signed, err := c.confirmForeign(cmd, engine, message.Type, asked)
	if err != nil {
		return err
	}
	return c.answerForeign(cmd, message.Type, asked, signed)
}

func (c *signCommand) checkForeign() error {
	if err := c.at.Check(); err != nil {
		return err
	}
	if err := checkHazardNames(c.allow); err != nil {
		return err
	}
	_, err := c.network.Limits()
	return err
}

// signerOf returns the key to sign with: the flag's, or the one that the request names.
// If both are given, they must agree.
func signerOf(flag, named string) (string, error) {
	switch {
	case flag == "":
		return named, nil
	case named != "" && flag != named:
		return "",
			fmt.Errorf("the request is for the key %s, and --sign-with names %s: leave the flag out if that is the same key", named, flag)
	}
	return flag, nil
}

// confirmForeign shows a request, asks, and signs it.
func (c *signCommand) confirmForeign(cmd *cobra.Command, engine calls, kind string, asked *foreignRequest) (string, error) {
	prepare := c.prepareForeign
	if asked.message != nil {
		prepare = c.prepareForeignMessage
	}
	prepared, sign, err := prepare(cmd.Context(), engine, asked)
	if err != nil {
		return "", err
	}
	if err := c.confirmWithout(cmd, prepared, kind, asked); err != nil {
		return "", err
	}
	signed, err := sign(cmd.Context())
	if err != nil {
		return "", err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Signed without a stamp: a request of type %s, confirmed at this terminal.\n", kind)
	return signed, nil
}

// signer signs a prepared request, and returns the result in hex.
type signer func(context.Context) (string, error)

// prepareForeign prepares the transaction of a request.
func (c *signCommand) prepareForeign(ctx context.Context, engine calls, asked *foreignRequest) (*countersign.Prepared, signer, error) {
	asked.intent.SignWith = asked.signer
	prepared, err := engine.Prepare(ctx, c.at.Organization, asked.intent)
	if err != nil {
		return nil, nil, explainRefusal(err, asked.intent, all.Limits{})
	}
	if err := checkChain(prepared, asked.chainID); err != nil {
		return nil, nil, err
	}
	return prepared, func(ctx context.Context) (string, error) { return deployment.SignedTransaction(ctx, prepared) }, nil
}

// prepareForeignMessage prepares the message of a request.
func (c *signCommand) prepareForeignMessage(ctx context.Context, engine calls,
	asked *foreignRequest) (*countersign.Prepared, signer, error) {
	asked.message.SignWith = asked.signer
	prepared, err := engine.Prepare(ctx, c.at.Organization, *asked.message)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", asked.what, explainRefusal(err, *asked.message, all.Limits{}))
	}
	if err := checkDomain(prepared.Summary(), asked.chainID); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", asked.what, err)
	}
	return prepared, func(ctx context.Context) (string, error) {
		result, err := prepared.Sign(ctx)
		if err != nil {
			return "", err
		}
		signed := result.(activity.SignRawPayloadResult)
		return signed.R + signed.S + signed.V, nil
	}, nil
}

// checkDomain refuses typed data whose domain names another chain than the request. A
// personal message, or a domain without a chain, is valid for all chains.
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

// confirmWithout warns that there is no stamp, shows the transaction and asks.
func (c *signCommand) confirmWithout(cmd *cobra.Command, prepared *countersign.Prepared, kind string, asked *foreignRequest) error {
	shown, err := show.ViewOf(cmd.Context(), prepared, c.known.Names())
	if err != nil {
		return err
	}
	shown.Message = asked.message != nil
	shown.Notes = []string{fmt.Sprintf("A request of type %s without a stamp: nothing proves who sent it.", kind)}
	if asked.origin != "" {
		shown.Notes = append(shown.Notes, fmt.Sprintf("It claims to come from %q.", asked.origin))
	}
	if asked.path != "" {
		shown.Notes = append(shown.Notes, fmt.Sprintf("It names the key path %s, which is only a hint.", asked.path))
	}
	return c.confirm(cmd, shown)
}

// checkChain refuses a transaction for another chain than the request names.
func checkChain(prepared *countersign.Prepared, want string) error {
	if want == "" {
		return nil
	}
	for _, field := range prepared.Summary().Fields {
		if field.Label == "chain" && field.Value == want {
			return nil
		}
	}
	return fmt.Errorf("the request names chain %s, and the transaction is for another", want)
}

// answerForeign encodes the signature as the other wallet expects it.
func (c *signCommand) answerForeign(cmd *cobra.Command, kind string, asked *foreignRequest, signed string) error {
	if asked.answer == nil {
		if c.qr.Wanted() {
			return c.showPSBT(cmd, signed, kind)
		}
		return c.print(cmd.OutOrStdout(), signed)
	}
	before, err := hex.DecodeString(asked.intent.UnsignedTransaction)
	if err != nil {
		return err
	}
	after, err := hex.DecodeString(signed)
	if err != nil {
		return err
	}
	message, err := asked.answer(before, after)
	if err != nil {
		return err
	}
	if c.qr.Wanted() {
		return c.qr.Show(cmd, message)
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), message)
	return err
}

// showPSBT shows a PSBT as codes of a type.
func (c *signCommand) showPSBT(cmd *cobra.Command, signed, kind string) error {
	packet, err := hex.DecodeString(signed)
	if err != nil {
		return err
	}
	return c.qr.Show(cmd, ur.PSBT(packet, kind))
}
