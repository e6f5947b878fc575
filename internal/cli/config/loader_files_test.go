package config_test

import (
	"io"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/serve"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

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
	example := clitest.Documented(t)
	text := testenv.Read(t, example.Config())
	named := regexp.MustCompile(`\b(\w*File|proofKey|policy|pins|tokens): (?:file:|\[)?([\w./-]+)`).FindAllStringSubmatch(string(text), -1)
	var members []string
	for _, one := range named {
		members = append(members, one[1])
		s := mutation{}.apply(t, example)
		path := filepath.Join(s.Dir, one[2])
		content := testenv.Read(t, path)
		for encoding, other := range clitest.OtherEncodings(content) {
			clitest.WritePrivate(t, path, other)
			err := within(t, serve.NewCommand(), io.Discard, "--check", "--config", s.Config())
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
