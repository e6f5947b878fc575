package descriptors

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The members that each node of a type can have. What has others is not read: it may be
// encoded otherwise.
var codamaMembers = map[string]string{
	"numberTypeNode": "format endian", "booleanTypeNode": "size", "publicKeyTypeNode": "", "bytesTypeNode": "", "stringTypeNode": "encoding",
	"amountTypeNode": "decimals unit number", "solAmountTypeNode": "number", "dateTimeTypeNode": "number",
	"structTypeNode": "fields", "structFieldTypeNode": "type defaultValue defaultValueStrategy", "tupleTypeNode": "items",
	"arrayTypeNode": "item count", "setTypeNode": "item count", "mapTypeNode": "key value count",
	"optionTypeNode": "item prefix fixed", "remainderOptionTypeNode": "item", "zeroableOptionTypeNode": "item zeroValue",
	"enumTypeNode": "variants size", "enumEmptyVariantTypeNode": "discriminator", "enumStructVariantTypeNode": "discriminator struct", "enumTupleVariantTypeNode": "discriminator tuple",
	"fixedSizeTypeNode": "size type", "sizePrefixTypeNode": "type prefix", "sentinelTypeNode": "type sentinel",
	"hiddenPrefixTypeNode": "type prefix", "hiddenSuffixTypeNode": "type suffix", "definedTypeLinkNode": "program",
	"fixedCountNode": "value", "prefixedCountNode": "prefix", "remainderCountNode": "",
}

// checkMembers refuses a node with members that are not known.
func checkMembers(n object) error {
	kind, _ := n["kind"].(string)
	members, ok := codamaMembers[kind]
	if !ok {
		return fmt.Errorf("type %.64q %w", kind, errUnread)
	}
	for _, name := range sortedNames(n) {
		if !slices.Contains([]string{"kind", "name", "docs", "display", "plugins"}, name) && !slices.Contains(strings.Fields(members), name) {
			return fmt.Errorf("member %.64q of %s %w", name, kind, errUnread)
		}
	}
	return nil
}

// resolve reads a type.
func (c *codama) resolve(n object, depth int) (*wireType, error) {
	if c.count++; depth > 16 || c.count > 20_000 {
		return nil, errors.New("types nested too deep, or too many")
	}
	if err := checkMembers(n); err != nil {
		return nil, err
	}
	switch kind := n["kind"]; kind {
	case "numberTypeNode":
		return codamaNumber(n)
	case "publicKeyTypeNode":
		return &wireType{kind: wireKey}, nil
	case "bytesTypeNode":
		return &wireType{kind: wireBytes}, nil
	case "stringTypeNode":
		return codamaText(n)
	case "amountTypeNode", "solAmountTypeNode", "dateTimeTypeNode":
		return c.member(n, "number", depth)
	case "booleanTypeNode":
		prefix, err := c.number(n, "size", depth)
		return &wireType{kind: wireBool, prefix: prefix}, err
	case "structTypeNode", "tupleTypeNode":
		return c.structure(n, depth)
	case "arrayTypeNode", "setTypeNode", "mapTypeNode":
		return c.list(n, depth)
	case "optionTypeNode", "remainderOptionTypeNode", "zeroableOptionTypeNode":
		return c.option(n, depth)
	case "enumTypeNode":
		return c.enum(n, depth)
	case "definedTypeLinkNode":
		return c.defined(n, depth)
	}
	return c.within(n, depth)
}

// member reads the type that a member of a node is.
func (c *codama) member(n object, name string, depth int) (*wireType, error) {
	inner, err := node(n, name)
	if err != nil {
		return nil, err
	}
	return c.resolve(inner, depth+1)
}

// number reads a type that is a number, without anything around it.
func (c *codama) number(n object, name string, depth int) (*wireType, error) {
	t, err := c.member(n, name, depth)
	if err == nil && t.kind != wireCompact && (t.kind != wireNumber || t.signed) {
		err = fmt.Errorf("%s of %s that is no plain unsigned number %w", name, n["kind"], errUnread)
	}
	return t, err
}

func codamaNumber(n object) (*wireType, error) {
	format, _ := n["format"].(string)
	made := &wireType{big: n["endian"] == "be"}
	if !made.big && n["endian"] != "le" {
		return nil, errors.New("endian: le or be is expected")
	}
	if format == "shortU16" {
		made.kind = wireCompact
		return made, nil
	}
	if !slices.Contains([]string{"u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32", "i64", "i128", "f32", "f64"}, format) {
		return nil, fmt.Errorf("number format %.32q %w", format, errUnread)
	}
	bits, err := strconv.Atoi(format[1:])
	made.size, made.signed = bits/8, format[0] == 'i'
	if format[0] == 'f' {
		made.kind = wireFloat
	}
	return made, err
}

// codamaText reads a text. One that is written in another encoding than UTF-8 stands
// for bytes.
func codamaText(n object) (*wireType, error) {
	switch n["encoding"] {
	case "utf8":
		return &wireType{kind: wireText}, nil
	case "base16", "base58", "base64":
		return &wireType{kind: wireBytes}, nil
	}
	return nil, errors.New("encoding: base16, base58, base64 or utf8 is expected")
}

// structure reads a struct, whose fields have names, or a tuple, whose have numbers.
func (c *codama) structure(n object, depth int) (*wireType, error) {
	made := &wireType{kind: wireStruct}
	if n["kind"] == "tupleTypeNode" {
		items, err := nodes(n, "items", "")
		if err != nil {
			return nil, err
		}
		for i, item := range items {
			t, err := c.resolve(item, depth+1)
			if err != nil {
				return nil, err
			}
			made.members = append(made.members, wireMember{strconv.Itoa(i), t})
		}
		return made, nil
	}
	fields, err := nodes(n, "fields", "structFieldTypeNode")
	if err != nil {
		return nil, err
	}
	for _, field := range fields {
		name, err := stringIn(field, "name")
		if err != nil {
			return nil, err
		}
		if err := checkMembers(field); err != nil {
			return nil, err
		}
		t, err := c.member(field, "type", depth)
		if err != nil {
			return nil, err
		}
		made.members = append(made.members, wireMember{name, t})
	}
	return made, nil
}

// list reads an array, a set, or a map, whose elements are pairs.
func (c *codama) list(n object, depth int) (made *wireType, err error) {
	made = &wireType{}
	if n["kind"] == "mapTypeNode" {
		made.element = &wireType{kind: wireStruct}
		for _, name := range []string{"key", "value"} {
			t, err := c.member(n, name, depth)
			if err != nil {
				return nil, err
			}
			made.element.members = append(made.element.members, wireMember{name, t})
		}
	} else if made.element, err = c.member(n, "item", depth); err != nil {
		return nil, err
	}
	count, err := node(n, "count")
	if err != nil {
		return nil, err
	}
	if err := checkMembers(count); err != nil {
		return nil, err
	}
	switch count["kind"] {
	case "fixedCountNode":
		made.kind = wireArray
		made.size, err = sizeOf(count, "value")
	case "prefixedCountNode":
		made.kind = wireList
		made.prefix, err = c.number(count, "prefix", depth)
	case "remainderCountNode":
		made.kind = wireListing
	default:
		err = fmt.Errorf("count %.64q %w", count["kind"], errUnread)
	}
	return made, err
}

func (c *codama) option(n object, depth int) (made *wireType, err error) {
	made = &wireType{kind: wireRest}
	if made.element, err = c.member(n, "item", depth); err != nil {
		return nil, err
	}
	size, fixed := made.element.width()
	switch n["kind"] {
	case "optionTypeNode":
		made.kind = wireOption
		if padded, _ := n["fixed"].(bool); padded {
			if made.size = size; !fixed || size == 0 {
				return nil, errors.New("an option of fixed size, and its item is of none")
			}
		}
		made.prefix, err = c.number(n, "prefix", depth)
	case "zeroableOptionTypeNode":
		made.kind = wireZeroable
		if made.constant = make([]byte, size); n["zeroValue"] != nil {
			made.constant, err = c.constant(n, "zeroValue")
		}
		if err == nil && (!fixed || size == 0 || len(made.constant) != size) {
			err = errors.New("a zeroable option, and its item is of no fixed size")
		}
	}
	return made, err
}

func (c *codama) enum(n object, depth int) (made *wireType, err error) {
	made = &wireType{kind: wireEnum, tags: []uint64{}}
	if made.prefix, err = c.number(n, "size", depth); err != nil {
		return nil, err
	}
	variants, err := nodes(n, "variants", "")
	if err != nil {
		return nil, err
	}
	for i, v := range variants {
		name, err := stringIn(v, "name")
		if err != nil {
			return nil, err
		}
		if err := checkMembers(v); err != nil {
			return nil, err
		}
		tag := i
		if v["discriminator"] != nil {
			if tag, err = sizeOf(v, "discriminator"); err != nil {
				return nil, err
			}
		}
		if slices.Contains(made.tags, uint64(tag)) {
			return nil, fmt.Errorf("two variants have the number %d", tag)
		}
		t := &wireType{kind: wireStruct}
		switch v["kind"] {
		case "enumEmptyVariantTypeNode":
		case "enumStructVariantTypeNode":
			t, err = c.member(v, "struct", depth)
		case "enumTupleVariantTypeNode":
			t, err = c.member(v, "tuple", depth)
		default:
			err = fmt.Errorf("variant %.64q %w", v["kind"], errUnread)
		}
		if err == nil && t.kind != wireStruct {
			err = fmt.Errorf("variant %.64q with something around its fields %w", name, errUnread)
		}
		if err != nil {
			return nil, err
		}
		made.tags, made.members = append(made.tags, uint64(tag)), append(made.members, wireMember{name, t})
	}
	return made, nil
}

// defined resolves a type of the program's own, or of another in the file.
func (c *codama) defined(n object, depth int) (*wireType, error) {
	name, err := stringIn(n, "name")
	if err != nil {
		return nil, err
	}
	in := c.main
	if n["program"] != nil {
		link, err := node(n, "program")
		if err != nil {
			return nil, err
		}
		if in, err = stringIn(link, "name"); err != nil {
			return nil, err
		}
	}
	found := c.types[in][name]
	if found == nil {
		return nil, fmt.Errorf("type %.64q of program %.64q is not defined", name, in)
	}
	outer := c.main
	c.main = in
	defer func() { c.main = outer }()
	return c.resolve(found, depth+1)
}

// within reads what bounds another type, or stands around it.
func (c *codama) within(n object, depth int) (made *wireType, err error) {
	if n["type"] == nil {
		return nil, fmt.Errorf("%s where a type is expected", n["kind"])
	}
	made = &wireType{}
	if made.element, err = c.member(n, "type", depth); err != nil {
		return nil, err
	}
	switch n["kind"] {
	case "fixedSizeTypeNode":
		made.kind = wireFixed
		made.size, err = sizeOf(n, "size")
	case "sizePrefixTypeNode":
		made.kind = wireSized
		made.prefix, err = c.number(n, "prefix", depth)
	case "sentinelTypeNode":
		made.kind = wireUntil
		made.constant, err = c.constant(n, "sentinel")
	case "hiddenPrefixTypeNode":
		made.kind = wireBehind
		made.constant, err = c.constants(n, "prefix")
	case "hiddenSuffixTypeNode":
		made.kind = wireBefore
		made.constant, err = c.constants(n, "suffix")
	default:
		err = fmt.Errorf("%s where a type is expected", n["kind"])
	}
	return made, err
}

// constants encodes a list of constantValueNodes one behind the other.
func (c *codama) constants(n object, name string) (raw []byte, err error) {
	list, err := nodes(n, name, "constantValueNode")
	for _, value := range list {
		var one []byte
		if one, err = c.constant(object{"constant": value}, "constant"); err != nil {
			return nil, err
		}
		raw = append(raw, one...)
	}
	return raw, err
}

// node is a member that is a node.
func node(n object, name string) (object, error) {
	found, ok := n[name].(object)
	if _, kind := found["kind"].(string); !ok || !kind {
		return nil, fmt.Errorf("%s: a node is expected", name)
	}
	return found, nil
}

// nodes is a member that is a list of nodes, of one kind unless that is empty. One that
// is missing is empty.
func nodes(n object, name, kind string) (list []object, err error) {
	if n[name] == nil {
		return nil, nil
	}
	given, ok := n[name].([]any)
	if !ok {
		return nil, fmt.Errorf("%s: a list is expected", name)
	}
	for i, element := range given {
		one, ok := element.(object)
		if own, is := one["kind"].(string); !ok || !is || kind != "" && own != kind {
			return nil, fmt.Errorf("%s.%d: a %s is expected", name, i, kind)
		}
		list = append(list, one)
	}
	return list, nil
}

func stringIn(n object, name string) (string, error) {
	text, ok := n[name].(string)
	if !ok || text == "" {
		return "", fmt.Errorf("%s: a text is expected", name)
	}
	return text, nil
}

// sizeOf is a member that is a number of bytes or elements.
func sizeOf(n object, name string) (int, error) {
	size, ok := n[name].(int64)
	if !ok || size < 0 || size > 1<<16 {
		return 0, fmt.Errorf("%s: a number up to %d is expected", name, 1<<16)
	}
	return int(size), nil
}
