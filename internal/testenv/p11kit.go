package testenv

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// P11KitClient returns the path of p11-kit's client module. It is connected to a server
// process that has loaded SoftHSM for the token and that ends with the test.
func P11KitClient(t testing.TB, token Token) string {
	t.Helper()
	module := p11KitModule(t, "pkcs11/p11-kit-client.so")
	server := exec.CommandContext(t.Context(), Tool(t, "p11-kit"), "server", "--foreground", "--sh",
		"--provider", token.Module, "--name", filepath.Join(tokenFolder(t), "p11-kit"), "pkcs11:")
	server.Env = append(os.Environ(), "SOFTHSM2_CONF="+token.Config)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address, found := strings.CutPrefix(lines.Text(), "P11_KIT_SERVER_ADDRESS="); found {
			t.Setenv("P11_KIT_SERVER_ADDRESS", strings.TrimSuffix(strings.SplitN(address, ";", 2)[0], ";"))
			return module
		}
	}
	t.Fatal("p11-kit server printed no address")
	return ""
}

// P11KitProxy returns the path of p11-kit's proxy module, which has all modules that are
// configured for p11-kit on this system. The packages of SoftHSM add theirs.
func P11KitProxy(t testing.TB, _ Token) string {
	t.Helper()
	return p11KitModule(t, "p11-kit-proxy.so")
}

func p11KitModule(t testing.TB, name string) string {
	t.Helper()
	for _, folder := range []string{"/usr/lib/*/", "/usr/lib64/", "/usr/lib/", "/opt/homebrew/lib/"} {
		if matches, _ := filepath.Glob(folder + name); len(matches) > 0 {
			return matches[0]
		}
	}
	leaveOut(t, name+" is not installed: it is in the packages p11-kit and p11-kit-modules")
	return ""
}
