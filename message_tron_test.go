package countersign_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/enginetest"
)

// TestTronRawDataAsTransaction checks that Tron's raw_data over SHA-256 is read as that
// transaction, with its effects. A whole Transaction, which has another hash, is
// refused, and so is raw_data over another hash.
func TestTronRawDataAsTransaction(t *testing.T) {
	var vector struct{ UnsignedTransaction string }
	chaintest.ReadJSON(t, "chains/tron/testdata/trx.json", &vector)
	raw, err := chains.DecodeHex(vector.UnsignedTransaction)
	if err != nil {
		t.Fatal(err)
	}
	f := enginetest.New(t, withHazards(countersign.AllHazards))
	intent := activity.SignMessageIntent{SignWith: "key-1", Payload: hex.EncodeToString(raw), Encoding: activity.EncodingHex, HashFunction: activity.HashSHA256}
	prepared, err := f.Engine.Prepare(t.Context(), enginetest.Organization, intent)
	if err != nil {
		t.Fatal(err)
	}
	if effects := prepared.Summary().Effects; prepared.Summary().Chain != "tron" || effects[0].Kind != chains.KindTransfer {
		t.Errorf("%s: effects %v", prepared.Summary().Chain, effects)
	}
	result, err := prepared.Sign(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256(raw)
	if got := recovered(t, digest[:], result.(activity.SignRawPayloadResult)); got != enginetest.Address {
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
