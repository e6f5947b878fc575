package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/names"
)

// view is a transaction or message as it is shown to a person.
type view struct {
	summary chains.Summary
	effects []chains.Effect // with the signer and change resolved; nil: those of the summary
	signer  []chains.Field  // what depends on the signer, if that is known
	reading chains.Readings // of descriptors
	hazards []chains.Hazard
	names   chains.Names   // nil: the built-in names
	message bool           // a message, not a transaction
	waits   []chains.Field // for a request that waits for votes: who submitted it, what is missing
	notes   []string       // what the reader must know first, one line each
}

// what returns the word for it in a sentence.
func (v view) what() string {
	if v.message {
		return "message"
	}
	return "transaction"
}

// viewOf returns the view of a prepared transaction. It looks up in the keystore which
// addresses are the signer's own.
func viewOf(ctx context.Context, prepared *countersign.Prepared, known chains.Names) (view, error) {
	effects, err := prepared.Effects(ctx)
	if err != nil {
		return view{}, err
	}
	signer, err := prepared.SignerView(ctx)
	if err != nil {
		return view{}, err
	}
	return view{summary: prepared.Summary(), effects: effects, signer: signer,
		reading: prepared.Readings(), hazards: prepared.Hazards(), names: known}, nil
}

// networkFields returns the network of the addresses in the view of a Bitcoin transaction
// whose signer is not known. A PSBT does not name its network.
func networkFields(summary *chains.Summary, limits all.Limits) []chains.Field {
	if summary.Chain != bitcoin.Name {
		return nil
	}
	return []chains.Field{chains.Text("network", limits.Bitcoin.Network.String()).WithNote("of the addresses shown")}
}

// tokens returns the built-in names of tokens and addresses.
var tokens = sync.OnceValue(names.New)

// render writes what signing does in sentences, then the details, the hazards and the
// digest. It writes once, so that no other output comes in between.
func (v view) render(w io.Writer) error {
	fields := slices.Concat(v.signer, v.summary.Fields, v.reading.Show(), []chains.Field{
		v.hazardField(),
		chains.Text("summary digest", groups(v.summary.Digest())),
	}, v.waits)
	var text bytes.Buffer
	for _, note := range v.notes {
		fmt.Fprintln(&text, note)
	}
	effects := v.effects
	if effects == nil {
		effects = v.summary.Effects
	}
	for _, sentence := range names.Sentences(effects, v.names) {
		fmt.Fprintln(&text, chains.Wrap(sentence, 0))
	}
	if err := chains.Render(&text, []chains.Field{chains.List(v.summary.Chain+" "+v.what(), fields...)}); err != nil {
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

func (v view) hazardField() chains.Field {
	if len(v.hazards) == 0 {
		return chains.Text("hazards", "none")
	}
	fields := make([]chains.Field, len(v.hazards))
	for i, hazard := range v.hazards {
		fields[i] = chains.Text(hazard.Name, hazard.Detail)
	}
	return chains.List("hazards", fields...)
}
