package testenv

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// everywhere are the programs that the README's list (Go, git, make, gcc) or the base
// system of every distribution has.
var everywhere = map[string]bool{"gcc": true, "git": true, "bash": true, "script": true}

// TestInstallKnowsEveryTool: a program that a test asks for by name is one that
// install.sh looks for and installs: on a fresh machine the test would be left out.
func TestInstallKnowsEveryTool(t *testing.T) {
	script, err := os.ReadFile("install.sh")
	if err != nil {
		t.Fatal(err)
	}
	asked := regexp.MustCompile(`\bTool\(t, "([^"]+)"\)`)
	found := 0
	err = filepath.WalkDir(Root(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, match := range asked.FindAllSubmatch(content, -1) {
			found++
			name := string(match[1])
			if !everywhere[name] && !strings.Contains(string(script), "command -v "+name+"'") && !strings.Contains(string(script), "command -v "+name+" ") {
				t.Errorf("%s asks for %s, which install.sh does not install", path, name)
			}
		}
		return nil
	})
	if err != nil || found < 5 {
		t.Errorf("%d tools found, %v", found, err)
	}
}
