package main

import (
	"bytes"
	"encoding/hex"
	"io"
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// view is a transaction as a person is shown it.
type view struct {
	summary chains.Summary
	signer  []chains.Field // what depends on who signs, if that is known
	hazards []chains.Hazard
}

// render writes it in one piece, so that nothing comes between.
func (v view) render(w io.Writer) error {
	digest := v.summary.Digest()
	fields := slices.Concat(v.signer, v.summary.Fields, []chains.Field{
		v.hazardField(),
		chains.Text("summary digest", hex.EncodeToString(digest[:])),
	})
	var text bytes.Buffer
	if err := chains.Render(&text, []chains.Field{chains.List(v.summary.Chain+" transaction", fields...)}); err != nil {
		return err
	}
	_, err := w.Write(text.Bytes())
	return err
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
