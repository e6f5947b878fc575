package evm

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// renaming are the only places that name a hazard of effects outside of this package, each with
// the reason. All of them take it from Hazards or FeeHazards, or from OverFee.
var renaming = map[string]string{
	"chains/ethereum/hazard.go":              "a delegation is control by another name; the fee of Tempo, in a token, is judged by OverFee",
	"chains/tempo/hazard.go":                 "control of a key; the fee is judged by OverFee",
	"internal/messages/structures/hazard.go": "names of typed data",
	"chains/ethereum/authorization.go":       "a delegation is control by another name",
}

// ofEffects matches code that makes a hazard which follows from effects.
var ofEffects = regexp.MustCompile(`(evm\.(BlindCall|AuthorityChange|UnlimitedApproval|hazardBurn|hazardRefund|hazardHighFee|hazardNoMinimum)\b|` +
	`Hazard(UnlimitedApproval|AgentApproval|UnknownType|Delegation|hazardHighFee|hazardNoMinimum)\b|"/?(blind-call|burn|refund|high-fee|unlimited-approval|authority-change|no-minimum)")`)

// definition matches the line of a name.
var definition = regexp.MustCompile(`^\tHazard\w+ += "`)

// TestOneJudge walks the sources of the chains that share the contract ABI and of their
// messages: none judges what follows from effects.
func TestOneJudge(t *testing.T) {
	found := []string{}
	for _, folder := range []string{"chains/ethereum", "chains/tempo", "chains/tron", "internal/messages", "messages"} {
		err := filepath.WalkDir(filepath.Join(testenv.Root(), folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(testenv.Root(), path)
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(source)) {
				code, _, _ := strings.Cut(line, "//")
				if ofEffects.MatchString(code) && !strings.Contains(code, "HazardNames") && !definition.MatchString(code) {
					found = append(found, filepath.ToSlash(name))
					break
				}
			}
			return nil
		})
		testenv.Must(t, err)
	}
	for _, name := range found {
		if renaming[name] == "" && !strings.HasSuffix(name, "/chain.go") {
			t.Errorf("%s judges what follows from effects: Hazards and FeeHazards do", name)
		}
	}
	for name := range renaming {
		if !slices.Contains(found, name) {
			t.Errorf("%s names no hazard of effects: remove it from renaming", name)
		}
	}
}
