package lines

import (
	"bytes"
	"errors"
	"io"
)

// bufferSize is the size of the read buffer, in bytes.
const bufferSize = 64 << 10

// errPart means that the line continues.
var errPart = errors.New("a part of a line")

// wipingReader reads lines in parts, like bufio.Reader, but wipes its buffer, because lines
// may be secrets.
type wipingReader struct {
	in          io.Reader
	buffer      []byte
	begin, end  int // bounds of the bytes that were read but not yet returned
	given       int // start of the part returned last, which ends at begin
	readError   error
	emptyRounds int
}

// readPart returns the rest of a line with its newline, or with errPart as much of it as fits
// into the buffer. It overwrites the part returned before. The last line may lack its
// newline, and is returned with the error of the reader.
func (r *wipingReader) readPart() ([]byte, error) {
	clear(r.buffer[r.given:r.begin])
	r.given = r.begin
	for searched := 0; ; {
		if i := bytes.IndexByte(r.buffer[r.begin+searched:r.end], '\n'); i >= 0 {
			return r.give(searched + i + 1), nil
		}
		searched = r.end - r.begin
		switch {
		case r.readError != nil:
			return r.give(searched), r.readError
		case searched == len(r.buffer):
			return r.give(searched), errPart
		}
		r.fill()
	}
}

func (r *wipingReader) give(size int) []byte {
	part := r.buffer[r.begin : r.begin+size]
	r.begin += size
	return part
}

// fill moves the unread bytes to the front, wipes the rest of the buffer, and reads more.
func (r *wipingReader) fill() {
	const maxEmptyRounds = 100
	r.end = copy(r.buffer, r.buffer[r.begin:r.end])
	r.begin, r.given = 0, 0
	clear(r.buffer[r.end:])
	read, err := r.in.Read(r.buffer[r.end:])
	r.end += read
	if r.emptyRounds++; read > 0 {
		r.emptyRounds = 0
	}
	if r.readError = err; err == nil && r.emptyRounds == maxEmptyRounds {
		r.readError = io.ErrNoProgress
	}
}

func (r *wipingReader) wipe() { clear(r.buffer) }
