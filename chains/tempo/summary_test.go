package tempo_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/keystore"
)

var update = flag.Bool("update", false, "write the golden files anew")

// secret is the key that looks at the summaries: that of the vectors.
const secret = "e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca"

// shown are transactions beside the vectors whose summary is worth looking at.
func shown(t *testing.T) map[string][]byte {
	input := "b844" + "a9059cbb" + strings.Repeat("00", 12) + someone[2:] + strings.Repeat("00", 29) + "0f4240"
	expiring := with(with(with(items, nonceKey, max256), nonce, "80"), validBefore, "84713fb300")
	p256 := strings.Repeat("11", 64) + strings.Repeat("22", 64)
	keychain := strings.Repeat("33", 20) + rBytes + sBytes + "1b"
	transactions := map[string][]byte{
		"sponsored":    sponsoredBy(t, strings.Repeat("02", 32), address(t, secret)),
		"payer_itself": sponsoredBy(t, secret, address(t, secret)),
	}
	for name, items := range map[string][]string{
		"batch_of_three":       with(items, calls, list(list(alphaUSD, "80", input), transfer, list(someone, "7b", "80"))),
		"creation":             with(items, calls, list(creation, transfer)),
		"creation_nonce_key":   with(with(items, calls, list(creation)), nonceKey, "05"),
		"expiring_nonce":       expiring,
		"window_beyond_9999":   with(with(items, validBefore, max64), validAfter, "01"),
		"access_list":          with(items, accessList, list(list(someone, list(max256, max256)), list(alphaUSD, "c0"))),
		"placeholder":          with(items, feePayer, "00"),
		"no_fee_token":         with(items, feeToken, "80"),
		"payer_signed_another": with(items, feePayer, payer),
		"unknown_chain":        with(items, chainID, "8301e240"),
		"all_hazards": append(with(with(with(items, nonceKey, "a05b"+strings.Repeat("00", 31)), gas, "8401c9c381"), feeToken, someone),
			list(list(append([]string{"82a5bf", "80", someone}, "80", "80", "80", "80", "01")...), secp256k1)),
		"key_full":           withKey(fullKey...),
		"key_unlimited":      withKey(plainKey...),
		"key_nothing":        withKey(append(plainKey[:3:3], "80", "c0", "c0")...),
		"key_any_call":       withKey(append(plainKey[:3:3], "80", list(list(alphaUSD, "64", max64)))...),
		"key_another_admin":  withKey(append(plainKey[:3:3], "01", "c0", "c0", "80", "01", alphaUSD)...),
		"authorizations":     with(items, authorizationList, list(authorization, list("80", someone, "08", "b882"+"01"+p256+"01"))),
		"authorizations_web": with(items, authorizationList, list(list("01", someone, "08", "b8a6"+"02"+strings.Repeat("44", 37)+p256))),
		"authorizations_keychain": with(items, authorizationList,
			list(list("82a5bf", someone, "08", "b856"+"03"+keychain), list("82a5bf", someone, "08", "b856"+"04"+keychain))),
		"authorization_ends": with(items, authorizationList, list(list("82a5bf", "94"+strings.Repeat("00", 20), "08", secp256k1))),
		"payer_nobody":       with(items, feePayer, list("80", "a0"+noPoint, "a0"+sBytes)),
	} {
		transactions[name] = unhex(t, typed(items...))
	}
	return transactions
}

// The rendered summary, the signer's view and the digest of each transaction
// are held in testdata/summary; go test -update writes them.
func TestSummary(t *testing.T) {
	transactions := shown(t)
	for _, v := range vectors(t) {
		transactions[v.Name] = unhex(t, v.Unsigned)
	}
	for name, unsigned := range transactions {
		t.Run(name, func(t *testing.T) {
			golden(t, filepath.Join("testdata", "summary", name+".txt"), describe(t, unsigned))
		})
	}
}

func describe(t *testing.T, raw []byte) []byte {
	t.Helper()
	tx, err := tempo.Chain{}.Parse(raw)
	if err != nil {
		t.Fatalf("%x: %v", raw, err)
	}
	var out bytes.Buffer
	summary := tx.Summary()
	render(t, &out, summary.Fields)
	fmt.Fprintln(&out, "\nsigner")
	render(t, &out, tx.SignerView(publicKey(t, secret)))
	for _, hazard := range tx.Hazards(keystore.PublicKey{}) {
		fmt.Fprintf(&out, "\nhazard %s\n%s\n", hazard.Name, hazard.Detail)
	}
	form, err := summary.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	digest := summary.Digest()
	fmt.Fprintf(&out, "\n%s\n%s\n", form, hex.EncodeToString(digest[:]))
	return out.Bytes()
}

func render(t *testing.T, out *bytes.Buffer, fields []chains.Field) {
	t.Helper()
	if err := chains.Render(out, fields); err != nil {
		t.Fatal(err)
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it anew):\n got\n%s\nwant\n%s", path, got, want)
	}
}
