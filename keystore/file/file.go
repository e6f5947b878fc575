package file

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// Where to find what: this file has look-ups; load.go reads key files, known.go holds what was read,
// and changes.go follows other processes. lock.go takes turns among writers, which are add.go,
// life.go (rename, disable), remove.go (delete, archive, restore), wallet.go and discover.go. The
// formats are in keyfile.go, keyfile_read.go, metadata.go, wallet_file.go and identity.go. disk.go is
// the file system, which tests replace.

// Store is a keystore.Keystore over a directory. Create and Open return one.
type Store struct {
	contents

	// mu is held while writing, and while taking in what other processes have written.
	mu       sync.Mutex
	closed   bool
	lastTurn turn // what this Store left behind as a writer
}

// contents is what is known of the files of keys and wallets.
type contents struct {
	folder
	index    software.Index
	owners   map[string]string // organization id of each file that was read, by key or wallet id
	parked   parked
	wallets  map[string]*knownWallet // by id
	accounts map[string]string       // wallet id by key id
	bad      map[string]badFile      // by file name
	names    map[string]named        // see namesOf
	missed   bool                    // this turn wrote a file that is not in the index

	// settled is the modification time of keys/ in nanoseconds if all its files have been
	// read and any later change must give it another time; otherwise 0.
	settled atomic.Int64

	// followed is the version of the file changes that was last read.
	followed atomic.Pointer[version]
}

// folder is the directory of a keystore, and the identity that its files are encrypted to.
type folder struct {
	dir      string
	options  Options
	disk     disk
	root     directory
	keysRoot directory // its keys/
	identity *identity
	sealer   *sealer
	registry *registry
}

var (
	_ keystore.Keystore  = (*Store)(nil)
	_ keystore.Skipper   = (*Store)(nil)
	_ keystore.Refresher = (*Store)(nil)
	_ keystore.Generator = (*Store)(nil)
	_ keystore.Importer  = (*Store)(nil)
	_ keystore.Exporter  = (*Store)(nil)
)

const (
	identityName = "identity.age"
	keysName     = "keys"
	keySuffix    = ".age"
)

func newStore(on disk, dir string, options Options) *Store {
	s := &Store{contents: contents{
		folder: newFolder(on, dir, options),
		owners: map[string]string{}, wallets: map[string]*knownWallet{}, accounts: map[string]string{}, bad: map[string]badFile{}, names: map[string]named{},
	}}
	s.followed.Store(&version{})
	return s
}

func newFolder(on disk, dir string, options Options) folder {
	return folder{dir: dir, options: options.withDefaults(), disk: on, registry: &registry{}}
}

// close destroys the keys of the folder and closes its directories.
func (f *folder) close() (err error) {
	if f.sealer != nil {
		f.sealer.macKey.Destroy()
	}
	f.registry.close()
	f.identity, f.sealer = nil, nil
	for _, root := range []directory{f.root, f.keysRoot} {
		if root != nil {
			err = errors.Join(err, root.Close())
		}
	}
	return err
}

// errorf adds the keystore and the operation to an error, unless it lists bad files.
func (f *folder) errorf(operation string, err error) error {
	if _, ok := errors.AsType[*BadFilesError](err); ok {
		return err
	}
	return fmt.Errorf("file keystore %s: %s: %w", f.dir, operation, err)
}

// fileError adds the path of a file in the directory to an error.
func (f *folder) fileError(err error, elem ...string) *Error {
	// os.Root names only the path below the root.
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return &Error{Path: filepath.Join(append([]string{f.dir}, elem...)...), Err: err}
}

// badFile is a key file that could not be loaded. A file that was read and refused is
// read again only when it changes; a file that could not be read is tried every time.
type badFile struct {
	err *Error
	version
	mode fs.FileMode
}

// isFinal reports whether the file was read and refused.
func (b badFile) isFinal() bool {
	for _, final := range []error{ErrNotAuthentic, ErrMalformed, ErrPermissions, keystore.ErrKeyExists} {
		if errors.Is(b.err, final) {
			return true
		}
	}
	return false
}

// loaded is a file that was read: its content, or the error.
type loaded struct {
	name string
	content
	version version
	err     error
}

// version distinguishes one version of a file from the next.
type version struct {
	size     int64
	modified time.Time
}

func versionOf(info fs.FileInfo) version { return version{info.Size(), info.ModTime()} }

// turn is what a writer leaves behind: the modification times of the lock file, which
// every writer sets to its clock, and of the directory of keys. If this Store's next turn
// finds both unchanged, no other writer came in between, and there is nothing to read:
// adding n keys one after the other lists the directory once rather than n times.
type turn struct{ lock, directory time.Time }

// knownWallet is a wallet whose file was read, without its secret.
type knownWallet struct {
	Wallet
	organizationID string
	version        version
}

// named are the ids of an organization's keys by their names, which new keys must not have:
// policies name keys by them. Names of earlier versions may not be unique.
type named map[string]string

// check refuses the name of a key if another one has it. Accounts of wallets without a name are
// called by their path alone.
func (n named) check(info keystore.KeyInfo) error {
	if holder := n[info.Name]; info.Name != "" && !strings.HasPrefix(info.Name, "m/") && holder != "" && holder != info.ID {
		return fmt.Errorf("%w: %q is the name of key %s: choose another, since policies name keys by it", ErrName, info.Name, holder)
	}
	return nil
}

// take gives a key its name.
func (n named) take(info keystore.KeyInfo) error {
	if err := n.check(info); err != nil {
		return err
	}
	n[info.Name] = info.ID
	return nil
}
