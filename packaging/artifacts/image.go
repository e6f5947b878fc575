package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is the user that the image runs as: no name, and nothing of the machine's is theirs.
const nobody = 65532

// certificates are the roots that the image trusts, of the machine that builds it: their digest is
// in the statement.
const certificates = "/etc/ssl/certs/ca-certificates.crt"

// images writes countersign-VERSION-ARCH.oci.tar for each architecture: an OCI layout, as podman
// load and skopeo read it. The image is the static binary, certificates, and its bill of materials.
func (r *Release) images() error {
	for _, arch := range []string{"amd64", "arm64"} {
		image, err := r.image(arch)
		if err != nil {
			return err
		}
		dir, err := os.MkdirTemp("", "countersign-image-")
		if err != nil {
			return err
		}
		err = r.writeLayout(dir, image, arch)
		if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
			return err
		}
	}
	return nil
}

func (r *Release) image(arch string) (v1.Image, error) {
	layer, err := r.layer(arch)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.Append(image, mutate.Addendum{Layer: layer, MediaType: types.OCILayer, History: v1.History{
		Created: v1.Time{Time: r.Time}, CreatedBy: "packaging/artifacts",
	}}); err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", arch, v1.Time{Time: r.Time}
	config.Config = v1.Config{
		User: fmt.Sprintf("%d:%d", nobody, nobody), WorkingDir: "/data",
		Volumes: map[string]struct{}{"/data": {}}, ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		Entrypoint: []string{"/countersign"}, Cmd: []string{"serve", "--config", "/data/countersign.yaml"},
		Labels: map[string]string{"org.opencontainers.image.version": r.Version, "org.opencontainers.image.licenses": "Apache-2.0"},
	}
	return mutate.ConfigFile(image, config)
}

// layer is the only one of the image.
func (r *Release) layer(arch string) (v1.Layer, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, file := range []struct {
		name, source string
		mode         int64
	}{
		{"countersign", filepath.Join(r.Dist, "countersign-linux-"+arch), 0o755},
		{"countersign.cdx.json", filepath.Join(r.Dist, "countersign.cdx.json"), 0o644},
		{"etc/ssl/certs/ca-certificates.crt", certificates, 0o644},
	} {
		content, err := os.ReadFile(file.source)
		if err != nil {
			return nil, err
		}
		header := &tar.Header{Name: file.name, Typeflag: tar.TypeReg, Mode: file.mode, Size: int64(len(content)), ModTime: r.Time}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	data := &tar.Header{Name: "data/", Typeflag: tar.TypeDir, Mode: 0o700, Uid: nobody, Gid: nobody, ModTime: r.Time}
	if err := errors.Join(w.WriteHeader(data), w.Close()); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
}

// writeLayout writes an OCI layout to a folder, and the folder to an archive.
func (r *Release) writeLayout(dir string, image v1.Image, arch string) error {
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	name := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.Version})
	if err := path.AppendImage(image, name); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(r.Dist, "countersign-"+r.Version+"-"+arch+".oci.tar"))
	if err != nil {
		return err
	}
	return errors.Join(archiveFolder(file, dir, r.Time), file.Close())
}

// archiveFolder writes the files of a folder in the order of their names.
func archiveFolder(to io.Writer, dir string, at time.Time) error {
	var names []string
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.Sort(names)
	w := tar.NewWriter(to)
	for _, path := range names {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		header := tar.Header{Name: filepath.ToSlash(name), Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content)), ModTime: at}
		if err := w.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := w.Write(content); err != nil {
			return err
		}
	}
	return w.Close()
}
