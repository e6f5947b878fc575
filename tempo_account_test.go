package countersign_test

import (
	"bytes"
	"cmp"
	"math/big"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/policy"
)

// accountRules bound what an account of Tempo pays, whichever key signs for it.
const accountRules = `schema: countersign.policy/2
assets:
  usd: {chain: "eip155:4217", token: "0x20C0000000000000000000000000000000000000", decimals: 6}
limits:
  - {name: day, asset: usd, max: "2", window: 24h, per: account}
rules:
  - {name: pays, allow: [transfer, fee], limit: day}
`

// TestLimitPerAccount checks that an access key (keys act-for) and its root share the limit of
// their account.
func TestLimitPerAccount(t *testing.T) {
	const pays = "76f88e821079843b9aca008504a817c800830186a0f85ef85c9420c000000000000000000000000000000000000080b844a9059cbb" +
		"00000000000000000000000008d2b0a37f869ff76bacb5bab3278e26ab7067b7" + "00000000000000000000000000000000000000000000000000000000000f4240" + "c0800580809420c000000000000000000000000000000000000080c0"
	file, err := policy.Parse("policy.yaml", []byte(accountRules), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	keys := memory.New()
	f := enginetest.New(t, func(c *countersign.Config) { c.Policy, c.Keystore = file, keys })
	add := func(id string, seed byte, actsFor string) keystore.KeyInfo {
		info, err := keys.Add(t.Context(), enginetest.Organization, keystore.NewKey{ID: id, Curve: keystore.CurveSecp256k1, Secret: bytes.Repeat([]byte{seed}, 32), ActsFor: actsFor})
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	root := tempo.Chain{}.Addresses(add("root", 3, "").PublicKey)[0].Address
	add("access", 4, root[2:])
	other := tempo.Chain{}.Addresses(add("other", 5, "").PublicKey)[0].Address
	charged := map[string]*big.Int{}
	for _, key := range []string{"root", "access", "other"} {
		asked, err := f.Engine.Operator().AskedAboutCall(t.Context(), access.User{ID: "ann"}, enginetest.Organization, activity.SignTransactionIntent{SignWith: key, Type: activity.TransactionTypeTempo, UnsignedTransaction: pays})
		if err != nil {
			t.Fatal(err)
		}
		decision, err := file.Decide(t.Context(), asked)
		if err != nil || len(decision.Charges) != 1 {
			t.Fatalf("%s: %+v, %v", key, decision.Charges, err)
		}
		charge := decision.Charges[0]
		charged[charge.Subject] = new(big.Int).Add(charge.Amount, cmp.Or(charged[charge.Subject], new(big.Int)))
	}
	twice, once := charged[strings.ToLower(root)], charged[strings.ToLower(other)]
	if len(charged) != 2 || twice == nil || once == nil || twice.Cmp(new(big.Int).Lsh(once, 1)) != 0 {
		t.Errorf("%v: want the root's account charged twice", charged)
	}
}
