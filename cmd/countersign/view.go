package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// view is a transaction as a person is shown it.
type view struct {
	summary chains.Summary
	signer  []chains.Field // what depends on who signs, if that is known
	hazards []chains.Hazard
	names   chains.Names // nil if there are none
}

// render writes what the transaction does in sentences, then the details, the
// hazards and the digest, in one piece, so that nothing comes in between.
func (v view) render(w io.Writer) error {
	fields := slices.Concat(v.signer, v.summary.Fields, []chains.Field{
		v.hazardField(),
		chains.Text("summary digest", groups(v.summary.Digest())),
	})
	var text bytes.Buffer
	for _, effect := range v.summary.Effects {
		fmt.Fprintln(&text, chains.Wrap(chains.Sentence(effect, v.names), 0))
	}
	if err := chains.Render(&text, []chains.Field{chains.List(v.summary.Chain+" transaction", fields...)}); err != nil {
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
