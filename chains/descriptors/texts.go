package descriptors

import (
	"encoding/hex"
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/texts"
)

// maxTexts bounds the templates of a file.
const maxTexts = 1_000

// textFile has templates of texts. It reads no calls.
type textFile struct {
	noCalls
	Texts []texts.Template `json:"texts"`
}

func newTexts(root object) (source, []target, error) {
	file := &textFile{}
	if err := into(root, file); err != nil {
		return nil, nil, err
	}
	if len(file.Texts) == 0 || len(file.Texts) > maxTexts {
		return nil, nil, fmt.Errorf("texts: %d, expected 1 to %d", len(file.Texts), maxTexts)
	}
	targets := make([]target, len(file.Texts))
	for i := range file.Texts {
		if err := file.Texts[i].Compile(); err != nil {
			return nil, nil, fmt.Errorf("texts[%d]: %w", i, err)
		}
		targets[i] = target{textChain, file.Texts[i].Domain}
	}
	return file, targets, nil
}

// readText reads a text by the one template that it is of. If it is of two, neither is used,
// since their domains or fields differ.
func (f *Folder) readText(text string) (reading chains.Reading, ok bool) {
	for _, file := range f.files {
		source, _ := file.source.(*textFile)
		for i := 0; source != nil && i < len(source.Texts); i++ {
			args, matches := source.Texts[i].Match(text)
			switch {
			case !matches || file.Problem != "" && ok:
			case file.Problem != "":
				reading, ok = chains.Reading{Source: file.Name, Problem: file.Problem}, true
			case reading.Trust != "":
				return chains.Reading{Source: reading.Source + ", " + file.Name,
					Problem: "two trusted templates are of this text: unpin one"}, true
			default:
				reading, ok = chains.Reading{Source: file.Name, Digest: hex.EncodeToString(file.Digest[:]),
					Trust:  file.Trust,
					Domain: source.Texts[i].Domain, Args: args, Complete: true}, true
			}
		}
	}
	return reading, ok
}
