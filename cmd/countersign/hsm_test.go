//go:build cgo

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestHSMScripts run the command over a token of SoftHSM, with its URI in $HSM
// and its PIN in the file pin.
func TestHSMScripts(t *testing.T) {
	testenv.Slow(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/hsm",
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			makeFixture(t, env.WorkDir)
			token := testenv.SoftHSMIn(t, env.WorkDir)
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("SOFTHSM2_CONF", token.Config)
			env.Setenv("MODULE", token.Module)
			env.Setenv("HSM", token.URI(""))
			return os.WriteFile(filepath.Join(env.WorkDir, "pin"), []byte(token.PIN+"\n"), 0o600)
		},
	})
}
