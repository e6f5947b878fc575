package ur

import "fmt"

// part is one code of a sequence:
//
//	[number: uint32, count: uint, message length: uint, CRC-32 of the message: uint32, data: bytes]
//
// data is the XOR of some of the message's fragments, all of one length; the last
// one is padded with zeros.
type part struct {
	_        struct{} `cbor:",toarray"`
	Number   uint32
	Count    uint32
	Length   uint32
	Checksum uint32
	Data     []byte
}

// sameMessage reports whether two parts belong to the same message.
func (p *part) sameMessage(q *part) bool {
	return p.Count == q.Count && p.Length == q.Length && p.Checksum == q.Checksum && len(p.Data) == len(q.Data)
}

func (p *part) check() error {
	switch {
	case p.Length == 0 || p.Length > MaxMessage:
		return fmt.Errorf("a message of %d bytes: at most %d are taken", p.Length, MaxMessage)
	case p.Count == 0 || p.Count > MaxParts:
		return fmt.Errorf("a message of %d parts: at most %d are taken", p.Count, MaxParts)
	case len(p.Data) == 0 || (int(p.Length)+len(p.Data)-1)/len(p.Data) != int(p.Count):
		return fmt.Errorf("%d parts of %d bytes do not make a message of %d", p.Count, len(p.Data), p.Length)
	case p.Number == 0:
		return fmt.Errorf("part 0: parts are numbered from 1")
	}
	return nil
}

// decodePart reads the sequence, NUMBER-COUNT, and the bytewords of a part.
func decodePart(sequence, words string) (*part, error) {
	data, err := decodeBytewords(words)
	if err != nil {
		return nil, err
	}
	var p part
	if err := unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("part %q: %w", shorten(sequence), err)
	}
	if want := fmt.Sprintf("%d-%d", p.Number, p.Count); sequence != want {
		return nil, fmt.Errorf("part %q contains %s", shorten(sequence), want)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("part %s: %w", sequence, err)
	}
	return &p, nil
}

// text returns the part as a code, in lower case.
func (p *part) text(kind string) string {
	return fmt.Sprintf("%s%s/%d-%d/%s", scheme, kind, p.Number, p.Count, appendBytewords(nil, marshal(p)))
}
