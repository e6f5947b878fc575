// Command sbom prints the software bill of materials of Go binaries, as
// CycloneDX 1.6 in JSON: their module and all modules linked into any of them,
// as the Go tools recorded it in the binaries.
//
//	sbom countersign-linux-amd64 countersign-linux-arm64 > countersign.cdx.json
//
// It depends on the binaries alone: it has no time and no serial number, so that
// building the same binaries gives the same bill.
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
		return errors.New("name the binaries")
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
