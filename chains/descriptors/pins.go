package descriptors

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Pins are the digests of files that the user trusts. A digest covers a file with its
// includes merged, so that a changed include changes it. Keep pins outside of the folder,
// which may come from someone else.
type Pins struct {
	digests map[[32]byte]string
	order   [][32]byte
	blind   map[[32]byte][]string // what the calls of functions that stay blind begin with
}

// pinsHeader is the first line of a manifest.
const pinsHeader = "countersign.pins/1"

// maxPins bounds the lines of a manifest.
const maxPins = 20_000

// ReadPins parses a manifest:
//
//	countersign.pins/1
//	<64 hex digits, SHA-256>  <path, for information>
//	blind: [0xd4d9bdcd, 0xc01a8c84]
//
// A line that begins with blind: is about the pin above it. Calls whose data begins with one
// of its selectors stay blind, however completely the file reads them. A selector has 1 to
// 32 bytes: 4 of a contract's function, mostly 8 of a Solana instruction.
func ReadPins(file []byte) (*Pins, error) {
	lines := strings.Split(strings.TrimSuffix(string(file), "\n"), "\n")
	if lines[0] != pinsHeader || len(lines) > maxPins {
		return nil, fmt.Errorf("descriptors: pins: must begin with %s and have at most %d lines", pinsHeader, maxPins)
	}
	pins := &Pins{}
	var last [32]byte
	for i, line := range lines[1:] {
		if list, ok := strings.CutPrefix(line, blindPrefix); ok {
			if err := pins.addBlind(last, list); err != nil {
				return nil, fmt.Errorf("descriptors: pins: line %d: %w", i+2, err)
			}
			continue
		}
		digits, name, ok := strings.Cut(line, "  ")
		raw, err := hex.DecodeString(digits)
		if !ok || err != nil || len(raw) != 32 || strings.ToLower(digits) != digits {
			return nil, fmt.Errorf("descriptors: pins: line %d: "+
				"must be 64 lower-case hex digits, two spaces and a path", i+2)
		}
		last = [32]byte(raw)
		pins.add(last, name)
	}
	return pins, nil
}

const blindPrefix = "blind: "

// addBlind adds a list of selectors to the pin of a digest.
func (p *Pins) addBlind(digest [32]byte, list string) error {
	inner, opened := strings.CutPrefix(list, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !opened || !closed || len(p.order) == 0 {
		return errors.New("blind: must follow a pin and be a list of selectors, such as [0xd4d9bdcd, 0xc01a8c84]")
	}
	for text := range strings.SplitSeq(inner, ",") {
		digits, prefixed := strings.CutPrefix(strings.TrimSpace(text), "0x")
		raw, err := hex.DecodeString(digits)
		if !prefixed || err != nil || len(raw) == 0 || len(raw) > 32 {
			return fmt.Errorf("blind: %.80q: a selector is 0x and the hex digits of 1 to 32 bytes",
				strings.TrimSpace(text))
		}
		p.keepBlind(digest, string(raw))
	}
	return nil
}

// keepBlind adds a selector to the pin of a digest, once.
func (p *Pins) keepBlind(digest [32]byte, selector string) {
	if p.blind == nil {
		p.blind = map[[32]byte][]string{}
	}
	if !slices.Contains(p.blind[digest], selector) {
		p.blind[digest] = append(p.blind[digest], selector)
	}
}

// Add pins a file with its current content. What a pin of another content of this file
// keeps blind stays blind.
func (p *Pins) Add(file *File) {
	name := strings.Map(printableRune, file.Name)
	for digest, pinned := range p.digests {
		if pinned == name && digest != file.Digest {
			for _, selector := range p.blind[digest] {
				p.keepBlind(file.Digest, selector)
			}
		}
	}
	p.add(file.Digest, file.Name)
}

func (p *Pins) add(digest [32]byte, name string) {
	if p.digests == nil {
		p.digests = map[[32]byte]string{}
	}
	if _, ok := p.digests[digest]; !ok {
		p.order = append(p.order, digest)
	}
	p.digests[digest] = name
}

// names reports whether a file of this name is pinned, with whatever content.
func (p *Pins) names(name string) bool {
	return slices.Contains(slices.Collect(maps.Values(p.digests)), strings.Map(printableRune, name))
}

// Encode returns the manifest.
func (p *Pins) Encode() []byte {
	out := []byte(pinsHeader + "\n")
	for _, digest := range p.order {
		out = fmt.Appendf(out, "%x  %s\n", digest, strings.Map(printableRune, p.digests[digest]))
		if selectors := p.blind[digest]; len(selectors) > 0 {
			texts := make([]string, len(selectors))
			for i, selector := range selectors {
				texts[i] = fmt.Sprintf("0x%x", selector)
			}
			out = append(out, blindPrefix+"["+strings.Join(texts, ", ")+"]\n"...)
		}
	}
	return out
}

// printableRune replaces characters by which a file name could fake lines.
func printableRune(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}
