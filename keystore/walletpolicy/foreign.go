package walletpolicy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// readImports reads the argument of Bitcoin Core's importdescriptors, which 'wallets export
// --format core' prints: a JSON array of the descriptors of receiving and of change addresses.
func readImports(text []byte, name string) (*Policy, error) {
	lines := map[bool]string{} // by internal
	var descriptors []string
	err := strictjson.ReadValue(text, "JSON", func(r *strictjson.Reader) error {
		return r.Array(func(r *strictjson.Reader) error {
			var descriptor string
			var internal, active bool
			var timestamp, limits, next strictjson.Value
			err := r.Object(strictjson.Required("desc", &descriptor), strictjson.Optional("internal", &internal),
				strictjson.Optional("active", &active), strictjson.Optional("timestamp", &timestamp),
				strictjson.Optional("range", &limits), strictjson.Optional("next", &next), strictjson.Optional("next_index", &next))
			lines[internal], descriptors = descriptor, append(descriptors, descriptor)
			return err
		})
	})
	switch {
	case err != nil:
		return nil, err
	case len(descriptors) == 2 && len(lines) == 2:
		return readDescriptors(lines[false]+"\n"+lines[true], name)
	case len(descriptors) == 1:
		return readDescriptors(descriptors[0], name)
	}
	return nil, fmt.Errorf("%d descriptors in the array: expected one with <0;1>/*, or two, of which one has \"internal\": true", len(descriptors))
}

// multisigFormats are the scripts that a multisig file names in "Format".
var multisigFormats = map[string]string{"P2WSH": "wsh(%s)", "P2SH-P2WSH": "sh(wsh(%s))", "P2WSH-P2SH": "sh(wsh(%s))", "P2SH": "sh(%s)"}

// isMultisigFile reports whether a text has the form of a multisig file.
func isMultisigFile(text string) bool {
	return strings.Contains(text, "Policy:") && strings.Contains(text, "Format:")
}

// readMultisigFile reads the multisig file that Coldcard defined, and that other coordinators
// write: lines of Name, Policy (2 of 3), Derivation and Format, and one of each key, with its
// fingerprint. Its keys are sorted in scripts. A derivation holds until the next.
func readMultisigFile(text, name string) (*Policy, error) {
	once := map[string]string{} // Name, Policy and Format
	var path string
	var keys, uses []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		field, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case !ok:
			return nil, fmt.Errorf("multisig file: %q is no line of the form \"Name: value\"", line)
		case field == "Derivation":
			path = strings.TrimPrefix(value, "m")
		case field == "Name" || field == "Policy" || field == "Format":
			if _, again := once[field]; again {
				return nil, fmt.Errorf("multisig file: %s appears twice", field)
			}
			once[field] = value
		case path == "":
			return nil, fmt.Errorf("multisig file: key %s has no line \"Derivation: m/…\" before it", field)
		default:
			uses = append(uses, fmt.Sprintf("@%d/**", len(keys)))
			keys = append(keys, "["+strings.ToLower(field)+path+"]"+value)
		}
	}
	format, k, ok := multisigFormats[strings.ToUpper(once["Format"])], 0, false
	if format == "" {
		return nil, fmt.Errorf("multisig file: Format: %q is not P2WSH, P2SH-P2WSH or P2SH", once["Format"])
	}
	if k, ok = thresholdOf(once["Policy"], len(keys)); !ok {
		return nil, fmt.Errorf("multisig file: Policy: %q: the file has %d keys, expected such as \"2 of %d\"", once["Policy"], len(keys), len(keys))
	}
	if name == "" {
		name = once["Name"]
	}
	return newPolicy(name, fmt.Sprintf(format, fmt.Sprintf("sortedmulti(%d,%s)", k, strings.Join(uses, ","))), keys)
}

// thresholdOf reads the policy "k of n" of n keys.
func thresholdOf(policy string, n int) (k int, ok bool) {
	first, _, _ := strings.Cut(policy, " ")
	k, err := strconv.Atoi(first)
	return k, err == nil && policy == fmt.Sprintf("%d of %d", k, n)
}
