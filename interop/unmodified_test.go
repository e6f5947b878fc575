package interop

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/wallettest"
	"github.com/countersign-dev/countersign/otp"
)

// unmodifiedCall is a row of the table "What works unmodified" of docs/api.md.
type unmodifiedCall struct {
	client, call string
	refused      string // what the client's error says; empty: the call works
	instead      string // for the table
}

const (
	pinned     = "it trusts the hosted service's key: pass the proof key"
	ownProxy   = "it posts to the hosted auth proxy, and passes no key on: use `createHttpClient()`"
	noText     = "it sends a hash: send the text, if it [is known](messages.md#texts-known-or-blind) or `message/free-text` is allowed"
	rawMessage = "if the text [is known](messages.md#texts-known-or-blind), or `message/free-text` and `solana/raw-message` are allowed"
)

// unmodified is the table. TestUnmodified makes its calls.
var unmodified = append(slices.Concat(
	wholeAPI("@turnkey/http", "verifyOtp", "getOrganization"), wholeAPI("@turnkey/sdk-server", "verifyOtp"), wholeAPI("@turnkey/core", "verifyOtp, with the code in clear")),
	unmodifiedCall{"@turnkey/core", "verifyOtp", "encryptedOtpBundle", "it posts `ACTIVITY_TYPE_VERIFY_OTP`: pass `otpCode` and `publicKey`, or use `@turnkey/http`"},
	unmodifiedCall{"@turnkey/core", "TurnkeyClient.initOtp", "Failed to initialize OTP", ownProxy},
	unmodifiedCall{"@turnkey/core", "TurnkeyClient.verifyOtp", "Failed to verify OTP", ownProxy},
	unmodifiedCall{"@turnkey/crypto", "encryptOtpCodeToBundle, with the proof key", "", ""},
	unmodifiedCall{"@turnkey/crypto", "encryptOtpCodeToBundle, without it", "does not match signer key from bundle", pinned},
	unmodifiedCall{"@turnkey/crypto", "verifyOtpVerificationToken, with the proof key", "", ""},
	unmodifiedCall{"@turnkey/crypto", "verifyOtpVerificationToken, without it", "signature is invalid", pinned},
	unmodifiedCall{"@turnkey/crypto", "verifyAppProofSignature", "", ""},
	unmodifiedCall{"@turnkey/viem", "signTransaction", "", ""},
	unmodifiedCall{"@turnkey/viem", "signTransaction, signWith a key's id", "", ""},
	unmodifiedCall{"@turnkey/viem", "signTypedData, as viem's documentation has it", "EIP712Domain is missing", "add `EIP712Domain: getTypesForEIP712Domain({ domain })` to `types`"},
	unmodifiedCall{"@turnkey/viem", "signTypedData, with the domain's type", "", ""},
	unmodifiedCall{"@turnkey/viem", "signMessage", "HASH_FUNCTION_KECCAK256", noText},
	unmodifiedCall{"@turnkey/viem", "signAuthorization", "ethereum/delegation", "unless a rule allows `ethereum/delegation`"},
	unmodifiedCall{"@turnkey/ethers", "signTransaction", "", ""},
	unmodifiedCall{"@turnkey/ethers", "signTransaction, signWith a key's id", "", ""},
	unmodifiedCall{"@turnkey/ethers", "signTypedData", "", ""},
	unmodifiedCall{"@turnkey/ethers", "signMessage", "HASH_FUNCTION_KECCAK256", noText},
	unmodifiedCall{"@turnkey/solana", "signTransaction", "", ""},
	unmodifiedCall{"@turnkey/solana", "addSignature", "", ""},
	unmodifiedCall{"@turnkey/solana", "signMessage", "message/free-text", rawMessage},
	unmodifiedCall{"@solana/keychain-turnkey", "isAvailable", "", ""},
	unmodifiedCall{"@solana/keychain-turnkey", "signTransactions", "", ""},
	unmodifiedCall{"@solana/keychain-turnkey", "signTransactions, if another account pays the fee", "not as expected: signature", "it returns the first signature, the fee payer's: use the [signer for agents](agents.md#the-agent-in-production)"},
	unmodifiedCall{"@solana/keychain-turnkey", "signMessages", "message/free-text", rawMessage},
)

// wholeAPI returns the calls of a client of the whole API, and those that it has besides.
func wholeAPI(client string, besides ...string) (calls []unmodifiedCall) {
	for _, call := range append([]string{
		"signTransaction", "signRawPayload", "initOtp", "getWhoami", "getPrivateKeys", "getPrivateKey", "getWallets", "getWallet",
		"getWalletAccounts", "getWalletAccount", "getUsers", "getUser", "getActivities", "getPolicies",
	}, besides...) {
		calls = append(calls, unmodifiedCall{client, call, "", ""})
	}
	return append(calls, unmodifiedCall{client, "createWallet", "this path is not served", "keys are made on the [command line](keys.md)"})
}

// TestUnmodified makes each call of the table.
func TestUnmodified(t *testing.T) {
	outbox := new(enginetest.Outbox)
	f := enginetest.New(t, func(c *countersign.Config) { c.Now = time.Now }, enginetest.WithOTP(t, outbox),
		wallettest.With(t, map[string]string{"key-2": "m/44'/501'/0'/0'"}))
	server := httptest.NewServer(httpapi.New(f.Engine, httpapi.Options{}))
	defer server.Close()
	peer := startPeer(t, "unmodified.mjs")
	proofKey, err := f.ProofKey.PublicKey.Bytes()
	testenv.Must(t, err)
	line := messageLine(t)
	maps.Copy(line, map[string]any{
		"url": server.URL, "organizationId": enginetest.Organization, "address": enginetest.Address, "unsigned": enginetest.Unsigned,
		"apiPublicKey": f.APIKey.PublicKey, "apiPrivateKey": f.APIKey.PrivateKey(), "proofKey": hex.EncodeToString(proofKey),
	})
	proved, err := f.Submit(t, enginetest.Request{Proofs: true, At: time.Now()})
	testenv.Must(t, err)
	line["proof"] = proved.AppProofs[0]
	line["token"] = verificationToken(t, f, outbox)
	for _, row := range unmodified {
		line["client"], line["call"] = row.client, row.call
		if row.call == "initOtp" {
			line["contact"] = strings.ReplaceAll(row.client[1:], "/", ".") + "@example.com"
		}
		var got struct {
			Value json.RawMessage
			Error string
		}
		testenv.JSON(t, peer.exchange(t, line), &got)
		switch {
		case row.refused == "" && got.Error != "":
			t.Errorf("%s %s: %s", row.client, row.call, got.Error)
		case row.refused != "" && !strings.Contains(got.Error, row.refused):
			t.Errorf("%s %s: %s, error %q, want %q", row.client, row.call, got.Value, got.Error, row.refused)
		case row.call == "initOtp":
			var sent struct{ OTPID, OTPEncryptionTargetBundle string }
			testenv.JSON(t, got.Value, &sent)
			line["otpId"], line["target"], line["code"] = sent.OTPID, sent.OTPEncryptionTargetBundle, outbox.Code(t, sent.OTPID)
		}
	}
}

// TestUnmodifiedTable compares docs/api.md with the table. The versions are those of
// package.json.
func TestUnmodifiedTable(t *testing.T) {
	document := testenv.Read(t, "../docs/api.md")
	if table := unmodifiedTable(t); !strings.Contains(string(document), table) {
		t.Errorf("docs/api.md, What works unmodified, should have\n%s", table)
	}
}

// name returns the call for the table: its function as code, and how it is called.
func (c *unmodifiedCall) name() string {
	function, how, found := strings.Cut(c.call, ",")
	if found {
		return "`" + function + "`," + how
	}
	return "`" + function + "`"
}

// verificationToken returns a token of an encrypted code.
func verificationToken(t *testing.T, f *enginetest.Fixture, outbox *enginetest.Outbox) string {
	t.Helper()
	submit := func(intent activity.Intent) activity.Result {
		request, err := activity.NewRequest(activity.Envelope{OrganizationID: enginetest.Organization, Time: time.Now()}, intent)
		testenv.Must(t, err)
		return enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(string(request.Body))).Result
	}
	digits := false
	sent := submit(activity.InitOTPV3Intent{OTPType: "OTP_TYPE_EMAIL", Contact: "token@example.com", Alphanumeric: &digits}).(activity.InitOTPV3Result)
	bundle, err := otp.Encrypt(outbox.Code(t, sent.OTPID), f.APIKey.PublicKey, sent.TargetBundle, &f.ProofKey.PublicKey, enginetest.Organization, sent.OTPID)
	testenv.Must(t, err)
	return submit(activity.VerifyOTPV2Intent{OTPID: sent.OTPID, EncryptedBundle: bundle}).(activity.VerifyOTPV2Result).VerificationToken
}

func unmodifiedTable(t *testing.T) string {
	t.Helper()
	text := testenv.Read(t, "package.json")
	var versions struct{ Dependencies map[string]string }
	testenv.JSON(t, text, &versions)
	table := new(strings.Builder)
	table.WriteString("| client | works | refused | why, and what to do |\n|---|---|---|---|\n")
	for i := 0; i < len(unmodified); {
		client, works := unmodified[i].client, []string{}
		name := fmt.Sprintf("`%s` %s", client, versions.Dependencies[client])
		for ; i < len(unmodified) && unmodified[i].client == client; i++ {
			if row := unmodified[i]; row.refused == "" {
				works = append(works, row.name())
			}
		}
		fmt.Fprintf(table, "| %s | %s | | |\n", name, strings.Join(works, "; "))
		for _, row := range unmodified {
			if row.client == client && row.refused != "" {
				fmt.Fprintf(table, "| | | %s | %s |\n", row.name(), row.instead)
			}
		}
	}
	return table.String()
}
