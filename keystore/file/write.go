package file

import (
	"context"
	"slices"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// batchSize is how many keys are written under one lock and one sync of the
// directory.
const batchSize = 512

// writers is how many files are written at once: a file system commits what
// several ask for together.
const writers = 32

// Add puts a key into an organization. When it returns without error, the key
// is safe on disk. The ID must be a UUID or empty; ID, Name and organization keep to
// MaxNameSize and MaxOrganizationSize, are valid UTF-8 and have no control characters. If the organization has this key, or one with this id, it
// returns keystore.ErrKeyExists together with what there is. After another error
// the key may be there, whole; adding it again tells. While a key file cannot be
// read for another reason than what is in it, nothing is added: it may hold the
// same key.
func (s *Store) Add(ctx context.Context, organizationID string, key keystore.NewKey) (keystore.KeyInfo, error) {
	infos, errs := s.AddBatch(ctx, organizationID, []keystore.NewKey{key})
	return infos[0], errs[0]
}

// Generate makes a new key in an organization, like Add.
func (s *Store) Generate(ctx context.Context, organizationID, name string, curve keystore.Curve) (keystore.KeyInfo, error) {
	secret := make([]byte, keystore.SecretSize)
	defer keystore.Wipe(secret)
	if err := software.Generate(curve, secret); err != nil {
		return keystore.KeyInfo{}, err
	}
	return s.Add(ctx, organizationID, keystore.NewKey{Name: name, Curve: curve, Secret: secret})
}

// AddBatch is Add for many keys at once, at a fraction of the cost of each. Both
// slices have one element for each key, in order: infos[i] is acknowledged if
// errs[i] is nil. A key that is twice in the batch is added once.
func (s *Store) AddBatch(ctx context.Context, organizationID string, keys []keystore.NewKey) (infos []keystore.KeyInfo, errs []error) {
	infos, errs = make([]keystore.KeyInfo, 0, len(keys)), make([]error, 0, len(keys))
	for some := range slices.Chunk(keys, batchSize) {
		for _, key := range s.addBatch(ctx, organizationID, some) {
			infos, errs = append(infos, key.info), append(errs, key.err)
		}
	}
	return infos, errs
}
