package ethereum_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/keystore"
)

// FuzzAuthorization checks that an accepted authorization is shown with its three members, and
// that the signed digest is go-ethereum's.
func FuzzAuthorization(f *testing.F) {
	for _, text := range []string{
		`{"address":"0x00000000000000000000000000000000000000aa","chainId":1,"nonce":0}`,
		`{"nonce":"0xfffffffffffffffe","chainId":"0","address":"0x63c0c19a282a1B52b07dD5a65b58948A07DAE32B"}`,
		`{"address":"0x0000000000000000000000000000000000000000","chainId":0,"nonce":"18446744073709551614"}`,
		`{"address":"0x00000000000000000000000000000000000000aa","chainId":1,"nonce":"18446744073709551615"}`,
		`{"address":"0x00000000000000000000000000000000000000aa","chainId":"18446744073709551616","nonce":1}`,
		`{"address":"0x00000000000000000000000000000000000000aa","chainId":1,"nonce":1,"nonce":2}`,
		`{"address":"0x00000000000000000000000000000000000000aa","chainId":1}`,
	} {
		f.Add([]byte(text))
	}
	key := chaintest.Key(f, keystore.CurveSecp256k1, bytes.Repeat([]byte{0x46}, 32))
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := ethereum.Chain{}.ReadMessage(chains.Message{Form: chains.MessageAuthorization, Bytes: text})
		if err != nil {
			return
		}
		var members struct {
			Address        common.Address
			ChainID, Nonce any
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&members); err != nil {
			t.Fatalf("%s: encoding/json: %v", text, err)
		}
		authorization := types.SetCodeAuthorization{ChainID: *uint256.MustFromBig(integer(t, members.ChainID)), Address: members.Address, Nonce: integer(t, members.Nonce).Uint64()}
		want := authorization.SigHash()
		signing := chaintest.MustReady(t, read, key.ID(), key)
		signed, err := signing.AppendSigned(t.Context(), nil)
		public := key.PublicKey().Compressed()
		if err != nil || !crypto.VerifySignature(public[:], want[:], signed[:64]) {
			t.Fatalf("%s: %v, or the signed digest is not go-ethereum's", text, err)
		}
		checkShown(t, read, &authorization)
	})
}

func integer(t *testing.T, value any) *big.Int {
	t.Helper()
	text, ok := value.(string)
	if number, isNumber := value.(json.Number); isNumber {
		text, ok = number.String(), true
	}
	n, valid := new(big.Int).SetString(text, 0)
	if !ok || !valid {
		t.Fatalf("%v is not an integer", value)
	}
	return n
}

// checkShown checks that the delegate is named, that chain id and nonce are arguments,
// and that nothing is granted without a hazard.
func checkShown(t *testing.T, read chains.Transaction, authorization *types.SetCodeAuthorization) {
	t.Helper()
	effects, hazards := read.Effects(), chaintest.Names(read.Hazards())
	ends := authorization.Address == common.Address{}
	if len(effects) != 1 || (effects[0].Kind == chains.KindRevoke) != ends || !ends && effects[0].To != evm.PartyAt(evm.Address(authorization.Address)) {
		t.Fatalf("effects %+v of %+v", effects, authorization)
	}
	want := 0
	if !ends {
		want++
	}
	if authorization.ChainID.IsZero() {
		want++
	}
	if len(hazards) != want {
		t.Fatalf("hazards %v of %+v", hazards, authorization)
	}
	if args := effects[0].Args; args[0].Value != authorization.ChainID.Dec() || args[1].Value != new(big.Int).SetUint64(authorization.Nonce).String() {
		t.Fatalf("arguments %v of %+v", args, authorization)
	}
}
