package source

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Form is what a reader takes. It is found by running the reader on a node that notes what it is
// asked for, so that the two cannot differ. It marshals as JSON Schema (draft 2020-12), and takes
// whatever the reader takes; a reader also checks what a schema cannot say.
type Form struct {
	types       []string         // in JSON's terms; none: any value
	members     map[string]*Form // of a mapping
	others      *Form            // values of a mapping whose names are free
	items       *Form            // of a list
	values      []string         // of a text; nil: any
	least, most *int             // of a whole number
	again       string           // the mapping around it that it is another of

	isMapping bool // what IsMapping answers
	around    map[string]*Form
	defined   map[string]*Form // mappings that contain themselves, shared by all forms of a file
}

// FormOf returns what a reader of a file's root takes.
func FormOf(read func(Node)) *Form {
	form := &Form{defined: map[string]*Form{}}
	for _, isMapping := range []bool{false, true} {
		form.isMapping = isMapping
		read(form.node())
	}
	return form
}

// node returns a node that notes what it is asked for.
func (f *Form) node() Node {
	null := ast.Null(token.New("", "", &token.Position{Line: 1, Column: 1}))
	return Node{Node: null, report: new(Report), form: f}
}

// part returns the form of a value in this one, which may be known in part.
func (f *Form) part(known *Form) *Form {
	known = cmp.Or(known, &Form{defined: f.defined})
	known.isMapping, known.around = f.isMapping, f.around
	return known
}

func (f *Form) is(types ...string) {
	for _, name := range types {
		if !slices.Contains(f.types, name) {
			f.types = append(f.types, name)
		}
	}
}

// integer notes that a scalar is a whole number, which may be in quotes.
func (f *Form) integer() { f.types = []string{"integer", "string"} }

// fields notes a mapping and what its readers take.
func (f *Form) fields(what string, readers map[string]func(Node)) {
	if around, ok := f.around[what]; ok {
		f.again, f.defined[what] = what, around
		return
	}
	f.is("object")
	if f.members == nil {
		f.members = map[string]*Form{}
	}
	around := maps.Clone(f.around)
	f.around = map[string]*Form{what: f}
	maps.Copy(f.around, around)
	for _, name := range slices.Sorted(maps.Keys(readers)) {
		f.members[name] = f.part(f.members[name])
		readers[name](f.members[name].node())
	}
	f.around = around
}

// list notes a list and returns one item.
func (f *Form) list() []Node {
	f.is("array")
	f.items = f.part(f.items)
	return []Node{f.items.node()}
}

func (f *Form) MarshalJSON() ([]byte, error) {
	if f.again != "" {
		return json.Marshal(map[string]string{"$ref": "#/$defs/" + f.again})
	}
	if f.values != nil && f.items != nil {
		return json.Marshal(map[string]any{"anyOf": []*Form{{values: f.values}, {types: []string{"array"}, items: f.items}}})
	}
	schema := map[string]any{}
	set := func(name string, value any, given bool) {
		if given {
			schema[name] = value
		}
	}
	set("type", f.types, len(f.types) > 0 && f.values == nil)
	set("properties", f.members, f.members != nil)
	set("additionalProperties", false, f.members != nil)
	set("additionalProperties", f.others, f.others != nil)
	set("items", f.items, f.items != nil)
	set("enum", f.values, f.values != nil)
	set("minimum", f.least, f.least != nil)
	set("maximum", f.most, f.most != nil)
	return json.Marshal(schema)
}

// published is the folder of the JSON Schemas of this repository.
const published = "https://raw.githubusercontent.com/countersign-dev/countersign/main/docs/"

// SchemaLine returns the first line of a file that names its JSON Schema to editors.
func SchemaLine(name string) string {
	return "# yaml-language-server: $schema=" + published + name + "\n"
}

// Schema returns the JSON Schema of a file, which is published under a name.
func (f *Form) Schema(name, title string) ([]byte, error) {
	rest, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	schema := map[string]any{}
	if err := json.Unmarshal(rest, &schema); err != nil {
		return nil, err
	}
	schema["$schema"], schema["$id"], schema["title"] = "https://json-schema.org/draft/2020-12/schema", published+name, title
	if len(f.defined) > 0 {
		schema["$defs"] = f.defined
	}
	text, err := json.MarshalIndent(schema, "", " ")
	return append(text, '\n'), err
}
