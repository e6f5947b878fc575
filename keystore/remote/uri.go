package remote

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// URI names a key at a service:
//
//	scheme:name?parameter=value&…
//
// It has no fragment and no user, and no credentials.
type URI struct {
	Scheme string
	Name   string            // everything between the scheme and the parameters
	Params map[string]string // each given once
}

// ParseURI reads a URI that may have these parameters and no others.
func ParseURI(text string, allowed ...string) (URI, error) {
	scheme, rest, found := strings.Cut(text, ":")
	name, query, _ := strings.Cut(rest, "?")
	uri := URI{Scheme: scheme, Name: name, Params: map[string]string{}}
	if !found || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }) {
		return uri, fmt.Errorf("%q is no URI of a key: write scheme:name, without spaces, # and characters beyond ASCII", text)
	}
	if name == "" {
		return uri, fmt.Errorf("%s names no key: write %s:NAME", text, scheme)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return uri, fmt.Errorf("%s: its parameters are malformed: write ?name=value&name=value", text)
	}
	for _, param := range slices.Sorted(maps.Keys(values)) {
		given := values[param]
		switch {
		case !slices.Contains(allowed, param):
			return uri, fmt.Errorf("%s: unknown parameter %q: there are %s; credentials do not belong into a URI",
				text, param, strings.Join(allowed, ", "))
		case len(given) != 1 || given[0] == "":
			return uri, fmt.Errorf("%s: the parameter %s must be given once, with a value", text, param)
		}
		uri.Params[param] = given[0]
	}
	return uri, nil
}

// String returns the URI with its parameters in alphabetical order.
func (u URI) String() string {
	text := u.Scheme + ":" + u.Name
	if len(u.Params) == 0 {
		return text
	}
	values := url.Values{}
	for param, value := range u.Params {
		values.Set(param, value)
	}
	return text + "?" + values.Encode()
}

// Pin is a key of the store: where it is, and which one it is.
type Pin struct {
	URI            string
	PublicKey      keystore.PublicKey
	OrganizationID string
	Name           string // free text, may be empty
	ID             string // IDOf(PublicKey) if empty
	Disabled       bool   // not found, but kept
}

// IDOf returns the id of a key that has none: a UUID of version 8 (RFC 9562), the first bytes
// of the SHA-256 of the domain "countersign remote key", a zero byte, and the public key as
// keystore.PublicKey.Bytes returns it.
func IDOf(public keystore.PublicKey) string {
	digest := sha256.Sum256(append([]byte("countersign remote key\x00"), public.Bytes()...))
	id := uuid.UUID(digest[:16])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// table has the keys of a store. It does not change, but what is known of its keys does.
type table struct {
	keys []*key // in the order of the pins
	at   map[string]map[keystore.Locator]*key
}

// newTable checks the pins. Keys of the table before are kept if their pin is the same.
func newTable(store *Store, pins []Pin, before *table) (*table, error) {
	next := &table{at: map[string]map[keystore.Locator]*key{}}
	for i, pin := range pins {
		made, err := newKey(store, pin)
		if err == nil {
			if before != nil {
				if old := before.at[made.pin.OrganizationID][keystore.ByID(made.id)]; old != nil && old.pin == made.pin {
					made = old
				}
			}
			err = next.insert(made)
		}
		if err != nil {
			return nil, fmt.Errorf("key %d (%s): %w", i+1, pin.Name, err)
		}
	}
	return next, nil
}

func (t *table) insert(k *key) error {
	of := t.at[k.pin.OrganizationID]
	if of == nil {
		of = map[keystore.Locator]*key{}
		t.at[k.pin.OrganizationID] = of
	}
	for _, locator := range software.Locators(k.pin.PublicKey, k.id) {
		if other := of[locator]; other != nil {
			return fmt.Errorf("%w: %s in the same organization", keystore.ErrKeyExists, other)
		}
		of[locator] = k
	}
	t.keys = append(t.keys, k)
	return nil
}
