package interop

import (
	"encoding/hex"
	"math/big"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/rpcapi"
	"github.com/countersign-dev/countersign/store/memory"
)

// rpcToken is the token of the caller.
const rpcToken = "0123456789abcdef0123456789abcdef"

// TestRPCClients signs transactions and messages through the JSON-RPC signer with viem and
// ethers, unmodified. Each signature is what the key makes locally.
func TestRPCClients(t *testing.T) {
	f := enginetest.New(t, func(c *countersign.Config) {
		c.Store, c.AllowHazards = memory.New(0), []string{"eip712/unknown-type", "eip712/no-verifying-contract"}
	})
	users, err := rpcapi.NewUsers([]rpcapi.User{{OrganizationID: enginetest.Organization, UserID: "user-1", Token: rpcToken}}, nil)
	testenv.Must(t, err)
	server := httptest.NewServer(rpcapi.New(f.Engine, rpcapi.Options{
		Users: func() *rpcapi.Users { return users }, Directory: f.Config.Directory.(access.Users), Keystore: f.Signing,
		Host: func(string) bool { return true }, ChainID: 1,
	}))
	defer server.Close()
	key, err := crypto.HexToECDSA(enginetest.Secret)
	testenv.Must(t, err)
	to, fee := common.HexToAddress("0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"), big.NewInt(20e9)
	local := func(data types.TxData) string {
		signed, err := types.SignTx(types.NewTx(data), types.LatestSignerForChainID(big.NewInt(1)), key)
		testenv.Must(t, err)
		raw, err := signed.MarshalBinary()
		testenv.Must(t, err)
		return "0x" + hex.EncodeToString(raw)
	}
	transactions := map[string]string{
		"dynamic": local(&types.DynamicFeeTx{ChainID: big.NewInt(1), Nonce: 7, GasTipCap: big.NewInt(1e9), GasFeeCap: fee, Gas: 60000, To: &to, Value: big.NewInt(123)}),
		"legacy":  local(&types.LegacyTx{Nonce: 7, GasPrice: fee, Gas: 60000, To: &to, Value: big.NewInt(123)}),
	}
	text, err := crypto.Sign(accounts.TextHash([]byte("Please sign this message to connect to Foundation.")), key)
	testenv.Must(t, err)
	text[64] += 27
	ask := map[string]string{"url": server.URL, "token": rpcToken, "address": enginetest.Address}
	var typed []string
	for _, client := range []string{"viem", "viem custom", "ethers"} {
		ask["client"], ask["transport"] = client, ""
		if client == "viem custom" {
			ask["client"], ask["transport"] = "viem", "custom"
		}
		var got struct {
			Accounts             []string
			Transactions         map[string]string
			Text, Message, Typed string
		}
		startPeer(t, "rpc.mjs").ask(t, ask, &got)
		if len(got.Accounts) != 1 || common.HexToAddress(got.Accounts[0]).Hex() != enginetest.Address {
			t.Errorf("%s: accounts %v", client, got.Accounts)
		}
		for name, want := range transactions {
			if signed, ok := got.Transactions[name]; ok && signed != want || !ok && client != "ethers" {
				t.Errorf("%s: %s transaction %s, want %s", client, name, signed, want)
			}
		}
		if want := "0x" + hex.EncodeToString(text); got.Text != want || client == "ethers" && got.Message != want {
			t.Errorf("%s: text %s %s, want %s", client, got.Text, got.Message, want)
		}
		typed = append(typed, got.Typed)
	}
	if typed = slices.Compact(typed); len(typed) != 1 || len(typed[0]) != 2+2*65 {
		t.Errorf("typed data: %q", typed)
	}
}
