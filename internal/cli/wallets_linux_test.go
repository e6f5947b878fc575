package cli

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// wallets runs the libraries of other wallets in Node: interop/ur.mjs.
type wallets struct {
	t   *testing.T
	in  *json.Encoder
	out *json.Decoder
}

// startWallets starts the script, which ends with the test.
func startWallets(t *testing.T) *wallets {
	t.Helper()
	testenv.NodeModule(t, "@keystonehq", "keystone-sdk", "package.json")
	command := testenv.Node(t, "ur.mjs")
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the context of the test has ended it by now
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = command.Wait()
	})
	return &wallets{t, json.NewEncoder(in), json.NewDecoder(out)}
}

// walletAnswer is an answer of the script, with the members that tests use.
type walletAnswer struct {
	Parts                      []string
	RequestID, Signature, PSBT string
	Text, Error                string
}

func (w *wallets) ask(request map[string]any) (answer walletAnswer) {
	w.t.Helper()
	if err := w.in.Encode(request); err != nil {
		w.t.Fatal(err)
	}
	if err := w.out.Decode(&answer); err != nil {
		w.t.Fatal(err)
	}
	if answer.Error != "" {
		w.t.Fatal(answer.Error)
	}
	return answer
}

// jsQR reads the pictures in a directory with jsQR, and skips those that it cannot read.
func (w *wallets) jsQR(dir string) []byte {
	w.t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.png"))
	if err != nil {
		w.t.Fatal(err)
	}
	var lines bytes.Buffer
	for _, path := range paths {
		grey := greyPicture(w.t, path)
		request := map[string]any{"op": "read", "width": grey.Rect.Dx(), "height": grey.Rect.Dy(), "grey": base64.StdEncoding.EncodeToString(grey.Pix)}
		if text := w.ask(request).Text; text != "" {
			fmt.Fprintln(&lines, text)
		}
	}
	if lines.Len() == 0 {
		w.t.Fatal("jsQR read nothing")
	}
	return lines.Bytes()
}

func greyPicture(t *testing.T, path string) *image.Gray {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	grey, ok := picture.(*image.Gray)
	if !ok || grey.Stride != grey.Rect.Dx() {
		t.Fatalf("%s is not a greyscale picture", path)
	}
	return grey
}

// walletRequest is the id of a request of another wallet.
const walletRequest = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"

// TestKeystoneSDK: sign --scan answers unmodified requests of Keystone's SDK, sent as parts
// of a fountain code. The SDK reads the answer, whose signature matches the transaction.
func TestKeystoneSDK(t *testing.T) {
	testenv.Slow(t)
	w := startWallets(t)
	for name, run := range map[string]func(*testing.T, *wallets){
		"ethereum": keystoneEthereum, "solana": keystoneSolana, "bitcoin": keystoneBitcoin, "tron": keystoneTron,
	} {
		t.Run(name, func(t *testing.T) { run(t, &wallets{t, w.in, w.out}) })
	}
}

// through has the command answer a request of the SDK, and the SDK read the answer, from
// codes that jsQR reads.
func (w *wallets) through(request map[string]any, args ...string) walletAnswer {
	w.t.Helper()
	request["op"], request["requestId"], request["xfp"], request["fragment"] = "request", walletRequest, "f23f9fd2", 60
	parts := w.ask(request).Parts
	if len(parts) < 2 {
		w.t.Fatalf("the request has %d parts, want several", len(parts))
	}
	s := newSession(w.t)
	_, stderr, status := s.scanned(strings.ToUpper(strings.Join(parts, "\n")), "y\n", append(args, "--qr-png", "answer")...)
	if status != console.ExitSuccess {
		w.t.Fatalf("exit status %d: %s", status, stderr)
	}
	codes := strings.Fields(string(w.jsQR(filepath.Join(s.dir, "answer"))))
	answer := w.ask(map[string]any{"op": "signature", "parts": codes})
	if answer.PSBT == "" && answer.RequestID != walletRequest {
		w.t.Errorf("the answer is to %q", answer.RequestID)
	}
	return answer
}

func keystoneEthereum(t *testing.T, w *wallets) {
	answer := w.through(map[string]any{"chain": "eth", "signData": vectorUnsigned, "dataType": 4, "path": "m/44'/60'/0'/0/5",
		"chainId": 1, "address": strings.TrimPrefix(fixtureAddress, "0x"), "origin": "a wallet"})
	var signed types.Transaction
	if err := signed.UnmarshalBinary(mustHex(t, vectorSigned)); err != nil {
		t.Fatal(err)
	}
	digest := types.LatestSignerForChainID(signed.ChainId()).Hash(&signed)
	key, err := crypto.SigToPub(digest[:], mustHex(t, answer.Signature))
	if err != nil || crypto.PubkeyToAddress(*key) != common.HexToAddress(fixtureAddress) {
		t.Errorf("the signature %s is of another key: %v", answer.Signature, err)
	}
}

func keystoneSolana(t *testing.T, w *wallets) {
	public := fixtureKey(t, keystore.CurveEd25519, fixtureSeedPublic)
	unsigned := solanaSample.Unsigned(public)
	message := mustHex(t, unsigned)[65:] // behind the one empty slot
	answer := w.through(map[string]any{"chain": "sol", "signData": hex.EncodeToString(message), "dataType": 1,
		"path": "m/44'/501'/0'", "address": hex.EncodeToString(public.Bytes()), "origin": "a wallet"})
	signature := mustHex(t, answer.Signature)
	if !ed25519.Verify(public.Bytes(), message, signature) {
		t.Errorf("the signature is %x", signature)
	}
	if _, err := solanaSample.Check(hex.EncodeToString(append(append([]byte{1}, signature...), message...)), public); err != nil {
		t.Error(err)
	}
}

func keystoneBitcoin(t *testing.T, w *wallets) {
	public := fixtureKey(t, keystore.CurveSecp256k1, strings.TrimSpace(publicOf(t, newSession(t))))
	unsigned := bitcoinSample.Unsigned(public)
	answer := w.through(map[string]any{"chain": "btc", "psbt": unsigned}, "--sign-with", fixtureID)
	if _, err := bitcoinSample.Check(answer.PSBT, public); err != nil {
		t.Error(err)
	}
}

func fixtureKey(t *testing.T, curve keystore.Curve, public string) keystore.PublicKey {
	t.Helper()
	key, err := keystore.ParsePublicKey(curve, mustHex(t, public))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// keystoneTron: the SDK describes a Tron transfer without the bytes to sign. The request is
// refused by name, with the alternative.
func keystoneTron(t *testing.T, w *wallets) {
	public := fixtureKey(t, keystore.CurveSecp256k1, strings.TrimSpace(publicOf(t, newSession(t))))
	unsigned := tronSample.Unsigned(public)
	parts := w.ask(map[string]any{"op": "request", "chain": "tron", "requestId": walletRequest, "signData": unsigned,
		"path": "m/44'/195'/0'/0/0", "xfp": "f23f9fd2"}).Parts
	_, stderr, status := newSession(t).scanned(strings.ToUpper(strings.Join(parts, "\n")), "")
	if want := "keystone-sign-request"; status != console.ExitFailure || !strings.Contains(stderr, want) || !strings.Contains(stderr, "send tron-sign-request") {
		t.Errorf("exit status %d: %s", status, stderr)
	}
}
