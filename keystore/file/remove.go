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

// deletedName is the directory of the files that Archive took out of use.
const deletedName = "deleted"

// Delete implements keystore.Deleter, of keys, and of wallets with all their accounts.
// The file is removed; what of it a disk keeps is encrypted to the keystore's identity.
func (s *Store) Delete(ctx context.Context, organizationID, id string) error {
	return s.remove(ctx, organizationID, id, func(string) error { return nil })
}

// Archive implements keystore.Archiver, of what Delete takes. The file, which the
// passphrase opens as before, goes to the directory "deleted"; Restore brings it back.
func (s *Store) Archive(ctx context.Context, organizationID, id string) (copy string, err error) {
	err = s.remove(ctx, organizationID, id, func(name string) error {
		copy = filepath.Join(s.dir, deletedName, name)
		return s.archive(name)
	})
	return copy, err
}

// archive copies a key file to the deleted ones.
func (s *Store) archive(name string) error {
	if err := s.root.Mkdir(deletedName, directoryMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return s.fileError(err, deletedName)
	}
	deleted, err := s.openDeleted()
	if err != nil {
		return err
	}
	defer deleted.Close()
	content, err := readFile(s.keysRoot, name, maxKeyFileSize)
	if err != nil {
		return s.fileError(err, keysName, name)
	}
	if err := errors.Join(replaceFile(deleted, name, content), syncDirectory(s.root)); err != nil {
		return s.fileError(err, deletedName, name)
	}
	return nil
}

func (s *Store) openDeleted() (directory, error) {
	info, err := s.root.Lstat(deletedName)
	if err != nil {
		return nil, s.fileError(err, deletedName)
	}
	if err := checkDirectory(info); err != nil {
		return nil, s.fileError(err, deletedName)
	}
	return s.root.OpenDirectory(deletedName)
}

// remove takes a key or wallet out of use in all processes, and then its file away:
// after a crash in between it is not lost, and not found, but disabled; and deleting
// what is not there any more leaves nothing to be told.
func (s *Store) remove(ctx context.Context, organizationID, id string, archive func(name string) error) error {
	id, err := knownID(id)
	if err == nil {
		err = s.asWriter(ctx, func() error {
			if walletID := s.accounts[id]; walletID != "" && s.isOf(organizationID, walletID) {
				return fmt.Errorf("%w: disable it, or delete the wallet, %s", ErrAccount, walletID)
			}
			name := id + keySuffix
			if !s.isOf(organizationID, id) {
				return fmt.Errorf("%w: organization %q has no key or wallet %s", keystore.ErrKeyNotFound, organizationID, id)
			}
			if err := archive(name); err != nil {
				return err
			}
			if err := s.replace(ctx, organizationID, id, setDisabled(true)); err != nil {
				return err
			}
			if err := s.keysRoot.Remove(name); err != nil {
				return s.fileError(err, keysName, name)
			}
			if err := syncDirectory(s.keysRoot); err != nil {
				return s.fileError(err, keysName)
			}
			return s.announced(ctx, id)
		})
	}
	if err != nil {
		return s.errorf("delete key", err)
	}
	return nil
}

// Restore brings a key or wallet back that Archive has taken out of use, or that is in
// a backup of this keystore: the directory from, as Copy makes one; empty, it is this
// keystore. What is there already is not touched, and is keystore.ErrKeyExists. A file
// that is not of this keystore, or not of the organization, is refused.
func (s *Store) Restore(ctx context.Context, organizationID, id, from string) error {
	id, err := knownID(id)
	if err == nil {
		err = s.asWriter(ctx, func() error { return s.restore(ctx, organizationID, id, from) })
	}
	if err != nil {
		return s.errorf("restore key", err)
	}
	return nil
}

func (s *Store) restore(ctx context.Context, organizationID, id, from string) error {
	name := id + keySuffix
	if _, err := s.keysRoot.Lstat(name); err == nil {
		return fmt.Errorf("%w: %s", keystore.ErrKeyExists, id)
	}
	content, archived, err := s.findCopy(name, from)
	if err != nil {
		return err
	}
	file, err := s.sealer.open(content)
	if err != nil {
		return fmt.Errorf("the copy of %s: %w", id, err)
	}
	defer file.destroy()
	if file.organizationID != organizationID || file.id != id {
		return fmt.Errorf("%w: the copy of %s is of another organization, or renamed", keystore.ErrKeyNotFound, id)
	}
	for _, info := range file.infos() {
		if found, shares := s.sharing(organizationID, info); shares {
			return fmt.Errorf("%w: it holds the same key as %s", keystore.ErrKeyExists, found.ID)
		}
	}
	if err := replaceFile(s.keysRoot, name, content); err != nil {
		return s.fileError(err, keysName, name)
	}
	if err := s.announced(ctx, id); err != nil {
		return err
	}
	if archived {
		return s.dropArchived(name)
	}
	return nil
}

// infos returns the keys that a file holds.
func (c content) infos() (all []keystore.KeyInfo) {
	if c.wallet == nil {
		return []keystore.KeyInfo{c.key.Info()}
	}
	for _, account := range c.wallet.Accounts {
		all = append(all, account.KeyInfo)
	}
	return all
}

// findCopy reads the copy of a key file.
func (s *Store) findCopy(name, from string) (content []byte, archived bool, err error) {
	if from == "" {
		deleted, err := s.openDeleted()
		if err != nil {
			return nil, false, err
		}
		defer deleted.Close()
		if content, err = readFile(deleted, name, maxKeyFileSize); err != nil {
			err = s.fileError(err, deletedName, name)
		}
		return content, true, err
	}
	root, err := s.disk.OpenDirectory(from)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	for _, place := range []string{keysName, deletedName} {
		if content, err = readFile(root, place+"/"+name, maxKeyFileSize); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return nil, false, &Error{Path: filepath.Join(from, keysName, name), Err: err}
	}
	return content, false, nil
}

// dropArchived removes the copy of what was restored.
func (s *Store) dropArchived(name string) error {
	deleted, err := s.openDeleted()
	if err != nil {
		return err
	}
	defer deleted.Close()
	return errors.Join(deleted.Remove(name), syncDirectory(deleted))
}
