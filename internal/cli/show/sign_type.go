package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// typePrefix begins the name of every transaction type. --type may omit it.
const typePrefix = "TRANSACTION_TYPE_"

// ParseType parses a transaction type, in full or short, such as "ethereum".
func ParseType(name string) (activity.TransactionType, error) {
	if name == "" {
		return "", console.Usagef("--type is missing: use %s", TypeNames())
	}
	kind := activity.TransactionType(name)
	if !strings.HasPrefix(name, typePrefix) {
		kind = activity.TransactionType(typePrefix + strings.ToUpper(name))
	}
	if !slices.Contains(all.TransactionTypes(), kind) {
		message := fmt.Sprintf("--type: unknown transaction type %q", name)
		return "", console.Usagef("%s", plaintext.Meant(message, name, ShortTypes(), "use "+TypeNames()))
	}
	return kind, nil
}

// ShortTypes returns the short names of the types.
func ShortTypes() (names []string) {
	for _, kind := range all.TransactionTypes() {
		names = append(names, strings.ToLower(strings.TrimPrefix(string(kind), typePrefix)))
	}
	return names
}

// IsBitcoin reports whether --type names Bitcoin.
func IsBitcoin(name string) bool {
	kind, err := ParseType(name)
	return err == nil && kind == activity.TransactionTypeBitcoin
}

// TypeNames returns the names that --type takes.
func TypeNames() string {
	return strings.Join(ShortTypes(), ", ") + ", or the names of the API, such as " +
		string(activity.TransactionTypeEthereum)
}
