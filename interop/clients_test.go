package interop

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/fxamacker/cbor/v2"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/stamp"
)

// clients are the public clients in Node, and the server they talk to.
type clients struct {
	*peer
	fixture *enginetest.Fixture
	url     string
}

// answered is what a client returns or throws.
type answered struct {
	Value json.RawMessage
	Error string
	Cause string
	Code  any

	Name, ActivityID, Status string // of an error about an activity
}

func newClients(t *testing.T, changes ...func(*countersign.Config)) *clients {
	t.Helper()
	fixture := enginetest.New(t, append(changes, func(c *countersign.Config) { c.Now = time.Now })...)
	return serveClients(t, fixture)
}

// serveClients returns the clients for a server of the fixture.
func serveClients(t *testing.T, fixture *enginetest.Fixture) *clients {
	t.Helper()
	server := httptest.NewServer(httpapi.New(fixture.Engine, httpapi.Options{}))
	t.Cleanup(server.Close)
	return &clients{startPeer(t, "clients.mjs"), fixture, server.URL}
}

// call has a client do something. line adds to, or replaces, the members that every
// request has.
func (c *clients) call(t *testing.T, op, client string, line map[string]any) (got answered) {
	t.Helper()
	request := map[string]any{
		"op": op, "client": client, "baseUrl": c.url, "organizationId": enginetest.Organization,
		"apiPublicKey": c.fixture.APIKey.PublicKey, "apiPrivateKey": c.fixture.APIKey.PrivateKey(),
		"signWith": enginetest.Address, "unsigned": enginetest.Unsigned,
	}
	maps.Copy(request, line)
	testenv.JSON(t, c.exchange(t, request), &got)
	return got
}

// value is call for what must succeed. It reads the value into into.
func (c *clients) value(t *testing.T, op, client string, line map[string]any, into any) {
	t.Helper()
	got := c.call(t, op, client, line)
	if got.Error != "" {
		t.Fatalf("%s by %s: %s (%s)", op, client, got.Error, got.Cause)
	}
	if err := json.Unmarshal(got.Value, into); err != nil {
		t.Fatalf("%s by %s: %v: %s", op, client, err, got.Value)
	}
}

var signingClients = []string{"http", "poller", "sdk-server", "core", "viem", "viem over sdk-server", "ethers"}

// TestClientsSign checks that each client gets the bytes that it would have signed with
// the key itself.
func TestClientsSign(t *testing.T) {
	c := newClients(t)
	for _, client := range signingClients {
		var signed string
		c.value(t, "sign", client, nil, &signed)
		if strings.TrimPrefix(signed, "0x") != enginetest.Signed {
			t.Errorf("%s: %s", client, signed)
		}
	}
	c.fixture.Signing.Signatures.Store(0)
	for _, over := range []string{"http", "sdk-server", "core"} {
		for _, version := range []string{"legacy", "v0"} {
			var verdict string
			line := messageLine(t)
			line["over"], line["version"] = over, version
			c.value(t, "sign", "solana", line, &verdict)
			if verdict != "verifies" {
				t.Errorf("solana over %s, %s: the signature %s", over, version, verdict)
			}
		}
	}
	var verdict string
	c.value(t, "sign", "tempo", map[string]any{"secret": "0x" + enginetest.Secret}, &verdict)
	if verdict != "equal" {
		t.Errorf("tempo: what viem signs with the key is %s", verdict)
	}
}

// TestClientsQuery checks whoami and get_activity of each client that has them.
func TestClientsQuery(t *testing.T) {
	c := newClients(t)
	var made struct {
		Activity struct {
			ID, Fingerprint string
			Result          struct{ Activity struct{ CreatedAt string } }
		}
	}
	c.value(t, "activity", "http", nil, &made)
	if _, err := time.Parse(time.RFC3339Nano, made.Activity.Result.Activity.CreatedAt); err != nil {
		t.Error(err)
	}
	for _, client := range []string{"http", "sdk-server", "core"} {
		var who activity.WhoAmI
		c.value(t, "whoami", client, nil, &who)
		if who.Username != "ci" || who.OrganizationName != "Example" {
			t.Errorf("%s: %+v", client, who)
		}
		var found struct {
			Activity struct{ ID, Fingerprint string }
		}
		c.value(t, "getActivity", client, map[string]any{"activityId": made.Activity.ID}, &found)
		if found.Activity.Fingerprint != made.Activity.Fingerprint {
			t.Errorf("%s: found %+v", client, found)
		}
	}
}

// TestClientsShowErrors checks that clients report what is wrong to their users.
func TestClientsShowErrors(t *testing.T) {
	c := newClients(t)
	otherKey := enginetest.NewAPIKey(t)
	stale := fmt.Sprint(time.Now().Add(-61 * time.Minute).UnixMilli())
	for _, test := range []struct {
		name, want string
		line       map[string]any
		fixed      bool // only with clients that pass on transaction and time unchanged
	}{
		{"unknown key", "could not find any resource to sign with", map[string]any{"signWith": "0x0000000000000000000000000000000000000001"}, false},
		{"wrong stamp", "the stamp does not verify", map[string]any{"apiPublicKey": otherKey.PublicKey, "apiPrivateKey": otherKey.PrivateKey()}, false},
		{"malformed transaction", "ethereum: ", map[string]any{"unsigned": "02ec01"}, true},
		{"hazard", "allow ethereum/no-chain-id by name", map[string]any{"unsigned": enginetest.Hazardous}, true},
	} {
		for _, client := range signingClients {
			if test.fixed && (strings.HasPrefix(client, "viem") || client == "ethers") {
				continue
			}
			got := c.call(t, "sign", client, test.line)
			if !strings.Contains(got.Error+got.Cause, test.want) {
				t.Errorf("%s by %s: %q (%q), value %s", test.name, client, got.Error, got.Cause, got.Value)
			}
		}
	}
	for _, client := range []string{"http", "poller"} {
		if got := c.call(t, "sign", client, map[string]any{"timestampMs": stale}); !strings.Contains(got.Error, "timestampMs is 1h1m") {
			t.Errorf("stale by %s: %q", client, got.Error)
		}
	}
}

func TestAppProofInClients(t *testing.T) {
	c := newClients(t)
	for range 8 { // s is low in some and high in others
		var made struct {
			Activity struct{ AppProofs []activity.AppProof }
		}
		c.value(t, "activity", "http", map[string]any{"proofs": true, "timestampMs": fmt.Sprint(time.Now().UnixMilli())}, &made)
		if len(made.Activity.AppProofs) != 1 {
			t.Fatalf("%d proofs", len(made.Activity.AppProofs))
		}
		proof := made.Activity.AppProofs[0]
		var verdict string
		c.value(t, "verifyProof", "", map[string]any{"proof": proof}, &verdict)
		proof.ProofPayload = strings.Replace(proof.ProofPayload, "COMPLETED", "REJECTED", 1)
		if got := c.call(t, "verifyProof", "", map[string]any{"proof": proof}); got.Error == "" {
			t.Error("a changed proof verifies")
		}
		last := time.Now().UnixMilli()
		testenv.Await(t, "another timestampMs", func() bool { return time.Now().UnixMilli() > last })
	}
}

// TestStampers signs requests with wallets of Ethereum and Solana, and with a passkey.
func TestStampers(t *testing.T) {
	walletKey, err := crypto.GenerateKey()
	testenv.Must(t, err)
	solanaKey, solanaDER := newKey(t, func() (any, any, error) {
		pub, key, err := ed25519.GenerateKey(rand.Reader)
		return []byte(pub), key, err
	})
	passkeyKey, passkeyDER := newKey(t, func() (any, any, error) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, nil, err
		}
		point, err := key.PublicKey.Bytes()
		return point, key, err
	})
	cose, err := cbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: passkeyKey[1:33], -3: passkeyKey[33:]})
	testenv.Must(t, err)
	const credentialID, rpID, origin = "VdkaNWFoSzLfXlig2RlouQ", "example.com", "https://app.example.com"
	c := newClients(t, func(config *countersign.Config) {
		config.Directory = stamperDirectory(t,
			[]access.APIKeyConfig{
				{Curve: stamp.CurveSecp256k1, PublicKey: hex.EncodeToString(crypto.CompressPubkey(&walletKey.PublicKey))},
				{Curve: stamp.CurveEd25519, PublicKey: hex.EncodeToString(solanaKey)},
			},
			access.PasskeyConfig{
				CredentialID: credentialID, PublicKey: base64.RawURLEncoding.EncodeToString(cose), RPID: rpID, Origins: []string{origin},
			})
	})
	for stamper, line := range map[string]map[string]any{
		"ethereum-wallet": {"walletKey": hex.EncodeToString(crypto.FromECDSA(walletKey))},
		"solana-wallet":   {"pkcs8": solanaDER},
		"passkey":         {"pkcs8": passkeyDER, "rpId": rpID, "origin": origin, "credentialId": credentialID},
	} {
		line["stamper"] = stamper
		var signed string
		c.value(t, "sign", "http", line, &signed)
		if signed != enginetest.Signed {
			t.Errorf("%s: %s", stamper, signed)
		}
	}
}

func stamperDirectory(t *testing.T, keys []access.APIKeyConfig, passkey access.PasskeyConfig) access.Directory {
	t.Helper()
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Users: []access.UserConfig{
		{Name: "ada", APIKeys: keys, Passkeys: []access.PasskeyConfig{passkey}},
	}}})
	testenv.Must(t, err)
	return directory
}

// newKey returns a public key, and the private key in base64 of PKCS #8.
func newKey(t *testing.T, generate func() (public, secret any, err error)) ([]byte, string) {
	t.Helper()
	public, secret, err := generate()
	testenv.Must(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(secret)
	testenv.Must(t, err)
	return public.([]byte), base64.StdEncoding.EncodeToString(der)
}

// TestClientsAuthenticateWithOTP sends a code and redeems it.
func TestClientsAuthenticateWithOTP(t *testing.T) {
	outbox := new(enginetest.Outbox)
	c := newClients(t, func(config *countersign.Config) { config.Now = time.Now }, enginetest.WithOTP(t, outbox))
	for i, client := range []string{"http", "sdk-server", "core"} {
		wanted := map[string]any{"otpType": "OTP_TYPE_EMAIL", "contact": fmt.Sprintf("user%d@example.com", i), "appName": "Demo", "alphanumeric": false, "otpLength": 9}
		var made struct {
			OTPID    string
			Activity struct {
				Result struct {
					InitOtpAuthResultV2 struct{ OTPID string }
				}
			}
		}
		c.value(t, "initOtpAuth", client, map[string]any{"otp": wanted}, &made)
		id := made.Activity.Result.InitOtpAuthResultV2.OTPID
		if id == "" {
			t.Fatalf("%s: %+v", client, made)
		}
		body := map[string]any{
			"type": "ACTIVITY_TYPE_VERIFY_OTP", "timestampMs": fmt.Sprint(time.Now().UnixMilli()), "organizationId": enginetest.Organization,
			"parameters": map[string]any{"otpId": id, "otpCode": outbox.Code(t, id)},
		}
		var redeemed struct {
			Activity struct {
				Result struct {
					VerifyOtpResult struct{ VerificationToken string }
				}
			}
		}
		c.value(t, "verifyOtp", "sdk-server request", map[string]any{"body": body}, &redeemed)
		if redeemed.Activity.Result.VerifyOtpResult.VerificationToken == "" {
			t.Errorf("%s: %+v", client, redeemed)
		}
	}
}
