package walletpolicy

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// document is the JSON form of a policy, with the names that Ledger's and HWI's clients use
// for BIP-388's parts.
type document struct {
	Name     string   `json:"name"`
	Template string   `json:"descriptor_template"`
	Keys     []string `json:"keys_info"`
}

// Canonical returns the policy as one line of JSON: {"name","descriptor_template","keys_info"}.
func (p *Policy) Canonical() string {
	doc := document{p.name, p.Template(), nil}
	for i := range p.items {
		doc.Keys = append(doc.Keys, p.items[i].text)
	}
	text, err := strictjson.Marshal(doc)
	if err != nil {
		return "" // there is nothing in it that JSON cannot write
	}
	return string(text)
}

// MaxSize is the longest text of a policy that is read, in bytes.
const MaxSize = 1 << 15

// Read reads a policy from its JSON form, or from an output descriptor (BIP-380) with both
// branches in one (BIP-389), or from two descriptors, for receiving and for change, one per
// line, or in the array that Bitcoin Core's importdescriptors takes, or from Coldcard's
// multisig file. A checksum is verified. name is the wallet's name; it may be empty if JSON has one.
// Errors wrap ErrPolicy.
func Read(text []byte, name string) (*Policy, error) {
	p, err := read(text, name)
	if err != nil && !errors.Is(err, ErrPolicy) {
		err = fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	return p, err
}

func read(text []byte, name string) (*Policy, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("%d bytes, at most %d are read", len(text), MaxSize)
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff"))) // editors of Windows write the mark
	switch {
	case bytes.HasPrefix(text, []byte("[")):
		return readImports(text, name)
	case isMultisigFile(string(text)):
		return readMultisigFile(string(text), name)
	case !bytes.HasPrefix(text, []byte("{")):
		return readDescriptors(string(text), name)
	}
	var doc document
	if err := strictjson.Read(text, "JSON", strictjson.Optional("name", &doc.Name),
		strictjson.Required("descriptor_template", &doc.Template), strictjson.Required("keys_info", &doc.Keys)); err != nil {
		return nil, err
	}
	if name != "" {
		doc.Name = name
	}
	return newPolicy(doc.Name, doc.Template, doc.Keys)
}

// readDescriptors reads one descriptor with both branches, or two.
func readDescriptors(text, name string) (*Policy, error) {
	lines := strings.Fields(text)
	for i := range lines {
		var err error
		if lines[i], err = wallet.CutChecksum(lines[i]); err != nil {
			return nil, err
		}
	}
	switch len(lines) {
	case 1:
		return fromDescriptor(lines[0], name)
	case 2:
		joined, err := join(lines[0], lines[1])
		if err != nil {
			return nil, err
		}
		return fromDescriptor(joined, name)
	}
	return nil, errors.New("expected JSON {\"name\",\"descriptor_template\",\"keys_info\"}, an output descriptor with <0;1>/*, two descriptors, one per line, the array of Bitcoin Core's importdescriptors, or Coldcard's multisig file")
}

// keyPattern matches a key in a descriptor, with its origin, up to the steps of its addresses.
var keyPattern = regexp.MustCompile(`(?:\[[^\]]*\])?[xt]p(?:ub|rv)[1-9A-HJ-NP-Za-km-z]+`)

// fromDescriptor puts placeholders in the place of keys.
func fromDescriptor(descriptor, name string) (*Policy, error) {
	var keys []string
	template := keyPattern.ReplaceAllStringFunc(descriptor, func(found string) string {
		i := slices.Index(keys, found)
		if i < 0 {
			i, keys = len(keys), append(keys, found)
		}
		return "@" + strconv.Itoa(i)
	})
	return newPolicy(name, template, keys)
}

// join makes one descriptor of two that differ in the branches alone.
func join(receive, change string) (string, error) {
	a, b := strings.Split(receive, "/"), strings.Split(change, "/")
	if len(a) != len(b) {
		return "", errors.New("the two descriptors are not of one wallet")
	}
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if i+1 == len(a) || !strings.HasPrefix(a[i+1], "*") || strings.Trim(a[i]+b[i], "0123456789") != "" {
			return "", errors.New("the two descriptors differ in more than the branches of receiving and change")
		}
		a[i] = "<" + a[i] + ";" + b[i] + ">"
	}
	return strings.Join(a, "/"), nil
}

// Descriptor returns the output descriptor of both branches (BIP-389), with its checksum.
func (p *Policy) Descriptor() string { return p.descriptor(func(k key) string { return k.steps() }) }

// BranchDescriptor returns the output descriptor of the receiving or the change addresses,
// with its checksum.
func (p *Policy) BranchDescriptor(change bool) string {
	branch := 0
	if change {
		branch = 1
	}
	return p.descriptor(func(k key) string { return fmt.Sprintf("/%d/*", k.branch[branch]) })
}

func (k key) steps() string { return fmt.Sprintf("/<%d;%d>/*", k.branch[0], k.branch[1]) }

var placeholder = regexp.MustCompile(`@[0-9]+/(?:\*\*|<[0-9]+;[0-9]+>/\*)`)

func (p *Policy) descriptor(steps func(key) string) string {
	keys, i := p.keys(), 0
	text := placeholder.ReplaceAllStringFunc(p.Template(), func(string) string {
		k := keys[i]
		i++
		return strings.ReplaceAll(p.items[k.item].text, "'", "h") + steps(k)
	})
	sum, err := wallet.DescriptorChecksum(text)
	if err != nil {
		return text // all its characters have a place in the checksum
	}
	return text + "#" + sum
}
