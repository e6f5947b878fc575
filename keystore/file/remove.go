package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/countersign-dev/countersign/keystore"
)

var (
	_ keystore.Deleter  = (*Store)(nil)
	_ keystore.Archiver = (*Store)(nil)
)

// deletedName is the directory of archived key files.
const deletedName = "deleted"

// Delete implements keystore.Deleter for keys, and for wallets with all their accounts. The file is
// removed; anything that the disk still holds of it is encrypted to the keystore's identity.
func (s *Store) Delete(ctx context.Context, organizationID, id string) error {
	return s.remove(ctx, organizationID, id, func(string) error { return nil })
}

// Archive implements keystore.Archiver for everything that Delete accepts. It moves the file, still
// encrypted to the keystore's identity, to the directory "deleted"; Restore brings it back.
func (s *Store) Archive(ctx context.Context, organizationID, id string) (path string, err error) {
	err = s.remove(ctx, organizationID, id, func(name string) error {
		path = filepath.Join(s.dir, deletedName, name)
		return s.archive(name)
	})
	return path, err
}

// archive copies a key file to the directory of archived ones.
func (f *folder) archive(name string) error {
	if err := f.root.Mkdir(deletedName, directoryMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return f.fileError(err, deletedName)
	}
	deleted, err := f.openBelow(deletedName)
	if err != nil {
		return err
	}
	defer deleted.Close()
	content, err := readFile(f.keysRoot, name, maxKeyFileSize)
	if err != nil {
		return f.fileError(err, keysName, name)
	}
	if err := errors.Join(replaceFile(deleted, name, content), f.root.Sync()); err != nil {
		return f.fileError(err, deletedName, name)
	}
	return nil
}

// remove disables a key or wallet in all processes before it removes the file: a crash in
// between loses nothing and leaves the key disabled, and processes have nothing left to
// learn from a file that is gone.
func (s *Store) remove(ctx context.Context, organizationID, id string, archive func(name string) error) error {
	return s.write(ctx, "delete", id, func(id string) error {
		if walletID := s.accounts[id]; walletID != "" && s.isOf(organizationID, walletID) {
			return fmt.Errorf("%w: disable it, or delete the wallet, %s", ErrAccount, walletID)
		}
		if !s.isOf(organizationID, id) {
			return notFound(organizationID, id)
		}
		name := id + keySuffix
		if err := archive(name); err != nil {
			return err
		}
		if err := s.replace(ctx, organizationID, id, setDisabled(true)); err != nil {
			return err
		}
		if err := s.keysRoot.Remove(name); err != nil {
			return s.fileError(err, keysName, name)
		}
		if err := s.keysRoot.Sync(); err != nil {
			return s.fileError(err, keysName)
		}
		return s.announce(ctx, id)
	})
}

// Restore brings back a key or wallet that Archive has removed, or that is in a backup of
// this keystore made by Copy. from is the directory of the backup; if it is empty, Restore
// takes the archived file. An existing key or wallet is not touched, and the error is
// keystore.ErrKeyExists. A file of another keystore or organization is refused.
func (s *Store) Restore(ctx context.Context, organizationID, id, from string) error {
	return s.write(ctx, "restore", id, func(id string) error { return s.restore(ctx, organizationID, id, from) })
}

func (c *contents) restore(ctx context.Context, organizationID, id, from string) error {
	name := id + keySuffix
	if _, err := c.keysRoot.Lstat(name); err == nil {
		return fmt.Errorf("%w: %s", keystore.ErrKeyExists, id)
	}
	content, archived, err := c.findCopy(name, from)
	if err != nil {
		return err
	}
	file, err := c.sealer.open(content)
	if err != nil {
		return fmt.Errorf("the copy of %s: %w", id, err)
	}
	defer file.destroy()
	if file.organizationID != organizationID || file.id != id {
		return fmt.Errorf("%w: the copy of %s is of another organization, or renamed", keystore.ErrKeyNotFound, id)
	}
	for _, key := range file.keys() {
		if existing, shares := c.sharing(organizationID, key.KeyInfo); shares {
			return fmt.Errorf("%w: it holds the same key as %s", keystore.ErrKeyExists, existing.ID)
		}
	}
	if err := c.judge(organizationID, file.keys()); err != nil {
		return err
	}
	if err := replaceFile(c.keysRoot, name, content); err != nil {
		return c.fileError(err, keysName, name)
	}
	if err := c.announce(ctx, id); err != nil {
		return err
	}
	if archived {
		deleted, err := c.openBelow(deletedName)
		if err != nil {
			return err
		}
		defer deleted.Close()
		return errors.Join(deleted.Remove(name), deleted.Sync())
	}
	return nil
}

func (c content) keys() []Account {
	if c.wallet == nil {
		return []Account{{KeyInfo: c.key.Info(), Disabled: c.disabled}}
	}
	return c.wallet.Accounts
}

// findCopy reads the archived copy of a key file or, if from is not empty, the one in a backup.
func (f *folder) findCopy(name, from string) (content []byte, archived bool, err error) {
	if from == "" {
		deleted, err := f.openBelow(deletedName)
		if err != nil {
			return nil, false, err
		}
		defer deleted.Close()
		if content, err = readFile(deleted, name, maxKeyFileSize); err != nil {
			err = f.fileError(err, deletedName, name)
		}
		return content, true, err
	}
	root, err := f.disk.OpenDirectory(from)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	for _, folder := range []string{keysName, deletedName} {
		if content, err = readFile(root, folder+"/"+name, maxKeyFileSize); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return nil, false, &Error{Path: filepath.Join(from, keysName, name), Err: err}
	}
	return content, false, nil
}
