package source

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Places are the places of the members and items that Decode has read, by path, such as
// "organizations[0].users[1].name"; "" is the whole.
type Places map[string]Place

// Of returns the place of a path, or that of the nearest member around it.
func (p Places) Of(path string) Place {
	for path != "" {
		if place, ok := p[path]; ok {
			return place
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return p[""]
}

// Decode reads a mapping into the struct that into points to, whose fields carry the tag
// yaml. It is strict: an unknown or repeated member, one without a value and one of
// another type are problems. what names the mapping in them.
func Decode(n Node, what string, into any) Places {
	places := Places{"": n.Place()}
	places.structure(n, what, "", reflect.ValueOf(into).Elem())
	return places
}

// Members returns the names of the members that Decode reads into a struct of this type,
// and into those in it.
func Members(of any) []string { return membersOf(reflect.TypeOf(of)) }

func membersOf(of reflect.Type) []string {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return membersOf(of.Elem())
	case reflect.Struct:
	default:
		return nil
	}
	var names []string
	for field := range of.Fields() {
		if name := memberOf(field); name != "" {
			names = append(append(names, name), membersOf(field.Type)...)
		}
	}
	return names
}

// memberOf returns the name of the member that a field is read from; empty if none.
func memberOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
	if name == "-" {
		return ""
	}
	return name
}

func (p Places) structure(n Node, what, path string, into reflect.Value) {
	readers := map[string]func(Node){}
	for i := range into.NumField() {
		if name := memberOf(into.Type().Field(i)); name != "" {
			readers[name] = func(member Node) { p.value(member, name, join(path, name), into.Field(i)) }
		}
	}
	for _, member := range n.Quiet().Pairs("") {
		p[join(path, member.Name)] = member.NameAt
	}
	n.Fields(what, readers)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// value reads one value. what is the name of its member.
func (p Places) value(n Node, what, path string, into reflect.Value) {
	if _, isTime := into.Interface().(time.Time); isTime {
		reported := len(n.report.List)
		text := n.Text(what)
		expiry, err := time.Parse(time.RFC3339, text)
		if (err != nil || expiry.IsZero()) && len(n.report.List) == reported { // the zero time would mean none
			n.Fail("%s: expected a time such as 2027-01-01T00:00:00Z, not %q", what, quoted(text))
		}
		into.Set(reflect.ValueOf(expiry))
		return
	}
	switch into.Kind() {
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		p.value(n, what, path, into.Elem())
	case reflect.Struct:
		p.structure(n, what, path, into)
	case reflect.Slice: // an empty list is not nil
		items := n.Items(what)
		into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
		for i, item := range items {
			itemPath := fmt.Sprintf("%s[%d]", path, i)
			p[itemPath] = item.Place()
			p.value(item, fmt.Sprintf("%s[%d]", what, i), itemPath, into.Index(i))
		}
	case reflect.Map:
		p.mapping(n, what, path, into)
	case reflect.String:
		into.SetString(n.Text(what))
	case reflect.Bool:
		into.SetBool(n.Boolean(what))
	case reflect.Int:
		into.SetInt(whole(n, what, func(text string) (int64, error) { return strconv.ParseInt(text, 10, 32) }))
	case reflect.Uint32, reflect.Uint64:
		into.SetUint(whole(n, what, func(text string) (uint64, error) {
			return strconv.ParseUint(text, 10, into.Type().Bits())
		}))
	default:
		panic(fmt.Sprintf("source: no reader of %s", into.Type()))
	}
}

// mapping reads a mapping whose names are free.
func (p Places) mapping(n Node, what, path string, into reflect.Value) {
	into.Set(reflect.MakeMap(into.Type()))
	for _, member := range n.Pairs(what) {
		memberPath := join(path, member.Name)
		p[memberPath] = member.NameAt
		if member.IsNull() {
			n.report.Add(member.NameAt, n.Rule, "%s has no value", quoted(member.Name))
			continue
		}
		value := reflect.New(into.Type().Elem()).Elem()
		p.value(member.Node, quoted(member.Name), memberPath, value)
		into.SetMapIndex(reflect.ValueOf(member.Name), value)
	}
}

func whole[T any](n Node, what string, parse func(text string) (T, error)) T {
	reported := len(n.report.List)
	value, err := parse(n.Text(what))
	if n.form != nil {
		n.form.integer()
	}
	if err != nil && len(n.report.List) == reported {
		n.Fail("%s: expected a whole number", what)
	}
	return value
}
