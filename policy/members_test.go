package policy_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/tokenaccount"
	"github.com/countersign-dev/countersign/policy"
)

// TestHours compares time.within with a table of the minutes of a week, in a week with a
// change of the clock too. Hours that cross midnight belong to the day on which they begin.
func TestHours(t *testing.T) {
	days := []string{"Su", "Mo", "Tu", "We", "Th", "Fr", "Sa"}
	for _, test := range []struct {
		days     string
		open     []int // indexes of days
		from, to int   // minutes
		zone     string
	}{
		{"Mo-Fr", []int{1, 2, 3, 4, 5}, 8 * 60, 18 * 60, "Europe/Berlin"},
		{"Mo-Fr", []int{1, 2, 3, 4, 5}, 22*60 + 1, 6*60 + 59, "America/New_York"},
		{"Sa-Tu", []int{6, 0, 1, 2}, 0, 24 * 60, "UTC"},
		{"Sa", []int{6}, 23*60 + 59, 1, "UTC"},
		{"Su", []int{0}, 12 * 60, 0, "Europe/Berlin"},
		{"Mo,We-Th,Sa", []int{1, 3, 4, 6}, 59, 60, "Asia/Kolkata"},
		{"Mo-Su", []int{0, 1, 2, 3, 4, 5, 6}, 20 * 60, 4*60 + 30, "Pacific/Apia"},
	} {
		zone, err := time.LoadLocation(test.zone)
		testenv.Must(t, err)
		hours := fmt.Sprintf("%s %02d:%02d-%02d:%02d %s", test.days, test.from/60, test.from%60, test.to/60, test.to%60, test.zone)
		file := load(t, head+"rules:\n  - {name: open, deny: request, when: \"time.within('"+hours+"')\"}\n  - {name: pays, allow: transfer, when: effect.to in treasury || effect.asset == usdc}\n")
		for minute := 0; minute < 7*24*60; minute += 1 + minute%3 {
			asked := ask(ether(t, treasury, 1))
			asked.Now = time.Date(2026, time.March, 27, 0, minute, 30, 0, time.UTC)
			local := asked.Now.In(zone)
			at, today := local.Hour()*60+local.Minute(), int(local.Weekday())
			want := slices.Contains(test.open, today) && at >= test.from && (at < test.to || test.to <= test.from) ||
				test.to <= test.from && slices.Contains(test.open, (today+6)%7) && at < test.to
			if _, err := file.Decide(t.Context(), asked); (err != nil) != want {
				t.Fatalf("%s on %s %s: %v", hours, days[today], local.Format(time.TimeOnly), err)
			}
		}
	}
	for hours, valid := range map[string]bool{
		"Mo 00:00-24:00 UTC": true, "Mo 00:00-00:01 UTC": true, "Mo 23:59-24:00 UTC": true, "Mo 23:59-00:00 UTC": true, "Mo  08:00-09:00  UTC": true,
		"Mo 24:00-01:00 UTC": false, "Mo 08:00-24:01 UTC": false, "Mo 08:60-09:00 UTC": false, "Mo 08:00-09:60 UTC": false, "Mo 25:00-26:00 UTC": false,
		"Mo 8:00-09:00 UTC": false, "Mo 008:00-09:00 UTC": false, "Mo 08:0-09:00 UTC": false, "Mo 08:000-09:00 UTC": false, "Mo 0a:00-09:00 UTC": false, "Mo 08:0a-09:00 UTC": false,
		"Mo 08:00 UTC": false, "Mo 08:00- UTC": false, "Mo- 08:00-09:00 UTC": false, "-Mo 08:00-09:00 UTC": false, ",Mo 08:00-09:00 UTC": false, "Mo,,Tu 08:00-09:00 UTC": false,
		"mo 08:00-09:00 UTC": false, "Mo 08:00-09:00 UTC x": false, "Mo 08:00-09:00": false, "Mo-Xx 08:00-09:00 UTC": false, "Xx-Mo 08:00-09:00 UTC": false,
	} {
		_, err := policy.Parse("p", []byte("schema: countersign.policy/2\nrules:\n  - {name: a, allow: request, when: \"time.within('"+hours+"')\"}\n"), options())
		if (err == nil) != valid {
			t.Errorf("%q: %v", hours, err)
		}
	}
}

// TestRuleKeys: which keys a rule's key covers, by id or name of the key or its wallet. If
// the keys are known when the file is loaded, names mean their ids.
func TestRuleKeys(t *testing.T) {
	one := access.SigningKey{ID: "k-1", Name: "hot", WalletID: "w-1", WalletName: "main"}
	two := access.SigningKey{ID: "k-2", Name: "cold", WalletID: "w-1", WalletName: "main"}
	three := access.SigningKey{ID: "k-3", Name: "other", WalletID: "w-2", WalletName: "side"}
	alone := access.SigningKey{ID: "k-4", Name: "alone", Path: "main"}
	all := []access.SigningKey{one, two, three, alone}
	for named, covers := range map[string][]string{
		"k-1": {"k-1"}, "hot": {"k-1"}, "w-1": {"k-1", "k-2"}, "main": {"k-1", "k-2"}, "[cold, side]": {"k-2", "k-3"}, "alone": {"k-4"}, "[alone, w-2, hot]": {"k-1", "k-3", "k-4"},
	} {
		text := head + "rules:\n  - {name: a, allow: transfer, key: " + named + ", when: 'effect.to in treasury || effect.asset == usdc'}\n"
		for _, names := range []*policy.Names{nil, {Keys: all}} {
			file, err := policy.Parse("p", []byte(text), withNames(names))
			testenv.Must(t, err)
			for mask := range 1 << len(all) {
				asked := ask(ether(t, treasury, 1))
				asked.Keys = nil
				want := mask > 0
				for i := range all {
					if mask>>i&1 == 1 {
						asked.Keys = append(asked.Keys, all[i])
						want = want && slices.Contains(covers, all[i].ID)
					}
				}
				if _, err := file.Decide(t.Context(), asked); (err == nil) != want {
					t.Errorf("key: %s, known %v, signed by %b: %v", named, names != nil, mask, err)
				}
			}
			for _, key := range all { // named like another's id, or like the path
				asked := ask(ether(t, treasury, 1))
				asked.Keys = []access.SigningKey{{ID: "k-9", Name: "k-9", WalletID: "w-9", Path: key.Name}}
				if _, err := file.Decide(t.Context(), asked); err == nil {
					t.Errorf("key: %s covers another", named)
				}
			}
		}
	}
	for named, want := range map[string]string{"hott": "there is no key or wallet hott: did you mean hot?", "mian": "there is no key or wallet mian: did you mean main?"} {
		_, err := policy.Parse("p", []byte(head+"rules:\n  - {name: a, allow: transfer, key: "+named+", when: 'effect.to in treasury || effect.asset == usdc'}\n"), withNames(&policy.Names{Keys: all}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestMembers: the values of members of the request, the user and the key.
func TestMembers(t *testing.T) {
	asked := ask(ether(t, treasury, 1))
	asked.User = access.User{ID: "u-7", Name: "seven", Tags: []string{"x", "y"}}
	asked.Keys = []access.SigningKey{{ID: "k-7", Name: "hot", WalletID: "w-7", WalletName: "main", Path: "m/1", Addresses: []string{thief, treasury}}}
	asked.Hazards = []chains.Hazard{{Name: "ethereum/no-chain-id"}, {Name: "ethereum/delegation"}}
	for when, want := range map[string]bool{
		"user.id == 'u-7'": true, "user.id == 'seven'": false, "user.name == 'seven'": true, "'y' in user.tags": true, "'z' in user.tags": false, "size(user.tags) == 2": true,
		"key.id == 'k-7'": true, "key.id == 'hot'": false, "key.name == 'hot'": true, "key.wallet == 'w-7'": true, "key.wallet == 'main'": false, "key.wallet_name == 'main'": true, "key.path == 'm/1'": true,
		"size(key.addresses) == 2": true, "address('" + treasury + "') in key.addresses": true, "address('" + thief + "') in key.addresses": true,
		"address('" + usdc + "') in key.addresses": false, "request.chain == 'ethereum'": true, "request.chain == 'tron'": false,
		"size(request.hazards) == 2": true, "'ethereum/delegation' in request.hazards": true, "'ethereum/no-chain-id' in request.hazards": true, "'ethereum/burn' in request.hazards": false,
		"request.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'": true, "time.now == timestamp('2026-11-23T09:00:00Z')": true,
	} {
		got, _ := decide(t, head+"rules:\n  - {name: no, deny: request, when: \""+when+"\"}\n  - {name: pays, allow: transfer, when: effect.to in treasury || effect.asset == usdc, hazards: [ethereum/no-chain-id, ethereum/delegation], of: transactions, chains: [eip155:1]}\n", asked)
		if denied := strings.Contains(got, "rule no denies"); denied != want || !denied && !strings.HasPrefix(got, "allowed") {
			t.Errorf("%s: %s", when, got)
		}
	}
}

// TestTokenAccounts: on Solana, a list of wallets contains their associated token accounts
// for the mint that is transferred, not those for other mints, and more mints than are cached.
func TestTokenAccounts(t *testing.T) {
	account := func(i byte) string { return strings.Repeat(string(rune(i)), 32) }
	text := func(bytes string) string { return base58.Encode([]byte(bytes)) }
	wallets := []string{account('a'), account('b')}
	file := load(t, "schema: countersign.policy/2\nlists:\n  known: ["+text(wallets[0])+", "+text(wallets[1])+"]\nrules:\n  - {name: pays, allow: transfer, on: solana, when: effect.to in known}\n")
	to := func(recipient string, asset chains.Asset) error {
		asked := ask(chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, To: chains.PartyWritten([]byte(recipient), text(recipient)), Asset: asset, Amount: chains.Exactly(big.NewInt(1))})
		about(&asked, "solana")
		_, err := file.Decide(t.Context(), asked)
		return err
	}
	const network = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
	native := chains.Native(network)
	for i := range byte(70) {
		mint := account('c' + i%50)
		if i >= 50 {
			mint = account('c')[1:] + string(rune('c'+i-50))
		}
		asset := chains.Token(network, chains.PartyWritten([]byte(mint), text(mint)), "spl")
		for w, wallet := range append(wallets, account('Z')) {
			for _, derived := range tokenaccount.Of(wallet, mint) {
				if err := to(derived, asset); (err == nil) != (w < 2) {
					t.Errorf("mint %d, wallet %d: %v", i, w, err)
				}
				if to(derived, native) == nil {
					t.Errorf("mint %d, wallet %d: its token account gets lamports", i, w)
				}
				other := chains.Token(network, chains.PartyWritten([]byte(account('B')), text(account('B'))), "spl")
				if to(derived, other) == nil {
					t.Errorf("mint %d, wallet %d: its token account gets another token", i, w)
				}
			}
			if err := to(wallet, asset); (err == nil) != (w < 2) {
				t.Errorf("wallet %d itself: %v", w, err)
			}
		}
	}
}
