package tron

import (
	"testing"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/keystore"
)

func TestAddressesOfOtherCurves(t *testing.T) {
	if got := (Chain{}).Addresses(chaintest.Key(t, keystore.CurveEd25519, make([]byte, 32)).PublicKey()); got != nil {
		t.Errorf("%v", got)
	}
}

func TestSignerView(t *testing.T) {
	tx := parse(t, rawOf(1, transfer(t)))
	for secret, want := range map[string]string{ownerSecret: "the owner", oneSecret: "not the owner: a co-signer, if the account's permission names it"} {
		key := keyOf(t, secret)
		got := ready(t, tx, key, "id").SignerView()
		if len(got) != 1 || got[0].Note != want || got[0].Value != addressOf(key.PublicKey()).String() {
			t.Errorf("%+v, want %s", got, want)
		}
	}
}
