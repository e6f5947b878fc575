package sign_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/approvals"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/sign"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/internal/ur"
	"github.com/countersign-dev/countersign/keystore"
)

// scanned runs sign --scan in a new session, with the code of a message on standard input,
// and answers the question.
func scanned(t *testing.T, message ur.Message, answer string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	return clitest.NewSession(t).Scanned(strings.ToUpper(message.String()), answer, args...)
}

// ethRequest returns a wallet's request to sign the vector's transaction.
func ethRequest(t *testing.T) ur.EthSignRequest {
	t.Helper()
	address := common.HexToAddress(clitest.Address)
	return ur.EthSignRequest{ID: bytes.Repeat([]byte{7}, 16), Data: testenv.Hex(t, clitest.Unsigned), Kind: ur.EthTx, ChainID: 1, Address: address[:],
		Origin: "a wallet", Path: ur.Keypath{Path: []ur.PathIndex{{Index: 44, Hardened: true}}}}
}

// TestEthSignRequest signs a request of ERC-4527 if the person at the terminal agrees. The
// signature is the vector's.
func TestEthSignRequest(t *testing.T) {
	t.Parallel()
	stdout, stderr, status := scanned(t, ethRequest(t).Message(), "y\n")
	if status != console.ExitSuccess {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	var signed types.Transaction
	testenv.Must(t, signed.UnmarshalBinary(testenv.Hex(t, clitest.Signed)))
	v, r, s := signed.RawSignatureValues()
	want := append(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...), byte(v.Uint64()))
	answer := ur.EthSignature{ID: bytes.Repeat([]byte{7}, 16), Signature: want}.Message()
	if got := clitest.Collected(t, stdout, ur.TypeEthSignature); !bytes.Equal(got.CBOR, answer.CBOR) {
		t.Errorf("answered %x\nwant     %x", got.CBOR, answer.CBOR)
	}
	for _, text := range []string{"A request of type eth-sign-request without a stamp: nothing proves who sent it.", `It claims to come from "a wallet".`, "Signed without a stamp"} {
		if !strings.Contains(stderr, text) {
			t.Errorf("it does not say %q:\n%s", text, stderr)
		}
	}
	if stdout, _, status := scanned(t, ethRequest(t).Message(), "n\n"); status != console.ExitFailure || stdout != "" {
		t.Errorf("signed without a yes: %s", stdout)
	}
}

// TestForeignOnTerminal: the terminal shows that there is no stamp even if standard error
// goes elsewhere.
func TestForeignOnTerminal(t *testing.T) {
	t.Parallel()
	command := clitest.NewSession(t).Command("sign", "--scan")
	command.Stdin, command.Stderr = strings.NewReader(ethRequest(t).Message().String()+"\n"), io.Discard
	p := clitest.Sit(t, command)
	p.Sees("without a stamp: nothing proves who sent it.")
	p.Sees("? [y/N] ")
	p.Types("n\n")
	if status := p.Ends(); status != console.ExitFailure {
		t.Errorf("exit status %d", status)
	}
}

// TestForeignIsRecorded: with --config, a signed request of another wallet is recorded and
// logged even without a policy, under the user terminal or the one that --as names. A
// declined request is not.
func TestForeignIsRecorded(t *testing.T) {
	t.Parallel()
	const configuration = "made/countersign.yaml"
	s := &clitest.Session{T: t, Dir: t.TempDir()}
	s.Must(nil, "init", "made")
	s.Must([]byte(clitest.Secret+"\n"), "keys", "import", "--config", configuration, "--curve", "CURVE_SECP256K1")
	code := strings.ToUpper(ethRequest(t).Message().String())
	for _, call := range []struct {
		answer string
		args   []string
		users  []string // of the records afterwards, the newest first
	}{
		{"n\n", nil, nil},
		{"y\n", nil, []string{sign.TerminalUser}},
		{"y\n", []string{"--as", "admin"}, []string{"admin", sign.TerminalUser}},
	} {
		_, stderr, status := s.Scanned(code, call.answer, append([]string{"--config", configuration}, call.args...)...)
		if (status == console.ExitSuccess) != (call.answer == "y\n") {
			t.Fatalf("exit status %d: %s", status, stderr)
		}
		var users []string
		for line := range bytes.Lines(s.Must(nil, "activities", "list", "--config", configuration, "--json")) {
			var record approvals.ActivityLine
			if err := json.Unmarshal(line, &record); err != nil || record.Status != activity.StatusCompleted {
				t.Fatalf("recorded %s: %v", line, err)
			}
			users = append(users, record.User)
		}
		if !slices.Equal(users, call.users) {
			t.Errorf("on record: %q, want %q", users, call.users)
		}
	}
	s.Must(nil, "log", "verify", "--config", configuration)
}

// TestEthSignRequestLegacy: everything after s is v, which includes the chain (EIP-155) and
// has several bytes for most chains. go-ethereum recovers the signer with it.
func TestEthSignRequestLegacy(t *testing.T) {
	t.Parallel()
	for _, chain := range []int64{1, 137, 59144} {
		to := common.HexToAddress("0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7")
		body := types.LegacyTx{Nonce: 7, GasPrice: big.NewInt(1e9), Gas: 21_000, To: &to, Value: big.NewInt(1)}
		unsigned, err := rlp.EncodeToBytes([]any{body.Nonce, body.GasPrice, body.Gas, to, body.Value, []byte{}, uint64(chain), uint(0), uint(0)})
		testenv.Must(t, err)
		request := ethRequest(t)
		request.Kind, request.Data, request.ChainID = ur.EthLegacy, unsigned, uint64(chain)
		stdout, stderr, status := scanned(t, request.Message(), "y\n")
		if status != console.ExitSuccess {
			t.Fatalf("exit status %d: %s", status, stderr)
		}
		_, signature, _ := bytes.Cut(clitest.Collected(t, stdout, ur.TypeEthSignature).CBOR, []byte{7, 7, 7, 2, 0x58})
		signature = signature[1:] // its length
		body.R, body.S, body.V = new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:64]), new(big.Int).SetBytes(signature[64:])
		from, err := types.Sender(types.NewEIP155Signer(big.NewInt(chain)), types.NewTx(&body))
		if err != nil || from != common.HexToAddress(clitest.Address) {
			t.Errorf("chain %d: signed by %s, %v; v is %x", chain, from, err, signature[64:])
		}
	}
}

// TestEthSignRequestRefused: a request for another chain than the transaction's, invalid
// typed data, an unknown kind, another key, and --yes are refused.
func TestEthSignRequestRefused(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t) // refusals leave it unchanged
	for name, c := range map[string]struct {
		change func(*ur.EthSignRequest)
		args   []string
		want   string
	}{
		"chain":    {func(r *ur.EthSignRequest) { r.ChainID = 10 }, nil, "the request names chain 10, and the transaction is for another"},
		"typed":    {func(r *ur.EthSignRequest) { r.Kind = ur.EthTyped }, nil, "eth-sign-request of typed data (EIP-712): eip712: "},
		"unknown":  {func(r *ur.EthSignRequest) { r.Kind = 9 }, nil, "unknown kind 9"},
		"key":      {func(*ur.EthSignRequest) {}, []string{"--sign-with", clitest.KeyID}, "the request is for the key " + clitest.Address},
		"--yes":    {func(*ur.EthSignRequest) {}, []string{"--yes"}, "it has no stamp, so only a person at the terminal can confirm it"},
		"stranger": {func(r *ur.EthSignRequest) { r.Address = bytes.Repeat([]byte{9}, 20) }, nil, "sign"},
	} {
		request := ethRequest(t)
		c.change(&request)
		stdout, stderr, status := s.Scanned(strings.ToUpper(request.Message().String()), "", c.args...)
		if status == console.ExitSuccess || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit status %d, %q, %s", name, status, stdout, stderr)
		}
	}
}

// TestSolSignRequest signs a Solana transaction, and the message of one, which is what
// wallets send. The signature is the same.
func TestSolSignRequest(t *testing.T) {
	t.Parallel()
	public, err := keystore.ParsePublicKey(keystore.CurveEd25519, testenv.Hex(t, clitest.SeedPublic))
	testenv.Must(t, err)
	unsigned := solanaSample.Unsigned(public)
	whole := testenv.Hex(t, unsigned)
	var signatures [][]byte
	for _, data := range [][]byte{whole, whole[65:]} {
		request := ur.SolSignRequest{ID: bytes.Repeat([]byte{7}, 16), Data: data, Address: public.Bytes(), Kind: 2}
		stdout, stderr, status := scanned(t, request.Message(), "y\n")
		if status != console.ExitSuccess {
			t.Fatalf("exit status %d: %s", status, stderr)
		}
		answer := clitest.Collected(t, stdout, ur.TypeSolSignature).CBOR
		signatures = append(signatures, answer[len(answer)-64:])
	}
	if !bytes.Equal(signatures[0], signatures[1]) {
		t.Error("the signatures of the message and of the transaction differ")
	}
	signed := append(append([]byte{1}, signatures[0]...), whole[65:]...)
	if _, err := solanaSample.Check(hex.EncodeToString(signed), public); err != nil {
		t.Error(err)
	}
	neither := ur.SolSignRequest{Data: []byte{1, 2, 3}, Address: public.Bytes(), Kind: 1}
	if _, stderr, status := scanned(t, neither.Message(), ""); status != console.ExitFailure || !strings.Contains(stderr, "neither a transaction nor the message of one") {
		t.Errorf("neither: exit status %d, %s", status, stderr)
	}
}

// TestPSBTRequest: a PSBT from a code is signed to the same bytes as one from a file.
func TestPSBTRequest(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	public, err := keystore.ParsePublicKey(keystore.CurveSecp256k1, testenv.Hex(t, strings.TrimSpace(clitest.PublicOf(t, s))))
	testenv.Must(t, err)
	unsigned := bitcoinSample.Unsigned(public)
	want := s.Must([]byte(unsigned), "sign", "--yes", "--type", "bitcoin", "--sign-with", clitest.KeyID)
	stdout, stderr, status := scanned(t, ur.PSBT(testenv.Hex(t, unsigned), ur.TypeCryptoPSBT), "y\n", "--sign-with", clitest.KeyID)
	if status != console.ExitSuccess || stdout != string(want) {
		t.Errorf("exit status %d, %s: %s", status, stdout, stderr)
	}
}
