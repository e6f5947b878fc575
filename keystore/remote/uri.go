package remote

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
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
