// Command corpus keeps the corpora of package fuzz. It runs in the root of the
// module:
//
//	go run ./fuzz/corpus pack [CACHE]     what the fuzzer has found, into fuzz/testdata/corpus
//	go run ./fuzz/corpus harness FOLDER   the targets for libFuzzer, as a program in FOLDER
//
// CACHE is the folder of the go command's fuzz cache that has one folder for
// each target; without it, that of this package. Entries that an archive has
// stay in it, so that corpora grow.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/countersign-dev/countersign/fuzz/internal/corpus"
	"github.com/countersign-dev/countersign/fuzz/internal/harness"
)

// Folders, seen from the root of the module.
const (
	targets  = "fuzz"
	archives = "fuzz/testdata/corpus"
)

const usage = "usage: corpus pack [CACHE] | corpus harness FOLDER"

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	switch {
	case len(args) == 1 && args[0] == "pack":
		cache, err := goCache()
		if err != nil {
			return err
		}
		return packAll(targets, cache, archives, out)
	case len(args) == 2 && args[0] == "pack":
		return packAll(targets, args[1], archives, out)
	case len(args) == 2 && args[0] == "harness":
		return harness.Write(targets, args[1])
	}
	return fmt.Errorf("%s", usage)
}

// goCache is where the go command keeps what it finds for package fuzz.
func goCache() (string, error) {
	answer, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOCACHE: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(answer)), "fuzz", harness.Module, targets), nil
}

// packAll packs what was found for each target, and says what became of it.
func packAll(targets, cache, archives string, out io.Writer) error {
	names, err := harness.Targets(targets)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(archives, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		had, has, bytes, err := pack(filepath.Join(cache, name), filepath.Join(archives, name+corpus.Suffix))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(out, "%-28s %5d entries, %4d of them new, %6d bytes\n", name, has, has-had, bytes)
	}
	return nil
}

// pack adds the entries of a folder to an archive. An archive of nothing is not
// written.
func pack(folder, archive string) (had, has, size int, err error) {
	old, err := corpus.Read(archive)
	if err != nil {
		return 0, 0, 0, err
	}
	found, err := corpus.ReadFolder(folder)
	if err != nil {
		return 0, 0, 0, err
	}
	kept := corpus.Pack(old, found)
	if len(kept) == 0 {
		return len(old), 0, 0, nil
	}
	packed, err := corpus.Encode(kept)
	if err != nil {
		return 0, 0, 0, err
	}
	return len(old), len(kept), len(packed), os.WriteFile(archive, packed, 0o644)
}
