package serve

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store/bolt"
)

// TestBackupSocketPermissions checks that the socket is closed to others from the moment it
// is bound, because its directory is, and that leftovers of a killed server are no obstacle.
func TestBackupSocketPermissions(t *testing.T) {
	address := snapshotAddress(filepath.Join(t.TempDir(), "state.db"))
	dir := filepath.Dir(address)
	for _, left := range []func(){
		func() {},
		func() { // left by a killed server
			if err := errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(address, nil, 0o666)); err != nil { //nolint:gosec // the point
				t.Fatal(err)
			}
		},
		func() { // left by a version that bound the socket next to the store
			testenv.Write(t, dir, nil)
		},
	} {
		left()
		listener, err := listenForBackups(address)
		testenv.Must(t, err)
		if info, err := os.Lstat(dir); err != nil || info.Mode() != os.ModeDir|0o700 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("it is left behind: %v", err)
		}
	}
}

// TestBackupStalled checks that a client that reads nothing for snapshotStall loses its
// snapshot, and that a slow one does not.
func TestBackupStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go func() {
			piece := make([]byte, 1<<20)
			for range 5 {
				time.Sleep(snapshotStall - time.Second)
				_, _ = io.ReadFull(theirs, piece)
			}
		}()
		start := time.Now()
		written, err := unstalled{ours}.Write(make([]byte, 7<<20))
		if written != 5<<20 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("wrote %d bytes, %v", written, err)
		}
		if took := time.Since(start); took != 5*(snapshotStall-time.Second)+snapshotStall {
			t.Errorf("after %v", took)
		}
	})
}

// TestBackupEndsOnShutdown checks that a stopping server does not wait for a client that does
// not read, and closes its store.
func TestBackupEndsOnShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, err := bolt.Open(filepath.Join(t.TempDir(), "state.db"))
		testenv.Must(t, err)
		c := Server{log: slog.New(slog.DiscardHandler)}
		ctx, stop := context.WithCancel(t.Context())
		ours, theirs := net.Pipe()
		start, ended := time.Now(), make(chan struct{})
		go func() {
			defer close(ended)
			c.giveSnapshot(ctx, kept, ours)
		}()
		var size [8]byte
		if _, err := io.ReadFull(theirs, size[:]); err != nil || binary.BigEndian.Uint64(size[:]) == 0 {
			t.Errorf("size %x, %v", size, err)
		}
		stop()
		<-ended
		if err := kept.Close(); err != nil || time.Since(start) != 0 {
			t.Errorf("closed after %v: %v", time.Since(start), err)
		}
	})
}
