package policy_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store"
)

// priceKey signs the price files of tests.
var priceKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

const (
	weth = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
	mint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGkZwyTDt1v"

	etherRow = `{"chain":"eip155:1","token":"native","decimals":18,"price":"2000"}`
	usdcRow  = `{"chain":"eip155:1","token":"` + usdc + `","decimals":6,"price":"1.000001"}`
	mintRow  = `{"chain":"solana","token":"` + mint + `","decimals":6,"price":"1"}`
)

// pricesOf returns a price file of the time at which ask asks.
func pricesOf(rows ...string) string {
	return `{"schema":"countersign.prices/1","currency":"usd","time":"2026-11-23T09:00:00Z","prices":[` +
		strings.Join(rows, ",") + `]}`
}

// pricedHead begins a policy with prices that priceKey signs.
var pricedHead = head + "prices: {file: prices.json, currency: usd, max_age: 24h, key: " +
	hex.EncodeToString(priceKey.Public().(ed25519.PublicKey)) + "}\n"

// dayLimit allows 5,000 a day of what goes to treasury, and fees.
const dayLimit = `limits:
  - {name: usd-day, currency: usd, max: "5000", window: 24h, per: organization}
rules:
  - {name: pays, allow: [transfer, approve], when: "effect.asset == usdc || effect.to in treasury", limit: usd-day}
  - {name: gas, allow: fee, limit: usd-day}
`

// priced parses a policy whose folder has a price file, signed by priceKey.
func priced(t testing.TB, text, prices string) (*policy.File, error) {
	t.Helper()
	return signedPrices(t, text, prices, ed25519.Sign(priceKey, []byte(prices)))
}

func signedPrices(t testing.TB, text, prices string, signature []byte) (*policy.File, error) {
	t.Helper()
	options := options()
	options.Folder = t.TempDir()
	testenv.Write(t, filepath.Join(options.Folder, "prices.json"), []byte(prices))
	if signature != nil {
		testenv.Write(t, filepath.Join(options.Folder, "prices.json.sig"), signature)
	}
	return policy.Parse("policy.yaml", []byte(text), options)
}

// TestPriceFiles: what is no price file, or not the one that the policy names, does not load.
func TestPriceFiles(t *testing.T) {
	row := func(price string) string { return strings.Replace(etherRow, `"2000"`, price, 1) }
	field := func(old, other string) string { return strings.Replace(pricesOf(etherRow, usdcRow), old, other, 1) }
	var many []string
	for i := range 10_001 {
		many = append(many, fmt.Sprintf(`{"chain":"eip155:1","token":"0x%040x","decimals":6,"price":"1"}`, i))
	}
	for name, test := range map[string]struct{ prices, want string }{
		"sound":                 {pricesOf(etherRow, usdcRow, mintRow), ""},
		"most":                  {pricesOf(many[:10_000]...), ""},
		"too many":              {pricesOf(many...), "more than 10000 prices"},
		"too long":              {pricesOf(etherRow) + strings.Repeat(" ", 2<<20), "longer than 2097152 bytes"},
		"zero":                  {pricesOf(row(`"0.000"`)), "price 0: expected a price above zero"},
		"below the last digit":  {pricesOf(row(`"0.0000000000000000001"`)), "19 digits after the point; the unit has 18"},
		"negative":              {pricesOf(row(`"-1"`)), "is not a decimal number"},
		"with a plus":           {pricesOf(row(`"+1"`)), "is not a decimal number"},
		"exponent":              {pricesOf(row(`"1e-18"`)), "is not a decimal number"},
		"hexadecimal":           {pricesOf(row(`"0x1"`)), "is not a decimal number"},
		"not a number":          {pricesOf(row(`"NaN"`)), "is not a decimal number"},
		"full-width digits":     {pricesOf(row(`"１"`)), "is not a decimal number"},
		"comma":                 {pricesOf(row(`"2,000"`)), "is not a decimal number"},
		"leading zero":          {pricesOf(row(`"02000"`)), "has a leading zero"},
		"of 256 bits and more":  {pricesOf(row(`"1` + strings.Repeat("0", 60) + `"`)), "wider than 256 bits"},
		"a JSON number":         {pricesOf(row(`2000`)), "expected a string"},
		"null":                  {pricesOf(row(`null`)), "a value is required"},
		"twice":                 {pricesOf(etherRow, etherRow), "the native asset of eip155:1 has two prices"},
		"twice, two spellings":  {pricesOf(usdcRow, strings.ReplaceAll(usdcRow, usdc, strings.ToLower(usdc))), "has two prices"},
		"wrong checksum":        {pricesOf(strings.ReplaceAll(usdcRow, "0xA0b8", "0xa0b8")), "price 0: "},
		"two prices in a row":   {pricesOf(strings.Replace(etherRow, `"price"`, `"price":"1","price"`, 1)), "appears twice"},
		"unknown member":        {pricesOf(strings.Replace(etherRow, `{`, `{"scale":1,`, 1)), "unknown member"},
		"no decimals":           {pricesOf(strings.Replace(etherRow, `"decimals":18,`, ``, 1)), "missing"},
		"other decimals":        {pricesOf(strings.Replace(etherRow, `18`, `19`, 1)), "the native asset of eip155:1 has 18 decimals"},
		"not the policy's":      {pricesOf(strings.Replace(usdcRow, `:6`, `:18`, 1)), "has 18 decimals, and it has 6"},
		"negative decimals":     {pricesOf(strings.Replace(mintRow, `:6`, `:-1`, 1)), "decimals: expected 0 to 77"},
		"78 decimals":           {pricesOf(strings.Replace(mintRow, `:6`, `:78`, 1)), "decimals: expected 0 to 77"},
		"a token of another":    {pricesOf(strings.Replace(usdcRow, "eip155:1", "solana", 1)), "is an address of eip155, not of solana"},
		"no chain":              {pricesOf(strings.Replace(usdcRow, "eip155:1", "1", 1)), "chain \"1\": expected"},
		"token and id":          {pricesOf(strings.Replace(mintRow, `{`, `{"id":"1",`, 1)), "not both"},
		"neither":               {pricesOf(`{"chain":"tron","decimals":6,"price":"1"}`), "token is missing"},
		"another currency":      {field("usd", "eur"), `the price file is in "eur", not in usd`},
		"currency in capitals":  {field("usd", "USD"), `the price file is in "USD"`},
		"another schema":        {field("prices/1", "prices/2"), "this version reads countersign.prices/1"},
		"no time":               {field(`"time":"2026-11-23T09:00:00Z",`, ``), "time at byte 0: missing"},
		"a time without zone":   {field("09:00:00Z", "09:00:00"), "expected one such as"},
		"something behind it":   {pricesOf(etherRow) + "{}", "follow the object"},
		"an unknown member":     {field("{", `{"unit":"cent",`), "unknown member"},
		"a byte order mark":     {"\ufeff" + pricesOf(etherRow), "the price file"},
		"two lists of prices":   {field(`"prices"`, `"prices":[],"prices"`), "appears twice"},
		"the policy's own text": {"schema: countersign.prices/1", "the price file"},
	} {
		_, err := priced(t, pricedHead+dayLimit, test.prices)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// TestWhosePrices: the file has the digest that the policy names, or the signature of its key.
func TestWhosePrices(t *testing.T) {
	prices, stranger := pricesOf(etherRow, usdcRow), ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	sound := ed25519.Sign(priceKey, []byte(prices))
	key := hex.EncodeToString(priceKey.Public().(ed25519.PublicKey))
	pin := func(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }
	const file = "file: prices.json, currency: usd, max_age: 24h"
	for name, test := range map[string]struct {
		member    string
		signature []byte
		want      string
	}{
		"signed":                 {file + ", key: " + key, sound, ""},
		"pinned":                 {file + ", sha256: " + pin(prices), nil, ""},
		"unsigned":               {file + ", key: " + key, nil, "no such file"},
		"by another key":         {file + ", key: " + key, ed25519.Sign(stranger, []byte(prices)), "has no signature of"},
		"of another file":        {file + ", key: " + key, ed25519.Sign(priceKey, []byte(prices+" ")), "has no signature of"},
		"of its digest":          {file + ", key: " + key, ed25519.Sign(priceKey, []byte(pin(prices))), "has no signature of"},
		"cut":                    {file + ", key: " + key, sound[:63], "has no signature of"},
		"longer":                 {file + ", key: " + key, append(bytes.Clone(sound), 0), "longer than 64 bytes"},
		"in hex":                 {file + ", key: " + key, []byte(hex.EncodeToString(sound)), "longer than 64 bytes"},
		"another content":        {file + ", sha256: " + pin("{}"), nil, "has the sha256 " + pin(prices)},
		"a pin does not sign":    {file + ", sha256: " + pin(prices+" "), sound, "has the sha256"},
		"neither":                {file, sound, "needs either key, which signs the file, or sha256"},
		"both":                   {file + ", key: " + key + ", sha256: " + pin(prices), sound, "needs either key"},
		"no age":                 {"file: prices.json, currency: usd, key: " + key, sound, "needs file, currency and max_age"},
		"no currency":            {"file: prices.json, max_age: 24h, key: " + key, sound, "needs file, currency and max_age"},
		"a currency in capitals": {strings.Replace(file, "usd", "USD", 1) + ", key: " + key, sound, "expected lower-case letters"},
		"older than a month":     {"file: prices.json, currency: usd, max_age: 32d, key: " + key, sound, "max_age: expected a duration"},
		"a key of 31 bytes":      {file + ", key: " + key[2:], sound, "key: expected an Ed25519 public key, 64 hex digits"},
		"another file":           {"file: other.json, currency: usd, max_age: 24h, key: " + key, sound, "no such file"},
		"no file":                {"currency: usd, max_age: 24h, key: " + key, sound, "needs file, currency and max_age"},
		"an unknown member":      {file + ", signature: ab, key: " + key, sound, "no member"},
		"a folder as the file":   {"file: ., currency: usd, max_age: 24h, key: " + key, sound, "directory"},
	} {
		_, err := signedPrices(t, head+"prices: {"+test.member+"}\n"+dayLimit, prices, test.signature)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// TestLimitsInCurrency: what a file says about them that cannot be.
func TestLimitsInCurrency(t *testing.T) {
	limit := func(members string) string {
		return "limits:\n  - {name: usd-day, " + members + "}\nrules:\n  - {name: pays, allow: transfer, when: effect.to in treasury || effect.asset == usdc, limit: usd-day}\n"
	}
	for name, test := range map[string]struct{ text, want string }{
		"no prices":           {head + limit(`currency: usd, max: "1", window: 24h, per: user`), "a limit in a currency needs prices"},
		"another currency":    {pricedHead + limit(`currency: eur, max: "1", window: 24h, per: user`), "the prices are in usd, not in eur"},
		"and an asset":        {pricedHead + limit(`currency: usd, asset: usdc, max: "1", window: 24h, per: user`), "an asset or a currency, not both"},
		"an asset and it":     {pricedHead + limit(`asset: usdc, currency: usd, max: "1", window: 24h, per: user`), "an asset or a currency, not both"},
		"replaced nonces":     {pricedHead + limit(`currency: usd, max: "1", window: 24h, per: user, replaces: nonce`), "of which a nonce is one transaction"},
		"a seventh digit":     {pricedHead + limit(`currency: usd, max: "0.0000001", window: 24h, per: user`), "the unit has 6"},
		"nothing":             {pricedHead + limit(`currency: usd, max: "0", window: 24h, per: user`), "an amount above zero"},
		"prices for nothing":  {pricedHead + limit(`asset: usdc, max: "1", window: 24h, per: user`), "no limit or condition uses the prices in usd"},
		"unlisted recipients": {pricedHead + strings.Replace(limit(`currency: usd, max: "1", window: 24h, per: to`), "effect.to in treasury ||", "", 1), "a thief can use any number of recipients"},
		"on every chain":      {pricedHead + strings.Replace(limit(`currency: usd, max: "1", window: 24h, per: user`), "limit: usd-day", "on: ethereum, limit: usd-day", 1), ""},
		"per account":         {pricedHead + limit(`currency: usd, max: "1", window: 24h, per: account`), ""},
		"test of no asset":    {pricedHead + dayLimit + "tests:\n  - {effects: [{kind: transfer, asset: usdc, amount: \"1\"}], prices: {dai: \"1\"}, expect: deny}\n", "there is no asset dai"},
		"test without prices": {pricedHead + dayLimit + "tests:\n  - {effects: [{kind: transfer, asset: usdc, amount: \"1\"}], expect: allow}\n", "there are no prices"},
		"test with prices":    {pricedHead + dayLimit + "tests:\n  - {effects: [{kind: transfer, asset: usdc, amount: \"1\"}], prices: {usdc: \"1\"}, spent: {usd-day: \"4999\"}, expect: allow}\n", ""},
		"test over it":        {pricedHead + dayLimit + "tests:\n  - {effects: [{kind: transfer, asset: usdc, amount: \"1\"}], prices: {usdc: \"1\"}, spent: {usd-day: \"4999.000001\"}, expect: deny}\n", ""},
	} {
		_, err := priced(t, test.text, pricesOf(etherRow, usdcRow))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// TestValues: what a limit of 5,000 allows. Whatever has no value exceeds it.
func TestValues(t *testing.T) {
	wei := func(units int64, of int64) *big.Int { return new(big.Int).Mul(big.NewInt(units), big.NewInt(of)) }
	coins := func(amount *big.Int) chains.Effect {
		effect := ether(t, treasury, 0)
		effect.Amount = chains.Exactly(amount)
		return effect
	}
	of := func(asset chains.Asset, amount chains.Quantity) chains.Effect {
		effect := tokens(t, treasury, amount)
		effect.Asset = asset
		return effect
	}
	usd := func(micros int64) chains.Effect { return tokens(t, treasury, chains.Exactly(big.NewInt(micros))) }
	kind := func(effect chains.Effect, kind chains.Kind) chains.Effect {
		effect.Kind = kind
		return effect
	}
	nft := chains.Token("eip155:1", party(t, usdc), "erc721")
	nft.NFT = big.NewInt(1)
	const none = "there is no price of "
	widest := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	for name, test := range map[string]struct {
		effects []chains.Effect
		want    string // what is charged, in millionths, or a part of the refusal
	}{
		"a coin":                    {[]chains.Effect{coins(wei(1, 1e18))}, "2000000000"},
		"all of it":                 {[]chains.Effect{coins(wei(25, 1e17))}, "5000000000"},
		"one wei more":              {[]chains.Effect{coins(new(big.Int).Add(wei(25, 1e17), big.NewInt(1)))}, "5000.000001 usd is requested, 5000 of 5000 usd is left"},
		"one wei":                   {[]chains.Effect{coins(big.NewInt(1))}, "1"},
		"nothing":                   {[]chains.Effect{coins(new(big.Int))}, "0"},
		"a hundred of one wei":      {repeated(coins(big.NewInt(1)), 100), "100"},
		"of two assets":             {[]chains.Effect{coins(wei(1, 1e18)), usd(1e6)}, "2001000001"},
		"their sum is too much":     {[]chains.Effect{coins(wei(2, 1e18)), usd(1e9)}, "1000.001 usd is requested, 1000 of 5000 usd is left"},
		"with the fee":              {[]chains.Effect{coins(wei(2, 1e18)), kind(coins(wei(1, 1e18)), chains.KindFee)}, "2000 usd is requested, 1000 of"},
		"an allowance":              {[]chains.Effect{kind(usd(5e9), chains.KindApprove)}, "5000.005 usd is requested"},
		"an unlimited allowance":    {[]chains.Effect{kind(tokens(t, treasury, chains.Unlimited(big.NewInt(5))), chains.KindApprove)}, "its amount is not bounded"},
		"the whole balance":         {[]chains.Effect{tokens(t, treasury, chains.All())}, "its amount is not bounded"},
		"unknown":                   {[]chains.Effect{tokens(t, treasury, chains.UnknownQuantity())}, "its amount is not bounded"},
		"at least":                  {[]chains.Effect{tokens(t, treasury, chains.AtLeast(big.NewInt(1)))}, "its amount is not bounded"},
		"at most":                   {[]chains.Effect{tokens(t, treasury, chains.AtMost(big.NewInt(1e6)))}, "1000001"},
		"negative":                  {[]chains.Effect{coins(big.NewInt(-1)), usd(1)}, "its amount is not bounded"},
		"the widest amount":         {[]chains.Effect{coins(widest)}, "usd is requested, 5000 of 5000 usd is left"},
		"the widest amount, twice":  {repeated(coins(widest), 2), "usd is requested, 5000 of 5000 usd is left"},
		"an unknown asset":          {[]chains.Effect{usd(1), kind(of(chains.UnknownAsset("eip155:1"), chains.ExactlyUint(1)), chains.KindFee)}, "its asset is unknown"},
		"a token without a price":   {[]chains.Effect{of(chains.Token("eip155:1", party(t, thief), "erc20"), chains.ExactlyUint(1))}, none + "eip155:1 0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af"},
		"beside one with a price":   {[]chains.Effect{usd(1), of(chains.Token("eip155:1", party(t, thief), "erc20"), chains.ExactlyUint(0))}, none},
		"the wrapped coin":          {[]chains.Effect{of(chains.Token("eip155:1", party(t, weth), "erc20"), chains.ExactlyUint(1))}, none},
		"an NFT of a priced token":  {[]chains.Effect{of(nft, chains.ExactlyUint(1))}, none},
		"the coin of a test chain":  {[]chains.Effect{of(chains.Native("eip155:11155111"), chains.ExactlyUint(1))}, none + "the native asset of eip155:11155111"},
		"the token on another":      {[]chains.Effect{of(chains.Token("eip155:10", party(t, usdc), "erc20"), chains.ExactlyUint(1))}, none},
		"no network":                {[]chains.Effect{of(chains.Native("eip155"), chains.ExactlyUint(1))}, none},
		"a number with a zero":      {[]chains.Effect{of(chains.Native("eip155:01"), chains.ExactlyUint(1))}, none},
		"the coin by a token's id":  {[]chains.Effect{of(chains.Asset{Chain: "eip155:1", TokenID: "native"}, chains.ExactlyUint(1))}, none},
		"what others authorize":     {[]chains.Effect{usd(1e6), {Kind: chains.KindTransfer, By: chains.ByOther, To: party(t, thief), Asset: chains.Native("eip155:1"), Amount: chains.Exactly(wei(9, 1e18))}}, "1000001"},
		"change beside a payment":   {[]chains.Effect{usd(1e6), {Kind: chains.KindTransfer, By: chains.BySigner, Change: true, Asset: chains.Native("eip155:1"), Amount: chains.Exactly(wei(9, 1e18))}}, "1000001"},
		"a transfer without amount": {[]chains.Effect{of(chains.Native("eip155:1"), chains.Quantity{})}, "it has no amount that is spent"},
	} {
		file, err := priced(t, pricedHead+dayLimit, pricesOf(etherRow, usdcRow, mintRow))
		testenv.Must(t, err)
		decision, err := file.Decide(t.Context(), ask(test.effects...))
		got, isDenial := fmt.Sprint(err), errors.Is(err, access.ErrDenied)
		if err == nil {
			got = decision.Charges[0].Amount.String()
		}
		if err != nil && (!isDenial || !strings.Contains(got, test.want)) || err == nil && got != test.want {
			t.Errorf("%s: %s, want %q", name, got, test.want)
		}
		if err == nil && (len(decision.Charges) != 1 || decision.Prices != sha256.Sum256([]byte(pricesOf(etherRow, usdcRow, mintRow)))) {
			t.Errorf("%s: %v by the prices %x", name, decision.Charges, decision.Prices)
		}
	}
}

func repeated(effect chains.Effect, times int) (effects []chains.Effect) {
	for range times {
		effects = append(effects, effect)
	}
	return effects
}

// TestAgeOfPrices: prices that are too old, or of a time to come, allow nothing, when the request is
// judged and when it is charged. A replay takes them whenever they are of.
func TestAgeOfPrices(t *testing.T) {
	file, err := priced(t, pricedHead+dayLimit, pricesOf(etherRow, usdcRow))
	testenv.Must(t, err)
	of := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		at   time.Time
		want string
	}{
		{of, ""},
		{of.Add(24 * time.Hour), ""},
		{of.Add(24*time.Hour + 1), "the prices of 2026-11-23T09:00:00Z are older than 24h"},
		{of.Add(-time.Minute), ""},
		{of.Add(-time.Minute - 1), "the prices are of 2026-11-23T09:00:00Z, which is later than now"},
		{time.Time{}, "which is later than now"},
		{of.AddDate(500, 0, 0), "are older than 24h"},
	} {
		asked := ask(ether(t, treasury, 5))
		asked.Now = test.at
		decision, err := file.Decide(t.Context(), asked)
		limited, isLimit := errors.AsType[*store.LimitError](err)
		if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || !isLimit || limited.RetryAfter != 0) {
			t.Errorf("%v: %v, want %q", test.at, err, test.want)
		}
		if err == nil && !decision.Charges[0].Until.Equal(of.Add(24*time.Hour)) {
			t.Errorf("the charge is of use until %v", decision.Charges[0].Until)
		}
	}
}

// swapped asks a policy, and another one about every transaction after the first.
type swapped struct {
	instead
	files [2]*policy.File
	asks  int
}

func (s *swapped) Decide(ctx context.Context, asked access.Authorization) (access.Decision, error) {
	s.file = s.files[min(s.asks, 1)]
	s.asks++
	return s.instead.Decide(ctx, asked)
}

// TestValueOfList: the transactions of a list together take from the limit, by one price file.
func TestValueOfList(t *testing.T) {
	of := new(swapped)
	f := enginetest.New(t, func(c *countersign.Config) { c.Policy = of })
	at := f.Clock.Now().Format(time.RFC3339)
	load := func(rows ...string) *policy.File {
		file, err := priced(t, pricedHead+dayLimit, strings.Replace(pricesOf(rows...), "2026-11-23T09:00:00Z", at, 1))
		testenv.Must(t, err)
		return file
	}
	first, second := load(etherRow, usdcRow), load(etherRow, usdcRow, mintRow)
	coin, usd := ether(t, treasury, 2e18), func(micros uint64) chains.Effect { return tokens(t, treasury, chains.ExactlyUint(micros)) }
	for name, test := range map[string]struct {
		effects []chains.Effect
		second  *policy.File
		want    string
	}{
		"up to the limit":        {[]chains.Effect{coin, usd(999e6)}, first, ""},
		"over it together":       {[]chains.Effect{coin, usd(1000e6)}, first, "transactions[1]"},
		"in many":                {append(repeated(usd(1000e6), 4), usd(999e6)), first, ""},
		"in too many":            {repeated(usd(1000e6), 5), first, "transactions[4]"},
		"prices that change":     {[]chains.Effect{coin, usd(1)}, second, "the policy was replaced while it was asked"},
		"one transaction of one": {[]chains.Effect{coin}, second, ""},
	} {
		of.files, of.asks, of.asked = [2]*policy.File{first, test.second}, 0, nil
		list := activity.SignTransactionsIntent{Type: activity.TransactionTypeEthereum}
		for nonce, effect := range test.effects {
			of.asked = append(of.asked, ask(effect))
			list.Transactions = append(list.Transactions, activity.ListedTransaction{SignWith: "key-1", UnsignedTransaction: transactionOf(nonce)})
		}
		_, err := f.Engine.As(access.User{ID: "ann"}, "").Prepare(t.Context(), enginetest.Organization, list)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// TestSubjectsOfValues: accounts that hold tokens for others are not counted apart, nor are they
// recipients of their own.
func TestSubjectsOfValues(t *testing.T) {
	per := func(subject string) *policy.File {
		text := strings.Replace(pricedHead, treasury+`"`, treasury+`", "`+mint+`"`, 1) +
			strings.ReplaceAll(strings.Replace(dayLimit, "per: organization", "per: "+subject, 1), "effect.asset == usdc ||", "")
		file, err := priced(t, strings.Replace(text, "  - {name: gas, allow: fee, limit: usd-day}\n", "  - {name: u, deny: mint, when: effect.asset == usdc}\n", 1), pricesOf(etherRow, usdcRow, mintRow))
		testenv.Must(t, err)
		return file
	}
	to := func(effect chains.Effect) chains.Effect {
		effect.From = party(t, thief)
		return effect
	}
	var wallet [32]byte
	copy(wallet[:], "a wallet of Solana, of 32 bytes.")
	account := chains.PartyWritten(wallet[:], "wallet")
	onSolana := chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, From: account, To: account, Asset: chains.Token("solana", account, "spl-token"), Amount: chains.ExactlyUint(5)}
	for subject, want := range map[string]string{"to": strings.ToLower(treasury), "account": strings.ToLower(thief)} {
		for _, effect := range []chains.Effect{to(ether(t, treasury, 5)), to(tokens(t, treasury, chains.ExactlyUint(5)))} {
			decision, err := per(subject).Decide(t.Context(), ask(effect))
			if err != nil || decision.Charges[0].Subject != want {
				t.Errorf("per %s: %v, %v", subject, decision.Charges, err)
			}
		}
		asked := ask(onSolana)
		about(&asked, "solana")
		if _, err := per(subject).Decide(t.Context(), asked); !errors.Is(err, access.ErrDenied) {
			t.Errorf("per %s: a token account: %v", subject, err)
		}
	}
}

// TestExplainedPrices: an explanation has the value, and names the prices.
func TestExplainedPrices(t *testing.T) {
	prices := pricesOf(etherRow, usdcRow)
	file, err := priced(t, pricedHead+dayLimit, prices)
	testenv.Must(t, err)
	explained, err := file.Explain(t.Context(), ask(ether(t, treasury, 1e18)))
	testenv.Must(t, err)
	for _, want := range []string{"  charges 2000 of 5000 to limit usd-day, for organization\n",
		fmt.Sprintf("  prices in usd of 2026-11-23T09:00:00Z, sha256 %x\n", sha256.Sum256([]byte(prices)))} {
		if !strings.Contains(explained.String(), want) {
			t.Errorf("%s\nwant %s", explained, want)
		}
	}
	same := pricedHead + strings.ReplaceAll(dayLimit, "currency: usd", "asset: usdc")
	other, err := priced(t, strings.Replace(same, "limits:", "limits:\n  - {name: usd-hour, currency: usd, max: \"1\", window: 1h, per: user}", 1)+"  - {name: more, allow: burn, limit: usd-hour}\n", prices)
	testenv.Must(t, err)
	if changes := strings.Join(file.LimitsSince(other), "; "); !strings.Contains(changes, "usd-day counts usd, and continues from what it counted of eip155:1") {
		t.Error(changes)
	}
	if changes := file.LimitsSince(file); len(changes) > 0 {
		t.Error(changes)
	}
}

// TestReloadedPrices: a file is loaded anew exactly if its prices, or their signature, changed.
func TestReloadedPrices(t *testing.T) {
	folder, options := t.TempDir(), options()
	path := filepath.Join(folder, "policy.yaml")
	testenv.Write(t, path, []byte(pricedHead+dayLimit))
	write := func(rows ...string) {
		testenv.Write(t, filepath.Join(folder, "prices.json"), []byte(pricesOf(rows...)))
		testenv.Write(t, filepath.Join(folder, "prices.json.sig"), ed25519.Sign(priceKey, []byte(pricesOf(rows...))))
	}
	write(etherRow)
	load := func() *policy.File {
		file, err := policy.Load(path, options)
		testenv.Must(t, err)
		options.Previous = file
		return file
	}
	first := load()
	if load() != first {
		t.Error("nothing changed")
	}
	write(etherRow, usdcRow)
	second := load()
	if second == first || second.DigestText() != first.DigestText() {
		t.Error("the prices changed")
	}
	asked := ask(tokens(t, treasury, chains.ExactlyUint(5)))
	if _, err := first.Decide(t.Context(), asked); !errors.Is(err, access.ErrDenied) {
		t.Errorf("the file that was loaded before: %v", err)
	}
	if _, err := second.Decide(t.Context(), asked); err != nil {
		t.Error(err)
	}
	testenv.Write(t, filepath.Join(folder, "prices.json"), []byte(pricesOf(usdcRow)))
	if _, err := policy.Load(path, options); err == nil {
		t.Error("prices that no one signed are loaded")
	}
}

// FuzzPrices: no price file makes the reader panic, and what one says is worth at least what it
// says of an amount.
func FuzzPrices(f *testing.F) {
	f.Add([]byte(pricesOf(etherRow, usdcRow, mintRow)))
	f.Add([]byte(pricesOf(`{"chain":"tron","id":"1000001","decimals":77,"price":"0.000000000000000001"}`)))
	folder := f.TempDir()
	path := filepath.Join(folder, "prices.json")
	f.Fuzz(func(t *testing.T, content []byte) {
		testenv.Write(t, path, content)
		options := options()
		options.Folder = folder
		pinned := fmt.Sprintf("prices: {file: prices.json, currency: usd, max_age: 24h, sha256: %x}\n", sha256.Sum256(content))
		file, err := policy.Parse("fuzz", []byte(head+pinned+dayLimit), options)
		if err != nil {
			if _, ok := errors.AsType[*policy.Error](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		decision, err := file.Decide(t.Context(), ask(ether(t, treasury, 1)))
		if err == nil && decision.Charges[0].Amount.Sign() <= 0 {
			t.Errorf("a wei is worth %s", decision.Charges[0].Amount)
		}
	})
}

// TestValueConditions: what conditions say about what an effect is worth. Without a value, an allow
// allows nothing and a deny denies.
func TestValueConditions(t *testing.T) {
	two := []chains.Effect{ether(t, treasury, 1e18), tokens(t, treasury, chains.ExactlyUint(1e6))}
	stale := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	const uses = "rules:\n  - {name: u, deny: mint, when: 'effect.asset == usdc && effect.to in treasury'}\n  - "
	for name, test := range map[string]struct {
		rule    string
		effects []chains.Effect
		at      time.Time
		want    string
	}{
		"at most":             {"{name: a, allow: transfer, when: \"effect.value <= value('2000')\"}", two, time.Time{}, ""},
		"more":                {"{name: a, allow: transfer, when: \"effect.value < value('2000')\"}", two, time.Time{}, "not covered"},
		"of the rounded":      {"{name: a, allow: transfer, when: \"effect.value == value('1.000001')\"}", two[1:], time.Time{}, ""},
		"a sum":               {"{name: a, allow: transfer, when: \"effect.value + value('1') <= value('2001')\"}", two[:1], time.Time{}, ""},
		"all of them":         {"{name: a, allow: transfer, when: \"effects.all(e, e.value <= value('2000'))\"}", two, time.Time{}, ""},
		"too old":             {"{name: a, allow: transfer, when: \"effect.value <= value('2000')\"}", two, stale, "older than 24h"},
		"a deny, too old":     {"{name: a, deny: transfer, when: \"effect.value > value('9000')\"}\n  - {name: b, allow: transfer}", two, stale, "could not be decided"},
		"a deny":              {"{name: a, deny: transfer, when: \"effect.value > value('9000')\"}\n  - {name: b, allow: transfer}", two, time.Time{}, ""},
		"no price":            {"{name: a, allow: transfer, when: \"effect.value <= value('2000')\"}", []chains.Effect{withAsset(two[0], chains.Native("eip155:10"))}, time.Time{}, "there is no price of the native asset of eip155:10"},
		"a deny, no price":    {"{name: a, deny: transfer, when: \"effect.value > value('9000')\"}\n  - {name: b, allow: transfer}", []chains.Effect{withAsset(two[0], chains.Native("eip155:10"))}, time.Time{}, "could not be decided"},
		"has it":              {"{name: a, allow: transfer, when: \"!has(effect.value) || effect.value <= value('2000')\"}", two, time.Time{}, ""},
		"has it, too old":     {"{name: a, allow: transfer, when: \"!has(effect.value) || effect.value <= value('2000')\"}", two, stale, "older than 24h"},
		"has no price":        {"{name: a, allow: transfer, when: \"!has(effect.value) || effect.value <= value('2000')\"}", []chains.Effect{withAsset(two[0], chains.Native("eip155:10"))}, time.Time{}, "there is no price of"},
		"a deny has it":       {"{name: a, deny: transfer, when: \"has(effect.value) && effect.value > value('9000')\"}\n  - {name: b, allow: transfer}", two, stale, "could not be decided"},
		"spends nothing":      {"{name: a, allow: call, when: \"!has(effect.value) || effect.value <= value('1')\"}", []chains.Effect{{Kind: chains.KindCall, By: chains.BySigner, To: two[0].To}}, stale, ""},
		"compared with coins": {"{name: a, allow: transfer, when: \"effect.value <= ether('2000') && value('1') <= effect.value\"}", two, time.Time{}, "cannot be compared"},
		"with any units":      {"{name: a, allow: transfer, when: \"effect.value <= units('2000') && value('1') <= effect.value\"}", two, time.Time{}, "cannot be compared"},
		"all it spends":       {"{name: a, allow: transfer, when: \"request.value <= value('2001.000001')\"}", two, time.Time{}, ""},
		"it spends more":      {"{name: a, allow: transfer, when: \"request.value < value('2001.000001')\"}", two, time.Time{}, "not covered"},
		"a deny of all":       {"{name: a, deny: request, when: \"request.value > value('2001')\"}\n  - {name: b, allow: transfer}", two, time.Time{}, "rule a"},
		"all, too old":        {"{name: a, deny: request, when: \"request.value > value('9000')\"}\n  - {name: b, allow: transfer}", two, stale, "could not be decided"},
		"all has it, too old": {"{name: a, allow: transfer, when: \"!has(request.value) || request.value <= value('9000')\"}", two, stale, "older than 24h"},
		"all, one unknown":    {"{name: a, deny: request, when: \"request.value > value('9000')\"}\n  - {name: b, allow: transfer}", []chains.Effect{two[0], withAsset(two[0], chains.Native("eip155:10"))}, time.Time{}, "could not be decided"},
		"all of nothing":      {"{name: a, allow: call, when: \"request.value < value('0.000001')\"}", []chains.Effect{{Kind: chains.KindCall, By: chains.BySigner, To: two[0].To}}, stale, ""},
		"all payloads":        {"{name: a, allow: transfer, when: \"request.value <= value('2001')\"}", paths(two), time.Time{}, "not covered"},
		"all, in coins":       {"{name: a, allow: transfer, when: \"request.value <= ether('9000') && value('1') <= request.value\"}", two, time.Time{}, "cannot be compared"},
		"an amount as value":  {"{name: a, allow: transfer, when: \"effect.amount <= value('2000')\"}", two, time.Time{}, "cannot be compared"},
		"an amount and value": {"{name: a, allow: transfer, when: \"effect.amount + value('1') <= value('2000')\"}", two, time.Time{}, "cannot be added"},
	} {
		file, err := priced(t, pricedHead+uses+test.rule+"\n", pricesOf(etherRow, usdcRow))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, file := range []*policy.File{file, file.Plain()} {
			asked := ask(test.effects...)
			if !test.at.IsZero() {
				asked.Now = test.at
			}
			if _, err := file.Decide(t.Context(), asked); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v, want %q", name, err, test.want)
			}
		}
	}
	for text, want := range map[string]string{
		head + uses + "{name: a, allow: transfer, when: \"effect.value <= value('1')\"}\n":               "value needs the file to have prices",
		pricedHead + uses + "{name: a, allow: transfer, when: \"effect.value <= value('0.0000001')\"}\n": "the unit has 6",
		pricedHead + uses + "{name: a, allow: transfer, when: \"effect.value <= value('-1')\"}\n":        "is not a decimal number",
		pricedHead + uses + "{name: a, allow: transfer, when: \"effect.value <= 1000\"}\n":               "compared with a bare number",
	} {
		if _, err := priced(t, text, pricesOf(etherRow, usdcRow)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestCurrencyOfConditions: prices that the key signed in another currency make no condition wider.
func TestCurrencyOfConditions(t *testing.T) {
	prices := strings.Replace(pricesOf(etherRow), "usd", "btc", 1)
	text := pricedHead + "rules:\n  - {name: a, allow: transfer, when: \"effect.to in treasury && effect.asset == usdc && effect.value <= value('9')\"}\n"
	if _, err := priced(t, text, prices); err == nil || !strings.Contains(err.Error(), `the price file is in "btc", not in usd`) {
		t.Error(err)
	}
}

// paths returns effects as those of a payload each.
func paths(effects []chains.Effect) []chains.Effect {
	effects = slices.Clone(effects)
	for i := range effects {
		effects[i].Path = fmt.Sprintf("payload %d/message", i)
	}
	return effects
}

func withAsset(effect chains.Effect, asset chains.Asset) chains.Effect {
	effect.Asset = asset
	return effect
}
