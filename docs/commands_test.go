//go:build unix

package docs_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// shellBlock is a fenced block of commands in a document.
var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// ports are the addresses in the documents.
var ports = [...]string{"127.0.0.1:8080", "127.0.0.1:8081", "127.0.0.1:8545"}

// TestCommands runs the commands of the documents, each document as one session in an
// empty folder, on free ports.
func TestCommands(t *testing.T) {
	testenv.Slow(t)
	shell := testenv.Tool(t, "bash")
	for _, tool := range []string{"curl", "jq", "openssl", "age", "age-keygen"} { // airgap.md needs none of them: see TestAirGapTools
		testenv.Tool(t, tool)
	}
	for document, blocks := range map[string]int{"airgap.md": 8, "operations.md": 5, "embedding.md": 1, "descriptors.md": 1, "keys.md": 2, "policies.md": 4, "approvals.md": 3, "agents.md": 4, "rpc.md": 3, "disasters.md": 7} {
		t.Run(document, func(t *testing.T) {
			command := exec.CommandContext(t.Context(), shell, "-euo", "pipefail", "-c", session(t, document, blocks))
			command.Dir = spaced(t)
			if document == "embedding.md" {
				build(t, filepath.Join(command.Dir, "server"), "./server")
			}
			command.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no controlling terminal
			if out, err := command.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestAirGapTools checks that the commands of airgap.md need no program that an offline
// machine might lack, and do not parse or compose JSON.
func TestAirGapTools(t *testing.T) {
	commands := session(t, "airgap.md", 8)
	if found := regexp.MustCompile(`\b(sed|jq|openssl|awk|grep|cut|python3?|perl)\b`).FindString(commands); found != "" {
		t.Errorf("a command of airgap.md needs %s", found)
	}
}

// session returns a document's commands, which must have at least atLeast blocks.
func session(t *testing.T, document string, atLeast int) string {
	t.Helper()
	text := testenv.Read(t, document)
	var commands strings.Builder
	commands.WriteString("trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n")
	blocks := shellBlock.FindAllStringSubmatch(string(text), -1)
	if len(blocks) < atLeast {
		t.Fatalf("%d blocks of commands were found: the document has more", len(blocks))
	}
	for _, block := range blocks {
		commands.WriteString(block[1])
	}
	out := commands.String()
	admin, api := testenv.FreeAddress(t), testenv.FreeAddress(t)
	out = strings.ReplaceAll(out, ports[0], api)
	out = strings.ReplaceAll(out, ports[1], admin)
	out = strings.ReplaceAll(out, ports[2], testenv.FreeAddress(t))
	for _, asks := range []string{"sign", "approve"} { // a reader confirms on the terminal
		out = strings.ReplaceAll(out, "countersign "+asks+" ", "countersign "+asks+" --yes ")
	}
	return strings.ReplaceAll(out, "countersign serve ", "countersign serve --listen "+api+" --admin "+admin+" ")
}
