package interop

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/keystore"
	keys "github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/rpcapi"
	"github.com/countersign-dev/countersign/store/memory"
)

// What the policy of docs/agents.md names, and what it does not.
const (
	x402USDC        = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	x402Payee       = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
	x402Stranger    = "0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af"
	x402SolanaUSDC  = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
	x402SolanaPayee = "GZSq3KvoFVhE22CQsaWSAxBoAvRiZSs7xVNa6yPecMUu"
	x402SolanaOther = "Fr7fpL8F37BDGm91AYSRPVsJAVDSztnyFCGY2gQg5NMz"
	tokenProgram    = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
)

// market is a shop that demands payments, and an agent that pays it through the signers under
// the policy of docs/agents.md.
type market struct {
	*enginetest.Fixture
	t       *testing.T
	line    map[string]any // of the script
	address string
	solana  ed25519.PublicKey

	mu     sync.Mutex
	offer  map[string]any // what the shop demands
	answer string         // what it found wrong with the payment, or "paid"
}

func newMarket(t *testing.T) *market {
	t.Helper()
	m := &market{t: t}
	agent := enginetest.NewAPIKey(t)
	m.Fixture = enginetest.New(t, func(c *countersign.Config) {
		c.Directory, c.Policy = agentPolicy(t, agent)
		c.Store, c.Now = memory.New(0), time.Now
	})
	m.addKeys()
	users, err := rpcapi.NewUsers([]rpcapi.User{{OrganizationID: enginetest.Organization, UserID: "agent", Token: rpcToken}}, nil)
	testenv.Must(t, err)
	serve := func(handler http.Handler) string {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		return server.URL
	}
	m.line = map[string]any{
		"shop": serve(http.HandlerFunc(m.sell)), "solanaNode": serve(http.HandlerFunc(solanaNode)),
		"api": serve(httpapi.New(m.Engine, httpapi.Options{})),
		"signer": serve(rpcapi.New(m.Engine, rpcapi.Options{
			Users: func() *rpcapi.Users { return users }, Directory: m.Config.Directory.(access.Users), Keystore: m.Signing, Host: func(string) bool { return true },
		})),
		"token": rpcToken, "address": m.address, "solanaAddress": base58.Encode(m.solana),
		"key": map[string]string{"publicKey": agent.PublicKey, "privateKey": agent.PrivateKey(), "organizationId": enginetest.Organization},
	}
	return m
}

// agentPolicy returns the page's users and policy.
func agentPolicy(t *testing.T, agent *enginetest.APIKey) (access.Directory, access.Policy) {
	t.Helper()
	page := testenv.Read(t, "../docs/agents.md")
	text := regexp.MustCompile(`(?s)policy\.yaml <<'EOF'\n(.*?)EOF`).FindSubmatch(page)
	if text == nil {
		t.Fatal("docs/agents.md has no policy")
	}
	users := []access.UserConfig{
		{ID: "agent", Name: "agent", APIKeys: []access.APIKeyConfig{agent.Config()}},
		{ID: "owner", Name: "owner", Tags: []string{"owner"}, APIKeys: []access.APIKeyConfig{enginetest.NewAPIKey(t).Config()}},
	}
	names := &policy.Names{}
	for _, user := range users {
		names.Users = append(names.Users, access.User{ID: user.ID, Name: user.Name, Tags: user.Tags})
	}
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Name: "Example", Users: users}})
	testenv.Must(t, err)
	file := engines.Policy(t, string(text[1]), names)
	return directory, file
}

// addKeys adds the agent's keys.
func (m *market) addKeys() {
	add := func(name string, curve keystore.Curve, secret []byte) {
		_, err := m.Signing.Keystore.(*keys.Store).Add(m.t.Context(), enginetest.Organization, keystore.NewKey{ID: name, Curve: curve, Secret: secret})
		testenv.Must(m.t, err)
	}
	secret := append(make([]byte, 31), 7)
	private, err := crypto.ToECDSA(secret)
	testenv.Must(m.t, err)
	m.address = crypto.PubkeyToAddress(private.PublicKey).Hex()
	add("agent", keystore.CurveSecp256k1, secret)
	seed := append(make([]byte, 31), 11)
	m.solana = ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	add("agent-solana", keystore.CurveEd25519, seed)
}

// sell demands the payment that is offered, and verifies it as a facilitator does.
func (m *market) sell(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	header := r.Header.Get("PAYMENT-SIGNATURE")
	if header == "" {
		demand, _ := json.Marshal(map[string]any{"x402Version": 2, "error": "pay first", "accepts": []any{m.offer},
			"resource": map[string]string{"url": "http://" + r.Host + "/", "description": "an answer", "mimeType": "text/plain"}})
		w.Header().Set("PAYMENT-REQUIRED", base64.StdEncoding.EncodeToString(demand))
		w.WriteHeader(http.StatusPaymentRequired)
		return
	}
	m.answer = "paid"
	if err := m.verify(header); err != nil {
		m.answer = err.Error()
	}
	_, _ = io.WriteString(w, m.answer)
}

// payment is the content of the header.
type payment struct {
	X402Version int
	Accepted    struct{ Amount, PayTo string }
	Payload     struct {
		Signature            hexutil.Bytes
		Authorization        map[string]any // EIP-3009
		Permit2Authorization map[string]any
		Transaction          []byte // Solana
	}
}

func (m *market) verify(header string) error {
	text, err := base64.StdEncoding.DecodeString(header)
	if err != nil {
		return err
	}
	var p payment
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	if p.Accepted.Amount != m.offer["amount"] || p.Accepted.PayTo != m.offer["payTo"] {
		return fmt.Errorf("paid for %v", p.Accepted)
	}
	switch {
	case p.Payload.Transaction != nil:
		return m.verifySolana(p.Payload.Transaction)
	case p.Payload.Permit2Authorization != nil:
		delete(p.Payload.Permit2Authorization, "from")
		return m.verifyTyped("PermitWitnessTransferFrom", permit2Types, `{"name": "Permit2", "chainId": "8453", "verifyingContract": "0x000000000022D473030F116dDEE9F6B43aC78BA3"}`,
			p.Payload.Permit2Authorization, p.Payload.Signature)
	}
	return m.verifyTyped("TransferWithAuthorization", authorizationTypes, `{"name": "USD Coin", "version": "2", "chainId": "8453", "verifyingContract": "`+x402USDC+`"}`,
		p.Payload.Authorization, p.Payload.Signature)
}

// The types that the contracts verify.
const (
	authorizationTypes = `{"EIP712Domain": [{"name": "name", "type": "string"}, {"name": "version", "type": "string"}, {"name": "chainId", "type": "uint256"}, {"name": "verifyingContract", "type": "address"}],
		"TransferWithAuthorization": [{"name": "from", "type": "address"}, {"name": "to", "type": "address"}, {"name": "value", "type": "uint256"},
			{"name": "validAfter", "type": "uint256"}, {"name": "validBefore", "type": "uint256"}, {"name": "nonce", "type": "bytes32"}]}`
	permit2Types = `{"EIP712Domain": [{"name": "name", "type": "string"}, {"name": "chainId", "type": "uint256"}, {"name": "verifyingContract", "type": "address"}],
		"PermitWitnessTransferFrom": [{"name": "permitted", "type": "TokenPermissions"}, {"name": "spender", "type": "address"}, {"name": "nonce", "type": "uint256"},
			{"name": "deadline", "type": "uint256"}, {"name": "witness", "type": "Witness"}],
		"TokenPermissions": [{"name": "token", "type": "address"}, {"name": "amount", "type": "uint256"}],
		"Witness": [{"name": "to", "type": "address"}, {"name": "validAfter", "type": "uint256"}]}`
)

// verifyTyped recovers who signed typed data, with go-ethereum.
func (m *market) verifyTyped(primary, types, domain string, message map[string]any, signature []byte) error {
	typed := apitypes.TypedData{PrimaryType: primary, Message: message}
	if err := json.Unmarshal([]byte(types), &typed.Types); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(domain), &typed.Domain); err != nil {
		return err
	}
	digest, _, err := apitypes.TypedDataAndHash(typed)
	if err != nil {
		return err
	}
	if len(signature) != 65 {
		return fmt.Errorf("%d bytes of signature", len(signature))
	}
	signature[64] -= 27
	by, err := crypto.SigToPub(digest, signature)
	if err != nil {
		return err
	}
	if address := crypto.PubkeyToAddress(*by).Hex(); address != m.address {
		return fmt.Errorf("signed by %s", address)
	}
	return nil
}

// verifySolana checks the agent's signature, the second of a transaction whose fee the
// facilitator pays.
func (m *market) verifySolana(transaction []byte) error {
	if len(transaction) < 1+2*ed25519.SignatureSize || transaction[0] != 2 {
		return fmt.Errorf("%d bytes of transaction, not with two signatures", len(transaction))
	}
	signatures, message := transaction[1:1+2*ed25519.SignatureSize], transaction[1+2*ed25519.SignatureSize:]
	if !ed25519.Verify(m.solana, message, signatures[ed25519.SignatureSize:]) {
		return errors.New("the signature is wrong")
	}
	return nil
}

// solanaNode answers what the client asks a node: the account of the mint.
func solanaNode(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Method != "getAccountInfo" {
		http.Error(w, asked.Method, http.StatusBadRequest)
		return
	}
	mint := make([]byte, 82) // authority: option and key; supply, decimals, initialized; freeze authority
	binary.LittleEndian.PutUint64(mint[36:], 1e15)
	mint[44], mint[45] = 6, 1
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"context":{"slot":1},"value":{"data":[%q,"base64"],"executable":false,"lamports":1,"owner":%q,"rentEpoch":0,"space":82}}}`,
		asked.ID, base64.StdEncoding.EncodeToString(mint), tokenProgram)
}

// buys has the agent buy for an offer, and returns what the shop answered, or the client's error.
func (m *market) buys(offer map[string]any) string {
	m.t.Helper()
	m.mu.Lock()
	m.offer = offer
	m.mu.Unlock()
	var got struct {
		Status int
		Body   string
	}
	if problem := startPeer(m.t, "x402.mjs").try(m.t, m.line, &got); problem != "" {
		return problem
	}
	return got.Body
}

func offerOnBase(payee, amount string, extra map[string]any) map[string]any {
	whole := map[string]any{"name": "USD Coin", "version": "2"}
	for name, value := range extra {
		whole[name] = value
	}
	return map[string]any{"scheme": "exact", "network": "eip155:8453", "asset": x402USDC, "amount": amount, "payTo": payee, "maxTimeoutSeconds": 60, "extra": whole}
}

func offerOnSolana(payee, amount string) map[string]any {
	facilitator, blockhash := make([]byte, 32), make([]byte, 32)
	facilitator[0], blockhash[0] = 3, 1
	return map[string]any{"scheme": "exact", "network": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "asset": x402SolanaUSDC, "amount": amount, "payTo": payee, "maxTimeoutSeconds": 60,
		"extra": map[string]any{"feePayer": base58.Encode(facilitator), "recentBlockhash": base58.Encode(blockhash), "lastValidBlockHeight": "100"}}
}

// TestX402 pays a shop with the public client of x402 as it is on the registry, by each
// method, and checks that the policy refuses what it does not cover.
func TestX402(t *testing.T) {
	m := newMarket(t)
	permit2 := map[string]any{"assetTransferMethod": "permit2"}
	for _, test := range []struct {
		name  string
		offer map[string]any
		want  string
	}{
		{"EIP-3009", offerOnBase(x402Payee, "250000", nil), "paid"},
		{"Permit2", offerOnBase(x402Payee, "250000", permit2), "paid"},
		{"Solana", offerOnSolana(x402SolanaPayee, "250000"), "paid"},
		{"EIP-3009, a stranger", offerOnBase(x402Stranger, "1", nil), "not authorized"},
		{"Permit2, a stranger", offerOnBase(x402Stranger, "1", permit2), "not authorized"},
		{"Solana, a stranger", offerOnSolana(x402SolanaOther, "1"), "not authorized"},
		{"EIP-3009, more", offerOnBase(x402Payee, "1000001", nil), "waits for approvals"},
		{"Permit2, more", offerOnBase(x402Payee, "1000001", permit2), "waits for approvals"},
	} {
		if got := m.buys(test.offer); got != test.want && (test.want == "paid" || !strings.Contains(got, test.want)) {
			t.Errorf("%s: %s", test.name, got)
		}
	}
	m.WantSignatures(t, 2) // those of Solana are not counted
}
