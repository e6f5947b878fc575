package descriptors

import (
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains/internal/evm"
)

// target is where a file holds: a program of a chain.
type target struct {
	chain   string // CAIP-2, or "tron", "solana"
	address string // in the chain's binary form
}

// descriptor is an ERC-7730 descriptor, or the ABI of one contract.
type descriptor struct {
	owner    string
	root     object // the merged file, for paths that start with $
	formats  map[[4]byte]*format
	typed    map[string]*format // of typed data, by the type as EIP-712 hashes it
	domain   domainForm         // that typed data has; what is empty may be any
	external string             // the condition that cannot be checked here; empty: none
}

// format is what a descriptor says of one function, or of one type.
type format struct {
	function     *evm.Function // nil of a type
	intent       string
	interpolated string
	fields       []field
	twice        bool // two keys have this selector
}

// formatForm is a member of display.formats.
type formatForm struct {
	ID           string  `json:"$id"`
	Comment      string  `json:"$comment"`
	Intent       any     `json:"intent"`
	Interpolated string  `json:"interpolatedIntent"`
	Fields       []field `json:"fields"`
	Required     any     `json:"required"` // of version 1, kept by some files: all that it asks for is shown anyway
	Excluded     any     `json:"excluded"`
	Screens      any     `json:"screens"`
}

// field is a member of fields: a value to show, or a group of fields.
type field struct {
	ID         string  `json:"$id"`
	Comment    string  `json:"$comment"`
	Ref        string  `json:"$ref"`
	Path       string  `json:"path"`
	Value      any     `json:"value"`
	Label      string  `json:"label"`
	Format     string  `json:"format"`
	Params     object  `json:"params"`
	Visible    any     `json:"visible"`
	Separator  string  `json:"separator"`
	Iteration  string  `json:"iteration"`
	Encryption any     `json:"encryption"`
	Fields     []field `json:"fields"`
}

// deploymentForm is a contract of a chain.
type deploymentForm struct {
	ChainID uint64 `json:"chainId"`
	Address string `json:"address"`
}

// domainForm is what a descriptor asks of the domain of typed data.
type domainForm struct {
	Name              string `json:"name"`
	Version           string `json:"version"`
	ChainID           any    `json:"chainId"`           // the deployments say it
	VerifyingContract any    `json:"verifyingContract"` // likewise
	Salt              any    `json:"salt"`
}

// typedForm is the context of typed data.
type typedForm struct {
	Domain          domainForm       `json:"domain"`
	Deployments     []deploymentForm `json:"deployments"`
	Schemas         any              `json:"schemas"` // of version 1: the keys of the formats say it
	DomainSeparator any              `json:"domainSeparator"`
}

// contextForm is the member context of a descriptor.
type contextForm struct {
	ID       string `json:"$id"`
	Contract *struct {
		Deployments []deploymentForm `json:"deployments"`
		ABI         any              `json:"abi"`
		Factory     any              `json:"factory"`
		Matcher     any              `json:"addressMatcher"`
		Proxy       any              `json:"proxy"`
		State       any              `json:"stateRefs"`
	} `json:"contract"`
	EIP712 *typedForm `json:"eip712"`
}

// maxFormats and maxFields bound a descriptor.
const (
	maxFormats = 512
	maxFields  = 256
)

var schemaVersion = regexp.MustCompile(`erc7730-v([0-9]+)(\.[0-9.]+)?\.schema\.json$`)

// newDescriptor reads a merged ERC-7730 file. Without targets it is one that only
// other files include, or one of typed data of any contract.
func newDescriptor(root object) (d *descriptor, targets []target, err error) {
	schema, _ := root["$schema"].(string)
	if parts := schemaVersion.FindStringSubmatch(schema); parts == nil || parts[1] != "2" {
		return nil, nil, fmt.Errorf("$schema %.80q: version 2 of ERC-7730 is read", schema)
	}
	var context contextForm
	if err := into(orEmpty(root["context"]), &context); err != nil {
		return nil, nil, fmt.Errorf("context: %w", err)
	}
	d = &descriptor{root: root, formats: map[[4]byte]*format{}, owner: textAt(root, "metadata", "owner")}
	switch {
	case context.EIP712 != nil:
		return d.ofTyped(context.EIP712)
	case context.Contract == nil:
		return d, nil, nil
	}
	for _, external := range []struct {
		name string
		node any
	}{{"factory", context.Contract.Factory}, {"addressMatcher", context.Contract.Matcher}, {"proxy", context.Contract.Proxy}, {"stateRefs", context.Contract.State}} {
		if external.node != nil {
			d.external = external.name
		}
	}
	if targets, err = targetsOf(context.Contract.Deployments); err != nil {
		return nil, nil, err
	}
	return d, targets, d.readFormats()
}

func targetsOf(deployments []deploymentForm) (targets []target, err error) {
	for i, deployment := range deployments {
		at, err := evmTarget(deployment.ChainID, deployment.Address)
		if err != nil {
			return nil, fmt.Errorf("deployments[%d]: %w", i, err)
		}
		targets = append(targets, at)
	}
	return targets, nil
}

func orEmpty(node any) any {
	if node == nil {
		return object{}
	}
	return node
}

// readFormats reads display.formats.
func (d *descriptor) readFormats() error {
	display, _ := d.root["display"].(object)
	formats, _ := display["formats"].(object)
	if len(formats) > maxFormats {
		return fmt.Errorf("display.formats: %d functions, at most %d are read", len(formats), maxFormats)
	}
	for _, key := range sortedNames(formats) {
		made, err := d.format(key, formats[key])
		if err != nil {
			return fmt.Errorf("display.formats[%.64q]: %w", key, err)
		}
		if other := d.formats[made.function.Selector]; other != nil {
			made.twice = true
		}
		d.formats[made.function.Selector] = made
	}
	return nil
}

func (d *descriptor) format(key string, node any) (*format, error) {
	function, err := evm.ParseFunction(key)
	if err != nil {
		return nil, err
	}
	made, err := d.formatOf(node)
	if err != nil {
		return nil, err
	}
	made.function = function
	return made, nil
}

// formatOf reads what is said of a function or type.
func (d *descriptor) formatOf(node any) (*format, error) {
	expanded, err := d.expand(node, 0)
	if err != nil {
		return nil, err
	}
	var form formatForm
	if err := into(expanded, &form); err != nil {
		return nil, err
	}
	if count, err := checkFields(form.Fields, 0); err != nil || count > maxFields {
		return nil, errors.Join(err, tooMany(count))
	}
	return &format{intent: intentText(form.Intent), interpolated: form.Interpolated, fields: form.Fields}, nil
}

func tooMany(count int) error {
	if count <= maxFields {
		return nil
	}
	return fmt.Errorf("%d fields, at most %d are read", count, maxFields)
}

// checkFields refuses what no field of version 2 says without a condition.
func checkFields(fields []field, depth int) (count int, err error) {
	if depth > 4 {
		return 0, errors.New("groups nested deeper than 4")
	}
	for i := range fields {
		f := &fields[i]
		switch visible := f.Visible.(type) {
		case nil, bool:
		case string:
			if !slices.Contains([]string{"always", "never", "optional"}, visible) {
				return 0, fmt.Errorf("visible %.32q", visible)
			}
		default:
			return 0, fmt.Errorf("field %.64q: visible with a condition is not read", f.Path)
		}
		if f.Encryption != nil {
			return 0, fmt.Errorf("field %.64q: an encrypted value cannot be read", f.Path)
		}
		inner, err := checkFields(f.Fields, depth+1)
		if err != nil {
			return 0, err
		}
		count += 1 + inner
	}
	return count, nil
}

// expand puts the definitions that fields refer to in their place: members of the
// field itself count before those of the definition.
func (d *descriptor) expand(node any, depth int) (any, error) {
	members, ok := node.(object)
	if !ok || depth > 8 {
		return node, nil
	}
	expanded := object{}
	if ref, ok := members["$ref"].(string); ok && strings.HasPrefix(ref, "$.display.definitions.") {
		definition, ok := lookUp(d.root, ref).(object)
		if !ok {
			return nil, fmt.Errorf("$ref %.80q leads to nothing", ref)
		}
		members = mergeObjects(definition, members)
		delete(members, "$ref")
	}
	for name, member := range members {
		expanded[name] = member
		list, isList := member.([]any)
		if name != "fields" || !isList {
			continue
		}
		fields := make([]any, len(list))
		for i := range list {
			var err error
			if fields[i], err = d.expand(list[i], depth+1); err != nil {
				return nil, err
			}
		}
		expanded[name] = fields
	}
	return expanded, nil
}

// lookUp returns what a path such as $.metadata.constants.max leads to in a file.
func lookUp(root object, path string) any {
	var node any = root
	for _, name := range strings.Split(strings.TrimPrefix(path, "$."), ".") {
		members, ok := node.(object)
		if !ok {
			return nil
		}
		node = members[name]
	}
	return node
}

func textAt(root object, names ...string) string {
	text, _ := lookUp(root, "$."+strings.Join(names, ".")).(string)
	return text
}

// intentText returns an intent, which is a text or an object of texts.
func intentText(intent any) string {
	switch intent := intent.(type) {
	case string:
		return intent
	case object:
		var parts []string
		for _, name := range sortedNames(intent) {
			parts = append(parts, fmt.Sprintf("%s: %v", name, intent[name]))
		}
		return strings.Join(parts, ", ")
	}
	return ""
}

// tronChainID is the chain id by which token lists and descriptors name Tron.
const tronChainID = 728126428

// evmTarget is a contract of a chain with an EIP-155 id, by an address in hex.
func evmTarget(chainID uint64, address string) (target, error) {
	digits, ok := strings.CutPrefix(address, "0x")
	raw, err := hex.DecodeString(digits)
	if !ok || err != nil || len(raw) != 20 {
		return target{}, fmt.Errorf("address %.64q: 0x and 40 hex digits are expected", address)
	}
	switch chainID {
	case 0:
		return target{}, errors.New("chainId is missing")
	case tronChainID:
		return target{"tron", "\x41" + string(raw)}, nil
	}
	return target{fmt.Sprintf("eip155:%d", chainID), string(raw)}, nil
}

// numberOf returns a JSON number or text as an integer.
func numberOf(node any) (int, bool) {
	number, ok := node.(int64)
	return int(number), ok && number >= 0 && number <= 1<<20
}
