package descriptors

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
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

// Open reads the .json files of a folder, at any depth. A file that cannot be read is
// listed in Files with its problem. An error concerns the whole folder.
func Open(folder fs.FS, options Options) (*Folder, error) {
	f := &Folder{names: options.Names, byTarget: map[target][]*File{}}
	if f.names == nil {
		f.names = names.New()
	}
	pins := cmp.Or(options.Pins, &Pins{})
	paths, err := listFiles(folder)
	if err != nil {
		return nil, fmt.Errorf("descriptors: %w", err)
	}
	l := &loader{folder: folder, read: map[string]object{}, failed: map[string]error{}}
	if pins.needed > 0 {
		l.auditors = l.attested(paths, pins)
	}
	for _, name := range paths {
		if !skipped(name) {
			f.add(l, name, pins)
		}
	}
	return f, nil
}

// skipped reports whether a file of a registry does not describe programs.
func skipped(name string) bool {
	for element := range strings.SplitSeq(path.Dir(name), "/") {
		if slices.Contains([]string{"sigs", "tests", "testsv2", "specs", "node_modules"}, element) ||
			strings.HasPrefix(element, ".") && element != "." {
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
		file.Digest, file.source = sha256.Sum256(canonical(root)), source
		if d, ok := source.(*descriptor); ok {
			file.typed = d.typed != nil
		}
		_, pinned := pins.digests[file.Digest]
		switch {
		case pinned:
			file.trust(l, root, pins.needed)
		case slices.Contains(slices.Collect(maps.Values(pins.digests)), strings.Map(printableRune, name)):
			file.Problem = "not trusted: it, or a file that it includes, has changed since it was pinned: " +
				"read it before you pin it"
		default:
			file.Problem = "not trusted: pin it"
		}
		file.blind = pins.blind[file.Digest]
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

// trust sets why a pinned file is trusted, or what a descriptor of ERC-7730 lacks.
func (file *File) trust(l *loader, root object, needed int) {
	var auditors []evm.Address
	if _, ok := file.source.(*descriptor); ok && root["abi"] == nil && needed > 0 {
		if auditors = l.auditors[attestedHash(root)]; len(auditors) < needed {
			file.Problem = fmt.Sprintf("attested by %d of the %d auditors that the pins ask for: "+
				"a folder sigs must have attestations (ERC-8176) of this content that are neither expired nor revoked",
				len(auditors), needed)
			return
		}
	}
	file.Trust = "pinned"
	for i, auditor := range auditors {
		file.Trust += [2]string{", attested by ", " and "}[min(i, 1)] + auditor.String()
	}
}

// newSource reads a merged file of any kind.
func newSource(root object) (source, []target, error) {
	switch {
	case root["abi"] != nil:
		return newABI(root)
	case root["kind"] == "rootNode":
		return newCodama(root)
	case root["instructions"] != nil:
		a := &anchor{}
		metadata, _ := root["metadata"].(object)
		if spec, _ := metadata["spec"].(string); spec != "0.1.0" {
			a.fail("metadata.spec %.16q: must be 0.1.0, the specification of Anchor 0.30 and later", spec)
		}
		address := a.address(root, "address", "address")
		var name string
		a.in("", "metadata", func() { name = a.text(metadata, "name") })
		a.definitions = a.objects(root, "types")
		return a.program(name, address, a.objects(root, "instructions"), a.instruction)
	case root["lookupTableAddress"] != nil:
		return newListedTable(root)
	case root["pubkey"] != nil:
		return newTableAccount(root)
	case root["texts"] != nil:
		return newTexts(root)
	}
	return newDescriptor(root)
}

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
