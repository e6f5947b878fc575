package main

import (
	"bufio"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// statement writes provenance.intoto.json: an in-toto statement
// (https://github.com/in-toto/attestation, version 1) with SLSA provenance
// (https://slsa.dev/provenance/v1) over the files of SHA256SUMS. It is SLSA build level 1: it says
// how the files were made, and a key that signs it proves who says so, not what built them.
func (r *Release) statement() error {
	subjects, err := r.subjects()
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(filepath.Join(r.Dist, "countersign-linux-amd64"))
	if err != nil {
		return err
	}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	commit := settings["vcs.revision"]
	if commit == "" || settings["vcs.modified"] != "false" {
		return errors.New("the binary is not of a clean commit: make release builds from one")
	}
	source := "git+https://" + info.Main.Path
	statement := map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects, "predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType":            "https://" + info.Main.Path + "/blob/main/packaging/README.md#make-release",
				"externalParameters":   map[string]any{"target": "release", "version": r.Version},
				"internalParameters":   map[string]any{"go": info.GoVersion, "os": runtime.GOOS, "arch": runtime.GOARCH},
				"resolvedDependencies": []any{map[string]any{"uri": source, "digest": map[string]string{"gitCommit": commit}}},
			},
			"runDetails": map[string]any{"builder": map[string]any{"id": "https://" + info.Main.Path + "/blob/main/Makefile"}},
		},
	}
	content, err := json.MarshalIndent(statement, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.Dist, "provenance.intoto.json"), append(content, '\n'), 0o644)
}

type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// subjects reads SHA256SUMS.
func (r *Release) subjects() (subjects []subject, err error) {
	file, err := os.Open(filepath.Join(r.Dist, "SHA256SUMS"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		sum, name, found := strings.Cut(lines.Text(), "  ")
		if !found || len(sum) != 64 {
			return nil, fmt.Errorf("SHA256SUMS: %q is no line of sha256sum", lines.Text())
		}
		subjects = append(subjects, subject{name, map[string]string{"sha256": sum}})
	}
	if len(subjects) == 0 {
		return nil, errors.New("SHA256SUMS is empty")
	}
	return subjects, nil
}
