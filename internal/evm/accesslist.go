package evm

import (
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// AccessList counts the items of an access list (EIP-2930). Its bytes are not copied.
type AccessList struct {
	Addresses   int
	StorageKeys int
	MostKeys    int // the largest number of storage keys of one address
}

// ReadAccessList reads a field that holds [[address, [storageKey…]]…], with
// addresses of 20 bytes and storage keys of 32.
func ReadAccessList(f *rlp.Fields, name string) AccessList {
	var list AccessList
	if f.SkipEmptyList() {
		return list
	}
	entries := f.List(name)
	for entries.More() {
		entry := entries.List("entry")
		entry.Address("address")
		keys := entry.List("storageKeys")
		count := 0
		for ; keys.More(); count++ {
			keys.Bytes("storageKey", 32)
		}
		entry.Join(&keys)
		entries.Join(&entry)
		list.Addresses++
		list.StorageKeys += count
		list.MostKeys = max(list.MostKeys, count)
	}
	f.Join(&entries)
	return list
}

// Summary returns the fields that show the access list, by its counts.
func (l AccessList) Summary() []chains.Field {
	if l.Addresses == 0 {
		return nil
	}
	return []chains.Field{chains.List("access list",
		chains.Integer("addresses", uint64(l.Addresses)), chains.Integer("storage keys", uint64(l.StorageKeys)))}
}
