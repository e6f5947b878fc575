package libfuzzer

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTarget(t *testing.T) {
	started, cleaned := 0, 0
	var got []string
	var dir string
	target, err := Start("FuzzIt", "", func(f *F) {
		started++
		f.Add(uint8(1), "seed")
		f.Cleanup(func() { cleaned++ })
		f.Fuzz(func(t *T, number uint8, text string) {
			dir = t.TempDir()
			got = append(got, text)
			if number == 9 {
				t.Fatalf("%s is wrong", text)
			}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	target.Run([]byte("\x01one"))
	target.Run([]byte("\x02"))
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder of an input stays")
	}
	if message := crash(target, []byte("\x09two")); message != "two is wrong" {
		t.Errorf("a failure makes %v", message)
	}
	if want := []string{"one", "", "two"}; !cmp.Equal(got, want) || started != 1 {
		t.Errorf("ran on %q, made ready %d times", got, started)
	}
	seeds, err := target.Seeds()
	if err != nil || len(seeds) != 1 || string(seeds[0].Data) != "\x01seed" {
		t.Errorf("seeds %v, %v", seeds, err)
	}
	target.Close()
	if cleaned != 1 {
		t.Errorf("cleaned up %d times", cleaned)
	}
}

// crash returns what a failure panics with.
func crash(target *Target, data []byte) (message any) {
	defer func() { message = recover() }()
	target.Run(data)
	return nil
}

// The vectors are found, and where libFuzzer was started stays the place for its
// corpus.
func TestFolder(t *testing.T) {
	before, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	folder, during := t.TempDir(), ""
	_, err = Start("FuzzIt", folder, func(f *F) {
		during, err = os.Getwd()
		f.Fuzz(func(*T, []byte) {})
	})
	after, _ := os.Getwd()
	if err != nil || during != folder || after != before {
		t.Errorf("made ready in %s, then in %s; %s and %s were expected: %v", during, after, folder, before, err)
	}
}

func TestNothingToFuzz(t *testing.T) {
	if _, err := Start("FuzzIt", "", func(*F) {}); err == nil {
		t.Error("a target that fuzzes nothing is started")
	}
}
