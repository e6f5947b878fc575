package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// fieldFlag picks what is printed of a key: a member of its line, or an address by its
// format. Without it the line is printed, as JSON.
type fieldFlag struct{ name string }

// keyFields are the members that --field takes, beside the formats of addresses.
var keyFields = []string{"privateKeyId", "name", "curve", "publicKey"}

// addressField begins the names of address formats.
const addressField = "ADDRESS_FORMAT_"

func (f *fieldFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "field", "", "print one `FIELD` of the key as plain text: "+strings.Join(keyFields, ", ")+", or an address by its format, such as ADDRESS_FORMAT_ETHEREUM")
}

func (f *fieldFlag) check() error {
	if f.name == "" || slices.Contains(keyFields, f.name) || strings.HasPrefix(f.name, addressField) {
		return nil
	}
	return usagef("--field: unknown field %q: use %s, or the format of an address, such as ADDRESS_FORMAT_ETHEREUM", f.name, strings.Join(keyFields, ", "))
}

// print prints a key.
func (f *fieldFlag) print(out io.Writer, line keyLine) error {
	if f.name == "" {
		return printJSON(out, line)
	}
	value, err := f.of(line)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, value)
	return err
}

func (f *fieldFlag) of(line keyLine) (string, error) {
	switch f.name {
	case "privateKeyId":
		return line.PrivateKeyID, nil
	case "name":
		return line.Name, nil
	case "curve":
		return line.Curve.String(), nil
	case "publicKey":
		return line.PublicKey, nil
	}
	var formats []string
	for _, address := range line.Addresses {
		if address.Format == f.name {
			return address.Address, nil
		}
		formats = append(formats, address.Format)
	}
	return "", fmt.Errorf("--field: key %s has no address of format %s: it has %s", line.PrivateKeyID, f.name, strings.Join(formats, ", "))
}
