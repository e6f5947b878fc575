package sign_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/psbt/v2"
	"github.com/btcsuite/btcd/wire/v2"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/qrcode"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/internal/ur"
	"github.com/countersign-dev/countersign/keystore"
)

// cameraCase is a transaction to be signed on the offline machine.
type cameraCase struct {
	chain    chainSample
	unsigned func(keystore.PublicKey) (string, error)
}

// TestCamera takes a request across the air gap and the answer back, for each chain and for
// a PSBT with 100 outputs. Codes are drawn on one pseudo-terminal. Pictures of them are
// rotated and blurred, half of them are lost, and gozxing, zbar or jsQR reads the rest. The
// person at the other terminal confirms. The answer is drawn, read and verified likewise.
func TestCamera(t *testing.T) {
	testenv.Slow(t)
	t.Parallel()
	zbar := testenv.Tool(t, "zbarimg")
	cases := map[string]cameraCase{"PSBT of 100 outputs": {bitcoinSample, manyOutputs}}
	for _, chain := range chainSamples {
		cases[chain.Name] = cameraCase{chain, func(public keystore.PublicKey) (string, error) { return chain.Unsigned(public), nil }}
	}
	s := &clitest.Session{T: t, Dir: t.TempDir()}
	client := s.Must(nil, "init", "--online", "online")
	testenv.Write(t, filepath.Join(s.Dir, "client.json"), client)
	s.Must(nil, "init", "--offline", "--client", "client.json", "offline")
	keys := map[keystore.Curve]show.KeyLine{}
	for curve, name := range map[keystore.Curve]string{keystore.CurveSecp256k1: "CURVE_SECP256K1", keystore.CurveEd25519: "CURVE_ED25519"} {
		var key show.KeyLine
		testenv.JSON(t, s.Must(nil, "keys", "generate", "--config", "offline/countersign.yaml", "--curve", name), &key)
		keys[curve] = key
	}
	readers := []pictureReader{func(dir string) []byte { return gozxing(s, dir) }, func(dir string) []byte { return zbarRead(s, zbar, dir) }, clitest.StartWallets(t).JsQR}
	number := 0
	for name, c := range cases {
		number++
		read := readers[number%len(readers)]
		body := fmt.Sprintf("body%d.json", number)
		t.Run(name, func(t *testing.T) { loop(t, s, c, keys[c.chain.Curve], body, read) })
	}
	t.Run("message", func(t *testing.T) { messageLoop(t, s, keys[keystore.CurveSecp256k1], readers) })
}

// messageLoop takes another wallet's typed data across the air gap, and the signature back.
// go-ethereum recovers the key.
func messageLoop(t *testing.T, s *clitest.Session, key show.KeyLine, readers []pictureReader) {
	public, err := crypto.DecompressPubkey(testenv.Hex(t, key.PublicKey))
	testenv.Must(t, err)
	address := crypto.PubkeyToAddress(*public)
	request := ethMessage(t, ur.EthTyped, typedText)
	request.Address = address[:]
	encoder, err := ur.NewEncoder(request.Message(), 100)
	testenv.Must(t, err)
	asked := t.TempDir()
	for i := range encoder.Parts() {
		code, err := qrcode.New(strings.ToUpper(encoder.Next()))
		testenv.Must(t, err)
		photograph(t, filepath.Join(asked, fmt.Sprintf("%04d.png", i)), modulesOf(strings.Join(code.Lines(), "\n")), float64(i%5-2))
	}
	answered := drawn(t, s, readers[0](asked), true, "sign", "--config", "offline/countersign.yaml", "--allow", "all", "--scan", "--qr")
	signature := signatureIn(t, string(readers[1](answered)), ur.TypeEthSignature, 65)
	signature[64] -= 27
	recovered, err := crypto.SigToPub(typedDigest(t, typedText), signature)
	if err != nil || crypto.PubkeyToAddress(*recovered) != address {
		t.Errorf("the signature is of another key: %v", err)
	}
}

// pictureReader reads the codes in the pictures of a directory, one per line.
type pictureReader func(dir string) []byte

// loop takes one transaction there and back.
func loop(t *testing.T, s *clitest.Session, c cameraCase, key show.KeyLine, body string, read pictureReader) {
	public, err := keystore.ParsePublicKey(c.chain.Curve, testenv.Hex(t, key.PublicKey))
	testenv.Must(t, err)
	unsigned, err := c.unsigned(public)
	testenv.Must(t, err)
	asked := drawn(t, s, []byte(unsigned), false, "request", "--type", string(c.chain.Kind), "--sign-with", key.PrivateKeyID,
		"--api-key", "online/api-key.json", "--body", body, "--qr", "--fps", "30")
	answered := drawn(t, s, read(asked), true, "sign", "--config", "offline/countersign.yaml", "--scan", "--qr", "--fps", "30")
	signed := body + ".signed"
	stdout := s.Must(read(answered), "verify", "--proof-key", "offline/proof-public.pem", "--body", body, "--scan", "--signed", signed)
	if want := `{"checked":["body","status","proof","result","summary"],"skipped":[]}`; strings.TrimSpace(string(stdout)) != want {
		t.Errorf("verified %s", stdout)
	}
	content := testenv.Read(t, filepath.Join(s.Dir, signed))
	if c.chain.Name == bitcoinSample.Name && len(unsigned) > 2000 {
		return // the demo's check knows its own payment only
	}
	if _, err := c.chain.Check(strings.TrimSpace(string(content)), public); err != nil {
		t.Error(err)
	}
}

// manyOutputs returns a PSBT with 100 outputs.
func manyOutputs(owner keystore.PublicKey) (string, error) {
	one, err := psbt.NewFromRawBytes(hex.NewDecoder(strings.NewReader(bitcoinSample.Unsigned(owner))), false)
	if err != nil {
		return "", err
	}
	spent := one.Inputs[0].WitnessUtxo
	payment := wire.NewMsgTx(2)
	payment.AddTxIn(one.UnsignedTx.TxIn[0])
	for i := range 100 {
		to := bytes.Clone(spent.PkScript)
		to[len(to)-1] ^= byte(i + 1)
		payment.AddTxOut(wire.NewTxOut(600, to))
	}
	packet, err := psbt.NewFromUnsignedTx(payment)
	if err != nil {
		return "", err
	}
	packet.Inputs[0].WitnessUtxo = spent
	var raw bytes.Buffer
	err = packet.Serialize(&raw)
	return hex.EncodeToString(raw.Bytes()), err
}

// drawn runs a command that draws codes at a terminal, confirms if it asks, and returns a
// directory with damaged pictures of the codes, of which every second one is lost.
func drawn(t *testing.T, s *clitest.Session, stdin []byte, asks bool, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "countersign", args...)
	command.Dir = s.Dir
	command.Stdin = bytes.NewReader(stdin)
	var stderr clitest.Printed
	command.Stderr = &stderr
	return pictures(t, s, clitest.Sit(t, command), &stderr, asks)
}

// pictures returns a directory with a camera's pictures of the codes that a command draws.
func pictures(t *testing.T, s *clitest.Session, p *clitest.Person, stderr fmt.Stringer, asks bool) string {
	t.Helper()
	if asks {
		p.Sees("? [y/N] ")
		p.Types("y\n")
	}
	frames := frames(p)
	if status := p.Ends(); status != console.ExitSuccess {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	dir := t.TempDir()
	for i, frame := range frames {
		if len(frames) > 1 && i%2 == 1 {
			continue // lost
		}
		photograph(t, filepath.Join(dir, fmt.Sprintf("%04d.png", i)), frame, float64(i%5-2))
	}
	t.Logf("%s: %d codes drawn, of %d modules", p.Command.Args[1], len(frames), len(frames[0][0]))
	return dir
}

// lineOfCode begins each line of a drawing.
const lineOfCode = "\x1b[38;5;231;48;5;16m"

// frames waits until a single code, or enough codes of several, are drawn, and returns
// them.
func frames(p *clitest.Person) [][][]bool {
	p.T.Helper()
	var drawn [][][]bool
	testenv.Await(p.T, "codes are drawn", func() bool {
		screen := p.Shown()
		if whole, single := singleCode(screen); single {
			drawn = [][][]bool{whole}
			return true
		}
		chunks := strings.Split(screen, console.CursorHome)
		var parts int
		if len(chunks) > 2 {
			_, caption, _ := strings.Cut(chunks[1], "Code ")
			_, _ = fmt.Sscanf(caption, "1 of %d", &parts)
		}
		if parts > 0 && len(chunks) > 6*parts+12 {
			p.Types("\n")
			for _, chunk := range chunks[1 : len(chunks)-1] {
				drawn = append(drawn, modulesOf(chunk))
			}
		}
		return len(drawn) > 0
	})
	return drawn
}

// singleCode returns the code on a screen that has exactly one, completely drawn.
func singleCode(screen string) ([][]bool, bool) {
	if strings.Contains(screen, console.ClearScreen) {
		return nil, false
	}
	code := modulesOf(screen)
	return code, len(code) > 0 && len(code) >= len(code[0])
}

// modulesOf returns the light modules of a drawing.
func modulesOf(drawing string) (rows [][]bool) {
	for line := range strings.SplitSeq(drawing, "\n") {
		_, cells, found := strings.Cut(line, lineOfCode)
		cells, _, whole := strings.Cut(cells, "\x1b[0m")
		if !found || !whole {
			continue
		}
		var upper, lower []bool
		for _, cell := range cells {
			upper = append(upper, cell == '█' || cell == '▀')
			lower = append(lower, cell == '█' || cell == '▄')
		}
		rows = append(rows, upper, lower)
	}
	return rows
}

// photograph writes a picture of a code on a dark screen, rotated by some degrees and
// blurred, with four pixels per module.
func photograph(t *testing.T, path string, code [][]bool, degrees float64) {
	t.Helper()
	const scale = 4
	side := scale * (len(code[0]) + 16)
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	shade := func(x, y float64) float64 { // of the screen, in modules from the middle of the picture
		column, row := int(math.Floor(x+float64(len(code[0]))/2)), int(math.Floor(y+float64(len(code[0]))/2))
		if row < 0 || row >= len(code) || column < 0 || column >= len(code[0]) || !code[row][column] {
			return 20
		}
		return 230
	}
	picture := image.NewGray(image.Rect(0, 0, side, side))
	for py := range side {
		for px := range side {
			sum := 0.0
			for _, offset := range [][2]float64{{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}} { // blur
				x, y := (float64(px-side/2)+offset[0])/scale, (float64(py-side/2)+offset[1])/scale
				sum += shade(x*cos-y*sin, x*sin+y*cos)
			}
			picture.SetGray(px, py, color.Gray{Y: uint8(sum / 5)})
		}
	}
	file, err := os.Create(path)
	testenv.Must(t, err)
	defer file.Close()
	testenv.Must(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(file, picture))
}

func gozxing(s *clitest.Session, dir string) []byte { return s.Must(nil, "scan", dir) }

// zbar reads pictures with zbarimg, which fails if one of them has no code.
func zbarRead(s *clitest.Session, program, dir string) []byte {
	s.T.Helper()
	pictures, err := filepath.Glob(filepath.Join(dir, "*.png"))
	testenv.Must(s.T, err)
	command := exec.CommandContext(s.T.Context(), program, append([]string{"--raw", "-q"}, pictures...)...)
	out, _ := command.Output()
	if len(out) == 0 {
		s.T.Fatal("zbarimg read nothing")
	}
	return out
}
