package docs_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/keystore"
	keys "github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/rpcapi"
	"github.com/countersign-dev/countersign/store/memory"
)

const (
	agentToken  = "0123456789abcdef0123456789abcdef"
	baseUSDC    = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	solanaUSDC  = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
	shop        = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
	solanaShop  = "GZSq3KvoFVhE22CQsaWSAxBoAvRiZSs7xVNa6yPecMUu"
	thief       = "0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af"
	solanaThief = "Fr7fpL8F37BDGm91AYSRPVsJAVDSztnyFCGY2gQg5NMz"
)

// agent is a server with the page's policy whose only caller is the agent.
type agent struct {
	*enginetest.Fixture
	t       *testing.T
	url     string
	address string // of the agent's key
	solana  ed25519.PublicKey
	other   string // address of a key that is not the agent's
	users   atomic.Pointer[rpcapi.Users]
}

func newAgent(t *testing.T) *agent {
	t.Helper()
	text := regexp.MustCompile(`(?s)policy\.yaml <<'EOF'\n(.*?)EOF`).FindStringSubmatch(read(t, "agents.md"))
	if text == nil {
		t.Fatal("the page has no policy")
	}
	a := &agent{t: t}
	a.Fixture = enginetest.New(t, func(c *countersign.Config) {
		var users []access.UserConfig
		names := &policy.Names{}
		for name, tag := range map[string]string{"agent": "none", "owner": "owner"} {
			users = append(users, access.UserConfig{ID: name, Name: name, Tags: []string{tag}, APIKeys: []access.APIKeyConfig{enginetest.NewAPIKey(t).Config()}})
			names.Users = append(names.Users, access.User{ID: name, Name: name, Tags: []string{tag}})
		}
		directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Name: "Example", Users: users}})
		testenv.Must(t, err)
		file := engines.Policy(t, text[1], names)
		c.Directory, c.Policy, c.Store, c.Now = directory, file, memory.New(0), time.Now
	})
	a.addKeys()
	a.admit(rpcapi.User{OrganizationID: enginetest.Organization, UserID: "agent", Token: agentToken})
	server := httptest.NewServer(rpcapi.New(a.Engine, rpcapi.Options{
		Users: a.users.Load, Directory: a.Config.Directory.(access.Users), Keystore: a.Signing, Host: func(string) bool { return true },
	}))
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

// addKeys adds the agent's keys, and another.
func (a *agent) addKeys() {
	for name, seed := range map[string]byte{"agent": 7, "treasury": 9, "agent-solana": 11} {
		secret, curve := append(make([]byte, 31), seed), keystore.CurveSecp256k1
		if name == "agent-solana" {
			curve = keystore.CurveEd25519
			a.solana = ed25519.NewKeyFromSeed(secret).Public().(ed25519.PublicKey)
		} else {
			private, err := crypto.ToECDSA(secret)
			testenv.Must(a.t, err)
			if a.address = crypto.PubkeyToAddress(private.PublicKey).Hex(); name == "treasury" {
				a.other = a.address
			}
		}
		if _, err := a.Signing.Keystore.(*keys.Store).Add(a.t.Context(), enginetest.Organization, keystore.NewKey{ID: name, Curve: curve, Secret: secret}); err != nil {
			a.t.Fatal(err)
		}
	}
	private, _ := crypto.ToECDSA(append(make([]byte, 31), 7))
	a.address = crypto.PubkeyToAddress(private.PublicKey).Hex()
}

// admit replaces the callers that the server knows.
func (a *agent) admit(users ...rpcapi.User) {
	known, err := rpcapi.NewUsers(users, nil)
	testenv.Must(a.t, err)
	a.users.Store(known)
}

// offered is an entry of accepts.
func offered(payee, amount string) json.RawMessage {
	return fmt.Appendf(nil, `{"scheme": "exact", "network": "eip155:8453", "asset": %q, "amount": %q, "payTo": %q, "maxTimeoutSeconds": 60, "extra": {"name": "USD Coin", "version": "2"}}`, baseUSDC, amount, payee)
}

func (a *agent) pays(payee, amount string) error {
	_, err := pay(a.t.Context(), a.url, agentToken, a.address, offered(payee, amount))
	return err
}

// permit2 is a transfer by Permit2 with a witness, for a spender.
func permit2(spender, payee string) json.RawMessage {
	return fmt.Appendf(nil, `{"types": {"EIP712Domain": [{"name": "name", "type": "string"}, {"name": "chainId", "type": "uint256"}, {"name": "verifyingContract", "type": "address"}],
		"PermitWitnessTransferFrom": [{"name": "permitted", "type": "TokenPermissions"}, {"name": "spender", "type": "address"}, {"name": "nonce", "type": "uint256"}, {"name": "deadline", "type": "uint256"}, {"name": "witness", "type": "Witness"}],
		"TokenPermissions": [{"name": "token", "type": "address"}, {"name": "amount", "type": "uint256"}],
		"Witness": [{"name": "to", "type": "address"}, {"name": "validAfter", "type": "uint256"}]},
		"primaryType": "PermitWitnessTransferFrom", "domain": {"name": "Permit2", "chainId": 8453, "verifyingContract": "0x000000000022D473030F116dDEE9F6B43aC78BA3"},
		"message": {"permitted": {"token": %q, "amount": "250000"}, "spender": %q, "nonce": "7", "deadline": "%d", "witness": {"to": %q, "validAfter": "0"}}}`,
		baseUSDC, spender, time.Now().Unix()+60, payee)
}

// x402Spender is the contract that sends to the witness's to only.
const x402Spender = "0x402085c248EeA27D92E8b30b2C58ed07f9E20001"

// onSolana is the transaction of x402's exact scheme on Solana: a limit and a price of compute
// units, TransferChecked and a memo. The agent is the fee payer if payer is nil.
func (a *agent) onSolana(payer []byte, payee string, amount byte) string {
	program := func(text string) []byte { return base58.Decode(text) }
	account := func(wallet []byte) []byte {
		return []byte(solana.Chain{}.Words().TokenAccounts(string(wallet), string(program(solanaUSDC)))[0])
	}
	signers, header, authority := [][]byte{payer, a.solana}, []byte{2, 1, 4}, byte(1)
	if payer == nil {
		signers, header, authority = [][]byte{a.solana}, []byte{1, 0, 4}, 0
	}
	source := authority + 1
	accounts := append(signers, account(a.solana), account(program(payee)), program(solanaUSDC), program("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"),
		program("ComputeBudget111111111111111111111111111111"), program("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"))
	budget, memo := source+4, source+5
	message := append(append([]byte{0x80}, header...), byte(len(accounts)))
	for _, one := range accounts {
		message = append(message, one...)
	}
	message = append(append(message, make([]byte, 32)...), 4)
	message[len(message)-2] = 1 // a blockhash that is not zero
	message = append(message, budget, 0, 5, 2, 0x20, 0x4e, 0, 0)
	message = append(message, budget, 0, 9, 3, 1, 0, 0, 0, 0, 0, 0, 0)
	message = append(message, source+3, 4, source, source+2, source+1, authority, 10, 12, 0, 0, amount, 0, 0, 0, 0, 0, 6)
	message = append(message, memo, 0, 4, 'x', '4', '0', '2', 0)
	return hex.EncodeToString(append(append([]byte{byte(len(signers))}, make([]byte, 64*len(signers))...), message...))
}

func (a *agent) paysOnSolana(payer []byte, payee string, amount byte) error {
	_, err := a.Engine.As(access.User{ID: "agent", Name: "agent"}, "").SignTransaction(a.t.Context(), enginetest.Organization,
		activity.SignTransactionIntent{SignWith: base58.Encode(a.solana), UnsignedTransaction: a.onSolana(payer, payee, amount), Type: activity.TransactionTypeSolana})
	return err
}

// TestAgentPays pays by each method, and verifies the header as a facilitator does.
func TestAgentPays(t *testing.T) {
	a := newAgent(t)
	header, err := pay(t.Context(), a.url, agentToken, a.address, offered(shop, "250000"))
	testenv.Must(t, err)
	text, err := base64.StdEncoding.DecodeString(header)
	testenv.Must(t, err)
	var payment struct {
		X402Version int
		Payload     struct {
			Signature     hexutil.Bytes
			Authorization map[string]any
		}
	}
	if err := json.Unmarshal(text, &payment); err != nil || payment.X402Version != 2 {
		t.Fatalf("%s, %v", text, err)
	}
	typed := apitypes.TypedData{PrimaryType: "TransferWithAuthorization", Message: payment.Payload.Authorization}
	testenv.JSON(t, []byte(authorizationTypes), &typed.Types)
	domain := fmt.Sprintf(`{"name": "USD Coin", "version": "2", "chainId": "8453", "verifyingContract": %q}`, baseUSDC)
	testenv.JSON(t, []byte(domain), &typed.Domain)
	digest, _, err := apitypes.TypedDataAndHash(typed)
	testenv.Must(t, err)
	payment.Payload.Signature[64] -= 27
	if by, err := crypto.SigToPub(digest, payment.Payload.Signature); err != nil || crypto.PubkeyToAddress(*by).Hex() != a.address {
		t.Errorf("signed by %v, %v", by, err)
	}
	if _, err := call(t.Context(), a.url, agentToken, "eth_signTypedData_v4", a.address, permit2(x402Spender, shop)); err != nil {
		t.Errorf("Permit2: %v", err)
	}
	facilitator := append(make([]byte, 31), 0x55)
	facilitator[0] = 3
	if err := a.paysOnSolana(facilitator, solanaShop, 1); err != nil {
		t.Errorf("Solana: %v", err)
	}
}

// TestStolenAgent takes the agent's credential and tries everything that it reaches.
func TestStolenAgent(t *testing.T) {
	a := newAgent(t)
	transaction := func(members string) error {
		_, err := call(t.Context(), a.url, agentToken, "eth_signTransaction", json.RawMessage(
			`{"from": "`+a.address+`", "gas": "0x15f90", "maxFeePerGas": "0x1", "maxPriorityFeePerGas": "0x1", "nonce": "0x0", "chainId": "0x2105", `+members+`}`))
		return err
	}
	says := func(method string, params ...any) error {
		_, err := call(t.Context(), a.url, agentToken, method, params...)
		return err
	}
	word := func(address string) string { return strings.Repeat("0", 24) + strings.ToLower(address[2:]) }
	one := strings.Repeat("0", 63) + "1"
	permit := strings.NewReplacer("PermitWitnessTransferFrom", "PermitTransferFrom", `, {"name": "witness", "type": "Witness"}`, "",
		`, "witness": {"to": "`+shop+`", "validAfter": "0"}`, "").Replace(string(permit2(thief, shop)))
	_, other := pay(t.Context(), a.url, agentToken, a.other, offered(shop, "1"))
	_, elsewhere := pay(t.Context(), a.url, agentToken, a.address, json.RawMessage(strings.Replace(string(offered(shop, "1")), "8453", "1", 1)))
	_, token := pay(t.Context(), a.url, agentToken, a.address, json.RawMessage(strings.Replace(string(offered(shop, "1")), baseUSDC, "0xdAC17F958D2ee523a2206206994597C13D831ec7", 1)))
	for what, err := range map[string]error{
		"another payee":             a.pays(thief, "1"),
		"more than the agent may":   a.pays(shop, "1000001"),
		"another key":               other,
		"another chain":             elsewhere,
		"another token":             token,
		"Permit2 to the thief":      says("eth_signTypedData_v4", a.address, permit2(x402Spender, thief)),
		"Permit2 by the thief":      says("eth_signTypedData_v4", a.address, permit2(thief, shop)),
		"Permit2 without a witness": says("eth_signTypedData_v4", a.address, json.RawMessage(permit)),
		"ether":                     transaction(`"to": "` + thief + `", "value": "0x1"`),
		"a token transfer":          transaction(`"to": "` + baseUSDC + `", "value": "0x0", "data": "0xa9059cbb` + word(shop) + one + `"`),
		"an allowance":              transaction(`"to": "` + baseUSDC + `", "value": "0x0", "data": "0x095ea7b3` + word(thief) + one + `"`),
		"a delegation":              transaction(`"to": "` + a.address + `", "value": "0x0", "authorizationList": [{"chainId": "0x2105", "address": "` + thief + `", "nonce": "0x0", "yParity": "0x0", "r": "0x1", "s": "0x1"}]`),
		"a text":                    says("personal_sign", "0x6c6f67696e", a.address),
		"a hash":                    says("eth_sign", a.address, "0x"+strings.Repeat("5", 64)),
		"Solana, another payee":     a.paysOnSolana(append(make([]byte, 31), 5), solanaThief, 1),
		"Solana, as the fee payer":  a.paysOnSolana(nil, solanaShop, 1),
		"a wrong token":             errOf(pay(t.Context(), a.url, agentToken+"0", a.address, offered(shop, "1"))),
	} {
		if err == nil {
			t.Errorf("%s: signed", what)
		}
	}
	a.WantSignatures(t, 0)
	for i := range 10 {
		if err := a.pays(shop, "1000000"); err != nil {
			t.Fatalf("payment %d of the budget: %v", i, err)
		}
	}
	if err := a.pays(shop, "1"); err == nil || !strings.Contains(err.Error(), "waits for approvals") {
		t.Errorf("beyond the budget: %v", err)
	}
	a.admit() // the operator takes the token out
	if err := a.pays(shop, "1"); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("with a token that was taken out: %v", err)
	}
	a.WantSignatures(t, 10)
}

func errOf(_ string, err error) error { return err }
