package policy

import (
	"context"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/keystore"
)

// Names are the users and keys that a file can name.
type Names struct {
	Users       []access.User       // may repeat a user, as the members of a directory do
	Voters      []string            // ids of those who have a credential to vote with; nil: all of them
	Credentials []string            // ids
	Keys        []access.SigningKey // nil: names of keys are not checked
}

// user returns a user by id or, if no user has that id, by name. A nil receiver knows none.
func (n *Names) user(name string) (access.User, bool) {
	if n == nil {
		return access.User{}, false
	}
	i := slices.IndexFunc(n.Users, func(user access.User) bool { return user.ID == name })
	if i < 0 {
		i = slices.IndexFunc(n.Users, func(user access.User) bool { return user.Name == name })
	}
	if i < 0 {
		return access.User{}, false
	}
	return n.Users[i], true
}

// NamesOf returns the names that the policy of an organization may use: its users and their
// credentials, and its keys. If keys is nil, names of keys are not checked.
func NamesOf(ctx context.Context, organization *access.OrganizationConfig, keys keystore.Keystore) (*Names, error) {
	members, err := organization.Members()
	if err != nil {
		return nil, err
	}
	names := &Names{Voters: []string{}}
	for i := range members {
		credential := members[i].Credential
		names.Credentials = append(names.Credentials, string(credential.ID()), credential.PublicKeyText())
		names.Voters = append(names.Voters, members[i].User.ID)
	}
	for i := range organization.Users { // one who calls with a certificate or a token has no credential
		user := &organization.Users[i]
		id := user.UserID(organization.ID)
		names.Users = append(names.Users, access.User{ID: id, Name: user.Name, Tags: user.Tags})
	}
	if keys == nil {
		return names.once(), nil
	}
	names.Keys = []access.SigningKey{}
	for info, err := range keys.Keys(ctx, organization.ID) {
		if err != nil {
			return nil, err
		}
		names.Keys = append(names.Keys, access.SigningKey{ID: info.ID, Name: info.Name})
	}
	return names.once(), nil
}

// once returns the names with each user once.
func (n *Names) once() *Names {
	if n == nil {
		return nil
	}
	names, seen := *n, map[string]bool{}
	names.Users = slices.DeleteFunc(slices.Clone(n.Users), func(user access.User) bool {
		before := seen[user.ID]
		seen[user.ID] = true
		return before
	})
	return &names
}

// maxWhoDepth bounds the nesting of any, all and not.
const maxWhoDepth = 4

func (n *Names) readWho(at source.Node, depth int) *who {
	w := &who{byName: n == nil}
	if depth > maxWhoDepth {
		at.Fail("who: nested more than %d deep", maxWhoDepth)
		return w
	}
	parts := func(into *[]*who) func(source.Node) {
		return func(at source.Node) {
			for _, item := range at.Items("who") {
				*into = append(*into, n.readWho(item, depth+1))
			}
		}
	}
	members := 0
	counted := func(read func(source.Node)) func(source.Node) { return func(at source.Node) { members++; read(at) } }
	at.Fields("who", map[string]func(source.Node){
		"user":       counted(func(at source.Node) { w.users = n.users(at) }),
		"tag":        counted(func(at source.Node) { w.tag = n.tag(at) }),
		"credential": counted(func(at source.Node) { w.credentials = n.credentials(at) }),
		"any":        counted(parts(&w.any)),
		"all":        counted(parts(&w.all)),
		"not":        counted(func(at source.Node) { w.not = n.readWho(at, depth+1) }),
	})
	if members == 0 {
		at.Fail("who is empty: name a user, a tag or a credential")
	}
	return w
}

// users resolves names and ids of users to ids.
func (n *Names) users(at source.Node) []string {
	var ids []string
	for _, item := range at.Texts("user") {
		name := item.Text("user")
		if n == nil {
			ids = append(ids, name)
			continue
		}
		var matches, names []string
		for _, user := range n.Users {
			names = append(names, user.Name)
			if user.ID == name || user.Name == name {
				matches = append(matches, user.ID)
			}
		}
		ids = append(ids, only(item, name, "user", "users", matches, names)...)
	}
	return ids
}

// only returns the id that a name stands for. It is a problem if there is none, or another.
func only(at source.Node, name, one, several string, ids, known []string) []string {
	switch len(ids) {
	case 0:
		at.Fail("%s", source.Meant("there is no "+one+" "+shorten(name), name, known))
	case 1:
		return ids
	default:
		at.Fail("%d %s are called %s: use an id", len(ids), several, shorten(name))
	}
	return nil
}

func (n *Names) tag(at source.Node) string {
	name := at.Text("tag")
	if name == "" {
		at.Fail("tag is empty")
	}
	if n == nil {
		return name
	}
	var tags []string
	for _, user := range n.Users {
		tags = append(tags, user.Tags...)
	}
	if !slices.Contains(tags, name) {
		at.Fail("%s", source.Meant("no user has the tag "+shorten(name), name, tags))
	}
	return name
}

func (n *Names) credentials(at source.Node) []string {
	var ids []string
	for _, item := range at.Texts("credential") {
		id := item.Text("credential")
		if n != nil && !slices.Contains(n.Credentials, id) {
			item.Fail("%s", source.Meant("there is no credential "+shorten(id), id, n.Credentials))
		}
		ids = append(ids, id)
	}
	return ids
}

// readKeys resolves ids and names of keys and wallets to ids.
func (n *Names) readKeys(at source.Node) []string {
	var ids []string
	for _, item := range at.Texts("key") {
		name := item.Text("key")
		if !n.knowsKeys() {
			ids = append(ids, name)
			continue
		}
		matches, names := map[string]bool{}, []string(nil)
		for i := range n.Keys {
			key := &n.Keys[i]
			names = append(names, key.Name, key.WalletName)
			if key.ID == name || key.Name == name {
				matches[key.ID] = true
			}
			if key.WalletID == name || key.WalletName == name && name != "" {
				matches[key.WalletID] = true
			}
		}
		delete(matches, "") // a key without a wallet
		ids = append(ids, only(item, name, "key or wallet", "keys or wallets", sortedKeys(matches), names)...)
	}
	return ids
}

// knowsKeys reports whether the names of keys can be checked.
func (n *Names) knowsKeys() bool { return n != nil && n.Keys != nil }

// testUser returns a user by name. If the users are not known, it is one with the tags of
// the test.
func (n *Names) testUser(at source.Node, tags []string) access.User {
	name := at.Text("as")
	if n == nil {
		return access.User{ID: name, Name: name, Tags: tags}
	}
	user, ok := n.user(name)
	if !ok {
		at.Fail("there is no user %s", shorten(name))
	}
	return user
}

// voter returns a user by name, or the user of a text such as ann/finance,ops.
func (n *Names) voter(name string) access.User {
	if user, ok := n.user(name); ok {
		return user
	}
	id, tags, _ := strings.Cut(name, "/")
	return access.User{ID: id, Name: id, Tags: strings.Fields(strings.ReplaceAll(tags, ",", " "))}
}

func (n *Names) testKey(name string) access.SigningKey {
	if n != nil {
		for _, key := range n.Keys {
			if key.ID == name || key.Name == name {
				return key
			}
		}
	}
	return access.SigningKey{ID: name, Name: name}
}
