package serve

import (
	"reflect"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/config"
)

// inForce are the members that a change puts in force without a restart.
var inForce = []string{"kms", "organizations", "tokens", "labels"}

// TestFixedChanges: a reload names each member that takes effect only after a restart, so each
// member of the configuration is either named or in force.
func TestFixedChanges(t *testing.T) {
	configuration := reflect.TypeFor[config.Config]()
	members := 0
	for i := range configuration.NumField() {
		field := configuration.Field(i)
		member := field.Tag.Get("yaml")
		if !field.IsExported() || member == "-" {
			continue
		}
		members++
		var next config.Config
		change(t, reflect.ValueOf(&next).Elem().Field(i))
		named := fixedChanges(&config.Config{}, &next)
		if want := !slices.Contains(inForce, member); slices.Contains(named, member) != want {
			t.Errorf("%s: the reload names %q, want it named: %v", member, named, want)
		}
	}
	if members < 15 {
		t.Errorf("the configuration has %d members: there are more", members)
	}
}

// change sets a value to another than its zero value.
func change(t *testing.T, value reflect.Value) {
	t.Helper()
	switch value.Kind() {
	case reflect.String:
		value.SetString("changed")
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int:
		value.SetInt(1)
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
	case reflect.Map:
		value.Set(reflect.MakeMap(value.Type()))
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
	case reflect.Struct:
		change(t, value.Field(0))
	default:
		t.Fatalf("a member has the kind %s", value.Kind())
	}
}
