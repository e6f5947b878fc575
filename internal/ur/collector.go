package ur

import (
	"errors"
	"slices"
	"strings"
)

// Errors of a collector that concern one code. The next code may be taken.
var (
	// ErrNotUR: the code is something else.
	ErrNotUR = errors.New("this code is no Uniform Resource (ur:…) and no BBQr (B$…)")

	// ErrOtherMessage: the code belongs to another message than those before.
	ErrOtherMessage = errors.New("this code belongs to another message than those before it")
)

// Collector puts a message together from codes in any order. It is for one
// message and not safe for concurrent use.
type Collector struct {
	taken  []string
	kind   string
	parts  *fountain
	series *series
	frames int
	done   *Message
}

// NewCollector makes a collector that takes messages of some types.
func NewCollector(taken ...string) *Collector { return &Collector{taken: taken} }

// Add takes a code that was read. A code that is damaged, of another message or of
// a type that is not taken changes nothing, and is an error: a *TypeError for a
// type that is not taken. After the message is complete nothing is taken.
func (c *Collector) Add(code string) error {
	if c.done != nil {
		return nil
	}
	c.frames++
	if isBBQr(code) {
		return c.addBBQr(code)
	}
	read, err := split(code)
	if err != nil {
		return err
	}
	if err := c.takes(read.kind); err != nil {
		return err
	}
	if c.kind != "" && c.kind != read.kind {
		return ErrOtherMessage
	}
	if len(read.parts) == 1 {
		return c.addWhole(read.kind, read.parts[0])
	}
	return c.addPart(read.kind, read.parts[0], read.parts[1])
}

// cures are types that are refused for a reason.
var cures = map[string]string{
	"keystone-sign-request":  "it describes the transfer anew and leaves out the bytes to sign; send tron-sign-request, or a stamped request",
	"bytes":                  "ur:bytes does not say what it is; send the type of what it holds",
	"eth-batch-sign-request": "send the transactions one by one",
}

func (c *Collector) takes(kind string) error {
	if slices.Contains(c.taken, kind) {
		return nil
	}
	return &TypeError{Seen: kind, Taken: c.taken, Cure: cures[kind]}
}

func (c *Collector) addWhole(kind, words string) error {
	if c.started() {
		return ErrOtherMessage
	}
	data, err := decodeBytewords(words)
	if err != nil {
		return err
	}
	c.done = &Message{kind, data}
	return nil
}

func (c *Collector) started() bool { return c.parts != nil || c.series != nil }

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
	if c.parts.add(p); !c.parts.solver.complete() {
		return nil
	}
	data, err := c.parts.message()
	if err != nil {
		c.kind, c.parts = "", nil // a part that passed its own checksum was wrong
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
	if c.series == nil {
		c.series = newSeries(p)
	}
	if err := c.series.add(p); err != nil || !c.series.complete() {
		return err
	}
	data, err := c.series.message()
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

// Message returns the message, if it is complete. What a message of TypeJSON holds
// is the text and not CBOR.
func (c *Collector) Message() (Message, bool) {
	if c.done == nil {
		return Message{}, false
	}
	return *c.done, true
}

// Progress is how far a message is.
type Progress struct {
	Type   string // empty before the first code that was taken
	Have   int    // independent parts
	Parts  int    // needed
	Frames int    // codes read, also those that were not taken
}

// Progress returns how far the message is.
func (c *Collector) Progress() Progress {
	p := Progress{Type: c.kind, Frames: c.frames}
	switch {
	case c.done != nil && !c.started():
		p.Type, p.Have, p.Parts = c.done.Type, 1, 1
	case c.series != nil:
		p.Type, p.Have, p.Parts = c.series.kind, c.series.have, len(c.series.parts)
	case c.parts != nil:
		p.Have, p.Parts = c.parts.solver.rank, len(c.parts.solver.rows)
	}
	return p
}

// Looks reports whether a text looks like a code that a collector takes.
func Looks(text string) bool {
	return isBBQr(text) || len(text) >= len(scheme) && strings.EqualFold(text[:len(scheme)], scheme)
}
