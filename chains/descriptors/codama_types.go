package descriptors

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
)

// codamaMembers are the members that a node of each kind can have. A node with other
// members is not supported: it may be encoded differently.
var codamaMembers = map[string]string{
	"numberTypeNode": "format endian", "booleanTypeNode": "size", "publicKeyTypeNode": "", "bytesTypeNode": "",
	"stringTypeNode": "encoding",
	"amountTypeNode": "decimals unit number", "solAmountTypeNode": "number", "dateTimeTypeNode": "number",
	"structTypeNode": "fields", "structFieldTypeNode": "type defaultValue defaultValueStrategy",
	"tupleTypeNode": "items",
	"arrayTypeNode": "item count", "setTypeNode": "item count", "mapTypeNode": "key value count",
	"optionTypeNode": "item prefix fixed", "remainderOptionTypeNode": "item",
	"zeroableOptionTypeNode": "item zeroValue",
	"enumTypeNode":           "variants size", "enumEmptyVariantTypeNode": "discriminator",
	"enumStructVariantTypeNode": "discriminator struct", "enumTupleVariantTypeNode": "discriminator tuple",
	"fixedSizeTypeNode": "size type", "sizePrefixTypeNode": "type prefix", "sentinelTypeNode": "type sentinel",
	"hiddenPrefixTypeNode": "type prefix", "hiddenSuffixTypeNode": "type suffix", "definedTypeLinkNode": "program",
	"fixedCountNode": "value", "prefixedCountNode": "prefix", "remainderCountNode": "",
}

// codama reads an IDL of Codama, a rootNode of version 1 (https://github.com/codama-idl/spec).
// Additional programs only supply types. Display and documentation are ignored.
type codama struct {
	idl
	defined map[string]map[string]object // the types of each program
	main    string                       // the program of types that name no program
}

// supports reports whether a node is of a known kind, without unknown members. Otherwise it is
// an error.
func (c *codama) supports(n object) bool {
	kind, _ := n["kind"].(string)
	members, ok := codamaMembers[kind]
	if !ok {
		c.fail("type %.64q %w", kind, errUnread)
	}
	for _, name := range sortedNames(n) {
		if !slices.Contains([]string{"kind", "name", "docs", "display", "plugins"}, name) &&
			!slices.Contains(strings.Fields(members), name) {
			c.fail("member %.64q of %s %w", name, kind, errUnread)
		}
	}
	return c.err == nil
}

func (c *codama) resolve(n object, depth int) *wireType {
	if !c.bound(depth) || !c.supports(n) {
		return &wireType{}
	}
	switch n["kind"] {
	case "numberTypeNode":
		return c.numberType(n)
	case "publicKeyTypeNode":
		return &wireType{kind: wireKey}
	case "bytesTypeNode":
		return &wireType{kind: wireBytes}
	case "stringTypeNode":
		switch n["encoding"] {
		case "utf8":
			return &wireType{kind: wireText}
		case "base16", "base58", "base64":
		default:
			c.failEncoding()
		}
		return &wireType{kind: wireBytes}
	case "amountTypeNode", "solAmountTypeNode", "dateTimeTypeNode":
		return c.member(n, "number", depth)
	case "booleanTypeNode":
		return &wireType{kind: wireBool, prefix: c.number(n, "size", depth)}
	case "structTypeNode":
		structure := &wireType{kind: wireStruct}
		for _, field := range c.nodes(n, "fields", "structFieldTypeNode") {
			name := c.text(field, "name")
			if c.supports(field) {
				structure.members = c.named(structure.members, name, c.member(field, "type", depth))
			}
		}
		return structure
	case "tupleTypeNode":
		tuple := &wireType{kind: wireStruct}
		for i, item := range c.nodes(n, "items", "") {
			tuple.members = append(tuple.members, wireMember{strconv.Itoa(i), c.resolve(item, depth+1)})
		}
		return tuple
	case "arrayTypeNode", "setTypeNode", "mapTypeNode":
		return c.collection(n, depth)
	case "optionTypeNode", "remainderOptionTypeNode", "zeroableOptionTypeNode":
		return c.option(n, depth)
	case "enumTypeNode":
		return c.enum(n, depth)
	case "definedTypeLinkNode":
		return c.link(n, depth)
	}
	return c.wrapped(n, depth)
}

func (c *codama) member(n object, name string, depth int) *wireType {
	return c.resolve(c.node(n, name), depth+1)
}

// number resolves a type that must be a plain unsigned number.
func (c *codama) number(n object, name string, depth int) *wireType {
	t := c.member(n, name, depth)
	if t.kind != wireCompact && (t.kind != wireNumber || t.signed) {
		c.fail("%s of %s that is not a plain unsigned number %w", name, n["kind"], errUnread)
	}
	return t
}

func (c *codama) numberType(n object) *wireType {
	format, _ := n["format"].(string)
	number, ok := numberType(format)
	switch {
	case n["endian"] != "le" && n["endian"] != "be":
		c.fail("endian: must be le or be")
	case format == "shortU16":
		return &wireType{kind: wireCompact}
	case !ok || number.size > 16:
		c.fail("number format %.32q %w", format, errUnread)
	default:
		number.big = n["endian"] == "be"
		return number
	}
	return &wireType{}
}

// collection resolves an array, a set, or a map, whose elements are pairs.
func (c *codama) collection(n object, depth int) *wireType {
	list := &wireType{}
	if n["kind"] == "mapTypeNode" {
		list.element = &wireType{kind: wireStruct, members: []wireMember{
			{"key", c.member(n, "key", depth)}, {"value", c.member(n, "value", depth)}}}
	} else {
		list.element = c.member(n, "item", depth)
	}
	count := c.node(n, "count")
	if c.err != nil || !c.supports(count) {
		return list
	}
	switch count["kind"] {
	case "fixedCountNode":
		list.kind, list.size = wireArray, c.size(count, "value")
	case "prefixedCountNode":
		list.kind, list.prefix = wireList, c.number(count, "prefix", depth)
	case "remainderCountNode":
		list.kind = wireRestList
	default:
		c.fail("count %.64q %w", count["kind"], errUnread)
	}
	return list
}

func (c *codama) option(n object, depth int) *wireType {
	option := &wireType{kind: wireRestOption, element: c.member(n, "item", depth)}
	size, fixed := option.element.width()
	switch n["kind"] {
	case "optionTypeNode":
		option.kind = wireOption
		if padded, _ := n["fixed"].(bool); padded {
			if option.size = size; !fixed || size == 0 {
				c.fail("the item of an option of fixed size has no fixed size")
			}
		}
		option.prefix = c.number(n, "prefix", depth)
	case "zeroableOptionTypeNode":
		option.kind = wireZeroable
		if option.constant = make([]byte, size); n["zeroValue"] != nil {
			option.constant = c.constant(c.node(n, "zeroValue"))
		}
		if !fixed || size == 0 || len(option.constant) != size {
			c.fail("the item of a zeroable option has no fixed size")
		}
	}
	return option
}

func (c *codama) enum(n object, depth int) *wireType {
	enum := &wireType{kind: wireEnum, tags: []uint64{}, prefix: c.number(n, "size", depth)}
	for i, v := range c.nodes(n, "variants", "") {
		name, tag := c.text(v, "name"), i
		if !c.supports(v) {
			return enum
		}
		if v["discriminator"] != nil {
			tag = c.size(v, "discriminator")
		}
		if slices.Contains(enum.tags, uint64(tag)) {
			c.fail("two variants have the discriminator %d", tag)
		}
		t := &wireType{kind: wireStruct}
		switch v["kind"] {
		case "enumEmptyVariantTypeNode":
		case "enumStructVariantTypeNode":
			t = c.member(v, "struct", depth)
		case "enumTupleVariantTypeNode":
			t = c.member(v, "tuple", depth)
		default:
			c.fail("variant %.64q %w", v["kind"], errUnread)
		}
		if t.kind != wireStruct {
			c.fail("variant %.64q whose fields are wrapped %w", name, errUnread)
		}
		enum.tags, enum.members = append(enum.tags, uint64(tag)), append(enum.members, wireMember{name, t})
	}
	return enum
}

// link resolves a type that the program, or another one of the file, defines.
func (c *codama) link(n object, depth int) *wireType {
	name, program := c.text(n, "name"), c.main
	if n["program"] != nil {
		program = c.text(c.node(n, "program"), "name")
	}
	definition := c.defined[program][name]
	if definition == nil {
		c.fail("type %.64q of program %.64q is not defined", name, program)
	}
	outer := c.main
	c.main = program
	defer func() { c.main = outer }()
	return c.resolve(definition, depth+1)
}

// wrapped resolves a type that bounds or surrounds another one.
func (c *codama) wrapped(n object, depth int) *wireType {
	if n["type"] == nil {
		c.fail("%s is not a type", n["kind"])
		return &wireType{}
	}
	outer := &wireType{element: c.member(n, "type", depth)}
	switch n["kind"] {
	case "fixedSizeTypeNode":
		outer.kind, outer.size = wireFixed, c.size(n, "size")
	case "sizePrefixTypeNode":
		outer.kind, outer.prefix = wireSized, c.number(n, "prefix", depth)
	case "sentinelTypeNode":
		outer.kind, outer.constant = wireTerminated, c.constant(c.node(n, "sentinel"))
	case "hiddenPrefixTypeNode":
		outer.kind, outer.constant = wireAfterConstant, c.constants(n, "prefix")
	case "hiddenSuffixTypeNode":
		outer.kind, outer.constant = wireBeforeConstant, c.constants(n, "suffix")
	default:
		c.fail("%s is not a type", n["kind"])
	}
	return outer
}

// constants encodes a list of constantValueNodes, one after the other.
func (c *codama) constants(n object, name string) (raw []byte) {
	for _, value := range c.nodes(n, name, "constantValueNode") {
		raw = append(raw, c.constant(value)...)
	}
	return raw
}

func (c *codama) constant(n object) []byte {
	value := c.node(n, "value")
	raw := c.encode(c.member(n, "type", -1), value)
	if len(raw) == 0 {
		c.fail("the constant is empty")
	}
	return raw
}

// encode encodes a value of a type: a number, bytes, a text or an address.
func (c *codama) encode(t *wireType, value object) []byte {
	switch value["kind"] {
	case "numberValueNode":
		if number, ok := value["number"].(int64); ok {
			if raw, ok := t.encode(big.NewInt(number)); ok {
				return raw
			}
		}
	case "bytesValueNode":
		raw := c.decode(value)
		size, fixed := t.width()
		if t.kind == wireBytes || t.kind == wireFixed && t.element.kind == wireBytes && fixed && size == len(raw) {
			return raw
		}
	case "stringValueNode":
		if text, ok := value["string"].(string); ok && t.kind == wireText {
			return []byte(text)
		}
	case "publicKeyValueNode":
		text, _ := value["publicKey"].(string)
		if raw, err := solanaAddress(text); err == nil && t.kind == wireKey {
			return raw
		}
	}
	c.fail("%.64q: the value does not fit its type", value["kind"])
	return nil
}

func (c *codama) decode(value object) (raw []byte) {
	text, ok := value["data"].(string)
	if !ok || len(text) > maxText {
		c.fail("data: must be a text of at most %d bytes", maxText)
	}
	var err error
	switch value["encoding"] {
	case "base16":
		raw, err = hex.DecodeString(text)
	case "base58":
		if raw = base58.Decode(text); len(raw) == 0 && text != "" {
			err = errors.New("data: not base58")
		}
	case "base64":
		raw, err = base64.StdEncoding.Strict().DecodeString(text)
	case "utf8":
		return []byte(text)
	default:
		c.failEncoding()
	}
	if err != nil {
		c.fail("%w", err)
	}
	return raw
}

func (c *codama) failEncoding() { c.fail("encoding: must be base16, base58, base64 or utf8") }
