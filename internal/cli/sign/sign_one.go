package sign

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/internal/wiretext"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/messages"
)

// opened is an engine as the user of --as, or no user, calls it.
type opened struct {
	calls
	io.Closer
}

// calls are the calls of an engine, or of a countersign.Caller.
type calls interface {
	Prepare(ctx context.Context, organizationID string, intent activity.Intent) (*countersign.Prepared, error)
	SignTransaction(ctx context.Context, organizationID string,
		intent activity.SignTransactionIntent) (activity.SignTransactionResult, error)
	SignMessage(ctx context.Context, organizationID string, intent activity.SignMessageIntent) (activity.SignRawPayloadResult, error)
}

// decided hides that a directory finds users by id: what is signed at a terminal is decided
// there, and does not wait for approvals.
type decided struct{ access.Directory }

// engine opens the keystore and returns an engine over it. The caller closes it.
func (c *signCommand) engine(cmd *cobra.Command) (*opened, error) {
	if c.as != "" && c.at.ConfigFile == "" {
		return nil, console.Usagef("--as goes with --config, which knows the users")
	}
	keys, err := c.at.Open(cmd)
	if err != nil {
		return nil, err
	}
	if c.known, err = deployment.ReadKnowledge(c.at.Configured); err != nil {
		return nil, errors.Join(err, keys.Close())
	}
	engine, err := c.engineOver(cmd.Context(), keys)
	if err != nil {
		return nil, errors.Join(err, keys.Close())
	}
	return engine, nil
}

// engineOver returns an engine over keys. With --config, the organization's allowed
// hazards and policy apply.
func (c *signCommand) engineOver(ctx context.Context, keys keystore.Keystore) (*opened, error) {
	c.keystore = keys
	signs := all.Chains(c.network.Limits())
	settings := countersign.Config{Keystore: keys, AllowHazards: c.allow, Chains: signs,
		Operations: messages.Operations(signs...), Descriptors: c.known.Reader()}
	var user *access.User
	if c.at.Configured != nil {
		wallets, err := deployment.Wallets(c.at.Configured, keys)
		if err != nil {
			return nil, err
		}
		settings.Wallets = wallets
		directory, err := access.NewDirectory(c.at.Configured.Organizations)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.at.ConfigFile, err)
		}
		settings.Directory = decided{directory}
		if user, err = c.recorded(ctx, &settings, keys); err != nil {
			return nil, err
		}
	}
	engine, err := countersign.New(settings)
	switch {
	case err != nil && settings.Store != nil:
		return nil, errors.Join(err, settings.Store.Close())
	case err != nil:
		return nil, err
	case user == nil:
		return &opened{engine, engine}, nil
	}
	return &opened{engine.As(*user, ""), engine}, nil
}

// signShown shows a transaction, asks for confirmation, and signs what was shown.
func (c *signCommand) signShown(cmd *cobra.Command, engine calls, intent activity.SignTransactionIntent) (signed string, err error) {
	prepared, err := c.prepareShown(cmd, engine, intent)
	if err != nil {
		return "", err
	}
	return deployment.Signed(cmd.Context(), prepared)
}

// named returns the id of the key that has a name, if no key was found since it is a name, or that there are
// no keys. Only a person at this machine is told: a list of keys is long, and an HSM has each of them sign.
func (c *signCommand) named(ctx context.Context, err error, name string) []string {
	if refused, ok := errors.AsType[*activity.Error](err); !ok || refused.Field != intents.FieldSignWith || name == "" {
		return nil
	}
	none := []string{"It owns no keys here: 'countersign keys generate' creates one, --org names another organization"}
	for info, err := range c.keystore.Keys(ctx, c.at.Organization) {
		none = nil
		if err == nil && info.Name == name {
			return []string{"A key has this name: its id is " + info.ID}
		}
	}
	return none
}

func (c *signCommand) prepareShown(cmd *cobra.Command, engine calls, intent activity.Intent) (*countersign.Prepared, error) {
	notes, err := c.claims(cmd.Context(), intent)
	if err != nil {
		return nil, err
	}
	prepared, err := engine.Prepare(cmd.Context(), c.at.Organization, intent)
	if err != nil {
		notes = append(notes, c.named(cmd.Context(), err, intents.SignWith(intent))...)
		if len(notes) > 0 {
			err = fmt.Errorf("%w. %s", err, strings.Join(notes, " "))
		}
		return nil, explainRefusal(err, intent, c.network.Limits())
	}
	shown, err := show.ViewOf(cmd.Context(), prepared, c.known.Names())
	if err != nil {
		return nil, err
	}
	shown.Message, shown.Notes = c.message.Kind != "", notes
	return prepared, c.confirm(cmd, shown)
}

// explainRefusal adds the flag that allows a hazard to its refusal, and a text that is not known
// with its template to pin.
func explainRefusal(err error, intent activity.Intent, limits all.Limits) error {
	refusal, ok := errors.AsType[*activity.Error](err)
	if !ok || refusal.Reason != activity.ReasonHazardNotAllowed {
		return err
	}
	err = fmt.Errorf("%w, with --allow NAME", err)
	inspection, _ := all.InspectIntent(intent, limits) // of what cannot be read: nothing
	text, template := show.UnknownIn(inspection)
	if text != "" {
		err = fmt.Errorf("%w. The text is %q", err, text)
	}
	if template != "" {
		err = fmt.Errorf("%w. To know such texts from now on, pin a file with their template (docs/messages.md): %s", err, template)
	}
	return err
}

// print writes a signed transaction in the form in which it came, unless it is finalized.
func (c *signCommand) print(out io.Writer, signed string) error {
	if c.finalize {
		final, err := finalized(signed)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, final)
		return err
	}
	raw, err := hex.DecodeString(signed)
	if err != nil {
		return err
	}
	if c.read.Message != nil {
		return printSolanaSignatures(out, c.read, raw)
	}
	content := c.read.Form.Encode(raw)
	if c.read.Form != wiretext.Binary {
		content = append(content, '\n')
	}
	_, err = out.Write(content)
	return err
}

// finalized returns the network transaction of a PSBT, or the signature of a BIP-322
// message. If the PSBT cannot be finalized, nothing is lost: the same call without
// --finalize prints it.
func finalized(signed string) (string, error) {
	packet, err := hex.DecodeString(signed)
	if err != nil {
		return "", err
	}
	chain := bitcoin.New(bitcoin.Limits{MaxSize: show.MaxPSBT})
	signature, isMessage, err := chain.MessageSignature(packet)
	if isMessage && err == nil {
		return signature, nil
	}
	var transaction []byte
	if err == nil {
		transaction, err = chain.Finalize(packet)
	}
	if err != nil {
		return "", fmt.Errorf("%w; to get the PSBT with the signatures it has, sign without --finalize", err)
	}
	return hex.EncodeToString(transaction), nil
}

// signMessage shows a message, asks for confirmation, signs what was shown, and prints the
// signature.
func (c *signCommand) signMessage(cmd *cobra.Command) (err error) {
	if err := c.message.CheckSigner(c.signWith); err != nil {
		return err
	}
	intent, err := c.message.Read(cmd, c.signWith)
	if err != nil {
		return err
	}
	engine, err := c.engine(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	prepared, err := c.prepareShown(cmd, engine, intent)
	if err != nil {
		return err
	}
	result, err := prepared.Sign(cmd.Context())
	if err != nil {
		return err
	}
	signature, err := c.message.Signature(intent, result)
	if err != nil {
		return err
	}
	return console.PrintJSON(cmd.OutOrStdout(), signature)
}

// viewOfRequest returns the view of a request before it is carried out. signs is false
// if the request signs nothing.
func viewOfRequest(ctx context.Context, engine calls, request *activity.Request, names chains.Names) (shown show.View,
	signs bool, err error) {
	switch request.Intent.(type) {
	case activity.SignTransactionIntent, activity.SignTransactionsIntent, activity.SignRawPayloadIntent,
		activity.SignRawPayloadsIntent:
	default:
		return show.View{}, false, nil
	}
	prepared, err := engine.Prepare(ctx, request.OrganizationID, request.Intent)
	if err != nil {
		return show.View{}, false, err
	}
	shown, err = show.ViewOf(ctx, prepared, names)
	shown.Message = intents.IsMessage(request.Intent)
	return shown, true, err
}
