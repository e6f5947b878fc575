package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestPathsAreTagged: each member whose name says that it is a file, and each of those that are
// one under another name, is resolved against the folder of the configuration and backed up, or says
// that it is apart.
func TestPathsAreTagged(t *testing.T) {
	others := []string{"tokens", "folder", "pins", "file", "outbox", "memory", "socket"}
	found := 0
	var look func(section reflect.Type)
	look = func(section reflect.Type) {
		for section.Kind() == reflect.Pointer || section.Kind() == reflect.Slice || section.Kind() == reflect.Map {
			section = section.Elem()
		}
		if section.Kind() != reflect.Struct || section.PkgPath() != reflect.TypeFor[Config]().PkgPath() {
			return
		}
		for field := range section.Fields() {
			name, tag := field.Tag.Get("yaml"), field.Tag.Get("path")
			if wants := strings.HasSuffix(name, "File") || slices.Contains(others, name); wants != (tag != "") {
				t.Errorf("%s.%s (%s) has the tag path:%q", section.Name(), field.Name, name, tag)
			}
			if tag != "" && tag != "file" && tag != "apart" {
				t.Errorf("%s.%s: path:%q", section.Name(), field.Name, tag)
			}
			if found++; tag == "" {
				look(field.Type)
			}
		}
	}
	look(reflect.TypeFor[Config]())
	if found < 40 {
		t.Errorf("%d members", found)
	}
}
