package sign_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/cli/demo"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// Sizes of a picture of a terminal: pixels, and svgColumns in characters.
const (
	svgLine    = 18
	svgColumn  = 8.4
	svgMargin  = 16
	svgColumns = 96
)

// svgStyles maps the SGR parameters that the command writes to classes.
var svgStyles = map[string]string{demo.Bold: "b", demo.Dim: "d", demo.Red: "r", demo.Green: "g"}

var sgr = regexp.MustCompile(`\x1b\[([0-9]*)m([^\x1b]*)`)

// svgPicture is a picture of a terminal for browsers and document renderers, with a text
// element per line. Long lines are cut.
type svgPicture struct {
	body   bytes.Buffer
	height int
}

// svg returns a picture of a command and its output.
func svg(command, output string) []byte {
	var p svgPicture
	p.lines("$ " + command + "\n" + output)
	return p.svg(command)
}

// lines appends lines of text.
func (p *svgPicture) lines(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		p.height += svgLine
		fmt.Fprintf(&p.body, `<text x="%d" y="%d" xml:space="preserve">%s</text>`+"\n", svgMargin, svgMargin+p.height-4, svgSpans(line))
	}
}

// svg returns the whole picture.
func (p *svgPicture) svg(title string) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14" fill="#c9d1d9" role="img">`+"\n",
		svgColumns*svgColumn+2*svgMargin, p.height+2*svgMargin)
	fmt.Fprintf(&out, "<title>%s</title>\n<style>.b{font-weight:bold;fill:#fff}.d{fill:#8b949e}.r{fill:#ff7b72}.g{fill:#7ee787}</style>\n", title)
	fmt.Fprintln(&out, `<rect width="100%" height="100%" rx="8" fill="#0d1117"/>`)
	out.Write(p.body.Bytes())
	fmt.Fprintln(&out, "</svg>")
	return out.Bytes()
}

// svgSpans returns a line as spans, one for each style.
func svgSpans(line string) string {
	var out bytes.Buffer
	left := svgColumns
	for _, piece := range sgr.FindAllStringSubmatch("\x1b[0m"+line, -1) {
		text := piece[2]
		if n := utf8.RuneCountInString(text); n > left {
			text = string([]rune(text)[:max(left-1, 0)]) + "…"
		}
		left -= utf8.RuneCountInString(text)
		if text == "" {
			continue
		}
		class, styled := svgStyles[piece[1]]
		if styled {
			fmt.Fprintf(&out, `<tspan class="%s">`, class)
		}
		_ = xml.EscapeText(&out, []byte(text)) // a bytes.Buffer never fails
		if styled {
			out.WriteString("</tspan>")
		}
		if left <= 0 {
			break
		}
	}
	return out.String()
}

// svgVaries matches what differs between runs: addresses, ids, digests, directories and
// signatures.
var svgVaries = regexp.MustCompile(`0x[0-9a-fA-F]{40}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[^ ]*countersign-demo-[0-9]+|([0-9a-f]{4} ){15}[0-9a-f]{4}|[0-9a-f]{64,}`)

// demoLines is the number of lines of the demo in the picture: the first two chapters.
const demoLines = 50

// TestDemoPicture: docs/images/demo.svg shows the output of 'countersign demo'. Its first
// 20 lines are compared, except for what differs between runs. COUNTERSIGN_UPDATE=1 draws
// the picture.
func TestDemoPicture(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var output bytes.Buffer
	testenv.Must(t, demo.Run(t.Context(), &demo.Narrator{Out: &output, Color: true}))
	resolved, err := filepath.EvalSymlinks(os.TempDir())
	testenv.Must(t, err)
	text := strings.ReplaceAll(strings.ReplaceAll(output.String(), os.TempDir(), "/tmp"), resolved, "/tmp")
	lines := strings.SplitAfter(text, "\n")
	if len(lines) < demoLines {
		t.Fatalf("the demo has %d lines", len(lines))
	}
	drawn := svg("countersign demo", strings.Join(lines[:demoLines], ""))
	path := filepath.Join("..", "..", "..", "docs", "images", "demo.svg")
	if os.Getenv("COUNTERSIGN_UPDATE") != "" {
		testenv.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		testenv.Must(t, os.WriteFile(path, drawn, 0o644))
	}
	content := testenv.Read(t, path)
	got, want := strings.Split(string(content), "\n"), strings.Split(string(drawn), "\n")
	for i := range 4 + 20 { // 4 lines of head
		if i >= len(got) || svgVaries.ReplaceAllString(got[i], "…") != svgVaries.ReplaceAllString(want[i], "…") {
			t.Fatalf("line %d of %s is not what the demo prints: draw it again with COUNTERSIGN_UPDATE=1 go test ./internal/cli/sign -run TestDemoPicture\nwant %s", i+1, path, want[i])
		}
	}
	if err := xml.Unmarshal(content, new(struct{ XMLName xml.Name })); err != nil {
		t.Error(err)
	}
}
