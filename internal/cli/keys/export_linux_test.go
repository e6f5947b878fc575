package keys_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keyformat"
)

const exportQuestion = `Print the secret of "` + clitest.KeyID + `"? Anyone who reads it can take what it holds. [y/N] `

// TestExportAsks: a secret is printed only after confirmation, and only on standard output.
func TestExportAsks(t *testing.T) {
	t.Parallel()
	for answer, printed := range map[string]string{"y": clitest.Secret + "\n", "n": "", "": ""} {
		s := clitest.NewSession(t)
		command := s.Command("keys", "export", "--format", "hex", clitest.KeyID)
		var stdout bytes.Buffer
		command.Stdout = &stdout
		p := clitest.Sit(t, command)
		p.Sees(exportQuestion)
		p.Types(answer + "\n")
		if status := p.Ends(); stdout.String() != printed || (status == console.ExitSuccess) != (printed != "") {
			t.Errorf("%q: exit status %d, printed %q", answer, status, &stdout)
		}
		if strings.Contains(p.Shown(), clitest.Secret) {
			t.Error("the secret was shown on the terminal")
		}
	}
}

// TestExportPassword: the password for an encrypted file is asked for twice.
func TestExportPassword(t *testing.T) {
	testenv.Slow(t)
	t.Parallel()
	for second, status := range map[string]int{"new secret": console.ExitSuccess, "new secrets": console.ExitFailure} {
		s := clitest.NewSession(t)
		command := s.Command("keys", "export", "--format", "v3", "--yes", clitest.KeyID)
		var stdout bytes.Buffer
		command.Stdout = &stdout
		p := clitest.Sit(t, command)
		p.Answers("Password for the exported file: ", "new secret")
		p.Answers("The same password again: ", second)
		if got := p.Ends(); got != status || (stdout.Len() > 0) != (status == console.ExitSuccess) {
			t.Errorf("%q: exit status %d, printed %q", second, got, &stdout)
		}
		if status == console.ExitSuccess {
			key, err := keyformat.ParseWeb3(bytes.TrimSpace(stdout.Bytes()), []byte("new secret"))
			if err != nil || !bytes.Equal(key.Secret, testenv.Hex(t, clitest.Secret)) {
				t.Errorf("read back: %v", err)
			}
		}
	}
}

// TestImportPassword: the password of a secret is asked for without echo.
func TestImportPassword(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	command := s.Command("keys", "import", "--format", "v3")
	var stdout bytes.Buffer
	command.Stdin, command.Stdout = bytes.NewReader(web3File(t, 1)), &stdout
	p := clitest.Sit(t, command)
	p.Answers("Password of the secret: ", "password")
	if status := p.Ends(); status != console.ExitSuccess || !strings.Contains(stdout.String(), "privateKeyId") || strings.Contains(p.Shown(), "password\r") {
		t.Errorf("exit status %d, printed %q; the screen:\n%s", status, &stdout, p.Shown())
	}
}

// web3File returns a v3 file with a cheap key derivation.
func web3File(t *testing.T, i int) []byte {
	t.Helper()
	key, err := keyformat.NewKey(keystore.CurveSecp256k1, testenv.Hex(t, clitest.NthSecret(i)))
	testenv.Must(t, err)
	file, err := key.Web3([]byte("password"), keyformat.Cost{LogN: 2})
	testenv.Must(t, err)
	return file
}

// TestDirectoryProgress: importing a directory shows a progress bar if only standard error
// is a terminal, and answers in the order of the file names.
func TestDirectoryProgress(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	const files = 30
	dir := filepath.Join(s.Dir, "geth")
	testenv.Must(t, os.Mkdir(dir, 0o700))
	for i := range files {
		testenv.Write(t, filepath.Join(dir, fmt.Sprintf("UTC--%02d", i)), web3File(t, i))
	}
	command := s.Command("keys", "import", "--dir", "geth")
	clitest.Redirect(t, command, "2>&3")
	var stdout bytes.Buffer
	command.Stdout = &stdout
	p := clitest.Sit(t, command)
	p.Answers("Password of the secret: ", "password")
	if status := p.Ends(); status != console.ExitSuccess || !strings.Contains(p.Shown(), "Importing") || !strings.Contains(p.Shown(), "/30") {
		t.Errorf("exit status %d; the screen:\n%s", status, p.Shown())
	}
	lines := bytes.Split(bytes.TrimSpace(stdout.Bytes()), []byte("\n"))
	if len(lines) != files {
		t.Fatalf("%d lines for %d files", len(lines), files)
	}
	for i, text := range lines {
		key, err := keyformat.NewKey(keystore.CurveSecp256k1, testenv.Hex(t, clitest.NthSecret(i)))
		testenv.Must(t, err)
		var line show.KeyLine
		if err := json.Unmarshal(text, &line); err != nil || line.PublicKey != key.PublicKey.String() {
			t.Errorf("line %d is %s, %v", i+1, text, err)
		}
	}
}
