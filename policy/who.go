package policy

import (
	"slices"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/stamp"
)

// who is a clause about the submitter. All members that are set must hold.
type who struct {
	users       []string // ids or, with byName, names
	byName      bool     // the users were not known when the file was read
	tag         string
	credentials []string
	any, all    []*who
	not         *who
}

// holds reports whether the clause matches the request. A nil clause matches all.
func (w *who) holds(request *access.Authorization) bool {
	if w == nil {
		return true
	}
	user := &request.User
	holds := func(part *who) bool { return part.holds(request) }
	switch {
	case len(w.users) > 0 && !slices.Contains(w.users, user.ID) && (!w.byName || !slices.Contains(w.users, user.Name)):
		return false
	case w.tag != "" && !slices.Contains(user.Tags, w.tag):
		return false
	case len(w.credentials) > 0 && !isCredential(w.credentials, request.Credential):
		return false
	case len(w.any) > 0 && !slices.ContainsFunc(w.any, holds):
		return false
	case slices.ContainsFunc(w.all, func(part *who) bool { return !holds(part) }):
		return false
	}
	return w.not == nil || !w.not.holds(request)
}

// isCredential reports whether a credential is among those named, by id or public key.
func isCredential(named []string, credential *stamp.Credential) bool {
	return credential != nil && (slices.Contains(named, string(credential.ID())) || slices.Contains(named, credential.PublicKeyText()))
}

// maxWhoDepth bounds the nesting of any, all and not.
const maxWhoDepth = 4

func (c *compiler) readWho(n source.Node, depth int) *who {
	w := &who{byName: c.options.Names == nil}
	if depth > maxWhoDepth {
		n.Fail("who: nested more than %d deep", maxWhoDepth)
		return w
	}
	parts := func(into *[]*who) func(source.Node) {
		return func(n source.Node) {
			for _, item := range n.Items("who") {
				*into = append(*into, c.readWho(item, depth+1))
			}
		}
	}
	members := 0
	counted := func(read func(source.Node)) func(source.Node) { return func(n source.Node) { members++; read(n) } }
	n.Fields("who", map[string]func(source.Node){
		"user":       counted(func(n source.Node) { w.users = c.users(n) }),
		"tag":        counted(func(n source.Node) { w.tag = c.tag(n) }),
		"credential": counted(func(n source.Node) { w.credentials = c.credentials(n) }),
		"any":        counted(parts(&w.any)),
		"all":        counted(parts(&w.all)),
		"not":        counted(func(n source.Node) { w.not = c.readWho(n, depth+1) }),
	})
	if members == 0 {
		n.Fail("who is empty: name a user, a tag or a credential")
	}
	return w
}

// users resolves names and ids of users to ids.
func (c *compiler) users(n source.Node) []string {
	var ids []string
	for _, item := range n.Texts("user") {
		name := item.Text("user")
		if c.options.Names == nil {
			ids = append(ids, name)
			continue
		}
		var matches, names []string
		for _, user := range c.options.Names.Users {
			names = append(names, user.Name)
			if user.ID == name || user.Name == name {
				matches = append(matches, user.ID)
			}
		}
		switch len(matches) {
		case 0:
			item.Fail("%s", source.Meant("there is no user "+shorten(name), name, names))
		case 1:
			ids = append(ids, matches[0])
		default:
			item.Fail("%d users are called %s: use an id", len(matches), shorten(name))
		}
	}
	return ids
}

func (c *compiler) tag(n source.Node) string {
	name := n.Text("tag")
	if name == "" {
		n.Fail("tag is empty")
	}
	if c.options.Names == nil {
		return name
	}
	var tags []string
	for _, user := range c.options.Names.Users {
		tags = append(tags, user.Tags...)
	}
	if !slices.Contains(tags, name) {
		n.Fail("%s", source.Meant("no user has the tag "+shorten(name), name, tags))
	}
	return name
}

func (c *compiler) credentials(n source.Node) []string {
	var ids []string
	for _, item := range n.Texts("credential") {
		id := item.Text("credential")
		if c.options.Names != nil && !slices.Contains(c.options.Names.Credentials, id) {
			item.Fail("%s", source.Meant("there is no credential "+shorten(id), id, c.options.Names.Credentials))
		}
		ids = append(ids, id)
	}
	return ids
}

// readKeys resolves ids and names of keys and wallets to ids.
func (c *compiler) readKeys(n source.Node) []string {
	var ids []string
	for _, item := range n.Texts("key") {
		name := item.Text("key")
		if !c.knowsKeys() {
			ids = append(ids, name)
			continue
		}
		matches := c.keyIDs(name)
		switch len(matches) {
		case 0:
			item.Fail("%s", source.Meant("there is no key or wallet "+shorten(name), name, c.keyNames()))
		case 1:
			ids = append(ids, matches[0])
		default:
			item.Fail("%d keys or wallets are called %s: use an id", len(matches), shorten(name))
		}
	}
	return ids
}

// knowsKeys reports whether the names of keys can be checked.
func (c *compiler) knowsKeys() bool { return c.options.Names != nil && c.options.Names.Keys != nil }

// keyIDs returns the ids of keys and wallets that have an id or name.
func (c *compiler) keyIDs(name string) []string {
	var ids []string
	add := func(id string) {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for i := range c.options.Names.Keys {
		key := &c.options.Names.Keys[i]
		if key.ID == name || key.Name == name {
			add(key.ID)
		}
		if key.WalletID == name || key.WalletName == name && name != "" {
			add(key.WalletID)
		}
	}
	return ids
}

func (c *compiler) keyNames() []string {
	var names []string
	for i := range c.options.Names.Keys {
		names = append(names, c.options.Names.Keys[i].Name, c.options.Names.Keys[i].WalletName)
	}
	return names
}

// coversKeys reports whether the rule names every key that signs.
func (r *rule) coversKeys(keys []access.SigningKey) bool {
	if len(r.keys) == 0 {
		return true
	}
	for i := range keys {
		key := &keys[i]
		named := func(name string) bool {
			return name == key.ID || name == key.WalletID || r.byName && (name == key.Name || name == key.WalletName)
		}
		if !slices.ContainsFunc(r.keys, named) {
			return false
		}
	}
	return len(keys) > 0
}
