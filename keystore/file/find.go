package file

import (
	"context"
	"errors"
	"iter"

	"github.com/countersign-dev/countersign/keystore"
)

// Find implements keystore.Keystore. If it does not know the key, it first takes in the
// files that other processes have added.
func (s *Store) Find(ctx context.Context, organizationID string, locator keystore.Locator) (keystore.Key, error) {
	if err := s.followChanges(ctx); err != nil {
		return nil, err
	}
	key, err := s.index.Find(ctx, organizationID, locator)
	if !errors.Is(err, keystore.ErrKeyNotFound) {
		return key, err
	}
	if err := s.takeInNew(ctx); err != nil {
		return nil, err
	}
	if key, err = s.index.Find(ctx, organizationID, locator); err != nil {
		s.reportDisabled(organizationID, locator)
	}
	return key, err
}

// reportDisabled reports a look-up of a disabled key to the operator. The caller of Find
// cannot tell such a key from one that does not exist.
func (s *Store) reportDisabled(organizationID string, locator keystore.Locator) {
	s.mu.Lock()
	info, disabled := s.parked.find(organizationID, locator)
	s.mu.Unlock()
	switch {
	case !disabled:
	case s.options.OnDisabled != nil:
		s.options.OnDisabled(info)
	default:
		s.options.Logger.Warn("disabled key requested", "organization", organizationID, "key", info.ID, "name", info.Name)
	}
}

// Keys implements keystore.Keystore. When the iteration starts, it takes in the files
// that other processes have added.
func (s *Store) Keys(ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
	return func(yield func(keystore.KeyInfo, error) bool) {
		if err := s.refresh(ctx); err != nil {
			yield(keystore.KeyInfo{}, err)
			return
		}
		s.index.Keys(ctx, organizationID)(yield)
	}
}

// RevealSecret implements keystore.Exporter.
func (s *Store) RevealSecret(ctx context.Context, organizationID, id string, use func(secret []byte) error) error {
	if _, err := s.Find(ctx, organizationID, keystore.ByID(id)); err != nil {
		return err
	}
	key, err := s.index.Key(ctx, organizationID, keystore.ByID(id))
	if err != nil {
		return err
	}
	return key.RevealSecret(use)
}

// Skipped implements keystore.Skipper: it returns a *Error for each key file that is
// not used, sorted by path.
func (s *Store) Skipped() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var skipped []error
	for _, bad := range append(s.badFiles(), s.badRegistered()...) {
		skipped = append(skipped, bad)
	}
	return skipped
}

// String names the keystore by its directory.
func (s *Store) String() string { return "file keystore " + s.dir }

// Close implements keystore.Keystore.
func (s *Store) Close() error {
	err := s.index.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err = errors.Join(err, s.folder.close())
	if err != nil {
		return s.errorf("close", err)
	}
	return nil
}
