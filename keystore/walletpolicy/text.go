package walletpolicy

import (
	"bytes"
	"cmp"
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

// Read reads a policy from its JSON form, from output descriptors (BIP-380), or from one of the
// forms in which coordinators hold a wallet: Bitcoin Core's listdescriptors and importdescriptors,
// Specter Desktop's JSON, a BSMS descriptor record (BIP-129) or Coldcard's multisig file. A
// checksum is verified. name is the wallet's name; it may be empty if the form has one. Errors
// wrap ErrPolicy.
func Read(text []byte, name string) (*Policy, error) {
	p, err := read(text, name)
	if err != nil && !errors.Is(err, ErrPolicy) {
		err = fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	return p, err
}

var errForm = errors.New(`expected JSON {"name","descriptor_template","keys_info"}, an output descriptor with ` +
	`<0;1>/*, two descriptors, one per line, Bitcoin Core's listdescriptors or importdescriptors, ` +
	`Specter Desktop's JSON, a BSMS descriptor record, or Coldcard's multisig file`)

func read(text []byte, name string) (*Policy, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("%d bytes, at most %d are read", len(text), MaxSize)
	}
	if bytes.IndexByte(text, 0) >= 0 || bytes.HasPrefix(text, []byte{0xff, 0xfe}) ||
		bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return nil, errors.New("the text is UTF-16, as > of Windows PowerShell writes it: save it as UTF-8, such as " +
			"with Set-Content -Encoding utf8")
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff"))) // editors of Windows write the mark
	return formOf(text)(text, name)
}

// formOf returns the reader of the first form that a text can have. The reader refuses what is
// another's.
func formOf(text []byte) func(text []byte, name string) (*Policy, error) {
	isObject := bytes.HasPrefix(text, []byte("{"))
	switch {
	case bytes.HasPrefix(text, []byte("[")):
		return readImports
	case isObject && (hasMember(text, "wallet_type") || hasMember(text, "seed_version")),
		bytes.HasPrefix(text, []byte("QklF")): // BIE, in base64
		return refuseElectrum
	case isObject && hasMember(text, "descriptors"):
		return readListed
	case isObject && hasMember(text, "descriptor"):
		return readSpecter
	case isObject:
		return readDocument
	case bytes.HasPrefix(text, []byte("BSMS ")):
		return readBSMS
	case hasLine(text, "Policy:") && hasLine(text, "Format:"):
		return readMultisigFile
	}
	return readDescriptors
}

// hasMember reports whether JSON has a member of a name, at any depth.
func hasMember(text []byte, name string) bool {
	for quoted := []byte(strconv.Quote(name)); ; {
		_, after, ok := bytes.Cut(text, quoted)
		if !ok || bytes.HasPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte(":")) {
			return ok
		}
		text = after
	}
}

func hasLine(text []byte, prefix string) bool {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte(prefix)) {
			return true
		}
	}
	return false
}

func readDocument(text []byte, name string) (*Policy, error) {
	var doc document
	if err := strictjson.Read(text, "JSON", strictjson.Optional("name", &doc.Name),
		strictjson.Required("descriptor_template", &doc.Template),
		strictjson.Required("keys_info", &doc.Keys)); err != nil {
		return nil, err
	}
	return newPolicy(cmp.Or(name, doc.Name), doc.Template, doc.Keys)
}

// readDescriptors reads one descriptor with both branches, or two, or all three, as Sparrow
// writes them. Lines that begin with # are comments.
func readDescriptors(text []byte, name string) (*Policy, error) {
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			continue
		}
		for _, field := range strings.Fields(line) {
			descriptor, err := wallet.CutChecksum(field)
			if err != nil {
				return nil, err
			}
			lines = append(lines, descriptor)
		}
	}
	switch len(lines) {
	case 1:
		return fromDescriptor(lines[0], name)
	case 2:
		return fromBranches(lines[0], lines[1], name)
	case 3:
		return readThree(lines, name)
	}
	return nil, errForm
}

// readThree reads the descriptor of both branches, followed by those of each, which must agree.
func readThree(lines []string, name string) (*Policy, error) {
	both, err := fromDescriptor(lines[0], name)
	if err != nil {
		return nil, fmt.Errorf("three descriptors, of which the first must have both branches, as Sparrow writes "+
			"them: %w", err)
	}
	each, err := fromBranches(lines[1], lines[2], name)
	if err != nil {
		return nil, err
	}
	if each.digest != both.digest {
		return nil, errors.New("three descriptors: the first is not of the wallet of the other two")
	}
	return both, nil
}

// keyPattern matches a key in a descriptor, with its origin, up to the steps of its addresses.
var keyPattern = regexp.MustCompile(`(?:\[[^\]]*\])?[xtyzuvYZUV]p(?:ub|rv)[1-9A-HJ-NP-Za-km-z]+`)

// oneBranch returns the steps of the first key whose addresses are of one branch, such as /0/*,
// or nothing.
func oneBranch(descriptor string) string {
	steps := strings.Split(descriptor, "/")
	for i, step := range steps[1:] {
		if strings.HasPrefix(step, "*") && steps[i] != "" && strings.Trim(steps[i], "0123456789") == "" {
			return "/" + steps[i] + "/*"
		}
	}
	return ""
}

// fromDescriptor puts placeholders in the place of keys.
func fromDescriptor(descriptor, name string) (*Policy, error) {
	var keys []string
	template := keyPattern.ReplaceAllStringFunc(descriptor, func(matched string) string {
		i := slices.Index(keys, matched)
		if i < 0 {
			i, keys = len(keys), append(keys, matched)
		}
		return "@" + strconv.Itoa(i)
	})
	p, err := newPolicy(name, template, keys)
	if branch := oneBranch(descriptor); err != nil && branch != "" && !errors.Is(err, errOneKey) {
		return nil, fmt.Errorf("a key has the addresses of one branch, %s: give two descriptors, one per line, or "+
			"write <0;1>/* for receiving and change", branch)
	}
	return p, err
}

// fromBranches reads two descriptors that differ in the branches alone.
func fromBranches(receive, change, name string) (*Policy, error) {
	a, b := strings.Split(receive, "/"), strings.Split(change, "/")
	if len(a) != len(b) {
		return nil, errors.New("the two descriptors are not of one wallet")
	}
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if i+1 == len(a) || !strings.HasPrefix(a[i+1], "*") || strings.Trim(a[i]+b[i], "0123456789") != "" {
			return nil, errors.New("the two descriptors differ in more than the branches of receiving and change")
		}
		a[i] = "<" + a[i] + ";" + b[i] + ">"
	}
	return fromDescriptor(strings.Join(a, "/"), name)
}

// Descriptor returns the output descriptor of both branches (BIP-389), with its checksum.
func (p *Policy) Descriptor() string { return p.descriptor(func(k key) string { return k.steps() }) }

// BranchDescriptor returns the output descriptor of the receiving or the change addresses,
// with its checksum.
func (p *Policy) BranchDescriptor(change bool) string {
	return p.descriptor(func(k key) string { return fmt.Sprintf("/%d/*", k.branch[branchOf(change)]) })
}

func (k key) steps() string { return fmt.Sprintf("/<%d;%d>/*", k.branch[0], k.branch[1]) }

var placeholder = regexp.MustCompile(`@[0-9]+/(?:\*\*|<[0-9]+;[0-9]+>/\*)`)

func (p *Policy) descriptor(steps func(key) string) string {
	keys, i := p.template.keys, 0
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
