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

// bill is the bill of materials of binaries that were built from one version
// of one module.
func bill(binaries []*debug.BuildInfo) (*cdx.BOM, error) {
	first := binaries[0]
	linked := map[string]cdx.Component{}
	for _, binary := range binaries {
		if binary.Main != first.Main || binary.GoVersion != first.GoVersion {
			return nil, fmt.Errorf("binaries of %s %s by %s, and of %s %s by %s: one bill is for one of these",
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
	standard := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: "std", Version: first.GoVersion, Description: "the standard library of Go"}
	standard.PackageURL = packageURL("std", strings.TrimPrefix(first.GoVersion, "go"))
	standard.BOMRef = standard.PackageURL
	linked[standard.BOMRef] = standard

	refs := slices.Sorted(maps.Keys(linked))
	components := make([]cdx.Component, len(refs))
	for i, ref := range refs {
		components[i] = linked[ref]
	}
	main := mainComponent(first)
	made := cdx.NewBOM()
	made.Metadata = &cdx.Metadata{Component: &main}
	made.Components = &components
	made.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}} // who needs whom below that is not recorded
	return made, nil
}

// mainComponent is the program itself, at its commit.
func mainComponent(info *debug.BuildInfo) cdx.Component {
	purl := packageURL(info.Main.Path, info.Main.Version)
	made := cdx.Component{Type: cdx.ComponentTypeApplication, Name: info.Main.Path, Version: info.Main.Version, PackageURL: purl, BOMRef: purl}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			made.Properties = &[]cdx.Property{{Name: setting.Key, Value: setting.Value}}
		}
	}
	return made
}

// component is a module that is linked: the one that replaces it, if there is
// one.
func component(module *debug.Module) (cdx.Component, error) {
	if module.Replace != nil {
		module = module.Replace
	}
	purl := packageURL(module.Path, module.Version)
	made := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: module.Path, Version: module.Version, PackageURL: purl, BOMRef: purl}
	if module.Sum == "" {
		return made, nil // a folder
	}
	sum, err := sumHash(module.Sum)
	if err != nil {
		return made, fmt.Errorf("%s: %w", module.Path, err)
	}
	made.Hashes = &[]cdx.Hash{sum}
	return made, nil
}

// sumHash is a line of go.sum as a hash: h1 is the SHA-256 of the list of the
// module's files with their hashes, in base64.
func sumHash(sum string) (cdx.Hash, error) {
	encoded, ok := strings.CutPrefix(sum, "h1:")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil {
		return cdx.Hash{}, fmt.Errorf("%q is not a sum as go.sum has it", sum)
	}
	return cdx.Hash{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}, nil
}

// packageURL names a module as package-url does, type golang.
func packageURL(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}
