package sign_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/internal/ur"
)

// cameraPicture is the picture of a signature by camera in docs/airgap.md.
var cameraPicture = filepath.Join("..", "..", "..", "docs", "images", "camera.svg")

// oneEther pays 1 ETH: the transaction of docs/airgap.md.
const oneEther = "02f00107843b9aca008504a817c8008252089408d2b0a37f869ff76bacb5bab3278e26ab7067b7880de0b6b3a764000080c0"

// TestCameraPicture: docs/images/camera.svg is a recorded session. Its text is compared
// with the current output of the commands, except for what differs between runs, and its
// codes are read like a camera would: the request, and the answer. COUNTERSIGN_UPDATE=1
// records it again.
func TestCameraPicture(t *testing.T) {
	testenv.Slow(t)
	s := &clitest.Session{T: t, Dir: t.TempDir()}
	drawn := recordPlay(t, s)
	if os.Getenv("COUNTERSIGN_UPDATE") != "" {
		testenv.Must(t, os.WriteFile(cameraPicture, drawn, 0o644))
	}
	content := testenv.Read(t, cameraPicture)
	got, want := svgTexts(content), svgTexts(drawn)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("line %d of %s is not what the commands print: record it again with COUNTERSIGN_UPDATE=1 go test ./internal/cli/sign -run TestCameraPicture\nit has %q\nwant   %q",
				i+1, cameraPicture, got[min(i, len(got)-1)], want[min(i, len(want)-1)])
		}
	}
	request, err := ur.DecodeRequest(filmed(t, s, content, "request", ur.TypeRequest))
	if err != nil || !bytes.Contains(request.Body, []byte(oneEther)) {
		t.Fatalf("the picture's request is %s, %v", request.Body, err)
	}
	answer, err := ur.DecodeAnswer(filmed(t, s, content, "answer", ur.TypeAnswer))
	if err != nil || !strings.Contains(hex.EncodeToString(answer.Signed), oneEther[6:len(oneEther)-2]) {
		t.Errorf("the picture's answer is %x, %v", answer.Signed, err)
	}
}

// record runs the session and draws it.
func recordPlay(t *testing.T, s *clitest.Session) []byte {
	client := s.Must(nil, "init", "--online", "online")
	s.Write("client.json", client)
	s.Must(nil, "init", "--offline", "--client", "client.json", "offline")
	s.Must([]byte(clitest.Secret+"\n"), "keys", "import", "--config", "offline/countersign.yaml", "--curve", "CURVE_SECP256K1")

	var p svgPicture
	p.lines("\x1b[2m# online: ask, and show the request to the other machine's camera\x1b[0m")
	p.lines("$ countersign request --type ethereum --sign-with " + clitest.Address[:6] + "… --api-key online/api-key.json \\\n    --body body.json --qr < unsigned.hex")
	asked := played(t, s, &p, "request", []byte(oneEther), false, "request", "--type", "ethereum", "--sign-with", clitest.Address,
		"--api-key", "online/api-key.json", "--body", "body.json", "--qr", "--fps", "30")
	p.lines("\n\x1b[2m# offline: film the request, look, say yes, and show the answer\x1b[0m")
	p.lines("$ zbarcam --raw --nodisplay | countersign sign --config offline/countersign.yaml --scan --qr")
	answered := played(t, s, &p, "answer", gozxing(s, asked), true, "sign", "--config", "offline/countersign.yaml", "--scan", "--qr", "--fps", "30")
	p.lines("\n\x1b[2m# online: film the answer, and check it\x1b[0m")
	p.lines("$ zbarcam --raw --nodisplay | countersign verify --proof-key proof-public.pem --body body.json \\\n    --scan --signed signed.hex")
	stdout := s.Must(gozxing(s, answered), "verify", "--proof-key", "offline/proof-public.pem", "--body", "body.json", "--scan", "--signed", "signed.hex")
	p.lines(string(stdout))
	p.lines("$ cat signed.hex\n" + string(s.Read("signed.hex")))
	return p.svg("A signature by camera")
}

// played runs a command that draws codes at a terminal, draws the screen, and returns a
// directory with pictures of the codes.
func played(t *testing.T, s *clitest.Session, picture *svgPicture, name string, stdin []byte, asks bool, args ...string) string {
	t.Helper()
	command := s.Command(append([]string{"-c", `exec countersign "$@" 2>&3`, "sh"}, args...)...)
	command.Path, command.Args = clitest.Shell(t), append([]string{"sh"}, command.Args[1:]...)
	command.Stdin = bytes.NewReader(stdin)
	p := clitest.SitAt(t, command, 100, 50)
	if asks {
		p.Sees("? [y/N] ")
		p.Types("y\n")
	}
	frames := frames(p)
	if status := p.Ends(); status != console.ExitSuccess {
		t.Fatalf("exit status %d: %s", status, p.Shown())
	}
	text, codes, several := strings.Cut(p.Shown(), console.ClearScreen)
	if !several {
		t.Fatalf("a single code, but the picture shows several:\n%s", p.Shown())
	}
	var parts int
	_, caption, _ := strings.Cut(codes, "Code ")
	if _, err := fmt.Sscanf(caption, "1 of %d", &parts); err != nil {
		t.Fatal(err)
	}
	if text != "" {
		picture.lines(text)
	}
	caption, _, _ = strings.Cut("Code "+caption, "\x1b")
	picture.codes(name, frames[:parts], caption)
	dir := t.TempDir()
	for i, frame := range frames {
		photograph(t, filepath.Join(dir, fmt.Sprintf("%04d.png", i)), frame, float64(i%5-2))
	}
	return dir
}

// codes draws codes on top of each other, shown in turn, and the caption of the first. A
// renderer without animation shows the first code.
func (p *svgPicture) codes(name string, frames [][][]bool, caption string) {
	side, scale := len(frames[0][0]), 3
	fmt.Fprintf(&p.body, "<style>@keyframes %s{0%%{visibility:visible}%.3f%%{visibility:hidden}}</style>\n", name, 100/float64(len(frames)))
	fmt.Fprintf(&p.body, `<g transform="translate(%d,%d) scale(%d)"><rect width="%d" height="%d" fill="#fff"/>`+"\n", svgMargin, svgMargin+p.height+6, scale, side, side)
	for i, frame := range frames {
		visibility := "hidden"
		if i == 0 {
			visibility = "visible"
		}
		fmt.Fprintf(&p.body, `<path fill="#000" style="visibility:%s;animation:%s %gs step-end %gs infinite" d="%s"/>`+"\n",
			visibility, name, float64(len(frames))/console.DefaultRate, float64(i-len(frames))/console.DefaultRate, svgRuns(frame, side))
	}
	p.body.WriteString("</g>\n")
	p.height += (side*scale + 6 + svgLine - 1) / svgLine * svgLine
	p.lines(caption)
}

// svgRuns returns a path with a rectangle for each run of dark modules in a row of a square
// code.
func svgRuns(code [][]bool, side int) string {
	var path strings.Builder
	for y := range side {
		for x := 0; x < side; x++ {
			from := x
			for x < side && !code[y][x] {
				x++
			}
			if x > from {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from, y, x-from, x-from)
			}
		}
	}
	return path.String()
}

var (
	svgText = regexp.MustCompile(`<text [^>]*>(.*)</text>`)
	svgRun  = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v`)
	svgSize = regexp.MustCompile(`<rect width="(\d+)" height`)
	// svgHex matches what depends on a session's keys and time.
	svgHex = regexp.MustCompile(`[0-9a-f]{16,}…?|\d{4}-\d\d-\d\d[T ][0-9:.]+Z?|Code \d+ of \d+`)
)

// svgTexts returns the lines of a picture, without what differs between runs.
func svgTexts(picture []byte) (lines []string) {
	for _, match := range svgText.FindAllSubmatch(picture, -1) {
		lines = append(lines, svgHex.ReplaceAllString(svgVaries.ReplaceAllString(string(match[1]), "…"), "…"))
	}
	return lines
}

// filmed reads the codes with a name from a picture, and returns their message.
func filmed(t *testing.T, s *clitest.Session, picture []byte, name, kind string) ur.Message {
	t.Helper()
	_, group, _ := bytes.Cut(picture, []byte("<style>@keyframes "+name))
	group, _, _ = bytes.Cut(group, []byte("</g>"))
	size := svgSize.FindSubmatch(group)
	if size == nil {
		t.Fatalf("the picture has no codes named %s", name)
	}
	side := number(t, size[1])
	dir := t.TempDir()
	for i, path := range bytes.Split(group, []byte("<path "))[1:] {
		code := make([][]bool, side)
		for y := range code {
			code[y] = lightRow(side)
		}
		for _, run := range svgRun.FindAllSubmatch(path, -1) {
			x, y, n := number(t, run[1]), number(t, run[2]), number(t, run[3])
			for dx := range n {
				code[y][x+dx] = false
			}
		}
		for degrees := -2; degrees <= 2; degrees++ { // a camera also sees a code more than once
			photograph(t, filepath.Join(dir, fmt.Sprintf("%04d%+d.png", i, degrees)), code, float64(degrees))
		}
	}
	collector := ur.NewCollector(kind)
	for code := range strings.FieldsSeq(string(gozxing(s, dir))) {
		testenv.Must(t, collector.Add(code))
	}
	message, whole := collector.Message()
	if !whole {
		t.Fatalf("%s: %+v", name, collector.Progress())
	}
	return message
}

// lightRow returns a row of light modules.
func lightRow(side int) []bool {
	row := make([]bool, side)
	for i := range row {
		row[i] = true
	}
	return row
}

func number(t *testing.T, digits []byte) int {
	t.Helper()
	n, err := strconv.Atoi(string(digits))
	testenv.Must(t, err)
	return n
}
