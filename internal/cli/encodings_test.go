package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/keys"
	"github.com/countersign-dev/countersign/internal/cli/serve"
)

// otherEncodings returns a text as editors and shells save it that do not write plain UTF-8.
func otherEncodings(text []byte) map[string]string {
	wide := func(mark string, at int) string {
		for _, char := range text {
			unit := [2]byte{}
			unit[at] = char
			mark += string(unit[:])
		}
		return mark
	}
	return map[string]string{
		"UTF-8 with a mark": "\ufeff" + string(text),
		"UTF-16LE":          wide("\xff\xfe", 0), "UTF-16BE": wide("\xfe\xff", 1), "UTF-16LE without mark": wide("", 0),
	}
}

// fileMembers returns the names of the members of a configuration that name a file, in all
// that it consists of.
func fileMembers(of reflect.Type, seen map[reflect.Type]bool) (names []string) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || seen[of] {
		return nil
	}
	seen[of] = true
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if strings.HasSuffix(name, "File") {
			names = append(names, name)
		}
		names = append(names, fileMembers(field.Type, seen)...)
	}
	return names
}

// TestFilesOfTheConfigurationAreUTF8: whatever file a configuration names, in another encoding
// than UTF-8 it is refused with the reason. A byte-order mark in a secret would be part of it,
// and one in a text hide its first line; no editor shows it.
func TestFilesOfTheConfigurationAreUTF8(t *testing.T) {
	example := exampleDeployment(t)
	text, err := os.ReadFile(example.config())
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\b(\w*File|proofKey|policy|pins|tokens): (?:file:|\[)?([\w./-]+)`).FindAllStringSubmatch(string(text), -1)
	var members []string
	for _, one := range named {
		members = append(members, one[1])
		s := mutation{}.apply(t, example)
		path := filepath.Join(s.dir, one[2])
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for encoding, other := range otherEncodings(content) {
			writePrivate(t, path, other)
			err := within(t, serve.NewCommand(), io.Discard, "--check", "--config", s.config())
			if err == nil || !regexp.MustCompile(`byte-order mark|saved as UTF-16`).MatchString(err.Error()) {
				t.Errorf("%s: %s in %s: %v", one[1], one[2], encoding, err)
			}
		}
	}
	for _, member := range fileMembers(reflect.TypeFor[config.Config](), map[reflect.Type]bool{}) {
		if !slices.Contains(members, member) {
			t.Errorf("the example has no member %s", member)
		}
	}
}

// TestSecretsOfFlagsAreUTF8: so is the file of every flag that names a secret.
func TestSecretsOfFlagsAreUTF8(t *testing.T) {
	calls := map[string][]string{
		"passphrase-file":      {"keys", "list", "--keystore", "file:keys"},
		"new-passphrase-file":  {"keys", "passphrase", "change", "--keystore", "file:keys", "--passphrase-file", "pass"},
		"secret-password-file": {"keys", "import", "--format", "pkcs8", "--curve", "CURVE_ED25519", "--keystore", "file:keys", "--passphrase-file", "pass"},
		"api-key":              {"submit", "--url", "http://127.0.0.1:1"},
		"pin-file":             {"keys", "list", "--keystore", "pkcs11:token=none?module-path=/nowhere.so"},
	}
	for _, command := range available(newRoot(nil)) {
		command.Flags().VisitAll(func(flag *pflag.Flag) {
			if strings.Contains(flag.Usage, "mode 0600") && calls[flag.Name] == nil {
				t.Errorf("%s --%s is not tried", command.CommandPath(), flag.Name)
			}
		})
	}
	s := newSession(t)
	const encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGSME4GCSqGSIb3DQEFDTBBMCAGCSsGAQQB2kcECzATBAh5pxEQGINjLQIBEAIB\n" +
		"AQIBATAdBglghkgBZQMEASoEEEFzBCvy+fZZtaj9xOs7XlwEQBOzG0088LhkNQw5\n9IcJUZgXOfQiIYF7Ojg2MEcExmWWi4pItqllnkFCcBjy2OOF6qhl/IdBjmf5siXb\n" +
		"yz7iD5k=\n-----END ENCRYPTED PRIVATE KEY-----\n"
	for flag, args := range calls {
		for encoding, content := range otherEncodings([]byte("correct horse battery\n")) {
			writePrivate(t, filepath.Join(s.dir, "other"), content)
			command := exec.CommandContext(t.Context(), "countersign", append(slices.Clone(args), "--"+flag, "other")...)
			command.Dir, command.Stdin = s.dir, strings.NewReader(encrypted)
			if out, err := command.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("save it as UTF-8")) {
				t.Errorf("--%s in %s: %v: %s", flag, encoding, err, out)
			}
		}
	}
}

// TestImportedSecretsAreUTF8: so is a secret on standard input, in each format, and a file of
// --dir.
func TestImportedSecretsAreUTF8(t *testing.T) {
	s := newSession(t)
	for _, format := range keys.ImportFormats {
		for encoding, content := range otherEncodings([]byte("[1] abandon 00\n")) {
			args := []string{"keys", "import", "--format", format}
			if format == "hex" {
				args = append(args, "--curve", "CURVE_SECP256K1")
			}
			if _, stderr, status := s.run([]byte(content), args...); status != console.ExitFailure || !bytes.Contains(stderr, []byte("save it as UTF-8")) {
				t.Errorf("%s in %s: exit status %d: %s", format, encoding, status, stderr)
			}
		}
	}
	dir := filepath.Join(s.dir, "foreign")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	writePrivate(t, filepath.Join(s.dir, "password"), "pass word\n")
	for encoding, content := range otherEncodings([]byte(`{"version":3}`)) {
		writePrivate(t, filepath.Join(dir, "UTC--x"), content)
		if stdout, stderr, status := s.run(nil, "keys", "import", "--format", "v3", "--dir", "foreign", "--secret-password-file", "password"); status != console.ExitFailure || !bytes.Contains(stdout, []byte("save it as UTF-8")) {
			t.Errorf("--dir in %s: exit status %d: %s%s", encoding, status, stdout, stderr)
		}
	}
}
