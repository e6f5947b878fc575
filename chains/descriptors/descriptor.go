package descriptors

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// target is a program of a chain that a file describes.
type target struct {
	chain   string // CAIP-2, or "tron", "solana"
	address string // in the chain's binary form
}

// String returns the chain's id, a colon, and the address.
func (t target) String() string {
	switch t.chain {
	case textChain:
		return t.address
	case solanaChain:
		return t.chain + ":" + base58.Encode([]byte(t.address))
	case tronChain:
		return t.chain + ":" + account(tronChain, []byte(t.address[1:])).String()
	}
	return t.chain + ":" + evm.Address([]byte(t.address)).String()
}

// descriptor is an ERC-7730 descriptor, or the ABI of one contract.
type descriptor struct {
	owner    string
	root     object // the merged file, for paths that begin with $
	formats  map[[4]byte]*format
	typed    map[string]*format // of typed data, by the type as EIP-712 encodes it; nil for calls
	domain   domainForm         // required of typed data; an empty member may have any value
	external string             // a condition that cannot be checked offline; empty if there is none
}

// format is what a descriptor says about a function or a type.
type format struct {
	function     *evm.Function // nil for a type
	intent       string
	interpolated string
	fields       []field
	twice        bool // two keys have the selector
}

// formatForm is a member of display.formats.
type formatForm struct {
	ID           string  `json:"$id"`
	Comment      string  `json:"$comment"`
	Intent       any     `json:"intent"`
	Interpolated string  `json:"interpolatedIntent"`
	Fields       []field `json:"fields"`
	Required     any     `json:"required"` // of version 1, kept by some files: every argument is shown anyway
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

// deploymentForm is a contract on a chain.
type deploymentForm struct {
	ChainID uint64 `json:"chainId"`
	Address string `json:"address"`
}

// domainForm is what a descriptor requires of the domain of typed data.
type domainForm struct {
	Name              string `json:"name"`
	Version           string `json:"version"`
	ChainID           any    `json:"chainId"`           // the deployments have it
	VerifyingContract any    `json:"verifyingContract"` // the deployments have it
	Salt              any    `json:"salt"`
}

// typedForm is the context of typed data.
type typedForm struct {
	Domain          domainForm       `json:"domain"`
	Deployments     []deploymentForm `json:"deployments"`
	Schemas         any              `json:"schemas"` // of version 1: the keys of the formats have them
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

// rootForm has the members of a descriptor. One of a later version is not passed over.
type rootForm struct {
	Schema   string `json:"$schema"`
	Comment  any    `json:"$comment"`
	Includes any    `json:"includes"`
	Context  any    `json:"context"`
	Metadata any    `json:"metadata"`
	Display  struct {
		Definitions any `json:"definitions"`
		Formats     any `json:"formats"`
	} `json:"display"`
}

// maxFormats and maxFields bound a descriptor.
const (
	maxFormats = 512
	maxFields  = 256
)

var schemaVersion = plaintext.NewPattern(`erc7730-v([0-9]+)(\.[0-9.]+)?\.schema\.json$`)

// newDescriptor reads a merged ERC-7730 file. A file without targets is only included by
// others, or describes typed data of any contract.
func newDescriptor(root object) (d *descriptor, targets []target, err error) {
	schema, _ := root["$schema"].(string)
	if parts := schemaVersion.Regexp().FindStringSubmatch(schema); parts == nil || parts[1] != "2" {
		return nil, nil, fmt.Errorf("$schema %.80q: only version 2 of ERC-7730 is supported", schema)
	}
	if err := into(root, new(rootForm)); err != nil {
		return nil, nil, err
	}
	given := root["context"]
	if given == nil {
		given = object{}
	}
	var context contextForm
	if err := into(given, &context); err != nil {
		return nil, nil, fmt.Errorf("context: %w", err)
	}
	d = &descriptor{root: root, formats: map[[4]byte]*format{}}
	d.owner, _ = lookUp(root, "$.metadata.owner").(string)
	switch {
	case context.EIP712 != nil:
		return d.ofTyped(context.EIP712)
	case context.Contract == nil:
		return d, nil, nil
	}
	for _, external := range []struct {
		name string
		node any
	}{{"factory", context.Contract.Factory}, {"addressMatcher", context.Contract.Matcher},
		{"proxy", context.Contract.Proxy}, {"stateRefs", context.Contract.State}} {
		if external.node != nil {
			d.external = external.name
		}
	}
	if targets, err = targetsOf(context.Contract.Deployments); err != nil {
		return nil, nil, err
	}
	return d, targets, d.readFormats(func(key string, f *format) error {
		function, err := evm.ParseFunction(key)
		if err != nil {
			return err
		}
		f.function, f.twice = function, d.formats[function.Selector] != nil
		d.formats[function.Selector] = f
		return nil
	})
}

func targetsOf(deployments []deploymentForm) (targets []target, err error) {
	for i, deployment := range deployments {
		contract, err := evmTarget(deployment.ChainID, deployment.Address)
		if err != nil {
			return nil, fmt.Errorf("deployments[%d]: %w", i, err)
		}
		targets = append(targets, contract)
	}
	return targets, nil
}

// readFormats reads display.formats, and calls add with each key and its format.
func (d *descriptor) readFormats(add func(key string, f *format) error) error {
	formats, _ := lookUp(d.root, "$.display.formats").(object)
	if len(formats) > maxFormats {
		return fmt.Errorf("display.formats: %d keys, of at most %d", len(formats), maxFormats)
	}
	for _, key := range sortedNames(formats) {
		f, err := d.formatOf(formats[key])
		if err == nil {
			err = add(key, f)
		}
		if err != nil {
			return fmt.Errorf("display.formats[%.64q]: %w", key, err)
		}
	}
	return nil
}

func (d *descriptor) formatOf(node any) (*format, error) {
	expanded, err := d.expand(node, 0)
	if err != nil {
		return nil, err
	}
	var form formatForm
	if err := into(expanded, &form); err != nil {
		return nil, err
	}
	count, err := checkFields(form.Fields, 0)
	switch {
	case err != nil:
		return nil, err
	case count > maxFields:
		return nil, fmt.Errorf("%d fields, of at most %d", count, maxFields)
	}
	return &format{intent: intentText(form.Intent), interpolated: form.Interpolated, fields: form.Fields}, nil
}

// checkFields refuses fields with a condition or an encrypted value, and counts the others.
func checkFields(fields []field, depth int) (count int, err error) {
	if depth > 4 && len(fields) > 0 {
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
			return 0, fmt.Errorf("field %.64q: visible with a condition is not supported", f.Path)
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

// expand replaces references of fields by the definitions that they refer to. Members of
// the field itself take precedence.
func (d *descriptor) expand(node any, depth int) (any, error) {
	members, ok := node.(object)
	if !ok || depth > 8 {
		return node, nil
	}
	expanded := object{}
	if ref, ok := members["$ref"].(string); ok && strings.HasPrefix(ref, "$.display.definitions.") {
		definition, ok := lookUp(d.root, ref).(object)
		if !ok {
			return nil, fmt.Errorf("$ref %.80q does not exist", ref)
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

// lookUp returns the value at a path in a file, such as $.metadata.constants.max.
func lookUp(root object, path string) any {
	var node any = root
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "$."), ".") {
		members, ok := node.(object)
		if !ok {
			return nil
		}
		node = members[name]
	}
	return node
}

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

// tronChainID is the chain id of Tron in token lists and descriptors.
const tronChainID = 728126428

// evmTarget returns a contract by the EIP-155 id of its chain and its address in hex.
func evmTarget(chainID uint64, address string) (target, error) {
	raw, err := fixedHex(address, 20)
	if err != nil {
		return target{}, fmt.Errorf("address %.64q: %w", address, err)
	}
	switch chainID {
	case 0:
		return target{}, errors.New("chainId: missing")
	case tronChainID:
		return target{"tron", "\x41" + string(raw)}, nil
	}
	return target{fmt.Sprintf("eip155:%d", chainID), string(raw)}, nil
}

// fixedHex reads 0x and the digits of size bytes.
func fixedHex(text string, size int) ([]byte, error) {
	digits, ok := strings.CutPrefix(text, "0x")
	raw, err := hex.DecodeString(digits)
	if !ok || err != nil || len(raw) != size {
		return nil, fmt.Errorf("must be 0x and %d hex digits", 2*size)
	}
	return raw, nil
}

// ofTyped reads the formats of typed data (EIP-712). Their keys are types as EIP-712 encodes them.
func (d *descriptor) ofTyped(context *typedForm) (*descriptor, []target, error) {
	d.domain, d.typed = context.Domain, map[string]*format{}
	switch {
	case context.DomainSeparator != nil:
		d.external = "domainSeparator"
	case context.Domain.Salt != nil:
		d.external = "domain.salt"
	}
	targets, err := targetsOf(context.Deployments)
	if err != nil {
		return nil, nil, err
	}
	return d, targets, d.readFormats(func(key string, f *format) error {
		d.typed[key] = f
		return nil
	})
}
