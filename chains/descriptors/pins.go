package descriptors

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Pins are the digests of files that the user trusts. A digest covers a file with its
// includes merged, so that a changed include changes it. Keep pins outside of the folder,
// which may come from someone else.
type Pins struct {
	digests map[[32]byte]string
	order   [][32]byte
}

// pinsHeader is the first line of a manifest.
const pinsHeader = "countersign.pins/1"

// maxPins bounds the lines of a manifest.
const maxPins = 20_000

// ReadPins parses a manifest:
//
//	countersign.pins/1
//	<64 hex digits, SHA-256>  <path, for information>
func ReadPins(file []byte) (*Pins, error) {
	lines := strings.Split(strings.TrimSuffix(string(file), "\n"), "\n")
	if lines[0] != pinsHeader || len(lines) > maxPins {
		return nil, fmt.Errorf("descriptors: pins: must begin with %s and have at most %d lines", pinsHeader, maxPins)
	}
	pins := &Pins{}
	for i, line := range lines[1:] {
		digits, name, ok := strings.Cut(line, "  ")
		raw, err := hex.DecodeString(digits)
		if !ok || err != nil || len(raw) != 32 || strings.ToLower(digits) != digits {
			return nil, fmt.Errorf("descriptors: pins: line %d: must be 64 lower-case hex digits, two spaces and a path", i+2)
		}
		pins.add([32]byte(raw), name)
	}
	return pins, nil
}

// Add pins a file with its current content.
func (p *Pins) Add(file *File) { p.add(file.Digest, file.Name) }

func (p *Pins) add(digest [32]byte, name string) {
	if p.digests == nil {
		p.digests = map[[32]byte]string{}
	}
	if _, ok := p.digests[digest]; !ok {
		p.order = append(p.order, digest)
	}
	p.digests[digest] = name
}

func (p *Pins) has(digest [32]byte) bool {
	if p == nil {
		return false
	}
	_, ok := p.digests[digest]
	return ok
}

// names reports whether a file of this name is pinned, with whatever content.
func (p *Pins) names(name string) bool {
	if p == nil {
		return false
	}
	for _, pinned := range p.digests {
		if pinned == strings.Map(printableRune, name) {
			return true
		}
	}
	return false
}

// Encode returns the manifest.
func (p *Pins) Encode() []byte {
	out := []byte(pinsHeader + "\n")
	for _, digest := range p.order {
		out = fmt.Appendf(out, "%x  %s\n", digest, strings.Map(printableRune, p.digests[digest]))
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

// digestOf returns the SHA-256 of the canonical form, which pins contain.
func digestOf(root object) [32]byte { return sha256.Sum256(canonical(root)) }
