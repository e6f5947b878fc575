//go:build unix

package clitest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// CorePSBT is a PSBT as Core writes it: it pays 30,000 of 100,000 satoshi from the address at
// index, and names the keys of input and change.
func CorePSBT(t *testing.T, root *wallet.Root, index uint32) []byte {
	t.Helper()
	key := func(branch, index uint32, kind byte) (keystore.PublicKey, bitcointest.Record) {
		path := wallet.Path{84 + wallet.Hardened, wallet.Hardened, wallet.Hardened, branch, index}
		pub, err := root.PublicKey(path)
		if err != nil {
			t.Fatal(err)
		}
		fingerprint := root.Fingerprint()
		value := fingerprint[:]
		for _, step := range path {
			value = binary.LittleEndian.AppendUint32(value, step)
		}
		return pub, bitcointest.Record{Key: append([]byte{kind}, pub.Bytes()...), Value: value}
	}
	from, fromOrigin := key(0, index, psbt.InBIP32Derivation)
	back, backOrigin := key(1, index, psbt.OutBIP32Derivation)
	input, change := bitcointest.P2WPKH(from).Input(100_000, index), bitcointest.P2WPKH(back).Output(65_000)
	input.Records, change.Records = append(input.Records, fromOrigin), []bitcointest.Record{backOrigin}
	stranger := bitcointest.Output{Amount: 30_000, Script: append([]byte{0, 20}, bytes.Repeat([]byte{9}, 20)...)}
	outputs := []bitcointest.Output{stranger, change}
	return bitcointest.PSBT{Version: psbt.Version2, Inputs: []bitcointest.Input{input}, Outputs: outputs}.Encode()
}

// CosignerWords are the words of three cosigners, of which the last signs elsewhere.
var CosignerWords = []string{
	"abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
	"legal winner thank year wave sausage worth useful legal winner thank yellow",
	"zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo wrong",
}

// KeystoreFlags name a keystore in the folder of a session, and its passphrase.
const KeystoreFlags = "--keystore file:keys --passphrase-file pass"

// Wallets runs the libraries of other wallets in Node: interop/ur.mjs.
type Wallets struct {
	T   *testing.T
	In  *json.Encoder
	Out *json.Decoder
}

// StartWallets starts the script, which ends with the test.
func StartWallets(t *testing.T) *Wallets {
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
	return &Wallets{t, json.NewEncoder(in), json.NewDecoder(out)}
}

// WalletAnswer is an answer of the script, with the members that tests use.
type WalletAnswer struct {
	Parts                      []string
	RequestID, Signature, PSBT string
	Text, Error                string
}

// Ask has the script answer a request.
func (w *Wallets) Ask(request map[string]any) (answer WalletAnswer) {
	w.T.Helper()
	if err := w.In.Encode(request); err != nil {
		w.T.Fatal(err)
	}
	if err := w.Out.Decode(&answer); err != nil {
		w.T.Fatal(err)
	}
	if answer.Error != "" {
		w.T.Fatal(answer.Error)
	}
	return answer
}

// JsQR reads the pictures in a directory with jsQR, and skips those that it cannot read.
func (w *Wallets) JsQR(dir string) []byte {
	w.T.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.png"))
	if err != nil {
		w.T.Fatal(err)
	}
	var lines bytes.Buffer
	for _, path := range paths {
		grey := greyPicture(w.T, path)
		request := map[string]any{"op": "read", "width": grey.Rect.Dx(), "height": grey.Rect.Dy()}
		request["grey"] = base64.StdEncoding.EncodeToString(grey.Pix)
		if text := w.Ask(request).Text; text != "" {
			fmt.Fprintln(&lines, text)
		}
	}
	if lines.Len() == 0 {
		w.T.Fatal("jsQR read nothing")
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

// WalletRequest is the id of a request of another wallet.
const WalletRequest = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"
