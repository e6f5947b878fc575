package main

import (
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
)

// typePrefix begins the name of every transaction type. --type may omit it.
const typePrefix = "TRANSACTION_TYPE_"

// parseType parses a transaction type, in full or short, such as "ethereum".
func parseType(name string) (activity.TransactionType, error) {
	if name == "" {
		return "", usagef("--type is missing: use %s", typeNames())
	}
	kind := activity.TransactionType(name)
	if !strings.HasPrefix(name, typePrefix) {
		kind = activity.TransactionType(typePrefix + strings.ToUpper(name))
	}
	if !slices.Contains(all.TransactionTypes(), kind) {
		return "", usagef("--type: unknown transaction type %q: use %s", name, typeNames())
	}
	return kind, nil
}

// isBitcoin reports whether --type names Bitcoin.
func isBitcoin(name string) bool {
	kind, err := parseType(name)
	return err == nil && kind == activity.TransactionTypeBitcoin
}

func typeNames() string {
	var names []string
	for _, kind := range all.TransactionTypes() {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}
