package ur

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Errors of Collector.Add that concern a single code: the next one may be accepted.
var (
	// ErrNotUR: the code is neither a Uniform Resource nor BBQr.
	ErrNotUR = errors.New("this code is neither a Uniform Resource (ur:…) nor BBQr (B$…)")

	// ErrOtherMessage: the code belongs to another message than the ones before.
	ErrOtherMessage = errors.New("this code belongs to another message than the ones before")
)

// Collector reassembles one message from codes in any order. It is not safe for concurrent use.
type Collector struct {
	taken  []string
	kind   string
	parts  *fountain
	series *series
	frames int
	done   *Message
}

// NewCollector returns a collector that accepts messages of the given types.
func NewCollector(taken ...string) *Collector { return &Collector{taken: taken} }

// Add adds a code. A code that is damaged, or of another message or type, is an error
// and changes nothing; the error for a type that is not accepted is a *TypeError. Once
// the message is complete, Add ignores further codes.
func (c *Collector) Add(code string) error {
	if c.done != nil {
		return nil
	}
	c.frames++
	if strings.HasPrefix(code, bbqrMagic) {
		return c.addBBQr(code)
	}
	if err := otherForm(code); err != nil {
		return err
	}
	read, err := split(code)
	if err != nil {
		return err
	}
	if err := c.takes(read.kind); err != nil {
		return err
	}
	if c.series != nil || c.kind != "" && c.kind != read.kind {
		return ErrOtherMessage
	}
	if len(read.parts) == 2 {
		return c.addPart(read.kind, read.parts[0], read.parts[1])
	}
	if c.parts != nil {
		return ErrOtherMessage
	}
	data, err := decodeBytewords(read.parts[0])
	if err == nil {
		c.done = &Message{read.kind, data}
	}
	return err
}

var (
	specterPart = regexp.MustCompile(`^p[0-9]+of[0-9]+ `)
	bytesV1     = regexp.MustCompile(`(?i)^ur:bytes/[0-9]+of[0-9]+/`)
)

func otherForm(code string) error {
	const cure = "show the PSBT as ur:psbt, ur:crypto-psbt or BBQr, or pass it as a file"
	switch {
	case specterPart.MatchString(code):
		return fmt.Errorf("%w: it is a part in Specter's form (p1of3 …): %s", ErrNotUR, cure)
	case bytesV1.MatchString(code):
		return fmt.Errorf("%w: it is version 1 of Uniform Resources (bc-ur v1): %s", ErrNotUR, cure)
	case strings.HasPrefix(code, "cHNidP"):
		return fmt.Errorf("%w: it is a PSBT in base64: %s", ErrNotUR, cure)
	case strings.HasPrefix(strings.ToLower(code), "70736274ff"):
		return fmt.Errorf("%w: it is a PSBT in hex: %s", ErrNotUR, cure)
	}
	return nil
}

// cures says what to send instead of some types.
var cures = map[string]string{
	"keystone-sign-request":  "it describes the transfer without the bytes to sign; send tron-sign-request, or a stamped request",
	"bytes":                  "ur:bytes does not say what it contains; send the type of its content",
	"eth-batch-sign-request": "send the transactions one by one",
}

func (c *Collector) takes(kind string) error {
	if slices.Contains(c.taken, kind) {
		return nil
	}
	return &TypeError{Seen: kind, Taken: c.taken, Cure: cures[kind]}
}

func (c *Collector) addPart(kind, sequence, words string) error {
	p, err := decodePart(sequence, words)
	if err != nil {
		return err
	}
	if c.parts == nil {
		c.kind, c.parts = kind, newFountain(p)
	}
	if !c.parts.first.sameMessage(p) {
		return ErrOtherMessage
	}
	if c.parts.add(p); c.parts.solver.rank < len(c.parts.solver.rows) {
		return nil
	}
	data, err := c.parts.message()
	if err != nil {
		c.kind, c.parts = "", nil // a part was wrong, though its own checksum matched
		return err
	}
	c.done = &Message{kind, data}
	return nil
}

func (c *Collector) addBBQr(code string) error {
	p, err := readBBQr(code)
	if err != nil {
		return err
	}
	if err := c.takes(p.kind); err != nil {
		return err
	}
	if c.kind != "" {
		return ErrOtherMessage
	}
	codes := c.series
	if codes == nil {
		codes = &series{kind: p.kind, encoding: p.encoding, parts: make([][]byte, p.count)}
	}
	if err := codes.add(p); err != nil {
		return err
	}
	c.series = codes
	if codes.have < len(codes.parts) {
		return nil
	}
	data, err := codes.message()
	if err != nil {
		c.series = nil
		return err
	}
	if p.kind == TypePSBT {
		data = marshal(data)
	}
	c.done = &Message{p.kind, data}
	return nil
}

// Message returns the message if it is complete. For TypeJSON, its CBOR field has the
// JSON text instead.
func (c *Collector) Message() (Message, bool) {
	if c.done == nil {
		return Message{}, false
	}
	return *c.done, true
}

// Progress says how much of a message has been collected.
type Progress struct {
	Type   string // empty until a code has been accepted
	Have   int    // independent parts
	Parts  int    // needed
	Frames int    // codes read, including refused ones
}

// Progress returns how much of the message has been collected.
func (c *Collector) Progress() Progress {
	p := Progress{Type: c.kind, Frames: c.frames}
	switch {
	case c.series != nil:
		p.Type, p.Have, p.Parts = c.series.kind, c.series.have, len(c.series.parts)
	case c.parts != nil:
		p.Have, p.Parts = c.parts.solver.rank, len(c.parts.solver.rows)
	case c.done != nil:
		p.Type, p.Have, p.Parts = c.done.Type, 1, 1
	}
	return p
}
