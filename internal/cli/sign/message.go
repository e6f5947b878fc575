package sign

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/show"
)

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
	var prepared *countersign.Prepared
	isMessage := false
	switch intent := request.Intent.(type) {
	case activity.SignTransactionIntent, activity.SignTransactionsIntent:
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
	shown, err = show.ViewOf(ctx, prepared, names)
	shown.Message = isMessage
	return shown, true, err
}
