package descriptors

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Pins are digests of files that the user trusts. They cover the merged form: a
// changed include is another digest. Keep them outside of the folder, which may
// come from elsewhere.
type Pins struct {
	digests map[[32]byte]string
	order   [][32]byte
}

// pinsHeader is the first line of a manifest.
const pinsHeader = "countersign.pins/1"

// maxPins bounds a manifest.
const maxPins = 20_000

// ReadPins reads a manifest:
//
//	countersign.pins/1
//	<64 hex digits, SHA-256>  <path, for a person>
func ReadPins(file []byte) (*Pins, error) {
	lines := strings.Split(strings.TrimSuffix(string(file), "\n"), "\n")
	if lines[0] != pinsHeader || len(lines) > maxPins {
		return nil, fmt.Errorf("descriptors: pins: %s and at most %d lines are expected", pinsHeader, maxPins)
	}
	pins := &Pins{}
	for i, line := range lines[1:] {
		digits, name, ok := strings.Cut(line, "  ")
		raw, err := hex.DecodeString(digits)
		if !ok || err != nil || len(raw) != 32 || strings.ToLower(digits) != digits {
			return nil, fmt.Errorf("descriptors: pins: line %d: 64 hex digits, two spaces and a path are expected", i+2)
		}
		pins.add([32]byte(raw), name)
	}
	return pins, nil
}

// Add pins a file as it is now.
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

// Encode writes the manifest.
func (p *Pins) Encode() []byte {
	out := []byte(pinsHeader + "\n")
	for _, digest := range p.order {
		out = fmt.Appendf(out, "%x  %s\n", digest, strings.Map(printableRune, p.digests[digest]))
	}
	return out
}

// printableRune keeps the name of a file from drawing lines.
func printableRune(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}
