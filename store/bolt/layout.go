package bolt

import (
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/store"
)

// fileVersion is the version of the layout. Files of others are refused.
const fileVersion = 6

// layOut creates the buckets of a new file, and checks the version of an existing one and that it
// has its buckets. Without create it returns store.ErrNone for a file without buckets.
func layOut(f *file, create bool) error {
	empty := false
	err := f.view(func(t *transaction) (err error) {
		empty, err = t.checkLayout()
		return err
	})
	switch {
	case err != nil || !empty:
		return err
	case !create:
		return fmt.Errorf("%w: %s is empty", store.ErrNone, f.path)
	}
	return f.update(func(t *transaction) error {
		for _, name := range append(counted[:], bucketMeta) {
			if _, err := t.tx.CreateBucket(name); err != nil {
				return err
			}
		}
		if err := t.setCounts(counts{}); err != nil {
			return err
		}
		return t.tx.Bucket(bucketMeta).Put(keyVersion, []byte{fileVersion})
	})
}

// checkLayout reports whether the file has no buckets yet. The error says what it lacks.
func (t *transaction) checkLayout() (empty bool, err error) {
	if first, _ := t.tx.Cursor().First(); first == nil {
		return true, nil
	}
	missing := func(name []byte) bool { return t.tx.Bucket(name) == nil }
	if missing(bucketMeta) {
		return false, fmt.Errorf("the file has no bucket %q: it is damaged, or of another program", bucketMeta)
	}
	version := t.tx.Bucket(bucketMeta).Get(keyVersion)
	if len(version) != 1 || version[0] != fileVersion {
		return false, fmt.Errorf("the file has layout version %x; this program knows %d: use the program that wrote "+
			"it", version, fileVersion)
	}
	if i := slices.IndexFunc(counted[:], missing); i >= 0 {
		return false, fmt.Errorf("the file has no bucket %q: it is damaged, or of another program", counted[i])
	}
	return false, nil
}
