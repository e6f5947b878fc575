package packaging_test

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os/exec"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// testBill checks that the bill lists exactly the linked modules and the standard library,
// and that it is reproducible.
func testBill(t *testing.T, path string) {
	info, err := buildinfo.ReadFile(path)
	testenv.Must(t, err)
	want := []string{"std " + info.GoVersion}
	for _, module := range info.Deps {
		want = append(want, module.Path+" "+module.Version)
	}
	program := testenv.GoProgram(t, "packaging/sbom", ".")
	first := output(t, program, path)
	var bill struct {
		Format     string `json:"bomFormat"`
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(first, &bill); err != nil || bill.Format != "CycloneDX" {
		t.Fatalf("%v\n%s", err, first)
	}
	var got []string
	for _, component := range bill.Components {
		got = append(got, component.Name+" "+component.Version)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the bill has\n%q\nthe binary\n%q", got, want)
	}
	if again := output(t, program, path, path); !bytes.Equal(again, first) {
		t.Error("the bill of a binary passed twice differs")
	}
	if out, err := exec.CommandContext(t.Context(), program, path, program).CombinedOutput(); err == nil {
		t.Errorf("one bill for two programs: %s", out)
	}
}

func output(t *testing.T, program string, args ...string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).Output()
	testenv.Must(t, err)
	return out
}
