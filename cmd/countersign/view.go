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
	"github.com/countersign-dev/countersign/chains/names"
)

// view is a transaction as a person is shown it.
type view struct {
	summary chains.Summary
	effects []chains.Effect // with the signer and change resolved; nil for those of the summary
	signer  []chains.Field  // what depends on who signs, if that is known
	reading chains.Readings // what descriptors say
	hazards []chains.Hazard
	names   chains.Names   // nil for those that are built in
	message bool           // it is a message, not a transaction
	waits   []chains.Field // of a request that waits for votes: by which user, for what
}

// what names it in a line or a question.
func (v view) what() string {
	if v.message {
		return "message"
	}
	return "transaction"
}

// viewOf is what is shown before a transaction is signed. Whose the addresses are
// is looked up in the keystore.
func viewOf(ctx context.Context, prepared *countersign.PreparedTransaction, known chains.Names) (view, error) {
	effects, err := prepared.Effects(ctx)
	if err != nil {
		return view{}, err
	}
	return view{summary: prepared.Summary(), effects: effects, signer: prepared.SignerView(),
		reading: prepared.Readings(), hazards: prepared.Hazards(), names: known}, nil
}

// tokens are the names that are built in.
var tokens = sync.OnceValue(names.New)

// render writes what the transaction does in sentences, then the details, the
// hazards and the digest, in one piece, so that nothing comes in between.
func (v view) render(w io.Writer) error {
	fields := slices.Concat(v.signer, v.summary.Fields, v.reading.Show(), []chains.Field{
		v.hazardField(),
		chains.Text("summary digest", groups(v.summary.Digest())),
	}, v.waits)
	var text bytes.Buffer
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

// groups writes a digest in groups of four digits, for comparing by eye.
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
