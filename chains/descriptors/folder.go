package descriptors

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/names"
)

// Options are what a folder is read with.
type Options struct {
	// Pins are the digests that the user trusts. Nil: none.
	Pins *Pins

	// Auditors are the addresses whose attestations count, 0x and 40 hex digits.
	Auditors []string

	// Names supplies tokens and labels. Default: the tokens that are built in.
	Names chains.Names

	// Now is the clock that attestations expire by. Default: time.Now.
	Now func() time.Time
}

// maxFiles bounds a folder.
const maxFiles = 5_000

// Folder is a folder of descriptors that was read. It does not change, and is safe
// for concurrent use: what is done to the files afterwards has no effect.
type Folder struct {
	names    chains.Names
	now      func() time.Time
	files    []*File
	byTarget map[target][]*File
}

// File is one file of a folder that says something of programs.
type File struct {
	Name    string   // its path in the folder
	Digest  [32]byte // SHA-256 of the canonical form (RFC 8785) of what it says, includes merged
	Targets []string // the programs: CAIP-2 id, colon, address
	Trust   string   // on whose word it is used; empty: it is not
	Problem string   // why it is not used, or cannot be read

	expires time.Time // of the attestation; zero: never
	source  source
	typed   bool // it reads typed data, and no calls
}

// source reads the calls of one program.
type source interface {
	// read reads a call; ok is false if it does not know the function.
	read(folder *Folder, call chains.Call, depth int) (reading chains.Reading, ok bool)
}

// Open reads the files of a folder (.json, at any depth). A file that cannot be
// read is listed in Files with its problem; the error is of the folder.
func Open(folder fs.FS, options Options) (*Folder, error) {
	made := &Folder{names: options.Names, now: options.Now, byTarget: map[target][]*File{}}
	if made.names == nil {
		made.names = names.New()
	}
	if made.now == nil {
		made.now = time.Now
	}
	auditors, err := parseAuditors(options.Auditors)
	if err != nil {
		return nil, err
	}
	paths, err := listFiles(folder)
	if err != nil {
		return nil, fmt.Errorf("descriptors: %w", err)
	}
	l := &loader{folder: folder, read: map[string]*document{}, failed: map[string]error{}}
	attested := attestations{}
	for _, name := range paths {
		if path.Base(path.Dir(name)) == "sigs" {
			attested.add(folder, name, auditors, made.now())
		}
	}
	for _, name := range paths {
		if !skipped(name) {
			made.add(l, name, options.Pins, attested)
		}
	}
	return made, nil
}

// skipped reports whether a file of a registry is none that describes programs.
func skipped(name string) bool {
	for _, part := range strings.Split(path.Dir(name), "/") {
		if slices.Contains([]string{"sigs", "tests", "testsv2", "specs", "node_modules"}, part) || strings.HasPrefix(part, ".") && part != "." {
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

// add reads a file.
func (f *Folder) add(l *loader, name string, pins *Pins, attested attestations) {
	file := &File{Name: name}
	loaded, err := l.load(name, nil)
	if err != nil {
		file.Problem = err.Error()
		f.files = append(f.files, file)
		return
	}
	made, targets, err := newSource(loaded.merged)
	switch {
	case err != nil:
		file.Problem = err.Error()
	case len(targets) == 0:
		return // typed data of any contract, or one that other files include
	}
	if err == nil {
		file.Digest, file.source = digestOf(loaded.merged), made
		if of, ok := made.(*descriptor); ok {
			file.typed = of.typed != nil
		}
		file.trust(loaded, pins, attested)
	}
	for _, at := range targets {
		file.Targets = append(file.Targets, at.String())
		f.byTarget[at] = append(f.byTarget[at], file)
	}
	f.files = append(f.files, file)
}

// newSource reads a merged file of any of the kinds.
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
	}
	return newDescriptor(root)
}

// trust says on whose word the file is used. An auditor attests what programs mean, not
// what the network's accounts hold: a lookup table must be pinned.
func (file *File) trust(loaded *document, pins *Pins, attested attestations) {
	if pins.has(file.Digest) {
		file.Trust = "pinned"
		return
	}
	if _, decides := file.source.(*lookupTable); decides {
		file.Problem = "not trusted: pin it"
		return
	}
	var by string
	for i, part := range loaded.files {
		found, ok := attested[attestedHash(part.own)]
		switch {
		case !ok && i == 0:
			file.Problem = "not trusted: pin it, or name an auditor who attests it"
			return
		case !ok:
			file.Problem = "not trusted: it includes " + part.name + ", which no auditor attests: pin it"
			return
		}
		if by = found.auditor; !found.expires.IsZero() && (file.expires.IsZero() || found.expires.Before(file.expires)) {
			file.expires = found.expires
		}
	}
	file.Trust = "attested by " + by
}

// Readable reports whether the file can be used, once it is trusted.
func (file *File) Readable() bool { return file.source != nil }

// Files returns the files that say something of programs, in the order of their
// names.
func (f *Folder) Files() []*File { return f.files }

// Read implements chains.Reader.
func (f *Folder) Read(call chains.Call) (chains.Reading, bool) { return f.readAt(call, 0) }

func (f *Folder) readAt(call chains.Call, depth int) (reading chains.Reading, ok bool) {
	var untrusted *File
	readings := 0
	for _, file := range f.byTarget[target{call.Chain, string(call.To.Address())}] {
		if file.typed != (call.Typed != nil) {
			continue
		}
		if file.Problem != "" || !file.expires.IsZero() && !f.now().Before(file.expires) {
			untrusted = file
			continue
		}
		found, knows := file.source.read(f, call, depth)
		if !knows {
			continue
		}
		found.Source, found.Digest, found.Trust = file.Name, hex.EncodeToString(file.Digest[:]), file.Trust
		if readings++; readings > 1 {
			return chains.Reading{Source: reading.Source + ", " + file.Name, Problem: "two trusted files describe this function: unpin one"}, true
		}
		reading = found
	}
	switch {
	case readings == 1:
		return reading, true
	case untrusted == nil:
		return chains.Reading{}, false
	}
	reading = chains.Reading{Source: untrusted.Name, Problem: untrusted.Problem}
	if reading.Problem == "" {
		reading.Problem = "its attestation has expired"
	}
	return reading, true
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
		return chains.Reading{Problem: "the descriptor holds under a condition on " + d.external + ", which cannot be checked without the network"}, true
	case f.twice:
		return chains.Reading{Problem: "two keys of the descriptor have the selector of " + f.function.Signature}, true
	}
	return d.readBy(folder, f, call, depth), true
}
