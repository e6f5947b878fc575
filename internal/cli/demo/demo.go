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
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// Chain is what the demo shows of one chain. Transactions are functions of the key,
// because some chains name the signer in the unsigned form.
type Chain struct {
	Name     string // as people write it
	Kind     activity.TransactionType
	Curve    keystore.Curve
	does     string // what the transaction does
	Unsigned func(keystore.PublicKey) (string, error)
	dangers  []demoDanger // transactions that are refused

	// Check reads the signed transaction with independent code and returns what that
	// code found, or an error if the key did not sign the transaction.
	Check func(signed string, pub keystore.PublicKey) (string, error)
}

// demoDanger is a transaction that is refused for a hazard.
type demoDanger struct {
	hazard   string
	title    string // says what is wrong with it
	unsigned func(keystore.PublicKey) (string, error)
}

// DemoChains are shown in this order.
var DemoChains = []Chain{ethereumDemo, SolanaDemo, TronDemo, BitcoinDemo, tempoDemo}

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
			return Run(cmd.Context(), newNarrator(cmd.OutOrStdout()))
		},
	}
}

// demo is one run of the demo.
type demo struct {
	keys   *file.Store
	engine *countersign.Engine
	tell   *Narrator
}

// Run runs the demo.
func Run(ctx context.Context, tell *Narrator) (err error) {
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
	d := demo{tell: tell}
	if d.keys, err = createDemoKeystore(filepath.Join(dir, "keys")); err != nil {
		return err
	}
	config := countersign.Config{Keystore: d.keys, Chains: all.Chains(all.Limits{})}
	served, err := newDemoServed(dir, &config)
	if err != nil {
		return errors.Join(err, d.keys.Close())
	}
	if d.engine, err = countersign.New(config); err != nil {
		return errors.Join(err, d.keys.Close())
	}
	defer func() {
		if closeErr := d.engine.Close(); err == nil {
			err = closeErr
		}
	}()
	return d.show(ctx, served)
}

// createDemoKeystore creates the keystore with a passphrase that is not kept.
func createDemoKeystore(dir string) (*file.Store, error) {
	passphrase := []byte(rand.Text())
	defer keystore.Wipe(passphrase)
	return file.Create(dir, passphrase, file.Options{WorkFactor: deployment.InitWorkFactor})
}

func (d *demo) show(ctx context.Context, served *demoServed) error {
	d.tell.begin()
	if err := d.showEffects(ctx); err != nil {
		return fmt.Errorf("effects: %w", err)
	}
	for _, chain := range DemoChains {
		if err := d.showChain(ctx, chain); err != nil {
			return fmt.Errorf("%s: %w", chain.Name, err)
		}
	}
	if err := served.show(ctx, d); err != nil {
		return err
	}
	if err := showApprovals(ctx, d.tell); err != nil {
		return fmt.Errorf("approvals: %w", err)
	}
	return d.tell.err
}

// generate creates a key for a chain.
func (d *demo) generate(ctx context.Context, chain Chain, name string) (keystore.KeyInfo, error) {
	key, err := d.keys.Generate(ctx, deployment.DefaultOrganization, name, chain.Curve)
	if err == nil {
		d.tell.line("key", fmt.Sprintf("%s (%v)", key.ID, chain.Curve))
	}
	return key, err
}

// showEffects shows what an unsigned transaction does, and refuses one whose effect is
// unknown.
func (d *demo) showEffects(ctx context.Context) error {
	d.tell.chapter("What would this signature do?")
	key, err := d.generate(ctx, ethereumDemo, "demo effects")
	if err != nil {
		return err
	}
	d.tell.excerpt("unsigned", demoUSDC)
	prepared, err := d.engine.Prepare(ctx, deployment.DefaultOrganization, ethereumDemo.intent(key, demoUSDC))
	if err != nil {
		return err
	}
	effects, err := prepared.Effects(ctx)
	if err != nil {
		return err
	}
	for _, sentence := range names.Sentences(effects, show.Tokens()) {
		d.tell.good("effect", sentence)
	}
	return d.refuse(ctx, ethereumDemo, key, demoDanger{"ethereum/blind-call", "The same, but calling function 0xdeadbeef, which nothing here can read:",
		func(keystore.PublicKey) (string, error) { return demoBlind, nil }})
}

// showChain signs a transaction with a new key, verifies the signature, and has the
// hazardous transactions refused.
func (d *demo) showChain(ctx context.Context, chain Chain) error {
	d.tell.chapter(chain.Name + ": " + chain.does)
	key, err := d.generate(ctx, chain, "demo "+chain.Name)
	if err != nil {
		return err
	}
	unsigned, err := chain.Unsigned(key.PublicKey)
	if err != nil {
		return err
	}
	d.tell.excerpt("unsigned", unsigned)
	signed, err := d.sign(ctx, chain.intent(key, unsigned))
	if err != nil {
		return err
	}
	d.tell.line("signed", signed)
	if err := d.tell.checked(chain, signed, key.PublicKey); err != nil {
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
	if err := d.tell.show(shown.Render); err != nil {
		return "", err
	}
	return deployment.SignedTransaction(ctx, prepared)
}

// refuse shows that a hazardous transaction is refused.
func (d *demo) refuse(ctx context.Context, chain Chain, key keystore.KeyInfo, danger demoDanger) error {
	hazardous, err := danger.unsigned(key.PublicKey)
	if err != nil {
		return err
	}
	d.tell.text(danger.title)
	d.tell.excerpt("unsigned", hazardous)
	_, err = d.engine.SignTransaction(ctx, deployment.DefaultOrganization, chain.intent(key, hazardous))
	refusal, ok := errors.AsType[*activity.Error](err)
	if !ok || refusal.Reason != activity.ReasonHazardNotAllowed || !strings.Contains(refusal.Message, danger.hazard) {
		return fmt.Errorf("a transaction with the hazard %s should have been refused for it: %w", danger.hazard, err)
	}
	d.tell.bad("refused", refusal.Message)
	return nil
}

func (c Chain) intent(key keystore.KeyInfo, unsigned string) activity.SignTransactionIntent {
	return activity.SignTransactionIntent{SignWith: key.ID, UnsignedTransaction: unsigned, Type: c.Kind}
}
