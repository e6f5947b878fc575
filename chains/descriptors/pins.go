package descriptors

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Pins are the digests of files that the user trusts. A digest covers a file with its
// includes merged, so that a changed include changes it. Keep pins outside of the folder,
// which may come from someone else.
type Pins struct {
	digests map[[32]byte]string
	order   [][32]byte
	blind   map[[32]byte][]string // what the calls of functions that stay blind begin with

	needed   int      // how many of the auditors must have attested an ERC-7730 descriptor
	auditors []string // 20 bytes each
	revoked  []string // the uids of attestations that count for nothing
}

// pinsHeader is the first line of a manifest.
const pinsHeader = "countersign.pins/1"

// maxPins bounds the lines of a manifest.
const maxPins = 20_000

// ReadPins parses a manifest:
//
//	countersign.pins/1
//	auditors: 1 of [0x<40 hex digits, an account of Ethereum>]
//	revoked: [0x<64 hex digits, the uid of an attestation>]
//	<64 hex digits, SHA-256>  <path, for information>
//	blind: [0xd4d9bdcd, 0xc01a8c84]
//
// The lines auditors: and revoked: stand above the pins, or are missing. With them a pinned
// descriptor of ERC-7730 is used only if so many of the auditors have attested it (ERC-8176).
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
		if err := pins.readLine(line, &last); err != nil {
			return nil, fmt.Errorf("descriptors: pins: line %d: %w", i+2, err)
		}
	}
	return pins, nil
}

// readLine reads a line of a manifest. last is the pin above it.
func (p *Pins) readLine(line string, last *[32]byte) error {
	name, list, _ := strings.Cut(line, ": ")
	top := len(p.order) == 0
	switch {
	case name == "blind" && top:
		return errors.New("blind: must follow a pin")
	case (name == "auditors" || name == "revoked") && !top, name == "auditors" && p.auditors != nil:
		return fmt.Errorf("%s: must stand above the pins, auditors once", name)
	case name == "blind":
		return readList(list, name, 1, 32, func(selector string) { p.keepBlind(*last, selector) })
	case name == "revoked":
		return readList(list, name, 32, 32, func(uid string) { p.revoked = append(p.revoked, uid) })
	case name == "auditors":
		needed, list, _ := strings.Cut(list, " of ")
		err := readList(list, name, 20, 20, func(account string) { p.auditors = append(p.auditors, account) })
		accounts := len(slices.Compact(slices.Sorted(slices.Values(p.auditors))))
		p.needed, _ = strconv.Atoi(needed)
		if err == nil && (p.needed < 1 || p.needed > accounts || accounts < len(p.auditors)) {
			err = fmt.Errorf("auditors: must be such as '1 of [0x…]', with 1 to %d of different accounts", accounts)
		}
		return err
	}
	digits, name, ok := strings.Cut(line, "  ")
	raw, err := hex.DecodeString(digits)
	if !ok || err != nil || len(raw) != 32 || strings.ToLower(digits) != digits {
		return errors.New("must be 64 lower-case hex digits, two spaces and a path")
	}
	*last = [32]byte(raw)
	p.add(*last, name)
	return nil
}

// readList reads a list of values of least to most bytes, such as [0xd4d9bdcd, 0xc01a8c84].
func readList(text, name string, least, most int, add func(value string)) error {
	inner, opened := strings.CutPrefix(text, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !opened || !closed {
		return fmt.Errorf("%s: must be a list, such as [0xd4d9bdcd, 0xc01a8c84]", name)
	}
	for text := range strings.SplitSeq(inner, ",") {
		digits, prefixed := strings.CutPrefix(strings.TrimSpace(text), "0x")
		raw, err := hex.DecodeString(digits)
		if !prefixed || err != nil || len(raw) < least || len(raw) > most {
			return fmt.Errorf("%s: %.80q: must be 0x and the hex digits of %d to %d bytes",
				name, strings.TrimSpace(text), least, most)
		}
		add(string(raw))
	}
	return nil
}

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

// Encode returns the manifest.
func (p *Pins) Encode() []byte {
	out := []byte(pinsHeader + "\n")
	if p.needed > 0 {
		out = fmt.Appendf(out, "auditors: %d of %s\n", p.needed, hexList(p.auditors))
	}
	if len(p.revoked) > 0 {
		out = fmt.Appendf(out, "revoked: %s\n", hexList(p.revoked))
	}
	for _, digest := range p.order {
		out = fmt.Appendf(out, "%x  %s\n", digest, strings.Map(printableRune, p.digests[digest]))
		if selectors := p.blind[digest]; len(selectors) > 0 {
			out = fmt.Appendf(out, "blind: %s\n", hexList(selectors))
		}
	}
	return out
}

// hexList returns what readList reads.
func hexList(values []string) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = fmt.Sprintf("0x%x", value)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// printableRune replaces characters by which a file name could fake lines.
func printableRune(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}
