package access

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/weborigin"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/stamp"
)

// maxShown is how many bytes of a value an error shows.
const maxShown = 100

// OrganizationConfig configures an organization.
type OrganizationConfig struct {
	ID           string       `yaml:"id"`
	Name         string       `yaml:"name"`
	AllowHazards []string     `yaml:"allowHazards"` // one by one; AllHazards is refused here
	Policy       string       `yaml:"policy"`       // file of package policy; not read here
	Store        string       `yaml:"store"`        // name of a store of a deployment that has several; not read here
	Resume       ResumeConfig `yaml:"resume"`
	Policies     PolicyConfig `yaml:"policies"`
	Users        []UserConfig `yaml:"users"`
}

// PolicyConfig configures how policies change.
type PolicyConfig struct {
	Widening struct {
		Approvals int `yaml:"approvals"` // see Organization.WideningApprovals
	} `yaml:"widening"`
}

// ResumeConfig configures what it takes to end a halt.
type ResumeConfig struct {
	Approvals int `yaml:"approvals"` // how many users have to ask; required if an API key may halt or resume
}

// UserConfig configures a user.
type UserConfig struct {
	ID       string          `yaml:"id"` // if empty, derived from the organization's id and the name; one of the two is required
	Name     string          `yaml:"name"`
	Tags     []string        `yaml:"tags"` // groups that policies name
	APIKeys  []APIKeyConfig  `yaml:"apiKeys"`
	Passkeys []PasskeyConfig `yaml:"passkeys"`
}

// APIKeyConfig configures an API key.
type APIKeyConfig struct {
	Curve     stamp.Curve `yaml:"curve"`     // API_KEY_CURVE_P256, …
	PublicKey string      `yaml:"publicKey"` // hex
	ExpiresAt time.Time   `yaml:"expiresAt"` // zero: never
	// Activities is nil for all that need not be named, see activity.Type.MustBeNamed; an empty
	// list is an error.
	Activities []activity.Type `yaml:"activities"`
	Addresses  []string        `yaml:"addresses"` // networks that it may be used from, see ParseNetwork; nil: any
}

// PasskeyConfig configures a passkey.
type PasskeyConfig struct {
	CredentialID string          `yaml:"credentialId"` // base64url
	PublicKey    string          `yaml:"publicKey"`    // base64url of the COSE key
	RPID         string          `yaml:"rpId"`
	Origins      []string        `yaml:"origins"` // empty: any
	ExpiresAt    time.Time       `yaml:"expiresAt"`
	Activities   []activity.Type `yaml:"activities"`
	Addresses    []string        `yaml:"addresses"` // as of an API key

	UserVerification string `yaml:"userVerification"` // "required", or empty: up to the authenticator
	AllowCrossOrigin bool   `yaml:"allowCrossOrigin"` // also in a page that another origin embeds
}

// configuredDirectory is an immutable Directory.
type configuredDirectory map[string]*configuredOrganization

type configuredOrganization struct {
	organization Organization
	members      map[stamp.ID]*Member
	users        map[string]*User // by id
}

// EntryError is an error about one entry of a configuration, such as a list's item.
type EntryError struct {
	Entry string // such as users[0] or publicKey, relative to the entry around it
	Err   error
}

// Error implements error. It is the text of Err, which names the entry.
func (e *EntryError) Error() string { return e.Err.Error() }
func (e *EntryError) Unwrap() error { return e.Err }

// EntryOf returns the path of the entry that an error of NewDirectory or CheckHazards is
// about, such as organizations[0].users[1].name; empty for another error.
func EntryOf(err error) string {
	var path []string
	for entry := new(EntryError); errors.As(err, &entry); err = entry.Err {
		path = append(path, entry.Entry)
	}
	return strings.Join(path, ".")
}

func entryError(entry, format string, args ...any) error {
	return &EntryError{entry, fmt.Errorf(format, args...)}
}

func item(list string, index int) string { return fmt.Sprintf("%s[%d]", list, index) }

// NewDirectory returns the directory of a configuration. Its errors name the entry: see EntryOf.
func NewDirectory(organizations []OrganizationConfig) (Directory, error) {
	directory := configuredDirectory{}
	for i := range organizations {
		config := &organizations[i]
		if err := directory.checkID(config.ID); err != nil {
			return nil, entryError(item("organizations", i)+".id", "organizations[%d]: %w", i, err)
		}
		organization, err := newConfiguredOrganization(config)
		if err != nil {
			return nil, entryError(item("organizations", i), "organization %s: %w", config.ID, err)
		}
		directory[config.ID] = organization
	}
	return directory, nil
}

// CheckHazards refuses a configuration that allows a hazard which is not in known, the names that
// package chains/all lists. Such a name allows nothing, so that it is a mistake, but no danger.
func CheckHazards(organizations []OrganizationConfig, known []string) error {
	for i := range organizations {
		for j, name := range organizations[i].AllowHazards {
			if !slices.Contains(known, name) {
				return entryError(item("organizations", i)+"."+item("allowHazards", j),
					"organization %s: allowHazards: %s", organizations[i].ID,
					plaintext.Meant(fmt.Sprintf("unknown hazard %q", plaintext.Shorten(name, maxShown)), name, known,
						"refusals and 'countersign inspect' show the names"))
			}
		}
	}
	return nil
}

// checkID refuses an organization id that no request can name, or that is taken.
func (d configuredDirectory) checkID(id string) error {
	_, twice := d[id]
	switch {
	case id == "":
		return errors.New("id is missing")
	case len(id) > activity.MaxOrganizationID:
		return fmt.Errorf("id %q: %d bytes, at most %d are allowed", plaintext.Shorten(id, maxShown), len(id),
			activity.MaxOrganizationID)
	case twice:
		return fmt.Errorf("id %q appears twice", id)
	}
	return keystore.CheckName("id", id)
}

func newConfiguredOrganization(config *OrganizationConfig) (*configuredOrganization, error) {
	configured := &configuredOrganization{
		organization: Organization{ID: config.ID, Name: config.Name, AllowHazards: slices.Clone(config.AllowHazards),
			ResumeApprovals: config.Resume.Approvals, WideningApprovals: config.Policies.Widening.Approvals},
		members: map[stamp.ID]*Member{},
		users:   map[string]*User{},
	}
	for i := range config.Users {
		user := &config.Users[i]
		if user.ID == "" && user.Name == "" {
			return nil, entryError(item("users", i),
				"users[%d]: name is missing: policies and records name the user by it, or by an id", i)
		}
		err := errors.Join(keystore.CheckName("id", user.ID), keystore.CheckName("name", user.Name))
		for _, tag := range user.Tags {
			err = errors.Join(err, keystore.CheckName("tags", tag)) // voters could not tell them apart
		}
		if err != nil {
			return nil, entryError(item("users", i), "users[%d]: %w", i, err)
		}
		id := user.UserID(config.ID)
		if configured.users[id] != nil {
			return nil, entryError(item("users", i),
				"users[%d] (%s): another user has this id or, without an id, this name: list all keys of a user under one entry",
				i, user.Name)
		}
		configured.users[id] = &User{ID: id, Name: user.Name, Tags: slices.Clone(user.Tags)}
		if err := configured.add(*configured.users[id], user); err != nil {
			return nil, entryError(item("users", i), "users[%d] (%s): %w", i, user.Name, err)
		}
	}
	if config.Policies.Widening.Approvals != 0 && config.Policy == "" {
		return nil, entryError("policies", "policies: widening: the organization has no policy: name its file")
	}
	return configured, configured.checkHalts()
}

// checkHalts refuses halts that one stolen file could end, and those that never could be ended.
func (o *configuredOrganization) checkHalts() error {
	approvals, halts, inFile := o.organization.ResumeApprovals, false, false
	resuming := map[string]bool{}
	for _, member := range o.members {
		if member.May(activity.TypeResume) {
			resuming[member.User.ID] = true
		}
		if member.May(activity.TypeHalt) || member.May(activity.TypeResume) {
			halts, inFile = true, inFile || !member.Credential.IsPasskey()
		}
	}
	switch least := max(approvals, 1); {
	case approvals < 0 || inFile && approvals == 0:
		return entryError("resume", "resume: {approvals: N} is missing: an API key may submit %s or %s, so that "+
			"a stolen file could end a halt: say how many users have to ask", activity.TypeHalt, activity.TypeResume)
	case o.organization.WideningApprovals < 0 || o.organization.WideningApprovals > len(resuming):
		return entryError("policies", "policies: widening: approvals: %d users have to ask for a policy, and %d "+
			"may: name %s in the activities of a credential",
			o.organization.WideningApprovals, len(resuming), activity.TypeResume)
	case halts && len(resuming) < least:
		return entryError("resume", "resume: approvals: %d users have to ask for the end of a halt, and %d may: "+
			"name %s in the activities of a credential", least, len(resuming), activity.TypeResume)
	}
	return nil
}

// Members returns the organization's credentials and their users, as NewDirectory has
// them, ordered by credential id.
func (c *OrganizationConfig) Members() ([]Member, error) {
	organization, err := newConfiguredOrganization(c)
	if err != nil {
		return nil, err
	}
	var members []Member
	for _, id := range slices.Sorted(maps.Keys(organization.members)) {
		members = append(members, *organization.members[id])
	}
	return members, nil
}

// UserID returns the configured id, or one derived from the organization's id and the user's name.
func (u *UserConfig) UserID(organizationID string) string {
	if u.ID != "" {
		return u.ID
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("countersign:user:"+organizationID+"\x00"+u.Name)).String()
}

func (o *configuredOrganization) add(user User, config *UserConfig) error {
	for i := range config.APIKeys {
		if err := o.addCredential(user, config.APIKeys[i].credential); err != nil {
			return entryError(item("apiKeys", i), "apiKeys[%d]: %w", i, err)
		}
	}
	for i := range config.Passkeys {
		if err := o.addCredential(user, config.Passkeys[i].credential); err != nil {
			return entryError(item("passkeys", i), "passkeys[%d]: %w", i, err)
		}
	}
	return nil
}

func (o *configuredOrganization) addCredential(user User, read func() (*stamp.Credential, error)) error {
	credential, err := read()
	if err != nil {
		return err
	}
	if other, taken := o.members[credential.ID()]; taken {
		return fmt.Errorf("%s already belongs to user %s", credential.ID(), other.User.Name)
	}
	o.members[credential.ID()] = &Member{User: user, Credential: credential}
	return nil
}

func (k *APIKeyConfig) credential() (*stamp.Credential, error) {
	publicKey, err := hex.DecodeString(k.PublicKey)
	if err != nil {
		return nil, entryError("publicKey",
			"publicKey: %d characters that are not all pairs of hex digits: expected 66 of a compressed key, or 64 "+
				"of Ed25519, without 0x", len(k.PublicKey))
	}
	credential, err := stamp.NewAPIKey(k.Curve, publicKey)
	if err != nil {
		return nil, entryError("publicKey", "%w", err)
	}
	credential.ExpiresAt = k.ExpiresAt
	return credential, restrict(credential, k.Activities, k.Addresses)
}

func (k *PasskeyConfig) credential() (*stamp.Credential, error) {
	credentialID, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(k.CredentialID, "="))
	if err != nil {
		return nil, entryError("credentialId", "credentialId: %w", err)
	}
	publicKey, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(k.PublicKey, "="))
	if err != nil {
		return nil, entryError("publicKey", "publicKey: %w", err)
	}
	const required = "required"
	if k.UserVerification != "" && k.UserVerification != required {
		return nil, entryError("userVerification", "userVerification: unknown value %q: use %s, or leave it out",
			plaintext.Shorten(k.UserVerification, maxShown), required)
	}
	// A passkey of what no browser would report could never be used.
	if err := weborigin.CheckDomain(k.RPID); err != nil {
		return nil, entryError("rpId", "rpId: %w", err)
	}
	for i, origin := range k.Origins {
		if err := weborigin.CheckPasskey(origin); err != nil {
			return nil, entryError(item("origins", i), "origins[%d]: %w", i, err)
		}
	}
	credential, err := stamp.NewPasskey(credentialID, publicKey, k.RPID, k.Origins...)
	if err != nil {
		return nil, err
	}
	credential.RequireUserVerification = k.UserVerification == required
	credential.AllowCrossOrigin = k.AllowCrossOrigin
	credential.ExpiresAt = k.ExpiresAt
	return credential, restrict(credential, k.Activities, k.Addresses)
}

// restrict sets what a credential may submit, and from where. An empty list of addresses is
// refused, because its author means none.
func restrict(credential *stamp.Credential, types []activity.Type, addresses []string) (err error) {
	if credential.Activities, err = typeNames(types); err != nil {
		return err
	}
	if addresses != nil && len(addresses) == 0 {
		return entryError("addresses",
			"addresses: the list is empty: name at least one network, or leave it out for any address")
	}
	if credential.Addresses, err = ParseNetworks(addresses); err != nil {
		return entryError("addresses"+EntryOf(err), "addresses%v", err)
	}
	return nil
}

// typeNames checks the types that a credential may submit. It refuses an empty list, because
// its author means none, but [stamp.Credential] takes it as the default.
func typeNames(types []activity.Type) ([]string, error) {
	if types != nil && len(types) == 0 {
		return nil, entryError("activities",
			"activities: the list is empty: name at least one type, or leave it out for the default")
	}
	var names []string
	for i, kind := range types {
		if !slices.Contains(activity.Types(), kind) {
			served, _ := typeNames(activity.Types()) // all of them are
			return nil, entryError(item("activities", i), "activities: %s",
				plaintext.Meant(fmt.Sprintf("%q is not served", plaintext.Shorten(string(kind), maxShown)),
					string(kind), served, fmt.Sprintf("use %v", activity.Types())))
		}
		names = append(names, string(kind))
	}
	return names, nil
}

func (d configuredDirectory) Organization(_ context.Context, organizationID string) (*Organization, error) {
	if organization, ok := d[organizationID]; ok {
		return &organization.organization, nil
	}
	return nil, ErrOrganizationNotFound
}

func (d configuredDirectory) Member(_ context.Context, organizationID string, id stamp.ID) (*Member, error) {
	if organization, ok := d[organizationID]; ok {
		if member, ok := organization.members[id]; ok {
			return member, nil
		}
	}
	return nil, ErrCredentialNotFound
}

func (d configuredDirectory) User(_ context.Context, organizationID, userID string) (*User, error) {
	if organization, ok := d[organizationID]; ok {
		if user, ok := organization.users[userID]; ok {
			return user, nil
		}
	}
	return nil, ErrUserNotFound
}
