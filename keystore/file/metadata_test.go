package file

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

const upperID = "AAAAAAAA-2222-4333-8444-555555555555"

// keyInfo returns the info of a key with a fixed secret.
func keyInfo(t *testing.T, curve keystore.Curve) keystore.KeyInfo {
	t.Helper()
	info := keystore.KeyInfo{ID: uuid.NewString(), Name: "hot", CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	key, err := software.New(info, curve, []byte(strings.Repeat("\x11", keystore.SecretSize)))
	testenv.Must(t, err)
	defer key.Destroy()
	return key.Info()
}

// edit is a change to a line of metadata, and the error that refuses it.
type edit struct{ old, changed, problem string }

func (e edit) refused(t *testing.T, encoded []byte, parse func(encoded []byte) error) {
	t.Helper()
	edited := strings.Replace(string(encoded), e.old, e.changed, 1)
	if edited == string(encoded) {
		t.Fatalf("%q is not in %s", e.old, encoded)
	}
	if err := parse([]byte(edited)); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), e.problem) {
		t.Errorf("%s: %v, want one with %q", edited, err, e.problem)
	}
}

// TestMetadata: invalid metadata is refused even if its author knows the MAC key.
func TestMetadata(t *testing.T) {
	info := keyInfo(t, keystore.CurveSecp256k1)
	encoded, err := strictjson.Marshal(newMetadata("org", info))
	testenv.Must(t, err)
	parse := func(encoded []byte) error {
		_, _, err := parseMetadata(encoded, metadata.keyInfo)
		return err
	}
	if _, read, err := parseMetadata(encoded, metadata.keyInfo); err != nil || read != info {
		t.Fatalf("read %+v, %v, want %+v", read, err, info)
	}
	point := info.PublicKey.String()
	for _, e := range []edit{
		{`}`, ``, "metadata: unexpected end of JSON"},
		{`"name":"hot"`, `"name": "hot"`, "not in canonical form"},
		{`"name":"hot"`, `"name":"hot","more":1`, "not in canonical form"},
		{`"org"`, `""`, "organization id is empty"},
		{`"org"`, `"` + strings.Repeat("o", 257) + `"`, "organization id has 257 bytes, the limit is 256"},
		{`"hot"`, `"` + strings.Repeat("n", 257) + `"`, "name has 257 bytes, the limit is 256"},
		{`"hot"`, `"h\u001bt"`, "name has the invisible or control character U+001B at byte 1"},
		{info.ID, upperID, "is not a UUID in lower case"},
		{info.ID, "hot", "is not a UUID in lower case"},
		{"05Z", "05+00:00", "is not a UTC time"},
		{"05Z", "05.0Z", "is not a UTC time"},
		{"-01-02T", "-13-02T", "createdAt: "},
		{point, "x" + point[1:], "publicKey: encoding/hex"},
		{point, point[2:], "publicKey: "},
		{point, strings.ToUpper(point), "is not in canonical form"},
		{"SECP256K1", "ED25519", "publicKey: "},
	} {
		e.refused(t, encoded, parse)
	}
}

func TestWalletMetadata(t *testing.T) {
	path := wallet.UsualAccounts()[0].Path
	info := keyInfo(t, keystore.CurveSecp256k1)
	w := Wallet{
		ID: uuid.NewString(), Name: "cold", CreatedAt: info.CreatedAt.Add(time.Second),
		Accounts: []Account{{KeyInfo: info, Curve: keystore.CurveSecp256k1, Path: path}},
	}
	encoded, err := strictjson.Marshal(newWalletMetadata("org", w))
	testenv.Must(t, err)
	parse := func(encoded []byte) error {
		_, _, err := parseMetadata(encoded, walletMetadata.wallet)
		return err
	}
	testenv.Must(t, parse(encoded))
	account := string(encoded[strings.Index(string(encoded), "[")+1 : len(encoded)-2])
	point := info.PublicKey.String()
	for _, e := range []edit{
		{`]}`, `]`, "metadata: unexpected end of JSON"},
		{`"cold"`, ` "cold"`, "not in canonical form"},
		{`"org"`, `""`, "organization id is empty"},
		{`"cold"`, `"` + strings.Repeat("n", 257) + `"`, "name has 257 bytes"},
		{w.ID, upperID, "is not a UUID in lower case"},
		{"06Z", "66Z", "createdAt: "},
		{account, "", "0 accounts, want 1 to 256"},
		{account, strings.Repeat(account+",", MaxAccounts) + account, "257 accounts, want 1 to 256"},
		{account, account + "," + account, "account 2, m/44'/60'/0'/0/0, is the same as account 1"},
		{account, account + "," + strings.Replace(account, info.ID, uuid.NewString(), 1), "is the same as account 1"},
		{path.String(), "44'/60'", "account 1: derivation path: it must begin with m"},
		{path.String(), strings.ReplaceAll(path.String(), "'", "h"), "account 1: path m/44h/60h/0h/0/0 is not in canonical form, m/44'/60'/0'/0/0"},
		{info.ID, upperID, "account 1: key id"},
		{"05Z", "65Z", "account 1: createdAt: "},
		{point, point[2:], "account 1: publicKey: "},
	} {
		e.refused(t, encoded, parse)
	}
}
