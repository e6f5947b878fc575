//go:build cgo

package keys_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestHSMScripts runs scripts with a SoftHSM token, its URI in $HSM and its PIN in the file
// pin. If COUNTERSIGN_BINARY is set, they run that binary, such as a released one.
func TestHSMScripts(t *testing.T) {
	testenv.Slow(t)
	clitest.Scripts(t, "testdata/hsm", func(env *testscript.Env) error {
		token := testenv.SoftHSMIn(t, env.WorkDir)
		env.Setenv("SOFTHSM2_CONF", token.Config)
		env.Setenv("MODULE", token.Module)
		env.Setenv("HSM", token.URI(""))
		if err := insteadOfTest(env); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(env.WorkDir, "pin"), []byte(token.PIN+"\n"), 0o600)
	})
}

// insteadOfTest puts COUNTERSIGN_BINARY, if it is set, before this program in PATH.
func insteadOfTest(env *testscript.Env) error {
	binary := os.Getenv("COUNTERSIGN_BINARY")
	if binary == "" {
		return nil
	}
	first := filepath.Join(env.WorkDir, ".released")
	if err := os.Mkdir(first, 0o700); err != nil {
		return err
	}
	env.Setenv("PATH", first+string(os.PathListSeparator)+env.Getenv("PATH"))
	return os.Symlink(binary, filepath.Join(first, "countersign"))
}
