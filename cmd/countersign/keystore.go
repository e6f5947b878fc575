package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// keystoreFlags say which keystore a command uses, and as which organization.
type keystoreFlags struct {
	uri              string
	passphraseFile   string
	passphraseNamed  string // where passphraseFile was named: a flag or a member of the configuration
	pinFile          string
	organization     string
	recovery         []string // of a new keystore
	postQuantum      bool     // a new keystore
	leaveOutBadFiles bool
	retryPIN         bool
	log              *slog.Logger // of serve, which uses all keys; nil for commands that use some and end
	configFile       string
	set              func(flag string) bool // whether the call names the flag
	configured       *config.Config         // once it was read
}

const defaultOrganization = "default"

func (f *keystoreFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.set, f.passphraseNamed = flags.Changed, "--passphrase-file"
	flags.StringVar(&f.uri, "keystore", "", "where the keys are: `URI`, file:DIR, or pkcs11:… for an HSM (RFC 7512)")
	flags.StringVar(&f.configFile, "config", "", "`FILE` that names the keystore, its passphrase's file and the organization: countersign.yaml")
	flags.StringVar(&f.passphraseFile, "passphrase-file", "", "`FILE` with the keystore's passphrase, mode 0600 (default: asked for on the terminal)")
	flags.StringVar(&f.pinFile, "pin-file", "", "`FILE` with the PIN of the HSM, mode 0600 (default: the URI's pin-source, or asked for on the terminal)")
	registerRetryPIN(cmd, &f.retryPIN)
	flags.StringVar(&f.organization, "org", defaultOrganization, "`ID` of the organization that has the keys; with --config, the only one in it")
	flags.BoolVar(&f.leaveOutBadFiles, "leave-out-bad-files", false, "go on without key files that cannot be trusted, instead of refusing the keystore")
}

// registerNew adds the flags of a keystore that may be made.
func (f *keystoreFlags) registerNew(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.recovery, "recovery", nil, "of a new keystore: age `RECIPIENT`, age1… or age1pq1…, that can decrypt the keys without the passphrase (repeatable)")
	flags.BoolVar(&f.postQuantum, "post-quantum", false, "of a new keystore: encrypt it to a post-quantum identity of age")
}

// registerRetryPIN adds the flag that allows a login which may lock the token.
func registerRetryPIN(cmd *cobra.Command, retry *bool) {
	cmd.Flags().BoolVar(retry, "retry-pin", false, "log in to an HSM which reports that its last PIN was wrong: after the PIN was corrected, once")
}

// resolve takes from the configuration, if one is named, what it says.
func (f *keystoreFlags) resolve() error {
	if f.configFile == "" || f.configured != nil {
		return nil
	}
	if f.set("keystore") {
		return usagef("--keystore does not go with --config, which names one")
	}
	configured, err := config.Read(f.configFile)
	if err != nil {
		return err
	}
	named := ""
	if f.set("org") {
		named = f.organization
	}
	organization, err := configured.Organization(named)
	if err != nil {
		return usagef("%v", err)
	}
	f.organization = organization.ID
	f.use(configured)
	return nil
}

// use takes the keystore of a configuration; --passphrase-file goes before the
// one of the configuration.
func (f *keystoreFlags) use(configured *config.Config) {
	f.uri, f.configured = configured.Keystore, configured
	if f.passphraseFile == "" {
		f.passphraseFile, f.passphraseNamed = configured.PassphraseFile, "passphraseFile"
	}
}

// directory returns the directory that --keystore names.
func (f *keystoreFlags) directory() (string, error) {
	if err := f.resolve(); err != nil {
		return "", err
	}
	scheme, rest, found := strings.Cut(f.uri, ":")
	switch {
	case f.uri == "":
		return "", usagef("--keystore is missing: name one, such as --keystore file:keys, or a configuration with --config")
	case f.organization == "":
		return "", usagef("--org is empty: leave it out for %q", defaultOrganization)
	case !found:
		return "", usagef("--keystore %q has no scheme: for a directory write file:%s", f.uri, f.uri)
	case f.pinFile != "":
		return "", usagef("--pin-file goes with pkcs11:…: a directory has a passphrase, in a file that --passphrase-file names")
	case scheme != "file":
		return "", usagef("--keystore: unknown scheme %q: use file:DIR or pkcs11:…", scheme)
	}
	if after, isURL := strings.CutPrefix(rest, "//"); isURL && !strings.HasPrefix(after, "/") {
		return "", usagef("--keystore %q names a host: write file:DIR or file:///DIR", f.uri)
	}
	if rest == "" {
		return "", usagef("--keystore file: names no directory: write file:DIR")
	}
	return filepath.Clean(rest), nil
}

// openDirectory opens a file keystore that is there.
func (f *keystoreFlags) openDirectory(cmd *cobra.Command) (keystore.Keystore, error) {
	dir, err := f.directory()
	if err != nil {
		return nil, err
	}
	present, err := isKeystore(dir)
	if err != nil {
		return nil, err
	}
	if !present {
		return nil, fmt.Errorf("there is no keystore in %s: make one with 'countersign keys generate --keystore file:%s --curve CURVE_SECP256K1', or with 'countersign keys import'", dir, dir)
	}
	passphrase, err := f.passphrase(cmd.Context(), false)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(passphrase)
	return f.openFile(cmd.Context(), cmd.ErrOrStderr(), dir, passphrase)
}

// createDirectory opens a file keystore, or makes one where nothing is.
func (f *keystoreFlags) createDirectory(cmd *cobra.Command) (keystore.Keystore, error) {
	dir, err := f.directory()
	if err != nil {
		return nil, err
	}
	present, err := isKeystore(dir)
	if err != nil {
		return nil, err
	}
	if present && (len(f.recovery) > 0 || f.postQuantum) {
		return nil, usagef("there is a keystore in %s already: --recovery and --post-quantum are of a new one, into which 'countersign keys export --all' and 'import --jsonl' move its keys", dir)
	}
	passphrase, err := f.passphrase(cmd.Context(), !present)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(passphrase)
	if !present {
		store, err := file.Create(dir, passphrase, file.Options{Recovery: f.recovery, PostQuantum: f.postQuantum})
		if err == nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "Made a new keystore in %s. Without its passphrase the keys in it are lost: keep both in more than one place.\n", dir)
			return store, nil
		}
		if !errors.Is(err, fs.ErrExist) || len(f.recovery) > 0 || f.postQuantum { // otherwise another process just made it
			return nil, err
		}
	}
	return f.openFile(cmd.Context(), cmd.ErrOrStderr(), dir, passphrase)
}

func (f *keystoreFlags) openFile(ctx context.Context, stderr io.Writer, dir string, passphrase []byte) (*file.Store, error) {
	bar := newOpeningProgress(stderr)
	store, err := file.Open(ctx, dir, passphrase, file.Options{
		SkipInvalid: f.leaveOutBadFiles, Logger: f.log, OnDisabled: f.onDisabled(stderr), OnRead: bar.read,
	})
	bar.finish()
	if errors.Is(err, context.Canceled) {
		return nil, terminal.ErrInterrupted
	}
	if bad, ok := errors.AsType[*file.BadFilesError](err); ok {
		return nil, fmt.Errorf("%w: --leave-out-bad-files", bad)
	}
	if err != nil {
		return nil, err
	}
	for _, bad := range store.Skipped() {
		if f.log != nil {
			break // it has logged them
		}
		fmt.Fprintf(stderr, "Left out: %s\n", shown(bad))
	}
	return store, nil
}

// onDisabled tells the person at the command why a key is not found. A server logs it.
func (f *keystoreFlags) onDisabled(stderr io.Writer) func(keystore.KeyInfo) {
	if f.log != nil {
		return nil
	}
	return func(info keystore.KeyInfo) {
		fmt.Fprintf(stderr, "Key %s is disabled: 'countersign keys enable %s' undoes that.\n", info.ID, info.ID)
	}
}

// isKeystore reports whether there is a keystore in the directory; false if
// one can be made there. A directory with other things in it is an error:
// keys would get lost among them.
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
		// What a crash while it is being made leaves is no obstacle.
		if !slices.Contains([]string{"lock", "keys"}, entry.Name()) && !strings.HasPrefix(entry.Name(), ".") {
			return false, fmt.Errorf("%s is no keystore, and not empty (it has %q): name a keystore, or a directory that is empty or not there", dir, entry.Name())
		}
	}
	return false, nil
}
