package policy_test

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/policy"
)

// named is a file with an asset of that name, bounded to 5 by a rule and a limit.
func named(name string) string {
	return "schema: countersign.policy/2\nassets:\n  " + strconv.Quote(name) + ": {chain: \"eip155:1\", token: \"" + usdc + "\", decimals: 6}\n" +
		"limits:\n  - {name: d, asset: " + strconv.Quote(name) + ", max: \"5\", window: 1h, per: key}\n" +
		"rules:\n  - name: a\n    allow: transfer\n    limit: d\n    when: " + quoted("effect.asset == "+name+" && effect.amount <= amount("+name+", '5') && !(effect.asset.native && effect.amount > gwei('5'))") + "\n"
}

// meansTheAsset reports what is wrong if an accepted name does not mean exactly its asset.
func meansTheAsset(t testing.TB, file *policy.File) string {
	t.Helper()
	for _, test := range []struct {
		effect  chains.Effect
		allowed bool
	}{
		{tokens(t, treasury, chains.Exactly(big.NewInt(5e6))), true},
		{tokens(t, treasury, chains.Exactly(big.NewInt(5e6+1))), false},
		{ether(t, treasury, 1), false},
	} {
		decision, err := file.Decide(t.Context(), ask(test.effect))
		if (err == nil) != test.allowed || test.allowed && len(decision.Charges) != 1 {
			return "decided " + strconv.FormatBool(err == nil)
		}
	}
	return ""
}

// TestNamesOfAssets: a name that is a unit, a function, a variable or a keyword is refused
// at its line with the reason. Other names mean their asset.
func TestNamesOfAssets(t *testing.T) {
	const reserved, form = "has another meaning in conditions", "a name is a lower-case letter, then letters, digits and _"
	for name, want := range map[string]string{
		"usdc": "", "usd": "", "eurc": "", "a1": "", "dai_2": "", "unit": "", "map": "", "matches": "", "string2": "", "optional_type": "",
		"wei": "is a unit", "gwei": "is a unit", "ether": "is a unit", "sol": "is a unit", "lamports": "is a unit", "trx": "is a unit",
		"sun": "is a unit", "btc": "is a unit", "sats": "is a unit", "units": "is a unit",
		"amount": reserved, "address": reserved, "timestamp": reserved, "within": reserved, "arg": reserved, "number": reserved, "total": reserved, "size": reserved,
		"effect": reserved, "effects": reserved, "key": reserved, "user": reserved, "time": reserved, "request": reserved, "credential": reserved, "wallet": reserved,
		"eth": reserved, "solana": reserved, "tron": reserved, "bitcoin": reserved, "tempo": reserved,
		"true": reserved, "null": reserved, "in": reserved, "has": reserved, "exists": reserved, "filter": reserved, "all": reserved,
		"int": reserved, "uint": reserved, "double": reserved, "bool": reserved, "string": reserved, "bytes": reserved, "list": reserved,
		"type": reserved, "dyn": reserved, "duration": reserved,
		"USDC": form, "Usdc": form, "usd-c": form, "usd.c": form, "usd c": form, "": form, "1inch": form, "_usdc": form,
		"usdс": form, "uѕdc": form, "ꓴsdc": form, "usdc\u200b": form, "\ufeffusdc": form, "ｕsdc": form, "usdc\u0301": form, // Cyrillic, Lisu, invisible, full width, combining
		strings.Repeat("a", 64): "", strings.Repeat("a", 65): form,
	} {
		file, err := policy.Parse("p.yaml", []byte(named(name)), options())
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", name, err)
			} else if wrong := meansTheAsset(t, file); wrong != "" {
				t.Errorf("%q: %s", name, wrong)
			}
			continue
		}
		problems, ok := errors.AsType[*policy.Error](err)
		if !ok || !strings.Contains(problems.Problems[0].Message, want) || problems.Problems[0].Line != 3 {
			t.Errorf("%q: %v, want %s at line 3", name, err, want)
		}
		list := "schema: countersign.policy/2\nlists:\n  " + strconv.Quote(name) + ": [\"" + treasury + "\"]\nrules: []\n"
		if _, err := policy.Parse("p.yaml", []byte(list), options()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a list %q: %v, want %s", name, err, want)
		}
	}
}

// TestConfusableAssets: two names for one asset are refused, and so are names that differ
// only in letters that look alike.
func TestConfusableAssets(t *testing.T) {
	const schema = "schema: countersign.policy/2\n"
	token := func(name, chain, token, decimals string) string {
		return "  " + name + ": {chain: \"" + chain + "\", token: \"" + token + "\"" + decimals + "}\n"
	}
	for name, test := range map[string]struct{ assets, want string }{
		"a token twice":           {token("usdc", "eip155:1", usdc, ", decimals: 6") + token("dollar", "eip155:1", strings.ToLower(usdc), ", decimals: 18"), "4:3: asset dollar: usdc is already this asset"},
		"native twice":            {token("coin", "tron", "native", "") + token("money", "tron", "native", ""), "4:3: asset money: coin is already this asset"},
		"on another chain":        {token("usdc", "eip155:1", usdc, ", decimals: 6") + token("there", "eip155:10", usdc, ", decimals: 6"), ""},
		"l for 1":                 {token("usdl", "eip155:1", usdc, ", decimals: 6") + token("usd1", "eip155:1", treasury, ", decimals: 6"), "4:3: asset usd1: it looks like usdl"},
		"o for 0":                 {token("usdo", "eip155:1", usdc, ", decimals: 6") + token("usd0", "eip155:1", treasury, ", decimals: 6"), "4:3: asset usd0: it looks like usdo"},
		"rn for m":                {token("rnkr", "eip155:1", usdc, ", decimals: 6") + token("mkr", "eip155:1", treasury, ", decimals: 6"), "4:3: asset mkr: it looks like rnkr"},
		"vv for w":                {token("vvbtc", "eip155:1", usdc, ", decimals: 6") + token("wbtc", "eip155:1", treasury, ", decimals: 6"), "4:3: asset wbtc: it looks like vvbtc"},
		"a unit":                  {token("so1", "eip155:1", usdc, ", decimals: 6"), "3:3: asset so1: it looks like sol"},
		"another unit":            {token("gvvei", "eip155:1", usdc, ", decimals: 6"), "3:3: asset gvvei: it looks like gwei"},
		"what differs to the eye": {token("usdc", "eip155:1", usdc, ", decimals: 6") + token("usdt", "eip155:1", treasury, ", decimals: 6"), ""},
	} {
		_, err := policy.Parse("p.yaml", []byte(schema+"assets:\n"+test.assets+"rules:\n  - {name: a, deny: burn}\n"), options())
		if test.want == "" {
			if err == nil || !strings.Contains(err.Error(), "nothing uses the asset") || strings.Contains(err.Error(), "looks like") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	lists := schema + "lists:\n  ops: [\"" + treasury + "\"]\n  more: [\"" + thief + "\"]\n  o_l: [\"" + treasury + "\"]\n  o_1: [\"" + thief + "\"]\nrules: []\n"
	if _, err := policy.Parse("p.yaml", []byte(lists), options()); err == nil || !strings.Contains(err.Error(), "6:3: list o_1: it looks like o_l") {
		t.Errorf("lists: %v", err)
	}
}

// FuzzAssetName: either the name of an asset is refused, or it means exactly the asset in
// conditions and limits.
func FuzzAssetName(f *testing.F) {
	for _, name := range []string{"usdc", "gwei", "USD", "int", "usdс", "a || true", "a', '5') || true || x == amount(a", "e", "__macro", "type", "cel"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		file, err := policy.Parse("fuzz", []byte(named(name)), options())
		if err != nil {
			if _, ok := errors.AsType[*policy.Error](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if wrong := meansTheAsset(t, file); wrong != "" {
			t.Errorf("%q: %s", name, wrong)
		}
	})
}
