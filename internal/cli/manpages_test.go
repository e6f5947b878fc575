package cli_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/countersign-dev/countersign/internal/cli"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// The generator of man pages is a test, so that its dependencies are not linked into the
// command: see make man.
var manDir = flag.String("man", "", "write the man pages into this `directory`")

// TestManPages generates the man page of each command, and formats it with groff.
func TestManPages(t *testing.T) {
	testenv.Slow(t)
	groff := testenv.Tool(t, "groff")
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	}
	testenv.Must(t, os.MkdirAll(dir, 0o755))
	for _, command := range available(cli.NewRoot(nil)) {
		forManPage(command)
		page := filepath.Join(dir, strings.ReplaceAll(command.CommandPath(), " ", "-")+".1")
		var text bytes.Buffer
		testenv.Must(t, doc.GenMan(command, &doc.GenManHeader{Section: "1", Source: "Countersign", Manual: "Countersign"}, &text))
		testenv.Must(t, os.WriteFile(page, text.Bytes(), 0o644))
		formatted := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-Tutf8", "-Kutf8", "-rLL=100n", page)
		var complaints bytes.Buffer
		formatted.Stderr = &complaints
		shown, err := formatted.Output()
		if err != nil || complaints.Len() > 0 {
			t.Errorf("%s: %v\n%s", command.CommandPath(), err, &complaints)
		}
		checkManPage(t, command, escapes.ReplaceAllString(string(shown), ""))
	}
}

// escapes matches the formatter's markup of bold text.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m|.\b")

// checkManPage checks that a page has the summary, the examples unchanged, and all flags.
func checkManPage(t *testing.T, command *cobra.Command, page string) {
	t.Helper()
	words := strings.ReplaceAll(strings.Join(strings.Fields(page), " "), "\u2010 ", "") // hyphenated words
	for _, want := range []string{command.Short, strings.Join(strings.Fields(command.Example), " ")} {
		if !strings.Contains(words, want) {
			t.Errorf("%s: the page lacks %q:\n%s", command.CommandPath(), want, page)
		}
	}
	command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if !strings.Contains(page, "--"+flag.Name) {
			t.Errorf("%s: the page lacks --%s", command.CommandPath(), flag.Name)
		}
	})
}

// TestHelpIsComplete: every command has a short and a long description, and every command
// without subcommands an example.
func TestHelpIsComplete(t *testing.T) {
	for _, command := range available(cli.NewRoot(nil)) {
		path := command.CommandPath()
		if command.Short == "" || command.Long == "" || strings.HasSuffix(command.Short, ".") {
			t.Errorf("%s: Short is %q, Long is %q", path, command.Short, command.Long)
		}
		if !command.HasSubCommands() && !strings.Contains(command.Example, "  "+strings.TrimSuffix(path, " ")) {
			t.Errorf("%s: Example is %q", path, command.Example)
		}
		for line := range strings.Lines(command.Long + "\n" + command.Example) {
			if len([]rune(line)) > 101 { // with the line feed
				t.Errorf("%s: a line of more than 100 columns: %s", path, line)
			}
		}
		command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if value, usage := pflag.UnquoteUsage(flag); usage == "" || value != strings.ToUpper(value) {
				t.Errorf("%s --%s: the value is named %q, and the usage is %q", path, flag.Name, value, usage)
			}
		})
	}
}

// available returns a command and all its subcommands.
func available(command *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{command}
	for _, child := range command.Commands() {
		all = append(all, available(child)...)
	}
	return all
}

// forManPage converts help for the terminal to the Markdown that the generator expects:
// indented lines become blocks, and special characters are escaped.
func forManPage(command *cobra.Command) {
	command.DisableAutoGenTag = true
	var long strings.Builder
	for line := range strings.Lines(command.Long) {
		if strings.HasPrefix(line, "  ") {
			long.WriteString("  " + line)
			continue
		}
		long.WriteString(literal.Replace(line))
	}
	command.Long = long.String()
	command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(flag)
		if flag.NoOptDefVal == "" { // the value's name says more than its default
			if flag.DefValue != "" && flag.DefValue != "[]" {
				usage += " (default " + flag.DefValue + ")"
			}
			flag.DefValue, flag.Value = value, unquoted{flag.Value}
		}
		flag.Usage = literal.Replace(usage)
	})
}

// literal escapes the special characters of Markdown.
var literal = strings.NewReplacer("<", `\<`, "*", `\*`, "_", `\_`, "[", `\[`, "`", "\\`")

// unquoted is a value that the generator prints without quotes.
type unquoted struct{ pflag.Value }

func (unquoted) Type() string { return "" }
