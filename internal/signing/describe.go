package signing

import (
	"context"
	"errors"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/keystore"
)

// Describe returns what is public of the organization's key with an id, with its addresses
// on the given chains. Its error is an *activity.Error.
func (r *Reader) Describe(ctx context.Context, organizationID, id string, on []chains.Chain) (described activity.PrivateKey, err error) {
	key, err := r.Keystore.Find(ctx, organizationID, keystore.ByID(id))
	switch {
	case errors.Is(err, keystore.ErrKeyNotFound):
		return described, activity.NewError(activity.ReasonNotFound, "privateKeyId", err,
			"organization %q has no key %q", refuse.Shorten(organizationID), refuse.Shorten(id))
	case err != nil:
		return described, refuse.Key(err)
	case key == nil:
		return described, refuse.Key(refuse.ErrNoKey)
	}
	info := keystore.InfoOf(key)
	described = activity.PrivateKey{ID: key.ID(), Name: info.Name, Curve: key.PublicKey().Curve().String(), PublicKey: key.PublicKey().String()}
	if !info.CreatedAt.IsZero() {
		described.CreatedAt = info.CreatedAt.Unix()
	}
	seen := map[activity.KeyAddress]bool{}
	for _, chain := range on {
		for _, address := range chain.Addresses(key.PublicKey()) {
			one := activity.KeyAddress(address)
			if !seen[one] { // Tempo's are those of Ethereum
				described.Addresses = append(described.Addresses, one)
			}
			seen[one] = true
		}
	}
	return described, nil
}
