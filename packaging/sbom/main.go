// Command sbom prints the software bill of materials of Go binaries, CycloneDX 1.6 in JSON:
// their module and all modules linked into any of them, as recorded in the binaries by the
// Go tools.
//
//	sbom countersign-linux-amd64 countersign-linux-arm64 > countersign.cdx.json
//
// The output depends only on the binaries: it has no time and no serial number, so that
// identical binaries give identical bills.
package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(paths []string, out io.Writer) error {
	if len(paths) == 0 {
		return errors.New("usage: sbom BINARY…")
	}
	var binaries []*debug.BuildInfo
	for _, path := range paths {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return err
		}
		binaries = append(binaries, info)
	}
	bill, err := bill(binaries)
	if err != nil {
		return err
	}
	encoder := cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON)
	return encoder.SetPretty(true).EncodeVersion(bill, cdx.SpecVersion1_6)
}
