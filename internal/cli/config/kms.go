package config

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/internal/trust"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// KMSKey is a key in a key service, see remote.Pin. 'countersign keys add' writes it.
type KMSKey struct {
	URI          string `yaml:"uri"`
	PublicKey    string `yaml:"publicKey"` // hex: 33 bytes on secp256k1, 32 on Ed25519
	Name         string `yaml:"name"`
	Organization string `yaml:"organization"` // its id; may be left out if there is only one
	ID           string `yaml:"id"`           // default: computed from the public key
	Disabled     bool   `yaml:"disabled"`
}

func parsePublicKey(text string) (keystore.PublicKey, error) {
	raw, err := hex.DecodeString(text)
	if err != nil {
		return keystore.PublicKey{}, errors.New("not hex")
	}
	switch len(raw) {
	case 33:
		return keystore.ParsePublicKey(keystore.CurveSecp256k1, raw)
	case 32:
		return keystore.ParsePublicKey(keystore.CurveEd25519, raw)
	}
	return keystore.PublicKey{}, fmt.Errorf("%d bytes: write 33 of a compressed point on secp256k1, or the 32 of Ed25519", len(raw))
}

// Pins returns the keys in key services.
func (c *Config) Pins() ([]remote.Pin, error) {
	pins := make([]remote.Pin, len(c.KMS))
	for i, key := range c.KMS {
		pin, err := key.pin(c.Organizations)
		if err != nil {
			return nil, fmt.Errorf("kms[%d]: %w", i, err)
		}
		if slices.ContainsFunc(pins[:i], func(other remote.Pin) bool {
			return other.OrganizationID == pin.OrganizationID && (other.PublicKey == pin.PublicKey ||
				keystore.ByID(other.ID) == keystore.ByID(pin.ID))
		}) {
			return nil, fmt.Errorf("kms[%d]: the organization has this publicKey or id already", i)
		}
		pins[i] = pin
	}
	return pins, nil
}

// pin checks what can be checked without a key service.
func (k *KMSKey) pin(organizations []access.OrganizationConfig) (pin remote.Pin, err error) {
	pin = remote.Pin{URI: k.URI, Name: k.Name, ID: k.ID, Disabled: k.Disabled, OrganizationID: k.Organization}
	if pin.OrganizationID == "" && len(organizations) == 1 {
		pin.OrganizationID = organizations[0].ID
	}
	switch {
	case !strings.Contains(k.URI, ":"):
		return pin, errors.New("uri is missing: write what 'countersign keys add --uri' took, such as awskms:alias/hot")
	case k.PublicKey == "":
		return pin, errors.New("publicKey is missing: 'countersign keys add' fetches it, and writes the whole line")
	case pin.OrganizationID == "":
		return pin, errors.New("organization is missing: there are several")
	case !slices.ContainsFunc(organizations, func(o access.OrganizationConfig) bool { return o.ID == pin.OrganizationID }):
		return pin, fmt.Errorf("organization: there is no %q", pin.OrganizationID)
	}
	if err := errors.Join(keystore.CheckName("name", k.Name), keystore.CheckName("id", k.ID)); err != nil {
		return pin, err
	}
	if pin.PublicKey, err = parsePublicKey(k.PublicKey); err != nil {
		return pin, fmt.Errorf("publicKey: %w", err)
	}
	pin.ID = cmp.Or(pin.ID, remote.IDOf(pin.PublicKey))
	return pin, nil
}

// checkKeys refuses a configuration without keys, and keys in services that are wrong whatever
// the services say.
func (c *Config) checkKeys() error {
	if c.Keystore == "" && len(c.KMS) == 0 {
		return errors.New("keystore is missing: file:DIR")
	}
	if len(c.Organizations) == 0 {
		return nil // refused for that
	}
	_, err := c.Pins()
	return err
}

// AddKMS adds a key to the section kms of a configuration, as one line. Everything else in the
// file stays as it is.
func AddKMS(path string, key KMSKey) error {
	return editKMS(path, func(old []KMSKey) []KMSKey { return append(old, key) },
		func(text []byte, section *ast.SequenceNode) ([]byte, error) {
			if section == nil {
				if len(text) > 0 && text[len(text)-1] != '\n' {
					text = append(text, '\n')
				}
				return append(text, "kms:\n  - "+key.line()+"\n"...), nil
			}
			if section.IsFlowStyle || len(section.Values) == 0 {
				return nil, fmt.Errorf("the section kms is not a list with a line for each key: add - %s", key.line())
			}
			lines := bytes.SplitAfter(text, []byte("\n"))
			after := lastLine(section.Values[len(section.Values)-1])
			if last := lines[after-1]; !bytes.HasSuffix(last, []byte("\n")) {
				lines[after-1] = append(last, '\n')
			}
			indent := strings.Repeat(" ", section.Start.Position.Column-1)
			return bytes.Join(slices.Insert(lines, after, []byte(indent+"- "+key.line()+"\n")), nil), nil
		})
}

// DisableKMS sets or removes disabled of the key with an index. It needs the key to be on one
// line, as AddKMS writes it.
func DisableKMS(path string, index int, disabled bool) error {
	change := func(old []KMSKey) []KMSKey {
		next := slices.Clone(old)
		next[index].Disabled = disabled
		return next
	}
	return editKMS(path, change, func(text []byte, section *ast.SequenceNode) ([]byte, error) {
		item := section.Values[index]
		mapping, ok := item.(*ast.MappingNode)
		if !ok || !mapping.IsFlowStyle || lastLine(item) != item.GetToken().Position.Line {
			return nil, fmt.Errorf("kms[%d] is not on one line: set its member disabled to %t yourself", index, disabled)
		}
		lines := bytes.SplitAfter(text, []byte("\n"))
		line := string(lines[item.GetToken().Position.Line-1])
		for _, old := range []string{", disabled: true", ", disabled: false"} {
			line = strings.Replace(line, old, "", 1)
		}
		if disabled {
			end := strings.LastIndex(line, "}")
			line = line[:end] + ", disabled: true" + line[end:]
		}
		lines[item.GetToken().Position.Line-1] = []byte(line)
		return bytes.Join(lines, nil), nil
	})
}

// line writes the key as a flow mapping.
func (k KMSKey) line() string {
	members := []string{"uri: " + quoted(k.URI), "publicKey: " + quoted(k.PublicKey)}
	for _, member := range []struct{ name, value string }{{"name", k.Name}, {"organization", k.Organization}, {"id", k.ID}} {
		if member.value != "" {
			members = append(members, member.name+": "+quoted(member.value))
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// quoted writes text, which CheckName has accepted, as a single-quoted scalar.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func lastLine(node ast.Node) int {
	last := lastLineVisitor(0)
	ast.Walk(&last, node)
	return int(last)
}

type lastLineVisitor int

func (v *lastLineVisitor) Visit(node ast.Node) ast.Visitor {
	*v = max(*v, lastLineVisitor(node.GetToken().Position.Line))
	if mapping, ok := node.(*ast.MappingNode); ok && mapping.End != nil {
		*v = max(*v, lastLineVisitor(mapping.End.Position.Line))
	}
	return v
}

// editKMS replaces a configuration by one whose keys in services are changed. The edited text
// is read again first: it must be the old configuration with exactly this change, or nothing
// is written.
func editKMS(path string, change func([]KMSKey) []KMSKey, edit func(text []byte, section *ast.SequenceNode) ([]byte, error)) error {
	old, err := Read(path)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	section, err := kmsSection(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	edited, err := edit(bytes.Clone(text), section)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	old.KMS = change(old.KMS)
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	return trust.ReplaceKept(target, edited, func(changed string) error {
		got, err := Read(changed)
		if err != nil {
			return fmt.Errorf("%s: the changed file cannot be read, and was not put in place: %w", path, err)
		}
		got.Path = old.Path
		got.source, old.source, got.modified = written{}, written{}, old.modified // whose lines are what changes
		if !reflect.DeepEqual(got, old) {
			return fmt.Errorf("%s: the change cannot be made without changing other things: edit the section kms "+
				"yourself", path)
		}
		if now, err := os.ReadFile(target); err != nil || !bytes.Equal(now, text) {
			return errors.Join(fmt.Errorf("%s was changed by another program meanwhile, and stays as that left it: "+
				"run the command again", path), err)
		}
		return nil
	})
}

// kmsSection finds the list of the member kms, nil if there is none.
func kmsSection(text []byte) (*ast.SequenceNode, error) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, err
	}
	root, ok := file.Docs[0].Body.(*ast.MappingNode)
	if !ok {
		return nil, nil // a single member, which is not kms
	}
	for _, member := range root.Values {
		if member.Key.String() != "kms" {
			continue
		}
		section, ok := member.Value.(*ast.SequenceNode)
		if !ok {
			return nil, fmt.Errorf("the section kms is no list")
		}
		return section, nil
	}
	return nil, nil
}
