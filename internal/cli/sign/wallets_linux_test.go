package sign_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/keystore"
)

// TestKeystoneSDK: sign --scan answers unmodified requests of Keystone's SDK, sent as parts
// of a fountain code. The SDK reads the answer, whose signature matches the transaction.
func TestKeystoneSDK(t *testing.T) {
	testenv.Slow(t)
	t.Parallel()
	w := clitest.StartWallets(t)
	for name, run := range map[string]func(*testing.T, *clitest.Wallets){
		"ethereum": keystoneEthereum, "solana": keystoneSolana, "bitcoin": keystoneBitcoin, "tron": keystoneTron,
	} {
		t.Run(name, func(t *testing.T) { run(t, &clitest.Wallets{T: t, In: w.In, Out: w.Out}) })
	}
}

// through has the command answer a request of the SDK, and the SDK read the answer, from
// codes that jsQR reads.
func through(w *clitest.Wallets, request map[string]any, args ...string) clitest.WalletAnswer {
	w.T.Helper()
	request["op"], request["requestId"], request["xfp"], request["fragment"] = "request", clitest.WalletRequest, "f23f9fd2", 60
	parts := w.Ask(request).Parts
	if len(parts) < 2 {
		w.T.Fatalf("the request has %d parts, want several", len(parts))
	}
	s := clitest.NewSession(w.T)
	_, stderr, status := s.Scanned(strings.ToUpper(strings.Join(parts, "\n")), "y\n", append(args, "--qr-png", "answer")...)
	if status != console.ExitSuccess {
		w.T.Fatalf("exit status %d: %s", status, stderr)
	}
	codes := strings.Fields(string(w.JsQR(filepath.Join(s.Dir, "answer"))))
	answer := w.Ask(map[string]any{"op": "signature", "parts": codes})
	if answer.PSBT == "" && answer.RequestID != clitest.WalletRequest {
		w.T.Errorf("the answer is to %q", answer.RequestID)
	}
	return answer
}

func keystoneEthereum(t *testing.T, w *clitest.Wallets) {
	answer := through(w, map[string]any{"chain": "eth", "signData": clitest.Unsigned, "dataType": 4, "path": "m/44'/60'/0'/0/5",
		"chainId": 1, "address": strings.TrimPrefix(clitest.Address, "0x"), "origin": "a wallet"})
	var signed types.Transaction
	testenv.Must(t, signed.UnmarshalBinary(testenv.Hex(t, clitest.Signed)))
	digest := types.LatestSignerForChainID(signed.ChainId()).Hash(&signed)
	key, err := crypto.SigToPub(digest[:], testenv.Hex(t, answer.Signature))
	if err != nil || crypto.PubkeyToAddress(*key) != common.HexToAddress(clitest.Address) {
		t.Errorf("the signature %s is of another key: %v", answer.Signature, err)
	}
}

func keystoneSolana(t *testing.T, w *clitest.Wallets) {
	public := fixtureKey(t, keystore.CurveEd25519, clitest.SeedPublic)
	unsigned := solanaSample.Unsigned(public)
	message := testenv.Hex(t, unsigned)[65:] // behind the one empty slot
	answer := through(w, map[string]any{"chain": "sol", "signData": hex.EncodeToString(message), "dataType": 1,
		"path": "m/44'/501'/0'", "address": hex.EncodeToString(public.Bytes()), "origin": "a wallet"})
	signature := testenv.Hex(t, answer.Signature)
	if !ed25519.Verify(public.Bytes(), message, signature) {
		t.Errorf("the signature is %x", signature)
	}
	if _, err := solanaSample.Check(hex.EncodeToString(append(append([]byte{1}, signature...), message...)), public); err != nil {
		t.Error(err)
	}
}

func keystoneBitcoin(t *testing.T, w *clitest.Wallets) {
	public := fixtureKey(t, keystore.CurveSecp256k1, strings.TrimSpace(clitest.PublicOf(t, clitest.NewSession(t))))
	unsigned := bitcoinSample.Unsigned(public)
	answer := through(w, map[string]any{"chain": "btc", "psbt": unsigned}, "--sign-with", clitest.KeyID)
	if _, err := bitcoinSample.Check(answer.PSBT, public); err != nil {
		t.Error(err)
	}
}

func fixtureKey(t *testing.T, curve keystore.Curve, public string) keystore.PublicKey {
	t.Helper()
	key, err := keystore.ParsePublicKey(curve, testenv.Hex(t, public))
	testenv.Must(t, err)
	return key
}

// keystoneTron: the SDK describes a Tron transfer without the bytes to sign. The request is
// refused by name, with the alternative.
func keystoneTron(t *testing.T, w *clitest.Wallets) {
	public := fixtureKey(t, keystore.CurveSecp256k1, strings.TrimSpace(clitest.PublicOf(t, clitest.NewSession(t))))
	unsigned := tronSample.Unsigned(public)
	parts := w.Ask(map[string]any{"op": "request", "chain": "tron", "requestId": clitest.WalletRequest, "signData": unsigned,
		"path": "m/44'/195'/0'/0/0", "xfp": "f23f9fd2"}).Parts
	_, stderr, status := clitest.NewSession(t).Scanned(strings.ToUpper(strings.Join(parts, "\n")), "")
	if want := "keystone-sign-request"; status != console.ExitFailure || !strings.Contains(stderr, want) || !strings.Contains(stderr, "send tron-sign-request") {
		t.Errorf("exit status %d: %s", status, stderr)
	}
}
