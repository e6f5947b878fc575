package testenv

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Disk is a separate file system that can be filled.
type Disk struct {
	Dir string // writable for everyone

	t testing.TB
}

// SmallDisk mounts a file system in memory of the given size in bytes, until the test
// ends. The test is skipped if it may not mount one.
func SmallDisk(t testing.TB, size int64) *Disk {
	t.Helper()
	dir, err := os.MkdirTemp("", "disk") // a short path: see Postgres
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=1777", size)); err != nil {
		leaveOut(t, "cannot mount a small file system, which requires root: "+err.Error())
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return &Disk{Dir: dir, t: t}
}

func (d *Disk) ballast() string { return filepath.Join(d.Dir, "ballast") }

// Fill fills the disk.
func (d *Disk) Fill() {
	d.t.Helper()
	file, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	_, err = io.Copy(file, zeros{})
	if err := file.Close(); err != nil {
		d.t.Fatal(err)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatalf("the disk is not full: %v", err)
	}
}

// Empty frees the space that Fill took.
func (d *Disk) Empty() {
	d.t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		d.t.Fatal(err)
	}
}

// zeros is an endless reader of zeros.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
