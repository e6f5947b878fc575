package show

import (
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/console"
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
		return "", console.Usagef("--type: unknown transaction type %q: use %s", name, TypeNames())
	}
	return kind, nil
}

// IsBitcoin reports whether --type names Bitcoin.
func IsBitcoin(name string) bool {
	kind, err := ParseType(name)
	return err == nil && kind == activity.TransactionTypeBitcoin
}

// TypeNames returns the names that --type takes.
func TypeNames() string {
	var names []string
	for _, kind := range all.TransactionTypes() {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}
