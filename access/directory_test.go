package access_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/stamp"
)

// A COSE key on Ed25519, and a compressed point on P-256: the base point.
var (
	coseKeyOfOnes = base64.RawURLEncoding.EncodeToString(slices.Concat(
		[]byte{0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21, 0x58, 32}, []byte(strings.Repeat("\x11", 32))))
	basePoint = "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
)

// twoUsers returns a configuration in which every member is set.
func twoUsers() access.OrganizationConfig {
	return access.OrganizationConfig{ID: "org", Name: "Example", AllowHazards: []string{"ethereum/no-chain-id"}, Users: []access.UserConfig{
		{Name: "ci", APIKeys: []access.APIKeyConfig{{
			Curve: stamp.CurveP256, PublicKey: basePoint, Activities: []activity.Type{activity.TypeSignTransaction},
		}}},
		{Name: "person", Passkeys: []access.PasskeyConfig{{CredentialID: "aWQ=", PublicKey: coseKeyOfOnes, RPID: "example.com"}}},
	}}
}

func TestNewDirectory(t *testing.T) {
	config := twoUsers()
	config.Users[1].Name, config.Users[1].ID = "", "5" // the id names the user
	config.Users[1].Passkeys[0].Origins = []string{"https://app.example.com", "android:apk-key-hash:abc"}
	directory, err := access.NewDirectory([]access.OrganizationConfig{config, {ID: "other"}})
	testenv.Must(t, err)
	point, _ := hex.DecodeString(basePoint)
	member, err := directory.Member(t.Context(), "org", stamp.APIKeyID(point))
	if err != nil || member.User.Name != "ci" || len(member.Credential.Activities) != 1 {
		t.Errorf("%+v, %v", member, err)
	}
	if _, err := directory.Member(t.Context(), "other", stamp.APIKeyID(point)); !errors.Is(err, access.ErrCredentialNotFound) {
		t.Errorf("in another organization: %v", err)
	}
	if _, err := directory.Organization(t.Context(), "nobody"); !errors.Is(err, access.ErrOrganizationNotFound) {
		t.Errorf("an organization that is not there: %v", err)
	}
}

// TestNewDirectoryRefuses checks that each error names the entry at fault.
func TestNewDirectoryRefuses(t *testing.T) {
	key := func(o *access.OrganizationConfig) *access.APIKeyConfig { return &o.Users[0].APIKeys[0] }
	passkey := func(o *access.OrganizationConfig) *access.PasskeyConfig { return &o.Users[1].Passkeys[0] }
	for want, change := range map[string]func(o *access.OrganizationConfig){
		"organizations[0]: id is missing": func(o *access.OrganizationConfig) { o.ID = "" },
		"bytes, at most ":                 func(o *access.OrganizationConfig) { o.ID = strings.Repeat("o", activity.MaxOrganizationID+1) },
		`organization org: allowHazards: unknown hazard "*": refusals and`: func(o *access.OrganizationConfig) { o.AllowHazards = []string{"*"} },
		"users[1] (ci): another user has this id":                          func(o *access.OrganizationConfig) { o.Users[1].Name = "ci" },
		"users[0] (ci): apiKeys[0]: publicKey: 68 characters":              func(o *access.OrganizationConfig) { key(o).PublicKey = "0x" + basePoint },
		"apiKeys[0]: API key on API_KEY_CURVE_P256: public key: 32 bytes":  func(o *access.OrganizationConfig) { key(o).PublicKey = basePoint[2:] },
		"API_KEY_CURVE_P256: public key: not a point":                      func(o *access.OrganizationConfig) { key(o).PublicKey = "02" + strings.Repeat("ff", 32) },
		"apiKeys[0]: activities: the list is empty":                        func(o *access.OrganizationConfig) { key(o).Activities = []activity.Type{} },
		"passkeys[0]: activities: the list is empty": func(o *access.OrganizationConfig) {
			passkey(o).Activities = []activity.Type{}
		},
		`apiKeys[0]: activities: "SIGN" is not served`:                                      func(o *access.OrganizationConfig) { key(o).Activities = []activity.Type{"SIGN"} },
		"users[1] (person): passkeys[0]: credentialId: illegal":                             func(o *access.OrganizationConfig) { passkey(o).CredentialID = "a b" },
		"passkeys[0]: publicKey: illegal":                                                   func(o *access.OrganizationConfig) { passkey(o).PublicKey = "a b" },
		`passkeys[0]: rpId: "": use the domain alone`:                                       func(o *access.OrganizationConfig) { passkey(o).RPID = "" },
		`users[1] (person): passkeys[0]: rpId: "https://example.com": use the domain alone`: func(o *access.OrganizationConfig) { passkey(o).RPID = "https://example.com" },
		`passkeys[0]: rpId: "Example.com": use the domain alone`:                            func(o *access.OrganizationConfig) { passkey(o).RPID = "Example.com" },
		`users[1] (person): passkeys[0]: origins[1]: "https://a.example/": use scheme, host and port alone`: func(o *access.OrganizationConfig) {
			passkey(o).Origins = []string{"android:apk-key-hash:abc", "https://a.example/"}
		},
		`passkeys[0]: origins[0]: "a.example": use scheme`:                       func(o *access.OrganizationConfig) { passkey(o).Origins = []string{"a.example"} },
		"users[0]: name is missing":                                              func(o *access.OrganizationConfig) { o.Users[0].Name = "" },
		"users[0]: name has the invisible or control character U+202E at byte 1": func(o *access.OrganizationConfig) { o.Users[0].Name = "a\u202eb" },
		"users[0]: id has the invisible or control character U+200B at byte 0":   func(o *access.OrganizationConfig) { o.Users[0].ID = "\u200bci" },
		"users[0]: tags has the invisible or control character U+000A at byte 1": func(o *access.OrganizationConfig) { o.Users[0].Tags = []string{"a\n"} },
		"organizations[0]: id has the invisible":                                 func(o *access.OrganizationConfig) { o.ID = "a\u00a0b" },
		"already belongs to user ci": func(o *access.OrganizationConfig) {
			o.Users[1].APIKeys = slices.Clone(o.Users[0].APIKeys)
		},
	} {
		config := twoUsers()
		change(&config)
		organizations := []access.OrganizationConfig{config}
		_, err := access.NewDirectory(organizations)
		err = errors.Join(err, access.CheckHazards(organizations, []string{"ethereum/no-chain-id"}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestHaltsThatOneFileEnds: a directory in which an API key may halt or resume says how many users
// end a halt, and no halt is without its end. Passkeys need nothing.
func TestHaltsThatOneFileEnds(t *testing.T) {
	key := func(types ...activity.Type) access.UserConfig {
		const public = "0332064cec33af7ac82d026aa17bbb951c6b3a7f4d29bde5f4229eb26a93e2508b"
		return access.UserConfig{Name: "ci", APIKeys: []access.APIKeyConfig{{Curve: "API_KEY_CURVE_P256", PublicKey: public, Activities: types}}}
	}
	passkey := func(types ...activity.Type) access.UserConfig {
		return access.UserConfig{Name: "person", Passkeys: []access.PasskeyConfig{{CredentialID: "aWQ=", PublicKey: coseKeyOfOnes, RPID: "example.com", Activities: types}}}
	}
	both := []activity.Type{activity.TypeHalt, activity.TypeResume}
	for name, test := range map[string]struct {
		users     []access.UserConfig
		approvals int
		refused   string
	}{
		"passkeys alone":             {[]access.UserConfig{passkey(both...)}, 0, ""},
		"a passkey that only halts":  {[]access.UserConfig{passkey(activity.TypeHalt)}, 0, "and 0 may"},
		"a key":                      {[]access.UserConfig{key(both...)}, 0, "resume: {approvals: N} is missing"},
		"a key that only resumes":    {[]access.UserConfig{passkey(both...), key(activity.TypeResume)}, 0, "is missing"},
		"a key that only halts":      {[]access.UserConfig{passkey(both...), key(activity.TypeHalt)}, 0, "is missing"},
		"a key and two":              {[]access.UserConfig{passkey(both...), key(both...)}, 2, ""},
		"a key and more than may":    {[]access.UserConfig{passkey(both...), key(activity.TypeHalt)}, 2, "2 users have to ask for the end of a halt, and 1 may"},
		"a negative number":          {[]access.UserConfig{passkey(both...)}, -1, "is missing"},
		"no halts, whatever it says": {[]access.UserConfig{key()}, 9, ""},
	} {
		_, err := access.NewDirectory([]access.OrganizationConfig{{ID: "o", Users: test.users, Resume: access.ResumeConfig{Approvals: test.approvals}}})
		if (err == nil) != (test.refused == "") || err != nil && !strings.Contains(err.Error(), test.refused) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && access.EntryOf(err) != "organizations[0].resume" {
			t.Errorf("%s: the entry is %s", name, access.EntryOf(err))
		}
	}
}
