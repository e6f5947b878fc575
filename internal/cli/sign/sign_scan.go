package sign

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// foreignTypes are the accepted types of requests of other wallets. They have no stamp.
var foreignTypes = []string{ur.TypePSBT, ur.TypeCryptoPSBT, ur.TypeEthSignRequest, ur.TypeSolSignRequest, ur.TypeTronSignRequest}

func (c *signCommand) signScanned(cmd *cobra.Command) error {
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
		return c.signStamped(cmd, func() (countersign.SignedBody, error) { return show.RequestIn(message) })
	case ur.TypeVote:
		return c.signStamped(cmd, func() (countersign.SignedBody, error) {
			read, err := ur.DecodeVote(message)
			if err != nil {
				return countersign.SignedBody{}, err
			}
			vote := show.SignedBody(ur.Request(read))
			if _, err := voteIn(vote); err != nil {
				return vote, fmt.Errorf("the scanned vote: %w", err)
			}
			return vote, nil
		})
	}
	return c.signForeign(cmd, message)
}

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
	if err := cmp.Or(c.at.Check(), checkHazardNames(c.allow)); err != nil {
		return err
	}
	asked, err := readForeign(message)
	switch {
	case err != nil:
		return err
	case c.signWith == "" && asked.signer == "":
		return c.unnamedSigner(cmd, asked)
	case c.signWith != "" && asked.signer != "" && c.signWith != asked.signer:
		return fmt.Errorf("the request is for the key %s, and --sign-with names %s: leave the flag out if that is the "+
			"same key", asked.signer, c.signWith)
	}
	asked.signer = cmp.Or(c.signWith, asked.signer)
	engine, err := c.engine(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	prepared, err := c.prepareForeign(cmd.Context(), engine, asked)
	if err != nil {
		return err
	}
	if err := c.confirmWithout(cmd, prepared, message.Type, asked); err != nil {
		return err
	}
	signed, err := deployment.Signed(cmd.Context(), prepared)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Signed without a stamp: a request of type %s, confirmed at this terminal.\n", message.Type)
	return c.answerForeign(cmd, message.Type, asked, signed)
}

func (c *signCommand) prepareForeign(ctx context.Context, engine calls,
	asked *foreignRequest) (*countersign.Prepared, error) {
	asked.intent.SignWith = asked.signer
	intent, check := activity.Intent(asked.intent), checkChain
	if asked.message != nil {
		asked.message.SignWith = asked.signer
		intent, check = *asked.message, checkDomain
	}
	prepared, err := engine.Prepare(ctx, c.at.Organization, intent)
	if err != nil {
		err = explainRefusal(err, intent, all.Limits{})
	} else {
		err = check(prepared.Summary(), asked.chainID)
	}
	if err != nil && asked.message != nil {
		err = fmt.Errorf("%s: %w", asked.what, err)
	}
	return prepared, err
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
func checkChain(summary chains.Summary, want string) error {
	if want == "" || slices.ContainsFunc(summary.Fields, func(field chains.Field) bool {
		return field.Label == "chain" && field.Value == want
	}) {
		return nil
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

func (c *signCommand) showPSBT(cmd *cobra.Command, signed, kind string) error {
	packet, err := hex.DecodeString(signed)
	if err != nil {
		return err
	}
	return c.qr.Show(cmd, ur.PSBT(packet, kind))
}

// unnamedSigner is the error for a request that does not name the key. If the keystore has
// the key at the request's path, it says so: a path is only a hint, which the person at the
// terminal has to take.
func (c *signCommand) unnamedSigner(cmd *cobra.Command, asked *foreignRequest) error {
	missing := console.Usagef("--sign-with is missing: the request does not name the key")
	if asked.path == "" {
		return missing
	}
	engine, err := c.engine(cmd)
	if err != nil {
		return errors.Join(missing, err)
	}
	id, err := c.atPath(cmd.Context(), asked.path)
	if err := errors.Join(err, engine.Close()); err != nil || id == "" {
		return errors.Join(missing, err)
	}
	return console.Usagef("--sign-with is missing: the request does not name the key, only its path, %s. If it is "+
		"the key of this keystore at that path, pass --sign-with %s", asked.path, id)
}

// atPath returns the id of the only key of the keystore at a path, which a fingerprint of
// the master key in brackets may precede, or "".
func (c *signCommand) atPath(ctx context.Context, path string) (id string, err error) {
	keys, ok := c.keystore.(walletLister)
	if !ok {
		return "", nil
	}
	origin, steps, found := strings.Cut(path, "]")
	if !found {
		origin, steps = "", path
	}
	wallets, err := keys.Wallets(ctx, c.at.Organization)
	if err != nil {
		return "", err
	}
	for _, w := range wallets {
		for _, account := range w.Accounts {
			if account.Disabled || account.Path.String() != steps {
				continue
			}
			is, err := c.hasRoot(ctx, keys, w.ID, strings.TrimPrefix(origin, "["))
			if err != nil {
				return "", err
			}
			if is && id != "" {
				return "", nil // of two wallets
			}
			if is {
				id = account.ID
			}
		}
	}
	return id, nil
}

// hasRoot reports whether a wallet has the master key with a fingerprint, in hex; an empty one
// is any.
func (c *signCommand) hasRoot(ctx context.Context, keys walletLister, walletID, fingerprint string) (has bool, err error) {
	if fingerprint == "" {
		return true, nil
	}
	err = keys.RevealRoot(ctx, c.at.Organization, walletID, func(root *wallet.Root) error {
		has = fmt.Sprintf("%x", root.Fingerprint()) == fingerprint
		return nil
	})
	return has, err
}
