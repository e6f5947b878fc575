package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/testenv"
)

const (
	somePoint  = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
	otherPoint = "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5"
	solPoint   = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"
)

// TestKMSRefused: the error names the entry and the member.
func TestKMSRefused(t *testing.T) {
	for entry, want := range map[string]string{
		"{publicKey: '" + somePoint + "'}":                                                                                      "kms[0]: uri is missing",
		"{uri: awskms:alias/hot}":                                                                                               "kms[0]: publicKey is missing: 'countersign keys add'",
		"{uri: 'awskms:a', publicKey: '02'}":                                                                                    "kms[0]: publicKey: 1 bytes",
		"{uri: 'awskms:a', publicKey: 'zz'}":                                                                                    "kms[0]: publicKey: not hex",
		"{uri: 'awskms:a', publicKey: '03" + strings.Repeat("f", 64) + "'}":                                                     "kms[0]: publicKey: secp256k1 public key: not a point",
		"{uri: 'awskms:a', publicKey: '" + strings.Repeat("0", 64) + "'}":                                                       "kms[0]: publicKey: ed25519 public key",
		"{uri: 'awskms:a', publicKey: '" + somePoint + "', organization: x}":                                                    `kms[0]: organization: there is no "x"`,
		"{uri: 'awskms:a', publicKey: '" + somePoint + "', name: \"a\\u202eb\"}":                                                "name has the invisible or control character",
		"{uri: 'awskms:a', publicKey: '" + somePoint + "'}\n  - {uri: 'awskms:b', publicKey: '" + somePoint + "'}":              "kms[1]: the organization has this publicKey or id already",
		"{uri: 'awskms:a', publicKey: '" + somePoint + "', id: x}\n  - {uri: 'awskms:b', publicKey: '" + solPoint + "', id: x}": "kms[1]: the organization has this publicKey or id already",
		"{uri: 'awskms:a', publicKey: '" + somePoint + "', secret: x}":                                                          "kms[0] has no member secret",
	} {
		if _, err := config.Read(write(t, whole+"kms:\n  - "+entry+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", entry, err, want)
		}
	}
	without := strings.Replace(whole, "keystore: file:keys\n", "", 1)
	if _, err := config.Read(write(t, without)); err == nil || !strings.Contains(err.Error(), "keystore is missing") {
		t.Errorf("no keys at all: %v", err)
	}
	if _, err := config.Read(write(t, without+"kms: [{uri: 'awskms:a', publicKey: '"+somePoint+"'}]\n")); err != nil {
		t.Errorf("keys in a service only: %v", err)
	}
}

// TestAddKMS adds keys to configurations of many forms. All other bytes stay as they are.
func TestAddKMS(t *testing.T) {
	added := config.KMSKey{URI: "awskms:alias/hot?region=eu-central-1", PublicKey: somePoint, Name: "it's \"hot\"", Organization: "6e1f8f5e-1111-4222-8333-444455556666"}
	const line = "- {uri: 'awskms:alias/hot?region=eu-central-1', publicKey: '" + somePoint + "', name: 'it''s \"hot\"', organization: '6e1f8f5e-1111-4222-8333-444455556666'}\n"
	entry := "{uri: 'awskms:b', publicKey: '" + otherPoint + "'}"
	for name, texts := range map[string][2]string{
		"no section":          {whole, whole + "kms:\n  " + line},
		"no newline at end":   {strings.TrimSuffix(whole, "\n"), whole + "kms:\n  " + line},
		"at the end":          {whole + "kms:\n  - " + entry + "\n", whole + "kms:\n  - " + entry + "\n  " + line},
		"end without newline": {whole + "kms:\n  - " + entry, whole + "kms:\n  - " + entry + "\n  " + line},
		"not indented":        {whole + "kms:\n- " + entry + "\n", whole + "kms:\n- " + entry + "\n" + line},
		"at the beginning":    {"kms:\n    - " + entry + "\n\n# a comment\n" + whole, "kms:\n    - " + entry + "\n    " + line + "\n# a comment\n" + whole},
		"over several lines":  {whole + "kms:\n  - uri: 'awskms:b' # here\n    publicKey: '" + otherPoint + "'\n", whole + "kms:\n  - uri: 'awskms:b' # here\n    publicKey: '" + otherPoint + "'\n  " + line},
		"a folded flow":       {"kms:\n  - {uri: 'awskms:b',\n     publicKey: '" + otherPoint + "'\n    }\n" + whole, "kms:\n  - {uri: 'awskms:b',\n     publicKey: '" + otherPoint + "'\n    }\n  " + line + whole},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, texts[0])
			testenv.Must(t, config.AddKMS(path, added))
			if text, err := os.ReadFile(path); err != nil || string(text) != texts[1] {
				t.Errorf("%v: wrote\n%s\nwant\n%s", err, text, texts[1])
			}
		})
	}
	for _, text := range []string{whole + "kms: [" + entry + "]\n", whole + "kms: []\n", whole + "kms:\n  - {uri: x}\n", whole + "kms:\n  - {uri: 'awskms:b', publicKey: '" + somePoint + "'}\n"} {
		path := write(t, text)
		if err := config.AddKMS(path, added); err == nil {
			t.Errorf("added to\n%s", text)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("%v: a refused change wrote\n%s", err, now)
		}
		if names, err := os.ReadDir(filepath.Dir(path)); err != nil || len(names) != 1 {
			t.Errorf("%v: left behind: %v", err, names)
		}
	}
}

// TestAddKMSKeepsGroup: the file keeps its group and mode, so that a service still reads it.
func TestAddKMSKeepsGroup(t *testing.T) {
	path, group := write(t, whole), os.Getegid()
	if os.Geteuid() == 0 {
		group = 12345
	}
	testenv.Must(t, errors.Join(os.Chown(path, -1, group), os.Chmod(path, 0o640)))
	testenv.Must(t, config.AddKMS(path, config.KMSKey{URI: "awskms:a", PublicKey: somePoint}))
	info, err := os.Stat(path)
	testenv.Must(t, err)
	if stat := info.Sys().(*syscall.Stat_t); int(stat.Gid) != group || info.Mode().Perm() != 0o640 {
		t.Errorf("group %d, mode %v", stat.Gid, info.Mode())
	}
}

// TestDisableKMS disables and enables a key that AddKMS wrote, and does not touch others.
func TestDisableKMS(t *testing.T) {
	path := write(t, whole)
	for _, key := range []config.KMSKey{{URI: "awskms:a", PublicKey: somePoint, Name: "}, disabled: true"}, {URI: "awskms:b", PublicKey: solPoint}} {
		testenv.Must(t, config.AddKMS(path, key))
	}
	before := testenv.Read(t, path)
	testenv.Must(t, config.DisableKMS(path, 1, true))
	if read, err := config.Read(path); err != nil || read.KMS[0].Disabled || !read.KMS[1].Disabled {
		t.Errorf("%v: %+v", err, read.KMS)
	}
	if err := config.DisableKMS(path, 1, true); err != nil {
		t.Errorf("disabling again: %v", err)
	}
	testenv.Must(t, config.DisableKMS(path, 1, false))
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("%v: enabled:\n%s", err, after)
	}
	if err := config.DisableKMS(path, 0, true); err == nil || !strings.Contains(err.Error(), "edit the section kms yourself") {
		t.Errorf("a name that looks like a member: %v", err)
	}
	block := write(t, whole+"kms:\n  - uri: 'awskms:b'\n    publicKey: '"+otherPoint+"'\n")
	if err := config.DisableKMS(block, 0, true); err == nil || !strings.Contains(err.Error(), "set its member disabled to true yourself") {
		t.Errorf("a key on several lines: %v", err)
	}
}
