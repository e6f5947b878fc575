package messages_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
)

// TestTronRawDataAsTransaction checks that Tron's raw_data over SHA-256 is read as that
// transaction, with its effects. A whole Transaction, which has another hash, is
// refused, and so is raw_data over another hash.
func TestTronRawDataAsTransaction(t *testing.T) {
	var vector struct{ UnsignedTransaction string }
	chaintest.ReadJSON(t, "../chains/tron/testdata/trx.json", &vector)
	raw, err := chains.DecodeHex(vector.UnsignedTransaction)
	testenv.Must(t, err)
	f := enginetest.New(t, engines.WithHazards(countersign.AllHazards))
	intent := activity.SignMessageIntent{SignWith: "key-1", Payload: hex.EncodeToString(raw), Encoding: activity.EncodingHex, HashFunction: activity.HashSHA256}
	prepared, err := f.Engine.Prepare(t.Context(), enginetest.Organization, intent)
	testenv.Must(t, err)
	if effects := prepared.Summary().Effects; prepared.Summary().Chain != "tron" || effects[0].Kind != chains.KindTransfer {
		t.Errorf("%s: effects %v", prepared.Summary().Chain, effects)
	}
	result, err := prepared.Sign(t.Context())
	testenv.Must(t, err)
	digest := sha256.Sum256(raw)
	if got := engines.Recovered(t, digest[:], result.(activity.SignRawPayloadResult)); got != enginetest.Address {
		t.Errorf("recovered %s", got)
	}
	whole := append([]byte{0x0a, byte(len(raw)&0x7f | 0x80), byte(len(raw) >> 7)}, raw...) // protobuf: Transaction.raw_data
	for name, refused := range map[string]activity.SignMessageIntent{
		"a whole transaction": {SignWith: "key-1", Payload: hex.EncodeToString(whole), Encoding: activity.EncodingHex, HashFunction: activity.HashSHA256},
		"Keccak-256":          {SignWith: "key-1", Payload: hex.EncodeToString(raw), Encoding: activity.EncodingHex, HashFunction: activity.HashKeccak256},
		"cut off":             {SignWith: "key-1", Payload: hex.EncodeToString(raw[:len(raw)-1]), Encoding: activity.EncodingHex, HashFunction: activity.HashSHA256},
	} {
		if _, err := f.Engine.Prepare(t.Context(), enginetest.Organization, refused); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// tronPolicy allows a spender up to 400 USDT a day, on Tron.
const tronPolicy = `schema: countersign.policy/2
lists:
  spender: [TJRabPrwbZy45sbavfcjinPJC18kjpRTv8]
assets:
  usdt: {chain: tron, token: TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t, decimals: 6}
limits:
  - {name: usdt-day, asset: usdt, max: "400", window: 24h, per: key}
rules:
  - {name: permits, allow: approve, on: tron, when: "effect.asset == usdt && effect.to in spender", limit: usdt-day}
`

// TestTronTypedData checks that typed data of Tron (TIP-712) is judged by the rules and limits
// of Tron, and signed by the key at a Tron address. The same permit on a chain of EIP-155 is
// not covered.
func TestTronTypedData(t *testing.T) {
	f := enginetest.New(t, engines.WithPolicy(t, tronPolicy))
	permit := func(chainID, token, owner, spender, amount, nonce string) string {
		return strings.NewReplacer(`"chainId":"1"`, `"chainId":"`+chainID+`"`, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", token,
			enginetest.Address, owner, "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", spender).Replace(engines.Permit(amount, nonce))
	}
	const (
		account = "TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn"
		usdt    = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
		spender = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"
	)
	submit := func(signWith, text string) error {
		intent := engines.Payload(text, activity.EncodingEIP712, activity.HashNone)
		intent.SignWith = signWith
		_, err := engines.SubmitIntent(t, f, intent)
		return err
	}
	for _, signed := range []struct {
		signWith, text string
	}{
		{account, permit("728126428", usdt, account, spender, "250000000", "0")},
		{"key-1", permit("728126428", "0xa614f803b6fd780986a42c78ec9c7f77e6ded13c", enginetest.Address, "415cbdd86a2fa8dc4bddd8a8f69dba48572eec07fb", "150000000", "1")},
	} {
		if err := submit(signed.signWith, signed.text); err != nil {
			t.Errorf("%s: %v", signed.text, err)
		}
	}
	for name, text := range map[string]string{
		"over the limit":   permit("728126428", usdt, account, spender, "1", "2"),
		"to a stranger":    permit("728126428", usdt, account, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "1", "3"),
		"on Ethereum":      permit("1", "0xa614f803b6fd780986a42c78ec9c7f77e6ded13c", enginetest.Address, "0x5cbdd86a2fa8dc4bddd8a8f69dba48572eec07fb", "1", "4"),
		"of another token": permit("728126428", spender, account, spender, "1", "5"),
	} {
		if err := submit("key-1", text); err == nil {
			t.Errorf("%s: signed", name)
		}
	}
	if err := submit(enginetest.Address, permit("728126428", usdt, account, spender, "1", "6")); err == nil || !strings.Contains(err.Error(), "Tron") {
		t.Errorf("the key's Ethereum address: %v", err)
	}
}
