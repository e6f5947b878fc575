//go:build cgo

package pkcs11_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/faultproxy"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

func TestPINFile(t *testing.T) {
	token := testenv.SoftHSM(t)
	for _, content := range []string{token.PIN, token.PIN + "\n", token.PIN + "\r\n"} {
		path := pinFile(t, content, 0o600)
		open(t, token.URI(""), pkcs11.Options{PINFile: path})
		open(t, token.URI("")+"&pin-source=file:"+path, pkcs11.Options{})
		open(t, token.URI("")+"&pin-source=/nowhere", pkcs11.Options{PINFile: path})
	}
}

func TestOpenRefuses(t *testing.T) {
	token := testenv.SoftHSM(t)
	token.Add(t, "twin")
	token.Add(t, "twin")
	noModule := filepath.Join(t.TempDir(), "text.so")
	testenv.Write(t, noModule, []byte("no library"))
	with := func(old, new string) string { return strings.Replace(token.URI(""), old, new, 1) }
	good := pkcs11.Options{PIN: []byte(token.PIN)}
	for want, c := range map[string]struct {
		uri     string
		options pkcs11.Options
	}{
		"does not begin with the scheme pkcs11":                         {"file:keys", good},
		"module-path is missing":                                        {"pkcs11:token=a", good},
		"it selects no token":                                           {with("token=countersign%20test", ""), good},
		"a PIN does not belong in a URI":                                {token.URI("") + "&pin-value=" + "1234", good},
		"module-path: stat /nowhere.so: no such file":                   {with(token.Module, "/nowhere.so"), good},
		"text.so is not a PKCS#11 module that can be loaded":            {with(token.Module, noModule), good},
		`no token matches the URI; present: "countersign test" (seri`:   {with("countersign%20test", "prod"), good},
		`no token matches the URI; present: "countersign test" (s`:      {with("?", ";manufacturer=Snake%20Oil?"), good},
		`no token matches the URI; present: "countersign test" (ser`:    {with("?", ";slot-id=0?"), good},
		`several tokens match the URI: select one by its serial: "twin`: {with("countersign%20test", "twin"), good},
		"no PIN: name its file with pin-source":                         {token.URI(""), pkcs11.Options{}},
		"login refused":                                                 {token.URI(""), pkcs11.Options{PIN: []byte("another PIN")}},
		"PIN: it is longer than 255 bytes":                              {token.URI(""), pkcs11.Options{PIN: []byte(strings.Repeat("1", 256))}},
		"PIN: it has more than one line":                                {token.URI(""), pkcs11.Options{PIN: []byte("1\n2")}},
		"pin: it is empty":                                              {token.URI(""), pkcs11.Options{PINFile: pinFile(t, "\n", 0o600)}},
		"pin: it is longer than 255 bytes":                              {token.URI(""), pkcs11.Options{PINFile: pinFile(t, strings.Repeat("1", 256)+"\n", 0o600)}},
		"pin: it has more than one line":                                {token.URI(""), pkcs11.Options{PINFile: pinFile(t, "1\n2\n", 0o600)}},
		"others can read it (mode 0644): run 'chmod 600":                {token.URI(""), pkcs11.Options{PINFile: pinFile(t, "1", 0o644)}},
		"it is a directory":                                             {token.URI("") + "&pin-source=file:/tmp", pkcs11.Options{}},
		"PIN file /nowhere: no such file or directory":                  {token.URI("") + "&pin-source=file:/nowhere", pkcs11.Options{}},
		"1025 sessions: use 1 to 1024":                                  {token.URI(""), pkcs11.Options{PIN: good.PIN, Sessions: 1025}},
		"-1 sessions: use 1 to 1024":                                    {token.URI(""), pkcs11.Options{PIN: good.PIN, Sessions: -1}},
		"name different organizations":                                  {token.URI("") + "&countersign-organization=a", pkcs11.Options{PIN: good.PIN, Organization: "b"}},
		"set different numbers of sessions":                             {token.URI("") + "&countersign-sessions=1", pkcs11.Options{PIN: good.PIN, Sessions: 2}},
	} {
		store, err := pkcs11.Open(t.Context(), c.uri, c.options)
		if err == nil {
			store.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// None of these left the module open. A wrong PIN was refused above.
	open(t, token.URI("")+"&countersign-retry-pin=yes", good)
}

// TestSelectors opens the same token by each attribute that can select it.
func TestSelectors(t *testing.T) {
	token, store := newStore(t)
	token.Add(t, "other")
	info := generate(t, store, org, "", keystore.CurveEd25519)
	b := openBare(t, token)
	slots, err := b.GetSlotList(true)
	testenv.Must(t, err)
	is, err := b.GetTokenInfo(slots[0])
	testenv.Must(t, err)
	for _, path := range []string{
		"serial=" + is.SerialNumber,
		fmt.Sprintf("slot-id=%d", slots[0]),
		"token=countersign%20test;serial=" + is.SerialNumber + ";manufacturer=SoftHSM%20project;model=SoftHSM%20v2",
	} {
		found := open(t, "pkcs11:"+path+"?module-path="+token.Module, pkcs11.Options{PIN: []byte(token.PIN)})
		if listed := list(t, found, org); len(listed) != 1 || listed[0] != info {
			t.Errorf("%s: %v, want %v", path, listed, info)
		}
	}
}

// TestForeignKeys: a key created by another program, with its own form of label and id,
// belongs to the organization that the token belongs to.
func TestForeignKeys(t *testing.T) {
	token, shared := newStore(t)
	b := openBare(t, token)
	b.generateAs(t, "hot wallet", []byte{1})
	own := open(t, token.URI("")+"&countersign-organization="+org, pkcs11.Options{PIN: []byte(token.PIN)})
	listed := list(t, own, org)
	if len(listed) != 1 || listed[0].ID != "01" || listed[0].Name != "hot wallet" || !listed[0].CreatedAt.IsZero() {
		t.Fatalf("listed: %+v", listed)
	}
	key, err := own.Find(t.Context(), org, keystore.ByID("01"))
	testenv.Must(t, err)
	if _, err := sign(t.Context(), key); err != nil {
		t.Error(err)
	}
	if _, err := own.Find(t.Context(), "other", keystore.ByID("01")); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Errorf("found in another organization: %v", err)
	}
	if _, err := own.Generate(t.Context(), "other", "", keystore.CurveEd25519); err == nil {
		t.Error("created for another organization")
	}
	if listed := list(t, shared, "hot wallet"); len(listed) != 0 {
		t.Errorf("on a shared token: %v", listed)
	}
}

// TestKeyOfAnotherProcess: a key created by another process is found without reopening the
// token.
func TestKeyOfAnotherProcess(t *testing.T) {
	token, here := newStore(t)
	elsewhere := open(t, token.URI(""), pkcs11.Options{PIN: []byte(token.PIN)})
	list(t, here, org)
	info := generate(t, elsewhere, org, "new", keystore.CurveSecp256k1)
	here.Forget()
	if _, err := here.Find(t.Context(), org, keystore.ByID(info.ID)); err != nil {
		t.Error(err)
	}
	if listed := list(t, here, org); len(listed) != 1 || listed[0] != info {
		t.Errorf("listed %v, want %v", listed, info)
	}
}

func TestGenerate(t *testing.T) {
	_, store := newStore(t)
	start := time.Now().Add(-time.Second)
	var created []keystore.KeyInfo
	for _, name := range []string{"b", "a", "a"} {
		info := generate(t, store, org, name, keystore.CurveSecp256k1)
		if info.Name != name || info.CreatedAt.Before(start.Truncate(time.Second)) || info.CreatedAt.After(time.Now()) {
			t.Errorf("created %+v", info)
		}
		created = append(created, info)
	}
	for i, info := range list(t, store, org) {
		if info != created[i] {
			t.Errorf("key %d of the listing is %v, want %v", i, info, created[i])
		}
	}
	for want, try := range map[string]func() error{
		"unknown curve": func() error { return errOfInfo(store.Generate(t.Context(), org, "", 0)) },
		"name has the invisible or control character U+000A at byte 0": func() error {
			return errOfInfo(store.Generate(t.Context(), org, "\n", keystore.CurveEd25519))
		},
		"the organization is empty": func() error { return errOfInfo(store.Generate(t.Context(), "", "", keystore.CurveEd25519)) },
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestSameIDInTwoOrganizations: ids are unique only within an organization, even on a shared
// token.
func TestSameIDInTwoOrganizations(t *testing.T) {
	token, store := newStore(t)
	key := keystore.NewKey{ID: "abcdef00-0000-4000-8000-000000000001", Name: "one", Curve: keystore.CurveSecp256k1}
	created := map[string]keystore.KeyInfo{}
	for i, organization := range []string{"a", "b"} {
		key.Secret = []byte(strings.Repeat(string(rune('1'+i)), 32))
		created[organization] = importKey(t, store, organization, key)
	}
	for _, keys := range []*pkcs11.Store{store, open(t, token.URI(""), pkcs11.Options{PIN: []byte(token.PIN)})} {
		for organization, info := range created {
			if listed := list(t, keys, organization); len(listed) != 1 || listed[0] != info {
				t.Errorf("%s: listed %v, want %v", organization, listed, info)
			}
		}
	}
}

func errOfInfo(_ keystore.KeyInfo, err error) error { return err }

func TestImport(t *testing.T) {
	_, store := newStore(t)
	secret := []byte(strings.Repeat("\x07", 32))
	id := "abcdef00-0000-4000-8000-000000000001"
	first := importKey(t, store, org, keystore.NewKey{ID: id, Name: "one", Curve: keystore.CurveSecp256k1, Secret: secret})
	if first.ID != id || first.Name != "one" {
		t.Errorf("imported %+v", first)
	}
	for what, again := range map[string]keystore.NewKey{
		"the same secret": {Curve: keystore.CurveSecp256k1, Secret: secret},
		"the same id":     {ID: strings.ToUpper(id), Curve: keystore.CurveEd25519, Secret: secret},
	} {
		if info, err := store.Add(t.Context(), org, again); !errors.Is(err, keystore.ErrKeyExists) || info != first {
			t.Errorf("%s: %v, %v, want ErrKeyExists and the existing key", what, info, err)
		}
	}
	for want, bad := range map[string]keystore.NewKey{
		`id "hot" is not a UUID`: {ID: "hot", Curve: keystore.CurveEd25519, Secret: secret},
		"31 bytes, want 32":      {Curve: keystore.CurveEd25519, Secret: secret[:31]},
		"unknown curve":          {Secret: secret},
		"acts for":               {Curve: keystore.CurveSecp256k1, Secret: []byte(strings.Repeat("\x08", 32)), ActsFor: strings.Repeat("11", 20)},
		"group order":            {Curve: keystore.CurveSecp256k1, Secret: make([]byte, 32)},
	} {
		if _, err := store.Add(t.Context(), org, bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if listed := list(t, store, org); len(listed) != 1 {
		t.Errorf("listed: %v", listed)
	}
}

// TestPINOfAnotherEncoding: a PIN that an editor or a shell saved with a byte-order mark, or
// as UTF-16, is refused before a try is spent on it.
func TestPINOfAnotherEncoding(t *testing.T) {
	token := testenv.SoftHSM(t)
	proxy := faultproxy.Build(t, token.Module)
	wide := func(mark, text string, at int) string {
		for _, char := range []byte(text) {
			unit := [2]byte{}
			unit[at] = char
			mark += string(unit[:])
		}
		return mark
	}
	for _, end := range []string{"", "\n", "\r\n"} {
		for _, content := range []string{
			"\ufeff" + token.PIN + end, wide("\xff\xfe", token.PIN+end, 0), wide("\xfe\xff", token.PIN+end, 1), wide("", token.PIN+end, 0), wide("", token.PIN+end, 1),
		} {
			path := pinFile(t, content, 0o600)
			for uri, options := range map[string]pkcs11.Options{
				token.URI(proxy.Module):                              {PINFile: path},
				token.URI(proxy.Module) + "&pin-source=file:" + path: {},
				token.URI(proxy.Module) + "&pin-source=/nowhere":     {PIN: []byte(content)},
			} {
				if _, err := pkcs11.Open(t.Context(), uri, options); err == nil || !strings.Contains(err.Error(), "save it as UTF-8") {
					t.Errorf("%q, %s: %v", content, uri, err)
				}
			}
		}
	}
	if proxy.Logins() != 0 {
		t.Errorf("%d logins", proxy.Logins())
	}
	open(t, token.URI(proxy.Module), pkcs11.Options{PINFile: pinFile(t, token.PIN+"\r\n", 0o600)})
}
