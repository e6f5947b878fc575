package descriptors_test

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// attest returns an attestation of a content by a key, as the registry has them. change changes
// what is signed.
func attest(t testing.TB, key *ecdsa.PrivateKey, content string, change func(signed *apitypes.TypedData)) string {
	t.Helper()
	text := jsontext.Value(content)
	testenv.Must(t, text.Canonicalize())
	signed := apitypes.TypedData{
		Types: apitypes.Types{
			"EIP712Domain": {{Name: "name", Type: "string"}, {Name: "version", Type: "string"}, {Name: "chainId", Type: "uint256"},
				{Name: "verifyingContract", Type: "address"}},
			"Attest": {{Name: "version", Type: "uint16"}, {Name: "schema", Type: "bytes32"}, {Name: "recipient", Type: "address"},
				{Name: "time", Type: "uint64"}, {Name: "expirationTime", Type: "uint64"}, {Name: "revocable", Type: "bool"},
				{Name: "refUID", Type: "bytes32"}, {Name: "data", Type: "bytes"}, {Name: "salt", Type: "bytes32"}},
		},
		PrimaryType: "Attest",
		Domain: apitypes.TypedDataDomain{Name: "EAS Attestation", Version: "0.26", ChainId: math.NewHexOrDecimal256(1),
			VerifyingContract: "0xA1207F3BBa224E2c9c3c6D5aF63D0eb1582Ce587"},
		Message: apitypes.TypedDataMessage{
			"version": "2", "schema": "0xe023eef113c1670774801c34b377fdf612dd8a4d2fa92fe382e15bd91fafb5c2",
			"recipient": common.Address{}.Hex(), "time": "1785288536", "expirationTime": "0", "revocable": true,
			"refUID": common.Hash{}.Hex(), "data": crypto.Keccak256Hash(text).Hex(), "salt": common.Hash{7}.Hex(),
		},
	}
	if change != nil {
		change(&signed)
	}
	digest, _, err := apitypes.TypedDataAndHash(signed)
	testenv.Must(t, err)
	signature, err := crypto.Sign(digest, key)
	testenv.Must(t, err)
	file, err := json.Marshal(map[string]any{"signer": crypto.PubkeyToAddress(key.PublicKey), "sig": map[string]any{
		"message": signed.Message, "signature": map[string]any{
			"v": int(signature[64]) + 27, "r": fmt.Sprintf("%#x", signature[:32]), "s": fmt.Sprintf("%#x", signature[32:64])},
	}})
	testenv.Must(t, err)
	return string(file)
}

// withAuditors returns pins of files that also ask for attestations.
func withAuditors(t testing.TB, files map[string]string, lines string) *descriptors.Pins {
	t.Helper()
	text := string(pin(t, files).Encode())
	pins, err := descriptors.ReadPins([]byte(strings.Replace(text, "\n", "\n"+lines+"\n", 1)))
	testenv.Must(t, err)
	again, err := descriptors.ReadPins(pins.Encode())
	if err != nil || string(again.Encode()) != string(pins.Encode()) {
		t.Fatalf("the manifest changes when it is written again (%v):\n%s", err, pins.Encode())
	}
	return again
}

// TestAttested: what auditors must attest is used while as many of those that the pins name have
// signed exactly this content.
func TestAttested(t *testing.T) {
	keys := make([]*ecdsa.PrivateKey, 3)
	accounts := make([]string, 3)
	for i := range keys {
		key, err := crypto.GenerateKey()
		testenv.Must(t, err)
		keys[i], accounts[i] = key, crypto.PubkeyToAddress(key.PublicKey).Hex()
	}
	files := map[string]string{"vault.json": alone}
	in := func(shift time.Duration) string { return fmt.Sprint(time.Now().Add(shift).Unix()) }
	member := func(name, value string) func(*apitypes.TypedData) {
		return func(signed *apitypes.TypedData) { signed.Message[name] = value }
	}
	one := fmt.Sprintf("auditors: 1 of [%s, %s]", accounts[0], accounts[1])
	both := strings.Replace(one, "1 of", "2 of", 1)
	good := attest(t, keys[0], alone, nil)
	uid := crypto.Keccak256Hash([]byte{0, 2}, []byte("0xe023eef113c1670774801c34b377fdf612dd8a4d2fa92fe382e15bd91fafb5c2"), make([]byte, 40),
		common.FromHex("0x000000006a695758"), make([]byte, 8), []byte{1}, make([]byte, 32),
		func() []byte {
			text := jsontext.Value(alone)
			_ = text.Canonicalize()
			return crypto.Keccak256(text)
		}(), common.Hash{7}.Bytes(), make([]byte, 4))
	for name, test := range map[string]struct {
		lines        string
		attestations []string
		used         bool
	}{
		"one":                      {one, []string{good}, true},
		"the other":                {one, []string{attest(t, keys[1], alone, nil)}, true},
		"both":                     {both, []string{good, attest(t, keys[1], alone, nil)}, true},
		"not yet expired":          {one, []string{attest(t, keys[0], alone, member("expirationTime", in(time.Hour)))}, true},
		"one beside bad ones":      {one, []string{"{}", attest(t, keys[2], alone, nil), good}, true},
		"another one is revoked":   {one + "\nrevoked: [" + common.Hash{1}.Hex() + "]", []string{good}, true},
		"none":                     {one, nil, false},
		"a stranger":               {one, []string{attest(t, keys[2], alone, nil)}, false},
		"a stranger who lies":      {one, []string{strings.Replace(attest(t, keys[2], alone, nil), accounts[2], accounts[0], 1)}, false},
		"one auditor twice":        {both, []string{good, attest(t, keys[0], alone, member("salt", common.Hash{8}.Hex()))}, false},
		"another content":          {one, []string{attest(t, keys[0], including, nil)}, false},
		"expired":                  {one, []string{attest(t, keys[0], alone, member("expirationTime", in(-time.Hour)))}, false},
		"revoked":                  {one + "\nrevoked: [" + common.Hash{1}.Hex() + ", " + uid.Hex() + "]", []string{good}, false},
		"another schema":           {one, []string{attest(t, keys[0], alone, member("schema", common.Hash{9}.Hex()))}, false},
		"of a recipient":           {one, []string{attest(t, keys[0], alone, member("recipient", another))}, false},
		"beside an earlier one":    {one, []string{attest(t, keys[0], alone, member("refUID", common.Hash{9}.Hex()))}, false},
		"of another chain's":       {one, []string{attest(t, keys[0], alone, func(s *apitypes.TypedData) { s.Domain.ChainId = math.NewHexOrDecimal256(2) })}, false},
		"of another contract's":    {one, []string{attest(t, keys[0], alone, func(s *apitypes.TypedData) { s.Domain.VerifyingContract = another })}, false},
		"expiration that was cut":  {one, []string{strings.Replace(attest(t, keys[0], alone, member("expirationTime", in(-time.Hour))), `"expirationTime":"`, `"expirationTime":"9`, 1)}, false},
		"longer data":              {one, []string{strings.Replace(good, `"data":"0x`, `"data":"0x00`, 1)}, false},
		"no folder of attestation": {one, []string{good}, false},
	} {
		t.Run(name, func(t *testing.T) {
			all := maps.Clone(files)
			for i, content := range test.attestations {
				folder := map[bool]string{true: "notes", false: "sigs"}[name == "no folder of attestation"]
				all[fmt.Sprintf("%s/%d.json", folder, i)] = content
			}
			file := open(t, descriptors.Options{Pins: withAuditors(t, files, test.lines)}, all).Files()
			for _, file := range file {
				if file.Name != "vault.json" {
					continue
				}
				if used := strings.HasPrefix(file.Trust, "pinned, attested by 0x"); used != test.used || used == (file.Problem != "") {
					t.Errorf("trust %q, problem %q", file.Trust, file.Problem)
				}
			}
		})
	}

	// Files of other kinds cannot be attested.
	abi := map[string]string{"abi.json": `{"chain":"eip155:1","address":"` + vault + `","name":"Vault","abi":[]}`}
	if file := open(t, descriptors.Options{Pins: withAuditors(t, abi, one)}, abi).Files()[0]; file.Trust != "pinned" {
		t.Errorf("an ABI: trust %q, problem %q", file.Trust, file.Problem)
	}
}

// TestAttestationsTouchNothing: what auditors are asked for changes nothing about files that are no
// attestations, and an attestation includes none: a chain of includes that is too long is a problem
// of the file that begins it, and not of those that it leads to.
func TestAttestationsTouchNothing(t *testing.T) {
	key, err := crypto.GenerateKey()
	testenv.Must(t, err)
	good := attest(t, key, alone, nil)
	files := map[string]string{"vault.json": alone}
	pins := withAuditors(t, files, "auditors: 1 of ["+crypto.PubkeyToAddress(key.PublicKey).Hex()+"]")
	for _, folder := range []string{"tests", "sigs"} {
		all := map[string]string{"vault.json": alone, "sigs/vault.json": good}
		all[folder+"/4.json"] = `{"includes":"../vault.json"}`
		for i := range 4 {
			all[fmt.Sprintf("%s/%d.json", folder, i)] = fmt.Sprintf(`{"includes":"%d.json"}`, i+1)
		}
		if file := open(t, descriptors.Options{Pins: pins}, all).Files()[0]; file.Trust == "" {
			t.Errorf("%s: %s", folder, file.Problem)
		}
	}
}

// TestAuditorsStrict: lines about auditors that do not say one thing are refused.
func TestAuditorsStrict(t *testing.T) {
	account, hash := "0x"+strings.Repeat("11", 20), strings.Repeat("22", 32)
	for _, lines := range []string{
		"auditors: 1", "auditors: [" + account + "]", "auditors: 0 of [" + account + "]", "auditors: 2 of [" + account + "]",
		"auditors: 1 of [" + account + ", " + account + "]", "auditors: 1 of [0x11]", "auditors: 1 of []", "auditors: one of [" + account + "]",
		"auditors: 1 of [" + account + "]\nauditors: 1 of [" + account + "]", hash + "  vault.json\nauditors: 1 of [" + account + "]",
		hash + "  vault.json\nrevoked: [0x" + hash + "]", "revoked: [" + hash + "]", "revoked: [0x" + hash + "00]", "revoked: ",
	} {
		if _, err := descriptors.ReadPins([]byte("countersign.pins/1\n" + lines + "\n")); err == nil {
			t.Errorf("accepted:\n%s", lines)
		}
	}
}

// TestAttestationsOfRegistry: of the descriptors of the registry those are used whose attestation
// is of their content with includes merged, and none of them if it is revoked by the uid that the
// registry says.
func TestAttestationsOfRegistry(t *testing.T) {
	files := registry(t)
	trusted := func(lines string) (count int) {
		all, err := descriptors.Open(files, descriptors.Options{})
		testenv.Must(t, err)
		pins := &descriptors.Pins{}
		for _, file := range all.Files() {
			if file.Readable() {
				pins.Add(file)
			}
		}
		text := strings.Replace(string(pins.Encode()), "\n", "\nauditors: 1 of [0x3846c3A30E62075Fa916216b35EF04B8F53931f6]\n"+lines, 1)
		if pins, err = descriptors.ReadPins([]byte(text)); err != nil {
			t.Fatal(err)
		}
		opened, err := descriptors.Open(files, descriptors.Options{Pins: pins})
		testenv.Must(t, err)
		for _, file := range opened.Files() {
			if file.Trust != "" {
				count++
			}
		}
		return count
	}
	attested, uids := trusted(""), []string{}
	for name, file := range files {
		if path.Base(path.Dir(name)) == "sigs" {
			uids = append(uids, uidOf(t, file))
		}
	}
	t.Logf("%d attestations, %d descriptors used", len(uids), attested)
	if attested < 30 {
		t.Errorf("%d descriptors are attested, want 30 or more", attested)
	}
	if left := trusted("revoked: [" + strings.Join(uids, ", ") + "]\n"); left != 0 {
		t.Errorf("%d descriptors are used although every attestation is revoked", left)
	}
}

func uidOf(t *testing.T, file *fstest.MapFile) string {
	t.Helper()
	var attestation struct {
		Sig struct {
			UID string `json:"uid"`
		} `json:"sig"`
	}
	testenv.JSON(t, file.Data, &attestation)
	return attestation.Sig.UID
}

// FuzzAttestation: no file makes an auditor of someone who is none.
func FuzzAttestation(f *testing.F) {
	key, err := crypto.ToECDSA(bytes.Repeat([]byte{1}, 32))
	testenv.Must(f, err)
	f.Add([]byte(attest(f, key, alone, nil)))
	files := map[string]string{"vault.json": alone}
	pins := withAuditors(f, files, "auditors: 1 of [0x3846c3a30e62075fa916216b35ef04b8f53931f6]")
	f.Fuzz(func(t *testing.T, attestation []byte) {
		all := map[string]string{"vault.json": alone, "sigs/vault.json": string(attestation)}
		if file := open(t, descriptors.Options{Pins: pins}, all).Files()[0]; file.Trust != "" {
			t.Errorf("%s with the attestation\n%s", file.Trust, attestation)
		}
	})
}
