package show

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
)

// View is a transaction or message as it is shown to a person.
type View struct {
	Summary chains.Summary
	Effects []chains.Effect // with the signer and change resolved; nil: those of the summary
	Signer  []chains.Field  // what depends on the signer, if that is known
	Reading chains.Readings // of descriptors
	Hazards []chains.Hazard
	Names   chains.Names   // nil: the built-in names
	Message bool           // a message, not a transaction
	waits   []chains.Field // for a request that waits for votes: who submitted it, what is missing
	Notes   []string       // what the reader must know first, one line each
}

// What returns the word for it in a sentence.
func (v View) What() string {
	if v.Message {
		return "message"
	}
	return "transaction"
}

// ViewOf returns the view of a prepared transaction. It looks up in the keystore which
// addresses are the signer's own.
func ViewOf(ctx context.Context, prepared *countersign.Prepared, names chains.Names) (View, error) {
	effects, err := prepared.Effects(ctx)
	if err != nil {
		return View{}, err
	}
	signer, err := prepared.SignerView(ctx)
	if err != nil {
		return View{}, err
	}
	return View{Summary: prepared.Summary(), Effects: effects, Signer: signer,
		Reading: prepared.Readings(), Hazards: prepared.Hazards(), Names: names}, nil
}

// NetworkFields returns the network of the addresses in the view of a transaction whose
// signer is not known, if its bytes name none: see [chains.Forms].
func NetworkFields(summary *chains.Summary, limits all.Limits) []chains.Field {
	for _, chain := range all.Chains(limits) {
		if network := chain.Words().Forms.Network; network != "" && chain.Name() == summary.Chain {
			return []chains.Field{chains.Text("network", network).WithNote("of the addresses shown")}
		}
	}
	return nil
}

// Tokens returns the built-in names of tokens and addresses.
var Tokens = sync.OnceValue(func() *names.Book { return names.New(all.Chains(all.Limits{})...) })

// Render writes what signing does in sentences, then the details, the hazards and the
// digest. It writes once, so that no other output comes in between.
func (v View) Render(w io.Writer) error {
	fields := slices.Concat(v.Signer, v.Summary.Fields, v.Reading.Show(), []chains.Field{
		v.hazardField(),
		chains.Text("summary digest", groups(v.Summary.Digest())),
	}, v.waits)
	var text bytes.Buffer
	for _, note := range v.Notes {
		fmt.Fprintln(&text, note)
	}
	effects := v.Effects
	if effects == nil {
		effects = v.Summary.Effects
	}
	_, sentences := names.Described(effects, v.Names)
	for _, sentence := range sentences {
		fmt.Fprintln(&text, chains.Wrap(sentence, 0))
	}
	if err := chains.Render(&text, []chains.Field{chains.List(v.Summary.Chain+" "+v.What(), fields...)}); err != nil {
		return err
	}
	_, err := w.Write(text.Bytes())
	return err
}

// groups returns a digest in groups of four hex digits, for comparing by eye.
func groups(digest [32]byte) string {
	var out strings.Builder
	for i := 0; i < len(digest); i += 2 {
		fmt.Fprintf(&out, "%x ", digest[i:i+2])
	}
	return strings.TrimSpace(out.String())
}

func (v View) hazardField() chains.Field {
	if len(v.Hazards) == 0 {
		return chains.Text("hazards", "none")
	}
	fields := make([]chains.Field, len(v.Hazards))
	for i, hazard := range v.Hazards {
		fields[i] = chains.Text(hazard.Name, hazard.Detail)
	}
	return chains.List("hazards", fields...)
}

// ConfirmShown shows a transaction or a message on standard error, and asks a question
// about it on the terminal. If the answer is no, it returns an error that begins with
// outcome, such as "not signed".
func ConfirmShown(cmd *cobra.Command, yes bool, shown View, question, outcome string) error {
	if err := shown.Render(cmd.ErrOrStderr()); err != nil {
		return err
	}
	return console.Confirmed(yes, func(tty *terminal.Terminal) error {
		// If standard error goes elsewhere, show it on the terminal too: the person
		// who is asked must have seen it.
		if !terminal.Is(cmd.ErrOrStderr()) {
			if err := shown.Render(tty); err != nil {
				return err
			}
		}
		return console.Ask(cmd.Context(), tty, question, outcome)
	})
}
