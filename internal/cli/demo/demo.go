// Package demo is the command demo.
package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// NewCommand returns the command demo.
func NewCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See it work, without any setup",
		Long: console.Paragraphs(`
Create an encrypted keystore in a temporary directory. For each chain, read a real
unsigned transaction, show what it does, sign it, verify the signature with independent
code, and refuse a dangerous transaction. Then serve the HTTP API on a loopback address,
submit a stamped request, redeem a one-time password, and have a second person approve a
payment that a policy does not let one person make. The demo takes a few seconds, needs no
network, and leaves nothing behind.

Its output is in colour on a terminal, unless NO_COLOR is set or TERM is dumb.`),
		Example: "  countersign demo",
		Args:    console.NamedArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			return Run(cmd.Context(), &Narrator{Out: out, Colour: terminal.WantsColour(out)})
		},
	}
}

// demo is one run of the demo.
type demo struct {
	*Narrator
	dir    string
	keys   *file.Store
	engine *countersign.Engine
}

// Run runs the demo.
func Run(ctx context.Context, tell *Narrator) (err error) {
	started := time.Now()
	dir, err := os.MkdirTemp("", "countersign-demo-")
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, os.RemoveAll(dir)); err == nil {
			tell.end(time.Since(started))
		}
	}()
	passphrase := []byte(rand.Text())
	defer keystore.Wipe(passphrase)
	keys, err := file.Create(filepath.Join(dir, "keys"), passphrase, file.Options{WorkFactor: deployment.InitWorkFactor})
	if err != nil {
		return err
	}
	engine, err := countersign.New(countersign.Config{Keystore: keys, Chains: all.Chains(all.Limits{})})
	if err != nil {
		return errors.Join(err, keys.Close())
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	d := &demo{tell, dir, keys, engine}
	d.begin()
	for _, chain := range Chains {
		if err := d.showChain(ctx, chain); err != nil {
			return fmt.Errorf("%s: %w", chain.Name, err)
		}
	}
	if err := d.showServed(ctx); err != nil {
		return err
	}
	return tell.err
}

// showChain signs a transaction with a new key, verifies the signature, and has the
// hazardous transactions refused.
func (d *demo) showChain(ctx context.Context, chain Chain) error {
	d.chapter(chain.Name + ": " + chain.does)
	key, err := d.keys.Generate(ctx, deployment.DefaultOrganization, "demo "+chain.Name, chain.Curve)
	if err != nil {
		return err
	}
	d.line(Dim, "key", fmt.Sprintf("%s (%v)", key.ID, chain.Curve))
	unsigned := chain.Unsigned(key.PublicKey)
	d.excerpt("unsigned", unsigned)
	signed, err := d.sign(ctx, chain.intent(key, unsigned))
	if err != nil {
		return err
	}
	d.line(Dim, "signed", signed)
	if err := d.checked(chain, signed, key.PublicKey); err != nil {
		return err
	}
	for _, danger := range chain.dangers {
		if err := d.refuse(ctx, chain, key, danger); err != nil {
			return err
		}
	}
	return nil
}

// sign shows a transaction and signs it.
func (d *demo) sign(ctx context.Context, intent activity.SignTransactionIntent) (string, error) {
	prepared, err := d.engine.Prepare(ctx, deployment.DefaultOrganization, intent)
	if err != nil {
		return "", err
	}
	shown, err := show.ViewOf(ctx, prepared, show.Tokens())
	if err != nil {
		return "", err
	}
	if err := d.show(shown.Render); err != nil {
		return "", err
	}
	return deployment.SignedTransaction(ctx, prepared)
}

// refuse shows that a hazardous transaction is refused.
func (d *demo) refuse(ctx context.Context, chain Chain, key keystore.KeyInfo, danger danger) error {
	hazardous := filled(danger.unsigned, key.PublicKey)
	d.printf("   %s\n", danger.title)
	d.excerpt("unsigned", hazardous)
	_, err := d.engine.SignTransaction(ctx, deployment.DefaultOrganization, chain.intent(key, hazardous))
	refusal, err := refused(err, activity.ReasonHazardNotAllowed)
	if err != nil || !strings.Contains(refusal.Message, danger.hazard) {
		return errors.Join(fmt.Errorf("a transaction should have been refused for %s", danger.hazard), err)
	}
	d.line(Red, "refused", refusal.Message)
	return nil
}

// refused returns the refusal that err is, which has to be for a reason.
func refused(err error, reason activity.Reason) (*activity.Error, error) {
	refusal, ok := errors.AsType[*activity.Error](err)
	if !ok || refusal.Reason != reason {
		return nil, errors.Join(fmt.Errorf("it should have been refused with %s", reason), err)
	}
	return refusal, nil
}

func (c Chain) intent(key keystore.KeyInfo, unsigned string) activity.SignTransactionIntent {
	return activity.SignTransactionIntent{SignWith: key.ID, UnsignedTransaction: unsigned, Type: c.Kind}
}
