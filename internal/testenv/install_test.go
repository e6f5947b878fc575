package testenv

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// everywhere lists the programs that the README requires or that every base system has.
var everywhere = map[string]bool{"gcc": true, "git": true, "bash": true, "script": true}

// TestInstallKnowsEveryTool checks that install.sh installs every program that a test
// needs. Otherwise the test would be skipped on a fresh machine.
func TestInstallKnowsEveryTool(t *testing.T) {
	script, err := os.ReadFile("install.sh")
	if err != nil {
		t.Fatal(err)
	}
	toolCall := regexp.MustCompile(`\bTool\(t, "([^"]+)"\)`)
	tools := 0
	err = filepath.WalkDir(Root(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git" || entry.Name() == "dist") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, match := range toolCall.FindAllSubmatch(content, -1) {
			tools++
			name := string(match[1])
			if !everywhere[name] && !strings.Contains(string(script), "command -v "+name+"'") && !strings.Contains(string(script), "command -v "+name+" ") {
				t.Errorf("%s needs %s, which install.sh does not install", path, name)
			}
		}
		return nil
	})
	if err != nil || tools < 5 {
		t.Errorf("%d tools, %v", tools, err)
	}
}
