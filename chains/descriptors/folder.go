package descriptors

import (
	"github.com/countersign-dev/countersign/chains"
)

// Folder is a folder of descriptors that was read. Later changes of the files have no
// effect. A Folder is safe for concurrent use.
type Folder struct {
	names    chains.Names
	files    []*File
	byTarget map[target][]*File
}

// File is a file of a folder that describes programs, lookup tables or texts.
type File struct {
	Name    string   // its path in the folder
	Digest  [32]byte // SHA-256 of the canonical form (RFC 8785) of its content with includes merged
	Targets []string // the programs: CAIP-2 id, colon, address; the domains of texts
	Trust   string   // why it is trusted; empty if it is not
	Problem string   // why it is not used

	blind  []string // what calls begin with that the pin keeps blind
	source source
	typed  bool // it reads typed data instead of calls
}

// source reads the calls of one program.
type source interface {
	// read reads a call. ok is false if the source does not know the function.
	read(folder *Folder, call chains.Call, depth int) (reading chains.Reading, ok bool)
}

// noCalls is embedded by sources that read no calls.
type noCalls struct{}

func (noCalls) read(*Folder, chains.Call, int) (reading chains.Reading, ok bool) {
	return reading, false
}

// Readable reports whether the file can be used if it is trusted.
func (file *File) Readable() bool { return file.source != nil }

// Files returns the files that describe programs or lookup tables, sorted by name.
func (f *Folder) Files() []*File { return f.files }
