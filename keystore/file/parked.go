package file

import (
	"cmp"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/keystore"
)

// parked are the keys that are disabled: without their secrets, so that they can be
// listed, and so that they are not added once more. The zero value is empty.
type parked struct {
	keys map[string]parkedKey
	at   map[parkedAt]string // ids
}

type parkedKey struct {
	organizationID string
	keystore.KeyInfo
}

type parkedAt struct {
	organizationID string
	at             keystore.Locator
}

func (p *parked) add(organizationID string, info keystore.KeyInfo) {
	if p.keys == nil {
		p.keys, p.at = map[string]parkedKey{}, map[parkedAt]string{}
	}
	p.keys[info.ID] = parkedKey{organizationID, info}
	for _, at := range everyLocator(info) {
		p.at[parkedAt{organizationID, at}] = info.ID
	}
}

// remove takes a key out, if it is there.
func (p *parked) remove(id string) {
	key, ok := p.keys[id]
	if !ok {
		return
	}
	delete(p.keys, id)
	for _, at := range everyLocator(key.KeyInfo) {
		delete(p.at, parkedAt{key.organizationID, at})
	}
}

// sharing returns the key that is at one of a key's places.
func (p *parked) sharing(organizationID string, info keystore.KeyInfo) (found keystore.KeyInfo, shares bool) {
	for _, at := range locators(info) {
		if id, ok := p.at[parkedAt{organizationID, at}]; ok {
			return p.keys[id].KeyInfo, true
		}
	}
	return keystore.KeyInfo{}, false
}

// find returns the key at a place.
func (p *parked) find(organizationID string, at keystore.Locator) (keystore.KeyInfo, bool) {
	id, ok := p.at[parkedAt{organizationID, at}]
	return p.keys[id].KeyInfo, ok
}

// everyLocator returns where a key would be found.
func everyLocator(info keystore.KeyInfo) []keystore.Locator {
	all := locators(info)
	if taproot, err := keystore.TaprootLocator(info.PublicKey); err == nil {
		all = append(all, taproot)
	}
	return all
}

// list returns the keys of an organization, oldest first.
func (p *parked) list(organizationID string) (all []keystore.KeyInfo) {
	for _, key := range p.keys {
		if key.organizationID == organizationID {
			all = append(all, key.KeyInfo)
		}
	}
	slices.SortFunc(all, func(a, b keystore.KeyInfo) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return all
}
