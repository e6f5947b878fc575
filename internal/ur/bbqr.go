package ur

import (
	"bytes"
	"compress/flate"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A code of BBQr (bbqr.org) is
//
//	B$ ‖ encoding ‖ file type ‖ count (2 digits, base 36) ‖ index (2, from 0) ‖ data
//
// encoding is H (hex), 2 (base32 without padding) or Z (raw deflate, then base32).
const (
	bbqrMagic  = "B$"
	bbqrHeader = 8
)

var bbqrTypes = map[byte]string{'P': TypePSBT, 'J': TypeJSON}

type bbqrPart struct {
	kind     string
	encoding byte
	count    int
	index    int
	data     string
}

func readBBQr(code string) (*bbqrPart, error) {
	if len(code) <= bbqrHeader || len(code) > MaxText {
		return nil, fmt.Errorf("a BBQr code of %d characters: expected %d to %d", len(code), bbqrHeader+1, MaxText)
	}
	count, countErr := base36(code[4:6])
	index, indexErr := base36(code[6:8])
	p := &bbqrPart{bbqrTypes[code[3]], code[2], count, index, code[bbqrHeader:]}
	switch {
	case errors.Join(countErr, indexErr) != nil || index >= count:
		return nil, fmt.Errorf("BBQr header %q: expected a count and an index below it, in base 36", code[:bbqrHeader])
	case !strings.ContainsRune("H2Z", rune(p.encoding)):
		return nil, fmt.Errorf("BBQr encoding %q: H, 2 and Z are known", p.encoding)
	case p.kind == "":
		p.kind = "bbqr-" + strings.ToLower(strings.ToValidUTF8(code[3:4], "?"))
	}
	return p, nil
}

// base36 parses two digits: 0 to 9 and upper-case letters.
func base36(digits string) (int, error) {
	if digits != strings.ToUpper(digits) {
		return 0, strconv.ErrSyntax
	}
	value, err := strconv.ParseUint(digits, 36, 16)
	return int(value), err //nolint:gosec // below 1,296
}

type series struct {
	kind     string
	encoding byte
	parts    [][]byte
	have     int
	size     int
}

func (s *series) add(p *bbqrPart) error {
	if p.kind != s.kind || p.encoding != s.encoding || p.count != len(s.parts) {
		return ErrOtherMessage
	}
	decode := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString
	if p.encoding == 'H' {
		decode = hex.DecodeString
	}
	data, err := decode(p.data) // a byte never spans two codes
	if err != nil {
		return fmt.Errorf("BBQr code %d of %d: %w", p.index+1, p.count, err)
	}
	if previous := s.parts[p.index]; previous != nil {
		if !bytes.Equal(previous, data) {
			return ErrOtherMessage
		}
		return nil
	}
	if s.size+len(data) > MaxMessage {
		return fmt.Errorf("a message of more than %d bytes", MaxMessage)
	}
	s.parts[p.index] = bytes.Clone(data) // without the room that decoding took
	s.have++
	s.size += len(data)
	return nil
}

// message joins the codes and inflates them, to at most MaxMessage bytes.
func (s *series) message() ([]byte, error) {
	whole := bytes.Join(s.parts, nil)
	if s.encoding != 'Z' {
		return whole, nil
	}
	in := bytes.NewReader(whole)
	inflated, err := io.ReadAll(io.LimitReader(flate.NewReader(in), MaxMessage+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("BBQr: inflate: %w", err)
	case len(inflated) > MaxMessage:
		return nil, fmt.Errorf("BBQr: a message of more than %d bytes", MaxMessage)
	case in.Len() > 0:
		return nil, fmt.Errorf("BBQr: %d bytes after the end", in.Len())
	}
	return inflated, nil
}
