//go:build cgo

package pkcs11

import (
	"context"
	"time"

	"github.com/miekg/pkcs11"
)

// Two processes that import one secret at the same time do not see each other's key
// when they look whether it is there. So each looks again when it has made its own:
// at least one of them sees both.

// giveWay reports whether a key that was just imported stays. If another process has
// imported the same one meanwhile, the key with the larger CKA_ID is removed. The
// smaller one waits for that, and is removed itself if the other process has not seen
// it. Whatever fails here leaves two keys: a nuisance, no loss.
func (s *Store) giveWay(ctx context.Context, ours *key) (stays bool) {
	if err := s.startScanning(ctx); err != nil {
		return true
	}
	defer s.stopScanning()
	for range looks {
		other, err := s.twin(ctx, ours)
		if err != nil || other == nil {
			return true
		}
		if other.ckaID < ours.ckaID {
			break
		}
		time.Sleep(lookPause)
	}
	if err := s.erase(ctx, ours); err != nil {
		return true
	}
	s.forget(ours)
	return false
}

// twin returns a key of the organization with the same public key and another id; nil
// if there is none. s.scanning is held.
func (s *Store) twin(ctx context.Context, ours *key) (*key, error) {
	ids, err := s.idsOf(ctx, ours.public)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if string(id) == ours.ckaID {
			continue
		}
		found, err := s.read(ctx, pkcs11.NewAttribute(pkcs11.CKA_ID, id))
		if err != nil {
			return nil, err
		}
		for _, other := range found.keys {
			if other.organization == ours.organization && other.public == ours.public {
				return other, nil
			}
		}
	}
	return nil, nil
}
