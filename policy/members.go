package policy

import (
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
)

// text returns a text member that is always present.
func text[T any](get func(of T) string) field {
	return plain(types.StringType, func(of T) ref.Val { return types.String(get(of)) })
}

// texts returns a member that is a list of texts and always present.
func texts[T any](get func(of T) []string) field {
	return plain(types.NewListType(types.StringType), func(of T) ref.Val {
		return types.NewStringList(types.DefaultTypeAdapter, get(of))
	})
}

// truth returns a member that is true or false and always present.
func truth[T any](get func(of T) bool) field {
	return plain(types.BoolType, func(of T) ref.Val { return types.Bool(get(of)) })
}

// partyOf returns a member that is a party of an effect. name is what errors call it.
func partyOf(name string, get func(*effectView) chains.Party) field {
	return member(addressType, func(e *effectView) (ref.Val, error) { return e.party(get(e), name) })
}

func effectMembers() map[string]field {
	return map[string]field{
		"kind":       text(func(e *effectView) string { return string(e.Kind) }),
		"by":         text(func(e *effectView) string { return string(e.By) }),
		"from":       partyOf("effect.from", func(e *effectView) chains.Party { return e.From }),
		"to":         partyOf("effect.to", func(e *effectView) chains.Party { return e.To }),
		"mine":       member(types.BoolType, (*effectView).mine),
		"account":    partyOf("effect.account", func(e *effectView) chains.Party { return e.Account }),
		"asset":      member(assetType, (*effectView).asset),
		"amount":     member(amountType, (*effectView).amount),
		"value":      member(amountType, (*effectView).value),
		"bound":      text(func(e *effectView) string { return string(e.Amount.Bound) }),
		"unlimited":  truth(func(e *effectView) bool { return e.Amount.Bound == chains.BoundUnlimited }),
		"until":      member(types.TimestampType, (*effectView).until),
		"decoded":    truth(func(e *effectView) bool { return !e.Undecoded }),
		"unresolved": texts(func(e *effectView) []string { return e.Unresolved }),
		"reading": member(readingType, func(e *effectView) (ref.Val, error) {
			if e.reading == nil {
				return nil, absent("effect.reading")
			}
			return newObject(readingType, e.reading), nil
		}),
		"function": presentText("effect.function", func(e *effectView) string { return e.Function }),
		"owners": member(types.NewListType(addressType), func(e *effectView) (ref.Val, error) {
			if len(e.Owners) == 0 {
				return nil, absent("effect.owners")
			}
			owners := make([]ref.Val, len(e.Owners))
			for i, owner := range e.Owners {
				var err error
				if owners[i], err = e.party(owner, "effect.owners"); err != nil {
					return nil, err
				}
			}
			return newList(owners), nil
		}),
		"domain": presentText("effect.domain", func(e *effectView) string { return e.Domain }),
	}
}

func assetMembers(v *vocabulary) map[string]field {
	return map[string]field{
		"chain":    text(func(a *asset) string { return a.Chain }),
		"native":   truth(func(a *asset) bool { return a.IsNative() }),
		"standard": text(func(a *asset) string { return a.Standard }),
		"token": member(addressType, func(a *asset) (ref.Val, error) {
			if a.Token.IsNone() {
				return nil, absent("asset.token")
			}
			return &address{words: v.ofNetwork(a.Chain), bytes: string(a.Token.Address()), text: a.Token.String()}, nil
		}),
		"id": member(types.StringType, func(a *asset) (ref.Val, error) {
			switch {
			case a.NFT != nil:
				return types.String(a.NFT.String()), nil
			case a.TokenID != "":
				return types.String(a.TokenID), nil
			}
			return nil, absent("asset.id")
		}),
	}
}

func keyMembers(v *vocabulary) map[string]field {
	return map[string]field{
		"id":          presentText("key.id", func(k *access.SigningKey) string { return k.ID }),
		"name":        presentText("key.name", func(k *access.SigningKey) string { return k.Name }),
		"wallet":      presentText("key.wallet", func(k *access.SigningKey) string { return k.WalletID }),
		"wallet_name": presentText("key.wallet_name", func(k *access.SigningKey) string { return k.WalletName }),
		"path":        presentText("key.path", func(k *access.SigningKey) string { return k.Path }),
		"addresses": member(types.NewListType(addressType), func(k *access.SigningKey) (ref.Val, error) {
			list := make([]*address, 0, len(k.Addresses))
			for _, address := range k.Addresses {
				read, err := v.readAddress(address)
				if err != nil {
					return nil, unknown("key.addresses")
				}
				list = append(list, read)
			}
			return newAddressList(list, false), nil
		}),
	}
}

// requestMembers are the members of the request as a whole; request.total(…) is a function.
func requestMembers() map[string]field {
	return map[string]field{
		"type": text(func(e *evaluation) string {
			if e.request.Intent == nil {
				return ""
			}
			return string(e.request.Intent.ActivityType())
		}),
		"hazards": texts(func(e *evaluation) []string {
			names := make([]string, len(e.request.Hazards))
			for i := range e.request.Hazards {
				names[i] = e.request.Hazards[i].Name
			}
			return names
		}),
		"chain": text(func(e *evaluation) string { return e.chain }),
		"value": member(amountType, func(e *evaluation) (ref.Val, error) { return e.value() }),
	}
}

func objectMembers(v *vocabulary) map[*types.Type]map[string]field {
	all := map[*types.Type]map[string]field{
		effectType: effectMembers(), assetType: assetMembers(v), keyType: keyMembers(v), requestType: requestMembers(),
		readingType: { // what descriptors say about a call
			"function": presentText("effect.reading.function", func(r *chains.Reading) string { return r.Function }),
			"intent":   presentText("effect.reading.intent", func(r *chains.Reading) string { return r.Intent }),
			"owner":    presentText("effect.reading.owner", func(r *chains.Reading) string { return r.Owner }),
			"digest":   presentText("effect.reading.digest", func(r *chains.Reading) string { return r.Digest }),
			"complete": truth(func(r *chains.Reading) bool { return r.Complete }),
		},
		userType: {
			"id":   text(func(u *access.User) string { return u.ID }),
			"name": text(func(u *access.User) string { return u.Name }),
			"tags": texts(func(u *access.User) []string { return u.Tags }),
		},
		credentialType: {
			"id":         text(func(e *evaluation) string { return string(e.request.Credential.ID()) }),
			"passkey":    truth(func(e *evaluation) bool { return e.request.Credential.IsPasskey() }),
			"public_key": text(func(e *evaluation) string { return e.request.Credential.PublicKeyText() }),
		},
		timeType: {"now": plain(types.TimestampType, func(e *evaluation) ref.Val {
			return types.Timestamp{Time: e.request.Now}
		})},
	}
	for _, root := range v.roots {
		named := detailTypes{root.words.Variable, map[string]*types.Type{}, all}
		tx := named.add("tx", root.words.Details)
		all[root.kind] = map[string]field{"tx": plain(tx, func(d *details) ref.Val { return newObject(tx, d) })}
	}
	return all
}
