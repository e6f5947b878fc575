package serve

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/store/bolt"
)

// snapshotStall bounds how long a backup that does not read can hold a snapshot.
// The store cannot reuse the pages of a snapshot while it is held.
const snapshotStall = 30 * time.Second

// giveSnapshots serves snapshots of a bolt store to backup commands of the same user,
// until close.
func (s *Server) giveSnapshots(ctx context.Context) {
	file, ok := deployment.WithoutMemory(s.records).(*bolt.Store)
	if !ok {
		return
	}
	path := strings.TrimPrefix(s.loaded().Configured.Store, "bolt:")
	listener, err := listenForBackups(snapshotAddress(path))
	if err != nil {
		s.log.Warn("backups are unavailable while the server runs", "cause", err)
		return
	}
	s.ends = append(s.ends, func() error {
		_ = listener.Close() // nothing was written
		return nil
	})
	go func() {
		for {
			to, err := listener.Accept()
			if err != nil {
				return
			}
			go s.giveSnapshot(ctx, file, to)
		}
	}()
}

// listenForBackups binds the socket in a directory that only this user can enter. A
// bare socket would be open to others between being bound and being chmodded.
func listenForBackups(address string) (net.Listener, error) {
	dir := filepath.Dir(address)
	// A server that was killed leaves these behind; no other process has the store open.
	_ = os.Remove(address)
	_ = os.Remove(dir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", address)
	if err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	return backupListener{listener, dir}, nil
}

type backupListener struct {
	net.Listener
	dir string
}

func (l backupListener) Close() error {
	return errors.Join(l.Listener.Close(), os.Remove(l.dir))
}

// giveSnapshot sends the store to one client. The snapshot ends with the context, so
// that a stopping server does not wait for a client that does not read.
func (s *Server) giveSnapshot(ctx context.Context, file *bolt.Store, to net.Conn) {
	defer func() { _ = to.Close() }()
	defer context.AfterFunc(ctx, func() { _ = to.Close() })()
	err := file.Snapshot(ctx, func(size int64, from io.WriterTo) error {
		var head [8]byte
		binary.BigEndian.PutUint64(head[:], uint64(size)) //nolint:gosec // not negative
		stalled := unstalled{to}
		_, err := stalled.Write(head[:])
		_, copyErr := from.WriteTo(stalled)
		return errors.Join(err, copyErr)
	})
	if err != nil {
		s.log.Warn("store backup aborted", "cause", err)
		return
	}
	s.log.Info("store backed up")
}

// unstalled is a connection whose writes fail once the peer has read nothing for
// snapshotStall.
type unstalled struct{ net.Conn }

func (u unstalled) Write(p []byte) (int, error) {
	const piece = 1 << 20
	written := 0
	for len(p) > 0 {
		if err := u.SetWriteDeadline(time.Now().Add(snapshotStall)); err != nil {
			return written, err
		}
		n, err := u.Conn.Write(p[:min(len(p), piece)])
		written += n
		if err != nil {
			return written, err
		}
		p = p[n:]
	}
	return written, nil
}
