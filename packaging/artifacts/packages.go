package main

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers the format
)

// scripts run as a package is installed and removed. They are the same for deb and rpm, which call
// them with other arguments.
//
//go:embed scripts
var scripts embed.FS

// kind is one of the packages. They all install /usr/bin/countersign or, of key services,
// /usr/bin/countersign-kms, and one of them can be installed at a time.
type kind struct {
	name, binary, about string
	arches              []string
	depends             []string
}

var kinds = []kind{
	{name: "countersign", binary: "countersign", about: "signing engine with typed effects, policies and a log",
		arches: []string{"amd64", "arm64"}},
	{name: "countersign-hsm", binary: "countersign-hsm", about: "signing engine with keys in a PKCS#11 HSM",
		arches: []string{"amd64"}, depends: []string{"libc6"}},
	{name: "countersign-kms", binary: "countersign-kms", about: "signing engine with keys in key services",
		arches: []string{"amd64", "arm64"}},
}

// importer is the program that policy import runs.
const importer = "countersign-policy-import"

// packages writes a deb and an rpm of each kind and architecture.
func (r *Release) packages() error {
	work, err := os.MkdirTemp("", "countersign-packages-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	for _, script := range []string{"postinstall.sh", "preremove.sh", "postremove.sh"} {
		content, err := scripts.ReadFile("scripts/" + script)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(work, script), content, 0o600); err != nil {
			return err
		}
	}
	for _, kind := range kinds {
		if err := r.unit(kind, work); err != nil {
			return err
		}
		for _, arch := range kind.arches {
			for _, format := range []string{"deb", "rpm"} {
				if err := r.pack(kind, arch, format, work); err != nil {
					return fmt.Errorf("%s of %s for %s: %w", format, kind.name, arch, err)
				}
			}
		}
	}
	return nil
}

// program is the path of the binary in the package.
func (k kind) program() string {
	if k.name == "countersign-kms" {
		return "/usr/bin/countersign-kms"
	}
	return "/usr/bin/countersign"
}

// unit writes the unit with the path of the package's binary.
func (r *Release) unit(kind kind, work string) error {
	unit, err := os.ReadFile(filepath.Join(r.Source, "packaging", "countersign.service"))
	if err != nil {
		return err
	}
	before := string(unit)
	after := strings.Replace(before, "/usr/local/bin/countersign ", kind.program()+" ", 1)
	if after == before {
		return errors.New("the unit does not run /usr/local/bin/countersign")
	}
	return os.WriteFile(filepath.Join(work, kind.name+".service"), []byte(after), 0o600)
}

// pack writes one package.
func (r *Release) pack(kind kind, arch, format, work string) error {
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: kind.name, Arch: arch, Platform: "linux", Version: r.Version, Section: "utils", Priority: "optional",
		Maintainer: "Countersign <maintainers@countersign.dev>", License: "Apache-2.0", MTime: r.Time,
		Description: "Countersign: " + kind.about, Homepage: "https://github.com/countersign-dev/countersign",
	})
	for _, other := range kinds {
		if other.name != kind.name {
			info.Conflicts = append(info.Conflicts, other.name)
		}
	}
	if info.Depends = kind.depends; format == "rpm" && len(kind.depends) > 0 {
		info.Depends = []string{"glibc"}
	}
	info.Scripts = nfpm.Scripts{
		PostInstall: filepath.Join(work, "postinstall.sh"), PreRemove: filepath.Join(work, "preremove.sh"),
		PostRemove: filepath.Join(work, "postremove.sh"),
	}
	info.RPM.BuildHost, info.RPM.Compression, info.Deb.Compression = "countersign", "zstd", "zstd"
	info.Contents = r.contents(kind, arch, work)
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	name := filepath.Join(r.Dist, packager.ConventionalFileName(info))
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(packager.Package(info, file), file.Close())
}

// contents lists the files of a package. None of them is one that a deployment has written.
func (r *Release) contents(kind kind, arch, work string) files.Contents {
	contents := files.Contents{
		{Source: filepath.Join(r.Dist, kind.binary+"-linux-"+arch), Destination: kind.program(),
			FileInfo: &files.ContentFileInfo{Mode: 0o755}},
		{Source: filepath.Join(r.Dist, importer+"-linux-"+arch), Destination: "/usr/bin/" + importer,
			FileInfo: &files.ContentFileInfo{Mode: 0o755}},
		{Source: filepath.Join(work, kind.name+".service"),
			Destination: "/usr/lib/systemd/system/countersign.service", FileInfo: &files.ContentFileInfo{Mode: 0o644}},
		{Source: filepath.Join(r.Source, "packaging", "countersign.sysusers"),
			Destination: "/usr/lib/sysusers.d/countersign.conf", FileInfo: &files.ContentFileInfo{Mode: 0o644}},
		{Source: filepath.Join(r.Dist, "man", "*.1"), Destination: "/usr/share/man/man1/", FileInfo: &files.ContentFileInfo{Mode: 0o644}},
		{Source: filepath.Join(r.Source, "LICENSE"), Destination: "/usr/share/doc/" + kind.name + "/copyright",
			FileInfo: &files.ContentFileInfo{Mode: 0o644}},
		{Source: filepath.Join(r.Source, "NOTICE"), Destination: "/usr/share/doc/" + kind.name + "/NOTICE",
			FileInfo: &files.ContentFileInfo{Mode: 0o644}},
	}
	for shell, place := range map[string]string{
		"bash": "/usr/share/bash-completion/completions/countersign",
		"zsh":  "/usr/share/zsh/vendor-completions/_countersign",
		"fish": "/usr/share/fish/vendor_completions.d/countersign.fish",
	} {
		contents = append(contents, &files.Content{Source: filepath.Join(r.Dist, "completions", "countersign."+shell), Destination: place,
			FileInfo: &files.ContentFileInfo{Mode: 0o644}})
	}
	for _, content := range contents {
		content.FileInfo.Owner, content.FileInfo.Group, content.FileInfo.MTime = "root", "root", r.Time
	}
	return contents
}
