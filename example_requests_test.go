package countersign_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log"
	"regexp"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/operations"
	"github.com/countersign-dev/countersign/stamp"
	store "github.com/countersign-dev/countersign/store/memory"
)

// exampleClient returns the API key of a client.
func exampleClient() *stamp.Signer {
	secret := make([]byte, 32)
	secret[31] = 1
	client, err := stamp.NewSigner(stamp.CurveP256, secret)
	if err != nil {
		log.Fatal(err)
	}
	return client
}

// exampleDirectory returns a directory with one organization, whose user ci has the
// client's key.
func exampleDirectory() access.Directory {
	directory, err := access.NewDirectory([]access.OrganizationConfig{{
		ID:   "my-organization",
		Name: "Example",
		Users: []access.UserConfig{{
			Name: "ci",
			APIKeys: []access.APIKeyConfig{{
				Curve:     stamp.CurveP256,
				PublicKey: hex.EncodeToString(exampleClient().PublicKey()),
			}},
		}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	return directory
}

// exampleSubmission returns a stamped body as a client sends it.
func exampleSubmission(body string) countersign.SignedBody {
	header, err := exampleClient().Stamp([]byte(body))
	if err != nil {
		log.Fatal(err)
	}
	return countersign.SignedBody{Body: []byte(body), Stamps: []stamp.Header{header}}
}

// exampleServer returns an engine that takes requests.
func exampleServer(policy access.Policy) *countersign.Engine {
	keys := memory.New()
	secret, err := hex.DecodeString("e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := keys.Add(context.Background(), "my-organization", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
		log.Fatal(err)
	}
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: keys, Directory: exampleDirectory(), Policy: policy})
	if err != nil {
		log.Fatal(err)
	}
	return engine
}

// exampleBody returns a request to sign, with the current time.
func exampleBody() string {
	return fmt.Sprintf(`{"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","timestampMs":"%d","organizationId":"my-organization",`+
		`"parameters":{"signWith":%q,"unsignedTransaction":%q,"type":%q}}`,
		time.Now().UnixMilli(), exampleIntent.SignWith, exampleIntent.UnsignedTransaction, exampleIntent.Type)
}

// Submitting the same body again returns the same activity: nothing is done twice.
func ExampleEngine_Submit_repeated() {
	engine, ctx := exampleServer(nil), context.Background()
	defer engine.Close()

	body := exampleBody()
	record, err := engine.Submit(ctx, exampleSubmission(body))
	if err != nil {
		log.Fatal(err)
	}
	again, err := engine.Submit(ctx, exampleSubmission(body))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.Result.ActivityType(), again.ID == record.ID)
	// Output: ACTIVITY_TYPE_SIGN_TRANSACTION_V2 true
}

func ExampleEngine_GetActivity() {
	engine, ctx := exampleServer(nil), context.Background()
	defer engine.Close()
	record, err := engine.Submit(ctx, exampleSubmission(exampleBody()))
	if err != nil {
		log.Fatal(err)
	}

	query := fmt.Sprintf(`{"organizationId":"my-organization","activityId":%q}`, record.ID)
	found, err := engine.GetActivity(ctx, exampleSubmission(query))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Submitter().UserName, found.ID == record.ID)
	// Output: ci true
}

func ExampleEngine_WhoAmI() {
	engine := exampleServer(nil)
	defer engine.Close()

	who, err := engine.WhoAmI(context.Background(), exampleSubmission(`{"organizationId":"my-organization"}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(who.OrganizationName, who.Username)
	// Output: Example ci
}

// CheckRequest tells whether to ask a person about a request at all.
func ExampleEngine_CheckRequest() {
	engine, ctx := exampleServer(nil), context.Background()
	defer engine.Close()

	sent := exampleSubmission(exampleBody())
	fmt.Println(engine.CheckRequest(ctx, sent))
	sent.Body = append(sent.Body, ' ')
	fmt.Println(engine.CheckRequest(ctx, sent) != nil)
	// Output:
	// <nil>
	// true
}

// Ready is for a health check.
func ExampleEngine_Ready() {
	engine := exampleServer(nil)
	defer engine.Close()
	fmt.Println(engine.Ready(context.Background()))
	// Output: <nil>
}

// A policy refuses with an error that wraps ErrDenied. The caller gets its text.
func ExamplePolicyFunc() {
	engine := exampleServer(access.PolicyFunc(func(_ context.Context, asked access.Authorization) error {
		return fmt.Errorf("%w: %s may not sign on %s", access.ErrDenied, asked.User.Name, asked.Chain)
	}))
	defer engine.Close()

	_, err := engine.Submit(context.Background(), exampleSubmission(exampleBody()))
	fmt.Println(err)
	// Output: not authorized: denied by policy: ci may not sign on ethereum
}

// The errors of NewDirectory name the entry.
func ExampleNewDirectory() {
	_, err := access.NewDirectory([]access.OrganizationConfig{{ID: "one"}, {ID: "one"}})
	fmt.Println(err)
	// Output: organizations[1]: id "one" appears twice
}

// exampleSender keeps the message. A real sender sends an e-mail.
type exampleSender struct{ text string }

func (s *exampleSender) Send(_ context.Context, message otp.Message) error {
	s.text = message.Text
	return nil
}

// One-time passwords without activities: a code is sent, typed in, and redeemed for a
// token.
func Example_oneTimePasswords() {
	ctx, sender, records := context.Background(), new(exampleSender), store.New(0)
	secret := make([]byte, otp.MinSecretSize)
	if _, err := rand.Read(secret); err != nil {
		log.Fatal(err)
	}
	service, err := otp.New(otp.Config{Store: records, Secret: keystore.NewSecret(secret), Email: sender})
	if err != nil {
		log.Fatal(err)
	}
	proofKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	passwords := operations.New(service, proofKey) // Operations() is for Config.Operations of an engine

	digits := false
	sent, err := passwords.InitOTPAuth(ctx, "my-organization", "Example", activity.InitOTPAuthIntent{
		OTPType: "OTP_TYPE_EMAIL", Contact: "ann@example.com", Alphanumeric: &digits,
	})
	if err != nil {
		log.Fatal(err)
	}
	typed := regexp.MustCompile(`[0-9]{9}`).FindString(sender.text)
	redeemed, err := passwords.VerifyOTP(ctx, "my-organization", activity.VerifyOTPIntent{OTPID: sent.OTPID, OTPCode: typed})
	if err != nil {
		log.Fatal(err)
	}
	token, err := otp.VerifyToken(redeemed.VerificationToken, &proofKey.PublicKey, "my-organization", time.Now())
	fmt.Println(token.Contact, err)
	// Output: ann@example.com <nil>
}

// The addresses of a key on all chains.
func ExampleAddresses() {
	encoded, err := hex.DecodeString("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
	if err != nil {
		log.Fatal(err)
	}
	pub, err := keystore.ParsePublicKey(keystore.CurveSecp256k1, encoded)
	if err != nil {
		log.Fatal(err)
	}
	for _, address := range all.Addresses(pub)[:2] {
		fmt.Println(address.Format, address.Address)
	}
	// Output:
	// ADDRESS_FORMAT_ETHEREUM 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf
	// ADDRESS_FORMAT_TRON TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC
}

// The names that Config.AllowHazards accepts.
func ExampleHazardNames() {
	fmt.Println(all.HazardNames()[0])
	// Output: ethereum/no-chain-id
}

func ExampleTransactionTypes() {
	for _, kind := range all.TransactionTypes() {
		fmt.Println(kind)
	}
	// Output:
	// TRANSACTION_TYPE_ETHEREUM
	// TRANSACTION_TYPE_SOLANA
	// TRANSACTION_TYPE_TRON
	// TRANSACTION_TYPE_BITCOIN
	// TRANSACTION_TYPE_TEMPO
}
