package deployment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/harden"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// NewKeystoreWork is the scrypt work factor of new keystores; 0 is the default of
// package file. Tests set a cheap one.
var NewKeystoreWork int

func (f *KeystoreFlags) checkDirectory() error {
	_, _, err := f.Directory()
	return err
}

// Directory returns the directory that --keystore or the configuration names, and whether bad files in
// it are to be skipped.
func (f *KeystoreFlags) Directory() (dir string, skipBad bool, err error) {
	if err := f.Resolve(); err != nil {
		return "", false, err
	}
	scheme, rest, found := strings.Cut(f.uri, ":")
	dir, skipBad, isFile := config.KeystoreDirectory(f.uri)
	switch {
	case f.uri == "":
		return "", false, console.Usagef("--keystore is missing: name one, such as --keystore file:keys, or a configuration with --config")
	case !found:
		return "", false, console.Usagef("%s %q has no scheme: for a directory write file:%s", f.named(), f.uri, f.uri)
	case f.pinFile != "":
		return "", false,
			console.Usagef("--pin-file goes with pkcs11:…: a directory has a passphrase, in the file that --passphrase-file names")
	case !isFile:
		return "", false, console.Usagef("%s: unknown scheme %q: use file:DIR or pkcs11:…", f.named(), scheme)
	}
	if after, isURL := strings.CutPrefix(rest, "//"); isURL && !strings.HasPrefix(after, "/") {
		return "", false, console.Usagef("%s %q names a host: write file:DIR or file:///DIR", f.named(), f.uri)
	}
	switch {
	case dir == "":
		return "", false, console.Usagef("%s file: names no directory: write file:DIR", f.named())
	case strings.Contains(filepath.Base(dir), "?"):
		return "", false, console.Usagef("%s %q: the only option of a directory is %s", f.named(), f.uri, config.SkipBadFiles)
	}
	return filepath.Clean(dir), skipBad, nil
}

// openDirectory opens a file keystore. If there is none and the command may create it, it does.
func (f *KeystoreFlags) openDirectory(cmd *cobra.Command) (keystore.Keystore, error) {
	dir, skipBad, err := f.Directory()
	if err != nil {
		return nil, err
	}
	present, err := isKeystore(dir)
	if err != nil {
		return nil, err
	}
	isNewOnly := len(f.recovery) > 0 || f.postQuantum
	switch {
	case !present && !f.mayCreate:
		return nil, noKeystore(dir)
	case present && isNewOnly:
		return nil,
			console.Usagef("there is a keystore in %s already: --recovery and --post-quantum are for a new one; "+
				"move the keys there with 'countersign keys export --all' and 'import --jsonl'", dir)
	}
	passphrase, err := f.Passphrase(cmd.Context(), !present)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(passphrase)
	if !present {
		store, err := file.Create(dir, passphrase, file.Options{Recovery: f.recovery, PostQuantum: f.postQuantum,
			WorkFactor: NewKeystoreWork, Judge: f.judge(cmd.Context(), cmd.ErrOrStderr())})
		if err == nil {
			fmt.Fprintf(cmd.ErrOrStderr(),
				"Created a keystore in %s. Without its passphrase the keys in it are lost: keep both in more than one place.\n", dir)
			return store, nil
		}
		if !errors.Is(err, fs.ErrExist) || isNewOnly { // otherwise another process has just created it
			return nil, err
		}
	}
	return f.openFile(cmd.Context(), cmd.ErrOrStderr(), dir, skipBad, passphrase)
}

func (f *KeystoreFlags) openFile(ctx context.Context, stderr io.Writer, dir string, skipBad bool, passphrase []byte) (*file.Store, error) {
	bar := console.NewProgressOf(stderr, "Opening the keystore", time.Now().Add(console.ProgressAfter))
	store, err := file.Open(ctx, dir, passphrase, file.Options{
		SkipInvalid: skipBad, Logger: f.Log, OnDisabled: f.onDisabled(stderr), OnRead: bar.Set, WorkFactor: NewKeystoreWork,
		Judge: f.judge(ctx, stderr),
	})
	bar.Finish()
	if errors.Is(err, context.Canceled) {
		return nil, terminal.ErrInterrupted
	}
	if bad, ok := errors.AsType[*file.BadFilesError](err); ok {
		return nil, &badFiles{bad}
	}
	if err != nil {
		return nil, err
	}
	if f.Log == nil { // else the keystore has logged them
		for _, bad := range store.Skipped() {
			fmt.Fprintf(stderr, "Left out: %s\n", console.CleanText(bad.Error()))
		}
	}
	return store, nil
}

// badFiles says how the command leaves bad files out.
type badFiles struct{ *file.BadFilesError }

func (e *badFiles) Error() string {
	return strings.Replace(e.BadFilesError.Error(), "(Options.SkipInvalid)", "with "+config.SkipBadFiles+
		" at the end of the keystore's URI", 1)
}

func (e *badFiles) Unwrap() error { return e.BadFilesError }

// onDisabled returns a callback that tells the operator why a key is not found. A server
// logs it instead.
func (f *KeystoreFlags) onDisabled(stderr io.Writer) func(keystore.KeyInfo) {
	if f.Log != nil {
		return nil
	}
	return func(info keystore.KeyInfo) {
		fmt.Fprintf(stderr, "Key %s is disabled: 'countersign keys enable %s' undoes that.\n", info.ID, info.ID)
	}
}

// holdsKeys reports whether an entry of a directory shows that a keystore with keys was there.
func holdsKeys(dir string, entry fs.DirEntry) bool {
	if entry.Name() != "keys" || !entry.IsDir() {
		return entry.Name() == "changes"
	}
	inside, err := os.ReadDir(filepath.Join(dir, entry.Name()))
	return err == nil && len(inside) > 0
}

// isKeystore reports whether the directory has a keystore. It returns false if one can be created
// there, and an error if the directory has other things in it: keys would get lost among them.
func isKeystore(dir string) (bool, error) {
	_, err := os.Lstat(filepath.Join(dir, "identity.age"))
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	for _, entry := range entries {
		if holdsKeys(dir, entry) {
			return false,
				fmt.Errorf("%s has keys, but identity.age is missing: restore it from a backup; without it the "+
					"keys cannot be decrypted", dir)
		}
		// A creation that crashed leaves these names behind.
		if !slices.Contains([]string{"lock", "keys"}, entry.Name()) && !strings.HasPrefix(entry.Name(), ".") {
			return false,
				fmt.Errorf("%s is not a keystore, and not empty (it has %q): name a keystore, or a directory that "+
					"is empty or does not exist", dir, entry.Name())
		}
	}
	return false, nil
}

func noKeystore(dir string) error {
	return fmt.Errorf("there is no keystore in %s: create one with 'countersign keys generate --keystore file:%s "+
		"--curve CURVE_SECP256K1', or with 'countersign keys import'", dir, dir)
}

// Passphrase gets the keystore's passphrase from its file, or asks for it on the terminal, twice if
// it is new. From here on the process leaves no core dump. The caller wipes the passphrase.
func (f *KeystoreFlags) Passphrase(ctx context.Context, isNew bool) (passphrase []byte, err error) {
	if f.PassphraseFile != "" {
		return console.ReadPassphraseFile(ctx, f.PassphraseNamed, f.PassphraseFile)
	}
	if err := harden.NoCoreDumps(); err != nil {
		return nil, err
	}
	if isNew {
		passphrase, err = console.AskTwice(ctx, "New passphrase for the keystore", "The same passphrase again", console.CheckNewPassphrase)
	} else {
		passphrase, err = console.AskSecret(ctx, "Passphrase of the keystore")
		if err == nil {
			err = console.CheckPassphrase(passphrase)
		}
	}
	if errors.Is(err, terminal.ErrNone) {
		err = console.Usagef("no passphrase: name its file with %s (%v)", f.PassphraseNamed, err)
	}
	if err != nil {
		keystore.Wipe(passphrase)
		return nil, err
	}
	return passphrase, nil
}

// InitWorkFactor is the scrypt work factor of the keystore that init creates. Its passphrase is 256
// random bits, which cannot be guessed at any speed: a higher factor would only slow down each start.
const InitWorkFactor = 10
