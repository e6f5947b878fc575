package main

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
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// demoChain is what the demonstration shows of one chain. The transactions may
// depend on the key, for chains whose unsigned form names who signs.
type demoChain struct {
	name     string // as people write it
	kind     activity.TransactionType
	curve    keystore.Curve
	does     string // what the transaction does
	unsigned func(keystore.PublicKey) (string, error)
	dangers  []demoDanger // transactions that are refused

	// check reads the signed transaction with code that is not ours, and says
	// what that found; an error if it was not signed by the key.
	check func(signed string, pub keystore.PublicKey) (string, error)
}

// demoDanger is a transaction that is refused by the name of its hazard.
type demoDanger struct {
	hazard   string
	isHazard string // what is wrong with it
	unsigned func(keystore.PublicKey) (string, error)
}

// demoChains are shown in this order.
var demoChains = []demoChain{ethereumDemo, solanaDemo, tronDemo, bitcoinDemo, tempoDemo}

func newDemoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See it work, with nothing set up",
		Long: paragraphs(`
Make an encrypted keystore in a temporary directory, read a real unsigned
transaction of each chain, show it, sign it, have the signature checked by
someone else's code, and have a dangerous one refused. Then serve the HTTP API
on a loopback address, submit a stamped request to it, redeem a one-time password,
and let a payment wait for a second person whom a policy asks for. It takes a few
seconds, needs no network and leaves nothing behind.

It is in colour on a terminal, unless NO_COLOR is set or TERM is dumb.`),
		Example: "  countersign demo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDemo(cmd.Context(), newNarrator(cmd.OutOrStdout()))
		},
	}
}

func runDemo(ctx context.Context, tell *narrator) (err error) {
	started := time.Now()
	dir, err := os.MkdirTemp("", "countersign-demo-")
	if err != nil {
		return err
	}
	defer func() {
		if removeErr := os.RemoveAll(dir); err == nil {
			err = removeErr
		}
		if err == nil {
			tell.end(time.Since(started))
		}
	}()
	tell.begin()
	keys, err := demoKeystore(dir, tell)
	if err != nil {
		return err
	}
	made := countersign.Config{Keystore: keys}
	served, err := newDemoServed(dir, &made)
	if err != nil {
		return errors.Join(err, keys.Close())
	}
	engine, err := countersign.New(made)
	if err != nil {
		return errors.Join(err, keys.Close())
	}
	defer func() {
		if closeErr := engine.Close(); err == nil {
			err = closeErr
		}
	}()
	for _, chain := range demoChains {
		if err := chain.show(ctx, engine, keys, tell); err != nil {
			return fmt.Errorf("%s: %w", chain.name, err)
		}
	}
	if err := served.show(ctx, engine, keys, tell); err != nil {
		return err
	}
	if err := showApprovals(ctx, tell); err != nil {
		return fmt.Errorf("approvals: %w", err)
	}
	return tell.err
}

// demoKeystore makes the keystore, under a passphrase that is not kept.
func demoKeystore(dir string, tell *narrator) (*file.Store, error) {
	passphrase := []byte(rand.Text())
	defer keystore.Wipe(passphrase)
	at := filepath.Join(dir, "keys")
	keys, err := file.Create(at, passphrase, file.Options{WorkFactor: initWorkFactor})
	if err != nil {
		return nil, err
	}
	tell.chapter("A keystore")
	tell.line("made", at)
	tell.line("encrypted", "with age, under a passphrase made up for this")
	return keys, nil
}

// show makes a key, signs with it, has that checked, and has the hazardous
// transaction refused.
func (c demoChain) show(ctx context.Context, engine *countersign.Engine, keys *file.Store, tell *narrator) error {
	tell.chapter(c.name + ": " + c.does)
	key, err := keys.Generate(ctx, defaultOrganization, "demo "+c.name, c.curve)
	if err != nil {
		return err
	}
	tell.line("key", fmt.Sprintf("%s (%v)", key.ID, c.curve))
	unsigned, err := c.unsigned(key.PublicKey)
	if err != nil {
		return err
	}
	tell.excerpt("unsigned", unsigned)
	signed, err := c.sign(ctx, engine, key, unsigned, tell)
	if err != nil {
		return err
	}
	tell.line("signed", signed)
	found, err := c.check(signed, key.PublicKey)
	if err != nil {
		return fmt.Errorf("the check of the signature: %w", err)
	}
	tell.good("checked", found)
	for _, danger := range c.dangers {
		if err := c.refuse(ctx, engine, key, danger, tell); err != nil {
			return err
		}
	}
	return nil
}

func (c demoChain) sign(ctx context.Context, engine *countersign.Engine, key keystore.KeyInfo, unsigned string, tell *narrator) (string, error) {
	prepared, err := engine.PrepareTransaction(ctx, defaultOrganization, c.intent(key, unsigned))
	if err != nil {
		return "", err
	}
	shown, err := viewOf(ctx, prepared, tokens())
	if err != nil {
		return "", err
	}
	if err := tell.show(shown.render); err != nil {
		return "", err
	}
	result, err := prepared.Sign(ctx)
	return result.SignedTransaction, err
}

// refuse shows that a hazardous transaction is refused.
func (c demoChain) refuse(ctx context.Context, engine *countersign.Engine, key keystore.KeyInfo, danger demoDanger, tell *narrator) error {
	hazardous, err := danger.unsigned(key.PublicKey)
	if err != nil {
		return err
	}
	tell.text("Another one " + danger.isHazard + ":")
	tell.excerpt("unsigned", hazardous)
	_, err = engine.SignTransaction(ctx, defaultOrganization, c.intent(key, hazardous))
	refusal, ok := errors.AsType[*activity.Error](err)
	if !ok || refusal.Reason != activity.ReasonHazardNotAllowed || !strings.Contains(refusal.Message, danger.hazard) {
		return fmt.Errorf("a transaction with the hazard %s should have been refused for it: %w", danger.hazard, err)
	}
	tell.bad("refused", refusal.Message)
	return nil
}

func (c demoChain) intent(key keystore.KeyInfo, unsigned string) activity.SignTransactionIntent {
	return activity.SignTransactionIntent{SignWith: key.ID, UnsignedTransaction: unsigned, Type: c.kind}
}
