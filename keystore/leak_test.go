package keystore_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/keyformat"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

var leakSecret = []byte("\x01\x80 32 bytes that must not show\xff\xfe")

// TestNothingPrintsASecret prints a value of every exported type of the packages keystore,
// memory, file, wallet, keyformat and keystoretest in every way. The types are read from the
// sources: a new type without a value in leakValues fails the test.
func TestNothingPrintsASecret(t *testing.T) {
	values := leakValues(t)
	for _, dir := range []string{".", "memory", "file", "wallet", "keyformat", "keystoretest"} {
		for _, name := range exportedTypes(t, dir) {
			value, filled := values[name]
			if !filled {
				t.Errorf("%s: no value of this type is checked", name)
			}
			if owned[name] {
				keystoretest.CheckNotLogged(t, name, value, leakSecret)
			} else {
				keystoretest.CheckNotPrinted(t, name, value, leakSecret)
			}
			delete(values, name)
		}
	}
	if len(values) > 0 {
		t.Errorf("no such types: %v", slices.Sorted(maps.Keys(values)))
	}
}

// owned lists the types whose secret is a slice owned by the caller.
var owned = map[string]bool{"keystore.SecretBytes": true, "keystore.NewKey": true, "keystoretest.Key": true,
	"file.NewWallet": true, "keyformat.Key": true, "keyformat.WIF": true}

// leakValues returns values of all types, each holding leakSecret if it can.
func leakValues(t *testing.T) map[string]any {
	t.Helper()
	inMemory := memory.New()
	inFile, err := file.Create(filepath.Join(t.TempDir(), "keys"), leakSecret, file.Options{WorkFactor: 4})
	testenv.Must(t, err)
	t.Cleanup(func() { _, _ = inMemory.Close(), inFile.Close() })
	key := keystore.NewKey{Curve: keystore.CurveEd25519, Secret: leakSecret}
	info, err := inMemory.Add(t.Context(), "org", key)
	testenv.Must(t, err)
	if _, err := inFile.Add(t.Context(), "org", key); err != nil {
		t.Fatal(err)
	}
	wrongSize := key
	wrongSize.Secret = leakSecret[:31]
	_, sizeErr := inFile.Add(t.Context(), "org", wrongSize)
	_, existsErr := inFile.Add(t.Context(), "org", key)
	handle, err := inMemory.Find(t.Context(), "org", keystore.ByID(info.ID))
	testenv.Must(t, err)
	read, err := keyformat.NewKey(keystore.CurveEd25519, leakSecret)
	testenv.Must(t, err)
	mnemonic, err := wallet.Mnemonic(leakSecret)
	testenv.Must(t, err)
	stored, err := inFile.AddWallet(t.Context(), "org", file.NewWallet{Mnemonic: mnemonic})
	testenv.Must(t, err)
	words := file.NewWallet{Mnemonic: leakSecret, Passphrase: leakSecret, ExtendedKey: leakSecret}
	secret := keystore.NewSecret(leakSecret)
	t.Cleanup(secret.Destroy)
	account, err := wallet.ParsePath("m/84'/0'/0'")
	testenv.Must(t, err)
	root, err := wallet.FromSeed(leakSecret)
	testenv.Must(t, err)
	watched, err := root.Watch(account)
	testenv.Must(t, err)
	return map[string]any{
		"keystore.Registration": keystore.Registration{Leaf: "wallet/register/treasury"},
		"file.Registered":       file.Registered{OrganizationID: "org"}, "file.OwnKey": file.OwnKey{Key: 1},
		"keystoretest.Fault":      keystoretest.Fault(""),
		"keystoretest.Answer":     keystoretest.Answer{},
		"wallet.WatchOnly":        watched,
		"wallet.Root":             []any{root, *root},
		"keystore.Account":        keystore.Account{KeyInfo: info},
		"keystore.Wallet":         keystore.Wallet{ID: info.ID},
		"keystore.Secret":         secret,
		"keystore.SecretBytes":    keystore.SecretBytes(leakSecret),
		"keystore.PublicKey":      info.PublicKey,
		"keystore.KeyInfo":        info,
		"keystore.Locator":        keystore.ByID(info.ID),
		"keystore.ThrottledError": &keystore.ThrottledError{Err: sizeErr},
		"keystore.TaprootTweak":   keystore.KeyPath(),
		"keystore.Curve":          keystore.CurveEd25519,
		"memory.Store":            []any{inMemory, handle, keystore.Verified(handle)},
		"keystore.NewKey":         []any{key, &key},
		"file.Store":              inFile,
		"file.Options":            file.Options{Recovery: []string{"age1"}},
		"file.Error":              &file.Error{Path: "path", Err: fmt.Errorf("%w, %w", sizeErr, existsErr)},
		"file.BadFilesError":      &file.BadFilesError{Files: []*file.Error{{Path: "path", Err: sizeErr}}, Total: 1},
		"file.Wallet":             stored,
		"file.Account":            stored.Accounts[0],
		"file.Named":              file.Named{PublicKey: make([]byte, 33)},
		"file.NewWallet":          []any{words, &words},
		"wallet.Path":             stored.Accounts[0].Path,
		"wallet.Account":          wallet.UsualAccounts()[0],
		"keyformat.Key":           []any{read, &read},
		"keyformat.WIF":           keyformat.WIF{Key: read},
		"keyformat.Cost":          keyformat.Cost{LogN: 1},
		"keystoretest.Key":        keystoretest.Key{Secret: leakSecret},
		"keystoretest.Backend":    keystoretest.Backend{},
	}
}

// exportedTypes returns the exported types of the package in a directory, except interfaces.
func exportedTypes(t *testing.T, dir string) (types []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no sources in %s: %v", dir, err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		source, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		testenv.Must(t, err)
		ast.Inspect(source, func(node ast.Node) bool {
			spec, ok := node.(*ast.TypeSpec)
			if !ok || !spec.Name.IsExported() {
				return true
			}
			if _, isInterface := spec.Type.(*ast.InterfaceType); !isInterface {
				types = append(types, source.Name.Name+"."+spec.Name.Name)
			}
			return true
		})
	}
	return types
}

// TestStructWithASecret: fmt does not call the methods of values in unexported fields, and
// follows pointers there if the verb does not fit.
func TestStructWithASecret(t *testing.T) {
	holder := &struct{ secret keystore.Secret }{keystore.NewSecret(leakSecret)}
	defer holder.secret.Destroy()
	keystoretest.CheckNotPrinted(t, "a struct by pointer", holder, leakSecret)
	keystoretest.CheckNotPrinted(t, "a struct", *holder, leakSecret)
}
