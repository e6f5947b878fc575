// Package demo is the command demo.
package demo

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

const (
	// payment is EIP-1559 on mainnet: transfer(0x08d2…67B7, 250 000 000) to the USDC contract, as
	// go-ethereum encodes it.
	payment = "02f86d0107843b9aca008504a817c80082fde894a0b86991c6218b36c1d19d4a2e9eb0ce3606eb4880b844" +
		transfer + "000000000000000000000000" + payee + "000000000000000000000000000000000000000000000000000000000ee6b280c0"
	transfer = "a9059cbb" // its selector
	payee    = "08d2b0a37f869ff76bacb5bab3278e26ab7067b7"
)

// NewCommand returns the command demo.
func NewCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See it work, without any setup",
		Long: console.Paragraphs(`
Create an encrypted keystore in a temporary directory. Read a real unsigned transaction of
Ethereum, show what it does, sign it, and verify the signature with go-ethereum; refuse one
that nothing here can read. Then serve the HTTP API on a loopback address and have a second
person approve a payment that a policy does not let one person make. The demo takes a few
seconds, needs no network, and leaves nothing behind.

Its output is in color on a terminal, unless NO_COLOR is set or TERM is dumb.`),
		Example: "  countersign demo",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			err := Run(cmd.Context(), &Narrator{Out: out, Color: terminal.WantsColor(out)})
			if errors.Is(err, syscall.EPIPE) {
				return nil // its reader has seen enough, such as head
			}
			return err
		},
	}
}

type demo struct {
	*Narrator
	keys   *file.Store
	key    keystore.KeyInfo
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
			tell.printf("\nDone in %.1f s, and the keystore is removed. To continue with keys that stay:\n"+
				"   countersign keys generate --keystore file:keys --curve secp256k1\n"+
				"With a server of your own:\n"+
				"   countersign init DIR\n", time.Since(started).Seconds())
		}
	}()
	passphrase := []byte(rand.Text())
	defer keystore.Wipe(passphrase)
	keys, err := file.Create(filepath.Join(dir, "keys"), passphrase, file.Options{WorkFactor: deployment.InitWorkFactor})
	if err != nil {
		return err
	}
	key, err := keys.Generate(ctx, organization, "treasury", keystore.CurveSecp256k1)
	if err != nil {
		return errors.Join(err, keys.Close())
	}
	engine, err := countersign.New(countersign.Config{
		Keystore: keys, Chains: []chains.Chain{ethereum.New(ethereum.Limits{})},
	})
	if err != nil {
		return errors.Join(err, keys.Close())
	}
	d := &demo{tell, keys, key, engine}
	d.printf("Countersign signs only what it can read. It parses every byte of a transaction, says what\n" +
		"a signature would do, refuses what is malformed or dangerous, and signs exactly the bytes\n" +
		"it read. This demo uses no network. Its keys, encrypted in a temporary keystore, are gone\n" +
		"when it ends: send nothing to their addresses.\n")
	err = d.showSigned(ctx)
	if err := errors.Join(err, engine.Close()); err != nil {
		return err
	}
	if err := d.showApproved(ctx); err != nil {
		return fmt.Errorf("approval over HTTP: %w", err)
	}
	return tell.err
}

// showSigned signs the payment, verifies the signature, and has a call refused that cannot be read.
func (d *demo) showSigned(ctx context.Context) error {
	d.chapter("Ethereum: pay 250 USDC")
	d.line(Dim, "key", fmt.Sprintf("%s (%v)", d.key.ID, d.key.PublicKey.Curve()))
	d.excerpt("unsigned", payment)
	prepared, err := d.engine.Prepare(ctx, organization, intent(d.key, payment))
	if err != nil {
		return err
	}
	shown, err := show.ViewOf(ctx, prepared, show.Tokens())
	if err != nil {
		return err
	}
	if err := d.show(shown.Render); err != nil {
		return err
	}
	signed, err := deployment.Signed(ctx, prepared)
	if err != nil {
		return err
	}
	d.line(Dim, "signed", signed)
	if err := d.checked(signed, d.key.PublicKey); err != nil {
		return err
	}
	unread := strings.Replace(payment, transfer, "deadbeef", 1)
	d.printf("   The same, but calling function 0xdeadbeef, which nothing here can read:\n")
	d.excerpt("unsigned", unread)
	_, err = d.engine.SignTransaction(ctx, organization, intent(d.key, unread))
	refusal, ok := errors.AsType[*activity.Error](err)
	if !ok || refusal.Reason != activity.ReasonHazardNotAllowed {
		return errors.Join(fmt.Errorf("it should have been refused with %s", activity.ReasonHazardNotAllowed), err)
	}
	d.line(Red, "refused", refusal.Message)
	return nil
}

func intent(key keystore.KeyInfo, unsigned string) activity.SignTransactionIntent {
	return activity.SignTransactionIntent{
		SignWith: key.ID, UnsignedTransaction: unsigned, Type: activity.TransactionTypeEthereum,
	}
}

// checked verifies a signed transaction with go-ethereum and prints what it found.
func (d *demo) checked(signed string, pub keystore.PublicKey) error {
	found, err := check(signed, pub)
	if err != nil {
		return fmt.Errorf("check the signature: %w", err)
	}
	d.line(Green, "checked", found)
	return nil
}

// check has go-ethereum recover who signed a transaction.
func check(signed string, pub keystore.PublicKey) (string, error) {
	raw, err := hex.DecodeString(signed)
	if err != nil {
		return "", err
	}
	var tx types.Transaction
	if err := tx.UnmarshalBinary(raw); err != nil {
		return "", err
	}
	sender, err := types.Sender(types.LatestSignerForChainID(tx.ChainId()), &tx)
	if want := common.Address(pub.KeccakAddress()); err == nil && sender != want {
		err = fmt.Errorf("go-ethereum recovers %v, but the key's address is %v", sender, want)
	}
	return fmt.Sprintf("go-ethereum recovers the key's address, %v", sender), err
}

// Narrator prints what the demo does, in color where that is wanted.
type Narrator struct {
	Out      io.Writer
	Color    bool
	chapters int
	err      error // the first error of writing
}

// Styles of text, as SGR parameters.
const (
	Bold  = "1"
	Dim   = "2"
	Red   = "31"
	Green = "32"
)

func (n *Narrator) style(parameters, text string) string {
	if !n.Color {
		return text
	}
	return "\x1b[" + parameters + "m" + text + "\x1b[0m"
}

func (n *Narrator) printf(format string, args ...any) {
	if n.err == nil {
		_, n.err = fmt.Fprintf(n.Out, format, args...)
	}
}

func (n *Narrator) chapter(title string) {
	n.chapters++
	n.printf("\n%s\n", n.style(Bold, fmt.Sprintf("%d. %s", n.chapters, title)))
}

// maxShown is the number of characters of a long hex string in an excerpt.
const maxShown = 64

func (n *Narrator) excerpt(label, text string) {
	if len(text) > maxShown {
		text = fmt.Sprintf("%s… (%d bytes)", text[:maxShown], len(text)/2)
	}
	n.line(Dim, label, text)
}

const (
	labelWidth = 9
	valueWidth = 82 // where long values are broken into lines
)

// line prints a value behind a label in a style, and breaks it into lines at spaces.
func (n *Narrator) line(style, label, value string) {
	indent := strings.Repeat(" ", 3+labelWidth+2)
	var text strings.Builder
	column := 0
	for word := range strings.SplitSeq(value, " ") {
		width := utf8.RuneCountInString(word)
		switch {
		case column > 0 && column+1+width > valueWidth:
			text.WriteString("\n" + indent)
			column = 0
		case column > 0:
			text.WriteByte(' ')
			column++
		}
		text.WriteString(word)
		column += width
	}
	n.printf("   %s  %s\n", n.style(style, fmt.Sprintf("%-*s", labelWidth, label)), &text)
}

// show prints what render writes, indented and colored like the rest. Two spaces separate
// the label of a field from its value; a line without a value is the title of those below.
func (n *Narrator) show(render func(io.Writer) error) error {
	var text bytes.Buffer
	if err := render(&text); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		written := strings.TrimLeft(line, " ")
		label, value, found := strings.Cut(strings.TrimSuffix(written, "\n"), "  ")
		styled := n.style(Bold, label)
		if found {
			styled = n.style(Dim, label) + "  " + value
		}
		n.printf("   %*s%s\n", len(line)-len(written), "", styled)
	}
	return nil
}
