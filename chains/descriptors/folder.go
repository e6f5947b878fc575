package descriptors

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/internal/evm"
)

// Options configure Open.
type Options struct {
	// Pins are the digests that the user trusts. Nil means none.
	Pins *Pins

	// Names supplies tokens and labels. Default: none.
	Names chains.Names
}

// maxFiles bounds the number of files of a folder.
const maxFiles = 5_000

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

// Open reads the .json files of a folder, at any depth. A file that cannot be read is
// listed in Files with its problem. An error concerns the whole folder.
func Open(folder fs.FS, options Options) (*Folder, error) {
	f := &Folder{names: options.Names, byTarget: map[target][]*File{}}
	if f.names == nil {
		f.names = names.New()
	}
	paths, err := listFiles(folder)
	if err != nil {
		return nil, fmt.Errorf("descriptors: %w", err)
	}
	l := &loader{folder: folder, read: map[string]object{}, failed: map[string]error{}}
	for _, name := range paths {
		if !skipped(name) {
			f.add(l, name, options.Pins)
		}
	}
	return f, nil
}

// skipped reports whether a file of a registry does not describe programs.
func skipped(name string) bool {
	for element := range strings.SplitSeq(path.Dir(name), "/") {
		if slices.Contains([]string{"sigs", "tests", "testsv2", "specs", "node_modules"}, element) || strings.HasPrefix(element, ".") && element != "." {
			return true
		}
	}
	return strings.HasPrefix(path.Base(name), "index.")
}

func listFiles(folder fs.FS) (paths []string, err error) {
	err = fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Type().IsRegular() && strings.HasSuffix(name, ".json"):
			if paths = append(paths, name); len(paths) > maxFiles {
				return fmt.Errorf("more than %d files", maxFiles)
			}
		}
		return nil
	})
	return paths, err
}

// add reads a file and adds it to the folder.
func (f *Folder) add(l *loader, name string, pins *Pins) {
	file := &File{Name: name}
	root, err := l.load(name, nil)
	if err != nil {
		file.Problem = err.Error()
		f.files = append(f.files, file)
		return
	}
	source, targets, err := newSource(root)
	switch {
	case err != nil:
		file.Problem = err.Error()
	case len(targets) == 0:
		return // typed data of any contract, or a file that others include
	default:
		file.Digest, file.source = digestOf(root), source
		if d, ok := source.(*descriptor); ok {
			file.typed = d.typed != nil
		}
		file.trust(pins)
		file.blind = pins.blindOf(file.Digest)
	}
	for _, t := range targets {
		if slices.Contains(f.byTarget[t], file) {
			continue // the file has the target twice
		}
		file.Targets = append(file.Targets, t.String())
		f.byTarget[t] = append(f.byTarget[t], file)
	}
	f.files = append(f.files, file)
}

// newSource reads a merged file of any kind.
func newSource(root object) (source, []target, error) {
	switch {
	case root["abi"] != nil:
		return newABI(root)
	case root["kind"] == "rootNode":
		return newCodama(root)
	case root["instructions"] != nil:
		return newAnchor(root)
	case root["lookupTableAddress"] != nil:
		return newListedTable(root)
	case root["pubkey"] != nil:
		return newTableAccount(root)
	case root["texts"] != nil:
		return newTexts(root)
	}
	return newDescriptor(root)
}

// trust sets why the file is trusted, or its problem.
func (file *File) trust(pins *Pins) {
	switch {
	case pins.has(file.Digest):
		file.Trust = "pinned"
	case pins.names(file.Name):
		file.Problem = "not trusted: it, or a file that it includes, has changed since it was pinned: read it before you pin it"
	default:
		file.Problem = "not trusted: pin it"
	}
}

// Readable reports whether the file can be used if it is trusted.
func (file *File) Readable() bool { return file.source != nil }

// Files returns the files that describe programs or lookup tables, sorted by name.
func (f *Folder) Files() []*File { return f.files }

// Read implements chains.Reader.
func (f *Folder) Read(call chains.Call) (chains.Reading, bool) {
	if call.Text != "" {
		return f.readText(call.Text)
	}
	reading, ok := f.readAt(call, 0)
	if call.Typed == nil && call.Value != nil && call.Value.Sign() > 0 && evm.PlainData(call.Data) && !reading.Complete {
		described := f.byTarget[target{call.Chain, string(call.To.Address())}]
		for _, file := range f.files {
			if d, _ := file.source.(*descriptor); d != nil && (d.formats[[4]byte(call.Data)] != nil || slices.Contains(described, file)) {
				reading.Source, reading.Blind, ok = file.Name, "ethereum/"+evm.BlindCall, true
				reading.Problem = cmp.Or(reading.Problem,
					"the data may be a call: the file describes the contract, or a function with its first four bytes")
			}
		}
	}
	return reading, ok
}

func (f *Folder) readAt(call chains.Call, depth int) (reading chains.Reading, ok bool) {
	var untrusted *File
	readings := 0
	for _, file := range f.byTarget[target{call.Chain, string(call.To.Address())}] {
		if file.typed != (call.Typed != nil) {
			continue
		}
		if file.Problem != "" {
			untrusted = file
			continue
		}
		read, known := file.source.read(f, call, depth)
		if !known {
			continue
		}
		file.keepBlind(call, &read)
		read.Source, read.Digest, read.Trust = file.Name, hex.EncodeToString(file.Digest[:]), file.Trust
		if readings++; readings > 1 {
			return chains.Reading{Source: reading.Source + ", " + file.Name, Problem: "two trusted files describe this function: unpin one"}, true
		}
		reading = read
	}
	switch {
	case readings == 1:
		return reading, true
	case untrusted == nil:
		return chains.Reading{}, false
	}
	return chains.Reading{Source: untrusted.Name, Problem: untrusted.Problem}, true
}

// read implements source.
func (d *descriptor) read(folder *Folder, call chains.Call, depth int) (chains.Reading, bool) {
	if call.Typed != nil {
		return d.readTyped(folder, call, depth)
	}
	if len(call.Data) < 4 {
		return chains.Reading{}, false
	}
	f := d.formats[[4]byte(call.Data)]
	switch {
	case f == nil:
		return chains.Reading{}, false
	case d.external != "":
		return chains.Reading{Problem: "the descriptor depends on " + d.external + ", which cannot be checked offline"}, true
	case f.twice:
		return chains.Reading{Problem: "two keys of the descriptor have the selector of " + f.function.Signature}, true
	}
	return d.readBy(folder, f, call, depth), true
}
