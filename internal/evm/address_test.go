package evm_test

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// TestAddresses has the key of EIP-155's example.
func TestAddresses(t *testing.T) {
	encoded := common.FromHex("044bc2a31265153f07e70e0bab08724e6b85e217f8cd628ceb62974247bb493382ce28cab79ad7119ee1ad3ebcdb98a16805211530ecc6cfefa1b88e6dff99232a")
	pub, err := keystore.ParsePublicKey(keystore.CurveSecp256k1, encoded)
	testenv.Must(t, err)
	want := chains.Address{Format: evm.AddressFormat, Address: "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F"}
	if got := evm.Addresses(pub); len(got) != 1 || got[0] != want {
		t.Errorf("%v, want %v", got, want)
	}
	other, err := keystore.ParsePublicKey(keystore.CurveEd25519,
		common.FromHex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")) // RFC 8032, test 1
	testenv.Must(t, err)
	if got := evm.Addresses(other); got != nil {
		t.Errorf("an Ed25519 key has addresses: %v", got)
	}
}
