package descriptors

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// codamaMembers are the members that a node of each kind can have. A node with other
// members is not supported: it may be encoded differently.
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

// checkMembers refuses a node of an unknown kind, or with unknown members.
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

// resolve resolves a type.
func (c *codama) resolve(n object, depth int) (*wireType, error) {
	if c.count++; depth > 16 || c.count > 20_000 {
		return nil, errors.New("the types are nested too deep, or there are too many")
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

// member resolves the type in a member of a node.
func (c *codama) member(n object, name string, depth int) (*wireType, error) {
	inner, err := node(n, name)
	if err != nil {
		return nil, err
	}
	return c.resolve(inner, depth+1)
}

// number resolves a type that must be a plain unsigned number.
func (c *codama) number(n object, name string, depth int) (*wireType, error) {
	t, err := c.member(n, name, depth)
	if err == nil && t.kind != wireCompact && (t.kind != wireNumber || t.signed) {
		err = fmt.Errorf("%s of %s that is not a plain unsigned number %w", name, n["kind"], errUnread)
	}
	return t, err
}

func codamaNumber(n object) (*wireType, error) {
	format, _ := n["format"].(string)
	number, ok := numberType(format)
	switch {
	case n["endian"] != "le" && n["endian"] != "be":
		return nil, errors.New("endian: must be le or be")
	case format == "shortU16":
		number = &wireType{kind: wireCompact}
	case !ok || number.size > 16:
		return nil, fmt.Errorf("number format %.32q %w", format, errUnread)
	}
	number.big = n["endian"] == "be"
	return number, nil
}

// codamaText reads a stringTypeNode. An encoding other than UTF-8 makes it bytes.
func codamaText(n object) (*wireType, error) {
	switch n["encoding"] {
	case "utf8":
		return &wireType{kind: wireText}, nil
	case "base16", "base58", "base64":
		return &wireType{kind: wireBytes}, nil
	}
	return nil, errEncoding
}

// structure resolves a struct, or a tuple, whose fields are numbered.
func (c *codama) structure(n object, depth int) (*wireType, error) {
	structure := &wireType{kind: wireStruct}
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
			structure.members = append(structure.members, wireMember{strconv.Itoa(i), t})
		}
		return structure, nil
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
		if structure.members, err = named(structure.members, name, t); err != nil {
			return nil, err
		}
	}
	return structure, nil
}

// list resolves an array, a set, or a map, whose elements are pairs.
func (c *codama) list(n object, depth int) (list *wireType, err error) {
	list = &wireType{}
	if n["kind"] == "mapTypeNode" {
		list.element = &wireType{kind: wireStruct}
		for _, name := range []string{"key", "value"} {
			t, err := c.member(n, name, depth)
			if err != nil {
				return nil, err
			}
			list.element.members = append(list.element.members, wireMember{name, t})
		}
	} else if list.element, err = c.member(n, "item", depth); err != nil {
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
		list.kind = wireArray
		list.size, err = sizeOf(count, "value")
	case "prefixedCountNode":
		list.kind = wireList
		list.prefix, err = c.number(count, "prefix", depth)
	case "remainderCountNode":
		list.kind = wireRestList
	default:
		err = fmt.Errorf("count %.64q %w", count["kind"], errUnread)
	}
	return list, err
}

func (c *codama) option(n object, depth int) (option *wireType, err error) {
	option = &wireType{kind: wireRestOption}
	if option.element, err = c.member(n, "item", depth); err != nil {
		return nil, err
	}
	size, fixed := option.element.width()
	switch n["kind"] {
	case "optionTypeNode":
		option.kind = wireOption
		if padded, _ := n["fixed"].(bool); padded {
			if option.size = size; !fixed || size == 0 {
				return nil, errors.New("the item of an option of fixed size has no fixed size")
			}
		}
		option.prefix, err = c.number(n, "prefix", depth)
	case "zeroableOptionTypeNode":
		option.kind = wireZeroable
		if option.constant = make([]byte, size); n["zeroValue"] != nil {
			option.constant, err = c.constant(n, "zeroValue")
		}
		if err == nil && (!fixed || size == 0 || len(option.constant) != size) {
			err = errors.New("the item of a zeroable option has no fixed size")
		}
	}
	return option, err
}

func (c *codama) enum(n object, depth int) (enum *wireType, err error) {
	enum = &wireType{kind: wireEnum, tags: []uint64{}}
	if enum.prefix, err = c.number(n, "size", depth); err != nil {
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
		if slices.Contains(enum.tags, uint64(tag)) {
			return nil, fmt.Errorf("two variants have the discriminator %d", tag)
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
			err = fmt.Errorf("variant %.64q whose fields are wrapped %w", name, errUnread)
		}
		if err != nil {
			return nil, err
		}
		enum.tags, enum.members = append(enum.tags, uint64(tag)), append(enum.members, wireMember{name, t})
	}
	return enum, nil
}

// defined resolves a type that the program, or another one of the file, defines.
func (c *codama) defined(n object, depth int) (*wireType, error) {
	name, err := stringIn(n, "name")
	if err != nil {
		return nil, err
	}
	program := c.main
	if n["program"] != nil {
		link, err := node(n, "program")
		if err != nil {
			return nil, err
		}
		if program, err = stringIn(link, "name"); err != nil {
			return nil, err
		}
	}
	definition := c.types[program][name]
	if definition == nil {
		return nil, fmt.Errorf("type %.64q of program %.64q is not defined", name, program)
	}
	outer := c.main
	c.main = program
	defer func() { c.main = outer }()
	return c.resolve(definition, depth+1)
}

// within resolves a type that bounds or surrounds another one.
func (c *codama) within(n object, depth int) (outer *wireType, err error) {
	if n["type"] == nil {
		return nil, fmt.Errorf("%s is not a type", n["kind"])
	}
	outer = &wireType{}
	if outer.element, err = c.member(n, "type", depth); err != nil {
		return nil, err
	}
	switch n["kind"] {
	case "fixedSizeTypeNode":
		outer.kind = wireFixed
		outer.size, err = sizeOf(n, "size")
	case "sizePrefixTypeNode":
		outer.kind = wireSized
		outer.prefix, err = c.number(n, "prefix", depth)
	case "sentinelTypeNode":
		outer.kind = wireTerminated
		outer.constant, err = c.constant(n, "sentinel")
	case "hiddenPrefixTypeNode":
		outer.kind = wireAfterConstant
		outer.constant, err = c.constants(n, "prefix")
	case "hiddenSuffixTypeNode":
		outer.kind = wireBeforeConstant
		outer.constant, err = c.constants(n, "suffix")
	default:
		err = fmt.Errorf("%s is not a type", n["kind"])
	}
	return outer, err
}

// constants encodes a list of constantValueNodes, one after the other.
func (c *codama) constants(n object, name string) (raw []byte, err error) {
	list, err := nodes(n, name, "constantValueNode")
	for _, value := range list {
		constant, err := c.constant(object{"constant": value}, "constant")
		if err != nil {
			return nil, err
		}
		raw = append(raw, constant...)
	}
	return raw, err
}

// node returns a member that must be a node.
func node(n object, name string) (object, error) {
	member, _ := n[name].(object)
	if _, ok := member["kind"].(string); !ok {
		return nil, fmt.Errorf("%s: must be a node", name)
	}
	return member, nil
}

// nodes returns a member that must be a list of nodes of a kind, or of any kind if that is
// empty. A missing list is empty.
func nodes(n object, name, kind string) (list []object, err error) {
	if n[name] == nil {
		return nil, nil
	}
	elements, ok := n[name].([]any)
	if !ok {
		return nil, fmt.Errorf("%s: must be a list", name)
	}
	for i, element := range elements {
		node, _ := element.(object)
		if elementKind, ok := node["kind"].(string); !ok || kind != "" && elementKind != kind {
			return nil, fmt.Errorf("%s.%d: must be a %s", name, i, cmp.Or(kind, "node"))
		}
		list = append(list, node)
	}
	return list, nil
}

// stringIn returns a member that must be a text.
func stringIn(n object, name string) (string, error) {
	text, ok := n[name].(string)
	if !ok || text == "" {
		return "", fmt.Errorf("%s: must be a text", name)
	}
	return text, nil
}

// sizeOf returns a member that must be a number of bytes or elements.
func sizeOf(n object, name string) (int, error) {
	size, ok := n[name].(int64)
	if !ok || size < 0 || size > 1<<16 {
		return 0, fmt.Errorf("%s: must be a number from 0 to %d", name, 1<<16)
	}
	return int(size), nil
}
