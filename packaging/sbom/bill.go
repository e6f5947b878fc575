package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bill returns the bill of materials of binaries, which must be built from one version of
// one module.
func bill(binaries []*debug.BuildInfo) (*cdx.BOM, error) {
	first := binaries[0]
	linked := map[string]cdx.Component{}
	for _, binary := range binaries {
		if binary.Main != first.Main || binary.GoVersion != first.GoVersion {
			return nil, fmt.Errorf("binaries of %s %s by %s and of %s %s by %s: pass the binaries of one version only",
				first.Main.Path, first.Main.Version, first.GoVersion, binary.Main.Path, binary.Main.Version, binary.GoVersion)
		}
		for _, module := range binary.Deps {
			one, err := component(module)
			if err != nil {
				return nil, err
			}
			linked[one.BOMRef] = one
		}
	}
	standard := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: "std", Version: first.GoVersion,
		Description: "the standard library of Go"}
	standard.PackageURL = packageURL("std", strings.TrimPrefix(first.GoVersion, "go"))
	standard.BOMRef = standard.PackageURL
	linked[standard.BOMRef] = standard

	refs := slices.Sorted(maps.Keys(linked))
	components := make([]cdx.Component, len(refs))
	for i, ref := range refs {
		components[i] = linked[ref]
	}
	main := mainComponent(first)
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &main}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}} // the binaries do not record dependencies between modules
	return bom, nil
}

// mainComponent returns the program itself, with its commit.
func mainComponent(info *debug.BuildInfo) cdx.Component {
	purl := packageURL(info.Main.Path, info.Main.Version)
	part := cdx.Component{Type: cdx.ComponentTypeApplication, Name: info.Main.Path, Version: info.Main.Version,
		PackageURL: purl, BOMRef: purl}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			part.Properties = &[]cdx.Property{{Name: setting.Key, Value: setting.Value}}
		}
	}
	return part
}

// component returns a linked module, or its replacement. A module that is replaced by a local
// directory keeps its name, as the main module does in keystore/kms.
func component(module *debug.Module) (cdx.Component, error) {
	if replaced := module.Replace; replaced != nil && !strings.HasPrefix(replaced.Path, ".") {
		module = replaced
	}
	purl := packageURL(module.Path, module.Version)
	part := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: module.Path, Version: module.Version, PackageURL: purl, BOMRef: purl}
	if module.Sum == "" {
		return part, nil // a local directory
	}
	sum, err := sumHash(module.Sum)
	if err != nil {
		return part, fmt.Errorf("%s: %w", module.Path, err)
	}
	part.Hashes = &[]cdx.Hash{sum}
	return part, nil
}

// sumHash converts a go.sum hash: h1 is the SHA-256 of the list of the module's files and
// their hashes, in base64.
func sumHash(sum string) (cdx.Hash, error) {
	encoded, ok := strings.CutPrefix(sum, "h1:")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil {
		return cdx.Hash{}, fmt.Errorf("%q is not a hash of go.sum", sum)
	}
	return cdx.Hash{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}, nil
}

// packageURL returns the package URL of a module (purl type golang).
func packageURL(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}
