package lines

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestBufferWiped checks that each line is gone from the buffer when the next is read, and
// all are at the end. Lines of a bulk import are secrets.
func TestBufferWiped(t *testing.T) {
	const secret = "4c0883a69102937d6231471b5dbb6204"
	text := strings.Repeat(`{"privateKey":"`+secret+"\"}\n", 20)
	for name, in := range map[string]io.Reader{
		"at once":         strings.NewReader(text),
		"byte by byte":    iotest.OneByteReader(strings.NewReader(text)),
		"with the error":  iotest.DataErrReader(strings.NewReader(text)),
		"without its end": strings.NewReader(strings.TrimSuffix(text, "\n")),
	} {
		reader := &wipingReader{in: in, buffer: make([]byte, 200)}
		lines := 0
		for {
			part, err := reader.readPart()
			if err != nil && len(part) == 0 {
				break
			}
			if lines++; !bytes.Contains(part, []byte(secret)) {
				t.Errorf("%s: line %d is %q", name, lines, part)
			}
			unread := bytes.Count(reader.buffer[reader.begin:reader.end], []byte(secret))
			if left := bytes.Count(reader.buffer, []byte(secret)); left > unread+1 {
				t.Errorf("%s: after line %d the buffer has %d secrets, want the last line's and %d to come", name, lines, left, unread)
			}
		}
		reader.wipe()
		if lines != 20 || bytes.Contains(reader.buffer, []byte(secret[:8])) {
			t.Errorf("%s: %d lines, and the buffer has %q", name, lines, reader.buffer)
		}
	}
}
